// Texts that several areas share.

import { count, percent } from "../lib/format";

export const common = {
  showAll: "Show all",
  lookOnTheWeb: "Look on the web",
  sure: (share: number) => `${percent(share)} sure`,
  undo: "Undo",
  change: "Change",
  openTheCard: "Open the card",
  edit: "Edit",
  cancel: "Cancel",
  nothing: "nothing",
  showFewer: "Show fewer",
  counting: "Counting…",
  close: "Close",
  importAsk: "Import…",
  enter: "Enter",
  addACard: "Add a card",
  stop: "Stop",
  no: "No",
  showAllOf: (n: number) => `Show all ${n}`,
  checkAndImprove: "Check and improve",
  exportAsk: "Export…",
  add: "Add",
  newCard: "New card",
  remove: "Remove",
  notGiven: "Not given",
  yes: "Yes",
  ctrlEnter: "Ctrl Enter",
  saving: "Saving…",
  save: "Save",
  reading: "Reading…",
  checkNow: "Check now",

  // Counts
  fields: (n: number) => count(n, "field"),
  cards: (n: number) => count(n, "card"),
  tokens: (n: number) => count(n, "token"),
  pieces: (n: number) => count(n, "piece"),
  redirects: (n: number) => count(n, "redirect"),
} as const;
