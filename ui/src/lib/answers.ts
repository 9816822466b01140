// What the answers in Ask know of the pane around them.

import { getContext, setContext } from "svelte";

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
