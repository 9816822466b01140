// The agent session settings form: its fields, its draft, and validation.

import { SESSION_DEFAULTS, type AgentSessions, type GuardSettings, type SessionSettings } from "./bindings";
import { sessions as texts } from "../texts/sessions";

/** AutoKit's default settings. The reason for each default is the `why` of its entry in [`FIELDS`]. */
export const DEFAULTS = SESSION_DEFAULTS;

type Numbers<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T];

/** An editable number. */
export interface NumberField {
  key: `session.${Numbers<SessionSettings>}` | `guard.${Numbers<GuardSettings>}`;
  group: "searches" | "tools" | "tokens" | "loops";
  name: string;
  why: string;
  /** Stored units per unit shown in the form: 60 where minutes are edited and seconds are stored. */
  times: number;
  min: number;
  max: number;
  step: number;
}

const whole = { times: 1, min: 1, max: 1_000_000, step: 1 };

export const FIELDS: NumberField[] = [
  {
    ...whole,
    key: "session.results",
    group: "searches",
    name: texts.limits.results.name,
    max: 50,
    why: texts.limits.results.why,
  },
  {
    ...whole,
    key: "session.threshold",
    group: "searches",
    name: texts.limits.threshold.name,
    min: 0,
    max: 1,
    step: 0.01,
    why: texts.limits.threshold.why,
  },
  {
    ...whole,
    key: "session.rerank_ms",
    group: "searches",
    name: texts.limits.rerank.name,
    min: 0,
    max: 30_000,
    step: 100,
    why: texts.limits.rerank.why,
  },
  {
    ...whole,
    key: "session.reply_tokens",
    group: "searches",
    name: texts.limits.replyTokens.name,
    min: 100,
    step: 100,
    why: texts.limits.replyTokens.why,
  },
  {
    ...whole,
    key: "session.listed_tokens",
    group: "searches",
    name: texts.limits.listedTokens.name,
    min: 0,
    step: 100,
    why: texts.limits.listedTokens.why,
  },
  {
    ...whole,
    key: "session.capacity",
    group: "tools",
    name: texts.limits.capacity.name,
    max: 500,
    why: texts.limits.capacity.why,
  },
  {
    ...whole,
    key: "session.ttl_secs",
    group: "tools",
    name: texts.limits.ttl.name,
    times: 60,
    max: 10_080,
    why: texts.limits.ttl.why,
  },
  {
    ...whole,
    key: "session.preload",
    group: "tools",
    name: texts.limits.preload.name,
    min: 0,
    max: 20,
    why: texts.limits.preload.why,
  },
  {
    ...whole,
    key: "session.full_context_percent",
    group: "tokens",
    name: texts.limits.fullContext.name,
    min: 10,
    max: 100,
    why: texts.limits.fullContext.why,
  },
  {
    ...whole,
    key: "session.context_tokens",
    group: "tokens",
    name: texts.limits.contextTokens.name,
    min: 1000,
    max: 100_000_000,
    step: 1000,
    why: texts.limits.contextTokens.why,
  },
  {
    ...whole,
    key: "session.reserved_tokens",
    group: "tokens",
    name: texts.limits.reservedTokens.name,
    min: 0,
    max: 100_000_000,
    step: 1000,
    why: texts.limits.reservedTokens.why,
  },
  {
    ...whole,
    key: "guard.repeats",
    group: "loops",
    name: texts.limits.repeats.name,
    min: 2,
    max: 100,
    why: texts.limits.repeats.why,
  },
  {
    ...whole,
    key: "guard.window_secs",
    group: "loops",
    name: texts.limits.window.name,
    max: 86_400,
    why: texts.limits.window.why,
  },
  {
    ...whole,
    key: "guard.failures",
    group: "loops",
    name: texts.limits.failures.name,
    min: 2,
    max: 100,
    why: texts.limits.failures.why,
  },
];

export const GROUPS = ["searches", "tools", "tokens", "loops"] as const;

