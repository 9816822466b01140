// What lies over the panes: dialogs and the palette. Escape closes them; going back does not.

import type { CardsQuery } from "./bindings";

/** What an import begins with. Positions in `leave` are not wanted. */
export interface Arrival {
  path?: string;
  text?: string;
  url?: string;
  leave?: number[];
}

class Overlays {
  palette = $state(false);
  /** The list of shortcuts. */
  shortcuts = $state(false);
  /** Whether the safe proposals in view are about to be accepted. */
  accepting = $state(false);
  /** What is about to be imported; empty where that is still to be chosen. */
  importing = $state.raw<Arrival | null>(null);
  /** A link asks to look at this while something else is looked at. */
  offered = $state.raw<Arrival | null>(null);
  /** Whether a preview of an import is looked at: it is not taken away by what comes from outside. */
  previewing = $state(false);
  /** What is about to leave: the cards in view or some of them, or what is chosen then. */
  exporting = $state.raw<{ query?: CardsQuery; cards?: string[] } | null>(null);
  /** Imports that were made, or bundles that are followed. */
  bundles = $state<"imports" | "subscriptions" | null>(null);
  /** Whether a question about what is in the pane waits for an answer. */
  confirming = $state(false);

  /** Whether something lies over the pane: then shortcuts are not meant for it. */
  get covered(): boolean {
    return !!(
      this.palette ||
      this.shortcuts ||
      this.accepting ||
      this.importing ||
      this.exporting ||
      this.bundles ||
      this.confirming
    );
  }

  /** Looks at what came from outside: a dropped file, a link. */
  arrive(source: Arrival): void {
    if (this.importing && this.previewing) this.offered = source;
    else this.importing = source;
  }
}

export const overlays = new Overlays();
