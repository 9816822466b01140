// Texts of Settings as a whole, and of its sections with few texts of their own.

export const general = {
  // Sections
  themes: { system: "As the system", light: "Light", dark: "Dark" },
  sections: {
    llm: "Language model",
    search: "Web search",
    network: "Network",
    keys: "Keys",
    prompts: "Prompts",
    agents: "Agents",
    servers: "MCP servers",
    market: "Marketplace",
    permissions: "Permissions",
    sessions: "Sessions",
    apiKeys: "Keys for web APIs",
    pages: "Documentation pages",
    checks: "Checks",
    review: "Review policy",
    bundles: "Bundles",
    models: "Embedding model",
    look: "Appearance",
    state: "Diagnostics",
  },

  // Saving
  notSavedYet: "Not saved yet",
  savedNow: "Saved, in use from now on",

  // Documentation pages
  pagesAbout:
    "Pages of cards are read so that answers can cite them and are found by what stands there. Only the addresses on your cards are asked; how far it is stands at the bottom of the window.",
  readPages: "Read documentation pages",
  alsoRecent: "Also those read within a day",

  // Checks
  checkedOnAsking: "Cards are checked only when you ask for it.",
  checksAbout:
    "A check reads a card's page and compares what it says with the card. Nothing changes by itself: what should change waits in Review.",
  checkCardsEvery: "Check cards every",
  daysOrNever: "days (0 for never)",
  giveDays: "Give whole days, 0 to 3650.",
  checkNewCards: "Check new cards soon after they were added, imported or accepted",
  checkedEvery: (days: number) =>
    `A card is checked again ${days === 1 ? "a day" : `${days} days`} after its last check.`,

  // Review policy
  policyAbout:
    "Nothing changes a card unless a reviewer accepts it. Where two have to agree, the second one needs another name.",
  reviewers: "Reviewers who have to accept a proposal",
  yourName: "Your name as a reviewer",
  yourNameHint: "Your name on this machine",

  // Diagnostics
  goOnWithout: "Go on without what is missing",
  checking: "Checking…",
  verifying: "Verifying…",
  verify: "Verify the library",
  noTelemetry: "No telemetry: nothing leaves this machine but what you ask of the services chosen here.",

  // Backups
  backups: "Backups",
  backupsAbout: "One is made each day there are changes; the newest seven are kept.",
  restoreCommand: "the command that restores it",
  restoreAbout:
    "To restore one, close AutoKit and run its command in a terminal. The library as it is now is kept beside the backups.",
  noBackupsYet: "No backups yet.",
  backingUp: "Backing up…",
  backUpNow: "Back up now",
} as const;
