// The sources of tools, and what they said last. Kept while other panes are looked at.

import type { MarketFound, MarketRef, MarketSource } from "./bindings";
import { engine } from "./engine.svelte";
import type { CommandError } from "./host";
import { offerKey } from "./market";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

/** A server that was added from here. */
export interface Added {
  name: string;
  /** The look at its tools. */
  job: string;
  trusted: boolean;
}

class Market {
  #sources = sharedResource("market_sources_list", () => ({}), {
    invalidatedBy: ["setting:market_sources"],
    when: () => navigation.pane === "discover" || navigation.pane === "settings",
  });
  /** What was searched for last. */
  asked = $state("");
  #search = sharedResource("market_search", () => (this.asked ? { query: this.asked } : null));
  /** What was added, by [`offerKey`]. */
  added = $state.raw<Record<string, Added>>({});

  get sources(): MarketSource[] | null {
    return this.#sources.value;
  }

  get sourcesError(): CommandError | null {
    return this.#sources.error;
  }

  get found(): MarketFound | null {
    return this.#search.value;
  }

  get searching(): boolean {
    return this.#search.loading;
  }

  get error(): CommandError | null {
    return this.#search.error;
  }

  refreshSources(): Promise<void> {
    return this.#sources.refresh();
  }

  async add(url: string): Promise<void> {
    this.#sources.value = await engine.call("market_sources_add", { url });
  }

  async remove(id: string): Promise<void> {
    this.#sources.value = await engine.call("market_sources_remove", { id });
    // What it offered cannot be installed any more.
    if (this.found)
      this.#search.value = { ...this.found, offers: this.found.offers.filter((offer) => offer.source !== id) };
  }

  /** Asks the sources, also for the same words again: they may have something else by now. */
  search(query: string): void {
    this.asked = query;
    void this.#search.refresh();
  }

  source(id: string): MarketSource | undefined {
    return this.sources?.find((source) => source.id === id);
  }

  wasAdded(offer: MarketRef, added: Added): void {
    this.added = { ...this.added, [offerKey(offer)]: added };
  }
}

export const market = new Market();
