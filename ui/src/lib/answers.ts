// Answers of the library, and what those in Ask know of the pane around them.

import { getContext, setContext } from "svelte";
import type { Answer, CardSummary } from "./bindings";

/**
 * Returns the cards of an answer that fit what was typed. The engine always returns its closest matches; where none of
 * them answers, only those remain that are called like it.
 */
export function answering({ question, verdict, candidates }: Answer): CardSummary[] {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  // Short words are in almost any name.
  const long = words.filter((word) => word.length > 2);
  const isNamed = ({ name, provider }: CardSummary) => {
    const names = `${name} ${provider}`.toLowerCase();
    return (long.length ? long : words).some((word) => names.includes(word));
  };
  return candidates
    .filter(({ card, parts }) => verdict !== "nothing" || parts.name_match || isNamed(card))
    .map(({ card }) => card);
}

export type Panel = "try" | "starter";

export interface AnswersPane {
  /** Whether the shown answer is about to be replaced, so that keys are not about it. */
  isOutdated: () => boolean;
  /** The panel opened last and the card it is of: stays open when the agent's answer replaces the first look. */
  opened: { card: string; panel: Panel | null } | null;
}

const PANE = Symbol("pane");

/** Lets the answers in a component know of it. Must be called during component initialization. */
export function provideAnswersPane(isOutdated: () => boolean): void {
  setContext<AnswersPane>(PANE, { isOutdated, opened: null });
}

/** Returns the pane around an answer. Must be called during component initialization. */
export function answersPane(): AnswersPane {
  return getContext<AnswersPane | undefined>(PANE) ?? { isOutdated: () => false, opened: null };
}
