// Texts of descriptions of one tool that compete.

import { count, percent } from "../lib/format";

export const variants = {
  title: "Compare descriptions",
  about:
    "Agents are given one of the descriptions in each session, and the outcome of their calls is counted. One that mostly fails, or is almost certainly worse, is withdrawn.",
  own: "Current",
  other: (number: number) => `Alternative ${number}`,
  rate: "Success rate",
  calls: (n: number) => count(n, "call"),
  between: (low: number, high: number) => `${percent(low)} to ${percent(high)}`,
  withdrawn: { fails: "Withdrawn: calls fail", worse: "Withdrawn: another is better", person: "Withdrawn" },
  withdraw: "Withdraw",
  restore: "Use again",
  propose: "Propose",
  proposeHint: "Ends the comparison and proposes this description in Review",
  end: "End comparison",
  another: "Another description",
  add: "Compare",
  proposed: "Description proposed, pending review",
} as const;
