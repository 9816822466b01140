// What agents called, in words.

import type { AuditEntry } from "./bindings";
import { count } from "./format";
import { visibleLine } from "./visible";

/** Calls that are read at most. */
export const LATEST = 200;

export type OutcomeFilter = "all" | "done" | "failed" | "refused" | "cancelled";

export const OUTCOMES: { value: OutcomeFilter; name: string }[] = [
  { value: "all", name: "All" },
  { value: "done", name: "Done" },
  { value: "failed", name: "Failed" },
  { value: "refused", name: "Refused" },
  { value: "cancelled", name: "Cancelled" },
];

/** What came of a call, and how it looks. */
export function outcomeOf(outcome: string): { name: string; kind: "good" | "bad" | "warn" | "" } {
  const name = OUTCOMES.find(({ value }) => value === outcome && value !== "all")?.name ?? visibleLine(outcome);
  const kinds: Record<string, "good" | "bad" | "warn"> = { done: "good", failed: "bad", refused: "warn" };
  return { name, kind: kinds[outcome] ?? "" };
}

const DECIDED: Record<string, string> = { rules: "The rules", person: "A person", nobody: "Nobody" };

/** Who decided, in words. */
export function decidedBy(decided: string): string {
  return DECIDED[decided] ?? visibleLine(decided);
}

export function filtered(entries: AuditEntry[], outcome: OutcomeFilter): AuditEntry[] {
  return outcome === "all" ? entries : entries.filter((entry) => entry.outcome === outcome);
}

/** How many are shown of how many, in words. */
export function shownOf(shown: number, read: number, total: number): string {
  const all =
    read < total ? `the latest ${read.toLocaleString("en")} of ${count(total, "call")}` : count(total, "call");
  return shown === read ? all.charAt(0).toUpperCase() + all.slice(1) : `${shown.toLocaleString("en")} of ${all}`;
}

/** Told apart where several ended in the same moment. */
export function keysOf(entries: AuditEntry[]): string[] {
  const seen = new Map<string, number>();
  return entries.map(({ at, session, tool }) => {
    const key = `${at} ${session} ${tool}`;
    const nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    return `${key} ${nth}`;
  });
}
