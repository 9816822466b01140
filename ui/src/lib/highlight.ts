// Highlights the words of a query in a text, matching whole words and prefixes.

import type { MatchedTerm } from "./bindings";
import { ask as texts } from "../texts/ask";

export interface Piece {
  text: string;
  hit: boolean;
}

/** Splits `text` into pieces and flags those that start with the stem of one of `words`. */
export function marked(text: string, words: string[]): Piece[] {
  // Query and card may use different endings ("calendars", "calendar"), so the stems are compared.
  const stems = words
    .map((word) => word.toLowerCase().replace(/(ing|ies|es|ed|s|y)$/u, ""))
    .filter((stem) => stem.length > 2);
  if (!stems.length) return text ? [{ text, hit: false }] : [];
  const pieces: Piece[] = [];
  for (const part of text.split(/([\p{L}\p{N}]+)/u)) {
    if (!part) continue;
    const lower = part.toLowerCase();
    const hit = stems.some((stem) => lower.startsWith(stem) && lower.length <= stem.length + 4);
    const last = pieces.at(-1);
    if (last && last.hit === hit) last.text += part;
    else pieces.push({ text: part, hit });
  }
  return pieces;
}

/**
 * Returns the matched words of a query without duplicates. Words that matched through a concept are grouped with that
 * concept. Words that match only general knowledge about the tool's name, not the card itself, are labeled as such.
 */
export function matched(terms: MatchedTerm[]): string[] {
  const meanings = new Map<string, Set<string>>();
  const say = (meaning: string, word: string) => meanings.set(meaning, (meanings.get(meaning) ?? new Set()).add(word));
  const words = new Set(
    terms.filter((term) => term.meaning === undefined && term.field !== "known").map((term) => term.word),
  );
  const known = new Set<string>();
  for (const { word, field, meaning } of terms) {
    if (meaning !== undefined) say(meaning, word);
    else if (field === "known" && !words.has(word)) known.add(word);
  }
  return [
    ...words,
    ...[...meanings].map(([meaning, said]) => `${[...said].join(", ")} → ${meaning}`),
    ...(known.size ? [texts.knownOfName([...known].join(", "))] : []),
  ];
}
