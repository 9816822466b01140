// Navigation: which pane is shown, what is open in it, and the history. Overlays are in `overlays.svelte.ts`.

import { app as texts } from "../texts/app";

export type Pane = "ask" | "discover" | "review" | "library" | "activity" | "settings";

/** The panes in the order of the navigation rail and of their shortcuts. */
export const PANES: { pane: Pane; name: string }[] = [
  { pane: "ask", name: texts.panes.ask },
  { pane: "discover", name: texts.panes.discover },
  { pane: "review", name: texts.panes.review },
  { pane: "library", name: texts.panes.library },
  { pane: "activity", name: texts.panes.activity },
  { pane: "settings", name: texts.panes.settings },
];

export function isPane(name: string): name is Pane {
  return PANES.some(({ pane }) => pane === name);
}

export interface Place {
  pane: Pane;
  /** Where Discover searches: the web, the marketplace sources, or the documents and the code that were added. */
  where: "web" | "research" | "market" | "documents" | "code";
  /** Id of the proposal open in Review. */
  proposal: number | null;
  /** Id of the card open in the library. */
  card: string | null;
  /** Whether the form for a new card is open in the library. */
  adding: boolean;
  /** The section of Settings that is shown. */
  section: string | null;
}

/** The state that belongs to each pane. Going back restores it without affecting the other panes. */
const OPEN: Record<Pane, Exclude<keyof Place, "pane">[]> = {
  ask: [],
  discover: ["where"],
  review: ["proposal"],
  library: ["card", "adding"],
  activity: [],
  settings: ["section"],
};

/** Longest history. */
const MAX_HISTORY = 100;

const START: Place = { pane: "ask", where: "web", proposal: null, card: null, adding: false, section: null };

function same(a: Place, b: Place): boolean {
  return a.pane === b.pane && OPEN[a.pane].every((field) => a[field] === b[field]);
}

export class Navigation {
  #place = $state.raw<Place>(START);
  #visited = $state.raw<Place[]>([START]);
  #at = $state(0);
  /** Incremented with each navigation, even to the current place, so that Settings scrolls to the section again. */
  visits = $state(0);
  /** What Discover is to search for; cleared by the pane. */
  need = $state("");
  /**
   * Set by a form in the library. Asked before something else takes its place; returns whether the form stays for now,
   * and then calls `go` once it may be left.
   */
  hold: ((go: () => void) => boolean) | null = null;

  // One derived value per field, so that a reader of one is not notified of changes to the others.
  pane = $derived(this.#place.pane);
  where = $derived(this.#place.where);
  proposal = $derived(this.#place.proposal);
  card = $derived(this.#place.card);
  adding = $derived(this.#place.adding);
  section = $derived(this.#place.section);

  get canGoBack(): boolean {
    return this.#at > 0;
  }

  get canGoForward(): boolean {
    return this.#at < this.#visited.length - 1;
  }

  back(): void {
    if (this.canGoBack) this.#revisit(this.#at - 1);
  }

  forward(): void {
    if (this.canGoForward) this.#revisit(this.#at + 1);
  }

  /**
   * Navigates to a place. With `replace` the current history entry is overwritten, for moving through a list and for
   * items that no longer exist.
   */
  visit(change: Partial<Place>, { replace = false } = {}): void {
    const place = { ...this.#place, ...change };
    if (this.#isHeld(place, () => this.visit(change, { replace }))) return;
    const known = same(place, this.#place);
    this.#place = place;
    this.visits++;
    if (known) return;
    if (replace) {
      this.#visited = this.#visited.map((visited, at) => (at === this.#at ? place : visited));
      return;
    }
    this.#visited = [...this.#visited.slice(0, this.#at + 1), place].slice(-MAX_HISTORY);
    this.#at = this.#visited.length - 1;
  }

  go(pane: Pane): void {
    this.visit(pane === "settings" ? { pane, section: null } : { pane });
  }

  /** Searches the web in Discover. */
  discover(need: string): void {
    this.need = need;
    this.visit({ pane: "discover", where: "web" });
  }

  /** Opens research in Discover. */
  research(): void {
    this.visit({ pane: "discover", where: "research" });
  }

  /** Opens the marketplace search in Discover. */
  market(): void {
    this.visit({ pane: "discover", where: "market" });
  }

  /** Opens Review at a proposal, or where the user left off. */
  review(proposal: number | null = null): void {
    this.visit({ pane: "review", ...(proposal === null ? {} : { proposal }) });
  }

  settings(section: string): void {
    this.visit({ pane: "settings", section });
  }

  open(card: string): void {
    this.visit({ pane: "library", card, adding: false });
  }

  closeCard(): void {
    this.visit({ card: null });
  }

  /** Opens the form for a new card. */
  add(): void {
    this.visit({ pane: "library", adding: true });
  }

  #revisit(at: number): void {
    const to = this.#visited[at];
    if (!to) return;
    const open = Object.fromEntries(OPEN[to.pane].map((field) => [field, to[field]]));
    const place = { ...this.#place, ...open, pane: to.pane };
    if (this.#isHeld(place, () => this.#revisit(at))) return;
    this.#at = at;
    this.#place = place;
    this.visits++;
  }

  /** Returns whether the form in the library keeps its place, which another pane does not take. */
  #isHeld(place: Place, go: () => void): boolean {
    const stays = place.card === this.#place.card && place.adding === this.#place.adding;
    return !stays && !!this.hold?.(go);
  }
}

export const navigation = new Navigation();
