// Proposals as the review pane shows them.

import type {
  FieldDecision,
  FieldDiff,
  HealthPoint,
  JsonValue,
  LibraryHealth,
  Origin,
  Proposal,
  ProposalDetail,
  ProposalRow,
  ProposalState,
  ProposedField,
  Risk,
} from "./bindings";
import type { Sides } from "./suspect";
import { diffOf } from "./words";
import { review as texts } from "../texts/review";

/** Where a proposal comes from, in words. */
export function originName(origin: Origin): string {
  return texts.origins[origin];
}

const STATES: Record<ProposalState, { name: string; kind: string }> = {
  pending: { name: texts.states.pending, kind: "" },
  accepted: { name: texts.states.accepted, kind: "good" },
  rejected: { name: texts.states.rejected, kind: "bad" },
  withdrawn: { name: texts.states.withdrawn, kind: "" },
};

export function stateOf(state: ProposalState): { name: string; kind: string } {
  return STATES[state];
}

const RISKS: Record<Risk, { name: string; kind: string; rank: number }> = {
  high: { name: texts.risks.high, kind: "bad", rank: 0 },
  medium: { name: texts.risks.medium, kind: "warn", rank: 1 },
  low: { name: texts.risks.low, kind: "good", rank: 2 },
};

export function riskOf(risk: Risk): { name: string; kind: string; rank: number } {
  return RISKS[risk];
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
    return { reason: texts.notJson((reason as Error).message) };
  }
}

/** A field of a proposal beside what the card has now. */
export interface FieldView {
  field: string;
  proposed: ProposedField;
  /** None when the card has the value already. */
  diff: FieldDiff | null;
  /** The engine has not seen the edited value yet: what it told is of another one. */
  stale: boolean;
  conflict: boolean;
  /** The conflict is with another library: both changed the field. */
  disputed: boolean;
  risk: Risk;
  decision: FieldDecision | null;
}

/** Fields only a person can decide: changed in the card since, or in both libraries. */
export function conflictsOf(proposal: Proposal): string[] {
  return [...new Set([...proposal.conflicts, ...(proposal.draft.arrived?.conflicts ?? [])])];
}

/** Who wins in a field in conflict, as things stand. */
export function winnerOf(
  view: FieldView,
  edit: JsonValue | undefined,
  turnedDown: boolean,
): "none" | "mine" | "theirs" | "other" {
  if (turnedDown) return "mine";
  if (edit === undefined) return "none";
  return JSON.stringify(edit) === JSON.stringify(view.proposed.value) ? "theirs" : "other";
}

/** The fields of a proposal, each with what accepting it would change, edits taken in. */
export function fieldsOf(detail: ProposalDetail, edits: { [field: string]: JsonValue }): FieldView[] {
  return detail.proposal.draft.fields.map((proposed) => {
    const { field } = proposed;
    const told = detail.diff.find((diff) => diff.field === field) ?? null;
    const edit = edits[field];
    // What the card has now: where nothing would change, that is the proposed value itself.
    const now = told ? (told.kind === "added" ? undefined : (told.before ?? undefined)) : proposed.value;
    // Until the engine has compared the edited value, the window's own comparison stands in.
    const stale = edit !== undefined && JSON.stringify(told?.after) !== JSON.stringify(edit);
    return {
      field,
      proposed,
      diff: stale ? diffOf(field, now, edit) : told,
      stale,
      conflict: conflictsOf(detail.proposal).includes(field),
      disputed: !!detail.proposal.draft.arrived?.conflicts.includes(field),
      risk: detail.risks[field] ?? "medium",
      decision: detail.proposal.decisions.find((decision) => decision.field === field) ?? null,
    };
  });
}

/** The values of a field in which the engine looked for what hides. */
export function sidesOf(view: FieldView): Sides {
  const { diff, stale, proposed } = view;
  if (!diff) return { before: proposed.value, after: stale ? undefined : proposed.value };
  return {
    before: diff.kind === "added" ? undefined : (diff.before ?? undefined),
    after: stale || diff.kind === "removed" ? undefined : (diff.after ?? undefined),
  };
}

