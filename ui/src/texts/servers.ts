// Texts of MCP servers: the list, the form, what is missing in it.

import { count } from "../lib/format";

export const servers = {
  // The list
  about:
    "The tools of these servers become cards. Agents find them by searching, and call them through AutoKit; what you have not accepted in Review, nobody can call.",
  servers: "MCP servers",
  noServers: "There is no MCP server yet.",
  noServersAbout: "Add one you already use: agents then have its tools when they need them, and only then.",
  addAsk: "Add a server…",
  removeTitle: "Remove this server?",
  removed: (name: string) => `${name} is not reached any more; its cards stay`,
  removeAbout: (keys: boolean) =>
    `is stopped and forgotten${keys ? ", and so are its keys" : ""}. The cards of its tools stay in the library, but nobody can call them.`,

  // A server
  running: "running",
  notRunning: "not running",
  trusted: "trusted",
  in: "in",
  noTools: "no tool in the library yet",
  notLookedAt: "not looked at yet",
  isGiven: "is given",
  seeWaiting: "See in Review which of its tools wait",
  looking: "Looking…",
  changeAsk: "Change…",
  lookedAt: (when: string) => `looked at ${when}`,
  leftOut: (n: number) => `${count(n, "tool was", "tools were")} left out`,
  waiting: (n: number) => `${count(n, "tool waits", "tools wait")} in Review`,
  lookingAt: (name: string) => `Looking at ${name}`,
  lookAgainAt: (name: string) => `Look again at ${name}`,
  change: (name: string) => `Change ${name}`,
  remove: (name: string) => `Remove ${name}`,

  // The form
  transports: {
    stdio: { name: "Program", about: "Started on this machine when it is needed" },
    http: { name: "Address", about: "Reached over the network (Streamable HTTP)" },
  },
  add: "Add an MCP server",
  nameHint: "files",
  transport: "How it is reached",
  program: "Program",
  programHint: "npx",
  folder: "Folder it is started in",
  folderHint: "Empty for the home folder",
  arguments: "Arguments, one to a line",
  address: "Address",
  addressHint: "https://mcp.example.org/mcp",
  valuesKept: "Their values cannot be read back: give each again, or remove it.",
  trust: "Trust this server",
  trustedAbout:
    "Its tools come into the library without review, now and whenever they change. Agents read and call what it says at once.",
  untrustedAbout:
    "Its tools wait in Review, now and whenever they change. Agents can call what you accepted, and nothing else.",
  lookedAtAbout: "It is then started or reached, and its tools are looked at.",

  // Headers and variables
  header: "header",
  variable: "variable",
  headers: "Headers of each request",
  variables: "Variables of its environment",
  headerHint: "Authorization",
  variableHint: "API_KEY",
  valueOptional: "Value (optional)",
  value: "Value",
  secretsAbout: "Kept like keys, and never shown again.",
  nameOf: (one: string, n: number) => `Name of ${one} ${n}`,
  valueOf: (name: string) => `Value of ${name}`,
  addOne: (one: string) => `Add a ${one}`,
  nth: (one: string, n: number) => `${one} ${n}`,

  // What is missing
  missing: {
    name: "Give the server a name.",
    goodName: "Use up to 40 letters, digits, spaces, dots, - and _ for the name.",
    program: "Give the program that starts the server.",
    address: "Give the address with http:// or https://.",
    otherName: (name: string) => `There is a server called ${name} already. Change that one, or use another name.`,
    secretName: (one: string) => `Give each ${one} a name.`,
    secretTwice: (one: string, name: string) => `The ${one} ${name} is there twice.`,
    secretValue: (name: string) => `Give the value of ${name}, or remove it.`,
  },
} as const;
