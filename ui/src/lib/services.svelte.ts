// Services as chosen in Settings, kept up to date for the panes that show them.

import type { ApiError, KeyName, Providers, ProviderSettings } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

class Services {
  /** As the engine last told them. Replaced as a whole, never changed inside. */
  providers = $state.raw<Providers | null>(null);
  error = $state<CommandError | null>(null);

  get missing(): ApiError[] {
    return this.providers?.missing ?? [];
  }

  isKept(name: KeyName): boolean {
    return !!this.providers?.keys.some((key) => key.name === name && key.set);
  }

  async load(): Promise<void> {
    try {
      [this.providers, this.error] = [await engine.call("providers_get", {}), null];
    } catch (reason) {
      this.error = CommandError.from(reason);
    }
  }

  /** Chooses part of the services anew; the rest stays. Throws what the engine refuses. */
  async save(part: Partial<ProviderSettings>): Promise<void> {
    // Read again first: another window or the terminal may have chosen since.
    const { settings } = await engine.call("providers_get", {});
    this.providers = await engine.call("providers_set", { ...settings, ...part });
  }

  /** Begins the count of what language models cost anew. */
  async resetSpending(): Promise<void> {
    this.providers = await engine.call("spending_reset", {});
  }

  /** Hands a key over, or takes it away when it is empty. It is not kept on this side. */
  async keep(name: KeyName, value: string): Promise<void> {
    this.providers = await engine.call("set_secret", { name, value });
  }
}

export const services = new Services();
