// The configured services, kept up to date for the panes that show them.

import type { ApiError, KeyName, Providers, ProviderSettings } from "./bindings";
import { engine } from "./engine.svelte";
import type { CommandError } from "./host";
import { changes, Queue } from "./queue";
import { sharedResource } from "./resource.svelte";

class Services {
  #queue = new Queue();
  #change = changes(
    async () => (await engine.call("providers_get", {})).settings,
    (settings) => engine.call("providers_set", settings),
    this.#queue,
  );
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

  /** Reloads the services: spending grows without an event. */
  refresh(): Promise<void> {
    return this.#read.refresh();
  }

  /** Changes part of the settings. Throws the engine's error. */
  async change(update: (now: ProviderSettings) => ProviderSettings): Promise<void> {
    this.#read.value = await this.#change(update);
  }

  /** Resolves once no change is being saved anymore. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /** Resets the recorded cost of language models. */
  async resetSpending(): Promise<void> {
    this.#read.value = await engine.call("spending_reset", {});
  }

  /** Stores a key in the engine, or deletes it if `value` is empty. The window does not keep it. */
  async keep(name: KeyName, value: string): Promise<void> {
    this.#read.value = await engine.call("secrets_set", { name, value });
  }
}

export const services = new Services();
