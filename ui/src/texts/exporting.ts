// Texts of the export dialog: cards, format, and summary.

import { count } from "../lib/format";

export const exporting = {
  // Export
  folderTitle: "Export to folder",
  file: "File",
  title: "Export cards",
  as: "Format",
  format: "Format",
  secretsHint: "Contains secrets",
  nothingToExport: "Nothing to export",
  exportedAs: (cards: number, name: string) => `Exported ${count(cards, "card")} to ${name}`,
  writtenTo: (cards: number, path: string, fingerprint: string | null) =>
    `Exported ${count(cards, "card")} to ${path}${fingerprint ? `, signed with your key ${fingerprint}` : ""}`,
  folderHere: "Folder on this computer",
  fileHere: "File on this computer",
  pathHint: (name: string) => `/home/me/${name}`,
  secretsFound: (n: number) => `${count(n, "secret")} found`,
  exportNow: (cards: number, asks: boolean) => `Export ${count(cards, "card")}${asks ? "…" : ""}`,

  // Formats
  formats: {
    bundle: { name: "Bundle", about: "A single file others can import, review and undo" },
    folder: { name: "Folder", about: "A bundle for version control, one file per card" },
    json: { name: "JSON", about: "Every field of every card" },
    csv: { name: "CSV", about: "A table for spreadsheets" },
    markdown: { name: "Markdown", about: "A readable catalog" },
    html: { name: "HTML page", about: "A searchable offline page" },
  },

  // Selection of cards
  cardsInView: "Cards in view",
  allCards: "All cards",
  which: "Cards to export",
  kind: "Kind",
  anyKind: "All kinds",
  onlyVerified: "Verified only",
  selectedCards: (n: number) => count(n, "selected card"),

  // Bundle metadata
  nameHint: "Our team's tools",
  licence: "Default license",
  licenceHint: "MIT, CC-BY-4.0, …",
  note: "Note",
  noteHint: "What readers should know (optional)",
  withHistory: "With history",
  withHistoryAbout: "includes every earlier revision",
  withVectors: "With embeddings",
  withVectorsAbout: "imports faster where the same model is used",
  withVocabulary: "With names and synonyms",
  withVocabularyAbout: "the ones added to this library",
  signed: "Signed",
  withYourKey: "with your key",
  noKeyYet: "a key will be created",
  keysUnread: (why: string) => `your keys can't be read: ${why}`,

  // Summary
  summary: "Summary",
  names: "Card names",
  leftOut: "Excluded:",
  takeBack: "include",
  earlierRevisions: (n: number) => count(n, "earlier revision"),
  vectorsOf: (n: number) => `embeddings of ${count(n, "card")}`,
  vocabularyOf: (n: number) => `${n.toLocaleString("en")} names and synonyms`,
  aboutBytes: (size: string) => `about ${size}`,
  andMore: (n: number) => `and ${n.toLocaleString("en")} more`,
  takeCardBack: (name: string) => `Include ${name}`,

  // Secrets
  openCard: "Open card",
  leaveCardOut: "Exclude this card",
  leaveHistoryOut: "Exclude the history",
  secretsIn: (secrets: number, cards: number) =>
    `${count(secrets, "secret")} found in ${count(cards, "card")}: export is blocked until ${secrets === 1 ? "it is" : "they are"} removed`,
  takeThemOut: (past: boolean) =>
    `Remove the secrets or exclude those cards.${past ? " Secrets in earlier revisions are only exported with the history, which you can exclude." : ""}`,
  secretAt: (field: string, kind: string, past: boolean) =>
    `${field}: ${kind}${past ? ", in an earlier revision" : ""}`,
  open: (name: string) => `Open card: ${name}`,
  leaveOut: (name: string) => `Exclude this card: ${name}`,
  leaveAllOut: (n: number) => `Exclude all ${n.toLocaleString("en")}`,
} as const;
