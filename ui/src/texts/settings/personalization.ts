import { count } from "../../lib/format";

export const personalization = {
  about:
    "Search learns from the answers you rate, the tools agents call after they find them, and the cards you edit after they were found. It happens on this computer, and what was learned is used only if it ranks your own past questions better.",
  enabled: "Personalize search results",
  none: "Nothing to learn from yet. Rate answers with Yes or No, or connect an agent.",
  profiles: "Profiles",
  collecting: (questions: number, needed: number) => `${questions} of ${needed} different questions collected`,
  state: {
    waiting: "Ready to learn",
    not_better: "Not in use: no improvement on past questions",
    in_use: "In use",
  },
  from: (ratings: number, calls: number, edits: number) => {
    const parts = [count(ratings, "rating"), count(calls, "call"), count(edits, "edit")];
    const some = parts.filter((_, at) => [ratings, calls, edits][at]! > 0);
    if (!some.length) return "Nothing yet";
    return `From ${new Intl.ListFormat("en", { type: "conjunction" }).format(some)}`;
  },
  comparison: (questions: number, better: number, worse: number) =>
    `Of ${count(questions, "past question")}, the right tool ranks higher for ${better} and lower for ${worse}`,
  learn: "Learn now",
  learning: "Learning…",
  export: "Export",
  exportOf: (profile: string) => `Export ${profile}`,
  reset: "Reset",
  resetOf: (profile: string) => `Reset ${profile}`,
  resetAll: "Reset everything",
  resetAllText: "Search forgets what it learned for every profile and starts over. Your ratings are kept.",
  resetTitle: "Reset what was learned?",
  resetText: (profile: string) =>
    `Search forgets what it learned for ${profile} and starts over. Your ratings are kept.`,
};
