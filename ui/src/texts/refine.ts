// Texts of trial calls, which refine the documentation of a tool.

export const refine = {
  title: "Refine documentation",
  about:
    "Calls the tool with typical, boundary and invalid values, and compares its responses with this card. What differs becomes a proposal in Review, with the calls as evidence.",
  mayChange: "Some calls may modify data. Only continue with a test account or data that may change.",
  allowChanges: "Include calls that may modify data",
  start: "Start trial calls",
  preview: "Preview calls",
  calls: (n: number) => (n === 1 ? "1 call" : `${n.toLocaleString("en")} calls`),
  more: (n: number) => `and ${n.toLocaleString("en")} more`,
  adapts: "Later calls can depend on earlier responses.",
  asks: "Trial calls need your approval",
  allow: "Allow and start",
  cancel: "Don't start",
  started: "Trial calls are running. The proposal appears in Review.",
} as const;
