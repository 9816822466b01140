// Texts of Ask: the question, the agent's steps, its answer, and feedback.

import { count, percent } from "../lib/format";

export const ask = {
  // Question
  atWork: "The agent is working",
  noSuitableTool: "No suitable tool",
  question: "What should the tool do?",
  clear: "Clear the question",
  clearHint: "Clear (Esc)",
  askHint: (model: boolean, web: boolean) => {
    const does = ["checks its answer", model && "rewrites the query", web && "searches the web"].filter(Boolean);
    return `Ask the agent: ${does.join(", ")} (Enter)`;
  },
  ask: "Ask",
  empty: "This library is empty",
  emptyAbout: "Load the starter cards, import a file, or drop one here.",
  loadStarter: "Load starter cards",
  forExample: "Try",
  firstSteps: {
    title: "Get started",
    skip: "Skip",
    done: "done",
    ask: "Ask your own question",
    askAbout: "In your own words. The answer names a tool, how to call it, and where it is documented.",
    askAction: "Ask a question",
    connect: "Connect your agents",
    connectAbout: (names: string[]) =>
      names.length
        ? `Found on this computer: ${names.join(", ")}. They find tools here over MCP.`
        : "Cursor, Claude, VS Code and others find tools here over MCP.",
    connected: (names: string[]) => `Connected: ${names.join(", ")}.`,
    connectAction: "Connect agents",
    services: "Add a model or web search",
    servicesAbout: "Optional. Until you choose a service, nothing leaves this computer.",
    servicesAction: "Choose services",
  },
  exampleAnswer: "An example:",
  loadingStarter: "Loading the starter cards…",
  modelMissing: (size: string | null) =>
    `Search matches words only, so it misses tools described in other words. Download the embedding model${size ? ` (${size})` : ""} to also search by meaning, offline.`,
  modelDownloading: (share: number | null) =>
    `Downloading the embedding model${share === null ? "…" : `: ${percent(share)}`}`,
  downloadModel: "Download",
  samples: [
    "I want a tool that can integrate with my google calendar",
    "turn a recording into text without a network",
    "search scientific papers",
    "send a message to a chat channel",
  ],
  recommends: (name: string) => `The agent recommends ${name}`,
  bestMatch: (name: string) => `Best match: ${name}`,
  before: (name: string, unhelpful: string | null) =>
    `${name ? `Previously: ${name}` : "Previously"}${unhelpful === null ? "" : `, marked unhelpful${unhelpful ? `: “${unhelpful}”` : ""}`}`,
  enterAsks: (web: boolean) =>
    `asks the agent, which checks its answer${web ? " and searches the web when nothing fits" : ""}.`,
  backTo: (question: string) => `Back to “${question}”`,

  // Local answer
  otherCandidates: "Other candidates",
  closestMatches: "Closest matches",
  searched: (n: number) => `Searched ${count(n, "card")}. Rephrase the question, or look elsewhere.`,
  took: (cards: number, ms: number) => `${count(cards, "card")} in ${ms.toFixed(0)} ms`,

  // No suitable tool
  nothingFits: "Nothing in your library clearly does this",

  // Answer card
  matched: "Matched",
  knownOfName: (words: string) => `${words} (known about this product, not on the card)`,

  // Answer header
  unsure: (confidence: number | null) =>
    `${confidence === null ? "Low" : percent(confidence)} confidence. Check the other candidates too.`,
  confidence: (confidence: number) => `${percent(confidence)} confidence`,
  confidenceHint: "How often the first result is right at this score",

  // Actions
  actions: "Actions",
  copyCode: "Copy code",
  tryIt: "Try it",
  connectAgent: "Connect my agent",
  notThisOne: "Not this one",
  hiddenTools: (n: number) => `${count(n, "tool")} hidden from this answer.`,
  showThemAgain: "Show again",

  // Starter code
  install: "Install",
  setVariables: "Set these variables",
  run: "Run",
  theInstallCommand: "install command",
  theVariables: "variables",
  theStarterCode: "starter code",

  // Compare
  compare: "Compare",
  compareTo: (name: string, other: string) => `Compare ${name} with ${other}`,
  code: "Code",
  optional: (name: string) => `${name} (optional)`,

  // Candidates
  judgedHint: "Relevance score from the language model",
  judged: "Relevance",
  finds: (thing: string) => `Looks up ${thing} IDs`,
  findsHint: "Other results take these IDs",
  judgedAt: (share: number) => `Relevance ${percent(share)}`,

  // Score bars
  score: (value: string, parts: string) => `Score ${value}: ${parts}`,
  scores: {
    name: "name",
    words: "keywords",
    meaning: "semantic",
    conditions: "conditions",
    lookup: "ID lookup",
    direction: "input and output",
    feedback: "feedback",
  },

  // Sources
  sources: "Sources",
  fromTheDocumentation: "From the documentation",

  // Removed lines
  removedLines: (n: number) => `${count(n, "unsupported line")} removed`,

  // Code block
  theCode: "code",

  // Turn
  foundOnTheWeb: "Found on the web",
  substitute: "Possible substitute",
  substituteAbout: "Not made for this, but it may be used in its place.",
  fromYourDocuments: "From your documents",
  propose: "Propose as card",
  closestInLibrary: "Closest matches in the library",
  firstLook: "Preliminary result from search:",
  byRanking: "Search result:",
  without: (why: string) => `Excluding the previous tool: “${why}”`,

  // Trace
  onThisMachine: "on this computer",
  trace: "Agent steps",
  starting: "Starting",
  traceSteps: "Steps",
  stepAtWork: "running",
  stepStopped: "stopped",
  failed: "Failed",
  pieces: { thought: "Thought", action: "Action", observation: "Result" },
  failedAfter: (steps: number) => `Failed after ${count(steps, "step")}`,
  stoppedAfter: (steps: number) => `Stopped after ${count(steps, "step")}`,
  doneAfter: (steps: number) => `Done after ${count(steps, "step")}`,
  tokens: (read: number, written: number) => `${read.toLocaleString("en")} + ${written.toLocaleString("en")} tokens`,

  // Steps
  steps: {
    search: "Search the library",
    generate: "Draft an answer",
    grade_grounded: "Check it against sources",
    grade_answers: "Check it answers the question",
    rewrite: "Rewrite the query",
    web: "Search the web",
    finalize: "Finish",
    feedback: "Feedback",
    add: "Propose a card",
  },
  outcomes: {
    found: "found",
    nothing: "nothing found",
    written: "drafted",
    grounded: "supported",
    ungrounded: "not supported",
    answers: "answers the question",
    misses: "misses the question",
    rewritten: "rewritten",
    exhausted: "retry limit reached",
    delivered: "done",
    helpful: "helpful",
    unhelpful: "not helpful",
    wanted: "requested",
    proposed: "proposed",
  },

  // Feedback
  yourWord: "Feedback on this answer",
  starterCode: "Starter code",
  saveFile: "Save to file",
  starterByRules: "Generated from the card on this computer",
  starterTooLittle: "The card doesn't have enough detail for starter code.",
  doesHelp: "Does this help?",
  helps: "Yes, this helps",
  notInMyLibrary: "Not in my library",
  use: "What will you use it for?",
  wrong: "What's wrong with it?",
  useHint: "e.g. add team deadlines to a shared calendar",
  wrongHint: "e.g. it must work without an account",
  writeStarter: "Generate starter code",
  searchAgain: "Search again without it",
  writing: "Generating…",
  searching: "Searching…",
  savedAs: (place: string) => `Saved to ${place}`,
  helpsSaid: (said: string) => `Marked helpful${said ? `: ${said}` : ""}`,
  writtenBy: (model: string) => `Generated by ${model}`,

  // Previous questions
  deleteAllAsk: "Delete all…",
  deleteAllTitle: "Delete all questions?",
  deleteAll: "Delete all",
  deleteAllAbout:
    "Past questions and their answers are deleted for good. What search learned from your feedback is kept; reset it in Settings, Personalization.",
  deleteQuestion: (question: string) => `Delete question: ${question}`,
  deleteQuestionHint: "Delete question",
  askedBefore: "Previous questions",
} as const;
