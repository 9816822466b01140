import { describe, expect, it } from "vitest";
import type { HealthPoint, JsonValue, ProposalDetail, ProposalRow, Risk } from "./bindings";
import {
  areas,
  conflictsOf,
  edited,
  fieldsOf,
  filtered,
  HEADING_HEIGHT,
  HEALTH,
  itemsBetween,
  neighbour,
  placeOf,
  queueHeight,
  queueOf,
  ROW_HEIGHT,
  trendOf,
  winnerOf,
} from "./review";
import { diffOf } from "./words";
import { proposalOf } from "../testing/fixtures";
import { review as texts } from "../texts/review";

function detail(fields: { [field: string]: JsonValue }, now: { [field: string]: JsonValue }): ProposalDetail {
  const diff = Object.entries(fields)
    .filter(([field, value]) => now[field] !== value)
    .map(([field, value]) => diffOf(field, now[field], value));
  return proposalOf(1, "t", fields, diff, { conflicts: ["name"] });
}

describe("review", () => {
  it("shows each field beside what the card has, with the reviewer's value in place", () => {
    const views = fieldsOf(detail({ name: "b", kind: "cli", note: "n" }, { name: "a", kind: "cli" }), { note: "mine" });
    expect(views.map((view) => [view.field, view.diff?.kind ?? null, view.conflict])).toEqual([
      ["name", "changed", true],
      ["kind", null, false],
      ["note", "added", false],
    ]);
    expect(views[2]?.diff?.after).toBe("mine");
  });

  it("reads an edited value in the form of the proposed one", () => {
    expect(edited("7", "text")).toEqual({ value: "7" });
    expect(edited('{"a": 1}', {})).toEqual({ value: { a: 1 } });
    expect(edited("{", {})).toHaveProperty("reason");
  });

  it("moves through the queue and stops at its ends", () => {
    const rows = [{ id: 3 }, { id: 2 }, { id: 1 }];
    expect(neighbour(rows, 3, 1)?.id).toBe(2);
    expect(neighbour(rows, 1, 1)?.id).toBe(1);
    expect(neighbour(rows, 3, -1)?.id).toBe(3);
    expect(neighbour(rows, 9, 1)?.id).toBe(3);
    expect(neighbour([], 9, 1)).toBeUndefined();
  });
});

function row(id: number, group: string, risk: Risk, title = `card ${id}`): ProposalRow {
  return {
    id,
    title,
    origin: "refresh",
    group,
    risk,
    suspect: false,
    conflicts: 0,
    approvals: 0,
    needed: 1,
    state: "pending",
    card: "c",
    fields: ["pricing"],
    confidence: 0.9,
    created_at: "",
    reason: "says otherwise",
    page: null,
    assigned_to: null,
  };
}

