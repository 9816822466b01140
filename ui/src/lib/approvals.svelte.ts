// Agent calls that need a person's approval. They wait for one only while a client watches for them.

import { pauseAfter } from "./approvals";
import type { ApprovalDecision, ApprovalRequest } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

class Approvals {
  /** The waiting calls, as last received from the engine. */
  #told = $state.raw<ApprovalRequest[]>([]);
  /** Calls answered in this window. A response sent before the answer must not show them again. */
  #answered = $state.raw<ReadonlySet<string>>(new Set());
  /** Moves the focus to the card, or back to its previous place. Set by the component that shows the card. */
  focus: () => void = () => {};
  #version = 0;
  #turn = 0;

  /** The waiting calls, the longest-waiting one first. */
  get waiting(): ApprovalRequest[] {
    return this.#told.filter(({ id }) => !this.#answered.has(id));
  }

  /** Watches for calls until the returned function is called. */
  watch(): () => void {
    const mine = ++this.#turn;
    void this.#follow(mine);
    return () => {
      this.#turn++;
      this.#told = [];
    };
  }

  async #follow(mine: number): Promise<void> {
    let failures = 0;
    while (mine === this.#turn) {
      try {
        const { version, asks } = await engine.call("approvals_wait", { after: this.#version });
        if (mine !== this.#turn) return;
        failures = 0;
        this.#version = version;
        this.#told = asks;
        const answered = [...this.#answered].filter((id) => asks.some((ask) => ask.id === id));
        if (answered.length !== this.#answered.size) this.#answered = new Set(answered);
      } catch (reason) {
        if (mine !== this.#turn) return;
        // This host does not support the command, so there is no point in retrying.
        if (CommandError.from(reason).code === "bad_request") return;
        failures++;
        // Calls that cannot be answered are hidden. A restarted engine counts versions from the start.
        [this.#told, this.#version] = [[], 0];
        await new Promise((done) => setTimeout(done, pauseAfter(failures)));
      }
    }
  }

  async answer(ask: ApprovalRequest, reply: ApprovalDecision): Promise<void> {
    try {
      await engine.call("approvals_answer", { id: ask.id, reply });
      this.#answered = new Set([...this.#answered, ask.id]);
    } catch (reason) {
      if (CommandError.from(reason).code === "not_found") this.#answered = new Set([...this.#answered, ask.id]);
      engine.showError(reason);
    }
  }
}

export const approvals = new Approvals();
