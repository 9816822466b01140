// Keyboard shortcuts as text: "Mod+K", "Alt+ArrowLeft", "A", "Space". Mod is Ctrl, or Cmd on a Mac. A letter is as it
// is typed: "A" is with Shift, "a" without.

import { commands as texts } from "../texts/commands";

/** Sends what is typed where Enter alone makes a line. */
export const SUBMIT = "Mod+Enter";

export const MAC = typeof navigator !== "undefined" && /mac/i.test(navigator.platform);

const SHOWN: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: texts.keys.escape,
  Mod: MAC ? "⌘" : texts.keys.ctrl,
  Meta: MAC ? "⌘" : texts.keys.meta,
};

function partsOf(shortcut: string): { modifiers: string[]; key: string } {
  const parts = shortcut.split("+");
  return { modifiers: parts.slice(0, -1), key: parts.at(-1) ?? "" };
}

/** Whether a key that was pressed is the shortcut. */
export function matches(event: KeyboardEvent, shortcut: string): boolean {
  const { modifiers, key } = partsOf(shortcut);
  const has = (name: string) => modifiers.includes(name);
  const command = has("Mod")
    ? event.ctrlKey || event.metaKey
    : event.ctrlKey === has("Ctrl") && event.metaKey === has("Meta");
  if (!command || event.altKey !== has("Alt")) return false;
  // Shift is part of what a letter is; with other keys held it makes another shortcut of it. What some keyboards
  // type with Shift, as digits in France, is still the same.
  const sign = /^[^a-z]$/i.test(key);
  if (modifiers.length) return (sign || !event.shiftKey) && event.key.toLowerCase() === key.toLowerCase();
  return event.key === (key === "Space" ? " " : key);
}

/** As a person reads it: "Ctrl K". */
export function shown(shortcut: string): string {
  const { modifiers, key } = partsOf(shortcut);
  return [...modifiers, key].map((part) => SHOWN[part] ?? part).join(" ");
}

/** Whether a shortcut means something while one types: a key alone is text, and so is a step by a word on a Mac. */
export function worksWhileTyping(shortcut: string, mac = MAC): boolean {
  const { modifiers, key } = partsOf(shortcut);
  return /^F\d+$/.test(key) || (modifiers.length > 0 && !(mac && modifiers.includes("Alt")));
}

/** Whether the person is typing, so that single letters are text. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable='true']");
}

/** Whether the control that has the focus takes the key itself: Space presses a button, arrows choose in a group. */
export function takenByControl(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (event.key === " ") return !!target?.closest("button, summary, a, input");
  return event.key.startsWith("Arrow") && !!target?.closest("[type='radio'], [role='radio'], [role='tab']");
}
