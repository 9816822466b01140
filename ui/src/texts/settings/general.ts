// Texts of Settings in general, and of sections with only a few texts.

import { count } from "../../lib/format";

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
    team: "Team",
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
    libraries: "Searched libraries",
    team: "Team library",
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
  policyOfTeam: "In a team's library, the team's policy applies.",
  openPolicyOfTeam: "Open team settings",
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
  noTelemetry: "No telemetry. Data leaves this computer only for the services you configure here.",

  // Backups
  backupsAbout: "AutoKit makes a backup once a day when there are changes, and keeps the newest seven.",
  restoreAsk: "Restore…",
  restoreOf: (made: string) => `Restore the backup of ${made}`,
  restore: "Restore",
  restoring: "Restoring…",
  restoringAbout: "Restoring the library. Other actions resume when it reopens.",
  lookingInside: "Comparing the backup with the library…",
  backupDamaged: "This backup is damaged and can't be restored",
  nothingDiffers: "The cards in the backup are the same as in the library.",
  cardsComeBack: (n: number) => `${count(n, "card")} will be added back`,
  cardsGo: (n: number) => `${count(n, "card")} will be removed`,
  cardsChange: (n: number) => `${count(n, "card")} will change back`,
  andMore: (n: number) => `and ${n.toLocaleString("en")} more`,
  changesUndone: (n: number) =>
    n ? `Undoes ${count(n, "change")} made since the backup` : "No changes were made since the backup",
  proposalsInBackup: (n: number) =>
    n
      ? `Review will contain the ${count(n, "pending proposal")} of the backup`
      : "Review will be empty: the backup has no pending proposals",
  currentIsKept: "The current library is kept next to the backups, in a new folder in",
  noBackupsYet: "No backups yet.",
  backingUp: "Backing up…",
  backUpNow: "Back up now",
} as const;
