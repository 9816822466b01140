// The panes and dialogs that are loaded after the start of the window, and the keys pressed for them meanwhile.

import { tick } from "svelte";
import { COMMANDS } from "./commandList";
import { triggers } from "./commands";
import { LazyModule } from "./lazyModule.svelte";
import { navigation } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";
import { takenByControl } from "./shortcuts";

/** All panes but Ask, and the dialogs. */
export const lazyPanes = new LazyModule("panes and dialogs", () => import("../lazyPanes"));

/** Returns whether something was opened that is not loaded yet. Reactive. */
export function isLoading(): boolean {
  return !lazyPanes.value && (navigation.pane !== "ask" || overlays.dialogOpened);
}

/** Keys of commands, pressed while something is awaited, and the pane they were pressed in. */
const held: KeyboardEvent[] = [];
let heldFor: string | null = null;

/**
 * Holds a key of a command while the file is being loaded, and presses it again afterwards, unless another pane was
 * gone to with the pointer or the file cannot be loaded. Returns whether it is held.
 */
export function holdKey(event: KeyboardEvent): boolean {
  if (!isLoading() || lazyPanes.failed || event.defaultPrevented || takenByControl(event)) return false;
  if (!COMMANDS.some((command) => triggers(event, command))) return false;
  event.preventDefault();
  heldFor ??= navigation.pane;
  if (held.push(event) === 1) void lazyPanes.load().then(pressHeld);
  return true;
}

async function pressHeld(): Promise<void> {
  await tick();
  const keys = held.splice(0);
  const isElsewhere = heldFor !== navigation.pane;
  heldFor = null;
  if (!lazyPanes.value || isElsewhere) return;
  for (const key of keys) {
    (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent(key.type, eventInit(key)));
    // The next one may be for what this one opens.
    await tick();
  }
}

/** Returns what a key event is made from. */
function eventInit({
  key,
  code,
  location,
  repeat,
  ctrlKey,
  shiftKey,
  altKey,
  metaKey,
}: KeyboardEvent): KeyboardEventInit {
  const modifiers = { ctrlKey, shiftKey, altKey, metaKey };
  return { key, code, location, repeat, ...modifiers, bubbles: true, cancelable: true };
}