/** A token budget for the tools of the clients whose name contains `name`, as entered. */
export interface BudgetRow {
  name: string;
  tokens: string;
}

/** Returns a stored number, in the stored unit. */
export function numberOf(sessions: AgentSessions, { key }: NumberField): number {
  const [part, name] = key.split(".") as ["session" | "guard", string];
  const values = part === "guard" ? sessions.session.guard : sessions.session;
  return (values as unknown as Record<string, number>)[name] ?? 0;
}

/** Returns a stored number as the form shows it. */
export function showNumber(field: NumberField, stored: number): string {
  return String(Number((stored / field.times).toFixed(4)));
}

/** Returns a number's default in the unit of the form. */
export function defaultOf(field: NumberField): string {
  return Number(showNumber(field, numberOf(DEFAULTS, field))).toLocaleString("en");
}

/** Returns a sentence that says why an entered number cannot be saved, or `null` if it can. */
export function numberProblem(field: NumberField, typed: string): string | null {
  const text = typed.trim();
  const value = Number(text);
  const fits = text !== "" && value >= field.min && value <= field.max && (field.step < 1 || Number.isInteger(value));
  return fits ? null : texts.outOfRange(field.name, field.min, field.max);
}

/** Converts an entered number to the stored unit. */
export function readNumber(field: NumberField, typed: string): number {
  const value = Number(typed) * field.times;
  return field.step < 1 ? value : Math.round(value);
}

/** Returns the settings with one number changed, which is given in the stored unit. */
export function withNumber(sessions: AgentSessions, { key }: NumberField, value: number): AgentSessions {
  const [part, name] = key.split(".") as ["session" | "guard", string];
  const { session } = sessions;
  const changed =
    part === "guard" ? { ...session, guard: { ...session.guard, [name]: value } } : { ...session, [name]: value };
  return { ...sessions, session: changed };
}

/** Parses a list of tools, separated by white space, commas or semicolons. */
export function toolsOf(typed: string): string[] {
  return [...new Set(typed.split(/[\s,;]+/).filter(Boolean))];
}

/** Returns the settings with other tools exempt from loop detection. */
export function withExempt(sessions: AgentSessions, exempt: string[]): AgentSessions {
  const { session } = sessions;
  return { ...sessions, session: { ...session, guard: { ...session.guard, exempt } } };
}

export function budgetRows(budgets: AgentSessions["budgets"]): BudgetRow[] {
  return Object.entries(budgets).map(([name, tokens]) => ({ name, tokens: String(tokens) }));
}

const isEmpty = ({ name, tokens }: BudgetRow) => !name.trim() && !tokens.trim();

/** Returns a sentence that says why the entered budgets cannot be saved, or `null` if they can. */
export function budgetsProblem(rows: BudgetRow[]): string | null {
  const names = new Set<string>();
  for (const row of rows) {
    if (isEmpty(row)) continue;
    const name = row.name.trim();
    if (!name) return texts.nameProgram;
    if (names.has(name.toLowerCase())) return texts.programTwice(name);
    if (!/^\d{1,9}$/.test(row.tokens.trim())) return texts.giveTokens(name);
    names.add(name.toLowerCase());
  }
  return null;
}

/** Converts entered budgets, of which empty ones are left out. */
export function budgetsOf(rows: BudgetRow[]): AgentSessions["budgets"] {
  const entered = rows.filter((row) => !isEmpty(row));
  return Object.fromEntries(entered.map(({ name, tokens }) => [name.trim(), Number(tokens)]));
}

/** Returns what tells budgets apart: neither their order nor empty rows do. */
export function budgetsKey(rows: BudgetRow[]): string {
  const entered = rows.filter((row) => !isEmpty(row)).map(({ name, tokens }) => [name.trim(), tokens.trim()]);
  return JSON.stringify(entered.sort(([a], [b]) => (a! < b! ? -1 : 1)));
}
