// The sources of tools, and what they said last. Kept while other panes are looked at.

import type { MarketFound, MarketRef, MarketSource } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { offerKey } from "./market";

/** A server that was added from here. */
export interface Added {
  name: string;
  /** The look at its tools. */
  job: string;
  trusted: boolean;
}

class Market {
  sources = $state.raw<MarketSource[] | null>(null);
  found = $state.raw<MarketFound | null>(null);
  /** What was searched for last. */
  asked = $state("");
  searching = $state(false);
  error = $state.raw<CommandError | null>(null);
  /** What was added, by [`offerKey`]. */
  added = $state.raw<Record<string, Added>>({});
  /** Of several searches under way the last one counts. */
  #search = 0;

  async load(): Promise<void> {
    this.sources = await engine.call("market_sources", {});
  }

  async add(url: string): Promise<void> {
    this.sources = await engine.call("market_source_add", { url });
  }

  async remove(id: string): Promise<void> {
    this.sources = await engine.call("market_source_remove", { id });
    // What it offered cannot be installed any more.
    if (this.found) this.found = { ...this.found, offers: this.found.offers.filter((offer) => offer.source !== id) };
  }

  async search(query: string): Promise<void> {
    const mine = ++this.#search;
    [this.asked, this.searching, this.error] = [query, true, null];
    try {
      const found = await engine.call("market_search", { query });
      if (mine === this.#search) this.found = found;
    } catch (reason) {
      if (mine === this.#search) [this.found, this.error] = [null, CommandError.from(reason)];
    } finally {
      if (mine === this.#search) this.searching = false;
    }
  }

  source(id: string): MarketSource | undefined {
    return this.sources?.find((source) => source.id === id);
  }

  wasAdded(offer: MarketRef, added: Added): void {
    this.added = { ...this.added, [offerKey(offer)]: added };
  }
}

export const market = new Market();
