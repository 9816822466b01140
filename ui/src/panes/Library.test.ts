// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CardSummary, Status } from "../lib/bindings";
import { collections } from "../lib/collections.svelte";
import { handleKey } from "../lib/commands";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import { setZoom } from "../lib/zoom.svelte";
import { cardOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import LibraryInPane from "../testing/LibraryInPane.svelte";
import { card as cardTexts } from "../texts/card";
import { common } from "../texts/common";
import { library as texts } from "../texts/library";

const CARDS = Array.from({ length: 300 }, (_, index) => cardOf(String(index), `tool ${index}`));

function open(answers: Parameters<typeof stage>[0] = {}) {
  const find = (text: string | null): CardSummary[] => CARDS.filter(({ name }) => name.includes(text ?? ""));
  const calls = stage({
    cards_list: ({ query, offset, limit }) => {
      const found = find(query.text);
      return { total: found.length, offset, rows: found.slice(offset, offset + limit) };
    },
    cards_facets: () => ({
      kinds: [{ value: "class", count: 300 }],
      languages: [],
      providers: [{ value: "Acme", count: 3 }],
      tags: [
        { value: "billing", count: 2 },
        { value: "mail", count: 1 },
      ],
      health: [],
      verified: 0,
      documented: 0,
      total: 300,
    }),
    ...answers,
  });
  navigation.visit({ pane: "library", card: null, adding: false });
  render(LibraryInPane);
  return calls;
}

const names = () =>
  within(screen.getByRole("grid", { name: texts.cards }))
    .getAllByRole("row")
    .slice(1)
    // The box that selects the card and the star come before its name.
    .map((row) => row.querySelectorAll("[role=gridcell]")[2]?.textContent ?? "");

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

  it("selects all cards in view, and says when only some are", async () => {
    const calls = open();
    await wait();
    const grid = screen.getByRole("grid");
    const box = within(grid).getByRole<HTMLInputElement>("checkbox", { name: texts.selectAll });
    const state = () => [box.checked, box.indeterminate];
    expect(state()).toEqual([false, false]);
    await fireEvent.keyDown(grid, { key: "x" });
    expect(state()).toEqual([false, true]);
    await fireEvent.click(box);
    await wait();
    expect(screen.getByText(texts.selected(300))).toBeTruthy();
    expect(state()).toEqual([true, false]);
    await fireEvent.click(box);
    await wait();
    expect([screen.queryByRole("toolbar"), state()]).toEqual([null, [false, false]]);

    await fireEvent.input(screen.getByLabelText(texts.filterLabel), { target: { value: "tool 29" } });
    await wait(200);
    await fireEvent.keyDown(document.body, { key: "a", ctrlKey: true });
    await wait();
    expect(screen.getByText(texts.selected(11))).toBeTruthy();
    expect(asked(calls, "cards_list").at(-1)?.query.text).toBe("tool 29");
    await fireEvent.keyDown(document.body, { key: "a", ctrlKey: true });
    await wait();
    expect(screen.queryByRole("toolbar")).toBeNull();
  });

  it("has only columns that fit, each with its name", async () => {
    const width = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(295);
    open();
    await wait();
    const heads = () => screen.getAllByRole("columnheader").map(({ textContent }) => textContent?.trim());
    const { favorite, name, provider, kind, description, health, changed } = texts.columns;
    expect(heads()).toEqual(["", favorite, name, health]);
    const cells = () => screen.getAllByRole("row")[1]!.querySelectorAll("[role=gridcell]").length;
    expect(cells()).toBe(4);
    cleanup();
    width.mockReturnValue(1080);
    open();
    await wait();
    expect(heads()).toEqual(["", favorite, name, provider, kind, description, health, changed]);
    expect(cells()).toBe(8);
    width.mockRestore();
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

describe("favorites and collections", () => {
  const FAVORITES = { name: "Favorites", cards: ["1"] };

  it("are added to by the star of a row, and filter the list", async () => {
    let all = [FAVORITES, { name: "Mail", cards: ["2", "3"] }];
    const calls = open({
      collections_list: () => all,
      collections_change: ({ cards, included }) =>
        (all = [{ ...FAVORITES, cards: included ? [...FAVORITES.cards, ...cards] : [] }, all[1]!]),
    });
    // They are shared, and other tests have other ones.
    await collections.refresh();
    await wait();
    const star = (index: number) => screen.getByRole("button", { name: texts.favorite(`tool ${index}`) });
    expect([1, 2].map((index) => star(index).getAttribute("aria-pressed"))).toEqual(["true", "false"]);
    await fireEvent.click(star(2));
    await wait();
    expect(asked(calls, "collections_change")).toEqual([{ collection: "Favorites", cards: ["2"], included: true }]);
    expect(star(2).getAttribute("aria-pressed")).toBe("true");
    // A star is no click on its row.
    expect(navigation.card).toBeNull();

    const select = screen.getByLabelText<HTMLSelectElement>(texts.collection);
    expect([...select.options].map(({ text }) => text).slice(1, 3)).toEqual(["Favorites (2)", "Mail (2)"]);
    await fireEvent.change(select, { target: { value: "Mail" } });
    await wait();
    expect(asked(calls, "cards_list").at(-1)?.query.collection).toBe("Mail");
    await fireEvent.click(screen.getByRole("button", { name: common.showAll }));
    await wait();
    expect(asked(calls, "cards_list").at(-1)?.query.collection).toBeNull();
  });

  it("take over what is selected, and give it back", async () => {
    const calls = open({
      collections_list: () => [FAVORITES],
      collections_change: () => [FAVORITES, { name: "New one", cards: ["0"] }],
    });
    // They are shared, and other tests have other ones.
    await collections.refresh();
    await wait();
    await fireEvent.keyDown(screen.getByRole("grid"), { key: "x" });
    await fireEvent.click(screen.getByRole("button", { name: texts.addToCollectionAsk }));
    const dialog = await screen.findByRole("dialog", { name: texts.addToCollection });
    const choice = within(dialog).getByLabelText<HTMLSelectElement>(texts.collection);
    await fireEvent.change(choice, { target: { value: [...choice.options].at(-1)!.value } });
    await fireEvent.input(within(dialog).getByLabelText(common.name), { target: { value: " New one " } });
    await fireEvent.click(within(dialog).getByRole("button", { name: texts.addCards(1) }));
    await wait();
    expect(asked(calls, "collections_change")).toEqual([{ collection: "New one", cards: ["0"], included: true }]);
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.addedTo(1, "New one")]);
    expect(screen.queryByText(texts.selected(1))).toBeNull();
  });

  it("are renamed and deleted, but not the favorites", async () => {
    const mail = { name: "Mail", cards: ["2"] };
    const calls = open({
      collections_list: () => [FAVORITES, mail],
      collections_rename: ({ name }) => [FAVORITES, { ...mail, name }],
      collections_remove: () => [FAVORITES],
    });
    // They are shared, and other tests have other ones.
    await collections.refresh();
    await wait();
    const select = screen.getByLabelText<HTMLSelectElement>(texts.collection);
    await fireEvent.change(select, { target: { value: "Mail" } });
    await fireEvent.click(screen.getByRole("button", { name: texts.manageCollections }));
    const dialog = await screen.findByRole("dialog", { name: texts.collections });
    expect(within(dialog).queryByText("Favorites")).toBeNull();
    await fireEvent.click(within(dialog).getByRole("button", { name: texts.renameOf("Mail") }));
    const box = within(dialog).getByLabelText(texts.newNameOf("Mail"));
    expect(document.activeElement).toBe(box);
    await fireEvent.input(box, { target: { value: "Post" } });
    await fireEvent.click(within(dialog).getByRole("button", { name: common.save }));
    await wait();
    expect(asked(calls, "collections_rename")).toEqual([{ collection: "Mail", name: "Post" }]);
    expect(document.activeElement).toBe(within(dialog).getByRole("button", { name: texts.renameOf("Post") }));
    // The list stays filtered by it.
    expect(select.value).toBe("Post");
    await fireEvent.click(within(dialog).getByRole("button", { name: texts.deleteOf("Post") }));
    expect(within(dialog).getByText(texts.deleteCollectionAsk)).toBeTruthy();
    expect(asked(calls, "collections_remove")).toEqual([]);
    const confirm = within(dialog).getByRole("button", { name: texts.deleteCollection });
    expect(document.activeElement).toBe(confirm);
    await fireEvent.click(confirm);
    await wait();
    expect(asked(calls, "collections_remove")).toEqual([{ collection: "Post" }]);
    expect(select.value).toBe("");
    expect(within(dialog).getByText(texts.noCollections)).toBeTruthy();
  });
});

describe("filters with many values", () => {
  it("are typed, chosen, and removed", async () => {
    const calls = open();
    await wait();
    const box = screen.getByLabelText(texts.tag);
    await fireEvent.input(box, { target: { value: "bil" } });
    await wait();
    const options = screen.getAllByRole("option").filter((option) => option.textContent?.includes("bil"));
    expect(options.map((option) => option.textContent)).toEqual(["billing 2"]);
    await fireEvent.keyDown(box, { key: "Enter" });
    await wait();
    expect(asked(calls, "cards_list").at(-1)?.query.tag).toBe("billing");
    await fireEvent.click(screen.getByRole("button", { name: texts.removeFilter(texts.tag, "billing") }));
    await wait();
    expect(asked(calls, "cards_list").at(-1)?.query.tag).toBeNull();
  });
});

describe("several cards", () => {
  it("are edited together, which is undone together", async () => {
    const calls = open({
      cards_edit: ({ cards }) => ({ change: "c1", cards }),
      changes_undo: () => ({ change: "c1", undo: null, reason: "Edited 2 cards", cards: ["0", "1"], kept: [] }),
    });
    await wait();
    const grid = screen.getByRole("grid");
    for (const key of ["x", "j", "x"]) await fireEvent.keyDown(grid, { key });
    await fireEvent.click(screen.getByRole("button", { name: texts.editAsk }));
    const dialog = await screen.findByRole("dialog", { name: texts.editCards(2) });
    const save = within(dialog).getByRole<HTMLButtonElement>("button", { name: common.save });
    expect(save.disabled).toBe(true);
    await fireEvent.input(within(dialog).getByLabelText(texts.addTags), { target: { value: "a, b ,," } });
    await fireEvent.change(within(dialog).getByLabelText(texts.setField), { target: { value: "pricing" } });
    await fireEvent.input(within(dialog).getByLabelText(texts.newValue), { target: { value: " Free " } });
    await fireEvent.click(save);
    await wait();
    expect(asked(calls, "cards_edit")).toEqual([
      {
        cards: ["0", "1"],
        add_tags: ["a", "b"],
        remove_tags: [],
        fields: { pricing: "Free" },
        reason: "",
        flagged_too: false,
      },
    ]);
    engine.toasts.at(-1)?.action?.run();
    await wait();
    expect(asked(calls, "changes_undo")).toEqual([{ change: "c1" }]);
  });
});

describe("the editor of a card", () => {
  /** Opens a card and edits it, if that is wanted. */
  async function edit(text = "") {
    const calls = open({
      cards_get: ({ card }) => ({
        ...{
          summary: cardOf(card, `tool ${card}`),
          fields: { name: `tool ${card}`, kind: "mcp_tool", description: "Works." },
        },
        ...{ warnings: [], stub: null, created_at: "2026-01-01T00:00:00Z", change: null },
      }),
      cards_history: () => [],
      cards_validate: () => [],
      cards_update: ({ card }) => ({ summary: cardOf(card, "saved"), warnings: [], change: null }) as never,
    });
    navigation.open("1");
    await wait();
    await fireEvent.keyDown(document.body, { key: "e" });
    await wait();
    if (text) await fireEvent.input(field(), { target: { value: text } });
    await wait(1000);
    return calls;
  }

  const field = () => screen.getByLabelText("Description");
  const asks = () => screen.queryByRole("dialog", { name: cardTexts.discardTitle });
  const answer = async (name: string) => {
    await fireEvent.click(within(asks()!).getByRole("button", { name }));
    await wait(1000);
  };
  const isOpen = () => !!document.getElementById("edit-description");

  it("closes at once where nothing was changed", async () => {
    await edit();
    await fireEvent.keyDown(field(), { key: "Escape" });
    await wait();
    expect([isOpen(), asks(), navigation.card]).toEqual([false, null, "1"]);
    // Its header names the kind.
    expect([screen.queryByText("mcp_tool"), !!screen.getByText("Works.")]).toEqual([null, true]);
  });

  it("asks before changes are lost by Escape, in it or elsewhere, and by its button", async () => {
    await edit("Works well.");
    const leave = [
      () => fireEvent.keyDown(field(), { key: "Escape" }),
      () => fireEvent.keyDown(document.body, { key: "Escape" }),
      () => fireEvent.click(screen.getByRole("button", { name: common.cancel })),
    ];
    for (const way of leave) {
      await way();
      await wait();
      expect(document.activeElement?.textContent).toBe(cardTexts.keepEditing);
      await answer(cardTexts.keepEditing);
      expect([isOpen(), asks()]).toEqual([true, null]);
      expect((field() as HTMLTextAreaElement).value).toBe("Works well.");
    }
    await fireEvent.keyDown(field(), { key: "Escape" });
    await wait();
    await answer(cardTexts.discard);
    expect([isOpen(), asks(), navigation.card]).toEqual([false, null, "1"]);
  });

  it("asks before another card takes its place", async () => {
    await edit("Works well.");
    await fireEvent.click(screen.getByText("tool 2"));
    await wait();
    expect(navigation.card).toBe("1");
    await answer(cardTexts.keepEditing);
    // Also when it is opened in another pane, where one cannot go on editing.
    navigation.go("ask");
    navigation.open("2");
    await wait();
    expect([navigation.pane, navigation.card]).toEqual(["ask", "1"]);
    await answer(cardTexts.keepEditing);
    expect([isOpen(), navigation.pane, navigation.card]).toEqual([true, "library", "1"]);
    navigation.open("2");
    await wait();
    await answer(cardTexts.discard);
    expect([isOpen(), navigation.pane, navigation.card]).toEqual([false, "library", "2"]);
  });

  it("does not ask once the changes are saved", async () => {
    const calls = await edit("Works well.");
    await fireEvent.keyDown(field(), { key: "Enter", ctrlKey: true });
    await wait();
    expect(asked(calls, "cards_update").map(({ fields }) => fields["description"])).toEqual(["Works well."]);
    expect([isOpen(), asks()]).toEqual([false, null]);
    navigation.open("2");
    expect(navigation.card).toBe("2");
  });

  it("of a new card asks as well", async () => {
    open();
    navigation.add();
    await wait();
    await fireEvent.input(field(), { target: { value: "New." } });
    await fireEvent.keyDown(document.body, { key: "Escape" });
    await wait();
    await answer(cardTexts.discard);
    expect([isOpen(), navigation.adding]).toEqual([false, false]);
  });
});
