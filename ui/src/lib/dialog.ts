// What a dialog tells the components in it, and where the focus starts in it.

import { getContext, setContext } from "svelte";

const CLOSE = Symbol("close");

/** Lets the components in a dialog close it. */
export function setCloseOfDialog(close: () => void): void {
  setContext(CLOSE, close);
}

/** Returns what closes the dialog around a component, if there is one. */
export function closeOfDialog(): (() => void) | undefined {
  return getContext<(() => void) | undefined>(CLOSE);
}

const FIELD = "input:not([type='file'], :disabled), textarea:not(:disabled), select:not(:disabled)";
const CONTROL = "button:not(:disabled, [tabindex='-1']), a[href], summary, [tabindex='0']";

/**
 * Returns what takes the focus when a dialog opens: what `data-start` marks, the open tab, text that is only read, so
 * that it can be scrolled, the first field, or the button that confirms. The button that closes the dialog comes first in it, but is
 * the last that one wants.
 */
export function startOf(content: HTMLElement): HTMLElement {
  const first = (selector: string) => content.querySelector<HTMLElement>(selector);
  const marked = first("button[data-start]") ?? first("[data-start] [aria-checked='true']");
  const field = first(".body[tabindex]") ?? first(`.body :is(${FIELD})`);
  const button = first(".actions > .primary:not(:disabled)");
  // Focusing another tab would open it.
  const tab = first("[role='tab'][aria-selected='true']");
  return marked ?? tab ?? field ?? button ?? first(`.body :is(${CONTROL})`) ?? content;
}
