import { expect, it } from "vitest";
import type { RecordedCall } from "./bindings";
import { inOrder, toggled } from "./macros";

const call = (number: number, session: string): RecordedCall => ({
  number,
  at: "2026-01-01T00:00:00Z",
  session,
  client: "agent",
  name: `tool${number}`,
  provider: "",
  arguments: "{}",
  uses: [],
});

// Newest first, as the engine lists them.
const CALLS = [call(5, "a"), call(4, "b"), call(3, "a"), call(2, "a"), call(1, "b")];

it("selects the rest of a session with the first call", () => {
  expect([...toggled(CALLS, new Set(), call(2, "a"))].sort()).toEqual([2, 3, 5]);
});

it("then selects and deselects one by one", () => {
  const chosen = new Set([2, 3, 5]);
  expect([...toggled(CALLS, chosen, call(3, "a"))].sort()).toEqual([2, 5]);
  expect([...toggled(CALLS, chosen, call(4, "b"))].sort()).toEqual([2, 3, 4, 5]);
});

it("keeps the order of the calls and forgets those that are gone", () => {
  expect(inOrder(CALLS, new Set([5, 2, 9])).map((one) => one.number)).toEqual([2, 5]);
});
