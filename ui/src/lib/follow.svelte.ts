// What is shown of stored values that may change meanwhile: by the terminal, or another window.

import { untrack } from "svelte";

/**
 * Takes stored values over as they change, until the person has changed something in the form. What is not known
 * yet is `null`, and taken over once it is.
 */
export function follow<T>(stored: () => T | null, shown: () => T, take: (value: T) => void): void {
  let base = JSON.stringify(untrack(stored));
  $effect(() => {
    const value = stored();
    const text = JSON.stringify(value);
    if (value === null || text === base) return;
    const untouched = base === "null" || untrack(() => JSON.stringify(shown())) === base;
    if (untouched) untrack(() => take(value));
    base = text;
  });
}
