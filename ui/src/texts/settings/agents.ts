// Texts of Settings: programs agents run in, and the address for others.

export const agents = {
  // Programs
  about:
    "An agent that is connected searches this library and calls the tools it finds, instead of carrying all of them with it. Its program starts AutoKit by itself.",
  programs: "Programs",
  connected: "connected",
  notFound: "not found on this machine",
  notConnected: "not connected",
  byHand: "By hand…",
  connectAsk: "Connect…",
  disconnectAsk: "Disconnect…",
  showLines: (program: string) => `Show the lines for ${program}`,
  connect: (program: string) => `Connect ${program}`,
  disconnect: (program: string) => `Disconnect ${program}`,

  // Lines to copy
  copies: {
    lines: {
      name: "Copy the lines",
      of: (program: string) => `the lines for ${program}`,
      hint: "To paste them into its file by hand",
    },
    token: {
      name: "Copy the token",
      of: (program: string) => `the token for ${program}`,
      hint: "To paste it where a program asks for it",
    },
  },

  // Lines that change
  fates: { comes: "comes: ", goes: "goes: " },
  changedLines: "What changes in the file",

  // Connecting
  keptIn: "The file as it was is kept in",
  madeFile: "There was no file before; it was made.",
  nothingElse: "Nothing else in the file changes. A copy of it as it is now is kept beside it.",
  noFile: "There is no such file yet; it is made.",
  leavingAbout: "Its agents have none of the tools of this library from then on. Nothing is taken from the library.",
  notAmong: "AutoKit is not among its MCP servers, in",
  cannotChange: "Its file cannot be changed.",
  paste: { before: "Paste these lines into", after: "by hand:" },
  done: "Done",
  changeTheFile: "Change the file",
  isDisconnected: (program: string) => `${program} is disconnected`,
  isConnected: (program: string) => `${program} is connected`,
  isOut: (program: string) => `AutoKit is not among the MCP servers of ${program} any more.`,
  isIn: (program: string) => `AutoKit is among the MCP servers of ${program}.`,
  startAgain: (program: string) => `Start ${program} again, so that it reads its settings.`,
  takenOut: "AutoKit is taken out of its MCP servers, in",
  putAmong: "AutoKit is put among its MCP servers, in",
  notHere: (program: string) => `${program} does not seem to be on this machine.`,

  // The address
  cannotStart: "programs that cannot start AutoKit",
  renewed: "There is a new token; give your programs the lines again",
  addressAbout:
    "They reach it at an address of this machine, with a token; no other machine can. It answers while this window is open, or AutoKit runs in a terminal.",
  port: "Port",
  portWrong: "A port is a number from 1024 to 65535.",
  answerHere: "Answer at this port",
  open: "open",
  notOpen: "not open",
  tokenFor: "Token for",
  linesLabel: "Lines for the settings of a program",
  renewAsk: "Make a new token…",
  renewTitle: "Make a new token?",
  renewYes: "Make a new token",
  renewAbout: {
    before: "Clients using the current token",
    of: "of the profile",
    after: "will be rejected. Give them the new one.",
  },
  forPrograms: "For programs that cannot start AutoKit",
  tokenAbout: (profile: boolean) =>
    `The token is not shown here; the lines hold it once they are copied. It belongs to ${profile ? "this profile" : "everybody"}: a program that presents it is bound by ${profile ? "the profile's rules" : "the rules for everybody"}.`,
} as const;
