import { describe, expect, it } from "vitest";
import { filtered, keysOf, OUTCOMES, shownOf } from "./audit";
import type { AuditEntry, CallOutcome } from "./bindings";

const entry = (outcome: CallOutcome): AuditEntry => ({
  at: "2026-01-01T00:00:00Z",
  session: "s",
  client: "c",
  profile: "",
  tool: "t",
  name: "t",
  provider: "",
  arguments: {},
  needed: [],
  decided: "rules",
  outcome,
  why: "",
  took_ms: 1,
});

describe("calls that were made", () => {
  it("can be narrowed to any outcome there is", () => {
    expect(OUTCOMES.map(({ name }) => name)).toEqual(["All", "Succeeded", "Failed", "Denied", "Cancelled"]);
  });

  it("are filtered by what came of them, and counted", () => {
    const entries = (["done", "failed", "done"] as const).map(entry);
    expect(filtered(entries, "done").length).toBe(2);
    expect(filtered(entries, "all")).toBe(entries);
    expect(shownOf(3, 3, 3)).toBe("3 calls");
    expect(shownOf(1, 3, 3)).toBe("1 of 3 calls");
    expect(shownOf(200, 200, 1234)).toBe("The latest 200 of 1,234 calls");
    expect(shownOf(12, 200, 1234)).toBe("12 of the latest 200 of 1,234 calls");
  });

  it("are told apart where several ended at once", () => {
    expect(new Set(keysOf((["done", "done"] as const).map(entry))).size).toBe(2);
  });
});
