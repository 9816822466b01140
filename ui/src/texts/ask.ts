// Texts of Ask: the question, the agent's steps, its answer and what people say to it.

import { count, percent } from "../lib/format";

export const ask = {
  // The question
  atWork: "The agent is at work",
  noSuitableTool: "No suitable tool",
  question: "What should the tool do?",
  clear: "Clear the question",
  clearHint: "Clear (Esc)",
  askHint: "The full agent: checks what it says, rewrites, looks on the web (Enter)",
  ask: "Ask",
  empty: "This library is empty",
  emptyAbout: "Load the cards AutoKit comes with, import a file of your own, or drop one here.",
  loadStarter: "Load the starter cards",
  forExample: "For example",
  tour: {
    about:
      "New here? Ask in your own words; the answer names the tool, its documentation and the lines to import it. Everything stays on this machine until you choose a service in Settings.",
    palette: "reaches every command,",
    shortcuts: "shows the shortcuts.",
  },
  samples: [
    "I want a tool that can integrate with my google calendar",
    "turn a recording into text without a network",
    "search scientific papers",
    "send a message to a chat channel",
  ],
  recommends: (name: string) => `The agent recommends ${name}`,
  bestMatch: (name: string) => `Best match: ${name}`,
  before: (name: string, unhelpful: string | null) =>
    `${name ? `Before: ${name}` : "Before"}${unhelpful === null ? "" : `, which did not help${unhelpful ? `: “${unhelpful}”` : ""}`}`,
  enterAsks: (web: boolean) =>
    `asks the agent: it checks its answer${web ? " and looks on the web when nothing fits" : ""}.`,
  backTo: (question: string) => `Back to “${question}”`,

  // An answer by ranking
  otherCandidates: "Other candidates",
  closestMatches: "Closest matches",
  searched: (n: number) => `${count(n, "card")} searched. Say it in other words, or look elsewhere.`,
  took: (cards: number, ms: number) => `${count(cards, "card")} in ${ms.toFixed(0)} ms`,

  // Nothing fits
  nothingFits: "No suitable tool in this library",

  // Answer card
  matched: "Matched",
  knownOfName: "known of its name",

  // Answer head
  unsure: "This may not be what you mean; look at the others too.",

  // Candidates
  judgedHint: "Given by the language model that ranked the candidates",
  judged: "Judged",
  judgedAt: (share: number) => `Judged ${percent(share)}`,

  // Score bars
  score: (value: string, parts: string) => `Score ${value}: ${parts}`,
  scores: { name: "name", words: "words", meaning: "meaning", feedback: "feedback", reranking: "reranking" },

  // What an answer rests on
  restsOn: "What this rests on",
  fromTheDocumentation: "From the documentation",

  // Removed lines
  removedLines: (n: number) => `${count(n, "line")} left out because nothing supports ${n === 1 ? "it" : "them"}`,

  // Code block
  theCode: "the code",

  // A turn
  foundOnTheWeb: "Found on the web",
  propose: "Propose as a card",
  closestInLibrary: "Closest matches in the library",
  firstLook: "First look, by ranking alone:",
  byRanking: "What ranking alone says:",
  without: (why: string) => `Without the tool before: “${why}”`,

  // What the agent did
  onThisMachine: "on this machine",
  trace: "What the agent did",
  starting: "Starting",
  traceSteps: "Steps",
  stepAtWork: "at work",
  stepStopped: "stopped",
  failed: "Failed",
  failedAfter: (steps: number) => `Failed after ${count(steps, "step")}`,
  stoppedAfter: (steps: number) => `Stopped after ${count(steps, "step")}`,
  doneAfter: (steps: number) => `Done after ${count(steps, "step")}`,
  tokens: (read: number, written: number) => `${read.toLocaleString("en")} + ${written.toLocaleString("en")} tokens`,

  // Steps
  steps: {
    search: "Search the library",
    generate: "Write an answer",
    grade_grounded: "Check what supports it",
    grade_answers: "Check that it answers",
    rewrite: "Say it in other words",
    web: "Look on the web",
    finalize: "Hand the answer over",
    feedback: "Your word on it",
    add: "Propose a card",
  },
  outcomes: {
    found: "found",
    nothing: "nothing found",
    written: "written",
    grounded: "supported",
    ungrounded: "not supported",
    answers: "answers",
    misses: "misses",
    rewritten: "rewritten",
    exhausted: "no more tries",
    delivered: "ready",
    helpful: "helps",
    unhelpful: "does not help",
    wanted: "wanted",
    proposed: "proposed",
  },

  // What people say to an answer
  yourWord: "Your word on this answer",
  starterCode: "Starter code",
  saveFile: "Save as a file",
  starterByRules: "Made from the card, on this machine",
  starterTooLittle: "The card holds too little for starter code.",
  doesHelp: "Does this help?",
  helps: "Yes, this helps",
  notInMyLibrary: "Not in my library",
  use: "What will you use it for?",
  wrong: "What is wrong with it?",
  useHint: "e.g. put the team's deadlines into a shared calendar",
  wrongHint: "e.g. it has to work without an account",
  writeStarter: "Write starter code",
  searchAgain: "Search again without it",
  writing: "Writing…",
  searching: "Searching…",
  savedAs: (place: string) => `Saved as ${place}`,
  helpsSaid: (said: string) => `This helps${said ? `: ${said}` : ""}`,
  writtenBy: (model: string) => `Written by ${model}`,

  // Asked before
  askedBefore: "Asked before",
} as const;
