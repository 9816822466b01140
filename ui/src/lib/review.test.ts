import { describe, expect, it } from "vitest";
import type { JsonValue, ProposalDetail } from "./bindings";
import { edited, fieldsOf, neighbour } from "./review";
import { diffOf } from "./words";

function detail(fields: { [field: string]: JsonValue }, now: { [field: string]: JsonValue }): ProposalDetail {
  return {
    proposal: {
      id: 1,
      draft: {
        card: null,
        base: null,
        origin: "discovery",
        reason: "",
        similar: [],
        basis: null,
        candidates: [],
        fields: Object.entries(fields).map(([field, value]) => ({ field, value, evidence: [], confidence: 0.9 })),
      },
      proposed_by: "Discovery",
      created_at: "",
      state: "pending",
      decided_at: null,
      decided_by: null,
      decision: null,
      accepted: [],
    },
    title: "t",
    card: null,
    diff: Object.entries(fields)
      .filter(([field, value]) => now[field] !== value)
      .map(([field, value]) => diffOf(field, now[field], value)),
    conflicts: ["name"],
    similar: [],
    events: [],
  };
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
