// Texts of sessions of agents: their limits and the reasons of them.

export const sessions = {
  // Limits
  limits: {
    results: { name: "Results of a search", why: "more would fill the context by one search" },
    threshold: { name: "Minimum match score", why: "below it, the best card is usually one that does not fit" },
    replyTokens: { name: "Tokens of one answer", why: "results beyond are shortened, which the answer says" },
    listedTokens: {
      name: "Tokens of found tools in the list",
      why: "beyond, those found earlier are listed without explanations",
    },
    capacity: {
      name: "Tools a session keeps",
      why: "sessions settle at 5 to 8; the rest is room for a change of subject",
    },
    ttl: { name: "Minutes until an unused tool goes", why: "longer than one task, shorter than a day" },
    contextTokens: { name: "Tokens a model can read", why: "what common models offer at least" },
    reservedTokens: {
      name: "Tokens kept for everything but tools",
      why: "leaves 16,000 of what it can read for tools",
    },
    repeats: { name: "Stop after identical calls", why: "two may be a retry, three are none" },
    window: { name: "Seconds within which they count", why: "later, the same call may well be meant" },
    failures: { name: "Same calls that failed on their way", why: "to try again is right then, though not forever" },
  },
  nameProgram: "Name each program that has tokens of its own.",
  groups: { searches: "Searches", tools: "Tools", tokens: "Tokens", loops: "Loops" },
  outOfRange: (name: string, min: number, max: number) =>
    `${name}: give a number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}.`,
  programTwice: (name: string) => `The program ${name} is there twice.`,
  giveTokens: (name: string) => `Give the tokens of ${name} as a whole number.`,

  // The form
  about:
    "A session keeps the tools an agent found, within limits, so that they do not fill what its model can read. A change holds at once, also for sessions that run.",
  exempt: "Tools that may be called the same way as often as one likes, one to a line",
  programs: "Programs",
  programsAbout:
    "Tokens for the tools of a program, by a part of the name it gives itself. Others have what is left of the tokens above.",
  programHint: "claude",
  addAProgram: "Add a program",
  resetAll: "Put the defaults back",
  defaultOf: (value: string, why: string) => `Default ${value}: ${why}`,
  exemptWhy: "they tell what changes",
  program: (n: number) => `Program ${n}`,
  tokensOf: (program: string) => `Tokens of ${program}`,
  programNth: (n: number) => `program ${n}`,
  remove: (program: string) => `Remove ${program}`,
} as const;
