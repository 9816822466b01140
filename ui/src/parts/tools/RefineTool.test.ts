// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { Need, RefinePlan, RefineStart } from "../../lib/bindings";
import { asked, clear, stage, wait } from "../../testing/stage";
import { refine as texts } from "../../texts/refine";
import RefineTool from "./RefineTool.svelte";

const PLAN: RefinePlan = {
  tool: "c1",
  title: "Shop / listItems",
  place: "GET https://shop.example/items",
  may_change: false,
  skipped: null,
  calls: ['{"limit":1}', '{"limit":50}'],
};

/** Renders the section, opened, with a plan and the answers to starting. */
async function open(plan: RefinePlan, starts: RefineStart[]) {
  const calls = stage({
    refine_start: (request) =>
      request.dry_run ? { state: "planned", tools: [plan] } : (starts.shift() ?? { state: "planned", tools: [] }),
  });
  render(RefineTool, { tool: "c1" });
  const details = screen.getByText(texts.title).closest("details");
  if (details) {
    details.open = true;
    await fireEvent(details, new Event("toggle"));
  }
  await wait();
  return calls;
}

afterEach(clear);

it("shows the calls before any is made, and asks before it starts", async () => {
  const need: Need = { scope: "host", host: "shop.example" };
  const calls = await open(PLAN, [
    { state: "asks", needs: [need], words: ["to reach shop.example"] },
    { state: "started", job: "j1", skipped: [] },
  ]);
  expect(screen.getByText('{"limit":50}')).toBeTruthy();
  await fireEvent.click(screen.getByRole("button", { name: texts.start }));
  await wait();
  expect(screen.getByText("to reach shop.example")).toBeTruthy();
  await fireEvent.click(screen.getByRole("button", { name: texts.allow }));
  await wait();
  expect(asked(calls, "refine_start").at(-1)).toMatchObject({ granted: [need], dry_run: false });
  expect(screen.getByText(texts.started)).toBeTruthy();
});

it("does not start calls that may change something without consent", async () => {
  await open({ ...PLAN, may_change: true, skipped: "calls may change something", calls: [] }, []);
  const start = screen.getByRole("button", { name: texts.start });
  expect(start).toHaveProperty("disabled", true);
  await fireEvent.click(screen.getByLabelText(texts.allowChanges));
  await wait();
  expect(start).toHaveProperty("disabled", false);
});
