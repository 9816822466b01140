// Calls of agents that wait for a person's approval. While this watches, agents are told to be patient.

import { pauseAfter } from "./asks";
import type { AgentAsk, AskReply } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

class Asks {
  /** As the engine last told them. */
  #told = $state.raw<AgentAsk[]>([]);
  /** Answered here: news that was under way then must not bring one back. */
  #answered = $state.raw<ReadonlySet<string>>(new Set());
  /** Brings the focus to the card, or back to where it was; set by who shows the card. */
  focus: () => void = () => {};
  #version = 0;
  #turn = 0;

  /** The one that waits longest first. */
  get waiting(): AgentAsk[] {
    return this.#told.filter(({ id }) => !this.#answered.has(id));
  }

  /** Watches until the returned function is called. */
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
        // A host that does not know the command never will.
        if (CommandError.from(reason).code === "bad_request") return;
        failures++;
        // What cannot be answered is not shown; and another engine counts from the start.
        [this.#told, this.#version] = [[], 0];
        await new Promise((done) => setTimeout(done, pauseAfter(failures)));
      }
    }
  }

  async answer(ask: AgentAsk, reply: AskReply): Promise<void> {
    try {
      await engine.call("approvals_answer", { id: ask.id, reply });
      this.#answered = new Set([...this.#answered, ask.id]);
    } catch (reason) {
      if (CommandError.from(reason).code === "not_found") this.#answered = new Set([...this.#answered, ask.id]);
      engine.complain(reason);
    }
  }
}

export const asks = new Asks();
