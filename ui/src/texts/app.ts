// Texts of the window around the panes: navigation, top bar, jobs, toasts, and the window's own errors.

import { count } from "../lib/format";

/** Says how many cards an undo or redo left alone. */
const notChanged = (kept: number) =>
  kept ? `. ${count(kept, "card")} changed since then and stayed as ${kept === 1 ? "it is" : "they are"}.` : "";

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
  rail: "Main navigation",
  skip: "Skip to content",
  brand: "AutoKit",
  waiting: "pending",
  commands: "Commands",
  shortcuts: "Shortcuts",

  // Window
  linkUnknown: "This link isn't supported",
  linkRemedy: "AutoKit links can only open bundles and invitations to teams.",
  opening: "Opening the library…",
  notLoaded: {
    code: "no_connection" as const,
    message: "a part of the window couldn't be loaded",
    remedy: "Check that AutoKit is still running, then reload.",
  },
  drop: "Drop a bundle or card file to preview the import",

  // Team
  somebody: "Someone",
  openMessage: "Open",
  told: {
    assigned: (by: string, card: string) => `${by} requested your review of ${card}`,
    mentioned: (by: string, card: string) => `${by} mentioned you in a comment on ${card}`,
  },

  // Top bar
  meaningHint: "Semantic and keyword search",
  loadingModel: "Loading the model…",
  loadingModelHint: "Keyword search only until the model has loaded",
  wordsOnly: "Keyword search only",
  noModelHint: "No embedding model is installed",
  modelFailedHint: "The embedding model failed to load",
  changesMissing: "Missing changes",
  readOnly: "Read-only",
  offlineHint: "No web search or language model is configured; everything runs on this computer",
  offline: "No AI services",
  nothingToUndo: "Nothing to undo. Imports are undone under Bundles, Imports.",
  nothingToRedo: "Nothing to redo",
  meaning: (model: string | null) => `Embeddings: ${model}`,
  searchHint: (service: string) => `Searches the web with ${service}`,
  search: (service: string) => `Search: ${service}`,
  llmHint: (model: string) => `Answers with ${model}`,
  llm: (model: string) => `LLM: ${model}`,
  notUsable: (n: number) => `${count(n, "service")} unavailable`,
  undo: (what: string) => `Undo: ${what}`,

  // Jobs
  jobs: "Jobs",
  jobWaits: ", queued",
  resume: "Resume",
  pausingName: "Pausing",
  pause: "Pause",
  pausingHint: "Work in progress finishes first",
  pausing: "Pausing…",
  stopped: "stopped",
  showCards: "Show cards",
  showInReview: "Show in Review",
  hide: "Hide",
  amount: (done: string, total: string) => `${done} of ${total}`,
  left: (time: string) => `, ${time} left`,
  stopJob: (title: string) => `Stop: ${title}`,
  hideJob: (title: string) => `Hide: ${title}`,
  jobSummary: (title: string, outcome: string) => `${title}: ${outcome}`,
  runningJobs: "Running jobs",
  recentJobs: "Recent jobs",
  noneRunning: "No jobs running",
  noneEnded: "No jobs have finished since AutoKit started",
  several: (n: number, title: string) => `${n} jobs · ${title}…`,
  failed: (n: number) => `${n} failed`,

  // Copying
  copy: "Copy",
  copied: "Copied",
  notCopied: (why: string) => `Couldn't copy the text: ${why}`,
  copyOf: (what: string) => `Copy ${what}`,
  copiedOf: (what: string) => `Copied ${what}`,

  // Toasts
  messages: "Notifications",
  restored: (made: string, folder: string | null) =>
    `Restored the backup of ${made}.${folder === null ? "" : ` The previous library is kept in ${folder}`}`,
  undone: (what: string, kept: number) => `Undone: ${what}${notChanged(kept)}`,
  redone: (what: string, kept: number) => `Redone: ${what}${notChanged(kept)}`,

  // Errors
  tryAgainRemedy: "Try again.",
  noAnswerRemedy: "Restart it with `autokit serve`.",
  noAnswer: (why: string) => `the engine isn't responding: ${why}`,
  packedRemedy: "Enter its path or URL instead.",
  packed: (name: string) => `${name} is a packed bundle, which can't be uploaded from a browser`,
} as const;
