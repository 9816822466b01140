// What a dialog tells the components in it.

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
