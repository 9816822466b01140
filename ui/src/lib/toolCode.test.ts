import { expect, it } from "vitest";
import type { JsonValue } from "./bindings";
import { toolCode } from "./toolCode";

it("reads code, tests and examples", () => {
  const value = {
    language: "python",
    source: "def run(n): return n",
    tests: "def test_one(): assert run(1) == 1",
    examples: [{ arguments: { n: 2 }, result: 2 }, "odd"],
  };
  expect(toolCode(value)).toEqual({ ...value, examples: [{ arguments: '{"n":2}', result: "2" }] });
});

it("tells what holds no code", () => {
  const nothing: (JsonValue | undefined)[] = [undefined, null, "text", [], {}, { source: 7 }];
  for (const value of nothing) expect(toolCode(value)).toBeNull();
  expect(toolCode({ source: "x" })).toEqual({ language: "", source: "x", tests: "", examples: [] });
});
