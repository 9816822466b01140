// Forms whose stored values may change while they are open: by the terminal, or another window.

import { untrack } from "svelte";

/** Takes stored values over as they change, until the person has changed something in the form. */
export function follow<T>(stored: () => T, shown: () => T, take: (value: T) => void): void {
  let base = JSON.stringify(untrack(stored));
  $effect(() => {
    const value = stored();
    const text = JSON.stringify(value);
    if (text === base) return;
    if (untrack(() => JSON.stringify(shown())) === base) untrack(() => take(value));
    base = text;
  });
}
