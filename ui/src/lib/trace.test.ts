import { describe, expect, it } from "vitest";
import type { Phase, Step, StepEvent } from "./bindings";
import { stepsOf, totalOf } from "./trace";

const event = (step: Step, phase: Phase, more: Partial<StepEvent> = {}): StepEvent => ({
  step,
  phase,
  text: "",
  model: null,
  tokens: [0, 0],
  ms: 0,
  ...more,
});

describe("the trace", () => {
  it("gathers events into steps, each with what happened inside", () => {
    const steps = stepsOf([
      event("search", { kind: "start" }, { text: "Searching" }),
      event(
        "search",
        { kind: "result", outcome: "found" },
        { text: "Closest: a", model: "small", tokens: [10, 2], ms: 5 },
      ),
      event("web", { kind: "start" }, { text: "Looking" }),
      event("web", { kind: "trace", trace: { kind: "action", text: "open" } }, { ms: 3 }),
      event("web", { kind: "trace", trace: { kind: "observation", text: "gone", failed: true } }, { ms: 7 }),
    ]);
    expect(steps.map((step) => [step.step, step.outcome, step.text, step.ms])).toEqual([
      ["search", "found", "Closest: a", 5],
      ["web", null, "Looking", 7],
    ]);
    expect(steps[1]?.inner.map((piece) => piece.text)).toEqual(["open", "gone"]);
    expect(totalOf(steps)).toEqual({ ms: 12, tokens: 12, models: ["small"] });
  });

  it("keeps the same step apart when it runs again, and takes results without a start", () => {
    const steps = stepsOf([
      event("generate", { kind: "start" }),
      event("generate", { kind: "start" }),
      event("generate", { kind: "result", outcome: "written" }),
      event("add", { kind: "result", outcome: "proposed" }),
    ]);
    expect(steps.map((step) => step.outcome)).toEqual([null, "written", "proposed"]);
  });
});
