// Texts of duplicates: the list of pairs, and merging two cards.

import { count, percent } from "../lib/format";

export const duplicates = {
  // List
  title: "Duplicates",
  about: "Pairs of cards that may describe the same tool.",
  searching: "Comparing the cards…",
  searched: (pairs: number, when: string) => `${count(pairs, "pair")}, found ${when}`,
  searchAgain: "Search again",
  none: "No duplicates found",
  noneAbout: (when: string) => `The cards were compared ${when}.`,
  notSearched: "The cards haven't been compared yet.",
  search: "Find duplicates",
  wordsOnly:
    "Cards were compared by name, import, page and description, but not by meaning: no embedding model is used.",
  pairs: "Pairs of cards",
  pair: (one: string, other: string) => `${one} and ${other}`,
  reasons: {
    name: "Same name",
    import: "Same import",
    page: "Same documentation page",
    description: "Same description",
    meaning: "Similar meaning",
  },
  cosine: (reason: string, cosine: number) => `${reason}, ${percent(cosine)}`,
  openCard: (name: string) => `Open ${name}`,
  noDescription: "No description",
  mergeAsk: "Merge…",
  mergeOf: (one: string, other: string) => `Merge ${one} and ${other}`,
  dismiss: "Not a duplicate",
  dismissOf: (one: string, other: string) => `Not a duplicate: ${one} and ${other}`,
  undoOf: (what: string) => `Undo: ${what}`,
  marked: (one: string, other: string) => `Marked as not a duplicate: ${one} and ${other}`,
  merged: (removed: string, kept: string) => `Merged ${removed} into ${kept}`,
  showMore: (n: number) => `Show ${n.toLocaleString("en")} more`,

  // Merge
  mergeTitle: "Merge cards",
  mergeAbout:
    "The kept card gets the fields chosen here and takes the other's place in collections. The other card is removed. This can be undone.",
  keep: "Keep",
  changed: (when: string) => `changed ${when}`,
  kept: "Kept card",
  other: "Other card",
  both: "Both",
  inMerged: "in the merged card",
  joined: "Both together",
  differ: (n: number) => `${count(n, "field")} ${n === 1 ? "differs" : "differ"}`,
  same: (n: number) => `${count(n, "field")} ${n === 1 ? "is" : "are"} the same`,
  noneDiffer: "Both cards have the same fields.",
  reason: "Reason (saved in the history)",
  merge: "Merge",
  mergeHint: (shortcut: string) => `Merge (${shortcut})`,
  merging: "Merging…",
  mergeFlagged: "Merge with flagged text",
  reloaded: "Both cards were loaded again. Check the values before you merge.",
} as const;
