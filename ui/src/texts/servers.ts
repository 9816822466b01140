// Texts of MCP servers: the list, the form, and its validation.

import { count } from "../lib/format";

export const servers = {
  // List
  about:
    "Tools from these servers become cards. Agents find them by searching and call them through AutoKit. Tools you haven't accepted in Review can't be called.",
  servers: "MCP servers",
  noServers: "No MCP servers yet",
  noServersAbout: "Add one you already use. Agents will load its tools only when they need them.",
  addAsk: "Add server…",
  removeTitle: "Remove this server?",
  removed: (name: string) => `Removed ${name}; its cards stay`,
  removeAbout: (keys: boolean) =>
    `will be stopped and removed${keys ? ", along with its keys" : ""}. Its tools' cards stay in the library but can't be called.`,

  // Server
  running: "running",
  notRunning: "stopped",
  trusted: "trusted",
  in: "in",
  noTools: "no tools in the library yet",
  notLookedAt: "not scanned yet",
  isGiven: "with",
  seeWaiting: "Show pending tools in Review",
  looking: "Scanning…",
  changeAsk: "Edit…",
  lookedAt: (when: string) => `scanned ${when}`,
  leftOut: (n: number) => `${count(n, "tool")} skipped`,
  waiting: (n: number) => `${count(n, "tool")} pending review`,
  lookingAt: (name: string) => `Scanning ${name}`,
  lookAgainAt: (name: string) => `Refresh ${name}`,
  change: (name: string) => `Edit ${name}`,
  remove: (name: string) => `Remove ${name}`,

  // Form
  transports: {
    stdio: { name: "Local command (stdio)", about: "Started on this computer when needed" },
    http: { name: "Remote (HTTP)", about: "Reached over the network (Streamable HTTP)" },
  },
  add: "Add MCP server",
  nameHint: "files",
  transport: "Transport",
  program: "Command",
  programHint: "npx",
  folder: "Working directory",
  folderHint: "Defaults to your home folder",
  arguments: "Arguments, one per line",
  address: "URL",
  addressHint: "https://mcp.example.org/mcp",
  valuesKept: "Saved values can't be shown. Enter each again, or remove it.",
  trust: "Trust this server",
  trustedAbout: "Its tools are added without review, now and whenever they change. Agents can use them immediately.",
  untrustedAbout: "Its tools go to Review, now and whenever they change. Agents can call only what you accept.",
  lookedAtAbout: "AutoKit will connect to it and list its tools.",

  // Headers and variables
  header: "header",
  variable: "variable",
  headers: "Request headers",
  variables: "Environment variables",
  headerHint: "Authorization",
  variableHint: "API_KEY",
  valueOptional: "Value (optional)",
  value: "Value",
  secretsAbout: "Stored like API keys and never shown again.",
  nameOf: (one: string, n: number) => `Name of ${one} ${n}`,
  valueOf: (name: string) => `Value of ${name}`,
  addOne: (one: string) => `Add a ${one}`,
  nth: (one: string, n: number) => `${one} ${n}`,

  // Validation
  missing: {
    name: "Enter a server name.",
    goodName: "Server names can have up to 40 letters, digits, spaces, dots, - and _.",
    program: "Enter the command that starts the server.",
    address: "Enter a URL starting with http:// or https://.",
    otherName: (name: string) => `A server named ${name} already exists. Edit that one or choose another name.`,
    secretName: (one: string) => `Enter a name for each ${one}.`,
    secretTwice: (one: string, name: string) => `The ${one} ${name} is listed twice.`,
    secretValue: (name: string) => `Enter a value for ${name} or remove it.`,
  },
} as const;
