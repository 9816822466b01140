// Texts of the marketplace: sources, search, installation, and settings.

import { count } from "../lib/format";

export const market = {
  // Sources
  kinds: { registry: "MCP registry", bundle: "Published bundle" },
  removedSource: "a removed registry",
  rated: (rating: string) => `rated ${rating}`,
  version: (version: string) => `version ${version}`,

  // Search
  asking: "Searching registries",
  nothingFits: "No matching tools in your registries",
  noSource: "No registries configured",
  noSourceAbout:
    "MCP registries and published bundles list tools you can install. Nothing leaves this computer until you add one.",
  addASource: "Add a registry",
  askingSources: "Searching registries…",
  notes: "Incomplete results",
  resultsLabel: "Registry results",
  nothingFitsAbout: "Registries match server names: try the product's name, or search the web.",
  lookClosely: "Review this card carefully",
  previewImport: "Preview import",
  results: (n: number) => `${count(n, "result")} from your registries`,
  sentTo: (registries: number) =>
    `Your query is sent to ${count(registries, "registry", "registries")}; published bundles are searched locally.`,
  resultsFor: (n: number, words: string) => `${count(n, "result")} for “${words}”`,
  fromYourSources: "from your registries",

  // Offer
  inYourLibrary: "in your library",
  hereAlready: "already installed",
  notInstalled: "not installed",
  deprecated: "deprecated",
  suspect: "flagged",
  suspectAbout: "Its descriptions contain flagged text.",
  deprecatedAbout: "The registry marks it as deprecated.",
  install: (name: string) => `Install ${name}`,
  from: (source: string) => `from ${source}`,
  functions: "Functions:",
  andMore: (n: number) => `and ${n} more`,
  addedNotLooked: (name: string) => `Added as ${name}, but its tools couldn't be listed.`,
  seeWhy: "See why",
  addedAs: (name: string) => `Added as ${name}.`,
  toolsInLibrary: "Its tools are in your library.",
  toolsWait: { before: "Its tools", link: "are pending review", after: "; agents can call the ones you accept." },
  addedLooking: (name: string, trusted: boolean) =>
    `Added as ${name}. Listing its tools${trusted ? "" : " for review"}…`,

  // Installation
  installNotes: "Before you install",
  runnerHere: ", which runs it, is installed on this computer.",
  added: (name: string) => `Added ${name}`,
  addedWaits: (name: string) => `Added ${name}; its tools are pending review`,
  installAbout: (source: string) =>
    `Nothing runs until you add it. The details below come from ${source}; check them as you would any command from the internet.`,

  // Settings
  about:
    "Registries list tools that aren't in your library. Your registry searches are sent to each of them, and so are agents' searches when the library has too few matches. Nothing is installed without your confirmation.",
  sources: "Registries",
  noSources: "No registries yet. Nothing is sent anywhere.",
  noSourcesAbout: "Add an MCP registry, such as the official one, or a published bundle.",
  addSourceForm: "Add a registry",
  address: "URL of a registry or published bundle",
  addressHint: "https://registry.modelcontextprotocol.io",
  addressAbout:
    "The operator sees what you and your agents search for. For a bundle (.toolcards) only the file is downloaded; your queries stay on this computer.",
  addSourceAsk: "Add registry…",
  searchSources: "Search registries",
  removeTitle: "Remove this registry?",
  removeAbout: "will no longer be searched by you or by agents. Tools installed from it stay.",
  removed: (name: string) => `Removed ${name}; tools installed from it stay`,
  remove: (name: string) => `Remove ${name}`,
} as const;
