// Texts of Settings: agent clients, and the HTTP endpoint.

export const agents = {
  // Clients
  about:
    "Agents in a connected MCP client search this library and call the tools they find, instead of loading every tool up front. The client starts AutoKit automatically.",
  programs: "Clients",
  connected: "connected",
  notFound: "not found on this computer",
  notConnected: "not connected",
  connectedElsewhere: "connected to another library",
  byHand: "Set up manually…",
  connectAsk: "Connect…",
  reconnectAsk: "Connect to this library…",
  disconnectAsk: "Disconnect…",
  // A control's name starts with the words it shows, so that speech input finds it.
  showLines: (program: string) => `Set up manually: ${program}`,
  connect: (program: string) => `Connect ${program}`,
  reconnect: (program: string) => `Connect to this library: ${program}`,
  disconnect: (program: string) => `Disconnect ${program}`,

  // Configuration to copy
  copies: {
    lines: {
      name: "Copy configuration",
      of: (program: string) => `configuration for ${program}`,
      hint: "Paste it into the client's settings file",
    },
    token: {
      name: "Copy token",
      of: (program: string) => `token for ${program}`,
      hint: "Paste it where the client asks for it",
    },
  },

  // Line diff
  fates: { comes: "added: ", goes: "removed: " },
  changedLines: "Changes to the file",

  // Connecting
  keptIn: "The previous version was saved to",
  madeFile: "The file was created.",
  nothingElse: "Nothing else in the file changes. A backup copy is saved next to it.",
  noFile: "The file doesn't exist yet and will be created.",
  leavingAbout: "Its agents will lose access to this library's tools. The library itself doesn't change.",
  notAdded: "AutoKit isn't one of its MCP servers, in",
  cannotChange: "AutoKit can't edit its settings file.",
  paste: { before: "Add these lines to", after: "yourself:" },
  done: "Done",
  changeTheFile: "Update file",
  isDisconnected: (program: string) => `Disconnected ${program}`,
  isConnected: (program: string) => `Connected ${program}`,
  isOut: (program: string) => `AutoKit was removed from the MCP servers of ${program}.`,
  isIn: (program: string) => `AutoKit was added to the MCP servers of ${program}.`,
  startAgain: (program: string) => `Restart ${program} to apply the change.`,
  takenOut: "AutoKit will be removed from its MCP servers, in",
  willBeAdded: "AutoKit will be added to its MCP servers, in",
  notHere: (program: string) => `${program} doesn't seem to be installed on this computer.`,

  // HTTP endpoint
  cannotStart: "HTTP clients",
  renewed: "Token replaced. Update your clients' configuration",
  addressAbout:
    "Clients connect to a local URL with a token; other machines can't. It's available while this window is open or AutoKit runs in a terminal.",
  port: "Port",
  portWrong: "Enter a port from 1024 to 65535.",
  answerHere: "Enable the HTTP server",
  open: "listening",
  notOpen: "not listening",
  tokenFor: "Token for",
  linesLabel: "Client configuration",
  renewAsk: "Replace token…",
  renewTitle: "Replace the token?",
  renewYes: "Replace token",
  renewAbout: {
    before: "Clients using the current token",
    of: "for profile",
    after: "will be rejected until you give them the new one.",
  },
  forPrograms: "Connect over HTTP",
  tokenAbout: (profile: boolean) =>
    `The token isn't shown here; it's included when you copy the configuration. Clients using it follow ${profile ? "this profile's rules" : "the rules for everyone"}.`,
} as const;
