// Agent profiles and their permission rules: editing, validation and display.

import type { Permission, Permissions, Profile, Rule, Rules } from "./bindings";
import { visibleLine } from "./visible";
import { permissions as texts } from "../texts/permissions";

export type Scope = keyof Permissions;

/** The permissions, from least to most strict. */
export const PERMISSIONS: { value: Permission; name: string }[] = [
  { value: "allow", name: texts.words.allow },
  { value: "ask", name: texts.words.ask },
  { value: "deny", name: texts.words.deny },
];

/** AutoKit's defaults, which apply if no rule does. */
export const BUILT_IN: Record<Scope, Permission> = {
  tools: "allow",
  hosts: "allow",
  files: "deny",
  secrets: "allow",
  code: "ask",
};

/** The choice of a profile that sets no permission itself. */
export const INHERIT = "unsaid";

export type DefaultPermission = Permission | typeof INHERIT;

/** Returns the choices for everything that no rule names. */
export function choicesOf(profile: string): { value: DefaultPermission; name: string }[] {
  return [{ value: INHERIT, name: profile ? texts.inherit : texts.default }, ...PERMISSIONS];
}

/** Returns the permission a profile inherits for everything that no rule names. */
export function inherited(scope: Scope, everybody: Permissions | undefined): Permission {
  return everybody?.[scope].otherwise ?? BUILT_IN[scope];
}

/** Describes the permission for everything that no rule names in a sentence. */
export function describeDefault(
  about: ScopeText,
  profile: string,
  rules: Rules,
  everybody: Permissions | undefined,
): string {
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

/** The texts for a scope, a kind of thing that calls need permission for. */
export interface ScopeText {
  scope: Scope;
  name: string;
  /** The noun for a single one. */
  one: string;
  /** An example of how one is written. */
  placeholder: string;
  hint: string;
  /** The effect of each permission on everything that no rule names. */
  said: Record<Permission, string>;
}

export const SCOPES: ScopeText[] = (["tools", "hosts", "files", "secrets", "code"] as const).map((scope) => ({
  scope,
  ...texts.scopes[scope],
}));

/** Languages of code that agents can run. */
export const LANGUAGES = ["python", "javascript", "shell"];

/** Returns the provider of a rule for all tools of a provider; `null` for any other rule. */
export function providerOf(of: string): string | null {
  return of.endsWith("/*") ? of.slice(0, -2) : null;
}

/** Returns the display name of a profile. */
export function profileName(name: string): string {
  return name ? visibleLine(name) : texts.everybody;
}

/** Returns the command by which an agent connects with a profile. */
export function commandOf(profile: string): string {
  return profile ? `autokit mcp --profile ${profile}` : "autokit mcp";
}

/** Returns a sentence that says why a profile cannot be added, or `null` if it can. */
export function profileProblem(name: string, taken: string[]): string | null {
  const trimmed = name.trim();
  if (!trimmed) return texts.missing.profile;
  if (!/^[A-Za-z0-9._-]{1,40}$/.test(trimmed)) return texts.missing.goodName;
  if (taken.includes(trimmed)) return texts.missing.otherName(trimmed);
  return null;
}

/** Normalizes what the user entered to the form that rules use, such as the host of a pasted address. */
export function normalizeTarget(scope: Scope, text: string): string {
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
  // A lone slash, the root folder, is kept.
  if (scope === "files") return trimmed.replace(/(?<=.)[/\\]+$/, "");
  return trimmed;
}

/** Returns a sentence that says why a rule cannot be added, or `null` if it can. */
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

/** Returns the rules with a permission added; it replaces an existing rule for the same thing. */
export function withRule(rules: Rules, of: string, permission: Permission, overridable = false): Rules {
  // Only an "ask" rule may be overridable by profiles.
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

/** Returns the rules with another permission for everything that no rule names. */
export function withDefault(rules: Rules, otherwise: DefaultPermission, overridable = false): Rules {
  return {
    ...rules,
    otherwise: otherwise === INHERIT ? null : otherwise,
    overridable: overridable && otherwise === "ask",
  };
}

/** Returns the initial permission of a new rule, one that differs from the permission for everything else. */
export function initialPermission(otherwise: Permission): Permission {
  return otherwise === "deny" ? "allow" : otherwise === "ask" ? "allow" : "deny";
}

/** Creates a profile without rules of its own; it inherits those for everybody. */
export function newProfile(name: string, about: string): Profile {
  const none: Rules = { otherwise: null, overridable: false, rules: [] };
  const permissions = { tools: none, hosts: none, files: none, secrets: none, code: none };
  return { name: name.trim(), about: about.trim(), cards: [], only: null, always: [], permissions };
}
