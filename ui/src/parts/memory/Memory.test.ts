// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { MemoryHit, MemorySource } from "../../lib/bindings";
import { code, documents } from "../../lib/memory.svelte";
import { navigation } from "../../lib/navigation.svelte";
import Discover from "../../panes/Discover.svelte";
import { asked, clear, stage, wait } from "../../testing/stage";
import { common } from "../../texts/common";
import { memory as texts } from "../../texts/memory";

const SOURCE: MemorySource = {
  id: "s1",
  kind: "documents",
  location: "/home/ada/notes",
  added_at: "2026-01-01T00:00:00Z",
  read_at: "2026-01-01T00:00:00Z",
  files: 2,
  passages: 5,
  embedded: 5,
  problem: null,
  problems: [{ file: "/home/ada/notes/old.pdf", reason: "it is protected by a password" }],
};

const HIT: MemoryHit = {
  citation: "/home/ada/notes/trip.pdf#3",
  file: "/home/ada/notes/trip.pdf",
  title: "Trip",
  heading: ["Trip", "Hotel"],
  page: 7,
  text: "The booking number is 4711.",
  symbol: null,
  score: 0.8,
};

/** Renders Discover at the documents, with one source until it is removed. */
async function open(sources: MemorySource[]) {
  let kept = sources;
  const calls = stage({
    memory_list: () => ({ sources: kept }),
    memory_search: () => ({ hits: [HIT], searched: 5, note: null }),
    memory_add: () => ({ job: "j1" }),
    memory_remove: () => {
      kept = [];
      return {};
    },
  });
  documents.asked = "";
  navigation.visit({ pane: "discover", where: "documents" });
  documents.refreshSources();
  render(Discover);
  await wait();
  return calls;
}

afterEach(clear);

it("shows what was found with page and heading", async () => {
  const calls = await open([SOURCE]);
  await fireEvent.input(screen.getByLabelText(texts.documents.question), { target: { value: "booking number?" } });
  await fireEvent.click(screen.getByRole("button", { name: texts.documents.search }));
  await wait();
  expect(asked(calls, "memory_search").at(-1)).toEqual({ kind: "documents", query: "booking number?", limit: 10 });
  expect(screen.getByText("Trip › Hotel")).toBeTruthy();
  expect(screen.getByText(HIT.citation)).toBeTruthy();
  expect(screen.getByText(texts.page(7))).toBeTruthy();
  expect(screen.getByText(HIT.text)).toBeTruthy();
});

it("says what is there and what could not be read", async () => {
  await open([SOURCE]);
  expect(screen.getByText(SOURCE.location)).toBeTruthy();
  expect(screen.getByText(texts.unreadable(1))).toBeTruthy();
  expect(screen.getByText("it is protected by a password")).toBeTruthy();
});

it("adds a source, and removes one after asking", async () => {
  const calls = await open([]);
  expect(screen.getByText(texts.documents.none)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: texts.documents.search }).disabled).toBe(true);
  const where = screen.getByLabelText<HTMLInputElement>(texts.documents.where);
  await fireEvent.input(where, { target: { value: " /home/ada/notes " } });
  await fireEvent.click(screen.getByRole("button", { name: texts.documents.add }));
  await wait();
  expect(asked(calls, "memory_add")).toEqual([{ kind: "documents", location: "/home/ada/notes" }]);
  expect(where.value).toBe("");
  clear();

  const again = await open([SOURCE]);
  await fireEvent.click(screen.getByRole("button", { name: texts.remove(SOURCE.location) }));
  expect(asked(again, "memory_remove")).toEqual([]);
  await fireEvent.click(screen.getByRole("button", { name: common.remove }));
  await wait();
  expect(asked(again, "memory_remove")).toEqual([{ source: "s1" }]);
  expect(screen.getByText(texts.documents.none)).toBeTruthy();
});

it("proposes cards of the functions that are chosen", async () => {
  const source: MemorySource = { ...SOURCE, kind: "code", location: "/home/ada/tides", problems: [] };
  const tool = {
    id: "c1",
    name: "next_high_water",
    package: "tidewater",
    place: "src/predict.py:5",
    line: "Returns the time.",
  };
  const calls = stage({
    memory_list: () => ({ sources: [source] }),
    code_tools_list: () => ({ total: 1, tools: [tool] }),
    code_tools_propose: () => ({ job: "j1" }),
  });
  code.asked = "";
  navigation.visit({ pane: "discover", where: "code" });
  code.refreshSources();
  render(Discover);
  await wait();
  await fireEvent.click(screen.getByRole("button", { name: texts.createCards }));
  await wait();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: texts.proposeTools(0) }).disabled).toBe(true);
  await fireEvent.click(screen.getByRole("checkbox"));
  await fireEvent.click(screen.getByRole("button", { name: texts.proposeTools(1) }));
  await wait();
  expect(asked(calls, "code_tools_propose")).toEqual([{ folder: "/home/ada/tides", tools: ["c1"] }]);
  expect(screen.queryByRole("checkbox")).toBeNull();
});
