// Texts of Activity: figures, charts, and calls.

import { count, percent } from "../lib/format";

export const activity = {
  // Pane
  activity: "Activity",
  howFarBack: "Period",
  refresh: "Refresh",
  inFigures: "Summary",
  nothingAbout:
    "Connect an MCP client to let its agents search this library. Their searches and calls are counted here.",
  connectAnAgent: "Connect a client",
  days: (n: number) => `${n} days`,
  otherVersion: (n: number) =>
    `${count(n, "event")} from another version of AutoKit ${n === 1 ? "isn't" : "aren't"} counted.`,
  nothing: (days: number) => `No agent activity in the last ${days} days`,

  // Team
  ofTeam: (name: string) => `Activity in ${name}`,
  nothingInTeam: "Nothing has happened yet. Changes to cards and proposals appear here.",
  did: {
    create: "added",
    edit: "edited",
    accept: "accepted a change of",
    delete: "deleted",
    restore: "restored",
    import: "imported",
    merge: "merged",
    undo: "undid a change of",
    proposed: "proposed a change of",
    commented: "commented on",
    approved: "approved a change of",
    rejected: "rejected a change of",
    withdrawn: "withdrew a change of",
    assigned: "changed the reviewer of",
  },
  showMore: "Show more",

  // Figures and sentences
  tiers: {
    expert: "Pinned",
    system: "Built-in tools",
    library: "Library",
    marketplace: "Not installed",
  },
  withoutAName: "Unnamed",
  foundNew: "all found new tools",
  noTool: "no callable tools yet",
  fewTools: "with so few tools, listing them all costs less",
  sessions: "Sessions",
  searches: "Searches",
  calls: "Calls",
  noneFailed: "none failed",
  toolsLoaded: "Tools loaded",
  loopsStopped: "Loops stopped",
  sameCalls: "identical repeated calls",
  none: "none",
  discoveryAccuracy: "Discovery accuracy",
  noToolWasLoadedYet: "no tools loaded yet",
  accuracyOf: "of loaded tools were called",
  tokensSaved: "Tokens saved",
  everyToolAtOnce: "All tools up front",
  withAutokit: "With AutoKit",
  noSearches: "No searches.",
  milliseconds: (ms: string) => `${ms} ms`,
  foundNothing: (n: number) => `${n.toLocaleString("en")} found nothing`,
  foundSame: (n: number) => `${n.toLocaleString("en")} repeated earlier results`,
  aSession: (tokens: number) => `${tokens.toLocaleString("en")} per session`,
  ofPrograms: (n: number) => `from ${count(n, "client")}`,
  failedOf: (n: number) => `${n.toLocaleString("en")} failed`,
  evicted: (n: number) => `${n.toLocaleString("en")} evicted`,
  callsFailed: (calls: number, failed: number) =>
    `${calls.toLocaleString("en")}, ${failed.toLocaleString("en")} failed`,
  costs: (tokens: number) => `A session costs ${count(tokens, "token")}; no tools can be called yet.`,
  saves: (all: number, dynamic: number, saved: number) =>
    `Listing every tool would cost ${count(all, "token")} per session; AutoKit uses ${count(dynamic, "token")}${saved > 0 ? `, ${percent(saved)} less` : ""}.`,
  times: (of: string, median: string, p95: string) => `${of}: median ${median}, p95 ${p95}`,
  toolUse: (name: string, calls: number, failed: number) =>
    `${name}: ${count(calls, "call")}${failed ? `, ${failed} failed` : ""}`,
  nothingOn: (days: number) => `No activity on ${count(days, "day")}.`,
  use: (searches: number, calls: number, failed: number) =>
    `${count(searches, "search", "searches")} and ${count(calls, "call")}${failed ? `, ${failed.toLocaleString("en")} failed` : ""}`,
  used: (busy: number, days: number, all: string, day: string, most: string) =>
    `Active on ${busy.toLocaleString("en")} of ${count(days, "day")}: ${all}. Busiest: ${day}, with ${most}.`,
  slowest: (slowest: string, last: string) => `Slowest on ${slowest}; most recent on ${last}.`,

  // Day by day
  upTo: (most: string) => `up to ${most}`,
  callsWorked: "Successful calls",
  callsFailedName: "Failed calls",
  median: "Median",
  dayByDay: "Day by day",
  searchesAndCalls: "Searches and calls",
  timeOfASearch: "Search latency",
  dayInUtc: "Day (UTC)",
  failed: "Failed",
  loops: "Loops",
  accuracy: "Accuracy",
  accuracyAbout: "Accuracy: share of the tools loaded on a day that were also called that day.",
  noDays: "No searches or calls in this period.",
  p95: "p95",
  leaveOut: (days: number) => `Hide ${count(days, "day")} without activity`,
  showAllDays: (n: number) => `Show all ${n} days`,

  // Tokens
  everyTool: "All callable tools",
  ownTools: "Always loaded",
  foundTools: "Loaded by searches",
  tokensOfASession: "Tokens per session",
  whatIsRead: "Context",
  tokens: "Tokens",
  everyToolAtOnceLong: "All callable tools up front",
  foundToolsMedian: "Loaded by searches (median session)",
  sessionWithAutokit: "Session with AutoKit",
  resultTokens: (n: number) => `Call results cost the same either way: ${n.toLocaleString("en")} tokens in total.`,

  // Latency
  where: "Stage",
  wholeSearch: "Entire search",
  noSearchesInDays: "No searches in this period.",

  // Tools
  worked: "Succeeded",
  toolsCalledMost: "Most used tools",
  tool: "Tool",
  noToolCalled: "No calls in this period.",
  otherTools: (n: number) => `${count(n, "other tool")} called less often.`,

  // Clients
  programs: "Clients",
  programNamed: "Client (as it identifies itself)",

  // Calls
  outcomes: { done: "Succeeded", failed: "Failed", refused: "Denied", cancelled: "Cancelled", all: "All" },
  decidedBy: { rules: "Rules", person: "Person", nobody: "No one" },
  latestOf: (read: number, total: number) => `the latest ${read.toLocaleString("en")} of ${count(total, "call")}`,
  shownOf: (shown: number, all: string) => `${shown.toLocaleString("en")} of ${all}`,
  outcomesLabel: "Filter by outcome",
  noCalls: "No calls in this period. Every call is logged here, including those that were denied.",
  when: "When",
  program: "Client",
  decidedByName: "Decided by",
  outcome: "Outcome",
  time: "Duration",
  noArguments: "Called without arguments.",
  detailsOf: (name: string, when: string) => `Details of ${name}, ${when}`,
  calledBy: (who: string, when: string, profile: string) =>
    `${who} at ${when}, under ${profile ? `the rules of profile ${profile}` : "the rules for everyone"}.`,
  needed: (what: string) => `Needed permission ${what}.`,
  neededNothing: "No permissions needed beyond the tool.",

  // Preloading
  preloading: {
    title: "Preloading",
    about: (sessions: number, tools: number) =>
      `${count(sessions, "session")} replayed with up to ${count(tools, "tool")} that earlier sessions called.`,
    actual: "Actual",
    preloaded: "Preloaded",
    difference: "Difference (95% interval)",
    searches: "Searches per session",
    used: "Loaded tools called",
    tokens: "Tokens per session",
    to: "to",
    helps: "Preloading would have saved searches.",
    doesNotHelp: "Preloading would not have helped.",
    turnOn: "Turn it on",
  },
} as const;
