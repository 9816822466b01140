// Profiles of agents and their rules, as they are told and typed.

import type { Permission, Permissions, Profile, Rule, Rules } from "./bindings";
import { visibleLine } from "./visible";
import { permissions as texts } from "../texts/permissions";

export type Scope = keyof Permissions;

/** The words on a thing, from mild to strict. */
export const WORDS: { value: Permission; name: string }[] = [
  { value: "allow", name: texts.words.allow },
  { value: "ask", name: texts.words.ask },
  { value: "deny", name: texts.words.deny },
];

/** What holds where no person said anything. */
export const BUILT_IN: Record<Scope, Permission> = {
  tools: "allow",
  hosts: "allow",
  files: "deny",
  secrets: "allow",
  code: "ask",
};

/** What is chosen where a profile says nothing itself. */
export const UNSAID = "unsaid";

export type Otherwise = Permission | typeof UNSAID;

/** What can be chosen for everything no rule names. */
export function choicesOf(profile: string): { value: Otherwise; name: string }[] {
  return [{ value: UNSAID, name: profile ? texts.inherit : texts.default }, ...WORDS];
}

/** What holds for everything no rule names, where a profile says nothing itself. */
export function inherited(scope: Scope, everybody: Permissions | undefined): Permission {
  return everybody?.[scope].otherwise ?? BUILT_IN[scope];
}

/** What holds for everything no rule names, in a sentence. */
export function saidOf(about: ScopeText, profile: string, rules: Rules, everybody: Permissions | undefined): string {
  const common = inherited(about.scope, everybody);
  if (!profile) return about.said[rules.otherwise ?? BUILT_IN[about.scope]];
  if (rules.otherwise === null) return texts.likeEverybody(about.said[common]);
  if (everybody?.[about.scope].otherwise === "deny") return texts.deniedForAll;
  const loosens = STRICTNESS[rules.otherwise] < STRICTNESS[common];
  const bound = everybody?.[about.scope].otherwise && !everybody[about.scope].overridable;
  if (loosens && bound) return texts.askedForAll;
  return about.said[rules.otherwise];
}

const STRICTNESS: Record<Permission, number> = { allow: 0, ask: 1, deny: 2 };

/** A sort of things that calls need. */
export interface ScopeText {
  scope: Scope;
  name: string;
  /** One of them. */
  one: string;
  /** How one is written. */
  placeholder: string;
  hint: string;
  /** What each word on everything else comes to. */
  said: Record<Permission, string>;
}

export const SCOPES: ScopeText[] = (["tools", "hosts", "files", "secrets", "code"] as const).map((scope) => ({
  scope,
  ...texts.scopes[scope],
}));

/** Languages code can be run in. */
export const LANGUAGES = ["python", "javascript", "shell"];

/** The provider a rule is for, where it is for all tools of one. */
export function providerOf(of: string): string | null {
  return of.endsWith("/*") ? of.slice(0, -2) : null;
}

/** What a profile is called. */
export function profileName(name: string): string {
  return name ? visibleLine(name) : texts.everybody;
}

/** How an agent names its profile. */
export function commandOf(profile: string): string {
  return profile ? `autokit mcp --profile ${profile}` : "autokit mcp";
}

/** Why a profile cannot be added, in a sentence; none where it can. */
export function profileProblem(name: string, taken: string[]): string | null {
  const trimmed = name.trim();
  if (!trimmed) return texts.missing.profile;
  if (!/^[A-Za-z0-9._-]{1,40}$/.test(trimmed)) return texts.missing.goodName;
  if (taken.includes(trimmed)) return texts.missing.otherName(trimmed);
  return null;
}

/** A thing as a rule names it: what is pasted is cut down to what counts. */
export function thingOf(scope: Scope, text: string): string {
  const trimmed = text.trim();
  if (scope === "hosts")
    return trimmed
      .replace(/^[a-z]+:\/\//i, "")
      .replace(/[/?#].*$/, "")
      .toLowerCase();
  if (scope === "code") return trimmed.toLowerCase();
  if (scope === "secrets" && /^https?:\/\//i.test(trimmed)) {
    try {
      return new URL(trimmed).origin;
    } catch {
      return trimmed;
    }
  }
  // The root itself is a folder too.
  if (scope === "files") return trimmed.replace(/(?<=.)[/\\]+$/, "");
  return trimmed;
}

/** Why a thing cannot be in a rule, in a sentence; none where it can. */
export function ruleProblem(scope: Scope, of: string, rules: Rule[]): string | null {
  if (!of) return texts.missing.thing(SCOPES.find((one) => one.scope === scope)?.one ?? texts.thing);
  if (rules.some((rule) => rule.of === of)) return texts.missing.otherThing(of);
  if (scope === "hosts" && !/^(\*\.)?[^\s*:]+(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/.test(of)) {
    return texts.missing.host;
  }
  if (scope === "files" && !/^(\/|[A-Za-z]:[/\\]|\\\\)/.test(of)) return texts.missing.folder;
  if (scope === "secrets" && !/^(https?:\/\/[^\s/]+|mcp:.+)$/.test(of)) {
    return texts.missing.origin;
  }
  if (scope === "code" && !LANGUAGES.includes(of)) return texts.missing.language;
  return null;
}

/** The rules with a word on a thing, in the place of an earlier one. */
export function withRule(rules: Rules, of: string, permission: Permission, overridable = false): Rules {
  // Only a question can be marked for profiles to loosen.
  const rule = { of, permission, overridable: overridable && permission === "ask" };
  const known = rules.rules.some((other) => other.of === of);
  return {
    ...rules,
    rules: known ? rules.rules.map((other) => (other.of === of ? rule : other)) : [...rules.rules, rule],
  };
}

export function withoutRule(rules: Rules, of: string): Rules {
  return { ...rules, rules: rules.rules.filter((rule) => rule.of !== of) };
}

/** The rules with another permission for everything no rule names. */
export function withOtherwise(rules: Rules, otherwise: Otherwise, overridable = false): Rules {
  return {
    ...rules,
    otherwise: otherwise === UNSAID ? null : otherwise,
    overridable: overridable && otherwise === "ask",
  };
}

/** The word a new rule begins with: one like the rest would change nothing. */
export function otherWord(otherwise: Permission): Permission {
  return otherwise === "deny" ? "allow" : otherwise === "ask" ? "allow" : "deny";
}

/** A new profile. It says nothing itself and inherits what holds for everybody. */
export function newProfile(name: string, about: string): Profile {
  const none: Rules = { otherwise: null, overridable: false, rules: [] };
  const permissions = { tools: none, hosts: none, files: none, secrets: none, code: none };
  return { name: name.trim(), about: about.trim(), cards: [], only: null, always: [], permissions };
}
