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

  // Counts
  fields: (n: number) => count(n, "field"),
  cards: (n: number) => count(n, "card"),
} as const;
