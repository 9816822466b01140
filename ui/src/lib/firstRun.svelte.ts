// The first start with a new library: an example answer and three steps, until the user skips them.

import { ask as texts } from "../texts/ask";
import { engine } from "./engine.svelte";
import { navigation } from "./navigation.svelte";
import { sharedResource } from "./resource.svelte";
import { openTeam } from "./team.svelte";

/** The question that is answered as an example. */
export const EXAMPLE = texts.samples[0];

class FirstRun {
  #skipped = $state(false);
  /** Whether the user asked a question of their own. */
  asked = $state(false);
  /** The answer to the example. Kept while the user types, and loaded anew as the starter cards arrive. */
  readonly example = sharedResource(
    "answers_get",
    () => (this.shown && engine.status?.cards ? { question: EXAMPLE, limit: 4 } : null),
    { invalidatedBy: ["library"], pause: 500, when: () => navigation.pane === "ask" },
  );

  get shown(): boolean {
    // The library of a team has no starter cards.
    return !!engine.status?.first_run && !this.#skipped && !openTeam.state;
  }

  skip(): void {
    this.#skipped = true;
  }

  /** Starts over, for tests. */
  reset(): void {
    [this.#skipped, this.asked] = [false, false];
  }
}

export const firstRun = new FirstRun();
