// Texts of Activity: figures, charts, every call.

import { count, percent } from "../lib/format";

export const activity = {
  // The pane
  activity: "Activity",
  howFarBack: "How far back",
  refresh: "Refresh",
  inFigures: "In figures",
  nothingAbout:
    "Connect the program your agent runs in. From then on it finds the tools it needs in this library, and what it does with them is counted here.",
  connectAnAgent: "Connect an agent",
  days: (n: number) => `${n} days`,
  otherVersion: (n: number) =>
    `${count(n, "event")} of another version of AutoKit ${n === 1 ? "is" : "are"} not counted.`,
  nothing: (days: number) => `No agent reached AutoKit in the last ${days} days`,

  // Figures and sentences
  tiers: {
    expert: "Assigned by hand",
    system: "AutoKit's own tools",
    library: "Library",
    marketplace: "Not installed yet",
  },
  withoutAName: "Without a name",
  foundNew: "each found something new",
  noTool: "no tool can be called yet",
  fewTools: "so few tools cost less all at once",
  sessions: "Sessions",
  searches: "Searches",
  calls: "Calls",
  noneFailed: "none failed",
  toolsLoaded: "Tools loaded",
  loopsStopped: "Loops stopped",
  sameCalls: "same calls again and again",
  none: "none",
  discoveryAccuracy: "Discovery accuracy",
  noToolWasLoadedYet: "no tool was loaded yet",
  accuracyOf: "of the loaded tools were called",
  tokensSaved: "Tokens saved",
  everyToolAtOnce: "Every tool at once",
  withAutokit: "With AutoKit",
  noSearches: "No searches.",
  milliseconds: (ms: string) => `${ms} ms`,
  foundNothing: (n: number) => `${n.toLocaleString("en")} found nothing`,
  foundSame: (n: number) => `${n.toLocaleString("en")} found the same again`,
  aSession: (tokens: number) => `${tokens.toLocaleString("en")} a session`,
  ofPrograms: (n: number) => `of ${count(n, "program")}`,
  failedOf: (n: number) => `${n.toLocaleString("en")} failed`,
  evicted: (n: number) => `${n.toLocaleString("en")} evicted`,
  callsFailed: (calls: number, failed: number) =>
    `${calls.toLocaleString("en")}, ${failed.toLocaleString("en")} failed`,
  costs: (tokens: number) => `A session costs ${count(tokens, "token")}; no tool can be called yet.`,
  saves: (all: number, dynamic: number, saved: number) =>
    `Every tool at once would cost a session ${count(all, "token")}; with AutoKit it costs ${count(dynamic, "token")}${saved > 0 ? `, ${percent(saved)} less` : ""}.`,
  times: (of: string, median: string, p95: string) => `${of}: ${median} in the median, ${p95} at the 95th percentile`,
  toolUse: (name: string, calls: number, failed: number) =>
    `${name}: ${count(calls, "call")}${failed ? `, ${failed} failed` : ""}`,
  nothingOn: (days: number) => `Nothing on ${count(days, "day")}.`,
  use: (searches: number, calls: number, failed: number) =>
    `${count(searches, "search", "searches")} and ${count(calls, "call")}${failed ? `, ${failed.toLocaleString("en")} failed` : ""}`,
  used: (busy: number, days: number, all: string, day: string, most: string) =>
    `On ${busy.toLocaleString("en")} of ${count(days, "day")}: ${all}. Most on ${day}: ${most}.`,
  slowest: (slowest: string, last: string) => `Slowest on ${slowest}; last on ${last}.`,

  // Day by day
  upTo: (most: string) => `up to ${most}`,
  callsWorked: "Calls that worked",
  callsFailedName: "Calls that failed",
  median: "Median",
  dayByDay: "Day by day",
  searchesAndCalls: "Searches and calls",
  timeOfASearch: "Time of a search",
  dayInUtc: "Day, in UTC",
  failed: "Failed",
  loops: "Loops",
  accuracy: "Accuracy",
  accuracyAbout: "Accuracy: of the tools found on a day, those that were called on it.",
  noDays: "No agent searched or called a tool in these days.",
  p95: "p95",
  leaveOut: (days: number) => `Leave out ${count(days, "day")} without anything`,
  showAllDays: (n: number) => `Show all ${n} days`,

  // Tokens
  everyTool: "Every tool that can be called",
  ownTools: "Tools every session has",
  foundTools: "Found by searches",
  tokensOfASession: "Tokens of a session",
  whatIsRead: "What an agent reads",
  tokens: "Tokens",
  everyToolAtOnceLong: "Every tool that can be called, at once",
  foundToolsMedian: "Found by the searches of a session, in the median",
  sessionWithAutokit: "A session with AutoKit",
  resultTokens: (n: number) => `Results of calls cost the same either way: ${n.toLocaleString("en")} tokens in all.`,

  // Times
  where: "Where",
  wholeSearch: "Whole search",
  noSearchesInDays: "No agent searched in these days.",

  // Tools
  worked: "Worked",
  toolsCalledMost: "Tools called most",
  tool: "Tool",
  noToolCalled: "No agent called a tool in these days.",
  otherTools: (n: number) => `${count(n, "other tool was", "other tools were")} called less often.`,

  // Programs
  programs: "Programs",
  programNamed: "Program, as it names itself",

  // Calls
  outcomes: { done: "Done", failed: "Failed", refused: "Refused", cancelled: "Cancelled", all: "All" },
  decidedBy: { rules: "The rules", person: "A person", nobody: "Nobody" },
  latestOf: (read: number, total: number) => `the latest ${read.toLocaleString("en")} of ${count(total, "call")}`,
  shownOf: (shown: number, all: string) => `${shown.toLocaleString("en")} of ${all}`,
  outcomesLabel: "What came of them",
  noCalls: "No agent called a tool in these days. Each call is written down here, also one that was not made.",
  when: "When",
  program: "Program",
  decidedByName: "Decided by",
  outcome: "Outcome",
  time: "Time",
  noArguments: "It was called without arguments.",
  detailsOf: (name: string, when: string) => `Details of ${name}, ${when}`,
  calledBy: (who: string, when: string, profile: string) =>
    `${who} at ${when}, by ${profile ? `the rules of ${profile}` : "everybody's rules"}.`,
  needed: (what: string) => `It needed ${what}.`,
  neededNothing: "It needed nothing but the tool.",
} as const;
