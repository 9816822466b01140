// Bundles and where cards come from, in words.

import type { Format, ImportSource, ItemStatus, SourceInfo, Trust } from "./bindings";
import { bundles as texts } from "../texts/bundles";
import type { IconName } from "../parts/Icon.svelte";

/** The kinds of cards of a source in the order they are shown. */
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

/** Whether cards come with the history that tells who changed what. */
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

/** Whether a signature warns of somebody else's hand: then nothing is taken over unseen. */
export function isSuspicious(trust: Trust): boolean {
  return trust === "stripped" || trust === "other_key";
}

/** A fingerprint in groups of four, as people compare it. */
export function fingerprint(text: string): string {
  return (text.replace(/[\s:-]/g, "").match(/.{1,4}/gu) ?? []).join(" ");
}

/** A source of cards as people name it. */
export function sourceName(source: ImportSource): string {
  if ("path" in source) return source.path;
  return "url" in source ? source.url : texts.pasted;
}

/** What a source calls itself, or the end of where it lies. */
export function calledName(about: SourceInfo, source: ImportSource): string {
  const name = about.name.trim();
  if (name) return name;
  if ("text" in source) return texts.pasted;
  return lastOf(sourceName(source));
}

/** The last part of a path or an address. */
export function lastOf(place: string): string {
  return (
    place
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .pop() || place
  );
}

/** What was typed as a source: an address of the web, or else a path. */
export function sourceFrom(text: string): ImportSource {
  const place = text.trim();
  return /^https?:\/\//i.test(place) ? { url: place } : { path: place };
}

/** Hours as people say them. */
export function every(hours: number): string {
  if (hours === 1) return texts.everyHour;
  if (hours === 24) return texts.everyDay;
  if (hours === 168) return texts.everyWeek;
  return hours % 24 === 0 ? texts.everyDays(hours / 24) : texts.everyHours(hours);
}
