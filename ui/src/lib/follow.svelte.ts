// Keeps forms up to date with stored values that the terminal or another window may change.

import { untrack } from "svelte";

/**
 * Passes changed stored values to `take` until the user edits the form. A value that is not loaded yet is `null`; it is
 * taken once it is loaded.
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
