// The imports that were made, for those who show where something came from.

import type { ImportView } from "./bindings";
import { engine } from "./engine.svelte";

class Imports {
  made = $state.raw<ImportView[] | null>(null);
  #asked = new Set<string>();

  async load(): Promise<void> {
    this.made = await engine.call("imports_list", {});
  }

  /** An import by its id; read when it is first asked for. */
  of(id: string): ImportView | undefined {
    const found = this.made?.find((made) => made.import === id);
    if (!found && !this.#asked.has(id)) {
      this.#asked.add(id);
      void this.load().catch((reason: unknown) => console.warn("imports:", reason));
    }
    return found;
  }
}

export const imports = new Imports();
