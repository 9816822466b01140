import { describe, expect, it } from "vitest";
import type { ApiKey } from "./bindings";
import { draftOf, missingOf, requestOf, type KeyDraft } from "./apikeys";
import { keys as texts } from "../texts/settings/keys";

const WANTED: ApiKey = {
  origin: "https://api.example.org",
  scheme: "auth",
  place: "tokens from https://login.example.org/token for no scopes",
  sort: "client",
  here: false,
  operations: 3,
  token_url: "https://login.example.org/token",
};
const typed = (more: Partial<KeyDraft>): KeyDraft => ({
  ...draftOf(null),
  origin: "https://api.example.org",
  scheme: "auth",
  ...more,
});

describe("keys for web APIs", () => {
  it("begin with all but what is secret", () => {
    expect(draftOf(WANTED)).toMatchObject({
      origin: WANTED.origin,
      scheme: "auth",
      sort: "client",
      token_url: WANTED.token_url,
      id: "",
      secret: "",
    });
    expect(draftOf({ ...WANTED, sort: "something new" }).sort).toBe("key");
  });

  it("are for an origin, whatever address was pasted, and hold nothing typed for another sort", () => {
    const draft = typed({
      origin: " https://API.example.org/v1?key=x ",
      sort: "token",
      token: " t ",
      key: "other",
      password: "p",
    });
    expect(requestOf(draft)).toEqual({
      origin: "https://api.example.org",
      scheme: "auth",
      place: "",
      secret: { sort: "token", token: "t" },
    });
    // A password may start or end with a space.
    expect(requestOf(typed({ sort: "basic", user: " u ", password: " p " })).secret).toEqual({
      sort: "basic",
      user: "u",
      password: " p ",
    });
  });

  it("say what is missing", () => {
    const { missing } = texts;
    const wrong: [Partial<KeyDraft>, string][] = [
      [{ origin: "api.example.org" }, missing.origin],
      [{ scheme: " " }, missing.scheme],
      [{ sort: "key" }, missing.key],
      [{ sort: "token" }, missing.token],
      [{ sort: "basic", password: "x" }, missing.user],
      [{ sort: "client", id: "a", secret: "b" }, missing.tokenUrl],
      [{ sort: "client", id: "a", token_url: "https://x.org" }, missing.client],
    ];
    for (const [more, said] of wrong) expect(missingOf(typed(more))).toBe(said);
    expect(missingOf(typed({ sort: "basic", user: "key-as-user" }))).toBeNull();
    expect(missingOf({ ...draftOf(WANTED), id: "a", secret: "b" })).toBeNull();
  });
});
