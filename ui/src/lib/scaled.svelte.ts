// Lengths in scripts that follow the size of text, as `rem` does in stylesheets.

import { untrack } from "svelte";
import { zoom } from "./zoom.svelte";

const USUAL = 16;

/** Returns a length in pixels, given what it is at the usual text size of 16 pixels. Follows the zoom. */
export function scaled(length: number): number {
  const share = zoom() / 100;
  // The size of the root is not in pixels where there is no layout, as in tests.
  const size = typeof document === "undefined" ? "" : getComputedStyle(document.documentElement).fontSize;
  return length * (size.endsWith("px") ? parseFloat(size) / USUAL : share);
}

/** Keeps a list where it is scrolled to, `top`, when the heights of its rows change. */
export function keepScrolled(rowHeight: () => number, top: () => number, scroll: (top: number) => void): void {
  let before = untrack(rowHeight);
  $effect(() => {
    const now = rowHeight();
    if (now !== before) untrack(() => scroll((top() * now) / before));
    before = now;
  });
}