describe("queue", () => {
  const rows = [row(3, "Stale field", "low"), row(2, "Broken link", "high"), row(1, "Stale field", "medium")];
  const told = (order: "kind" | "risk") =>
    queueOf(rows, ["Broken link", "Stale field", "New card"], order).flatMap((group) => [
      group.heading,
      ...group.rows.map((row) => row.id),
    ]);

  it("groups by kind in the order told, and by risk with the highest first", () => {
    expect(told("kind")).toEqual(["Broken link", 2, "Stale field", 3, 1]);
    const { high, medium, low } = texts.risks;
    expect(told("risk")).toEqual([high, 2, medium, 1, low, 3]);
  });

  it("knows what is between two offsets", () => {
    const queue = queueOf(rows, [], "kind");
    const shown = (from: number, to: number) =>
      itemsBetween(queue, from, to).map((item) => ("row" in item ? item.row.id : item.group.heading));
    const height = 2 * HEADING_HEIGHT + 3 * ROW_HEIGHT;
    expect(queueHeight(queue)).toBe(height);
    expect(shown(0, height)).toEqual(["Stale field", 3, 1, "Broken link", 2]);
    expect(shown(-400, 400)).toEqual(shown(0, height));
    expect(shown(0, HEADING_HEIGHT)).toEqual(["Stale field"]);
    expect(shown(HEADING_HEIGHT, HEADING_HEIGHT + ROW_HEIGHT)).toEqual([3]);
    const second = HEADING_HEIGHT + ROW_HEIGHT;
    expect(shown(second - 1, second + 1)).toEqual([3, 1]);
    expect(shown(second, height - ROW_HEIGHT)).toEqual([1, "Broken link"]);
    expect(shown(height, height + 400)).toEqual([]);
    expect(itemsBetween([], 0, 400)).toEqual([]);
    expect(queueHeight([])).toBe(0);
    const items = itemsBetween(queue, 0, height);
    expect(items.map((item) => item.top)).toEqual([0, 30, 96, 162, 192]);
    expect(items.flatMap((item) => ("row" in item ? [item.place] : []))).toEqual([0, 1, 2]);
  });

  it("knows where a proposal is, with its heading if it is the first below it", () => {
    const queue = queueOf(rows, [], "kind");
    expect(placeOf(queue, 3)).toEqual({ from: 0, to: HEADING_HEIGHT + ROW_HEIGHT });
    expect(placeOf(queue, 1)).toEqual({ from: HEADING_HEIGHT + ROW_HEIGHT, to: HEADING_HEIGHT + 2 * ROW_HEIGHT });
    expect(placeOf(queue, 9)).toBeNull();
    expect(placeOf(queue, null)).toBeNull();
  });

  it("is filtered by words that stand anywhere in a row", () => {
    expect(filtered(rows, "  ").length).toBe(3);
    expect(filtered(rows, "stale MEDIUM").map(({ id }) => id)).toEqual([1]);
    expect(filtered(rows, "nothing such")).toEqual([]);
  });
});

describe("health", () => {
  const point = (day: string, verified: number, broken: number): HealthPoint => ({
    day,
    verified,
    stale: 0,
    broken,
    unreachable: 0,
    never_checked: 0,
  });

  it("ends the trend with today as it stands", () => {
    const { day: _, ...now } = point("", 3, 1);
    const points = trendOf(
      { total: 6, ...now, changed: 2, trend: [point("2026-01-01", 1, 3), point("2026-01-02", 9, 9)] },
      "2026-01-02",
    );
    expect(points.map((one) => [one.day, one.verified])).toEqual([
      ["2026-01-01", 1],
      ["2026-01-02", 3],
    ]);
    expect(points.at(-1)?.never_checked).toBe(2);
  });

  it("stacks the states up to the top of the chart", () => {
    const paths = areas([point("a", 1, 3), point("b", 3, 1)], 100, 40);
    expect(paths.map(({ key }) => key)).toEqual(HEALTH.map(({ key }) => key));
    expect(paths[0]?.path).toBe("M0.0,30.0L100.0,10.0L100.0,40.0L0.0,40.0Z");
    expect(paths.at(-1)?.path.startsWith("M0.0,0.0L100.0,0.0")).toBe(true);
    expect(areas([point("a", 1, 1)], 100, 40)[0]?.path).toBe("M0.0,20.0L100,20.0L100,40.0L0.0,40.0Z");
  });
});

describe("a field two libraries disagree on", () => {
  const asked = detail({ name: "theirs", class: "C" }, { name: "ours" });
  asked.proposal.draft.arrived = { import: "i", card: "c", revision: "r", conflicts: ["class", "name"] };

  it("is in conflict, whoever found that out", () => {
    expect(conflictsOf(asked.proposal)).toEqual(["name", "class"]);
    expect(fieldsOf(asked, {}).map((view) => [view.field, view.conflict, view.disputed])).toEqual([
      ["name", true, true],
      ["class", true, true],
    ]);
  });

  it("is won by whom the person says", () => {
    const view = fieldsOf(asked, {})[0]!;
    expect(winnerOf(view, undefined, false)).toBe("none");
    expect(winnerOf(view, "theirs", false)).toBe("theirs");
    expect(winnerOf(view, "a third value", false)).toBe("other");
    expect(winnerOf(view, undefined, true)).toBe("mine");
  });
});
