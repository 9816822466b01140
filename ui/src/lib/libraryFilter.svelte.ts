// The filters and the order of the list of cards.

import type { CardsQuery, HealthFilter, Kind, Sort } from "./bindings";

/** Milliseconds without typing after which the text is searched for. */
const PAUSE_MS = 150;

/** The filters that are chosen from a list. Each is empty if it does not apply. */
const NONE = { kind: "", language: "", provider: "", tag: "", collection: "", health: "" };

export type Choices = typeof NONE;

export class LibraryFilter {
  /** The text as typed. */
  typed = $state("");
  /** The text once typing has paused. */
  #text = $state("");
  /**
   * The chosen values. `health` is a result of the latest check, or a filter on what cards say about themselves:
   * `says:verified`, `says:unverified` or `says:undocumented`.
   */
  chosen = $state<Choices>({ ...NONE });
  sort = $state<Sort>("name");
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly query = $derived.by<CardsQuery>(() => {
    const { kind, language, provider, tag, collection, health } = this.chosen;
    return {
      text: this.#text || null,
      kind: (kind || null) as Kind | null,
      language: language || null,
      provider: provider || null,
      tag: tag || null,
      collection: collection || null,
      verified: health === "says:verified" ? true : health === "says:unverified" ? false : null,
      documented: health === "says:undocumented" ? false : null,
      health: health && !health.startsWith("says:") ? (health as HealthFilter) : null,
      sort: this.sort,
      descending: false,
    };
  });

  /** Whether any filter applies. */
  readonly active = $derived(!!this.#text || Object.values(this.chosen).some(Boolean));

  /** Searches for the text once typing pauses. */
  type(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#text = this.typed.trim()), PAUSE_MS);
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.typed = this.#text = "";
    this.chosen = { ...NONE };
  }
}
