// Overlays above the panes: dialogs and the command palette. Escape closes them; they are not part of the navigation
// history.

import type { AcceptRule, CardsQuery } from "./bindings";

/** The source of an import. Cards at the positions in `leave` start out excluded. */
export interface ImportArrival {
  path?: string;
  text?: string;
  url?: string;
  leave?: number[];
}

class Overlays {
  palette = $state(false);
  /** Whether the list of keyboard shortcuts is open. */
  shortcuts = $state(false);
  /** The rule of the open dialog for accepting several proposals. */
  accepting = $state<AcceptRule | null>(null);
  /** Source of the open import dialog; an empty object if the source is still to be chosen. */
  importing = $state.raw<ImportArrival | null>(null);
  /** A source that arrived by link or drop while an import preview was open. */
  offered = $state.raw<ImportArrival | null>(null);
  /** Whether an import preview is open. Links and dropped files do not replace it. */
  previewing = $state(false);
  /** Cards of the open export dialog: those matching `query`, those in `cards`, or chosen in the dialog. */
  exporting = $state.raw<{ query?: CardsQuery; cards?: string[] } | null>(null);
  /** The open tab of the bundles dialog. */
  bundles = $state<"imports" | "subscriptions" | null>(null);
  /** The link that the open dialog joins a team with; empty if it is still to be pasted. */
  joining = $state<string | null>(null);
  /** Whether the dialog that creates a team is open. */
  creatingTeam = $state(false);
  /** Whether the list of duplicates is open. */
  duplicates = $state(false);
  /** The open list of jobs. */
  jobs = $state<"running" | "recent" | null>(null);
  /** Number of open dialogs. Each counts itself, so that none lets keys through to the pane below. */
  dialogs = $state(0);

  /** Whether an overlay covers the pane and disables its shortcuts. */
  get covered(): boolean {
    return this.palette || !!this.jobs || this.dialogs > 0;
  }

  /** Whether one of the dialogs was opened that any pane can open. */
  get dialogOpened(): boolean {
    const opened = [this.importing, this.exporting, this.bundles, this.joining, this.creatingTeam, this.duplicates];
    return opened.some((one) => one !== null && one !== false);
  }

  /** Closes those dialogs. */
  closeDialogs(): void {
    [this.importing, this.exporting, this.bundles, this.joining] = [null, null, null, null];
    [this.creatingTeam, this.duplicates] = [false, false];
  }

  /** Opens the import of a dropped file or a link; while a preview is open, only offers it. */
  arrive(source: ImportArrival): void {
    if (this.importing && this.previewing) this.offered = source;
    else this.importing = source;
  }
}

export const overlays = new Overlays();
