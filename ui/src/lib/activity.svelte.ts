// What agents did, as last read: it stays while one looks at something else.

import { DAYS, type Days } from "./activity";
import type { ActivityReport } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

const KEY = "autokit.days";

class Activity {
  report = $state.raw<ActivityReport | null>(null);
  error = $state.raw<CommandError | null>(null);
  busy = $state(false);
  #days = $state<Days>(DAYS.find((days) => String(days) === localStorage.getItem(KEY)) ?? 30);
  #asked = 0;

  /** How far back one looks; remembered. */
  get days(): Days {
    return this.#days;
  }

  set days(days: Days) {
    this.#days = days;
    localStorage.setItem(KEY, String(days));
  }

  async read(): Promise<void> {
    // Of several that are under way the last one counts.
    const mine = ++this.#asked;
    this.busy = true;
    try {
      const report = await engine.call("activity", { days: this.#days });
      if (mine === this.#asked) [this.report, this.error] = [report, null];
    } catch (reason) {
      if (mine === this.#asked) this.error = CommandError.from(reason);
    } finally {
      if (mine === this.#asked) this.busy = false;
    }
  }
}

export const activity = new Activity();
