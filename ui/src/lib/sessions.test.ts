import { describe, expect, it } from "vitest";
import {
  budgetRows,
  budgetsKey,
  budgetsOf,
  budgetsProblem,
  DEFAULTS,
  defaultOf,
  FIELDS,
  numberOf,
  numberProblem,
  readNumber,
  showNumber,
  toolsOf,
  withExempt,
  withNumber,
} from "./sessions";
import { sessions as texts } from "../texts/sessions";

const field = (key: string) => FIELDS.find((one) => one.key === key)!;
const row = (name: string, tokens: string) => ({ name, tokens });

describe("sessions", () => {
  it("show numbers in their unit and read them back", () => {
    const [ttl, threshold] = [field("session.ttl_secs"), field("session.threshold")];
    expect([showNumber(ttl, 2700), readNumber(ttl, " 45 ")]).toEqual(["45", 2700]);
    expect([showNumber(threshold, 0.123456789), readNumber(threshold, "0.35")]).toEqual(["0.1235", 0.35]);
    for (const one of FIELDS) expect(numberProblem(one, showNumber(one, numberOf(DEFAULTS, one))), one.key).toBeNull();
  });

  it("change one thing and leave the rest", () => {
    const odd = structuredClone(DEFAULTS);
    Object.assign(odd.session, { always: ["x"], threshold: 0.123456789 });
    odd.budgets = { claude: 8000 };
    const changed = withExempt(withNumber(odd, field("guard.repeats"), 4), toolsOf("get_time, poll\nget_time"));
    expect(changed.session.guard).toEqual({ ...odd.session.guard, repeats: 4, exempt: ["get_time", "poll"] });
    expect({ ...changed.session, guard: odd.session.guard }).toEqual(odd.session);
    expect(changed.budgets).toEqual({ claude: 8000 });
    expect(withNumber(odd, field("session.results"), 7).session).toEqual({ ...odd.session, results: 7 });
    expect(DEFAULTS.session.guard.repeats).toBe(3);
  });

  it("read budgets, of which neither order nor empty rows matter", () => {
    const rows = [row(" claude ", "8000"), row("", ""), row("a", "500")];
    expect(budgetsProblem(rows)).toBeNull();
    expect(budgetsOf(rows)).toEqual({ claude: 8000, a: 500 });
    expect(budgetsKey(rows)).toBe(budgetsKey(budgetRows({ a: 500, claude: 8000 })));
    expect(budgetsKey(rows)).not.toBe(budgetsKey(budgetRows({ a: 501, claude: 8000 })));
  });

  it("say what cannot be saved", () => {
    for (const one of FIELDS) {
      for (const text of ["", "x", "-1", String(one.max + 1), ...(one.step < 1 ? [] : ["2.5"])]) {
        expect(numberProblem(one, text), `${one.key} ${text}`).toContain(one.name);
      }
    }
    expect(budgetsProblem([row("", "8000")])).toBe(texts.nameProgram);
    expect(budgetsProblem([row("a", "1"), row("A", "2")])).toBe(texts.programTwice("A"));
    expect(budgetsProblem([row("a", "many")])).toBe(texts.giveTokens("a"));
    expect(budgetsProblem([row("a", "")])).toBe(texts.giveTokens("a"));
  });

  it("tell the defaults as they are typed", () => {
    const told = FIELDS.map((field) => `${field.name} ${defaultOf(field)}`);
    expect(told).toContain(`${texts.limits.ttl.name} 30`);
    expect(told).toContain(`${texts.limits.threshold.name} 0.2`);
    expect(told).toContain(`${texts.limits.contextTokens.name} 128,000`);
  });
});
