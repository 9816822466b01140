import { describe, expect, it } from "vitest";
import type { Permissions, Rules } from "./bindings";
import {
  BUILT_IN,
  choicesOf,
  commandOf,
  newProfile,
  initialPermission,
  profileProblem,
  providerOf,
  ruleProblem,
  describeDefault,
  SCOPES,
  normalizeTarget,
  INHERIT,
  withDefault,
  withoutRule,
  withRule,
  type Scope,
} from "./permissions";
import { permissions as texts } from "../texts/permissions";

const none: Rules = { otherwise: null, overridable: false, rules: [] };

describe("rules", () => {
  it("cut what is pasted down to what counts", () => {
    const typed: [Scope, string, string][] = [
      ["hosts", " https://API.example.org:8443/v1?x=1 ", "api.example.org:8443"],
      ["hosts", "*.Example.org", "*.example.org"],
      ["files", "/srv/shop/", "/srv/shop"],
      ["files", "/", "/"],
      ["secrets", "https://API.example.org/v1", "https://api.example.org"],
      ["secrets", "mcp:my files", "mcp:my files"],
      ["code", " Python", "python"],
      ["tools", " abc ", "abc"],
    ];
    for (const [scope, text, thing] of typed) expect(normalizeTarget(scope, text)).toBe(thing);
  });

  it("say what cannot be in one", () => {
    const { missing, scopes } = texts;
    const wrong: [Scope, string, string][] = [
      ["hosts", "", missing.thing(scopes.hosts.one)],
      ["hosts", "exa*mple.org", missing.host],
      ["hosts", "a b", missing.host],
      ["files", "shop", missing.folder],
      ["secrets", "api.example.org", missing.origin],
      ["code", "ruby", missing.language],
    ];
    for (const [scope, of, said] of wrong) expect(ruleProblem(scope, of, [])).toBe(said);
    expect(ruleProblem("hosts", "a.org", [{ of: "a.org", permission: "ask", overridable: false }])).toBe(
      missing.otherThing("a.org"),
    );
    for (const of of ["localhost:8080", "*.example.org", "[::1]:80", "127.0.0.1"])
      expect(ruleProblem("hosts", of, [])).toBeNull();
    for (const of of ["/srv", "C:\\work", "\\\\host\\share"]) expect(ruleProblem("files", of, [])).toBeNull();
    expect(ruleProblem("secrets", "mcp:files", [])).toBeNull();
  });

  it("hold one word on each thing, in its place", () => {
    const two = withRule(withRule(none, "a", "deny"), "b", "ask");
    expect(withRule(two, "a", "allow").rules).toEqual([
      { of: "a", permission: "allow", overridable: false },
      { of: "b", permission: "ask", overridable: false },
    ]);
    expect(withoutRule(two, "a").rules).toEqual([{ of: "b", permission: "ask", overridable: false }]);
    expect(none.rules).toEqual([]);
  });

  it("begin with a word that makes a difference", () => {
    for (const word of ["allow", "ask", "deny"] as const) expect(initialPermission(word)).not.toBe(word);
  });

  it("mark only questions for profiles to loosen", () => {
    expect(withRule(none, "a", "ask", true).rules[0]?.overridable).toBe(true);
    expect(withRule(none, "a", "deny", true).rules[0]?.overridable).toBe(false);
    expect(withDefault(none, "ask", true)).toEqual({ otherwise: "ask", overridable: true, rules: [] });
    expect(withDefault({ ...none, otherwise: "ask", overridable: true }, INHERIT)).toEqual(none);
  });

  it("say what is inherited", () => {
    const [tools] = SCOPES;
    if (!tools) throw new Error("there are tools");
    const everybody = (otherwise: Rules["otherwise"], overridable = false): Permissions => {
      const rules = { ...none, otherwise, overridable };
      return { tools: rules, hosts: rules, files: rules, secrets: rules, code: rules };
    };
    const own = (otherwise: Rules["otherwise"]): Rules => ({ ...none, otherwise });
    expect(describeDefault(tools, "", none, undefined)).toBe(tools.said[BUILT_IN.tools]);
    expect(describeDefault(tools, "shop", none, everybody("ask"))).toBe(texts.likeEverybody(tools.said.ask));
    expect(describeDefault(tools, "shop", own("allow"), everybody("deny"))).toBe(texts.deniedForAll);
    expect(describeDefault(tools, "shop", own("allow"), everybody("ask"))).toBe(texts.askedForAll);
    expect(describeDefault(tools, "shop", own("allow"), everybody("ask", true))).toBe(tools.said.allow);
    expect(describeDefault(tools, "shop", own("deny"), everybody("ask"))).toBe(tools.said.deny);
    expect([choicesOf("")[0]?.name, choicesOf("shop")[0]?.name]).toEqual([texts.default, texts.inherit]);
  });

  it("tell providers from cards", () => {
    expect([providerOf("Acme/*"), providerOf("id-1")]).toEqual(["Acme", null]);
  });

  it("have a sentence for every word of every sort of things", () => {
    expect(SCOPES.map(({ scope }) => scope)).toEqual(["tools", "hosts", "files", "secrets", "code"]);
    for (const { said } of SCOPES) for (const sentence of Object.values(said)) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});

describe("profiles", () => {
  it("say what cannot be a name", () => {
    for (const name of ["", "a b", "ä", "x".repeat(41)]) expect(profileProblem(name, [])).not.toBeNull();
    expect(profileProblem("shop", ["", "shop"])).toBe(texts.missing.otherName("shop"));
    expect(profileProblem(" shop-2 ", ["shop"])).toBeNull();
  });

  it("begin with no rules of their own", () => {
    const made = newProfile(" shop ", " y ");
    expect([made.name, made.about, made.only]).toEqual(["shop", "y", null]);
    expect(Object.values(made.permissions)).toEqual([none, none, none, none, none]);
    expect([commandOf("shop"), commandOf("")]).toEqual(["autokit mcp --profile shop", "autokit mcp"]);
  });
});
