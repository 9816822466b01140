// Which pane is shown and what is open in it, with the way back. What lies over a pane is in `overlays.svelte.ts`.

import { app as texts } from "../texts/app";

export type Pane = "ask" | "discover" | "review" | "library" | "activity" | "settings";

/** In the order of the rail, and of their shortcuts. */
export const PANES: { pane: Pane; name: string }[] = [
  { pane: "ask", name: texts.panes.ask },
  { pane: "discover", name: texts.panes.discover },
  { pane: "review", name: texts.panes.review },
  { pane: "library", name: texts.panes.library },
  { pane: "activity", name: texts.panes.activity },
  { pane: "settings", name: texts.panes.settings },
];

export interface Place {
  pane: Pane;
  /** Where Discover looks: on the web, or in the sources of the marketplace. */
  where: "web" | "market";
  /** Proposal open in Review. */
  proposal: number | null;
  /** Card open in the library. */
  card: string | null;
  /** Whether a card is being added there. */
  adding: boolean;
  /** Part of Settings that is looked at. */
  section: string | null;
}

/** What is open in each pane: going back puts this back, and leaves the other panes as they are. */
const OPEN: Record<Pane, Exclude<keyof Place, "pane">[]> = {
  ask: [],
  discover: ["where"],
  review: ["proposal"],
  library: ["card", "adding"],
  activity: [],
  settings: ["section"],
};

/** Places that are remembered. */
const MOST = 100;

const START: Place = { pane: "ask", where: "web", proposal: null, card: null, adding: false, section: null };

function same(a: Place, b: Place): boolean {
  return a.pane === b.pane && OPEN[a.pane].every((field) => a[field] === b[field]);
}

export class Navigation {
  #place = $state.raw<Place>(START);
  #visited = $state.raw<Place[]>([START]);
  #at = $state(0);
  /** Grows with each visit of a part of Settings, also of the one that is looked at already. */
  visits = $state(0);
  /** Need that Discover is asked to look for; taken by the pane. */
  need = $state("");

  // Each by itself: who looks at one is not told of the others.
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
   * Goes to a place. With `replace` there is no way back to the one before: for steps through a list, and for what
   * is gone.
   */
  visit(change: Partial<Place>, { replace = false } = {}): void {
    const place = { ...this.#place, ...change };
    const known = same(place, this.#place);
    this.#place = place;
    this.visits++;
    if (known) return;
    if (replace) {
      this.#visited = this.#visited.map((visited, at) => (at === this.#at ? place : visited));
      return;
    }
    this.#visited = [...this.#visited.slice(0, this.#at + 1), place].slice(-MOST);
    this.#at = this.#visited.length - 1;
  }

  go(pane: Pane): void {
    this.visit(pane === "settings" ? { pane, section: null } : { pane });
  }

  /** Looks for a need on the web. */
  discover(need: string): void {
    this.need = need;
    this.visit({ pane: "discover", where: "web" });
  }

  /** Looks in the sources of the marketplace. */
  market(): void {
    this.visit({ pane: "discover", where: "market" });
  }

  /** Opens Review, at a proposal or where the person left off. */
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
    this.#at = at;
    const open = Object.fromEntries(OPEN[to.pane].map((field) => [field, to[field]]));
    this.#place = { ...this.#place, ...open, pane: to.pane };
    this.visits++;
  }
}

export const navigation = new Navigation();