/** The neighbour of a row, staying inside the list; the first when none is chosen. */
export function neighbour<T extends { id: number }>(rows: T[], id: number | null, step: number): T | undefined {
  const at = rows.findIndex((row) => row.id === id);
  if (at < 0) return rows[0];
  return rows[Math.min(rows.length - 1, Math.max(0, at + step))];
}

export type QueueOrder = "kind" | "risk";

/** A line of the queue: a heading over what follows it, or a proposal. */
export type QueueItem =
  { heading: string; count: number; top: number } | { row: ProposalRow; top: number; place: number };

export const HEADING_HEIGHT = 30;
export const ROW_HEIGHT = 66;

/** The rows a filter leaves: every word has to stand somewhere in them. */
export function filtered(rows: ProposalRow[], text: string): ProposalRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  return rows.filter((row) => {
    const all =
      `${row.title} ${row.group} ${row.fields.join(" ")} ${row.reason} ${riskOf(row.risk).name}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** The queue line by line, with where each begins: grouped by kind, or by risk with the highest first. */
export function queueOf(rows: ProposalRow[], groups: string[], order: QueueOrder): QueueItem[] {
  const known = [...new Set([...groups, ...rows.map((row) => row.group)])];
  const names = order === "kind" ? known : (["high", "medium", "low"] as Risk[]).map((risk) => riskOf(risk).name);
  const of = (row: ProposalRow) => (order === "kind" ? row.group : riskOf(row.risk).name);
  const byName = grouped(rows, of);
  const items: QueueItem[] = [];
  let top = 0;
  let place = 0;
  for (const name of names) {
    const inside = byName.get(name);
    if (!inside?.length) continue;
    items.push({ heading: name, count: inside.length, top });
    top += HEADING_HEIGHT;
    for (const row of inside) {
      items.push({ row, top, place: place++ });
      top += ROW_HEIGHT;
    }
  }
  return items;
}

/** As `Map.groupBy`, which webviews in use do not all have. */
function grouped<T>(list: T[], of: (item: T) => string): Map<string, T[]> {
  const map = new Map<string, T[]>();
  for (const item of list) {
    const name = of(item);
    const inside = map.get(name);
    if (inside) inside.push(item);
    else map.set(name, [item]);
  }
  return map;
}

/** The first item that ends below `top`: where what is seen begins. */
export function firstBelow(items: QueueItem[], top: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle] as QueueItem;
    if (item.top + ("row" in item ? ROW_HEIGHT : HEADING_HEIGHT) <= top) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The states a card can be in, in the order they are stacked. */
export const HEALTH: { key: keyof Omit<HealthPoint, "day">; name: string }[] = [
  { key: "verified", name: texts.health.verified },
  { key: "stale", name: texts.health.stale },
  { key: "broken", name: texts.health.broken },
  { key: "unreachable", name: texts.health.unreachable },
  { key: "never_checked", name: texts.health.never_checked },
];

/** The trend up to now: the days that were recorded, and today as it stands. */
export function trendOf(health: LibraryHealth, today: string): HealthPoint[] {
  const { total: _, trend, changed, ...counts } = health;
  // Days know no more than whether a card was looked at as it is.
  const now = { ...counts, never_checked: counts.never_checked + changed };
  return [...trend.filter((point) => point.day !== today), { day: today, ...now }];
}

/** The areas of a stacked chart as SVG paths, one a state, in a box of `width` × `height`. */
export function areas(points: HealthPoint[], width: number, height: number): { key: string; path: string }[] {
  const last = Math.max(1, points.length - 1);
  const all = (point: HealthPoint) => HEALTH.reduce((sum, { key }) => sum + point[key], 0) || 1;
  const x = (index: number) => ((index / last) * width).toFixed(1);
  let below = points.map(() => 0);
  return HEALTH.map(({ key }) => {
    const above = points.map((point, index) => (below[index] ?? 0) + point[key] / all(point));
    const y = (share: number) => (height - share * height).toFixed(1);
    const upper = above.map((share, index) => `${x(index)},${y(share)}`);
    const lower = below.map((share, index) => `${x(index)},${y(share)}`).reverse();
    below = above;
    // A single day is a column as wide as the chart.
    const ends = points.length === 1 ? [`${width},${y(above[0] ?? 0)}`, `${width},${lower[0]?.split(",")[1]}`] : [];
    return { key, path: `M${[...upper, ...ends, ...lower].join("L")}Z` };
  });
}
