// Texts of an export: which cards, in what form, what would leave.

import { count } from "../lib/format";

export const exporting = {
  // An export
  folderTitle: "Folder to write the cards into",
  file: "File",
  title: "Export cards",
  as: "As",
  format: "Format",
  secretsHint: "There are secrets in it",
  nothingToExport: "Nothing to export",
  exportedAs: (cards: number, name: string) => `${count(cards, "card")} exported as ${name}`,
  writtenTo: (cards: number, path: string, fingerprint: string | null) =>
    `${count(cards, "card")} written to ${path}${fingerprint ? `, signed with your key ${fingerprint}` : ""}`,
  folderHere: "Folder on this machine",
  fileHere: "File on this machine",
  pathHint: (name: string) => `/home/me/${name}`,
  secretsFound: (n: number) => `${count(n, "secret")} found`,
  exportNow: (cards: number, asks: boolean) => `Export ${count(cards, "card")}${asks ? "…" : ""}`,

  // Formats
  formats: {
    bundle: { name: "Bundle", about: "One file others can import, review and undo" },
    folder: { name: "Folder", about: "A bundle for version control: one file a card" },
    json: { name: "JSON", about: "Every field, as cards hold them" },
    csv: { name: "CSV", about: "A table for spreadsheets" },
    markdown: { name: "Markdown", about: "A catalogue to read" },
    html: { name: "HTML page", about: "One page to search, offline" },
  },

  // Which cards
  cardsInView: "Cards in view",
  allCards: "All cards",
  which: "Cards to export",
  kind: "Kind",
  anyKind: "Cards of every kind",
  onlyVerified: "Only verified",
  selectedCards: (n: number) => count(n, "selected card"),

  // What a bundle says
  nameHint: "Our team's tools",
  licence: "Licence of cards that name none",
  licenceHint: "MIT, CC-BY-4.0, …",
  note: "Note",
  noteHint: "What readers should know (optional)",
  withHistory: "With history",
  withHistoryAbout: "every earlier revision leaves too",
  withVectors: "With vectors",
  withVectorsAbout: "readers with the same model import faster",
  signed: "Signed",
  withYourKey: "with your key",
  noKeyYet: "you have no key yet; one is made",
  keysUnread: (why: string) => `your keys cannot be read: ${why}`,

  // What would leave
  whatWouldLeave: "What would leave",
  leftOut: "Left out:",
  takeBack: "take back",
  earlierRevisions: (n: number) => count(n, "earlier revision"),
  vectorsOf: (n: number) => `vectors of ${count(n, "card")}`,
  aboutBytes: (size: string) => `about ${size}`,
  andMore: (n: number) => `and ${n.toLocaleString("en")} more`,
  takeCardBack: (name: string) => `Take ${name} back`,

  // Secrets
  openCard: "Open card",
  leaveCardOut: "Leave this card out",
  leaveHistoryOut: "Leave the history out",
  secretsIn: (secrets: number, cards: number) =>
    `${count(secrets, "secret")} found in ${count(cards, "card")}: nothing leaves while they are in it`,
  takeThemOut: (past: boolean) =>
    `Take them out of the cards, or leave those cards out.${past ? " What is in earlier revisions leaves only with the history: it can be left out as well." : ""}`,
  secretAt: (field: string, kind: string, past: boolean) =>
    `${field}: ${kind}${past ? ", in an earlier revision" : ""}`,
  open: (name: string) => `Open ${name}`,
  leaveOut: (name: string) => `Leave ${name} out`,
  leaveAllOut: (n: number) => `Leave all ${n.toLocaleString("en")} out`,
} as const;
