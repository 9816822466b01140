// Formatting of numbers, times and names.

import { createSubscriber } from "svelte/reactivity";
import type { Kind } from "./bindings";
import { format as texts } from "../texts/format";

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** Between updates of relative times, in milliseconds. */
const TICK = 30_000;

const tick = createSubscriber((update) => {
  const clock = setInterval(update, TICK);
  return () => clearInterval(clock);
});

/** Returns the time; what shows it follows the clock. */
export function currentTime(): number {
  tick();
  return Date.now();
}

/** Formats a relative time: "3 hours ago". What shows it follows the clock. */
export function ago(at: string, now = currentTime()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  if (Number.isNaN(seconds)) return at;
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.round(seconds / length), unit);
  }
  return texts.justNow;
}

/** Formats the full date and time, for tooltips. */
export function moment(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : date.toLocaleString();
}

/** Formats a count with its noun: "1,234 cards". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** Formats a duration: "1 min 20 s". */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return texts.seconds(seconds);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return texts.minutes(minutes, seconds % 60);
  return texts.hours(Math.floor(minutes / 60), minutes % 60);
}

/** Formats the duration of a step: "40 ms", "1.2 s", "1 min 20 s". */
export function took(ms: number): string {
  if (ms < 1000) return texts.milliseconds(Math.round(ms));
  return ms < 60_000 ? texts.seconds((ms / 1000).toFixed(1)) : duration(ms);
}

/** Formats a share of 1 as a percentage: "84%". */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Formats a size: "86.7 MB". */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ["kB", "MB", "GB"];
  let value = n;
  let unit = "B";
  for (const next of units) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}

/** The kinds of cards, in the order in which they are offered. */
export const CARD_KINDS: Kind[] = ["class", "rest_operation", "mcp_tool", "cli", "other"];

const KINDS: Record<string, string> = texts.kinds;

/** Returns the display name of a card kind. */
export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

const FIELDS: Record<string, string> = texts.fields;

/** Returns the display name of a field: `programming_language` → "Programming language". */
export function fieldName(field: string): string {
  if (Object.hasOwn(FIELDS, field)) return FIELDS[field]!;
  const words = field.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the address if it is an HTTP or HTTPS one, the only kind that is opened; `null` otherwise. */
export function webAddress(url: string | null): string | null {
  return url && /^https?:\/\//i.test(url) ? url : null;
}

/** Returns a text with a capital first letter, for a message that begins a line. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
