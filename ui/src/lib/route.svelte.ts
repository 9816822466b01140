// Which pane is shown, and what it is asked to show.

import type { CardsQuery } from "./bindings";

export type Pane = "ask" | "discover" | "review" | "library" | "activity" | "settings";

/** In the order of the rail, and of the keys Ctrl 1 to 6. */
export const PANES: Pane[] = ["ask", "discover", "review", "library", "activity", "settings"];

class Route {
  pane = $state<Pane>("ask");
  /** Card open in the library. */
  card = $state<string | null>(null);
  /** Question to put into the box. */
  question = $state("");
  /** Where Discover looks: on the web, or in the sources of the marketplace. */
  where = $state<"web" | "market">("web");
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
  /** What is about to be imported; empty where that is still to be chosen. Positions in `leave` are not wanted. */
  importing = $state.raw<{ path?: string; text?: string; url?: string; leave?: number[] } | null>(null);
  /** A link asks to look at this while something else is looked at. */
  offered = $state.raw<{ path?: string; text?: string; url?: string } | null>(null);
  /** Whether a preview of an import is looked at: it is not taken away by what comes from outside. */
  looking = $state(false);
  /** What is about to leave: the cards in view or some of them, or what is chosen then. */
  exporting = $state.raw<{ query?: CardsQuery; cards?: string[] } | null>(null);
  /** Imports that were made, or bundles that are followed. */
  bundles = $state<"imports" | "subscriptions" | null>(null);
  adding = $state(false);
  /** Whether a question about what is in the pane waits for an answer. */
  asking = $state(false);

  /** Whether something lies over the pane: then keys are not meant for it. */
  get covered(): boolean {
    return !!(
      this.palette ||
      this.keys ||
      this.accepting ||
      this.importing ||
      this.exporting ||
      this.bundles ||
      this.asking
    );
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
    this.where = "web";
    this.pane = "discover";
  }

  /** Looks in the sources of the marketplace. */
  market(): void {
    this.where = "market";
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
