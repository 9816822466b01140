// Texts of cards: details, editor, documentation page, and calls.

export const card = {
  // Card
  theCard: "Card",
  fields: "Fields",
  call: "Call",
  closeCard: "Close the card",
  parts: "Card sections",
  restore: "Restore",
  wasRemoved: "This card was removed",
  readingCard: "Loading the card…",
  restored: (number: number) => `Restored revision ${number}`,
  removed: (name: string) => `Removed ${name}`,
  history: (n: number) => `History (${n})`,
  changed: (when: string) => `Changed ${when}`,
  revisionAt: (number: number, when: string) => `Revision ${number}, ${when}`,
  revision: (number: number) => `Revision ${number}`,
  restoreRevision: (number: number) => `Restore revision ${number}`,

  // Editing
  saveFlagged: "Save flagged text",
  kindSuggested: "Detected from fields",
  onePerLine: "One per line",
  anotherFieldName: "Field name",
  anotherField: "Add a field",
  addTheField: "Add field",
  why: "Reason (saved in the history)",
  wasSaved: (name: string) => `Saved ${name}`,
  wasAdded: (name: string) => `Added ${name}`,
  editCard: (name: string) => `Edit ${name}`,
  problem: (what: string) => `The card ${what}`,

  // Invalid fields
  notJson: (why: string) => `isn't valid JSON: ${why}`,

  // Documentation page
  page: "Documentation page",
  pageNotReached: "not reached",
  pageNotRead: "This page hasn't been read yet, so answers can't cite it.",
  readAgain: "Refresh",
  readThePage: "Read page",
  pageRead: (when: string) => `Page read ${when}`,
  pageFailed: (why: string) => `The last attempt failed: ${why}`,
  piece: (n: number) => `Passage ${n}`,

  // Call
  denied: "Your rules deny this tool. You can change them in Settings, Permissions.",
  arguments: "Arguments",
  callHint: (shortcut: string) => `Call (${shortcut})`,
  calling: "Calling…",
  needsYourApproval: "Needs your approval",
  asks: "This call needs your approval",
  allowOnce: "Allow once and call",
  doNotCall: "Don't call",
  answer: "Response",
  failed: "failed",
  answered: "succeeded",
  answeredNothing: "Empty response.",
  takes: "Input schema",
  callTool: (name: string) => `Call ${name}`,
  answeredBy: (name: string) => `Response from ${name}`,
  answeredIn: (time: string) => `in ${time}`,

  // Arguments
  noObject: "Enter the arguments as a JSON object: { … }",
  stopped: "the call was stopped",
  argumentsNotJson: (why: string) => `Invalid JSON: ${why}`,
} as const;
