// The quotes of a research and the numbers of their sources.

import type { Research, ResearchPassage, ResearchSource } from "./bindings";

/** Passages shown when the question was not answered. */
const CLOSEST = 3;

/** Returns the passages of the summary, or the closest ones where there is none. */
export function citedIn(found: Research): ResearchPassage[] {
  if (!found.answered) return found.passages.slice(0, CLOSEST);
  return found.summary.flatMap((at) => found.passages[at] ?? []);
}

/** Numbers the sources of passages from 1, in the order of their first quote. */
export function numbered(
  found: Research,
  passages: ResearchPassage[],
): { quotes: { passage: ResearchPassage; number: number }[]; sources: ResearchSource[] } {
  const cited: number[] = [];
  const quotes = passages.map((passage) => {
    if (!cited.includes(passage.source)) cited.push(passage.source);
    return { passage, number: cited.indexOf(passage.source) + 1 };
  });
  return { quotes, sources: cited.flatMap((at) => found.sources[at] ?? []) };
}
