// Keyboard shortcuts in text form: "Mod+K", "Alt+ArrowLeft", "A", "Space". Mod is Ctrl, or Cmd on a Mac. Letters are
// case-sensitive: "A" is with Shift, "a" without.

import { commands as texts } from "../texts/commands";

/** Submits a multi-line field, where Enter alone starts a new line. */
export const SUBMIT = "Mod+Enter";

export const MAC = typeof navigator !== "undefined" && /mac/i.test(navigator.platform);

const SHOWN: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: texts.keys.escape,
  Shift: MAC ? "⇧" : texts.keys.shift,
  Mod: MAC ? "⌘" : texts.keys.ctrl,
  Meta: MAC ? "⌘" : texts.keys.meta,
};

function partsOf(shortcut: string): { modifiers: string[]; key: string } {
  // The key itself may be a plus.
  const at = shortcut.slice(0, -1).lastIndexOf("+");
  return { modifiers: at < 0 ? [] : shortcut.slice(0, at).split("+"), key: shortcut.slice(at + 1) };
}

/** Returns whether a key event matches a shortcut. */
export function matches(event: KeyboardEvent, shortcut: string): boolean {
  const { modifiers, key } = partsOf(shortcut);
  const has = (name: string) => modifiers.includes(name);
  const command = has("Mod")
    ? event.ctrlKey || event.metaKey
    : event.ctrlKey === has("Ctrl") && event.metaKey === has("Meta");
  if (!command || event.altKey !== has("Alt")) return false;
  // Without modifiers, `event.key` already reflects Shift. With modifiers, letters must have Shift only where it is one
  // of them, but other characters may need it on some keyboards, such as digits on French ones.
  const sign = /^[^a-z]$/i.test(key);
  if (modifiers.length) {
    return (sign || event.shiftKey === has("Shift")) && event.key.toLowerCase() === key.toLowerCase();
  }
  return event.key === (key === "Space" ? " " : key);
}

/** Formats a shortcut for display: "Ctrl K". */
export function shown(shortcut: string): string {
  const { modifiers, key } = partsOf(shortcut);
  return [...modifiers, key].map((part) => SHOWN[part] ?? part).join(" ");
}

/** Returns whether a shortcut works in a text field. A plain key is input, and Alt on a Mac moves by words. */
export function worksWhileTyping(shortcut: string, mac = MAC): boolean {
  const { modifiers, key } = partsOf(shortcut);
  return /^F\d+$/.test(key) || (modifiers.length > 0 && !(mac && modifiers.includes("Alt")));
}

/** Returns whether the focused element takes typed input, so that plain keys are not shortcuts. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable='true']");
}

/** Returns whether the focused element takes Enter as input: the start of a new line. */
export function startsLine(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("textarea, [contenteditable='true']");
}

/** Returns whether the focused control handles the key itself: Space presses a button, arrows move in a group. */
export function takenByControl(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (event.key === " ") return !!target?.closest("button, summary, a, input");
  return event.key.startsWith("Arrow") && !!target?.closest("[type='radio'], [role='radio'], [role='tab']");
}
