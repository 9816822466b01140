import { describe, expect, it } from "vitest";
import { diffOf, spansOf } from "./words";

const side = (spans: ReturnType<typeof spansOf>, not: string) =>
  spans
    .filter((span) => span.op !== not)
    .map((span) => span.text)
    .join("");

describe("word-level differences", () => {
  it("loses nothing of either text", () => {
    const cases = [
      ["Lists calendars.", "Lists and moves calendars, kept."],
      ["", "new"],
      ["gone", ""],
      ["a\nb {{slot}}\nc", "a\nb {{slot}} d\n"],
      ["same", "same"],
      ["x x x x", "x x"],
    ] as const;
    for (const [before, after] of cases) {
      const spans = spansOf(before, after);
      expect([side(spans, "insert"), side(spans, "delete")]).toEqual([before, after]);
    }
  });

  it("changes no more than it has to", () => {
    expect(spansOf("one two three", "one 2 three")).toEqual([
      { op: "equal", text: "one " },
      { op: "delete", text: "two" },
      { op: "insert", text: "2" },
      { op: "equal", text: " three" },
    ]);
  });

  it("stays fast on long texts that share nothing", () => {
    const spans = spansOf("a ".repeat(5000), "b ".repeat(5000));
    expect(spans.map((span) => span.op)).toContain("insert");
    expect(side(spans, "delete")).toBe("b ".repeat(5000));
  });

  it("sets values that are no texts beside each other", () => {
    expect(diffOf("args", undefined, { a: 1 })).toMatchObject({ kind: "added", after: { a: 1 }, spans: [] });
  });
});
