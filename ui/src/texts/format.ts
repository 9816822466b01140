// Units of numbers and times, and names of kinds.

export const format = {
  justNow: "just now",
  kinds: {
    class: "Class",
    rest_operation: "REST operation",
    mcp_tool: "MCP tool",
    cli: "Command line",
    other: "Other",
  },
  /** Fields whose own name says too little. */
  fields: { asks_for: "Example requests" },
  seconds: (s: number | string) => `${s} s`,
  minutes: (min: number, s: number) => `${min} min ${s} s`,
  hours: (h: number, min: number) => `${h} h ${min} min`,
  milliseconds: (ms: number) => `${ms} ms`,
} as const;
