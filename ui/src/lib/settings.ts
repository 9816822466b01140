// The choices that Settings offers, and parsers for its text fields.

import type { KeyName, LlmKind, SearchKind } from "./bindings";
import { services as texts } from "../texts/settings/services";

/** Base addresses of common language model services. */
export const LLM_PRESETS: { name: string; base: string; local: boolean }[] = [
  { name: "OpenAI", base: "https://api.openai.com/v1", local: false },
  { name: "Ollama", base: "http://127.0.0.1:11434/v1", local: true },
  { name: "LM Studio", base: "http://127.0.0.1:1234/v1", local: true },
  { name: "llama.cpp", base: "http://127.0.0.1:8080/v1", local: true },
  { name: "vLLM", base: "http://127.0.0.1:8000/v1", local: true },
  { name: "OpenRouter", base: "https://openrouter.ai/api/v1", local: false },
];

/** The choices of a list of services, in the order of its texts. */
function choices<Kind extends string>(services: Record<Kind, { name: string; about: string }>) {
  return (Object.keys(services) as Kind[]).map((kind) => ({ kind, ...services[kind] }));
}

export const LLM_KINDS = choices<LlmKind>(texts.llms);
export const SEARCH_KINDS = choices<SearchKind>(texts.searches);

export function keyName(name: KeyName): string {
  return texts.keys[name];
}

export function keyOfLlm(kind: LlmKind): KeyName | null {
  return kind === "none" ? null : kind;
}

export function keyOfSearch(kind: SearchKind): KeyName | null {
  return kind === "tavily" || kind === "brave" ? kind : null;
}

/** Splits a list of hosts at white space, commas and semicolons. Addresses are reduced to their host. */
export function hostsOf(text: string): string[] {
  const hosts = text
    .split(/[\s,;]+/)
    .map((host) =>
      host
        .replace(/^[a-z]+:\/\//i, "")
        .replace(/\/.*$/, "")
        .toLowerCase(),
    )
    .filter(Boolean);
  return [...new Set(hosts)];
}

/** Parses an amount, with a comma or a point as decimal separator: `null` if empty, `undefined` if invalid. */
export function amountOf(text: string): number | null | undefined {
  const trimmed = text.trim().replace(",", ".");
  if (!trimmed) return null;
  const amount = Number(trimmed);
  return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

/** Formats an amount as "$0.0123", with four decimals below 10 cents and two otherwise. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
}

/** Returns whether two settings are equal when serialized. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Parses a whole number of days, at most ten years; `undefined` if invalid. */
export function daysOf(text: string): number | undefined {
  const trimmed = text.trim();
  const days = Number(trimmed);
  return /^\d{1,4}$/.test(trimmed) && days <= 3650 ? days : undefined;
}

/** Parses a number of required approvals, from 1 to 9; `undefined` if invalid. */
export function approvalsOf(text: string): number | undefined {
  return /^[1-9]$/.test(text.trim()) ? Number(text) : undefined;
}

/** Returns a sentence that says why a text is not the address of a service, or `null` if it is one. */
export function urlProblem(text: string, required: boolean): string | null {
  const trimmed = text.trim();
  if (!trimmed) return required ? texts.noAddress : null;
  return /^https?:\/\/\S+$/i.test(trimmed) ? null : texts.noAddress;
}

/** Returns whether an address is on this machine, where a service rarely needs a key. */
export function isLocal(base: string): boolean {
  return /\/\/(127\.|localhost|\[::1\])/.test(base);
}
