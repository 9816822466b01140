// Texts of an import: its source, what would change, what is taken.

import { count } from "../lib/format";

export const importing = {
  // An import
  importCards: "Import cards",
  somethingElse: "Something else was opened:",
  aFile: "a file",
  lookAtThat: "Look at that",
  ignore: "Ignore",
  leaveTitle: "Leave without importing?",
  leaveYes: "Discard the choices",
  leaveNo: "Go on choosing",
  importOf: (name: string) => `Import “${name}”`,
  leaveAbout: (n: number) => `You chose something for ${count(n, "card")}. Nothing was imported; the choices are lost.`,

  // Its source
  bundlesAndCards: "Bundles and cards",
  sourceAbout:
    "A bundle (.toolcards), cards as JSON or CSV, or the settings of an MCP client. Nothing changes before you have seen what would.",
  fromThisMachine: "From this machine",
  chooseFile: "Choose a file…",
  chooseFolder: "Choose a folder…",
  orDrop: "or drop one here",
  jsonOrCsv: "JSON or CSV; give bundles by their path or address below",
  place: "Address or path",
  placeHint: "https://… or /home/me/team.toolcards",
  look: "Look",
  pasted: "Pasted text",
  pastedHint: '[{"name": "…", "description": "…"}]',
  preview: "Preview",

  // What it is
  by: "by",
  withHistory: "with history",
  made: (when: string) => `made ${when}`,
  licence: (licence: string) => `licence ${licence}`,
  vectorsHint: (model: string, dim: number) => `${model}, ${dim} numbers each. They are used if they are true.`,
  withVectorsOf: (model: string) => `with vectors of ${model}`,

  // Its cards
  showOnly: "Show only",
  all: "All",
  leaveAllOut: "Leave all out",
  cardsOfTheSource: "Cards of the source",
  none: "There is no card in it.",
  takeAll: (n: number) => `Take all ${n.toLocaleString("en")}`,
  noneIs: (status: string) => `No card is ${status}.`,
  shown: (n: number) => `${count(n, "card")} shown`,

  // A card
  theCard: "The card",
  yoursIsNewer: "Yours is newer",
  suspectHint: "A text hides something or gives orders to a model: it waits in Review",
  suspect: "suspect",
  leftOut: "left out",
  chosenByField: "chosen by field",
  unnamed: (position: number) => `Card ${position}, without a name`,
  looksLike: (names: string) => `Looks like ${names}`,
  inConflict: (n: number) => `${count(n, "field")} in conflict`,
  wouldChange: (n: number) => `${count(n, "field")} would change`,
  changedBy: (who: string) => `by ${who}`,
  take: (name: string) => `Take ${name}`,
  sameAs: (name: string) => `same as ${name}`,
  sameAsYours: "yours",

  // A card, open
  behind: "Yours is newer: it has all of this and goes on from it.",
  identical: "Your library has all of it already.",
  missing: "Your library does not have it yet.",
  suspectAbout: "A text of it hides something or gives orders to a model. It waits in Review, where that is marked.",
  kept: "Your version is kept.",
  changedLastBy: (who: string) => `Changed last by ${who}`,
  licenceOf: (licence: string) => `Licence: ${licence}.`,
  byField: (conflicts: boolean) =>
    `You choose this card's fields one by one${conflicts ? "; conflicts you do not decide wait in Review" : ""}.`,
  takeClear: "Take what is clear, leave conflicts to Review",
  takeAllFields: "Take all fields",

  // A field in conflict
  resolutions: { review: "Decide in Review", mine: "Keep mine", theirs: "Take theirs" },
  bothChangedIt: "both changed it",
  beforeBoth: "Before both",
  yours: "Yours",
  stays: "stays",
  theirs: "Theirs",
  isTaken: "is taken",

  // Perhaps the same
  aNewCard: "No, a new card",
  isItYours: "Is it a card you have under another name?",
  sameAbout: "Its fields that yours lacks are added; where both say something, you decide in Review.",
  sameAsCard: (name: string) => `Same as ${name}`,

  // Where the cards go
  landings: {
    review: { name: "To Review", about: "Nothing changes before you accept it" },
    library: { name: "Take over at once", about: "I trust this source; conflicts still wait in Review" },
  },
  merges: {
    merge: "Add what is missing; what differs waits in Review",
    replace: "Replace them with the source's version",
    keep: "Keep them as they are",
  },
  nothingToImport: "Nothing to import",
  landing: "Where the cards go",
  existing: "Cards you have already",
  keys: { move: "move", space: "Space", take: "take", open: "open", filter: "filter" },
  anotherSource: "Another source",
  notWith: (trust: string) => `Not with this: ${trust}`,
  takeOver: (n: number) => `Take over ${count(n, "card")}`,
  propose: (n: number) => `Propose ${count(n, "card")}`,
  conflictsWait: (n: number) => `${count(n, "card")} with a conflict: that part waits in Review.`,
  suspectWait: (n: number) => `${count(n, "card")} with suspect text: ${n === 1 ? "it waits" : "they wait"} in Review.`,
} as const;
