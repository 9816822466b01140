// Texts of the import dialog: source, changes, and choices.

import { count } from "../lib/format";

export const importing = {
  // Import
  importCards: "Import cards",
  somethingElse: "Another import was opened:",
  aFile: "a file",
  lookAtThat: "Switch to it",
  ignore: "Ignore",
  leaveTitle: "Leave without importing?",
  leaveYes: "Discard choices",
  leaveNo: "Keep editing",
  importOf: (name: string) => `Import “${name}”`,
  leaveAbout: (n: number) =>
    `You made choices for ${count(n, "card")}. Nothing has been imported, and your choices will be lost.`,

  // Source
  bundlesAndCards: "Bundles, cards and OpenAPI documents",
  sourceAbout:
    "A bundle (.toolcards), cards as JSON or CSV, an OpenAPI document, or MCP client settings. You'll see a preview before anything changes.",
  fromThisMachine: "From this computer",
  chooseFile: "Choose a file…",
  chooseFolder: "Choose a folder…",
  orDrop: "or drop one here",
  jsonOrCsv: "JSON, CSV or YAML. For bundles, enter a path or URL below",
  place: "URL or path",
  placeHint: "https://… or /home/me/team.toolcards",
  look: "Preview",
  pasted: "Pasted text",
  pastedHint: '[{"name": "…", "description": "…"}]',
  preview: "Preview",

  // About the source
  by: "by",
  withHistory: "with history",
  made: (when: string) => `created ${when}`,
  licence: (licence: string) => `license ${licence}`,
  vectorsHint: (model: string, dim: number) => `${model}, ${dim} dimensions. Verified before use.`,
  withVectorsOf: (model: string) => `with ${model} embeddings`,

  vocabulary: (n: number) => `Also use its ${n.toLocaleString("en")} names and synonyms in search`,
  showVocabulary: "Show names and synonyms",

  // List of cards
  showOnly: "Filter",
  all: "All",
  leaveAllOut: "Deselect all",
  cardsOfTheSource: "Cards in this source",
  none: "This source contains no cards.",
  takeAll: (n: number) => `Select all ${n.toLocaleString("en")}`,
  noneIs: (status: string) => `No cards with status “${status}”.`,
  shown: (n: number) => `${count(n, "card")} shown`,

  // Row of a card
  theCard: "Card",
  yoursIsNewer: "Yours is newer",
  suspectHint: "Contains hidden text or instructions to a model; goes to Review",
  suspect: "flagged",
  leftOut: "not selected",
  chosenByField: "selected by field",
  unnamed: (position: number) => `Card ${position} (unnamed)`,
  looksLike: (names: string) => `Looks like ${names}`,
  inConflict: (n: number) => `${count(n, "field")} in conflict`,
  wouldChange: (n: number) => `${count(n, "field")} would change`,
  changedBy: (who: string) => `by ${who}`,
  take: (name: string) => `Import ${name}`,
  sameAs: (name: string) => `same as ${name}`,
  sameAsYours: "yours",

  // Details of a card
  behind: "Your version is newer and includes all of this.",
  identical: "Already in your library.",
  missing: "Not in your library yet.",
  suspectAbout:
    "Contains hidden text or instructions to a model. It will go to Review, where these places are highlighted.",
  kept: "Your version is kept.",
  changedLastBy: (who: string) => `Last changed by ${who}`,
  licenceOf: (licence: string) => `License: ${licence}.`,
  byField: (conflicts: boolean) =>
    `You are choosing this card's fields one by one${conflicts ? "; unresolved conflicts go to Review" : ""}.`,
  takeClear: "Import non-conflicting fields, send conflicts to Review",
  takeAllFields: "Import all fields",

  // Field in conflict
  resolutions: { review: "Decide in Review", mine: "Keep mine", theirs: "Use theirs" },
  bothChangedIt: "changed in both",
  beforeBoth: "Base",
  yours: "Yours",
  stays: "kept",
  theirs: "Theirs",
  isTaken: "used",

  // Possible duplicate
  aNewCard: "No, add as new card",
  isItYours: "Do you already have this tool under another name?",
  sameAbout: "Missing fields are added to your card. Where both have a value, you decide in Review.",
  sameAsCard: (name: string) => `Same as ${name}`,

  // Destination of the cards
  landings: {
    review: { name: "Send to Review", about: "Nothing changes until you accept it" },
    library: { name: "Import directly", about: "I trust this source. Conflicts still go to Review" },
  },
  merges: {
    merge: "Update; fields edited here go to Review",
    replace: "Replace with the imported version",
    keep: "Keep mine",
  },
  nothingToImport: "Nothing to import",
  landing: "Destination",
  existing: "Existing cards",
  keys: { move: "move", space: "Space", take: "select", open: "open", filter: "filter" },
  anotherSource: "Change source",
  notWith: (trust: string) => `Unavailable: ${trust}`,
  takeOver: (n: number) => `Import ${count(n, "card")}`,
  propose: (n: number) => `Propose ${count(n, "card")}`,
  conflictsWait: (n: number) => `${count(n, "card")} with conflicts: the conflicting fields go to Review.`,
  suspectWait: (n: number) => `${count(n, "card")} with flagged text ${n === 1 ? "goes" : "go"} to Review.`,
  reverting: (n: number) => `${count(n, "card")} of yours ${n === 1 ? "has" : "have"} edits that this file would undo.`,
  reverts: "Undoes edits",
  revertsAbout:
    "Your library has edits of this card that the file doesn’t have. Replacing the card undoes them; its history keeps them.",
} as const;
