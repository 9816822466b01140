// Texts of sources of tools: searching them, installing from them, and what they are in Settings.

import { count } from "../lib/format";

export const market = {
  // Sources
  kinds: { registry: "Registry of MCP servers", bundle: "Published bundle" },
  removedSource: "a source that was removed",
  rated: (rating: string) => `rated ${rating}`,
  version: (version: string) => `version ${version}`,

  // Searching
  asking: "Asking the sources",
  nothingFits: "The sources have nothing that fits",
  noSource: "No source is set up",
  noSourceAbout:
    "Registries of MCP servers and published bundles list tools that can be installed. Nothing leaves this machine before you add one.",
  addASource: "Add a source",
  askingSources: "Asking the sources…",
  notes: "What the sources did not give",
  resultsLabel: "Results from your sources",
  nothingFitsAbout: "Registries find servers by a part of their name: try the name of the product, or look on the web.",
  lookClosely: "Look closely at this card",
  previewImport: "Preview the import",
  results: (n: number) => `${count(n, "result")} from your sources`,
  sentTo: (registries: number) =>
    `Your words are sent to ${count(registries, "registry", "registries")}; published bundles are read here.`,
  resultsFor: (n: number, words: string) => `${count(n, "result")} for “${words}”`,
  fromYourSources: "from your sources",

  // An offer
  inYourLibrary: "in your library",
  hereAlready: "here already",
  notInstalled: "not installed",
  deprecated: "deprecated",
  suspect: "suspect",
  suspectAbout: "Its texts are not to be trusted.",
  deprecatedAbout: "Its source advises against it.",
  install: (name: string) => `Install ${name}`,
  from: (source: string) => `from ${source}`,
  functions: "Functions:",
  andMore: (n: number) => `and ${n} more`,
  addedNotLooked: (name: string) => `Added as ${name}, but its tools could not be looked at.`,
  seeWhy: "See why",
  addedAs: (name: string) => `Added as ${name}.`,
  toolsInLibrary: "Its tools are in the library.",
  toolsWait: { before: "Its tools", link: "wait in Review", after: ": agents can call what you accept there." },
  addedLooking: (name: string, trusted: boolean) =>
    `Added as ${name}. Its tools are looked at${trusted ? "" : " and then wait in Review"}…`,

  // Installing
  installNotes: "What to know first",
  runnerHere: ", which starts it, is on this machine.",
  added: (name: string) => `${name} was added`,
  addedWaits: (name: string) => `${name} was added; its tools wait in Review`,
  installAbout: (source: string) =>
    `Nothing is started before you add it. This is what ${source} says; look at it as you would at a command somebody sent you.`,

  // In Settings
  about:
    "Tools that are not in your library are looked for here. What you search for in your sources is sent to each registry, and so is what agents search for when the library has too little for them. Nothing is installed before you confirm it.",
  sources: "Sources of tools",
  noSources: "There is no source yet, and nothing is sent anywhere.",
  noSourcesAbout: "Add a registry of MCP servers, such as the official one, or a bundle that somebody publishes.",
  addSourceForm: "Add a source of tools",
  address: "Address of a registry, or of a published bundle",
  addressHint: "https://registry.modelcontextprotocol.io",
  addressAbout:
    "Whoever runs it sees what you and your agents search for. Of a bundle (.toolcards) only the file is fetched; your words stay here.",
  addSourceAsk: "Add a source…",
  searchSources: "Search the sources",
  removeTitle: "Remove this source?",
  removeAbout: "is not asked any more, neither by you nor by agents. What was installed from it stays.",
  removed: (name: string) => `${name} is not asked any more; what came from it stays`,
  remove: (name: string) => `Remove ${name}`,
} as const;
