import { describe, expect, it } from "vitest";
import { budgetRow, DEFAULTS, defaultOf, draftOf, FIELDS, sessionProblem, sessionsOf } from "./sessions";
import { sessions as texts } from "../texts/sessions";

describe("sessions", () => {
  it("give back what was not changed, also what is not shown", () => {
    const odd = structuredClone(DEFAULTS);
    Object.assign(odd.session, {
      sessions: 7,
      overlap: 0.123456,
      always: ["x"],
      threshold: 0.123456789,
      ttl_secs: 100,
    });
    odd.budgets = { claude: 8000 };
    expect(sessionsOf(draftOf(odd), odd)).toEqual(odd);
    expect(sessionProblem(draftOf(DEFAULTS))).toBeNull();
  });

  it("take what is typed", () => {
    const draft = draftOf(DEFAULTS);
    draft.numbers["session.ttl_secs"] = "45";
    draft.numbers["session.threshold"] = "0.35";
    draft.numbers["guard.repeats"] = " 4 ";
    draft.budgets = [budgetRow(" claude ", "8000"), budgetRow()];
    draft.exempt = "get_time, poll\nget_time";
    expect(sessionProblem(draft)).toBeNull();
    const { session, budgets } = sessionsOf(draft, DEFAULTS);
    expect([session.ttl_secs, session.threshold, session.guard.repeats, session.guard.exempt]).toEqual([
      2700,
      0.35,
      4,
      ["get_time", "poll"],
    ]);
    expect(budgets).toEqual({ claude: 8000 });
    expect(DEFAULTS.session.guard.repeats).toBe(3);
  });

  it("say what cannot be kept", () => {
    for (const field of FIELDS) {
      for (const text of ["", "x", "-1", String(field.max + 1), ...(field.step < 1 ? [] : ["2.5"])]) {
        const draft = draftOf(DEFAULTS);
        draft.numbers[field.key] = text;
        expect(sessionProblem(draft), `${field.key} ${text}`).toContain(field.name);
      }
    }
    const programs = (...rows: [string, string][]) =>
      sessionProblem({ ...draftOf(DEFAULTS), budgets: rows.map(([name, tokens]) => budgetRow(name, tokens)) });
    expect(programs(["", "8000"])).toBe(texts.nameProgram);
    expect(programs(["a", "1"], ["A", "2"])).toBe(texts.programTwice("A"));
    expect(programs(["a", "many"])).toBe(texts.giveTokens("a"));
  });

  it("tell the defaults as they are typed", () => {
    const told = FIELDS.map((field) => `${field.name} ${defaultOf(field)}`);
    expect(told).toContain(`${texts.limits.ttl.name} 30`);
    expect(told).toContain(`${texts.limits.threshold.name} 0.2`);
    expect(told).toContain(`${texts.limits.contextTokens.name} 128,000`);
  });
});
