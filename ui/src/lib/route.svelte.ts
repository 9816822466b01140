// Which pane is shown, and what it is asked to show.

import type { CardsQuery } from "./bindings";

export type Pane = "ask" | "discover" | "review" | "library" | "settings";

/** In the order of the rail, and of the keys Ctrl 1 to 5. */
export const PANES: Pane[] = ["ask", "discover", "review", "library", "settings"];

class Route {
  pane = $state<Pane>("ask");
  /** Card open in the library. */
  card = $state<string | null>(null);
  /** Question to put into the box. */
  question = $state("");
  /** A need to look for on the web. */
  need = $state("");
  /** Proposal open in Review. */
  proposal = $state<number | null>(null);
  /** Whether the safe proposals in view are about to be accepted. */
  accepting = $state(false);
  /** Part of Settings to scroll to. */
  section = $state<string | null>(null);
  palette = $state(false);
  keys = $state(false);
  /** What is about to be imported; empty where that is still to be chosen. */
  importing = $state.raw<{ path?: string; text?: string; url?: string } | null>(null);
  /** A link asks to look at this while something else is looked at. */
  offered = $state.raw<{ path?: string; text?: string; url?: string } | null>(null);
  /** Whether a preview of an import is looked at: it is not taken away by what comes from outside. */
  looking = $state(false);
  /** What is about to leave: the cards in view or some of them, or what is chosen then. */
  exporting = $state.raw<{ query?: CardsQuery; cards?: string[] } | null>(null);
  /** Imports that were made, or bundles that are followed. */
  bundles = $state<"imports" | "subscriptions" | null>(null);
  adding = $state(false);

  /** Whether something lies over the pane: then keys are not meant for it. */
  get covered(): boolean {
    return !!(this.palette || this.keys || this.accepting || this.importing || this.exporting || this.bundles);
  }

  /** Looks at what came from outside: a dropped file, a link. */
  arrive(source: { path?: string; text?: string; url?: string }): void {
    if (this.importing && this.looking) this.offered = source;
    else this.importing = source;
  }

  go(pane: Pane): void {
    this.pane = pane;
  }

  /** Looks for a need on the web. */
  discover(need: string): void {
    this.need = need;
    this.pane = "discover";
  }

  /** Opens Review, at a proposal or where the person left off. */
  review(proposal: number | null = null): void {
    if (proposal !== null) this.proposal = proposal;
    this.pane = "review";
  }

  settings(section: string | null = null): void {
    this.section = section;
    this.pane = "settings";
  }

  open(card: string): void {
    this.card = card;
    this.pane = "library";
  }
}

export const route = new Route();
