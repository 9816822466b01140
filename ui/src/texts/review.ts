// Texts of Review: the queue, proposals, and flagged text.

import { count, percent } from "../lib/format";
import type { ProposalEventKind } from "../lib/bindings";

/** Prefix of a count: the number of items that match a filter. */
const ofAll = (found: number | null) => (found === null ? "" : `${found.toLocaleString("en")} of `);

export const review = {
  // Names
  origins: {
    discovery: "Found on the web",
    description: "Added by hand",
    use: "From usage",
    code: "From code",
    repair: "Broken link",
    refresh: "Stale field",
    improvement: "Enrichment",
    import: "Imported",
    conflict: "Your edit",
  },
  states: { pending: "Pending", accepted: "Accepted", rejected: "Rejected", withdrawn: "Withdrawn" },
  risks: { high: "High risk", medium: "Medium risk", low: "Low risk" },
  health: {
    verified: "Verified",
    stale: "Stale",
    broken: "Broken",
    unreachable: "Unreachable",
    never_checked: "Never checked",
  },
  notJson: (why: string) => `Invalid JSON: ${why}`,

  // Pane
  shown: { waiting: "Pending", all: "All" },
  orders: { kind: "Kind", risk: "Risk" },
  queue: "Queue",
  show: "Show",
  filterProposals: "Filter proposals",
  filter: (shortcut: string) => `Filter (${shortcut})`,
  groupBy: "Group by",
  noMatch: "No proposals match",
  acceptSafeHint: "Shows a preview first",
  acceptSafe: "Accept low-risk…",
  acceptRepairs: "Accept link repairs…",
  acceptRepairsHint: "Addresses with at least 95% confidence whose page names the tool; shows a preview first",
  selected: (n: number) => `${n.toLocaleString("en")} selected`,
  acceptAsk: "Accept…",
  rejectSelectedHint: "Reject the selected proposals",
  rejectProposals: (n: number) => `Reject ${count(n, "proposal")}`,
  rejectedTogether: (n: number) => `Rejected ${count(n, "proposal")}`,
  reopenedTogether: (n: number) => `Reopened ${count(n, "proposal")}`,
  clearSelection: "Clear",
  selectProposal: (title: string) => `Select ${title}`,
  selectGroup: (name: string) => `Select all: ${name}`,
  keys: { move: "move", select: "select", accept: "accept", reject: "reject", shortcuts: "all shortcuts" },
  empty: "Nothing to review",
  emptyAbout: "Tools found on the web and suggested changes to cards appear here for you to accept or reject.",
  showDecided: "Show all proposals",
  readingProposal: "Loading the proposal…",
  waiting: (n: number, found: number | null) => `${ofAll(found)}${n.toLocaleString("en")} pending`,
  proposals: (n: number, found: number | null) => `${ofAll(found)}${count(n, "proposal")}`,

  // Queue
  queueItems: "Proposals",
  suspectHint: "Contains hidden text or instructions to a model",
  suspect: "Flagged: contains hidden text or instructions to a model.",
  conflict: "conflict",
  approvals: (n: number) => count(n, "approval"),

  // Proposal
  layouts: { unified: "Unified", split: "Side by side" },
  changes: "Changes",
  change: "Change",
  newCard: "New card",
  rejectAll: "Reject all",
  keepCard: "Keep the card as it is",
  accept: "Accept",
  reject: "Reject",
  rejectAsk: "Reject…",
  undoHint: "Undo this decision",
  reopen: "Reopen",
  undoDecision: "Undo decision",
  why: "Reason (optional)",
  whyHint: "Reason (optional, saved in the history)",
  fields: "Fields",
  approvedToast: (title: string, yes: number, needed: number) => `Approved ${title}: ${yes} of ${needed} approvals`,
  acceptedWhole: (title: string) => `Accepted ${title}`,
  acceptedFields: (title: string, fields: number) => `Accepted ${count(fields, "field")} of ${title}`,
  rejectedToast: (title: string) => `Rejected ${title}`,
  waitsAgain: (title: string) => `Reopened ${title}`,
  approvalsOf: (yes: number, needed: number) => `${yes} of ${needed} approvals`,
  acceptSome: (wanted: number, all: number) => `Accept ${wanted} of ${count(all, "field")}`,

  // Origin and reason
  maybeSame: "Possible duplicate of",
  from: (author: string) => (author ? `From ${author}’s library.` : "From another library."),
  cardRemoved: "The card no longer exists, so this change can only be rejected.",
  conflictsWait: (n: number) => `${count(n, "conflicting field")} to resolve.`,
  allImports: "All imports",

  // Field
  decisions: {
    rejected: "rejected",
    edited: "accepted with edits",
    accepted: "accepted",
    leftOut: "not selected",
  },
  asItIs: "unchanged",
  edited: "edited by you",
  sureHint: "Confidence, based on the evidence",
  rejectFieldHint: "Reject this field; the decision is remembered",
  settled: "Resolved with your value, replacing the card's current one.",
  disputed: { before: "Both libraries changed this field. Keep yours, use theirs, or edit.", after: "switches." },
  changedSince: {
    before:
      "This field changed on the card after it was proposed. Keep the current value, use the proposed one, or edit.",
    after: "switches.",
  },

  useValue: "Use this value",
  asProposed: "Reset to proposed",
  nothingQuoted: "No evidence quoted.",
  editField: (name: string) => `Edit ${name}`,
  rejectField: (name: string) => `Reject ${name}`,
  valueOf: (name: string) => `Value of ${name}`,

  // Field in conflict
  yours: "Yours",
  keepMine: "Keep mine",
  theirs: "Theirs",
  theirsIsWithout: "Removed in theirs. Edit your card to remove it",
  takeTheirs: "Use theirs",
  twoValues: (name: string) => `${name}: conflicting values`,
  keepMineOf: (name: string) => `Keep mine: ${name}`,
  takeTheirsOf: (name: string) => `Use theirs: ${name}`,

  // Evidence
  noAnswer: "no response",
  requests: "Redirects",
  read: (when: string) => `read ${when}`,
  answeredWith: (status: string) => `HTTP ${status}`,

  // Unchanged fields
  unchanged: (n: number) => `${count(n, "unchanged field")}`,
  otherPages: (n: number) => `${count(n, "other page")} considered`,

  // Review in a team
  assignedTo: (name: string) => `Reviewer: ${name}`,
  you: "you",
  assignMe: "Assign to me",
  unassign: "Unassign",
  reviewer: "Reviewer",
  nobody: "Unassigned",
  yourself: (name: string) => `${name} (you)`,
  mayPropose: "Your role in this team lets you propose and comment. A reviewer decides.",

  // Comments
  comments: "Comments",
  comment: "Comment",
  commentHint: (shortcut: string) => `Leave a comment (${shortcut})`,
  by: "by",
  events: {
    proposed: "Proposed",
    merged: "Merged",
    replaced: "Replaced",
    rebased: "Rebased",
    conflicting: "Marked conflicting",
    commented: "Commented",
    approved: "Approved",
    accepted: "Accepted",
    rejected: "Rejected",
    undone: "Reopened",
    kept: "Kept current value",
    withdrawn: "Withdrawn",
    assigned: "Assigned",
  } satisfies Record<ProposalEventKind, string>,
  whatHappened: (n: number) => `Activity (${n})`,

  // Accepting all low-risk proposals
  acceptTogether: {
    safe: {
      title: "Accept low-risk proposals",
      about:
        "Low risk, backed by a quote from a page, and not changed in the meantime. Applied as one change with a single undo.",
    },
    link_repairs: {
      title: "Accept link repairs",
      about:
        "Only the address changes, with at least 95% confidence, and the new page names the tool. Applied as one change with a single undo.",
    },
    selected: {
      title: "Accept selected proposals",
      about: "Applied as one change with a single undo. Flagged or conflicting proposals need a review of their own.",
    },
  },
  noneSafe: (n: number) =>
    n === 1 ? "This proposal needs a closer look." : `All ${n.toLocaleString("en")} proposals need a closer look.`,
  leftToWait: (n: number) => `${count(n, "proposal")} left pending`,
  lookingAt: (n: number) => `Checking ${count(n, "proposal")}…`,
  acceptedTogether: (n: number) => `Accepted ${count(n, "proposal")}`,
  acceptProposals: (n: number) => `Accept ${count(n, "proposal")}`,

  // Accepting flagged text
  acceptSuspect: "Accept flagged text?",
  acceptAnyway: "Accept anyway",
  untickSuspect: "Deselect the field or edit its value to accept the rest without it.",
  wouldHold: (what: string) => `would contain ${what}, read by every agent that finds the card:`,
  moreKinds: (n: number) => `and ${count(n, "more kind")}`,

  // Kinds of flagged text
  sorts: {
    invisible: { label: "invisible", what: "invisible characters" },
    hidden: { label: "hidden", what: "hidden text" },
    instruction: { label: "instruction", what: "instructions to a language model" },
    encoded: { label: "encoded", what: "encoded text" },
    stuffed: { label: "stuffing", what: "keyword stuffing" },
    code: { label: "code", what: "code in place of a name" },
  },
  and: (first: string, last: string) => `${first} and ${last}`,
  endsOfLines: (n: number) => `‹${n} line breaks›`,
  spaces: (n: number) => `‹${n} spaces›`,
  place: (n: number, sort: string) => `Finding ${n}: ${sort}`,

  // Warning about flagged text
  nowAndProposed: "current and proposed",
  asItIsNow: "current",
  lookClosely: "Flagged: this text may target agents",
  proposedHolds: (what: string, pending: boolean) =>
    `The proposed values contain ${what}, which agents would read${pending ? ". Check each finding before accepting, or deselect its field" : ""}.`,
  cardHolds: (what: string) => `The current card contains ${what}. The proposed values don't.`,
  at: (pointer: string) => `at ${pointer}`,
  nameAt: (pointer: string) => `the name at ${pointer}`,
  showMore: (n: number) => `Show ${n} more`,

  // Health
  noTrend: "Not enough data for a trend yet",
  healthOf: "Library health",
  noneChecked: "none checked",
  toCheck: "to check",
  changedSinceCheck: "changed since check",
  showTheNumbers: "Show numbers",
  trendBeginsToday: "trend starts today",
  healthAbout: "Cards by check result per day, newest first.",
  day: "Day",
  today: "Today",
  trendSince: (day: string, [verified, verifiedNow]: [number, number], [broken, brokenNow]: [number, number]) =>
    `Verified cards since ${day}: ${verified}, now ${verifiedNow}; broken: ${broken}, now ${brokenNow}`,
  verified: (share: number) => `${percent(share)} verified`,
  ofCards: (n: number) => `of ${count(n, "card")}`,
  trend: (said: string) => `Trend: ${said}. Show numbers`,
  since: (day: string) => `since ${day}`,
} as const;
