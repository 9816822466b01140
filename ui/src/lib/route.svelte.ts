// Which pane is shown, and what it is asked to show.

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
  importing = $state<{ path?: string; text?: string } | null>(null);
  exporting = $state(false);
  adding = $state(false);

  go(pane: Pane): void {
    this.pane = pane;
  }

  /** Looks for a need on the web. */
  discover(need: string): void {
    this.need = need;
    this.pane = "discover";
  }

  review(proposal: number | null = null): void {
    this.proposal = proposal;
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
