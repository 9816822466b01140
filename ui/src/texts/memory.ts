// Texts of searching documents and code.

import { ago, count } from "../lib/format";

export const memory = {
  documents: {
    question: "Ask your documents",
    search: "Search documents",
    add: "Add documents",
    where: "Path of a file or folder, or the address of a page",
    none: "No documents yet",
    about:
      "Add PDF, DOCX, HTML, Markdown or text. They are read on this computer, kept up to date, and cited with page and heading. Agents you connect can search them too.",
  },
  code: {
    question: "What does the function do?",
    search: "Search code",
    add: "Add code",
    where: "Path of a repository",
    none: "No code yet",
    about:
      "Add a folder with Rust, Python, TypeScript, JavaScript, Go, Java, C or C++. Functions are found by what they do and kept up to date. Agents you connect can search them too.",
  },
  sources: "Sources",
  searching: "Searching",
  nothing: "No results",
  nothingAbout: (searched: number) => `${count(searched, "passage")} searched. Try other words.`,
  found: (n: number) => `${count(n, "result")}`,
  page: (n: number) => `page ${n}`,
  lines: (from: number, to: number) => (from === to ? `line ${from}` : `lines ${from}–${to}`),
  callers: (n: number) => `Called by ${n >= 10 ? "10 or more" : count(n, "function")}`,
  files: (n: number) => count(n, "file"),
  passages: (n: number, code: boolean) => count(n, code ? "symbol" : "passage"),
  byWords: (n: number) => `${n} keyword search only`,
  readAt: (at: string | null) => (at ? `read ${ago(at)}` : "not fully read yet"),
  readAgain: "Refresh",
  createCards: "Create cards…",
  toolsOf: (location: string) => `Public functions and commands of ${location} without a card`,
  noTools:
    "Every documented public function and command already has a card. Only packages with a manifest are scanned.",
  moreTools: (n: number) => `and ${n.toLocaleString("en")} more; create cards of these first`,
  proposeTools: (n: number) => (n ? `Propose ${count(n, "card")}` : "Propose cards"),
  selectAll: "Select all",
  selectNone: "Select none",
  remove: (location: string) => `Remove ${location}`,
  removeAsk: "Remove from search?",
  removeAbout: (location: string) => `${location} is no longer searched or cited. Its files stay where they are.`,
  unreadable: (n: number) => `${count(n, "file")} could not be read`,
  more: (n: number) => `and ${n} more`,
} as const;
