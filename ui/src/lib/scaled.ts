// Lengths in scripts that follow the size of text, as `rem` does in stylesheets.

const USUAL = 16;

/** Returns a length in pixels, given what it is at the usual text size of 16 pixels. */
export function scaled(length: number): number {
  // The size of the root is empty where there is no layout, as in tests.
  const size = typeof document === "undefined" ? "" : getComputedStyle(document.documentElement).fontSize;
  return (length * (parseFloat(size) || USUAL)) / USUAL;
}
