// Agent profiles and session settings, shared by the sections of Settings.

import type { AgentSessions, Permissions, Profile, Profiles } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { newProfile } from "./permissions";
import { Queue } from "./queue";
import { permissions as texts } from "../texts/permissions";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

class ProfileBook {
  #queue = new Queue();
  /** Number of local changes the engine has not confirmed yet. */
  #under = $state(0);
  // Profiles also change when a call is approved for good, or from the terminal. Not reloaded while a local change is
  // pending, as that would show the old value for a moment.
  #read = sharedResource("profiles_list", () => ({}), {
    invalidatedBy: ["setting:profiles"],
    when: () => navigation.pane === "settings" && !this.#under,
  });

  /** The profiles as last received. Replaced as a whole, never mutated. */
  get all(): Profiles | null {
    return this.#read.value;
  }

  get error(): CommandError | null {
    return this.#read.error;
  }

  /** The rules that every profile inherits. */
  get everybody(): Permissions | undefined {
    return this.list.find(({ name }) => !name)?.permissions;
  }

  get list(): Profile[] {
    return this.all?.profiles ?? [];
  }

  refresh(): Promise<void> {
    return this.#read.refresh();
  }

  /** Changes a profile. Throws the engine's error, after restoring the stored profiles. */
  change(name: string, change: (profile: Profile) => Profile): Promise<void> {
    const work = async () => {
      try {
        // Reloaded first: an approval or the terminal may have changed the profile since.
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
    // Optimistic update: a choice that jumped back for a moment would look rejected.
    if (this.all)
      this.#read.value = {
        ...this.all,
        profiles: this.list.map((profile) => (profile.name === name ? change(profile) : profile)),
      };
    return this.#queue.run(work).finally(() => this.#under--);
  }

  async add(name: string, about: string): Promise<void> {
    this.#read.value = await engine.call("profiles_set", newProfile(name, about));
  }

  async remove(name: string): Promise<void> {
    this.#read.value = await engine.call("profiles_remove", { name });
  }

  /** Changes the settings of agent sessions. Throws the engine's error. */
  changeSessions(change: (sessions: AgentSessions) => AgentSessions): Promise<void> {
    return this.#queue.run(async () => {
      const { sessions } = await engine.call("profiles_list", {});
      this.#read.value = await engine.call("agent_sessions_set", change(sessions));
    });
  }
}

export const profiles = new ProfileBook();
