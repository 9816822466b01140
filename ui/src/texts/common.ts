// Texts that several areas share.

import { count, percent } from "../lib/format";

export const common = {
  // Buttons
  showAll: "Show all",
  lookOnTheWeb: "Look on the web",
  undo: "Undo",
  change: "Change",
  openTheCard: "Open the card",
  edit: "Edit",
  cancel: "Cancel",
  showFewer: "Show fewer",
  close: "Close",
  importAsk: "Import…",
  addACard: "Add a card",
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
  lookAgain: "Look again",
  tryAgain: "Try again",

  // States and names
  sure: (share: number) => `${percent(share)} sure`,
  nothing: "nothing",
  counting: "Counting…",
  newCard: "New card",
  notGiven: "Not given",
  saving: "Saving…",
  reading: "Reading…",
  name: "Name",
  settings: "Settings",
  saved: "Saved",
  notSet: "Not set",

  // Keys
  enter: "Enter",
  ctrlEnter: "Ctrl Enter",

  // Counts
  fields: (n: number) => count(n, "field"),
  cards: (n: number) => count(n, "card"),
  tokens: (n: number) => count(n, "token"),
  pieces: (n: number) => count(n, "piece"),
  redirects: (n: number) => count(n, "redirect"),
  candidates: (n: number) => count(n, "candidate"),
  calls: (n: number) => count(n, "call"),
  tools: (n: number) => count(n, "tool"),
} as const;
