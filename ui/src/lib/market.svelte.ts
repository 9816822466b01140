// The marketplace sources and their latest search results. Shared, so that they survive a change of pane.

import type { MarketFound, MarketRef, MarketSource } from "./bindings";
import { engine } from "./engine.svelte";
import type { CommandError } from "./host";
import { offerKey } from "./market";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

/** A server that was added from the marketplace. */
export interface Added {
  name: string;
  /** Job that scans its tools. */
  job: string;
  trusted: boolean;
}

class Market {
  #sources = sharedResource("market_sources_list", () => ({}), {
    invalidatedBy: ["setting:market_sources"],
    when: () => navigation.pane === "discover" || navigation.pane === "settings",
  });
  /** The latest query. */
  asked = $state("");
  #search = sharedResource("market_search", () => (this.asked ? { query: this.asked } : null));
  /** Added servers by [`offerKey`]. */
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
    // Drops the offers of the removed source, which can no longer be installed.
    if (this.found)
      this.#search.value = { ...this.found, offers: this.found.offers.filter((offer) => offer.source !== id) };
  }

  /** Searches the sources. The same query is sent again, as the results may have changed. */
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
