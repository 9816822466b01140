// Bundles and other card sources, for display.

import type { Format, ImportSource, ItemStatus, SourceInfo, Trust } from "./bindings";
import { bundles as texts } from "../texts/bundles";
import type { IconName } from "../parts/Icon.svelte";

/** Import statuses in display order. */
export const STATUSES: ItemStatus[] = ["new", "changed", "conflicting", "similar", "identical", "invalid"];

export const STATUS: Record<ItemStatus, { name: string; kind: string; icon: IconName; about: string }> = {
  new: { name: texts.statuses.new.name, kind: "good", icon: "plus", about: texts.statuses.new.about },
  changed: {
    name: texts.statuses.changed.name,
    kind: "accent",
    icon: "edit",
    about: texts.statuses.changed.about,
  },
  conflicting: {
    name: texts.statuses.conflicting.name,
    kind: "warn",
    icon: "differs",
    about: texts.statuses.conflicting.about,
  },
  similar: {
    name: texts.statuses.similar.name,
    kind: "warn",
    icon: "copy",
    about: texts.statuses.similar.about,
  },
  identical: { name: texts.statuses.identical.name, kind: "", icon: "check", about: texts.statuses.identical.about },
  invalid: { name: texts.statuses.invalid.name, kind: "bad", icon: "close", about: texts.statuses.invalid.about },
};

export const FORMATS: Record<Format, string> = texts.formats;

/** Returns whether the format can contain the revision history of its cards. */
export function isBundle(format: Format): boolean {
  return format === "bundle" || format === "folder";
}

export const TRUST: Record<Trust, { name: string; kind: string; icon: IconName; about: string }> = {
  unsigned: {
    name: texts.trust.unsigned.name,
    kind: "",
    icon: "unlock",
    about: texts.trust.unsigned.about,
  },
  stripped: {
    name: texts.trust.stripped.name,
    kind: "bad",
    icon: "warning",
    about: texts.trust.stripped.about,
  },
  trusted: { name: texts.trust.trusted.name, kind: "good", icon: "check", about: "" },
  known: {
    name: texts.trust.known.name,
    kind: "",
    icon: "lock",
    about: texts.trust.known.about,
  },
  new: {
    name: texts.trust.new.name,
    kind: "warn",
    icon: "lock",
    about: texts.trust.new.about,
  },
  other_key: {
    name: texts.trust.other_key.name,
    kind: "bad",
    icon: "warning",
    about: texts.trust.other_key.about,
  },
};

/** Returns whether a signature suggests tampering. Cards then go to Review. */
export function isSuspicious(trust: Trust): boolean {
  return trust === "stripped" || trust === "other_key";
}

/** Formats a fingerprint in groups of four characters. */
export function fingerprint(text: string): string {
  return (text.replace(/[\s:-]/g, "").match(/.{1,4}/gu) ?? []).join(" ");
}

/** Returns the display name of a card source. */
export function sourceName(source: ImportSource): string {
  if ("path" in source) return source.path;
  return "url" in source ? source.url : texts.pasted;
}

/** Returns the name a source gives itself, or the last segment of its path or address. */
export function calledName(about: SourceInfo, source: ImportSource): string {
  const name = about.name.trim();
  if (name) return name;
  if ("text" in source) return texts.pasted;
  return lastOf(sourceName(source));
}

/** Returns the last segment of a path or address. */
export function lastOf(place: string): string {
  return (
    place
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .pop() || place
  );
}

/** Parses a source: an HTTP(S) address, or else a path. */
export function sourceFrom(text: string): ImportSource {
  const place = text.trim();
  return /^https?:\/\//i.test(place) ? { url: place } : { path: place };
}

/** Describes an interval in hours: "every day". */
export function every(hours: number): string {
  if (hours === 1) return texts.everyHour;
  if (hours === 24) return texts.everyDay;
  if (hours === 168) return texts.everyWeek;
  return hours % 24 === 0 ? texts.everyDays(hours / 24) : texts.everyHours(hours);
}
