// Display of an agent call that waits for a person's approval.

import type { ApprovalDecision, ApprovalRequest } from "./bindings";
import { visibleLine } from "./visible";
import { approvals as texts } from "../texts/approvals";

/** The possible answers; those for the single call first. */
export const REPLIES: { reply: ApprovalDecision; name: string; about: string }[] = [
  { reply: "once", name: texts.replies.once.name, about: texts.replies.once.about },
  { reply: "no", name: texts.replies.no.name, about: texts.replies.no.about },
  {
    reply: "session",
    name: texts.replies.session.name,
    about: texts.replies.session.about,
  },
  { reply: "always", name: texts.replies.always.name, about: texts.replies.always.about },
  { reply: "never", name: texts.replies.never.name, about: texts.replies.never.about },
];

/** Returns the possible answers. "Always" is left out if a rule for all agents asks every time. */
export function repliesOf({ can_always }: Pick<ApprovalRequest, "can_always">): typeof REPLIES {
  return REPLIES.filter(({ reply }) => can_always || reply !== "always");
}

/**
 * Milliseconds after a call appears during which it cannot be answered. Nobody reads faster, and a click meant for what
 * was there before must not approve anything.
 */
export const CLICK_DELAY_MS = 700;

/** Returns the name the client gives itself, with its profiles. */
export function clientLabel({ client, profile }: Pick<ApprovalRequest, "client" | "profile">): string {
  const program = visibleLine(client) || texts.unnamed;
  return profile ? texts.inProfile(program, profileLabel(profile)) : program;
}

/** Returns the profiles that apply to an agent: its own and an additional one it named. */
function profileLabel(scope: string): string {
  return texts.and(scope.split("/").filter(Boolean).map(visibleLine));
}

/** Formats the time until a call expires as minutes and seconds. */
export function timeLeft(until: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Returns whom the answers "always" and "never" apply to. */
export function scopeLabel(profile: string): string {
  const [own] = profile.split("/");
  return own ? texts.agentsOf(visibleLine(own)) : texts.allAgents;
}

/** Describes a call in a sentence for screen readers; `shortcut` focuses its card. */
export function describeApproval(ask: ApprovalRequest, shortcut: string): string {
  return texts.said(
    clientLabel(ask),
    visibleLine(ask.name),
    ask.provider ? visibleLine(ask.provider) : "",
    texts.and(ask.words.map(visibleLine)),
    shortcut,
  );
}

/** A part of the arguments, displayed as its own block. */
export interface Shown {
  name: string;
  text: string;
}

/** Returns the arguments as JSON. Multi-line strings become separate blocks, as they would be unreadable in JSON. */
export function shownArguments(given: unknown): Shown[] {
  if (given === null || given === undefined) return [];
  if (typeof given !== "object" || Array.isArray(given))
    return [{ name: "json", text: JSON.stringify(given, null, 2) }];
  const entries = Object.entries(given as Record<string, unknown>);
  const long = entries.filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].includes("\n"),
  );
  const rest = entries.filter((entry) => !long.some(([name]) => name === entry[0]));
  const json = rest.length ? [{ name: "json", text: JSON.stringify(Object.fromEntries(rest), null, 2) }] : [];
  return [...json, ...long.map(([name, text]) => ({ name: visibleLine(name), text }))];
}

/** Returns the delay before the next request in milliseconds, after that many consecutive failures. */
export function pauseAfter(failures: number): number {
  return failures ? Math.min(500 * 2 ** (failures - 1), 30_000) : 0;
}

/** Keeps a dialog open when the card of an agent's call above it is clicked. */
export function keepOpen(event: Event): void {
  if (event.target instanceof Element && event.target.closest("[data-approvals]")) event.preventDefault();
}
