// The audit log of a team, for display.

import type { TeamAuditEntry } from "./bindings";
import { visibleLine } from "./visible";
import { team as texts } from "../texts/team";

type Words = Readonly<Record<string, string>>;

const ACTIONS: Words = texts.actions;

/** Most entries that the engine returns. */
export const MAX_ENTRIES = 10_000;

/** Where the server's own word is in a text: it is all of it, or comes before or after a name or a number. */
const WHOLE = /^\w+$/;
const FIRST = /^\w+(?=: )/;
const LAST = /\w+$/;

/** The server's own words, by what was done. The rest of a text is names and numbers. */
const DETAILS: Readonly<Record<string, { words: Words; place: RegExp }>> = {
  joined: { words: texts.roles, place: WHOLE },
  invited: { words: texts.roles, place: WHOLE },
  role: { words: texts.roles, place: LAST },
  policy: { words: texts.risks, place: FIRST },
  // Of a card that this library does not have, the risk is all that is told.
  accepted: { words: texts.risks, place: WHOLE },
  rejected: { words: texts.risks, place: WHOLE },
  shared: { words: texts.visibilityKinds, place: LAST },
};

const nameIn = (words: Words, word: string) => (Object.hasOwn(words, word) ? words[word]! : word);

/** Returns what was done; the server's word for what only a newer version of AutoKit knows. */
export function actionOf({ what }: TeamAuditEntry): string {
  return visibleLine(nameIn(ACTIONS, what));
}

/** Returns to whom or what it was done. */
export function detailsOf({ what, about }: TeamAuditEntry): string {
  const told = Object.hasOwn(DETAILS, what) ? DETAILS[what]! : null;
  return visibleLine(told ? about.replace(told.place, (word) => nameIn(told.words, word)) : about);
}
