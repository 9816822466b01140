// Proposals as the review pane shows them.

import type { FieldDiff, JsonValue, Origin, ProposalDetail, ProposalState, ProposedField } from "./bindings";
import { diffOf } from "./words";

const ORIGINS: Record<Origin, string> = {
  discovery: "Found on the web",
  description: "Described by a person",
  repair: "Broken link",
  refresh: "Stale field",
  improvement: "Enrichment",
};

/** Where a proposal comes from, in words. */
export function originName(origin: Origin): string {
  return ORIGINS[origin];
}

const STATES: Record<ProposalState, { name: string; kind: string }> = {
  pending: { name: "Waits", kind: "" },
  accepted: { name: "Accepted", kind: "good" },
  rejected: { name: "Turned down", kind: "bad" },
};

export function stateOf(state: ProposalState): { name: string; kind: string } {
  return STATES[state];
}

/** A value as text to be edited: texts as they are, everything else as JSON. */
export function editable(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The value of an edited text, in the form the proposed one had; or why it is none. */
export function edited(text: string, was: JsonValue | undefined): { value: JsonValue } | { reason: string } {
  if (typeof was === "string" || was === undefined) return { value: text };
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (reason) {
    return { reason: `This is not JSON: ${(reason as Error).message}` };
  }
}

/** A field of a proposal beside what the card has now. */
export interface FieldView {
  field: string;
  proposed: ProposedField;
  /** None when the card has the value already. */
  diff: FieldDiff | null;
  conflict: boolean;
}

/** The fields of a proposal, each with what accepting it would change, edits taken in. */
export function fieldsOf(detail: ProposalDetail, edits: { [field: string]: JsonValue }): FieldView[] {
  return detail.proposal.draft.fields.map((proposed) => {
    const { field } = proposed;
    const told = detail.diff.find((diff) => diff.field === field) ?? null;
    const edit = edits[field];
    // What the card has now: where nothing would change, that is the proposed value itself.
    const now = told ? (told.kind === "added" ? undefined : (told.before ?? undefined)) : proposed.value;
    const diff = edit === undefined ? told : diffOf(field, now, edit);
    return { field, proposed, diff, conflict: detail.conflicts.includes(field) };
  });
}

/** The neighbour of a row, staying inside the list; the first when none is chosen. */
export function neighbour<T extends { id: number }>(rows: T[], id: number | null, step: number): T | undefined {
  const at = rows.findIndex((row) => row.id === id);
  if (at < 0) return rows[0];
  return rows[Math.min(rows.length - 1, Math.max(0, at + step))];
}
