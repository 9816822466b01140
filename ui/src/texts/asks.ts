// Texts of calls that wait for a person's approval.

export const asks = {
  // Answers
  replies: {
    once: { name: "Allow once", about: "This call, and no other" },
    no: { name: "Deny", about: "Not this call; the agent is told so" },
    session: { name: "Allow for this session", about: "This and later calls of this session that need the same" },
    always: { name: "Always allow", about: "From now on; kept in Settings, Permissions" },
    never: { name: "Never allow", about: "From now on; kept in Settings, Permissions" },
  },
  unnamed: "A program without a name",
  allAgents: "all agents",
  inProfile: (program: string, profile: string) => `${program} (profile ${profile})`,
  agentsOf: (profile: string) => `all agents of the profile ${profile}`,
  said: (who: string, tool: string, provider: string, needs: string) =>
    `${who} wants to call ${tool}${provider ? ` of ${provider}` : ""} and needs your approval ${needs}. Press F6 to answer.`,
  and: (words: string[]) => words.join(" and "),

  // The card of a call
  wantsToCall: "wants to call",
  of: "of",
  needsYourApproval: "Needs your approval",
  noArguments: "It is called without arguments.",
  firstOf: (n: number) => `1 of ${n}`,
  refusedIn: { before: "Refused in", after: (whom: string) => `if nobody answers. Always and never hold for ${whom}.` },
  toAndFrom: "to and from this card.",
} as const;
