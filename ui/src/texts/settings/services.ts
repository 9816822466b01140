// Texts of Settings: language model, web search, network, prompts, embedding model.

export const services = {
  // Services
  llms: {
    none: { name: "None", about: "Rules on this machine" },
    anthropic: { name: "Anthropic", about: "Claude, with a key" },
    openai: { name: "OpenAI-compatible", about: "OpenAI, Ollama, LM Studio, OpenRouter, …" },
  },
  searches: {
    none: { name: "None", about: "The library alone" },
    duckduckgo: { name: "DuckDuckGo", about: "No key" },
    searxng: { name: "SearXNG", about: "An instance of your own" },
    tavily: { name: "Tavily", about: "With a key" },
    brave: { name: "Brave", about: "With a key" },
  },
  keys: {
    anthropic: "Anthropic",
    openai: "the OpenAI-compatible service",
    tavily: "Tavily",
    brave: "Brave Search",
    github: "GitHub",
  },

  // Language model
  llm: "Language model",
  noLlmAbout: "Everything works without one: cards are ranked by words and meaning, pages judged by rules.",
  knownServices: "Known services",
  addressHint: { anthropic: "https://api.anthropic.com", openai: "https://…/v1" },
  model: "Model",
  modelAbout: "Writes answers and looks on the web",
  modelHint: { anthropic: "claude-sonnet-4-5", local: "qwen3", openai: "gpt-4.1" },
  smallModel: "Small model",
  smallModelAbout: "Ranks, grades and rewrites",
  theSame: "the same",
  priceIn: "Input price ($ per 1M tokens)",
  notKnown: "not known",
  priceOut: "Output price ($ per 1M tokens)",
  limit: "Spending limit ($)",
  noLimit: "no limit",
  toolCalls: "The model can call tools",
  noNumber: "An amount is not a number.",
  resetSpent: "Start again at $0",
  address: "Address",
  addressOrAnthropic: "Address (empty for Anthropic's own)",
  spent: ([read, written]: [number, number], spent: string, limit: string | null) =>
    `So far: ${read.toLocaleString("en")} tokens read, ${written.toLocaleString("en")} written, ${spent} spent${limit === null ? "" : ` of ${limit}`}.`,

  // Web search
  searchService: "Search service",
  searxngHint: "http://127.0.0.1:8888",
  preferred: "Look there first",
  preferredHint: "e.g. LangChain; empty for nowhere",
  privatePages: "Pages on this machine or in a private network are read only if their host is allowed under Network.",
  askGithub: "Ask GitHub for facts about repositories: stars, licence, last change",
  search: "Search",
  github: "GitHub",
  addressOrOwn: "Address (empty for the service's own)",

  // Testing
  saveAndTest: "Save and test",
  testConnection: "Test connection",
  trying: "Trying…",

  // Network
  networkAbout:
    "Pages of the open web may be read. This machine and private networks may not, except for the hosts named here.",
  allowedHosts: "Allowed hosts, one to a line",
  proxy: "Proxy (empty for none)",
  proxyHint: "http://proxy.example:3128",

  // Prompts
  promptsAbout:
    "What language models are told. Words of your own replace the shipped ones; nothing is used without a language model.",
  yourOwn: "your own",
  notSaved: "not saved",
  slots: "Slots:",
  backToShipped: "Back to the shipped one",
  differenceLabel: "Difference to the shipped prompt",
  difference: "Difference to the shipped one",
  prompt: (name: string) => `Prompt ${name}`,

  // Embedding model
  modelStates: {
    ready: "In use",
    loading: "Loading…",
    missing: "Chosen, not on this machine",
    failed: "Chosen, does not load",
  },
  embeddingAbout:
    "Searching by meaning runs on this machine. Switching makes new vectors in the background; the present model serves until they are ready.",
  notHere: "Not on this machine",
  download: "Download",
  use: "Use",
  fromFolder: "From a folder…",
  folderOf: (name: string) => `Folder with the files of ${name}`,
  numbers: (n: number) => `${n} numbers`,
  keptIn: (place: string) => `Kept in ${place}`,
} as const;
