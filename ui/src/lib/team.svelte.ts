// The team whose library the window shows, and changing to another library.

import type { TeamEntry, TeamState } from "./bindings";
import { desktop } from "./desktop.svelte";
import { engine } from "./engine.svelte";
import { ago } from "./format";
import { navigation } from "./navigation.svelte";
import { visibleLine } from "./visible";
import { team as texts } from "../texts/team";

class OpenTeam {
  /** How the open library and its team's stand; `null` for a person's own, and until it is known. */
  state = $state.raw<TeamState | null>(null);
}

export const openTeam = new OpenTeam();

/** Says in a line how a team's library stands. What shows it follows the clock. */
export function presence({ is_connected, synced_at, unsent }: TeamState): string {
  return texts.presence(is_connected, synced_at === null ? null : ago(synced_at), unsent);
}

/** Where the card waits that is shown once the page has started over. */
const CARD = "autokit.card";

/**
 * Opens the library of a team in the window, or the person's own (`null`), and in it a card. The page starts over with it.
 */
export async function openLibrary(team: string | null, card: string | null = null): Promise<void> {
  // Nothing that is shown is true of the other library.
  engine.status = null;
  if (card !== null) sessionStorage.setItem(CARD, card);
  try {
    await desktop.openLibrary(team);
  } catch (reason) {
    sessionStorage.removeItem(CARD);
    await engine.connect();
    engine.showError(reason);
  }
}

/** Shows the card for which this library was opened. */
export function showCard(): void {
  const card = sessionStorage.getItem(CARD);
  sessionStorage.removeItem(CARD);
  if (card !== null) navigation.open(card);
}

/** Shows a team that was just joined or created: its library, or in a browser how to open it. */
export async function showTeam(
  { id, name }: TeamEntry,
  said: (name: string, id: string) => string = texts.joined,
): Promise<void> {
  if (engine.host.desktop) {
    await openLibrary(id);
  } else {
    engine.showToast(said(visibleLine(name), id));
    // The list of teams has one more.
    engine.versions.team++;
  }
}

/** Returns the names in a text that separates them by commas, each once. */
export function namesIn(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names)].filter(Boolean);
}
