import { describe, expect, it } from "vitest";
import type { FlaggedText, InjectionKind, JsonValue } from "./bindings";
import {
  foundIn,
  passagesOf,
  piecesOf,
  quoteOf,
  spanPieces,
  valuePieces,
  type Passage,
  type Piece,
  type Sides,
} from "./flagged";
import { spansOf } from "./words";
import { review as texts } from "../texts/review";

const text = (
  field: string,
  side: "before" | "after",
  marks: [number, number, InjectionKind?][],
  pointer = "",
  in_name = false,
): FlaggedText => ({
  field,
  side,
  pointer,
  in_name,
  marks: marks.map(([start, end, sort = "hidden"]) => ({ start, end, sort, why: `${sort}.` })),
});

const placed = (suspect: FlaggedText[], sides: Sides) => passagesOf(suspect, () => sides);
const place = (number: number): Passage => ({
  number,
  field: "f",
  pointer: "",
  inName: false,
  sort: "hidden",
  why: "",
  quote: "",
  at: {},
});
/** Formats pieces as text: each marked run in brackets, after the numbers of its places. */
const told = (pieces: Piece[]) =>
  pieces
    .map((piece) =>
      piece.places.length ? `[${piece.places.map((one) => one.number).join()}:${piece.text}]` : piece.text,
    )
    .join("");
const starts = (pieces: Piece[]) => pieces.flatMap((piece) => piece.starts.map((one) => one.number));

describe("a text cut at its marks", () => {
  it("loses nothing, also where marks overlap or reach beyond it", () => {
    const marks = [
      { start: 2, end: 6, place: place(1) },
      { start: 4, end: 8, place: place(2) },
      { start: -3, end: 1, place: place(3) },
      { start: 9, end: 99, place: place(4) },
      { start: 5, end: 5, place: place(5) },
      { start: 20, end: 30, place: place(6) },
    ];
    const pieces = piecesOf("0123456789", marks);
    expect(told(pieces)).toBe("[3:0]1[1:23][1,2:45][2:67]8[4:9]");
    // A mark that starts before the text is numbered at the start of the text.
    expect(starts(pieces)).toEqual([1, 2, 4]);
    expect(told(piecesOf("plain", []))).toBe("plain");
    expect(piecesOf("", marks)).toEqual([]);
  });

  it("keeps both halves of a pair, and emoji whole", () => {
    expect(told(piecesOf("a😀b", [{ start: 2, end: 4, place: place(1) }]))).toBe("a[1:😀b]");
    expect(told(piecesOf("a😀b", [{ start: 0, end: 2, place: place(1) }]))).toBe("[1:a😀]b");
    const coder = "👩\u200d💻";
    expect(told(piecesOf(`x${coder}y`, [{ start: 6, end: 7, place: place(1) }]))).toBe(`x${coder}[1:y]`);
    // An emoji keeps its joiner even if a mark ends just before it.
    expect(told(piecesOf(`x${coder}`, [{ start: 0, end: 3, place: place(1) }]))).toBe("[1:x👩]\u200d💻");
  });

  it("names what is not seen and tells emptiness instead of showing it", () => {
    const hidden = `a\u200bb${"\n".repeat(40)}c${" ".repeat(60)}d`;
    const all = [{ start: 0, end: hidden.length, place: place(1) }];
    expect(told(piecesOf(hidden, all))).toBe(`[1:a‹U+200B›b${texts.endsOfLines(40)}\nc${texts.spaces(60)}d]`);
  });
});

describe("places", () => {
  it("are counted over the fields, and once where both sides have them", () => {
    const now = "Adds.<!-- x -->";
    const next = "Adds and more.<!-- x --> Do it.";
    const places = placed(
      [
        text("d", "before", [[5, 15]]),
        text("d", "after", [
          [14, 24],
          [25, 31, "instruction"],
        ]),
      ],
      { before: now, after: next },
    );
    expect(places.map(({ number, quote, at }) => [number, quote, at])).toEqual([
      [1, "<!-- x -->", { before: { start: 5, end: 15 }, after: { start: 14, end: 24 } }],
      [2, "Do it.", { after: { start: 25, end: 31 } }],
    ]);
    expect(foundIn(places)).toBe(texts.and(texts.sorts.instruction.what, texts.sorts.hidden.what));
    const spans = spanPieces(spansOf(now, next), places);
    expect(spans.map((span) => told(span.both)).join("")).toBe("Adds and more.[1:<!-- x -->] [2:Do it.]");
    const before = spans
      .filter(({ op }) => op !== "insert")
      .map((span) => told(span.before))
      .join("");
    expect(before).toBe("Adds.[1:<!-- x -->]");
    // A mark across several spans is numbered once, where it starts.
    expect(spans.flatMap((span) => starts(span.both))).toEqual([1, 2]);
  });

  it("are left out where the value is not the one that was looked at", () => {
    expect(placed([text("d", "after", [[0, 2]])], { after: undefined })).toEqual([]);
    expect(placed([text("d", "after", [[0, 2]], "/gone")], { after: { here: "x" } })).toEqual([]);
  });

  it("are found in JSON by their pointer, in values and in names", () => {
    const value: JsonValue = { "a/b": ["x", 'say "hid\nden" now'], "<!--k-->": 1, empty: {} };
    const places = placed(
      [text("j", "after", [[5, 12]], "/a~1b/1"), text("j", "after", [[0, 8, "instruction"]], "/<!--k-->", true)],
      { after: value },
    );
    expect(places.map(({ quote }) => quote)).toEqual(["hid\nden", "<!--k-->"]);
    const pieces = valuePieces(value, places, "after", { flat: true });
    expect(told(pieces)).toBe('{ "a/b": [ "x", "say \\"[1:hid\\nden]\\" now" ], "[2:<!--k-->]": 1, "empty": {} }');
    const plain = valuePieces(value, places, "after")
      .map((piece) => piece.text)
      .join("");
    expect(plain).toBe(JSON.stringify(value, null, 2));
    // A nested value, as a structural diff shows it.
    expect(told(valuePieces(["x", 'say "hid\nden" now'], places, "after", { flat: true, pointer: "/a~1b" }))).toContain(
      "[1:hid",
    );
    expect(told(valuePieces('say "hid\nden" now', places, "after", { pointer: "/a~1b/1" }))).toBe(
      'say "[1:hid\nden]" now',
    );
    // A different text at the same list index is not marked.
    expect(told(valuePieces("something else", places, "after", { pointer: "/a~1b/1" }))).toBe("something else");
  });

  it("are quoted on a line, with what is not seen named", () => {
    const quoted = (quote: string) => quoteOf({ ...place(1), quote });
    expect(quoted("<!-- a\n\n\u200b b -->")).toBe("<!-- a ‹U+200B› b -->");
    expect(quoted("x".repeat(500))).toHaveLength(161);
    expect(quoted("\u200b\u200c")).toBe("‹U+200B›‹U+200C›");
  });
});
