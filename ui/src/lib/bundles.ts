// Bundles and where cards come from, in words.

import type { Format, ImportSource, ItemStatus, SourceInfo, Trust } from "./bindings";
import type { IconName } from "../parts/Icon.svelte";

/** The kinds of cards of a source in the order they are shown. */
export const STATUSES: ItemStatus[] = ["new", "changed", "conflicting", "similar", "identical", "invalid"];

export const STATUS: Record<ItemStatus, { name: string; kind: string; icon: IconName; about: string }> = {
  new: { name: "New", kind: "good", icon: "plus", about: "Your library has no such card." },
  changed: {
    name: "Changed",
    kind: "accent",
    icon: "edit",
    about: "Something is new in it, and nothing of yours is in the way.",
  },
  conflicting: {
    name: "Conflicting",
    kind: "warn",
    icon: "differs",
    about: "Both libraries changed the same field, each to something else.",
  },
  similar: {
    name: "Perhaps the same",
    kind: "warn",
    icon: "copy",
    about: "Your library has a card that is probably the same tool under another name.",
  },
  identical: { name: "Identical", kind: "", icon: "check", about: "Your library has all that is in it." },
  invalid: { name: "Invalid", kind: "bad", icon: "close", about: "It cannot be taken." },
};

export const FORMATS: Record<Format, string> = {
  bundle: "Bundle",
  folder: "Bundle in a folder",
  json: "AutoKit JSON",
  csv: "CSV table",
  mcp_servers: "MCP servers of a client",
  server_json: "MCP registry entry",
  open_api: "OpenAPI document",
  rapid_api: "RapidAPI documentation",
  markdown: "Markdown",
  html: "HTML page",
};

/** Whether cards come with the history that tells who changed what. */
export function isBundle(format: Format): boolean {
  return format === "bundle" || format === "folder";
}

export const TRUST: Record<Trust, { name: string; kind: string; icon: IconName; about: string }> = {
  unsigned: {
    name: "Not signed",
    kind: "",
    icon: "unlock",
    about: "Nothing proves who made it. Look at what it would change.",
  },
  stripped: {
    name: "The signature is missing",
    kind: "bad",
    icon: "warning",
    about:
      "Earlier bundles of this author were signed, this one is not. Somebody may have changed it. Ask the author before you take anything from it.",
  },
  trusted: { name: "Signed by a key you trust", kind: "good", icon: "check", about: "" },
  known: {
    name: "Signed by a key seen before",
    kind: "",
    icon: "lock",
    about: "The key is the same as before. You have not said that you trust it.",
  },
  new: {
    name: "Signed by a key never seen here",
    kind: "warn",
    icon: "lock",
    about: "Compare the fingerprint with the author, by phone or in person, before you trust it.",
  },
  other_key: {
    name: "Signed by another key than before",
    kind: "bad",
    icon: "warning",
    about:
      "Earlier bundles of this author were signed by another key. Ask the author whether the key was changed before you take anything from it.",
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
  return "url" in source ? source.url : "Pasted text";
}

/** What a source calls itself, or the end of where it lies. */
export function calledName(about: SourceInfo, source: ImportSource): string {
  const name = about.name.trim();
  if (name) return name;
  if ("text" in source) return "Pasted text";
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
  if (hours === 1) return "every hour";
  if (hours === 24) return "every day";
  if (hours === 168) return "every week";
  return hours % 24 === 0 ? `every ${hours / 24} days` : `every ${hours} hours`;
}
