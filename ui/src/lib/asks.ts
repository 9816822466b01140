// A call that waits for a person, in words and as text.

import type { AgentAsk, AskReply } from "./bindings";
import { visibleLine } from "./visible";
import { asks as texts } from "../texts/asks";

/** What a person can say; the milder half first. */
export const REPLIES: { reply: AskReply; name: string; about: string }[] = [
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

/** What a person can say to a call: "always" means nothing where a rule for everybody asks each time. */
export function repliesOf({ can_always }: Pick<AgentAsk, "can_always">): typeof REPLIES {
  return REPLIES.filter(({ reply }) => can_always || reply !== "always");
}

/** How long no answer can be given after a call appears: nobody reads faster, and a click that was meant
    for what was there before must not allow anything. */
export const ARM_MS = 700;

/** Who asks, as the program names itself. */
export function askerOf({ client, profile }: Pick<AgentAsk, "client" | "profile">): string {
  const program = visibleLine(client) || texts.unnamed;
  return profile ? texts.inProfile(program, profileSaid(profile)) : program;
}

/** The profiles an agent is bound by: its own, and one it named besides. */
function profileSaid(scope: string): string {
  return texts.and(scope.split("/").filter(Boolean).map(visibleLine));
}

/** How long a call still waits, as minutes and seconds. */
export function leftOf(until: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Whom the words "always" and "never" are for. */
export function whomOf(profile: string): string {
  const [own] = profile.split("/");
  return own ? texts.agentsOf(visibleLine(own)) : texts.allAgents;
}

/** A call in a sentence, for screen readers; the shortcut goes to the card. */
export function askSaid(ask: AgentAsk, shortcut: string): string {
  return texts.said(
    askerOf(ask),
    visibleLine(ask.name),
    ask.provider ? visibleLine(ask.provider) : "",
    texts.and(ask.words.map(visibleLine)),
    shortcut,
  );
}

/** A part of the arguments, to be shown as a block of its own. */
export interface Shown {
  name: string;
  text: string;
}

/** The arguments as JSON. A text of several lines is a block of its own: as JSON nobody could read it. */
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

/** How long to wait before asking the engine again, in milliseconds, after so many failures in a row. */
export function pauseAfter(failures: number): number {
  return failures ? Math.min(500 * 2 ** (failures - 1), 30_000) : 0;
}

/** A click on the card of an agent does not close the dialog below it. */
export function keepOpen(event: Event): void {
  if (event.target instanceof Element && event.target.closest("[data-asks]")) event.preventDefault();
}
