// Marks the words of a request in a text, by whole words and their beginnings.

import type { MatchedTerm } from "./bindings";
import { ask as texts } from "../texts/ask";

export interface Piece {
  text: string;
  hit: boolean;
}

/** Splits `text` so that words which begin like one of `words` can be marked. */
export function marked(text: string, words: string[]): Piece[] {
  // Endings differ between request and card ("calendars", "calendar"): the stem decides.
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

/** The words of a request that were found, each once; those that stand for something together, with what that is;
    those that the card does not say itself, as such. */
export function matched(terms: MatchedTerm[]): string[] {
  const meanings = new Map<string, Set<string>>();
  const say = (meaning: string, word: string) => meanings.set(meaning, (meanings.get(meaning) ?? new Set()).add(word));
  const words = new Set(
    terms.filter((term) => term.meaning === undefined && term.field !== "known").map((term) => term.word),
  );
  for (const { word, field, meaning } of terms) {
    if (meaning !== undefined) say(meaning, word);
    else if (field === "known" && !words.has(word)) say(texts.knownOfName, word);
  }
  return [...words, ...[...meanings].map(([meaning, said]) => `${[...said].join(", ")} → ${meaning}`)];
}
