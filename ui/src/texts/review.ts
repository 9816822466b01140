// Texts of Review: the queue, a proposal, what in it is suspect.

import { count, percent } from "../lib/format";

/** Before a number: how many of them a filter leaves. */
const ofAll = (found: number | null) => (found === null ? "" : `${found.toLocaleString("en")} of `);

export const review = {
  // Names
  origins: {
    discovery: "Found on the web",
    description: "Described by a person",
    repair: "Broken link",
    refresh: "Stale field",
    improvement: "Enrichment",
    import: "Imported",
  },
  states: { pending: "Waits", accepted: "Accepted", rejected: "Turned down", withdrawn: "Withdrawn" },
  risks: { high: "High risk", medium: "Medium risk", low: "Low risk" },
  health: {
    verified: "Verified",
    stale: "Stale",
    broken: "Broken",
    unreachable: "Not reached",
    never_checked: "Never checked",
  },
  notJson: (why: string) => `This is not JSON: ${why}`,

  // The pane
  shown: { waiting: "Waiting", all: "All" },
  orders: { kind: "Kind", risk: "Risk" },
  queue: "Queue",
  show: "Show",
  filterProposals: "Filter proposals",
  filter: "Filter (/)",
  groupBy: "Group by",
  noMatch: "Nothing here has these words.",
  acceptSafeHint: "Shows what would change first",
  acceptSafe: "Accept safe ones…",
  keys: { move: "move", accept: "accept", reject: "reject", shortcuts: "all shortcuts" },
  empty: "Nothing waits for you",
  emptyAbout: "Tools found on the web and changes to cards wait here until you take them over or turn them down.",
  showDecided: "Show decided ones",
  readingProposal: "Reading the proposal…",
  waiting: (n: number, found: number | null) => `${ofAll(found)}${n.toLocaleString("en")} waiting`,
  proposals: (n: number, found: number | null) => `${ofAll(found)}${count(n, "proposal")}`,

  // Queue
  queueItems: "Proposals",
  suspectHint: "Hides text or gives orders to a model",
  suspect: "Suspect: hides text or gives orders to a model.",
  conflict: "conflict",
  approvals: (n: number) => `${n} yes`,

  // A proposal
  layouts: { unified: "Unified", split: "Side by side" },
  changes: "Changes",
  change: "Change",
  newCard: "New card",
  turnAllDown: "Turn all of it down",
  keepCard: "Keep the card as it is",
  accept: "Accept",
  reject: "Reject",
  rejectAsk: "Reject…",
  undoHint: "Take the decision back",
  letWait: "Let it wait again",
  undoDecision: "Undo decision",
  why: "Why (optional)",
  whyHint: "Why (optional, remembered)",
  fields: "Fields",
  saidYesTo: (title: string, yes: number, needed: number) => `Your yes to ${title} was kept: ${yes} of ${needed}`,
  acceptedWhole: (title: string) => `${title} was accepted`,
  acceptedFields: (title: string, fields: number) => `${count(fields, "field")} of ${title} accepted`,
  turnedDownSaid: (title: string) => `${title} was turned down`,
  waitsAgain: (title: string) => `${title} waits again`,
  saidYes: (yes: number, needed: number) => `${yes} of ${needed} said yes`,
  acceptSome: (wanted: number, all: number) => `Accept ${wanted} of ${all} fields`,

  // Why it is proposed
  maybeSame: "May be the same as",
  from: (author: string) => (author ? `From ${author}’s library.` : "From another library."),
  conflictsWait: (n: number) => `${count(n, "field")} in conflict ${n === 1 ? "waits" : "wait"} for you.`,
  allImports: "All imports",

  // A field
  decisions: {
    rejected: "turned down",
    edited: "taken over with another value",
    accepted: "taken over",
    leftOut: "left out",
  },
  asItIs: "as it is",
  edited: "edited by you",
  sureHint: "How likely it is true, by what supports it",
  turnDownHint: "Turn this field down; it is remembered",
  settled: "Settled with your value, over the card as it is now.",
  disputed: { before: "Both libraries changed this. Keep yours, take theirs, or edit:", after: "switches." },
  changedSince: {
    before:
      "Somebody changed this in the card since it was proposed. Keep it as it is now, take what is proposed, or edit:",
    after: "switches.",
  },
  useValueKeys: "Ctrl Enter",
  useValue: "Use this value",
  asProposed: "As proposed",
  nothingQuoted: "Nothing was quoted for this.",
  editField: (name: string) => `Edit ${name}`,
  turnDownField: (name: string) => `Turn ${name} down`,
  valueOf: (name: string) => `Value of ${name}`,

  // A field in conflict
  yours: "Yours",
  keepMine: "Keep mine",
  theirs: "Theirs",
  theirsIsWithout: "Theirs is without it; edit your card to remove it",
  takeTheirs: "Take theirs",
  twoValues: (name: string) => `${name}: two values`,
  keepMineOf: (name: string) => `Keep mine: ${name}`,
  takeTheirsOf: (name: string) => `Take theirs: ${name}`,

  // Evidence
  noAnswer: "no answer",
  requests: "Requests on the way to the page",
  read: (when: string) => `read ${when}`,
  answeredWith: (status: string) => `HTTP ${status}`,

  // What stays
  unchanged: (n: number) => `${count(n, "field")} stay as they are`,
  otherPages: (n: number) => `${count(n, "other page")} considered`,

  // Comments
  comments: "Comments",
  comment: "Comment",
  commentHint: "Say something without deciding (c)",
  by: "by",
  whatHappened: (n: number) => `What happened (${n})`,

  // Accepting all safe ones
  acceptAllSafe: "Accept all safe ones",
  acceptAllSafeAbout:
    "Low risk, quoted from a page, and nothing that somebody changed meanwhile. It is one change: a single undo takes it back.",
  noneSafe: (n: number) => `None of the ${count(n, "proposal")} in view can be accepted without a closer look.`,
  leftToWait: (n: number) => `${count(n, "proposal")} left to wait`,
  lookingAt: (n: number) => `Looking at ${count(n, "proposal")}…`,
  acceptProposals: (n: number) => `Accept ${count(n, "proposal")}`,

  // Accepting suspect text
  acceptSuspect: "Accept suspect text?",
  acceptAnyway: "Accept anyway",
  untickSuspect: "Untick the field or edit its value to accept the rest without it.",
  wouldHold: (what: string) => `would hold ${what}, and every agent that finds the card would read it:`,
  moreKinds: (n: number) => `and ${count(n, "more kind")} of it`,

  // Suspect text
  sorts: {
    invisible: { label: "invisible", what: "characters nobody sees" },
    hidden: { label: "hidden", what: "text that is not shown where it is read" },
    instruction: { label: "order", what: "orders to a language model" },
    encoded: { label: "encoded", what: "encoded text" },
    stuffed: { label: "stuffed", what: "words strung together to be found for everything" },
    code: { label: "code", what: "code in the place of a name" },
  },
  and: (first: string, last: string) => `${first} and ${last}`,
  endsOfLines: (n: number) => `‹${n} ends of lines›`,
  spaces: (n: number) => `‹${n} spaces›`,
  place: (n: number, sort: string) => `Place ${n}: ${sort}`,

  // What is suspect
  nowAndProposed: "now and as proposed",
  asItIsNow: "as it is now",
  lookClosely: "Look closely: not all of this is meant for you",
  proposedHolds: (what: string, pending: boolean) =>
    `What is proposed holds ${what}. Agents would read it whole${pending ? ": look at each place before you accept, or untick its field" : ""}.`,
  cardHolds: (what: string) => `The card as it is now holds ${what}. What is proposed does not.`,
  at: (pointer: string) => `at ${pointer}`,
  nameAt: (pointer: string) => `the name at ${pointer}`,
  showMore: (n: number) => `Show ${n} more`,

  // Health
  noTrend: "No trend yet: one day is known",
  healthOf: "Health of the library",
  noneChecked: "none checked yet",
  toCheck: "to check",
  changedSinceCheck: "changed since their check",
  showTheNumbers: "Show the numbers",
  trendBeginsToday: "trend begins today",
  healthAbout: "Cards by what checking them against their page found, day by day, newest first.",
  day: "Day",
  today: "Today",
  trendSince: (day: string, [verified, verifiedNow]: [number, number], [broken, brokenNow]: [number, number]) =>
    `Verified cards since ${day}: ${verified}, now ${verifiedNow}; broken: ${broken}, now ${brokenNow}`,
  verified: (share: number) => `${percent(share)} verified`,
  ofCards: (n: number) => `of ${count(n, "card")}`,
  trend: (said: string) => `Trend: ${said}. Show the numbers`,
  since: (day: string) => `since ${day}`,
} as const;
