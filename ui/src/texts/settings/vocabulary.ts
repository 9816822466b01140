import { count } from "../../lib/format";

export const vocabulary = {
  about:
    "Terms search uses in addition to your cards. A name explains a product; it applies to cards of that provider, with that name, or that mention it. Synonyms match cards that use a different word.",
  names: "Names",
  synonyms: "Synonyms",
  list: "List",
  filter: "Filter entries",
  builtIn: "Built-in",
  fromBundle: (name: string) => `From ${name}`,
  yours: "Yours",
  nameHint: "borealis, borealis cd = our deployment service",
  synonymHint: "pto, vacation    or    day off | time off -> vacation",
  newEntry: { name: "New name", synonym: "New synonyms" },
  editing: (text: string) => `Edit ${text}`,
  removing: (text: string) => `Remove ${text}`,
  add: "Add",
  noText: "Enter text, or remove the entry.",
  applies: (cards: number) => (cards ? `Applies to ${count(cards, "card")}.` : "Applies to no card yet."),
  shown: (shown: number, total: number) => `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} shown`,
  noMatch: "No entry matches.",
  removed: (text: string) => `Removed ${text}`,
};
