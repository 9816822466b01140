// State of a form or button whose work may fail: busy, or failed.

import { CommandError } from "./host";

export class Saving {
  busy = $state(false);
  error = $state.raw<CommandError | null>(null);

  /** Runs the work and returns whether it succeeded. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
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
