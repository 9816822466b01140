// Which pane is shown, and what it is asked to show.

export type Pane = "ask" | "library" | "settings";

class Route {
  pane = $state<Pane>("ask");
  /** Card open in the library. */
  card = $state<string | null>(null);
  /** Question to put into the box. */
  question = $state("");
  palette = $state(false);
  keys = $state(false);
  importing = $state<{ path?: string; text?: string } | null>(null);
  exporting = $state(false);
  adding = $state(false);

  go(pane: Pane): void {
    this.pane = pane;
  }

  open(card: string): void {
    this.card = card;
    this.pane = "library";
  }
}

export const route = new Route();
