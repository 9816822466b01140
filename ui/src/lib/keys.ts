// The keys that work everywhere. Panes have their own for what only they do.

import { engine } from "./engine.svelte";
import { route } from "./route.svelte";

/** What a key does, for the list of keys. */
export const KEYS: { keys: string; does: string }[] = [
  { keys: "Ctrl K", does: "Command palette: every command and every card" },
  { keys: "Ctrl 1 / 2 / 3", does: "Ask / Library / Settings" },
  { keys: "/", does: "Ask a question, or filter the library" },
  { keys: "j / k, ↓ / ↑", does: "Next and previous card" },
  { keys: "Enter", does: "Open the card; ask" },
  { keys: "e", does: "Edit the open card" },
  { keys: "n", does: "Add a card (in the library)" },
  { keys: "Ctrl Z", does: "Undo the newest change to the library" },
  { keys: "?", does: "These keys" },
  { keys: "Esc", does: "Close what is on top" },
];

/** Whether the person is typing, so that single letters are text. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input, textarea, select, [contenteditable='true']");
}

/** Focuses what the pane is for. */
function focusBox(): void {
  const box = route.pane === "library" ? "library-filter" : "ask-box";
  if (route.pane === "settings") route.go("ask");
  requestAnimationFrame(() => document.getElementById(box)?.focus());
}

export function handleKey(event: KeyboardEvent): void {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === "k") {
    event.preventDefault();
    route.palette = !route.palette;
  } else if (command && ["1", "2", "3"].includes(event.key)) {
    event.preventDefault();
    route.go(event.key === "1" ? "ask" : event.key === "2" ? "library" : "settings");
  } else if (command && event.key.toLowerCase() === "z" && !event.shiftKey && !typing(event)) {
    event.preventDefault();
    void engine.undo();
  } else if (!command && !event.altKey && !typing(event) && !event.defaultPrevented) {
    if (event.key === "?") {
      event.preventDefault();
      route.keys = true;
    } else if (event.key === "/") {
      event.preventDefault();
      focusBox();
    }
  }
}
