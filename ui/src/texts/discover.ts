// Texts of Discover: searching the web, and findings.

import { count } from "../lib/format";

export const discover = {
  // Search
  where: { web: "Tools", research: "Research", market: "Registries", documents: "Documents", code: "Code" },
  need: "What tool do you need?",
  searchSources: "Search registries",
  whereToLook: "Search in",
  looking: "Searching the web",
  nothingFound: "No suitable tool found",
  noSearch: "No search service configured",
  noSearchAbout:
    "Web search needs a service. DuckDuckGo works without an API key; Tavily, Brave and your own SearXNG instance are supported too. Nothing leaves this computer until you choose one.",
  chooseSearch: "Choose a search service",
  candidates: "Candidates",
  notGoodEnough: "Rejected candidates",
  about:
    "Each result quotes the sentences that support it. Adding one creates a proposal in Review; nothing goes straight into your library.",
  found: (n: number) => `${count(n, "tool")} found`,
  searchesWith: (search: string, llm: string | null | undefined) =>
    `Searches with ${search}. ${llm ? `${llm} reads and ranks the pages` : "Without a language model, pages are judged by local rules"}.`,
  fromPages: (n: number) => `from ${count(n, "page")} read`,
  nothingFoundAbout: (n: number) =>
    `${count(n, "page")} read. Try naming the product or its technology, or add a card by hand.`,
  unread: (n: number, of: number) =>
    n === of && n > 1 ? `None of ${count(of, "page")} could be read` : `${n} of ${count(of, "page")} couldn't be read`,
  partlyUnread: (n: number) => `${count(n, "page")} couldn't be read.`,
  dismissed: (n: number) => `Rejected candidates (${n})`,

  // Findings
  sureHint: "Confidence that this tool fits your request",
  proposed: "Proposed, pending review",
  accepted: "Added to the library",
  turnedDown: "Rejected in Review",
  looksLike: "Looks like",
  waits: (name: string) => `${name} is pending review`,
} as const;
