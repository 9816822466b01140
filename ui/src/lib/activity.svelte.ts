// Agent activity and calls. Shared, so that they survive a change of pane.

import { DAYS, type Days } from "./activity";
import { LATEST } from "./audit";
import type { ActivityReport, AuditLog } from "./bindings";
import type { CommandError } from "./host";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

const KEY = "autokit.days";
// Agent activity sends no events, so it is reloaded whenever the pane is shown again.
const OPTIONS = { when: () => navigation.pane === "activity", refreshWhenShown: true, keepOnError: true };

class Activity {
  #days = $state<Days>(DAYS.find((days) => String(days) === localStorage.getItem(KEY)) ?? 30);
  #report = sharedResource("activity_get", () => ({ days: this.#days }), OPTIONS);
  #calls = sharedResource("audit_list", () => ({ days: this.#days, limit: LATEST }), OPTIONS);

  /** The selected period in days; stored. */
  get days(): Days {
    return this.#days;
  }

  set days(days: Days) {
    this.#days = days;
    localStorage.setItem(KEY, String(days));
  }

  get report(): ActivityReport | null {
    return this.#report.value;
  }

  get error(): CommandError | null {
    return this.#report.error;
  }

  get loading(): boolean {
    return this.#report.loading;
  }

  /** All calls of agents, newest first. */
  get calls(): AuditLog | null {
    return this.#calls.value;
  }

  get callsError(): CommandError | null {
    return this.#calls.error;
  }

  refresh(): void {
    void this.#report.refresh();
    void this.#calls.refresh();
  }
}

export const activity = new Activity();
