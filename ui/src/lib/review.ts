// Proposals as displayed in Review.

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
import type { Sides } from "./flagged";
import { scaled } from "./scaled.svelte";
import { diffOf } from "./words";
import { review as texts } from "../texts/review";

/** Returns the display name of a proposal's origin. */
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

/** Returns a value as editable text: strings unchanged, everything else as JSON. */
export function editable(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Parses edited text in the form of the proposed value: a string, or JSON. Returns a reason if it is invalid. */
export function edited(text: string, was: JsonValue | undefined): { value: JsonValue } | { reason: string } {
  if (typeof was === "string" || was === undefined) return { value: text };
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (reason) {
    return { reason: texts.notJson((reason as Error).message) };
  }
}

/** A field of a proposal, compared with the card's current value. */
export interface FieldView {
  field: string;
  proposed: ProposedField;
  /** `null` if the card already has the proposed value. */
  diff: FieldDiff | null;
  /** Whether the engine has not compared the edited value yet; `diff` is then computed in the window. */
  stale: boolean;
  conflict: boolean;
  /** Whether the conflict is with another library, that is, both changed the field. */
  disputed: boolean;
  risk: Risk;
  decision: FieldDecision | null;
}

/** Returns the fields in conflict: changed in the card since the proposal, or changed in both libraries. */
export function conflictsOf(proposal: Proposal): string[] {
  return [...new Set([...proposal.conflicts, ...(proposal.draft.arrived?.conflicts ?? [])])];
}

/** Returns which side of a conflict currently wins. */
export function winnerOf(
  view: FieldView,
  edit: JsonValue | undefined,
  turnedDown: boolean,
): "none" | "mine" | "theirs" | "other" {
  if (turnedDown) return "mine";
  if (edit === undefined) return "none";
  return JSON.stringify(edit) === JSON.stringify(view.proposed.value) ? "theirs" : "other";
}

/** Returns the fields of a proposal with the change that accepting each would make, edits included. */
export function fieldsOf(detail: ProposalDetail, edits: { [field: string]: JsonValue }): FieldView[] {
  return detail.proposal.draft.fields.map((proposed) => {
    const { field } = proposed;
    const told = detail.diff.find((diff) => diff.field === field) ?? null;
    const edit = edits[field];
    // The card's current value. Without a diff it equals the proposed value.
    const now = told ? (told.kind === "added" ? undefined : (told.before ?? undefined)) : proposed.value;
    // The window computes its own diff until the engine has compared the edited value.
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

/** Returns the values of a field that the engine has scanned for flagged text. */
export function sidesOf(view: FieldView): Sides {
  const { diff, stale, proposed } = view;
  if (!diff) return { before: proposed.value, after: stale ? undefined : proposed.value };
  return {
    before: diff.kind === "added" ? undefined : (diff.before ?? undefined),
    after: stale || diff.kind === "removed" ? undefined : (diff.after ?? undefined),
  };
}

/** Returns the row `step` places from the selected one, clamped to the list; the first row if none is selected. */
export function neighbour<T extends { id: number }>(rows: T[], id: number | null, step: number): T | undefined {
  const at = rows.findIndex((row) => row.id === id);
  if (at < 0) return rows[0];
  return rows[Math.min(rows.length - 1, Math.max(0, at + step))];
}

export type QueueOrder = "kind" | "risk";

/** Proposals below one heading of the queue. */
export interface QueueGroup {
  heading: string;
  rows: ProposalRow[];
  /** Offset of the heading, in pixels. */
  top: number;
  /** Number of proposals in the groups above. */
  place: number;
  /** Heights of the heading and of each proposal, in pixels. */
  headingHeight: number;
  rowHeight: number;
}

/** An item of the queue: a group heading or a proposal. `top` is its offset in pixels. */
export type QueueItem = { group: QueueGroup; top: number } | { row: ProposalRow; top: number; place: number };

// Heights of the items, in pixels at the usual text size.
export const HEADING_HEIGHT = 30;
export const ROW_HEIGHT = 66;

/** Filters rows; every word has to occur in the title, group, fields, reason or risk. */
export function filtered(rows: ProposalRow[], text: string): ProposalRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  return rows.filter((row) => {
    const all =
      `${row.title} ${row.group} ${row.fields.join(" ")} ${row.reason} ${riskOf(row.risk).name}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Groups the queue by kind, or by risk with the highest first. */
export function queueOf(rows: ProposalRow[], groups: string[], order: QueueOrder): QueueGroup[] {
  const byName = grouped(rows, (row) => (order === "kind" ? row.group : riskOf(row.risk).name));
  const names =
    order === "kind"
      ? new Set([...groups, ...byName.keys()])
      : (["high", "medium", "low"] as Risk[]).map((risk) => riskOf(risk).name);
  const queue: QueueGroup[] = [];
  const heights = { headingHeight: scaled(HEADING_HEIGHT), rowHeight: scaled(ROW_HEIGHT) };
  let [top, place] = [0, 0];
  for (const heading of names) {
    const inside = byName.get(heading);
    if (!inside) continue;
    const group = { heading, rows: inside, top, place, ...heights };
    queue.push(group);
    top = endOf(group, inside.length);
    place += inside.length;
  }
  return queue;
}

/** Returns where this many proposals of a group end, in pixels. */
function endOf(group: QueueGroup, rows: number): number {
  return group.top + group.headingHeight + rows * group.rowHeight;
}

/** Returns the height of the whole queue, in pixels. */
export function queueHeight(queue: QueueGroup[]): number {
  const last = queue.at(-1);
  return last ? endOf(last, last.rows.length) : 0;
}

/** Groups a list, like `Map.groupBy`, which some supported webviews lack. */
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

/** Returns the items of the queue of which a part is between two offsets, in pixels. */
export function itemsBetween(queue: QueueGroup[], from: number, to: number): QueueItem[] {
  const items: QueueItem[] = [];
  for (const group of queue) {
    const { rowHeight } = group;
    const start = endOf(group, 0);
    if (group.top >= to) break;
    if (start > from) items.push({ group, top: group.top });
    const first = Math.max(0, Math.floor((from - start) / rowHeight));
    const past = Math.min(group.rows.length, Math.ceil((to - start) / rowHeight));
    for (let at = first; at < past; at++)
      items.push({ row: group.rows[at]!, top: start + at * rowHeight, place: group.place + at });
  }
  return items;
}

/** Returns where a proposal begins and ends in the queue, in pixels; the first of a group begins with its heading. */
export function placeOf(queue: QueueGroup[], id: number | null): { from: number; to: number } | null {
  for (const group of queue) {
    const at = group.rows.findIndex((row) => row.id === id);
    if (at >= 0) return { from: at ? endOf(group, at) : group.top, to: endOf(group, at + 1) };
  }
  return null;
}

/** Card states in their order in the stacked chart. */
export const HEALTH: { key: keyof Omit<HealthPoint, "day">; name: string }[] = [
  { key: "verified", name: texts.health.verified },
  { key: "stale", name: texts.health.stale },
  { key: "broken", name: texts.health.broken },
  { key: "unreachable", name: texts.health.unreachable },
  { key: "never_checked", name: texts.health.never_checked },
];

/** Returns the recorded days with today's current counts at the end. */
export function trendOf(health: LibraryHealth, today: string): HealthPoint[] {
  const { total: _, trend, changed, ...counts } = health;
  // Recorded days count cards changed since their check as never checked, so today does too.
  const now = { ...counts, never_checked: counts.never_checked + changed };
  return [...trend.filter((point) => point.day !== today), { day: today, ...now }];
}

/** Returns the areas of a stacked chart as SVG paths, one per state, in a box of `width` × `height`. */
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
    // A single day is drawn as a column across the whole chart.
    const ends = points.length === 1 ? [`${width},${y(above[0] ?? 0)}`, `${width},${lower[0]?.split(",")[1]}`] : [];
    return { key, path: `M${[...upper, ...ends, ...lower].join("L")}Z` };
  });
}
