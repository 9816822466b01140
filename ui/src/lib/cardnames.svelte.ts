// Names of cards that are known by their ids, each asked for once.

import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { ownName } from "./permissions";

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
    const own = ownName(id);
    if (own) return { name: own, provider: "AutoKit", there: true };
    return this.#known[id] ?? null;
  }

  tell(id: string, name: string, provider: string): void {
    this.#known = { ...this.#known, [id]: { name, provider, there: true } };
  }

  /** Finds the names of these out. */
  async learn(ids: string[]): Promise<void> {
    const next = ids.filter((id) => !this.of(id) && !this.#asked.has(id));
    for (const id of next) this.#asked.add(id);
    await Promise.all(
      next.map(async (id) => {
        try {
          const { name, provider } = (await engine.call("card_get", { card: id })).summary;
          this.tell(id, name, provider);
        } catch (reason) {
          if (CommandError.from(reason).code === "not_found") this.#known = { ...this.#known, [id]: { name: id, provider: "", there: false } };
          // Asked again when it is shown again.
          else this.#asked.delete(id);
        }
      }),
    );
  }
}

export const cardNames = new CardNames();
