// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { Generation, GeneratedToolList } from "../../lib/bindings";
import { navigation } from "../../lib/navigation.svelte";
import { asked, clear, stage, wait } from "../../testing/stage";
import { generated as texts } from "../../texts/generated";
import Generated from "./Generated.svelte";

const LISTED: GeneratedToolList = {
  tools: [
    {
      card: "c1",
      name: "count_words",
      is_code: true,
      successes: 0,
      failures: 10,
      p50_ms: 41.7,
      last_called: "2026-01-01T00:00:00Z",
      advice: "improve",
      why: "10 of 10 calls failed.",
    },
  ],
  unanswered: [{ question: "transpose sheet music", times: 4 }],
  edits: [{ field: "documentation", from: "http", to: "https", cards: 5 }],
  can_write: true,
};

const GENERATION: Generation = {
  need: "transpose sheet music",
  specification: null,
  attempts: [
    {
      source: "open('/etc/passwd')",
      tests: "",
      checks: [{ kind: "access", state: "failed", output: "The code opens the file '/etc/passwd'." }],
    },
  ],
  proposal: null,
  problem: "no tool was proposed after 3 attempts",
};

async function open(listed: GeneratedToolList, generation: Generation = GENERATION) {
  const calls = stage({
    generated_list: () => listed,
    generated_start: () => ({ job: "j1" }),
    generated_get: () => generation,
    generated_retire: () => ({ proposal: 7 }),
  });
  render(Generated);
  await wait();
  return calls;
}

afterEach(clear);

it("writes a tool for a need, and says why none was proposed", async () => {
  const calls = await open(LISTED);
  const write = screen.getByRole<HTMLButtonElement>("button", { name: texts.write });
  expect(write.disabled).toBe(true);
  await fireEvent.click(screen.getByRole("button", { name: texts.useNeed("transpose sheet music") }));
  await wait();
  await fireEvent.click(write);
  await wait();
  expect(asked(calls, "generated_start")).toEqual([{ need: "transpose sheet music", language: "python" }]);
  expect(screen.getByText("The code opens the file '/etc/passwd'.")).toBeTruthy();
  expect(screen.getByRole("alert").textContent).toContain("after 3 attempts");
});

it("opens what was written in Review", async () => {
  await open(LISTED, { ...GENERATION, proposal: 9, problem: null });
  await fireEvent.click(screen.getByRole("button", { name: texts.adviceOf.improve("count_words") }));
  await wait();
  await fireEvent.click(screen.getByRole("button", { name: texts.review }));
  expect(navigation.pane).toBe("review");
});

it("shows how tools fare, and proposes to retire one", async () => {
  const [tool] = LISTED.tools;
  if (!tool) throw new Error("a tool");
  const calls = await open({ ...LISTED, tools: [{ ...tool, advice: "retire" }] });
  expect(screen.getByText("10 of 10 calls failed.")).toBeTruthy();
  expect(screen.getByText("42 ms")).toBeTruthy();
  await fireEvent.click(screen.getByRole("button", { name: texts.adviceOf.retire("count_words") }));
  await wait();
  expect(asked(calls, "generated_retire")).toEqual([{ card: "c1" }]);
});

it("says what is missing without a language model", async () => {
  await open({ tools: [], unanswered: [], edits: [], can_write: false });
  expect(screen.queryByRole("button", { name: texts.write })).toBeNull();
  await fireEvent.click(screen.getByRole("button", { name: texts.settings }));
  expect(navigation.pane).toBe("settings");
});
