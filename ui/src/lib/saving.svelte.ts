// What is happening to a form that saves: under way, saved, or why not.

import { CommandError } from "./host";

export class Saving {
  busy = $state(false);
  saved = $state(false);
  error = $state.raw<CommandError | null>(null);

  /** Saves, and says whether it worked. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    const done = await this.attempt(work);
    this.saved ||= done;
    return done;
  }

  /** Does what belongs to the form and saves nothing: reading what is stored. */
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
