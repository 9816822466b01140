// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import { navigation } from "../lib/navigation.svelte";
import { overlays } from "../lib/overlays.svelte";
import { cardOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import CommandPalette from "./CommandPalette.svelte";

afterEach(clear);

const PARTS = { keyword: 1, vector: 0, name: 0, feedback: 0, rerank: 0, bm25: 0, coverage: 1, matched_terms: [] };

function open() {
  const calls = stage({
    answers_get: ({ question }) => ({
      question,
      verdict: "sure" as never,
      candidates: [{ card: cardOf("1", `${question} tool`), score: 0.9, parts: PARTS, sentence: "", stub: null }],
      notes: [],
      searched: 1,
      took_ms: 1,
    }),
  });
  overlays.palette = true;
  render(CommandPalette);
  return calls;
}

async function type(text: string) {
  await fireEvent.input(screen.getByPlaceholderText("Search commands and cards"), { target: { value: text } });
  await wait(200);
}

const items = () => [...document.querySelectorAll(".palette-item")].map((item) => item.textContent?.trim());

describe("the command palette", () => {
  it("offers every command with its shortcut", async () => {
    open();
    await wait();
    expect(screen.getByRole("dialog", { name: "Command palette" })).toBeTruthy();
    expect(items()).toContain("Open library Ctrl 4");
    expect(items()).toContain("Settings: MCP servers");
  });

  it("finds commands by their words and cards by what is typed, asking once it stops", async () => {
    const calls = open();
    await wait();
    for (const text of ["l", "li", "lig", "light d"]) {
      await fireEvent.input(screen.getByPlaceholderText("Search commands and cards"), { target: { value: text } });
    }
    await wait(200);
    expect(items()).toEqual(["Toggle light and dark theme", "light d tool vendor · Class"]);
    expect(asked(calls, "answers_get").map(({ question }) => question)).toEqual(["l", "light d"]);
  });

  it("carries a command out and closes", async () => {
    open();
    await type("open library");
    await fireEvent.click(screen.getByText("Open library"));
    await wait(200);
    expect([overlays.palette, navigation.pane]).toEqual([false, "library"]);
  });

  it("opens a card", async () => {
    open();
    await type("mail");
    await fireEvent.click(screen.getByText("mail tool"));
    await wait(200);
    expect([overlays.palette, navigation.pane, navigation.card]).toEqual([false, "library", "1"]);
  });

  it("says that nothing is found", async () => {
    stage({ answers_get: () => ({ candidates: [] }) as never });
    overlays.palette = true;
    render(CommandPalette);
    await type("zzz");
    expect(screen.getByText("No results")).toBeTruthy();
  });
});
