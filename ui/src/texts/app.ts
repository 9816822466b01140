// Texts of the window around the panes: navigation, top bar, jobs, messages, errors of its own.

import { count } from "../lib/format";

export const app = {
  // Panes
  panes: {
    ask: "Ask",
    discover: "Discover",
    review: "Review",
    library: "Library",
    activity: "Activity",
    settings: "Settings",
  },

  // Navigation
  rail: "Panes",
  brand: "AutoKit",
  waiting: "waiting",
  commands: "Commands",
  shortcuts: "Shortcuts",

  // The window
  linkUnknown: "A link asked for something AutoKit does not do",
  linkRemedy: "Only addresses of bundles can be opened by a link.",
  opening: "Opening the library…",
  drop: "Drop a bundle or a file of cards to preview the import",

  // Top bar
  meaningHint: "Searched by meaning and by words",
  loadingModel: "Loading the model…",
  loadingModelHint: "Until it is there, search goes by words alone",
  wordsOnly: "Words only",
  noModelHint: "There is no embedding model on this machine",
  modelFailedHint: "The embedding model failed",
  localLibrary: "Local library",
  changesMissing: "Changes missing",
  readOnly: "Read-only",
  offlineHint: "No search service and no language model is in use; everything runs on this machine",
  offline: "Offline",
  nothingToUndo: "Nothing to undo",
  meaning: (model: string | null) => `Meaning: ${model}`,
  searchHint: (service: string) => `Looks on the web with ${service}`,
  search: (service: string) => `Search: ${service}`,
  llmHint: (model: string) => `Answers with ${model}`,
  llm: (model: string) => `LLM: ${model}`,
  notUsable: (n: number) => `${count(n, "service")} not usable`,
  undo: (what: string) => `Undo: ${what}`,

  // Jobs
  jobs: "Jobs",
  jobWaits: ", waits",
  goOn: "Go on",
  pausingName: "Pausing",
  pause: "Pause",
  pausingHint: "What is under way is finished first",
  pausing: "Pausing…",
  stopped: "stopped",
  showCards: "Show cards",
  showInReview: "Show in Review",
  hide: "Hide",
  amount: (done: string, total: string) => `${done} of ${total}`,
  left: (time: string) => `, ${time} left`,
  stopJob: (title: string) => `Stop: ${title}`,
  hideJob: (title: string) => `Hide: ${title}`,

  // Copying
  copy: "Copy",
  copied: "Copied",
  notCopied: (why: string) => `The text could not be copied: ${why}`,
  copyOf: (what: string) => `Copy ${what}`,
  copiedOf: (what: string) => `Copied ${what}`,

  // Messages
  undone: (what: string, kept: number) => `Undone: ${what}.${kept ? ` ${kept} changed since and were kept.` : ""}`,

  // Errors
  tryAgainRemedy: "Try again.",
  noAnswerRemedy: "Start it again with `autokit serve`.",
  noAnswer: (why: string) => `the engine does not answer: ${why}`,
  packedRemedy: "Give its path on this machine or its address instead.",
  packed: (name: string) => `${name} is a packed bundle, and a browser passes on text only`,
} as const;
