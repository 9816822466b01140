// Flagged text in proposals, that is, hidden text and prompt injection: where it is, and the pieces it is displayed in.

import type { FieldSide, FlaggedText, InjectionKind, JsonValue, Span, SpanOp } from "./bindings";
import { visible, visibleLetters, visibleLine } from "./visible";
import { review as texts } from "../texts/review";

/** Kinds of flagged text, most important first. */
const ORDER: InjectionKind[] = ["instruction", "code", "hidden", "invisible", "encoded", "stuffed"];

/** Returns the display name of a kind of flagged text. */
export function sortLabel(sort: InjectionKind): string {
  return texts.sorts[sort].label;
}

/** Summarizes the kinds found: "instructions to a language model and hidden text". */
export function foundIn(places: Passage[]): string {
  const whats = ORDER.filter((sort) => places.some((place) => place.sort === sort)).map(
    (sort) => texts.sorts[sort].what,
  );
  const last = whats.pop() ?? "";
  return whats.length ? texts.and(whats.join(", "), last) : last;
}

export interface Range {
  start: number;
  end: number;
}

/** A flagged passage. If it occurs both before and after the change, it counts as one. */
export interface Passage {
  /** Number within the proposal, starting at 1. */
  number: number;
  field: string;
  /** JSON Pointer into the field's value. */
  pointer: string;
  inName: boolean;
  sort: InjectionKind;
  why: string;
  /** The flagged text. */
  quote: string;
  at: { [side in FieldSide]?: Range };
}

/** The displayed values of a field. A side is missing if it has no value, or a value that has not been scanned yet. */
export type Sides = { [side in FieldSide]?: JsonValue | undefined };

/** Returns the flagged passages of a proposal, in the order of its fields. */
export function passagesOf(suspect: FlaggedText[], sides: (field: string) => Sides): Passage[] {
  const places: Passage[] = [];
  for (const { field, side, pointer, in_name, marks } of suspect) {
    const text = textAt(sides(field)[side], pointer, in_name);
    if (text === null) continue;
    for (const { start, end, sort, why } of marks) {
      const range = whole(text, { start, end });
      const quote = text.slice(range.start, range.end);
      const same = places.find(
        (other) =>
          other.field === field &&
          other.pointer === pointer &&
          other.inName === in_name &&
          other.sort === sort &&
          other.why === why &&
          other.quote === quote &&
          !other.at[side],
      );
      if (same) same.at[side] = range;
      else places.push({ number: 0, field, pointer, inName: in_name, sort, why, quote, at: { [side]: range } });
    }
  }
  return places.map((place, index) => ({ ...place, number: index + 1 }));
}

/** Extends a range so that it does not split a surrogate pair. */
function whole(text: string, { start, end }: Range): Range {
  const splits = (at: number) => /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");
  return { start: splits(start) ? start - 1 : start, end: splits(end) ? end + 1 : end };
}

const unescaped = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");
const escaped = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1");

/** Returns the string, or with `inName` the member name, that a JSON Pointer refers to. */
function textAt(value: JsonValue | undefined, pointer: string, inName: boolean): string | null {
  const parts = pointer.split("/").slice(1).map(unescaped);
  let at: JsonValue | undefined = value;
  for (const part of parts) {
    if (typeof at !== "object" || at === null) return null;
    at = Array.isArray(at) ? at[Number(part)] : Object.hasOwn(at, part) ? at[part] : undefined;
  }
  if (inName) return at === undefined ? null : (parts.at(-1) ?? null);
  return typeof at === "string" ? at : null;
}

/** A run of text covered by the same places. */
export interface Piece {
  /** The text as displayed. */
  text: string;
  places: Passage[];
  /** The places that start here. */
  starts: Passage[];
}

type Marked = Range & { place: Passage };

/** Splits a text at the boundaries of the ranges, which may overlap or extend beyond the text. */
export function piecesOf(text: string, ranges: Marked[]): Piece[] {
  const inside = ranges
    .map((range) => ({ ...range, ...whole(text, range) }))
    .filter(({ start, end }) => start < end && start < text.length && end > 0);
  if (!inside.length) return text ? [{ text: visible(text), places: [], starts: [] }] : [];
  const within = (at: number) => Math.min(text.length, Math.max(0, at));
  const cuts = [0, text.length, ...inside.flatMap(({ start, end }) => [within(start), within(end)])];
  const edges = [...new Set(cuts)].sort((a, b) => a - b);
  // The whole text is converted at once: whether a joiner belongs to an emoji depends on its neighbors.
  const letters = visibleLetters(text);
  const pieces: Piece[] = [];
  let [letter, units] = [0, 0];
  for (let edge = 1; edge < edges.length; edge++) {
    const [from, to] = [edges[edge - 1] ?? 0, edges[edge] ?? 0];
    const covering = inside.filter(({ start, end }) => start < to && end > from);
    let shown = "";
    for (; units < to; letter++) {
      const { raw, seen } = letters[letter] ?? { raw: " ", seen: "" };
      shown += seen;
      units += raw.length;
    }
    pieces.push({
      text: covering.length ? closer(shown) : shown,
      places: covering.map(({ place }) => place),
      starts: covering.filter(({ start }) => start === from).map(({ place }) => place),
    });
  }
  return pieces;
}

