// Texts of Settings: service keys and web API keys.

import { count } from "../../lib/format";

export const keys = {
  // Key field
  pasteAnother: "Paste a new key to replace it",
  pasteTheKey: "Paste the key",
  saveKey: "Save key",
  keyFor: (service: string, optional: boolean) => `API key for ${service}${optional ? " (optional)" : ""}`,
  removeKeyFor: (service: string) => `Remove API key for ${service}`,

  // Where keys are stored
  places: {
    keychain: { name: "System keychain", about: "Protected by your login" },
    file: {
      name: "Encrypted file",
      about: "For machines without a keychain. Protects copied files, not this user account",
    },
  },
  place: "Store keys in",
  keysAre: (place: string) =>
    `Keys are stored in ${place} and never shown, exported or logged. Existing keys aren't moved; paste them again after a change.`,

  // Web API keys
  sorts: {
    key: { name: "API key", about: "Sent where the API expects it" },
    token: { name: "Bearer token", about: "Sent as is" },
    basic: { name: "Username and password", about: "HTTP Basic" },
    client: { name: "OAuth 2.0 client", about: "Client credentials" },
  },
  missing: {
    origin: "Enter the API's URL, such as https://api.example.org.",
    scheme: "Enter the security scheme's name from the API's description.",
    key: "Enter the API key.",
    token: "Enter the token.",
    user: "Enter the username.",
    tokenUrl: "Enter the token URL, starting with https://.",
    client: "Enter the client ID and secret.",
  },
  apiKeysAbout:
    "Used to call web API operations in your library. A key is sent only to the API it was added for, and is never shown again.",
  keysForWebApis: "Web API keys",
  forNone: "not used by any operation in the library",
  replaceAsk: "Replace…",
  giveAsk: "Add key…",
  noApiKeys: "No operation in the library needs an API key.",
  noApiKeysAbout: "APIs that need a key appear here once you import their OpenAPI document.",
  addKeyAsk: "Add API key…",
  removeTitle: "Remove this API key?",
  called: (scheme: string, origin: string) => `${scheme} for ${origin}`,
  forOperations: (n: number) => `for ${count(n, "operation")}`,
  replaceKey: (key: string) => `Replace ${key}`,
  giveKey: (key: string) => `Add ${key}`,
  removeKey: (key: string) => `Remove ${key}`,
  removeAbout: (scheme: string, operations: number) =>
    `will no longer receive ${scheme}${operations ? `. Calls to ${count(operations, "operation")} may fail` : ""}.`,

  // Form
  addKey: "Add API key",
  origin: "API URL",
  originHint: "https://api.example.org",
  scheme: "Security scheme",
  schemeHint: "apiKey",
  sentIn: "Sent in",
  sentInHint: "header X-Key; leave empty if the API's description defines it",
  sort: "Type",
  key: "API key",
  token: "Token",
  user: "Username",
  password: "Password",
  tokenUrl: "Token URL",
  tokenUrlHint: "https://login.example.org/oauth/token",
  clientId: "Client ID",
  clientSecret: "Client secret",
  giveKeyFor: (scheme: string, origin: string) => `Enter ${scheme} for ${origin}`,
  callsIt: (scheme: string, place: string) => `uses the scheme ${scheme}, sent as ${place}`,
  theApi: "the API",
  clientAbout: (origin: string) => `The ID and secret are sent only to the token URL, the tokens only to ${origin}.`,
  keyAbout: (origin: string) => `Sent only to ${origin}, whatever a card says.`,
} as const;
