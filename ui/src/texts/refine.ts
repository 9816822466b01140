// Texts of trial calls, which refine the documentation of a tool.

export const refine = {
  title: "Refine documentation",
  about:
    "Calls the tool with typical, boundary and invalid values, and compares its responses with this card. What differs becomes a proposal in Review, with the calls as evidence.",
  mayChange: "Calls may change something. Only continue with a test account or data that may change.",
  allowChanges: "Allow calls that may change something",
  start: "Start trial calls",
  preview: "Preview calls",
  calls: (n: number) => (n === 1 ? "1 call" : `${n.toLocaleString("en")} calls`),
  more: (n: number) => `and ${n.toLocaleString("en")} more`,
  adapts: "Responses may lead to other calls.",
  asks: "Trial calls need your approval",
  allow: "Allow and start",
  cancel: "Don't start",
  started: "Trial calls are running. The proposal appears in Review.",
} as const;
