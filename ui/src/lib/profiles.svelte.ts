// Profiles of agents and how sessions are kept, for the parts of Settings that show them.

import type { AgentSessions, Permissions, Profile, Profiles } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { newProfile } from "./permissions";

class ProfileBook {
  /** As the engine last told them. Replaced as a whole, never changed inside. */
  all = $state.raw<Profiles | null>(null);
  error = $state.raw<CommandError | null>(null);
  #last: Promise<unknown> = Promise.resolve();
  /** Changes made here that the engine has not answered yet. */
  #under = 0;
  /** Grows with every change made here. */
  #changes = 0;
  /** Whether they were changed elsewhere meanwhile. */
  #missed = false;

  /** The rules every profile inherits. */
  get everybody(): Permissions | undefined {
    return this.list.find(({ name }) => !name)?.permissions;
  }

  get list(): Profile[] {
    return this.all?.profiles ?? [];
  }

  async load(): Promise<void> {
    const before = this.#changes;
    try {
      const read = await engine.call("profiles", {});
      // What was changed here meanwhile is newer, and answered by itself.
      if (before === this.#changes) [this.all, this.error] = [read, null];
    } catch (reason) {
      this.error = CommandError.from(reason);
    }
  }

  /** Reads them anew where they may be others; not over a change that is under way, which would seem refused. */
  async heard(): Promise<void> {
    if (this.#under) this.#missed = true;
    else await this.load();
  }

  /** Changes one profile. Throws what the engine refuses; then what is shown is what is kept. */
  change(name: string, change: (profile: Profile) => Profile): Promise<void> {
    const work = async () => {
      try {
        // Read again first: a person's answer to an agent, or the terminal, may have changed it since.
        const kept = (await engine.call("profiles", {})).profiles.find((profile) => profile.name === name);
        if (!kept)
          throw new CommandError({
            code: "not_found",
            message: `the profile ${name} is not there any more`,
            remedy: "Add it again.",
          });
        this.all = await engine.call("profile_set", change(kept));
      } catch (reason) {
        await this.load();
        throw reason;
      }
    };
    // Shown at once: a choice that jumps back for a moment looks refused.
    if (this.all)
      this.all = {
        ...this.all,
        profiles: this.list.map((profile) => (profile.name === name ? change(profile) : profile)),
      };
    return this.#queue(work);
  }

  /** One after another: of two changes made at once neither is lost. */
  #queue(work: () => Promise<void>): Promise<void> {
    this.#under++;
    this.#changes++;
    const done = this.#last.then(work, work).finally(() => {
      if (--this.#under || !this.#missed) return;
      this.#missed = false;
      void this.load();
    });
    this.#last = done;
    return done;
  }

  async add(name: string, about: string): Promise<void> {
    this.all = await engine.call("profile_set", newProfile(name, about));
  }

  async remove(name: string): Promise<void> {
    this.all = await engine.call("profile_remove", { name });
  }

  async keepSessions(sessions: AgentSessions): Promise<void> {
    this.all = await engine.call("agent_sessions_set", sessions);
  }
}

export const profiles = new ProfileBook();
