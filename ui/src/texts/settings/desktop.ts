// Texts of the settings of the window on this computer, of updates, and of the quick-ask window.

export const desktop = {
  // This computer
  about: "These settings apply to this computer, whichever library is open.",
  closeToTray: "Keep AutoKit running in the tray when its window is closed",
  notifications: "Notify me when an agent waits for approval or a check finds something",
  launchAtLogin: "Start AutoKit in the tray when I log in",
  quickAsk: "Quick ask shortcut",
  quickAskHint: "Opens a question box over any program. Not every Wayland desktop allows it.",
  quickAskNone: "No shortcut is set.",
  quickAskExample: "For example Ctrl+Alt+Space",

  // Updates
  updatesAbout:
    "Off until you enter where your updates come from. Only packages signed with the key are accepted, and nothing is installed until you confirm.",
  address: "Update URL",
  addressHint: "The https URL of a static manifest (latest.json).",
  key: "Public key",
  keyHint: "The minisign public key of whoever publishes the updates.",
  check: "Check for updates",
  checking: "Checking…",
  upToDate: "AutoKit is up to date.",
  available: (version: string) => `Version ${version} is available`,
  download: "Download",
  downloading: "Downloading…",
  ready: (version: string, size: string) => `Version ${version} is downloaded and verified (${size})`,
  install: "Install and restart",
  installing: "Installing…",

  // Quick ask
  question: "Which tool for…?",
  openInAutoKit: "Open in AutoKit",
  closeHint: "Enter opens the answer in AutoKit, Escape closes",
  nothing: "Nothing in your library clearly does this.",
} as const;
