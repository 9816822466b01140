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
      "Add PDF, DOCX, HTML, Markdown or text. They are read on this machine, kept up to date, and cited with page and heading. Agents you connect can search them too.",
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
  nothing: "Nothing fits",
  nothingAbout: (searched: number) => `${count(searched, "passage")} searched. Try other words.`,
  found: (n: number) => `${count(n, "result")}`,
  page: (n: number) => `page ${n}`,
  lines: (from: number, to: number) => (from === to ? `line ${from}` : `lines ${from}–${to}`),
  callers: (n: number) => `Called by ${n >= 10 ? "10 or more" : count(n, "function")}`,
  files: (n: number) => count(n, "file"),
  passages: (n: number, code: boolean) => count(n, code ? "symbol" : "piece"),
  byWords: (n: number) => `${n} found by words only`,
  readAt: (at: string | null) => (at ? `read ${ago(at)}` : "not read to the end yet"),
  readAgain: "Read again",
  createCards: "Create cards…",
  toolsOf: (location: string) => `Public functions and commands of ${location} without a card`,
  noTools: "No documented public function or command without a card. Packages are known by their manifest.",
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
