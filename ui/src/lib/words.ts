// Word-level diffs of texts that only the window has, such as a value being edited or a customized prompt. The engine
// sends the diffs of everything it compares itself.

import type { FieldDiff, JsonValue, Span, SpanOp } from "./bindings";

/** Splits a text into words, white space and single symbols; joined, they are the text again. */
function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

/**
 * Largest table of the word comparison. A larger one would lag while typing; the whole text then counts as replaced.
 */
const CELLS = 4_000_000;

/** Returns the diff from `before` to `after`, based on their longest common subsequence of words. */
export function spansOf(before: string, after: string): Span[] {
  const [a, b] = [words(before), words(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const spans: Span[] = [];
  const push = (op: SpanOp, text: string) => {
    const last = spans.at(-1);
    if (!text) return;
    if (last?.op === op) last.text += text;
    else spans.push({ op, text });
  };
  push("equal", a.slice(0, start).join(""));
  if (x.length * y.length > CELLS) {
    push("delete", x.join(""));
    push("insert", y.join(""));
  } else {
    const width = y.length + 1;
    const longest = new Uint32Array((x.length + 1) * width);
    const at = (i: number, j: number) => longest[i * width + j] ?? 0;
    for (let i = x.length - 1; i >= 0; i--) {
      for (let j = y.length - 1; j >= 0; j--) {
        longest[i * width + j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      }
    }
    let [i, j] = [0, 0];
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) {
        push("equal", x[i] ?? "");
        i++;
        j++;
      } else if (i < x.length && (j >= y.length || at(i + 1, j) >= at(i, j + 1))) {
        push("delete", x[i++] ?? "");
      } else {
        push("insert", y[j++] ?? "");
      }
    }
  }
  push("equal", end ? a.slice(a.length - end).join("") : "");
  return spans;
}

/** Returns a diff in the engine's format. Texts are compared word by word; other values are replaced as a whole. */
export function diffOf(field: string, before: JsonValue | undefined, after: JsonValue | undefined): FieldDiff {
  const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const texts = typeof before === "string" && typeof after === "string";
  return {
    field,
    kind,
    before: before ?? null,
    after: after ?? null,
    spans: texts ? spansOf(before, after) : [],
    inside: [],
  };
}
