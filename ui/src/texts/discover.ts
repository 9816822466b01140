// Texts of Discover: looking on the web, and what was found.

import { count } from "../lib/format";

export const discover = {
  // Looking
  where: { web: "On the web", market: "In your sources" },
  need: "What tool is missing?",
  searchSources: "Search the sources",
  whereToLook: "Where to look",
  looking: "Looking on the web",
  nothingFound: "Nothing suitable was found",
  noSearch: "No search service is chosen",
  noSearchAbout:
    "Looking on the web needs one. DuckDuckGo works without a key; Tavily, Brave and a SearXNG of your own are there too. Nothing leaves this machine before you choose.",
  chooseSearch: "Choose a search service",
  candidates: "Candidates",
  notGoodEnough: "Not good enough",
  about:
    "What is found comes with the sentences it rests on. Adding one makes a proposal in Review; nothing goes straight into the library.",
  found: (n: number) => `${count(n, "tool")} found`,
  searchesWith: (search: string, llm: string | null | undefined) =>
    `Searches with ${search}; ${llm ? `${llm} reads and decides` : "no language model: pages are judged by rules on this machine"}.`,
  fromPages: (n: number) => `from ${count(n, "page")} read`,
  nothingFoundAbout: (n: number) =>
    `${count(n, "page")} read. Name the product or what it is built with, or add a card by hand.`,
  dismissed: (n: number) => `Not good enough, shown for completeness (${n})`,

  // What was found
  sureHint: "How sure it is that this is a tool for the need",
  proposed: "Proposed, waits in Review",
  accepted: "Accepted as a card",
  turnedDown: "Turned down in Review",
  looksLike: "Looks like",
  waits: (name: string) => `${name} waits in Review`,
} as const;
