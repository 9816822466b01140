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

/** A token budget for the tools of the clients whose name contains `name`. */
export interface BudgetRow {
  /** Identifies the row while its name is being edited. */
  id: number;
  name: string;
  tokens: string;
}

/** The form's contents, as entered. */
export interface SessionDraft {
  numbers: Record<NumberField["key"], string>;
  budgets: BudgetRow[];
  /** Exempt tools, separated by white space, commas or semicolons. */
  exempt: string;
}

let rows = 0;

export function budgetRow(name = "", tokens = ""): BudgetRow {
  return { id: ++rows, name, tokens };
}

function kept(sessions: AgentSessions, { key }: NumberField): number {
  const [part, name] = key.split(".") as ["session" | "guard", string];
  const values = part === "guard" ? sessions.session.guard : sessions.session;
  return (values as unknown as Record<string, number>)[name] ?? 0;
}

const shown = (sessions: AgentSessions, field: NumberField) =>
  String(Number((kept(sessions, field) / field.times).toFixed(4)));

/** Returns a number's default in the unit of the form. */
export function defaultOf(field: NumberField): string {
  return Number(shown(DEFAULTS, field)).toLocaleString("en");
}

export function draftOf(sessions: AgentSessions): SessionDraft {
  const numbers = Object.fromEntries(
    FIELDS.map((field) => [field.key, shown(sessions, field)]),
  ) as SessionDraft["numbers"];
  const budgets = Object.entries(sessions.budgets).map(([name, tokens]) => budgetRow(name, String(tokens)));
  return { numbers, budgets, exempt: sessions.session.guard.exempt.join("\n") };
}

/** Returns a sentence that says why the draft cannot be saved, or `null` if it can. */
export function sessionProblem(draft: SessionDraft): string | null {
  for (const field of FIELDS) {
    const text = String(draft.numbers[field.key] ?? "").trim();
    const value = Number(text);
    const fits = text !== "" && value >= field.min && value <= field.max && (field.step < 1 || Number.isInteger(value));
    if (!fits) return texts.outOfRange(field.name, field.min, field.max);
  }
  const names = new Set<string>();
  for (const { name, tokens } of draft.budgets) {
    const program = name.trim();
    if (!program && !tokens.trim()) continue;
    if (!program) return texts.nameProgram;
    if (names.has(program.toLowerCase())) return texts.programTwice(program);
    if (!/^\d{1,9}$/.test(tokens.trim())) return texts.giveTokens(program);
    names.add(program.toLowerCase());
  }
  return null;
}

/** Converts a draft to settings. Settings the form does not show are taken from `base`. */
export function sessionsOf(draft: SessionDraft, base: AgentSessions): AgentSessions {
  const guard: GuardSettings = { ...base.session.guard };
  const session: SessionSettings = { ...base.session, guard };
  for (const field of FIELDS) {
    const [part, name] = field.key.split(".") as ["session" | "guard", string];
    // An unchanged number keeps its stored value, which may have more digits than the form shows.
    if (String(draft.numbers[field.key]) === shown(base, field)) continue;
    const value = Number(draft.numbers[field.key]) * field.times;
    Object.assign(part === "guard" ? guard : session, { [name]: field.step < 1 ? value : Math.round(value) });
  }
  guard.exempt = [...new Set(draft.exempt.split(/[\s,;]+/).filter(Boolean))];
  const rows = draft.budgets.filter(({ name }) => name.trim());
  return { session, budgets: Object.fromEntries(rows.map(({ name, tokens }) => [name.trim(), Number(tokens)])) };
}
