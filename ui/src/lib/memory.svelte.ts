// Searches of the documents and the code that were added. Shared, so that results survive a change of pane.

import type { MemoryFound, MemoryKind, MemorySource } from "./bindings";
import { engine } from "./engine.svelte";
import type { CommandError } from "./host";
import { navigation } from "./navigation.svelte";
import { sharedResource } from "./resource.svelte";

/** Most results of one search. */
const LIMIT = 10;

class Memory {
  readonly kind: MemoryKind;
  /** The latest question. */
  asked = $state("");
  #sources;
  #search;

  constructor(kind: MemoryKind) {
    this.kind = kind;
    this.#sources = sharedResource("memory_list", () => ({ kind }), {
      invalidatedBy: ["jobs:memory"],
      when: () => navigation.pane === "discover" && navigation.where === kind,
    });
    this.#search = sharedResource(
      "memory_search",
      () => (this.asked ? { kind, query: this.asked, limit: LIMIT } : null),
      { when: () => navigation.pane === "discover" && navigation.where === kind },
    );
  }

  get sources(): MemorySource[] | null {
    return this.#sources.value?.sources ?? null;
  }

  get sourcesError(): CommandError | null {
    return this.#sources.error;
  }

  get found(): MemoryFound | null {
    return this.asked ? this.#search.value : null;
  }

  get error(): CommandError | null {
    return this.asked ? this.#search.error : null;
  }

  get searching(): boolean {
    return !!this.asked && this.#search.loading;
  }

  search(question: string): void {
    if (question === this.asked) void this.#search.refresh();
    else this.asked = question;
  }

  refreshSources(): void {
    void this.#sources.refresh();
  }

  async add(location: string): Promise<boolean> {
    try {
      await engine.call("memory_add", { kind: this.kind, location });
      return true;
    } catch (reason) {
      engine.showError(reason);
      return false;
    }
  }

  async refresh(source: MemorySource): Promise<void> {
    try {
      await engine.call("memory_refresh", { source: source.id });
    } catch (reason) {
      engine.showError(reason);
    }
  }

  async remove(source: MemorySource): Promise<void> {
    try {
      await engine.call("memory_remove", { source: source.id });
      void this.#sources.refresh();
      if (this.asked) void this.#search.refresh();
    } catch (reason) {
      engine.showError(reason);
    }
  }
}

export const documents = new Memory("documents");
export const code = new Memory("code");
