// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CardSummary, Status } from "../lib/bindings";
import { handleKey } from "../lib/commands";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import { setZoom } from "../lib/zoom.svelte";
import { cardOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import LibraryInPane from "../testing/LibraryInPane.svelte";
import { common } from "../texts/common";
import { library as texts } from "../texts/library";

const CARDS = Array.from({ length: 300 }, (_, index) => cardOf(String(index), `tool ${index}`));

function open() {
  const find = (text: string | null): CardSummary[] => CARDS.filter(({ name }) => name.includes(text ?? ""));
  const calls = stage({
    cards_list: ({ query, offset, limit }) => {
      const found = find(query.text);
      return { total: found.length, offset, rows: found.slice(offset, offset + limit) };
    },
    cards_facets: () => ({
      kinds: [{ value: "class", count: 300 }],
      languages: [],
      providers: [],
      tags: [],
      health: [],
      verified: 0,
      documented: 0,
      total: 300,
    }),
  });
  navigation.visit({ pane: "library", card: null, adding: false });
  render(LibraryInPane);
  return calls;
}

const names = () =>
  within(screen.getByRole("grid", { name: texts.cards }))
    .getAllByRole("row")
    .slice(1)
    // The box that selects the card comes before its name.
    .map((row) => row.querySelectorAll("[role=gridcell]")[1]?.textContent ?? "");

beforeEach(() => addEventListener("keydown", handleKey));
afterEach(() => {
  removeEventListener("keydown", handleKey);
  clear();
});

describe("the table of the library", () => {
  it("follows the zoom at once, and stays at the rows it was scrolled to", async () => {
    open();
    await wait();
    const viewport = screen.getByRole("grid").querySelector<HTMLElement>(".viewport")!;
    const offset = () => [...viewport.querySelectorAll<HTMLElement>(".row")][1]!.style.transform;
    expect(offset()).toBe("translateY(40px)");
    viewport.scrollTop = 4000;
    await fireEvent.scroll(viewport);
    const before = names()[0];
    setZoom(150);
    await wait();
    expect(viewport.scrollTop).toBe(6000);
    await fireEvent.scroll(viewport);
    expect(viewport.querySelector<HTMLElement>(".space")!.style.height).toBe(`${300 * 60}px`);
    expect(names()[0]).toBe(before);
    setZoom(100);
    await wait();
    expect(viewport.scrollTop).toBe(4000);
  });

  it("shows the rows that are seen, and says how many there are", async () => {
    open();
    await wait();
    expect(names().slice(0, 3)).toEqual(["tool 0", "tool 1", "tool 2"]);
    expect(names().length).toBeLessThan(60);
    expect(screen.getByRole("grid").getAttribute("aria-rowcount")).toBe("301");
    expect(screen.getByText(common.cards(300))).toBeTruthy();
  });

  it("opens a row by keys, closes it, and goes back to it", async () => {
    open();
    await wait();
    const grid = screen.getByRole("grid");
    for (const key of ["j", "ArrowDown", "Enter"]) await fireEvent.keyDown(grid, { key });
    expect(navigation.card).toBe("2");
    await fireEvent.keyDown(document.body, { key: "Escape" });
    expect(navigation.card).toBeNull();
    await fireEvent.keyDown(document.body, { key: "ArrowLeft", altKey: true });
    expect(navigation.card).toBe("2");
  });

  it("is filtered by what is typed, once that stops", async () => {
    const calls = open();
    await wait();
    const box = screen.getByLabelText(texts.filterLabel);
    for (const text of ["tool 2", "tool 29", "tool 299"]) {
      await fireEvent.input(box, { target: { value: text } });
    }
    await wait(200);
    expect(names()).toEqual(["tool 299"]);
    expect(screen.getByText(texts.found(1, 300))).toBeTruthy();
    expect(asked(calls, "cards_list").some(({ query }) => query.text === "tool 29")).toBe(false);
    await fireEvent.click(screen.getByRole("button", { name: common.showAll }));
    await wait();
    expect(names()[0]).toBe("tool 0");
  });

  it("selects cards by keys, a range with Shift, and says how many", async () => {
    open();
    await wait();
    const grid = screen.getByRole("grid");
    await fireEvent.keyDown(grid, { key: "x" });
    for (let step = 0; step < 4; step++) await fireEvent.keyDown(grid, { key: "j" });
    await fireEvent.keyDown(grid, { key: "X", shiftKey: true });
    await wait();
    expect(screen.getByText(texts.selected(5))).toBeTruthy();
    await fireEvent.keyDown(document.body, { key: "Escape" });
    await wait();
    expect(screen.queryByText(texts.selected(5))).toBeNull();
  });

  it("is read again when the library changed, but not while it is hidden", async () => {
    const calls = open();
    await wait();
    navigation.go("ask");
    const before = calls.length;
    engine.status = { ...(engine.status as Status), cursor: 2 };
    await wait(1000);
    expect(calls.length).toBe(before);
    CARDS[0] = cardOf("0", "tool 0, renamed");
    navigation.go("library");
    await wait(1000);
    expect(names()[0]).toBe("tool 0, renamed");
  });
});
