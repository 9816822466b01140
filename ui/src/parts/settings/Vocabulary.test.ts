// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { VocabularyItem } from "../../lib/bindings";
import { engine } from "../../lib/engine.svelte";
import type { Host } from "../../lib/host";
import { stubResizeObserver } from "../../testing/stage";
import { vocabulary as texts } from "../../texts/settings/vocabulary";
import Vocabulary from "./Vocabulary.svelte";

const BUILT_IN: VocabularyItem = { text: "naver = korean search engine" };

function stage() {
  let own: VocabularyItem[] = [];
  const call = async (name: string, request: { text: string; replaces?: string; ids?: string[] }) => {
    if (name === "vocabulary_set") {
      if (!request.text.includes("=")) throw { code: "bad_request", message: "that is no entry", remedy: "Check it." };
      const entry = { text: request.text, added: { id: request.text, by: "me", at: "2026-01-01T00:00:00.000Z" } };
      own = [entry, ...own.filter((item) => item.added?.id !== request.replaces)];
      return { entry, cards: 3 };
    }
    if (name === "vocabulary_remove") {
      own = own.filter((item) => !request.ids?.includes(item.added!.id));
      return { removed: [] };
    }
    const entries = [...own, BUILT_IN].filter((item) => item.text.includes(request.text));
    return { entries, total: entries.length, added: own.length };
  };
  engine.use({ desktop: false, call } as unknown as Host);
  render(Vocabulary);
}

const settle = () => vi.advanceTimersByTimeAsync(500);
const rows = () => screen.queryAllByRole("listitem").map((row) => row.querySelector("p")?.textContent);

async function add(label: string, text: string) {
  await fireEvent.input(screen.getByRole("textbox", { name: label }), { target: { value: text } });
  await fireEvent.submit(screen.getByRole("textbox", { name: label }).closest("form")!);
  await settle();
}

beforeEach(() => {
  vi.useFakeTimers();
  stubResizeObserver();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("names and synonyms", () => {
  it("are added, edited and removed, and built-in ones cannot be changed", async () => {
    stage();
    await settle();
    expect(rows()).toEqual([BUILT_IN.text]);
    expect(within(screen.getByRole("listitem")).queryAllByRole("button")).toEqual([]);

    await add(texts.newEntry.name, "borealis = deployments");
    expect(rows()).toEqual(["borealis = deployments", BUILT_IN.text]);
    expect(screen.getByRole("status").textContent).toBe(texts.applies(3));

    await fireEvent.click(screen.getByRole("button", { name: texts.editing("borealis = deployments") }));
    const box = () => screen.getByRole("textbox", { name: texts.editing("borealis = deployments") });
    expect(document.activeElement).toBe(box());
    await fireEvent.input(box(), { target: { value: "borealis" } });
    await fireEvent.change(box());
    await settle();
    expect(screen.getByRole("alert").textContent).toContain("That is no entry");
    await fireEvent.input(box(), { target: { value: "borealis = our deployments" } });
    await fireEvent.change(box());
    await settle();
    expect(rows()).toEqual(["borealis = our deployments", BUILT_IN.text]);

    await fireEvent.click(screen.getByRole("button", { name: texts.removing("borealis = our deployments") }));
    await settle();
    expect(rows()).toEqual([BUILT_IN.text]);
  });

  it("stay as they were when editing is left by Escape", async () => {
    stage();
    await settle();
    await add(texts.newEntry.name, "borealis = deployments");
    await fireEvent.click(screen.getByRole("button", { name: texts.editing("borealis = deployments") }));
    const box = screen.getByRole("textbox", { name: texts.editing("borealis = deployments") });
    await fireEvent.input(box, { target: { value: "borealis = x" } });
    await fireEvent.keyDown(box, { key: "Escape" });
    await settle();
    expect(rows()).toEqual(["borealis = deployments", BUILT_IN.text]);
  });

  it("keep what was typed when it is refused, and say why", async () => {
    stage();
    await settle();
    await add(texts.newEntry.name, "borealis");
    expect(screen.getByRole("alert").textContent).toContain("is no entry");
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: texts.newEntry.name }).value).toBe("borealis");
  });
});
