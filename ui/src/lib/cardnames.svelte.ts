// Display names of tools by id, each requested once.

import { engine } from "./engine.svelte";
import { CommandError } from "./host";

/** A tool's display name. */
export interface Named {
  name: string;
  provider: string;
  /** Whether the tool exists. */
  there: boolean;
}

class CardNames {
  #known = $state.raw<Record<string, Named>>({});
  #asked = new Set<string>();

  /** Returns the name of a tool, or `null` until it is known. */
  of(id: string): Named | null {
    return this.#known[id] ?? null;
  }

  tell(id: string, name: string, provider: string): void {
    this.#known = { ...this.#known, [id]: { name, provider, there: true } };
  }

  /**
   * Looks up a tool. AutoKit's own tools have no card, and a card that is not callable is no tool, so both are tried.
   */
  async #find(id: string): Promise<{ name: string; provider: string }> {
    try {
      return (await engine.call("tools_get", { tool: id, profile: "" })).entry;
    } catch (reason) {
      const { code } = CommandError.from(reason);
      if (code !== "not_found" && code !== "invalid") throw reason;
      return (await engine.call("cards_get", { card: id })).summary;
    }
  }

  /** Requests the names of the given tools. */
  async learn(ids: string[]): Promise<void> {
    const next = ids.filter((id) => !this.of(id) && !this.#asked.has(id));
    for (const id of next) this.#asked.add(id);
    await Promise.all(
      next.map(async (id) => {
        try {
          const { name, provider } = await this.#find(id);
          this.tell(id, name, provider);
        } catch (reason) {
          if (CommandError.from(reason).code === "not_found")
            this.#known = { ...this.#known, [id]: { name: id, provider: "", there: false } };
          else {
            engine.showError(reason);
            // A later call for this id retries.
            this.#asked.delete(id);
          }
        }
      }),
    );
  }
}

export const cardNames = new CardNames();
