// Names of tools that are known by their ids, each asked for once.

import { engine } from "./engine.svelte";
import { CommandError } from "./host";

/** A tool as a person knows it. */
export interface Named {
  name: string;
  provider: string;
  /** Whether there is such a tool now. */
  there: boolean;
}

class CardNames {
  #known = $state.raw<Record<string, Named>>({});
  #asked = new Set<string>();

  /** What a tool is called; none until that is known. */
  of(id: string): Named | null {
    return this.#known[id] ?? null;
  }

  tell(id: string, name: string, provider: string): void {
    this.#known = { ...this.#known, [id]: { name, provider, there: true } };
  }

  /** AutoKit's own tools have no cards, and what is only there to be read cannot be called. */
  async #find(id: string): Promise<{ name: string; provider: string }> {
    try {
      return (await engine.call("tools_get", { tool: id, profile: "" })).entry;
    } catch (reason) {
      const { code } = CommandError.from(reason);
      if (code !== "not_found" && code !== "invalid") throw reason;
      return (await engine.call("cards_get", { card: id })).summary;
    }
  }

  /** Finds the names of these out. */
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
            engine.complain(reason);
            // Asked again when it is shown again.
            this.#asked.delete(id);
          }
        }
      }),
    );
  }
}

export const cardNames = new CardNames();
