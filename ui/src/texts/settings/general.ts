// Texts of Settings in general, and of sections with only a few texts.

export const general = {
  // Sections
  theme: "Theme",
  themes: { system: "System", light: "Light", dark: "Dark" },
  textSize: "Text size",
  groups: {
    general: "General",
    services: "AI services",
    agents: "Agents & permissions",
    library: "Library & checks",
    advanced: "Advanced",
  },
  sections: {
    llm: "Language model",
    search: "Web search",
    network: "Network",
    keys: "Keys",
    prompts: "Prompts",
    agents: "Agents",
    servers: "MCP servers",
    market: "Registries",
    permissions: "Permissions",
    sessions: "Sessions",
    apiKeys: "Web API keys",
    pages: "Documentation pages",
    checks: "Checks",
    review: "Review policy",
    bundles: "Bundles",
    models: "Embedding model",
    vocabulary: "Names and synonyms",
    personalization: "Personalization",
    look: "Appearance",
    computer: "This computer",
    updates: "Updates",
    state: "Diagnostics",
    backups: "Backups",
  },

  // Documentation pages
  pagesAbout:
    "AutoKit reads the documentation pages linked from your cards so that search can use them and answers can cite them. Only URLs on your cards are fetched. Progress is shown at the bottom of the window.",
  readPages: "Read documentation pages",
  alsoRecent: "Include pages read in the last day",

  // Checks
  checkedOnAsking: "Cards are checked only when you start a check.",
  checksAbout:
    "A check compares a card with its documentation page. Nothing changes automatically: suggested changes go to Review.",
  checkCardsEvery: "Check cards every",
  daysOrNever: "days (0 for never)",
  giveDays: "Enter whole days from 0 to 3650.",
  checkNewCards: "Check new cards soon after they're added, imported or accepted",
  checkedEvery: (days: number) =>
    `Each card is checked again ${days === 1 ? "a day" : `${days} days`} after its last check.`,

  // Review policy
  policyAbout:
    "Changes to cards need a reviewer's approval. If two approvals are required, they must come from different people.",
  reviewers: "Required approvals",
  giveApprovals: "Enter a whole number from 1 to 9.",
  yourName: "Your reviewer name",
  yourNameHint: "Defaults to your user name",

  // Diagnostics
  goOnWithout: "Continue without the missing data",
  checking: "Checking…",
  verifying: "Verifying…",
  verify: "Verify the library",
  noTelemetry: "No telemetry. Data leaves this machine only for the services you configure here.",

  // Backups
  backupsAbout: "Created once a day when there are changes. The newest seven are kept.",
  restoreCommand: "restore command",
  restoreAbout:
    "To restore a backup, close AutoKit and run its command in a terminal. The current library is kept next to the backups.",
  noBackupsYet: "No backups yet.",
  backingUp: "Backing up…",
  backUpNow: "Back up now",
} as const;
