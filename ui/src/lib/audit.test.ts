import { describe, expect, it } from "vitest";
import { filtered, keysOf, OUTCOMES, shownOf } from "./audit";
import type { AuditEntry, CallOutcome } from "./bindings";
import { activity as texts } from "../texts/activity";
import { common } from "../texts/common";

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
    const { all, done, failed, refused, cancelled } = texts.outcomes;
    expect(OUTCOMES.map(({ name }) => name)).toEqual([all, done, failed, refused, cancelled]);
  });

  it("are filtered by what came of them, and counted", () => {
    const entries = (["done", "failed", "done"] as const).map(entry);
    expect(filtered(entries, "done").length).toBe(2);
    expect(filtered(entries, "all")).toBe(entries);
    expect(shownOf(3, 3, 3)).toBe(common.calls(3));
    expect(shownOf(1, 3, 3)).toBe(texts.shownOf(1, common.calls(3)));
    const latest = texts.latestOf(200, 1234);
    // At the beginning of a sentence.
    expect(shownOf(200, 200, 1234)).toBe(`${latest.charAt(0).toUpperCase()}${latest.slice(1)}`);
    expect(shownOf(12, 200, 1234)).toBe(texts.shownOf(12, latest));
  });

  it("are told apart where several ended at once", () => {
    expect(new Set(keysOf((["done", "done"] as const).map(entry))).size).toBe(2);
  });
});
