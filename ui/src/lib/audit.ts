// The audit log of agent calls, for display.

import type { AuditEntry, CallOutcome, DecidedBy } from "./bindings";
import { common } from "../texts/common";
import { activity as texts } from "../texts/activity";

/** Most calls loaded. */
export const LATEST = 200;

export type OutcomeFilter = "all" | CallOutcome;

/** Display name and style of each outcome. */
export const OUTCOME: Record<CallOutcome, { name: string; kind: "good" | "bad" | "warn" | "" }> = {
  done: { name: texts.outcomes.done, kind: "good" },
  failed: { name: texts.outcomes.failed, kind: "bad" },
  refused: { name: texts.outcomes.refused, kind: "warn" },
  cancelled: { name: texts.outcomes.cancelled, kind: "" },
};

export const OUTCOMES: { value: OutcomeFilter; name: string }[] = [
  { value: "all", name: texts.outcomes.all },
  ...(Object.keys(OUTCOME) as CallOutcome[]).map((value) => ({ value, name: OUTCOME[value].name })),
];

/** Display names of who decided on a call. */
export const DECIDED_BY: Record<DecidedBy, string> = texts.decidedBy;

export function filtered(entries: AuditEntry[], outcome: OutcomeFilter): AuditEntry[] {
  return outcome === "all" ? entries : entries.filter((entry) => entry.outcome === outcome);
}

/** Describes how many calls are shown, loaded and recorded. */
export function shownOf(shown: number, read: number, total: number): string {
  const all = read < total ? texts.latestOf(read, total) : common.calls(total);
  return shown === read ? all.charAt(0).toUpperCase() + all.slice(1) : texts.shownOf(shown, all);
}

/** Returns a unique key for each entry, even if several ended at the same moment. */
export function keysOf(entries: AuditEntry[]): string[] {
  const seen = new Map<string, number>();
  return entries.map(({ at, session, tool }) => {
    const key = `${at} ${session} ${tool}`;
    const nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    return `${key} ${nth}`;
  });
}
