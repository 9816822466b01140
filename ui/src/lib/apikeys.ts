// API keys: the form's draft, its validation, and display.

import type { ApiKey, ApiKeySet, ApiSecret } from "./bindings";
import { keys as texts } from "../texts/settings/keys";

export type Sort = ApiSecret["sort"];

export const SORTS: { value: Sort; name: string; about: string }[] = [
  { value: "key", name: texts.sorts.key.name, about: texts.sorts.key.about },
  { value: "token", name: texts.sorts.token.name, about: texts.sorts.token.about },
  { value: "basic", name: texts.sorts.basic.name, about: texts.sorts.basic.about },
  { value: "client", name: texts.sorts.client.name, about: texts.sorts.client.about },
];

/** Returns the display name of a kind of key. */
export function sortName(sort: string): string {
  return SORTS.find(({ value }) => value === sort)?.name ?? sort;
}

/** The form's contents, as entered. */
export interface KeyDraft {
  origin: string;
  scheme: string;
  /** Where the key goes in a request; empty if all operations agree. */
  place: string;
  sort: Sort;
  key: string;
  user: string;
  password: string;
  token: string;
  token_url: string;
  id: string;
  secret: string;
}

/** Returns the draft for a key. Its secret parts are left empty. */
export function draftOf(key: ApiKey | null): KeyDraft {
  const sort = SORTS.find(({ value }) => value === key?.sort)?.value ?? "key";
  const empty = { key: "", user: "", password: "", token: "", id: "", secret: "" };
  return {
    ...empty,
    origin: key?.origin ?? "",
    scheme: key?.scheme ?? "",
    place: key?.place ?? "",
    sort,
    token_url: key?.token_url ?? "",
  };
}

/** Returns the origin of an HTTP(S) address, or `null` if the address is invalid. */
export function originOf(text: string): string | null {
  if (!/^https?:\/\//i.test(text.trim())) return null;
  try {
    return new URL(text.trim()).origin;
  } catch {
    return null;
  }
}

/** Returns a sentence that says why the key cannot be saved, or `null` if it can. */
export function missingOf(draft: KeyDraft): string | null {
  if (!originOf(draft.origin)) return texts.missing.origin;
  if (!draft.scheme.trim()) return texts.missing.scheme;
  if (draft.sort === "key" && !draft.key.trim()) return texts.missing.key;
  if (draft.sort === "token" && !draft.token.trim()) return texts.missing.token;
  // No password is required: some APIs expect the key as the user name.
  if (draft.sort === "basic" && !draft.user.trim()) return texts.missing.user;
  if (draft.sort !== "client") return null;
  if (!originOf(draft.token_url)) return texts.missing.tokenUrl;
  if (!draft.id.trim() || !draft.secret.trim()) return texts.missing.client;
  return null;
}

function secretOf({ sort, key, user, password, token, token_url, id, secret }: KeyDraft): ApiSecret {
  switch (sort) {
    case "key":
      return { sort, key: key.trim() };
    case "token":
      return { sort, token: token.trim() };
    case "basic":
      return { sort, user: user.trim(), password };
    case "client":
      return { sort, token_url: token_url.trim(), id: id.trim(), secret: secret.trim() };
  }
}

/** Converts a draft to a request. */
export function requestOf(draft: KeyDraft): ApiKeySet {
  return {
    origin: originOf(draft.origin) ?? draft.origin.trim(),
    scheme: draft.scheme.trim(),
    place: draft.place.trim(),
    secret: secretOf(draft),
  };
}
