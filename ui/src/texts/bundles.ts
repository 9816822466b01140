// Texts of bundles: what came in, subscriptions, signatures and keys.

import { count } from "../lib/format";

export const bundles = {
  // Names
  statuses: {
    new: { name: "New", about: "Your library has no such card." },
    changed: { name: "Changed", about: "Something is new in it, and nothing of yours is in the way." },
    conflicting: { name: "Conflicting", about: "Both libraries changed the same field, each to something else." },
    similar: {
      name: "Perhaps the same",
      about: "Your library has a card that is probably the same tool under another name.",
    },
    identical: { name: "Identical", about: "Your library has all that is in it." },
    invalid: { name: "Invalid", about: "It cannot be taken." },
  },
  formats: {
    bundle: "Bundle",
    folder: "Bundle in a folder",
    json: "AutoKit JSON",
    csv: "CSV table",
    mcp_servers: "MCP servers of a client",
    server_json: "MCP registry entry",
    open_api: "OpenAPI document",
    rapid_api: "RapidAPI documentation",
    markdown: "Markdown",
    html: "HTML page",
  },
  trust: {
    unsigned: { name: "Not signed", about: "Nothing proves who made it. Look at what it would change." },
    stripped: {
      name: "The signature is missing",
      about:
        "Earlier bundles of this author were signed, this one is not. Somebody may have changed it. Ask the author before you take anything from it.",
    },
    trusted: { name: "Signed by a key you trust" },
    known: {
      name: "Signed by a key seen before",
      about: "The key is the same as before. You have not said that you trust it.",
    },
    new: {
      name: "Signed by a key never seen here",
      about: "Compare the fingerprint with the author, by phone or in person, before you trust it.",
    },
    other_key: {
      name: "Signed by another key than before",
      about:
        "Earlier bundles of this author were signed by another key. Ask the author whether the key was changed before you take anything from it.",
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
  trustYes: "I compared it: trust this key",
  whoHolds: {
    before: "Whoever holds this key says they are",
    nobody: "nobody in particular",
    after: ". Compare the fingerprint with them by phone or in person, not by the way the bundle came:",
  },
  otherKeyBefore: "Earlier bundles of this author were signed by another key.",
  trustAbout:
    "Bundles signed by this key are shown as trusted from then on. You can take that back in Settings, Bundles.",
  signedBy: (signer: string) => `, by ${signer}`,

  // Bundles
  imports: "Imports",
  subscriptions: "Subscriptions",
  bundles: "Bundles",
  show: "Show",
  keys: "Keys that sign bundles",

  // What came in
  signedWith: "signed with",
  takenBack: "taken back",
  undoing: "Undoing…",
  undoAsk: "Undo…",
  noImports: "Nothing was imported yet.",
  noImportsAbout: "Every import stands here afterwards, with who made it and a way back.",
  takeBackTitle: "Take this import back?",
  takeBackYes: "Take it back",
  takenBackSaid: (name: string, cards: number, kept: number) =>
    `${name} was taken back: ${count(cards, "card")} as before.${kept ? ` ${count(kept, "card")} changed by hand since stayed.` : ""}`,
  by: (author: string) => `by ${author}`,
  importedBy: (who: string) => `imported by ${who}`,
  undoImport: (name: string) => `Undo the import of ${name}`,
  importedAt: (when: string) => `, imported ${when}`,
  takesBack: (n: number) =>
    `Takes back ${count(n, "card")} and what was decided about ${n === 1 ? "it" : "them"} since; cards changed by hand later stay.`,

  // Subscriptions
  newsToReview: "news go to Review",
  newsAtOnce: "news are taken over at once",
  notLookedAt: "not looked at yet",
  signedOnly: "signed; only versions with the same key come in",
  noSubscriptions: "No bundle is followed.",
  noSubscriptionsAbout:
    "Follow a bundle your team shares in a folder or at an address: newer versions come in by themselves, to Review unless you say otherwise.",
  subscribeAsk: "Subscribe to a bundle…",
  looking: "Looking…",
  unsubscribeTitle: "Unsubscribe from this bundle?",
  unsubscribe: "Unsubscribe",
  unsubscribeAbout: "is not looked at any more. Cards that came from it stay.",
  unfollowed: (name: string) => `${name} is not followed any more; its cards stay`,
  lookedAt: (when: string) => `looked at ${when}`,
  remove: (name: string) => `Remove ${name}`,

  // Subscribing
  landings: {
    review: { name: "To Review", about: "Nothing changes before you accept it" },
    library: {
      name: "Take over at once",
      about: "Conflicts still wait in Review, and so does what comes unsigned from the web",
    },
  },
  bundlesAndCards: "Bundles and cards",
  subscribeTo: "Subscribe to a bundle",
  place: "Address, file or folder",
  placeHint: "https://… or /shared/team.toolcards",
  file: "File…",
  folder: "Folder…",
  hours: "Look every … hours",
  landing: "Where what is new goes",
  subscribe: "Subscribe",

  // Keys
  somebody: "Somebody without a name",
  keysAbout:
    "A key is remembered the first time you import a bundle signed with it; from then on AutoKit warns when the same author's bundles come with another key, or with none.",
  yourKey: "Your key",
  copyPublicKey: "Copy public key",
  yourKeyAbout: "Tell others the fingerprint, so that they can compare it. The secret part stays with your other keys.",
  makeAKey: "Make a key",
  noKeyAbout: "You have none yet; one is also made when you first sign a bundle.",
  keysOfOthers: "Keys of others",
  trusted: "trusted",
  seen: "seen",
  trustIt: "Trust",
  forgetAsk: "Forget…",
  noKeysAbout: "None yet. They come with the bundles you import.",
  compare: { before: "Compare the fingerprint with", after: "by phone or in person:" },
  forgetTitle: "Forget this key?",
  forget: "Forget",
  forgetAbout: {
    before: "AutoKit no longer knows that",
    after: "signs with it: the next bundle by the same author is as new, whoever signed it, and is not warned of.",
  },
  firstSeen: (when: string) => `First seen ${when}`,
  signedBundlesBy: (authors: string) => `, signed bundles by ${authors}`,
  trustKeyOf: (name: string) => `Trust the key of ${name}`,
  forgetKeyOf: (name: string) => `Forget the key of ${name}`,
} as const;
