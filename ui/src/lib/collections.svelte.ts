// Collections of cards and the favorites, shared by the library and the open card.

import { engine } from "./engine.svelte";
import { navigation } from "./navigation.svelte";
import { sharedResource } from "./resource.svelte";
import type { Collection } from "./bindings";

/** Name of the collection that the star adds to, which always exists. */
export const FAVORITES = "Favorites";

class Collections {
  #read = sharedResource("collections_list", () => (engine.status ? {} : null), {
    invalidatedBy: ["setting:collections", "library"],
    when: () => navigation.pane === "library",
    toastErrors: true,
  });
  #favorites = $derived(new Set(this.all.find(({ name }) => name === FAVORITES)?.cards));

  /** The favorites first, then the others by name. */
  get all(): Collection[] {
    return this.#read.value ?? [];
  }

  refresh(): Promise<void> {
    return this.#read.refresh();
  }

  isFavorite(card: string): boolean {
    return this.#favorites.has(card);
  }

  /** Returns the names of the collections that contain a card, except the favorites. */
  of(card: string): string[] {
    return this.all.filter(({ name, cards }) => name !== FAVORITES && cards.includes(card)).map(({ name }) => name);
  }

  /** Adds a card to the favorites or removes it. A failure is a toast. */
  async toggleFavorite(card: string): Promise<void> {
    try {
      await this.change(FAVORITES, [card], !this.isFavorite(card));
    } catch (reason) {
      engine.showError(reason);
    }
  }

  /** Adds cards to a collection, a new one included, or takes them out of it. */
  async change(collection: string, cards: string[], included: boolean): Promise<void> {
    this.#read.value = await engine.call("collections_change", { collection, cards, included });
  }

  async rename(collection: string, name: string): Promise<void> {
    this.#read.value = await engine.call("collections_rename", { collection, name });
  }

  async remove(collection: string): Promise<void> {
    this.#read.value = await engine.call("collections_remove", { collection });
  }
}

export const collections = new Collections();
