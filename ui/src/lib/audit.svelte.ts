// What agents called, as last read.

import { LATEST } from "./audit";
import type { AuditLog } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

class AuditBook {
  log = $state.raw<AuditLog | null>(null);
  error = $state.raw<CommandError | null>(null);
  #asked = 0;

  async read(days: number): Promise<void> {
    // Of several that are under way the last one counts.
    const mine = ++this.#asked;
    try {
      const log = await engine.call("audit", { days, limit: LATEST });
      if (mine === this.#asked) [this.log, this.error] = [log, null];
    } catch (reason) {
      if (mine === this.#asked) this.error = CommandError.from(reason);
    }
  }
}

export const audit = new AuditBook();
