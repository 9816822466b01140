// The keys that work everywhere. Panes have their own for what only they do.

import { asks } from "./asks.svelte";
import { engine } from "./engine.svelte";
import { PANES, navigation } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";

/** What a key does, for the list of keys. */
export const KEYS: { keys: string; does: string }[] = [
  { keys: "Ctrl K", does: "Command palette: every command and every card" },
  { keys: "Ctrl 1 … 6", does: "Ask, Discover, Review, Library, Activity, Settings" },
  { keys: "/", does: "Ask, look on the web, filter the queue or the library" },
  { keys: "Enter", does: "Open the card; ask the agent" },
  { keys: "j / k, ↓ / ↑", does: "Next and previous card or proposal" },
  { keys: "a / r", does: "Review: accept the ticked fields / reject" },
  { keys: "J / K, Space", does: "Review: next and previous field, tick it" },
  { keys: "x / e", does: "Review: turn the field down / edit its value first" },
  { keys: "A", does: "Review: accept all safe ones in view, after a preview" },
  { keys: "o / d", does: "Review: open the page / side by side or unified" },
  { keys: "u / c", does: "Review: take the decision back / say something" },
  { keys: "e", does: "Edit the open card" },
  { keys: "x", does: "Library: select the card; with Shift, all from the one selected before" },
  { keys: "n", does: "Add a card (in the library)" },
  { keys: "F6", does: "To the call of an agent that waits for your approval, and back; Esc leaves it unanswered" },
  { keys: "Alt ← / →", does: "Back and forward between panes and what was open in them" },
  { keys: "Ctrl Z", does: "Undo the newest change to the library" },
  { keys: "t", does: "Review: take theirs or keep mine, where two libraries disagree" },
  { keys: "Space / Enter, f", does: "Import: take the card or not, open it; show only one kind" },
  { keys: "?", does: "These keys" },
  { keys: "Esc", does: "Close what is on top" },
];

/** Whether the person is typing, so that single letters are text. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable='true']");
}

/** Focuses what the pane is for. */
function focusBox(): void {
  const boxes = { library: "library-filter", discover: "discover-box", review: "review-filter", ask: "ask-box" };
  if (!(navigation.pane in boxes)) navigation.go("ask");
  const box = boxes[navigation.pane as keyof typeof boxes];
  const focus = () => document.getElementById(box)?.focus();
  focus();
  // A pane that was not shown takes the focus when it is; one that is takes what is typed next at once.
  if (document.activeElement?.id !== box) requestAnimationFrame(focus);
}

/** The fourth and fifth button of a mouse go back and forward. */
export function handleMouse(event: MouseEvent): void {
  if (event.button !== 3 && event.button !== 4) return;
  // A browser would leave the page.
  event.preventDefault();
  if (event.type !== "mouseup" || overlays.covered) return;
  if (event.button === 3) navigation.back();
  else navigation.forward();
}

const MAC = typeof navigator !== "undefined" && /mac/i.test(navigator.platform);

/** Which way a key goes in what was visited. */
function wayOf(event: KeyboardEvent): "back" | "forward" | null {
  // Alt and an arrow move by a word where one types on a Mac.
  const arrow = event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey && !(MAC && typing(event));
  if ((arrow && event.key === "ArrowLeft") || (event.metaKey && event.key === "[")) return "back";
  if ((arrow && event.key === "ArrowRight") || (event.metaKey && event.key === "]")) return "forward";
  return null;
}

export function handleKey(event: KeyboardEvent): void {
  const way = wayOf(event);
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === "k") {
    event.preventDefault();
    overlays.palette = !overlays.palette;
  } else if (command && PANES[Number(event.key) - 1]) {
    event.preventDefault();
    const to = PANES[Number(event.key) - 1];
    if (to) navigation.go(to.pane);
  } else if (command && event.key.toLowerCase() === "z" && !event.shiftKey && !typing(event) && !overlays.covered) {
    event.preventDefault();
    void engine.undo();
  } else if (way && !overlays.covered) {
    event.preventDefault();
    navigation[way]();
  } else if (event.key === "F6" && asks.waiting.length) {
    event.preventDefault();
    asks.focus();
  } else if (!command && !event.altKey && !typing(event) && !event.defaultPrevented) {
    if (event.key === "?") {
      event.preventDefault();
      overlays.shortcuts = true;
    } else if (event.key === "/" && !overlays.covered) {
      event.preventDefault();
      focusBox();
    }
  }
}
