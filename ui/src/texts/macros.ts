// Texts of macros: one tool made of recorded calls.

import { count } from "../lib/format";

export const macros = {
  title: "Create a tool from calls",
  about:
    "Select the first call of a sequence; the later calls of its session are included. Values that one call passes to the next are linked; all other inputs become optional arguments. The tool is then pending review.",
  repeated: (times: number) => `repeated ${count(times, "time")}`,
  createRepeated: (names: string) => `Create a tool: ${names}`,
  create: "Create tool",
  createOf: (n: number) => `Create tool from ${count(n, "call")}`,
  name: "Name",
  namePlaceholder: "e.g. films_of_director",
  clear: "Clear selection",
  uses: (names: string) => `uses the result of ${names}`,
  select: (name: string, when: string) => `${name}, ${when}`,
  proposed: (name: string) => `${name} is pending review`,
  then: ", then ",
} as const;
