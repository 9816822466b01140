// Texts of agent session settings: limits and the reasons for their defaults.

export const sessions = {
  // Limits
  limits: {
    results: { name: "Results per search", why: "more would fill the context in one search" },
    threshold: { name: "Minimum match score", why: "below it, the best match usually doesn't fit" },
    rerank: {
      name: "Reranking time limit (milliseconds)",
      why: "agents wait this long for the language model at most; 0 turns reranking off",
    },
    replyTokens: { name: "Tokens per response", why: "longer results are truncated with a note" },
    listedTokens: {
      name: "Tokens for loaded tools",
      why: "beyond this, older tools are listed without descriptions",
    },
    capacity: {
      name: "Loaded tools per session",
      why: "sessions typically use 5 to 8; the rest leaves room for a change of topic",
    },
    ttl: { name: "Evict unused tools after (minutes)", why: "long enough to keep a tool loaded during a task" },
    preload: {
      name: "Preloaded tools per session",
      why: "off. A number loads that many tools used in past sessions when a session starts; Activity estimates the effect",
    },
    fullContext: {
      name: "Tool budget when the context is full (%)",
      why: "fewer tools stay loaded as results fill the context; 100 turns it off",
    },
    contextTokens: { name: "Context window (tokens)", why: "the minimum of common models" },
    reservedTokens: {
      name: "Reserved for everything but tools (tokens)",
      why: "leaves 16,000 tokens for tools",
    },
    repeats: { name: "Stop after identical calls", why: "two may be a retry, three are a loop" },
    window: { name: "Loop detection window (seconds)", why: "later, the same call may be intended" },
    failures: { name: "Stop after identical failed calls", why: "connection failures may be retried, but not forever" },
  },
  nameProgram: "Enter a name for each client.",
  groups: { searches: "Searches", tools: "Tools", tokens: "Tokens", loops: "Loops" },
  outOfRange: (name: string, min: number, max: number) =>
    `${name}: enter a number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}.`,
  programTwice: (name: string) => `The client ${name} is listed twice.`,
  giveTokens: (name: string) => `Enter a whole number of tokens for ${name}.`,

  // The form
  about:
    "A session keeps the tools an agent has loaded, within limits that protect its context window. Changes apply immediately, including to running sessions.",
  exempt: "Tools exempt from loop detection, one per line",
  programs: "Clients",
  programsAbout:
    "Tool token budgets by client, matched by part of the client's name. Other clients use the limits above.",
  programHint: "claude",
  addAProgram: "Add client",
  resetAll: "Reset to defaults…",
  resetTitle: "Reset session settings?",
  resetYes: "Reset",
  resetAbout: "All limits, the exempt tools and the budgets by client return to their defaults.",
  defaultOf: (value: string, why: string) => `Default ${value}: ${why}`,
  exemptWhy: "they report changing state",
  program: (n: number) => `Client ${n}`,
  tokensOf: (program: string) => `Tokens for ${program}`,
  programNth: (n: number) => `client ${n}`,
  remove: (program: string) => `Remove ${program}`,
} as const;
