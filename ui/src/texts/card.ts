// Texts of a card: looking at it, editing it, its page, calling it.

export const card = {
  // A card
  theCard: "The card",
  fields: "Fields",
  call: "Call",
  closeCard: "Close the card",
  parts: "Parts of the card",
  restore: "Restore",
  wasRemoved: "The card was removed",
  readingCard: "Reading the card…",
  restored: (number: number) => `Restored revision ${number}`,
  removed: (name: string) => `${name} was removed`,
  history: (n: number) => `History (${n})`,
  changed: (when: string) => `Changed ${when}`,
  revisionAt: (number: number, when: string) => `Revision ${number}, ${when}`,
  revision: (number: number) => `Revision ${number}`,
  restoreRevision: (number: number) => `Restore revision ${number}`,

  // Editing
  saveFlagged: "Save flagged text",
  kindSuggested: "As the fields suggest",
  anotherFieldName: "Name of another field",
  anotherField: "Another field",
  addTheField: "Add the field",
  why: "Why (kept in the history)",
  wasSaved: (name: string) => `${name} was saved`,
  wasAdded: (name: string) => `${name} was added`,
  editCard: (name: string) => `Edit ${name}`,
  problem: (what: string) => `The card ${what}`,

  // Draft
  notJson: (why: string) => `is not JSON: ${why}`,

  // Its documentation page
  page: "Documentation page",
  pageNotReached: "not reached",
  pageNotRead: "The page was not read yet; answers cannot cite it.",
  readAgain: "Read again",
  readThePage: "Read the page",
  pageRead: (when: string) => `Page read ${when}`,
  pageFailed: (why: string) => `The last attempt failed: ${why}`,
  piece: (n: number) => `Piece ${n}`,

  // Calling it
  denied: "The rules do not allow this tool. They can be changed in Settings, Permissions.",
  arguments: "Arguments",
  callHint: "Call (Ctrl+Enter)",
  calling: "Calling…",
  needsYourApproval: "Needs your approval",
  asks: "It needs your approval",
  allowOnce: "Allow once and call",
  doNotCall: "Do not call",
  answer: "What it answered",
  failed: "failed",
  answered: "answered",
  answeredNothing: "It answered without a word.",
  takes: "What it takes",
  callTool: (name: string) => `Call ${name}`,
  answeredBy: (name: string) => `Answered by ${name}`,
  answeredIn: (time: string) => `in ${time}`,

  // What was typed
  noObject: "Write the arguments as a JSON object: { … }",
  stopped: "the call was stopped",
  argumentsNotJson: (why: string) => `This is not JSON: ${why}`,
} as const;
