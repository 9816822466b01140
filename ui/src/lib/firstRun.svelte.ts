// The first start with a new library: an example answer and three steps, until the user skips them.

import { engine } from "./engine.svelte";

class FirstRun {
  #skipped = $state(false);
  /** Whether the user asked a question of their own. */
  asked = $state(false);

  get shown(): boolean {
    return !!engine.status?.first_run && !this.#skipped;
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
