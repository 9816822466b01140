// Texts of the search in Settings.

import { count } from "../../lib/format";

export const settingsSearch = {
  box: "Search settings",
  results: "Matching settings",
  found: (n: number) => count(n, "match", "matches"),
  none: (query: string) => `No setting matches “${query}”.`,
  noneAbout: "Try another word, or press Esc to browse the groups.",
  place: (group: string, section?: string) => (section ? `${group} › ${section}` : group),
  needsAttention: "needs attention",
  sectionsOf: (group: string) => `Sections of ${group}`,

  /** Words that people look for and that no label contains, by section and by control. */
  words: {
    look: "dark mode night colors display",
    textSize: "zoom scale font larger smaller bigger big small display",
    state: "doctor health repair status problems privacy tracking version",
    llm: "ai gpt chatgpt claude local provider api",
    search: "internet engine google browse",
    keys: "secrets passwords credentials tokens",
    models: "vectors semantic offline languages download",
    prompts: "instructions templates system",
    agents: "mcp connect claude cursor codex vscode copilot",
    servers: "tools add trust",
    market: "marketplace store catalog install",
    permissions: "approvals security access sandbox whitelist allowlist",
    apiKeys: "tokens secrets credentials authentication oauth password",
    checks: "schedule automatic verification links outdated",
    review: "approve reviewers proposals",
    pages: "docs crawl fetch download",
    vocabulary: "aliases acronyms dictionary glossary thesaurus",
    personalization: "learning history feedback ranking privacy",
    bundles: "signing keys signatures fingerprint trust",
    backups: "restore recovery snapshot export",
    network: "firewall connection internet offline",
    sessions: "context window limits budgets timeout",
    endpoint: "http server url localhost",
    token: "token rotate revoke secret password",
    secret: "token secret password credentials",
    allowedHosts: "whitelist allowlist localhost private intranet ip",
    proxy: "vpn corporate http",
    spending: "budget cap cost money usage",
    price: "cost money",
    interval: "schedule frequency daily weekly",
    scopes: "allow deny ask rules",
  },
};
