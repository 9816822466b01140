// Checks started in this window, so that a card can show that its check is running.

import type { CardsQuery, VerifyScope } from "./bindings";
import { engine } from "./engine.svelte";

class Checking {
  /** Job ids of the latest check of individually checked cards, by card id. */
  #jobs = $state<Record<string, string>>({});

  async start(scope: VerifyScope, improve = false): Promise<void> {
    try {
      const { job } = await engine.call("checks_start", { scope, improve, anew: false });
      if (scope.kind === "cards") for (const card of scope.cards) this.#jobs[card] = job;
    } catch (reason) {
      engine.showError(reason);
    }
  }

  card(id: string, improve = false): Promise<void> {
    return this.start({ kind: "cards", cards: [id] }, improve);
  }

  matching(query: CardsQuery): Promise<void> {
    return this.start({ kind: "matching", query });
  }

  /** Returns whether a check of this card that was started here is running. */
  isAt(id: string): boolean {
    const job = this.#jobs[id];
    return !!job && engine.jobs.some((one) => one.id === job && one.state === "running");
  }
}

export const checking = new Checking();