/** Replaces runs of blank space that would push text out of view with a description. */
function closer(text: string): string {
  return text
    .replace(/\n(?:[ \t]*\n){3,}/g, (run) => `${texts.endsOfLines(run.split("\n").length - 1)}\n`)
    .replace(/[ \t]{24,}/g, (run) => texts.spaces(run.length));
}

/** Returns the flagged text on one line, truncated to 160 characters. */
export function quoteOf(place: Passage): string {
  const letters = [...closer(place.quote)];
  const short = letters.length > 160 ? `${letters.slice(0, 160).join("")}…` : letters.join("");
  return visibleLine(short.replace(/\s*\n\s*/g, " ").trim() || short);
}

const rangesOf = (places: Passage[], side: FieldSide, text: string, pointer: string, inName: boolean): Marked[] =>
  places.flatMap((place) => {
    const range = place.at[side];
    // List indexes shift when items are added or removed, so the text has to match as well.
    const here =
      range &&
      place.pointer === pointer &&
      place.inName === inName &&
      text.slice(range.start, range.end) === place.quote;
    return here ? [{ ...range, place }] : [];
  });

/**
 * Splits a value into pieces: strings as they are, anything else as JSON, on one line if `flat`. `pointer` is the
 * value's position in the field.
 */
export function valuePieces(
  value: unknown,
  places: Passage[],
  side: FieldSide,
  { flat = false, pointer = "" } = {},
): Piece[] {
  if (typeof value === "string") return piecesOf(value, rangesOf(places, side, value, pointer, false));
  if (!places.some((place) => place.at[side])) {
    const text = JSON.stringify(value, null, 2) ?? "";
    return piecesOf(flat ? text.replace(/\n\s*/g, " ") : text, []);
  }
  let text = "";
  const ranges: Marked[] = [];
  const inside = (part: string) => JSON.stringify(part).slice(1, -1);
  const word = (part: string, at: string, inName: boolean) => {
    const from = text.length + 1;
    for (const { start, end, place } of rangesOf(places, side, part, at, inName)) {
      ranges.push({
        start: from + inside(part.slice(0, start)).length,
        end: from + inside(part.slice(0, end)).length,
        place,
      });
    }
    text += JSON.stringify(part);
  };
  const list = (open: string, close: string, deep: number, items: (() => void)[]) => {
    const line = (depth: number) => (flat ? " " : `\n${"  ".repeat(depth)}`);
    text += open;
    items.forEach((item, index) => {
      text += (index ? "," : "") + line(deep + 1);
      item();
    });
    text += (items.length ? line(deep) : "") + close;
  };
  const write = (part: unknown, at: string, deep: number): void => {
    if (typeof part === "string") word(part, at, false);
    else if (Array.isArray(part))
      list(
        "[",
        "]",
        deep,
        part.map((item, index) => () => write(item, `${at}/${index}`, deep + 1)),
      );
    else if (typeof part === "object" && part !== null) {
      const member =
        ([name, item]: [string, unknown]) =>
        () => {
          const to = `${at}/${escaped(name)}`;
          word(name, to, true);
          text += ": ";
          write(item, to, deep + 1);
        };
      list("{", "}", deep, Object.entries(part).map(member));
    } else text += JSON.stringify(part) ?? "";
  };
  write(value, pointer, 0);
  return piecesOf(text, ranges);
}

/** Splits each span of a text diff into pieces. */
export function spanPieces(
  spans: Span[],
  places: Passage[],
): { op: SpanOp; before: Piece[]; after: Piece[]; both: Piece[] }[] {
  const on = (side: FieldSide) => (side === "before" ? "insert" : "delete");
  const textOf = (side: FieldSide) =>
    spans
      .filter((span) => span.op !== on(side))
      .map((span) => span.text)
      .join("");
  const of = {
    before: rangesOf(places, "before", textOf("before"), "", false),
    after: rangesOf(places, "after", textOf("after"), "", false),
  };
  const past = { before: 0, after: 0 };
  return spans.map(({ op, text }) => {
    const shifted = (side: FieldSide) =>
      of[side].map(({ start, end, place }) => ({ start: start - past[side], end: end - past[side], place }));
    const before = op === "insert" ? [] : shifted("before");
    const after = op === "delete" ? [] : shifted("after");
    // In the combined view, a place that is on both sides is marked once.
    const only = before.filter(({ place }) => !after.some((other) => other.place === place));
    const cut = {
      op,
      before: piecesOf(text, before),
      after: piecesOf(text, after),
      both: piecesOf(text, [...after, ...only]),
    };
    if (op !== "insert") past.before += text.length;
    if (op !== "delete") past.after += text.length;
    return cut;
  });
}
