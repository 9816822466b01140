// State of a form that saves: busy, saved, or failed.

import { CommandError } from "./host";

export class Saving {
  busy = $state(false);
  saved = $state(false);
  error = $state.raw<CommandError | null>(null);

  /** Saves and returns whether it succeeded. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    const done = await this.attempt(work);
    this.saved ||= done;
    return done;
  }

  /** Runs form work that saves nothing, such as reading stored values; returns whether it succeeded. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    this.error = null;
    try {
      await work();
    } catch (reason) {
      this.error = CommandError.from(reason);
    } finally {
      this.busy = false;
    }
    return !this.error;
  }
}
