// MCP servers: the form's draft, its validation, and display.

import type { MarketInstall, Server, ServerAdd, ServerTransport } from "./bindings";
import { visibleLine } from "./visible";
import { servers as texts } from "../texts/servers";

export type Transport = ServerTransport["transport"];

/** An environment variable or header. Its stored value is never read back. */
export interface SecretRow {
  /** Identifies the row while its name is being edited. */
  id: number;
  name: string;
  value: string;
  /** The publisher's description of it. */
  about: string;
  /** Whether the server works without a value. */
  optional: boolean;
  /** Whether the value comes from the publisher. It is not secret and must be seen before it is used. */
  shown: boolean;
}

/** A server offered by a marketplace source, with the inputs it needs. */
export type OfferedServer = Extract<MarketInstall, { kind: "server" }>;

/** The form's contents, as entered. */
export interface ServerDraft {
  name: string;
  transport: Transport;
  command: string;
  /** One argument per line, so that nothing needs quoting. */
  args: string;
  folder: string;
  url: string;
  secrets: SecretRow[];
  trusted: boolean;
}

let rows = 0;

export function secretRow(name = ""): SecretRow {
  return { id: ++rows, name, value: "", about: "", optional: false, shown: false };
}

/** Returns the draft for a new or an existing server. The values of its secrets are left empty. */
export function draftOf(server: Server | null): ServerDraft {
  const reach = server?.reach;
  return {
    name: server?.name ?? "",
    transport: reach?.transport ?? "stdio",
    command: reach?.transport === "stdio" ? reach.command : "",
    args: reach?.transport === "stdio" ? reach.args.join("\n") : "",
    folder: reach?.transport === "stdio" ? reach.folder : "",
    url: reach?.transport === "http" ? reach.url : "",
    secrets: server?.secrets.map((name) => secretRow(name)) ?? [],
    trusted: server?.trusted ?? false,
  };
}

/** Returns the draft for an offered server, filled in as far as possible and not trusted. */
export function draftOfOffer({ add, inputs }: OfferedServer): ServerDraft {
  const server: Server = {
    ...add,
    secrets: Object.keys(add.secrets),
    trusted: false,
    running: false,
    tools: 0,
    waiting: 0,
    checked_at: null,
    failed: null,
    skipped: [],
  };
  const known = inputs.map(({ name, description, required, secret }) => ({
    ...secretRow(name),
    value: add.secrets[name] ?? "",
    about: visibleLine(description ?? ""),
    optional: !required,
    shown: !secret && !!add.secrets[name],
  }));
  const others = server.secrets.filter((name) => !inputs.some((input) => input.name === name));
  return {
    ...draftOf(server),
    secrets: [...known, ...others.map((name) => ({ ...secretRow(name), value: add.secrets[name] ?? "", shown: true }))],
  };
}

/** Returns a sentence that says why the draft cannot be submitted, or `null` if it can. */
export function missingOf(draft: ServerDraft, taken: string[]): string | null {
  const name = draft.name.trim();
  if (!name) return texts.missing.name;
  if (!/^[A-Za-z0-9._ -]{1,40}$/.test(name)) return texts.missing.goodName;
  if (taken.includes(name)) return texts.missing.otherName(name);
  if (draft.transport === "stdio" && !draft.command.trim()) return texts.missing.program;
  if (draft.transport === "http" && !/^https?:\/\/\S+$/i.test(draft.url.trim())) return texts.missing.address;
  const names = new Set<string>();
  const one = draft.transport === "http" ? texts.header : texts.variable;
  for (const row of draft.secrets) {
    const key = row.name.trim();
    if (!key && !row.value) continue;
    if (!key) return texts.missing.secretName(one);
    if (names.has(key)) return texts.missing.secretTwice(one, key);
    if (!row.value && !row.optional) return texts.missing.secretValue(key);
    names.add(key);
  }
  return null;
}

/** Converts a draft to a request. */
export function requestOf(draft: ServerDraft): ServerAdd {
  const args = draft.args.split("\n").filter((line) => line.trim());
  const reach: ServerTransport =
    draft.transport === "stdio"
      ? { transport: "stdio", command: draft.command.trim(), args, folder: draft.folder.trim() }
      : { transport: "http", url: draft.url.trim() };
  const secrets = draft.secrets
    .filter((row) => row.name.trim() && (row.value || !row.optional))
    .map((row) => [row.name.trim(), row.value]);
  return { name: draft.name.trim(), reach, secrets: Object.fromEntries(secrets), trusted: draft.trusted };
}

/** Returns the command line or address of a server. */
export function reachLine(reach: ServerTransport): string {
  if (reach.transport === "http") return reach.url;
  // Quotes an argument that contains spaces.
  return [reach.command, ...reach.args]
    .map((word) => (/[\s"]/.test(word) || !word ? JSON.stringify(word) : word))
    .join(" ");
}
