// MCP servers as they are told and typed.

import type { MarketInstall, Server, ServerAdd, ServerReach } from "./bindings";
import { visibleLine } from "./visible";
import { servers as texts } from "../texts/servers";

export type Transport = ServerReach["transport"];

/** A variable or a header; its value is never read back. */
export interface SecretRow {
  /** Tells rows apart while names are typed. */
  id: number;
  name: string;
  value: string;
  /** What it is, in the words of who published the server. */
  about: string;
  /** The server works without it: it may stay empty. */
  optional: boolean;
  /** The value is what was published with the server: no secret, and to be seen before it is used. */
  shown: boolean;
}

/** A server of a marketplace, with what it has to be given. */
export type OfferedServer = Extract<MarketInstall, { kind: "server" }>;

/** A server as it is typed. */
export interface ServerDraft {
  name: string;
  transport: Transport;
  command: string;
  /** One to a line: nothing has to be quoted. */
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

/** What is typed for a new server, or to change one: all but the values of its secrets. */
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

/** What is typed for a server somebody offers: as far as it is known, and nothing of it is trusted. */
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

/** Why a draft cannot be sent, in a sentence; none where it can. */
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

/** The request a draft stands for. */
export function requestOf(draft: ServerDraft): ServerAdd {
  const args = draft.args.split("\n").filter((line) => line.trim());
  const reach: ServerReach =
    draft.transport === "stdio"
      ? { transport: "stdio", command: draft.command.trim(), args, folder: draft.folder.trim() }
      : { transport: "http", url: draft.url.trim() };
  const secrets = draft.secrets
    .filter((row) => row.name.trim() && (row.value || !row.optional))
    .map((row) => [row.name.trim(), row.value]);
  return { name: draft.name.trim(), reach, secrets: Object.fromEntries(secrets), trusted: draft.trusted };
}

/** How a server is reached, in a line. */
export function reachLine(reach: ServerReach): string {
  if (reach.transport === "http") return reach.url;
  // What holds a space is one word all the same.
  return [reach.command, ...reach.args]
    .map((word) => (/[\s"]/.test(word) || !word ? JSON.stringify(word) : word))
    .join(" ");
}
