// Services as chosen in Settings, kept up to date for the panes that show them.

import type { ApiError, KeyName, Providers, ProviderSettings } from "./bindings";
import { engine } from "./engine.svelte";
import type { CommandError } from "./host";
import { sharedResource } from "./resource.svelte";

class Services {
  #read = sharedResource("providers_get", () => (engine.status ? {} : null), { invalidatedBy: ["providers"] });

  get providers(): Providers | null {
    return this.#read.value;
  }

  get error(): CommandError | null {
    return this.#read.error;
  }

  get missing(): ApiError[] {
    return this.providers?.missing ?? [];
  }

  isKept(name: KeyName): boolean {
    return !!this.providers?.keys.some((key) => key.name === name && key.set);
  }

  /** Reads them now: what was spent grows without an event. */
  refresh(): Promise<void> {
    return this.#read.refresh();
  }

  /** Chooses part of the services anew; the rest stays. Throws what the engine refuses. */
  async save(part: Partial<ProviderSettings>): Promise<void> {
    // Read again first: another window or the terminal may have chosen since.
    const { settings } = await engine.call("providers_get", {});
    this.#read.value = await engine.call("providers_set", { ...settings, ...part });
  }

  /** Begins the count of what language models cost anew. */
  async resetSpending(): Promise<void> {
    this.#read.value = await engine.call("spending_reset", {});
  }

  /** Hands a key over, or takes it away when it is empty. It is not kept on this side. */
  async keep(name: KeyName, value: string): Promise<void> {
    this.#read.value = await engine.call("secrets_set", { name, value });
  }
}

export const services = new Services();
