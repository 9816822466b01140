// Texts of searches of all libraries: in Ask and in Settings.

import { count } from "../lib/format";

export const libraries = {
  // Ask
  all: "Search all libraries",
  allHint: (names: string[]) => `Also in: ${names.join(", ")}`,
  results: "In all libraries",
  none: "No matches in any library.",
  late: (name: string) => `Waiting for ${name}…`,
  noAnswer: (name: string) => `${name} didn't respond.`,
  failed: (name: string, why: string) => `${name} couldn't be searched: ${why}`,
  took: (libraries: number, ms: number) => `${count(libraries, "library", "libraries")} in ${ms.toFixed(0)} ms`,
  show: (name: string, library: string) => `${name}, in ${library}`,
  open: (library: string) => `Open in ${library}`,
  flagged: "Flagged",
  findInDiscover: "Find it in Discover",

  // Settings
  personal: "Personal",
  about: "When you search all libraries in Ask, the results of these are ranked together.",
  list: "Libraries",
  isOpen: "open",
  kinds: {
    personal: "Your own library",
    team: "Team",
    bundle: "Published bundle. It is downloaded, and what you search for stays on this computer.",
    registry: "Registry. What you search for is sent to it.",
  },
};
