// Texts of Settings: keys of services and keys for web APIs.

import { count } from "../../lib/format";

export const keys = {
  // A key
  pasteAnother: "Paste another to replace it",
  pasteTheKey: "Paste the key",
  saveKey: "Save key",
  keyFor: (service: string, optional: boolean) => `Key for ${service}${optional ? " (optional)" : ""}`,
  removeKeyFor: (service: string) => `Remove the key for ${service}`,

  // Where keys are kept
  places: {
    keychain: { name: "System's keychain", about: "Guarded by your login" },
    file: {
      name: "Encrypted file",
      about: "Where there is no keychain; guards against copies, not against this account",
    },
  },
  place: "Where keys are kept",
  keysAre: (place: string) =>
    `Keys are in ${place}. They are never shown again, exported or logged; a key stays where it was kept, so paste it again after a change.`,

  // Keys for web APIs
  sorts: {
    key: { name: "Key", about: "Sent where the API wants it" },
    token: { name: "Token", about: "Sent as it is" },
    basic: { name: "User and password", about: "HTTP Basic" },
    client: { name: "Client", about: "Fetches tokens (OAuth 2.0)" },
  },
  missing: {
    origin: "Give the address of the API, such as https://api.example.org.",
    scheme: "Give the name that the API's description has for the key.",
    key: "Give the key.",
    token: "Give the token.",
    user: "Give the user.",
    tokenUrl: "Give the address tokens are fetched from, with https://.",
    client: "Give the client's id and its secret.",
  },
  apiKeysAbout:
    "Operations of web APIs that are cards are called with these. A key is sent to the address it was given for and to no other; it is kept as your other keys are, and never shown again.",
  keysForWebApis: "Keys for web APIs",
  forNone: "no operation in the library takes it",
  replaceAsk: "Replace…",
  giveAsk: "Give…",
  noApiKeys: "No operation in the library wants a key.",
  noApiKeysAbout: "Import the description of a web API that asks for one, and it stands here.",
  addKeyAsk: "Add a key…",
  removeTitle: "Remove this key?",
  called: (scheme: string, origin: string) => `${scheme} for ${origin}`,
  forOperations: (n: number) => `for ${count(n, "operation")}`,
  replaceKey: (key: string) => `Replace ${key}`,
  giveKey: (key: string) => `Give ${key}`,
  removeKey: (key: string) => `Remove ${key}`,
  removeAbout: (scheme: string, operations: number) =>
    `is no longer sent ${scheme}${operations ? `; ${count(operations, "operation")} of it may be refused then` : ""}.`,

  // The form
  addKey: "Add a key",
  origin: "Address of the API",
  originHint: "https://api.example.org",
  scheme: "Name in the API's description",
  schemeHint: "apiKey",
  sentIn: "Where it is sent",
  sentInHint: "header X-Key; empty where operations in the library say it",
  sort: "What it is",
  key: "Key",
  token: "Token",
  user: "User",
  password: "Password",
  tokenUrl: "Address tokens are fetched from",
  tokenUrlHint: "https://login.example.org/oauth/token",
  clientId: "Client id",
  clientSecret: "Client secret",
  giveKeyFor: (scheme: string, origin: string) => `Give the key ${scheme} for ${origin}`,
  callsIt: (scheme: string, place: string) => `calls it ${scheme} and wants it as ${place}`,
  theApi: "the API",
  clientAbout: (origin: string) =>
    `The id and the secret go to the address tokens are fetched from, the tokens to ${origin}; neither goes anywhere else.`,
  keyAbout: (origin: string) => `It is sent to ${origin} and nowhere else, whatever a card says.`,
} as const;
