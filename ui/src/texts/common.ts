// Texts shared by several areas.

import { count, percent } from "../lib/format";

export const common = {
  // Buttons
  showAll: "Show all",
  lookOnTheWeb: "Search the web",
  undo: "Undo",
  redo: "Redo",
  openSettings: (section: string) => `Open ${section} settings`,
  change: "Change",
  openTheCard: "Open card",
  edit: "Edit",
  cancel: "Cancel",
  showFewer: "Show fewer",
  close: "Close",
  importAsk: "Import…",
  addACard: "Add card",
  stop: "Stop",
  no: "No",
  showAllOf: (n: number) => `Show all ${n}`,
  checkAndImprove: "Check and improve",
  exportAsk: "Export…",
  add: "Add",
  remove: "Remove",
  yes: "Yes",
  save: "Save",
  checkNow: "Check now",
  review: "Review",
  installAsk: "Install…",
  show: (n: number) => `Show ${n}`,
  removeAsk: "Remove…",
  lookAgain: "Refresh",
  tryAgain: "Try again",

  // States and names
  sure: (share: number) => `${percent(share)} confidence`,
  nothing: "nothing",
  changes: { added: "added", removed: "removed", changed: "changed" },
  counting: "Counting…",
  newCard: "New card",
  notGiven: "Not provided",
  saving: "Saving…",
  reading: "Loading…",
  name: "Name",
  settings: "Settings",
  saved: "Saved",
  notSet: "Not set",

  // Keys
  enter: "Enter",

  // Counts
  fields: (n: number) => count(n, "field"),
  cards: (n: number) => count(n, "card"),
  tokens: (n: number) => count(n, "token"),
  pieces: (n: number) => count(n, "passage"),
  redirects: (n: number) => count(n, "redirect"),
  candidates: (n: number) => count(n, "candidate"),
  calls: (n: number) => count(n, "call"),
  tools: (n: number) => count(n, "tool"),
} as const;
