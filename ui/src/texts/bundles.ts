// Texts of bundles: imports, subscriptions, signatures, and keys.

import { count } from "../lib/format";

export const bundles = {
  // Names
  statuses: {
    new: { name: "New", about: "Not in your library." },
    changed: { name: "Changed", about: "Has updates that don't conflict with your changes." },
    conflicting: { name: "Conflicting", about: "Both libraries changed the same field to different values." },
    similar: {
      name: "Possible duplicate",
      about: "Your library probably has this tool under another name.",
    },
    identical: { name: "Identical", about: "Your library already has all of it." },
    invalid: { name: "Invalid", about: "Can't be imported." },
  },
  formats: {
    bundle: "Bundle",
    folder: "Bundle folder",
    json: "AutoKit JSON",
    csv: "CSV table",
    mcp_servers: "MCP client settings",
    server_json: "MCP registry entry",
    open_api: "OpenAPI document",
    rapid_api: "RapidAPI documentation",
    markdown: "Markdown",
    html: "HTML page",
  },
  trust: {
    unsigned: { name: "Not signed", about: "The author can't be verified. Review the changes before importing." },
    stripped: {
      name: "Signature missing",
      about:
        "Earlier bundles from this author were signed, but this one isn't. It may have been tampered with. Check with the author before importing.",
    },
    trusted: { name: "Signed by a key you trust" },
    known: {
      name: "Signed by a key seen before",
      about: "The same key as before. You haven't marked it as trusted.",
    },
    new: {
      name: "Signed by a new key",
      about: "Verify the fingerprint with the author by phone or in person before trusting it.",
    },
    other_key: {
      name: "Signed by a different key",
      about:
        "Earlier bundles from this author were signed by a different key. Check with the author that the key was changed before importing.",
    },
  },
  pasted: "Pasted text",
  everyHour: "every hour",
  everyDay: "every day",
  everyWeek: "every week",
  everyDays: (n: number) => `every ${n} days`,
  everyHours: (n: number) => `every ${n} hours`,

  // Signatures
  fingerprint: (groups: string) => `Fingerprint ${groups}`,
  trustAsk: "Trust this key…",
  trustTitle: "Trust this key?",
  trustYes: "I verified it, trust this key",
  whoHolds: {
    before: "This key claims to belong to",
    nobody: "an unnamed person",
    after: ". Verify the fingerprint with them by phone or in person, not through the channel the bundle came from:",
  },
  otherKeyBefore: "Earlier bundles from this author were signed by a different key.",
  trustAbout: "Bundles signed by this key will be shown as trusted. You can change this in Settings, Bundles.",
  signedBy: (signer: string) => `, by ${signer}`,

  // Dialog
  imports: "Imports",
  subscriptions: "Subscriptions",
  bundles: "Bundles",
  keys: "Signing keys",

  // Imports
  signedWith: "signed with",
  undone: "undone",
  undoing: "Undoing…",
  undoAsk: "Undo…",
  noImports: "No imports yet",
  noImportsAbout: "Every import is listed here with its author and can be undone.",
  takeBackTitle: "Undo this import?",
  takeBackYes: "Undo import",
  takenBackSaid: (name: string, cards: number, kept: number) =>
    `Undid the import of ${name}: ${count(cards, "card")} restored.${kept ? ` Kept ${count(kept, "card")} edited since.` : ""}`,
  by: (author: string) => `by ${author}`,
  importedBy: (who: string) => `imported by ${who}`,
  undoImport: (name: string) => `Undo the import of ${name}`,
  importedAt: (when: string) => `, imported ${when}`,
  undoAbout: (n: number) =>
    `Reverts ${count(n, "card")} and later review decisions about ${n === 1 ? "it" : "them"}. Cards edited by hand since are kept.`,

  // Subscriptions
  newsToReview: "updates go to Review",
  newsAtOnce: "updates are imported directly",
  notLookedAt: "not checked yet",
  signedOnly: "signed; only versions with the same key are accepted",
  noSubscriptions: "No subscriptions yet",
  noSubscriptionsAbout:
    "Subscribe to a bundle your team shares in a folder or at a URL. New versions arrive automatically, in Review unless you choose otherwise.",
  subscribeAsk: "Subscribe to a bundle…",
  looking: "Checking…",
  unsubscribeTitle: "Unsubscribe from this bundle?",
  unsubscribe: "Unsubscribe",
  unsubscribeAbout: "will no longer be checked for updates. Its cards stay in your library.",
  unsubscribed: (name: string) => `Unsubscribed from ${name}; its cards stay`,
  lookedAt: (when: string) => `checked ${when}`,
  remove: (name: string) => `Remove ${name}`,

  // New subscription
  landings: {
    review: { name: "Send to Review", about: "Nothing changes until you accept it" },
    library: {
      name: "Import directly",
      about: "Conflicts and unsigned content from the web still go to Review",
    },
  },
  bundlesAndCards: "Bundles and cards",
  subscribeTo: "Subscribe to a bundle",
  place: "URL, file or folder",
  placeHint: "https://… or /shared/team.toolcards",
  file: "File…",
  folder: "Folder…",
  hours: "Check every … hours",
  landing: "How updates are applied",
  subscribe: "Subscribe",

  // Keys
  somebody: "Unnamed key",
  keysAbout:
    "A key is remembered the first time you import a bundle signed with it. After that, AutoKit warns you if the same author's bundles arrive with a different key or unsigned.",
  yourKey: "Your key",
  copyPublicKey: "Copy public key",
  yourKeyAbout: "Share the fingerprint so others can verify it. The private key is stored with your other keys.",
  makeAKey: "Create a key",
  noKeyAbout: "You have no key yet. One is created when you first sign a bundle.",
  keysOfOthers: "Other people's keys",
  trusted: "trusted",
  seen: "seen",
  trustIt: "Trust",
  forgetAsk: "Forget…",
  noKeysAbout: "None yet. Keys are added when you import signed bundles.",
  compare: { before: "Verify the fingerprint with", after: "by phone or in person:" },
  forgetTitle: "Forget this key?",
  forget: "Forget",
  forgetAbout: {
    before: "AutoKit will no longer know that",
    after:
      "signs with it. The next bundle from this author will be treated as new, whoever signed it, without a warning.",
  },
  firstSeen: (when: string) => `First seen ${when}`,
  signedBundlesBy: (authors: string) => `, signed bundles by ${authors}`,
  trustKeyOf: (name: string) => `Trust the key of ${name}`,
  forgetKeyOf: (name: string) => `Forget the key of ${name}`,
} as const;
