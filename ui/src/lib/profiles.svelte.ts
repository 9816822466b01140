// Profiles of agents and how sessions are kept, for the parts of Settings that show them.

import type { AgentSessions, Permissions, Profile, Profiles } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { newProfile } from "./permissions";
import { permissions as texts } from "../texts/permissions";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

class ProfileBook {
  #last: Promise<unknown> = Promise.resolve();
  /** Changes made here that the engine has not answered yet. */
  #under = $state(0);
  // An agent's call may be answered for good, or the terminal used. Not read over a change that is under way,
  // which would seem refused.
  #read = sharedResource("profiles_list", () => ({}), {
    invalidatedBy: ["setting:profiles"],
    when: () => navigation.pane === "settings" && !this.#under,
  });

  /** As the engine last told them. Replaced as a whole, never changed inside. */
  get all(): Profiles | null {
    return this.#read.value;
  }

  get error(): CommandError | null {
    return this.#read.error;
  }

  /** The rules every profile inherits. */
  get everybody(): Permissions | undefined {
    return this.list.find(({ name }) => !name)?.permissions;
  }

  get list(): Profile[] {
    return this.all?.profiles ?? [];
  }

  refresh(): Promise<void> {
    return this.#read.refresh();
  }

  /** Changes one profile. Throws what the engine refuses; then what is shown is what is kept. */
  change(name: string, change: (profile: Profile) => Profile): Promise<void> {
    const work = async () => {
      try {
        // Read again first: a person's answer to an agent, or the terminal, may have changed it since.
        const kept = (await engine.call("profiles_list", {})).profiles.find((profile) => profile.name === name);
        if (!kept)
          throw new CommandError({
            code: "not_found",
            message: texts.profileGone(name),
            remedy: texts.addItAgain,
          });
        this.#read.value = await engine.call("profiles_set", change(kept));
      } catch (reason) {
        await this.refresh();
        throw reason;
      }
    };
    this.#under++;
    // Shown at once: a choice that jumps back for a moment looks refused.
    if (this.all)
      this.#read.value = {
        ...this.all,
        profiles: this.list.map((profile) => (profile.name === name ? change(profile) : profile)),
      };
    return this.#queue(work);
  }

  /** One after another: of two changes made at once neither is lost. */
  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work, work).finally(() => this.#under--);
    this.#last = done;
    return done;
  }

  async add(name: string, about: string): Promise<void> {
    this.#read.value = await engine.call("profiles_set", newProfile(name, about));
  }

  async remove(name: string): Promise<void> {
    this.#read.value = await engine.call("profiles_remove", { name });
  }

  async keepSessions(sessions: AgentSessions): Promise<void> {
    this.#read.value = await engine.call("agent_sessions_set", sessions);
  }
}

export const profiles = new ProfileBook();
