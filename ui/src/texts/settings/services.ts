// Texts of Settings: language model, web search, network, prompts, and embedding model.

import { count } from "../../lib/format";

export const services = {
  // Services
  llms: {
    none: { name: "None", about: "Local rules only" },
    anthropic: { name: "Anthropic", about: "Claude, needs an API key" },
    openai: { name: "OpenAI-compatible", about: "OpenAI, Ollama, LM Studio, OpenRouter, …" },
  },
  searches: {
    none: { name: "None", about: "Library only" },
    duckduckgo: { name: "DuckDuckGo", about: "No API key needed" },
    searxng: { name: "SearXNG", about: "Your own instance" },
    tavily: { name: "Tavily", about: "Needs an API key" },
    brave: { name: "Brave", about: "Needs an API key" },
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
  noLlmAbout: "Optional. Without one, search is keyword and semantic, and pages are judged by local rules.",
  knownServices: "Presets",
  addressHint: { anthropic: "https://api.anthropic.com", openai: "https://…/v1" },
  model: "Model",
  modelAbout: "Writes answers and searches the web",
  modelHint: { anthropic: "claude-sonnet-4-5", local: "qwen3", openai: "gpt-4.1" },
  smallModel: "Small model",
  smallModelAbout: "Ranks, grades and rewrites queries",
  theSame: "same as above",
  priceIn: "Input price ($ per 1M tokens)",
  notKnown: "unknown",
  priceOut: "Output price ($ per 1M tokens)",
  limit: "Spending limit ($)",
  noLimit: "no limit",
  toolCalls: "The model supports tool calls",
  noNumber: "Enter an amount, such as 2.50.",
  noModel: "Enter a model.",
  listModels: "List models…",
  modelsOffered: (n: number) => `${count(n, "model")} available`,
  chooseModel: "Choose a model",
  noModelsOffered: "The service lists no models. Enter the name yourself.",
  resetSpent: "Reset to $0",
  address: "URL",
  noAddress: "Enter a URL starting with http:// or https://.",
  useService: (service: string) => `Use ${service}`,
  notInUseYet: "Nothing changes until then.",
  addressOrAnthropic: "URL (defaults to Anthropic's API)",
  spent: ([read, written]: [number, number], spent: string, limit: string | null) =>
    `Used so far: ${read.toLocaleString("en")} input tokens, ${written.toLocaleString("en")} output tokens, ${spent}${limit === null ? "" : ` of ${limit}`}.`,

  // Web search
  searchService: "Search service",
  searxngHint: "http://127.0.0.1:8888",
  preferred: "Preferred sources",
  preferredHint: "e.g. LangChain, npm (in this order)",
  githubAddress: "GitHub API URL (GitHub Enterprise)",
  githubDefault: "https://api.github.com",
  privatePages: "Pages on this computer or private networks are read only if their host is allowed under Network.",
  askGithub: "Look up repository details on GitHub: stars, license, last update",
  search: "Search",
  github: "GitHub",
  addressOrOwn: "URL (defaults to the service's own)",

  // Testing
  testConnection: "Test connection",
  trying: "Testing…",

  // Network
  networkAbout:
    "Public web pages can be read. This computer and private networks are blocked, except for the hosts listed here.",
  allowedHosts: "Allowed hosts, one per line",
  proxy: "Proxy (optional)",
  proxyHint: "http://proxy.example:3128",

  // Prompts
  promptsAbout:
    "Prompts sent to the language model. Your edits replace the built-in ones. Unused without a language model.",
  /** When each prompt is used, by its name. */
  promptUses: {
    rerank: "Ranks candidates for a question, with reasons",
    score: "Ranks candidates for an agent's search",
    answer: "Writes an answer from cards in your library",
    grade: "Checks whether an answer answers the question",
    rewrite: "Rephrases a question that found nothing suitable",
    describe: "Fills in a card from a text, such as a README",
    discover: "Searches the web for tools",
    verify: "Compares a card with its documentation page",
    repair: "Finds the documentation page of a card whose link is broken",
    improve: "Proposes a better description and missing fields",
    refine_explore: "Makes up trial calls of a tool",
    refine_analyze: "Compares the response to a trial call with the card",
    refine_rewrite: "Rewrites a card after trial calls",
    research: "Picks passages that answer a question, and the next search",
    tool_specify: "Specifies a tool that is to be written",
    tool_write: "Writes the specified tool and its tests",
    starter: "Writes starter code for a tool",
  } as Record<string, string>,
  yourOwn: "customized",
  notSaved: "unsaved",
  slots: "Variables:",
  backToShipped: "Reset to default",
  differenceLabel: "Changes from the default prompt",
  difference: "Changes from default",
  prompt: (name: string) => `Prompt ${name}`,

  // Embedding model
  modelStates: {
    ready: "In use",
    loading: "Loading…",
    missing: "Selected, not downloaded",
    failed: "Selected, failed to load",
  },
  embeddingAbout:
    "Semantic search runs on this computer. Switching models re-embeds the library in the background; the current model stays in use until it's done.",
  notHere: "Not downloaded",
  download: "Download",
  use: "Use",
  fromFolder: "From a folder…",
  folderOf: (name: string) => `Folder with ${name} model files`,
  numbers: (n: number) => `${n} dimensions`,
  keptIn: (place: string) => `Stored in ${place}`,
} as const;
