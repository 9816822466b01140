// Texts of agent calls that wait for approval.

export const approvals = {
  // Answers
  replies: {
    once: { name: "Allow once", about: "This call only" },
    no: { name: "Deny", about: "Reject this call and tell the agent" },
    session: {
      name: "Allow for this session",
      about: "This and later calls in this session that need the same permissions",
    },
    always: { name: "Always allow", about: "From now on. Saved in Settings, Permissions" },
    never: { name: "Never allow", about: "From now on. Saved in Settings, Permissions" },
  },
  unnamed: "Unnamed client",
  allAgents: "all agents",
  inProfile: (program: string, profile: string) => `${program} (profile ${profile})`,
  agentsOf: (profile: string) => `all agents with profile ${profile}`,
  said: (who: string, tool: string, provider: string, needs: string, shortcut: string) =>
    `${who} wants to call ${tool}${provider ? ` from ${provider}` : ""} and needs your approval ${needs}. Press ${shortcut} to respond.`,
  and: (words: string[]) => words.join(" and "),

  // Card of a call
  wantsToCall: "wants to call",
  of: "from",
  needsYourApproval: "Needs your approval",
  noArguments: "Called without arguments.",
  firstOf: (n: number) => `1 of ${n}`,
  refusedIn: {
    before: "Denied in",
    after: (whom: string) => `if no one responds. “Always” and “Never” apply to ${whom}.`,
  },
  toAndFrom: "moves focus to and from this request.",
} as const;
