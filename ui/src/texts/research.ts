// Texts of research in Discover.

import { count } from "../lib/format";

export const research = {
  question: "What do you want to know?",
  start: "Research",
  running: "Researching",
  answer: "Answer",
  sources: "Sources",
  noAnswer: "No answer found",
  noAnswerAbout: "These are the closest passages. Search further, or ask in other words.",
  nothingRead: "Nothing relevant found. Search further, or ask in other words.",
  stopped: "Stopped before the end. What was found so far is kept.",
  about:
    "Searches your library, documents and code, then the web, in several rounds. Every sentence of the answer is a quote with its source. What your documents and code say is not sent to any service.",
  offlineAbout: "Your library, documents and code are searched. Choose a search service to include the web.",
  outdated: "from an outdated page",
  furtherPassages: (n: number) => `Other passages (${n})`,
  resume: "Resume",
  further: "Search further",
  result: (pages: number, rounds: number, model: string | null) =>
    `${count(pages, "page")} read in ${count(rounds, "round")} · passages chosen by ${model ?? "local rules"}`,
  local: "Answered from this computer, without the web",
  kinds: { library: "Library", documents: "Document", code: "Code", web: "Web" },
} as const;
