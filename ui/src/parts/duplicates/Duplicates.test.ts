// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { CardDetail, DuplicatePair, Duplicates, Job, JsonValue } from "../../lib/bindings";
import { engine } from "../../lib/engine.svelte";
import { fieldName } from "../../lib/format";
import { CommandError } from "../../lib/host";
import { navigation } from "../../lib/navigation.svelte";
import { cardOf } from "../../testing/fixtures";
import { asked, clear, stage, wait } from "../../testing/stage";
import { common } from "../../texts/common";
import { duplicates as texts } from "../../texts/duplicates";
import DuplicatesDialog from "./DuplicatesDialog.svelte";

const card = (id: string, name: string, provider = "vendor") => ({ id, name, provider, description: `About ${id}.` });
const PAIR: DuplicatePair = { cards: [card("a", "Kettle"), card("b", "Boiler")], reason: "import", cosine: null };
const NEAR: DuplicatePair = {
  cards: [card("c", "Toaster", "one"), card("d", "Toaster", "two")],
  reason: "meaning",
  cosine: 0.912,
};
const SEARCHED = "2026-01-02T03:04:05Z";

const FIELDS: Record<string, { [field: string]: JsonValue }> = {
  a: { name: "Kettle", tags: ["hot"], provider: "vendor" },
  b: { name: "Boiler", tags: ["water"], provider: "vendor", usage: "boil()" },
};
const detail = (id: string): CardDetail => ({
  summary: { ...cardOf(id, String(FIELDS[id]?.["name"])), number: id === "a" ? 3 : 5 },
  fields: FIELDS[id] ?? {},
  warnings: [],
  stub: null,
  created_at: SEARCHED,
  change: null,
});
const preview = ({ keep, remove }: { keep: string; remove: string }) => ({
  keep: detail(keep),
  remove: detail(remove),
  fields: { ...FIELDS[remove], ...FIELDS[keep], tags: [FIELDS[keep]?.["tags"], FIELDS[remove]?.["tags"]].flat() },
});

/** Opens the list on an engine that has found these pairs. */
async function open(found: Partial<Duplicates> = {}, answers: Parameters<typeof stage>[0] = {}) {
  const kept: Duplicates = { searched_at: SEARCHED, by_meaning: true, pairs: [PAIR, NEAR], ...found };
  const all = kept.pairs;
  const gone = new Set<string>();
  const calls = stage({
    duplicates_list: () => ({ ...kept, pairs: all.filter(({ cards }) => !gone.has(cards[0].id)) }),
    duplicates_find: () => ({ job: "search" }),
    duplicates_dismiss: ({ cards: [first], dismissed }) => {
      if (dismissed) gone.add(first);
      else gone.delete(first);
      return {};
    },
    cards_merge_preview: preview as never,
    cards_merge: () => (gone.add("a"), { change: "merge-1", cards: ["a", "b"] }),
    changes_undo: () => (gone.delete("a"), { change: "merge-1", reason: "Merged", kept: [], undo: "u" }) as never,
    ...answers,
  });
  render(DuplicatesDialog, { close: () => (closed = true) });
  await wait(1000);
  return { calls, kept };
}

let closed = false;
const entry = (pair: DuplicatePair, names = pair.cards.map(({ name }) => name)) =>
  within(screen.getByRole("listitem", { name: texts.pair(names[0]!, names[1]!), hidden: true }));
const job = (more: Partial<Job>): Job => ({
  id: "search",
  kind: "duplicates",
  title: "Find duplicates",
  state: "running",
  note: null,
  paused: null,
  version: 1,
  done: 20,
  total: 80,
  unit: "cards",
  eta_ms: null,
  elapsed_ms: 0,
  summary: null,
  tally: null,
  error: null,
  ...more,
});
const click = async (button: HTMLElement) => (await fireEvent.click(button), await wait(1000));

afterEach(() => {
  closed = false;
  clear();
});

describe("the list of duplicates", () => {
  it("starts a search where there was none, shows its progress, then the pairs", async () => {
    const { calls, kept } = await open({ searched_at: null, pairs: [] });
    expect(asked(calls, "duplicates_find")).toHaveLength(1);
    engine.jobs = [job({})];
    await wait(1000);
    screen.getByText(texts.searching);
    screen.getByRole("progressbar", { name: "Find duplicates" });
    await click(screen.getByRole("button", { name: common.stop }));
    expect(asked(calls, "jobs_cancel")).toEqual([{ job: "search" }]);
    kept.searched_at = SEARCHED;
    engine.jobs = [job({ state: "done", version: 2 })];
    await wait(1000);
    screen.getByText(texts.none);
    expect(asked(calls, "duplicates_find")).toHaveLength(1);
  });

  it("does not search again by itself, and says why a search failed", async () => {
    const { calls } = await open({ searched_at: null, pairs: [] });
    const error = { code: "internal" as const, message: "it broke", remedy: "Try again later." };
    engine.jobs = [job({ state: "failed", version: 2, error })];
    await wait(1000);
    expect(screen.getByRole("alert").textContent).toContain("It broke");
    expect(asked(calls, "duplicates_find")).toHaveLength(1);
    await click(screen.getByRole("button", { name: common.tryAgain }));
    expect(asked(calls, "duplicates_find")).toHaveLength(2);
  });

  it("says of each pair why it was matched, and opens its cards", async () => {
    const { calls } = await open();
    expect(asked(calls, "duplicates_find")).toEqual([]);
    entry(PAIR).getByText(texts.reasons.import);
    entry(PAIR).getByText("About b.");
    const near = entry(NEAR, ["Toaster (one)", "Toaster (two)"]);
    near.getByText(texts.cosine(texts.reasons.meaning, 0.91));
    expect(screen.queryByText(texts.wordsOnly)).toBeNull();
    await click(near.getByRole("button", { name: texts.openCard("Toaster (two)") }));
    expect([navigation.pane, navigation.card, closed]).toEqual(["library", "d", true]);
  });

  it("says that nothing was compared by meaning, and searches again on request", async () => {
    const { calls } = await open({ by_meaning: false });
    screen.getByText(texts.wordsOnly);
    await click(screen.getByRole("button", { name: texts.searchAgain }));
    expect(asked(calls, "duplicates_find")).toHaveLength(1);
  });

  it("shows many pairs step by step", async () => {
    const pairs = Array.from({ length: 120 }, (_, at) => ({
      ...PAIR,
      cards: [card(`a${at}`, `One ${at}`), card(`b${at}`, `Two ${at}`)] as DuplicatePair["cards"],
    }));
    await open({ pairs });
    const shown = () => within(screen.getByRole("list", { name: texts.pairs })).getAllByRole("listitem").length;
    expect(shown()).toBe(50);
    await click(screen.getByRole("button", { name: texts.showMore(50) }));
    await click(screen.getByRole("button", { name: texts.showMore(20) }));
    expect(shown()).toBe(120);
  });

  it("keeps a dismissed pair in its place, where that is taken back, and the focus with it", async () => {
    const { calls } = await open();
    await click(entry(PAIR).getByRole("button", { name: texts.dismissOf("Kettle", "Boiler") }));
    const said = texts.marked("Kettle", "Boiler");
    expect(engine.toasts.map(({ text, action }) => [text, action?.label])).toEqual([[said, common.undo]]);
    const back = entry(PAIR).getByRole("button", { name: texts.undoOf(said) });
    expect(document.activeElement).toBe(back);
    await click(back);
    expect(asked(calls, "duplicates_dismiss")).toEqual([
      { cards: ["a", "b"], dismissed: true },
      { cards: ["a", "b"], dismissed: false },
    ]);
    expect(document.activeElement).toBe(entry(PAIR).getByRole("button", { name: texts.mergeOf("Kettle", "Boiler") }));
  });

  it("shows a pair again that is taken back by the message", async () => {
    await open();
    await click(entry(PAIR).getByRole("button", { name: texts.dismissOf("Kettle", "Boiler") }));
    engine.toasts[0]?.action?.run();
    engine.versions.settings.duplicates = (engine.versions.settings.duplicates ?? 0) + 1;
    await wait(1000);
    entry(PAIR).getByRole("button", { name: texts.mergeOf("Kettle", "Boiler") });
  });
});

describe("merging a pair", () => {
  const dialog = () => within(screen.getByRole("dialog", { name: texts.mergeTitle }));
  const choices = (field: string) =>
    within(dialog().getByRole("radiogroup", { name: fieldName(field) })).getAllByRole("radio");
  const choose = (field: string, name: string) =>
    click(within(dialog().getByRole("radiogroup", { name: fieldName(field) })).getByRole("radio", { name }));
  const merge = (name: string = texts.merge) => click(dialog().getByRole("button", { name }));
  const begin = async (answers: Parameters<typeof stage>[0] = {}) => {
    const { calls } = await open({}, answers);
    await click(entry(PAIR).getByRole("button", { name: texts.mergeOf("Kettle", "Boiler") }));
    return calls;
  };

  it("starts with the suggested values, takes the chosen ones, and can be undone", async () => {
    const calls = await begin();
    dialog().getByText(texts.differ(3));
    expect(choices("tags").map((radio) => radio.getAttribute("aria-checked"))).toEqual(["false", "false", "true"]);
    expect(choices("name")).toHaveLength(2);
    await choose("name", texts.other);
    await merge();
    expect(asked(calls, "cards_merge")).toEqual([
      {
        keep: "a",
        remove: "b",
        fields: { name: "Boiler", tags: ["hot", "water"], provider: "vendor", usage: "boil()" },
        expected: [3, 5],
        reason: "",
        flagged_too: false,
      },
    ]);
    expect(screen.queryByRole("dialog", { name: texts.mergeTitle })).toBeNull();
    const said = texts.merged("Boiler", "Kettle");
    expect(engine.toasts.map(({ text, action }) => [text, action?.label])).toEqual([[said, common.undo]]);
    await click(entry(PAIR).getByRole("button", { name: texts.undoOf(said) }));
    expect(asked(calls, "changes_undo")).toEqual([{ change: "merge-1" }]);
    entry(PAIR).getByRole("button", { name: texts.mergeOf("Kettle", "Boiler") });
  });

  it("previews the other direction", async () => {
    const calls = await begin();
    await choose("name", texts.other);
    await click(within(dialog().getByRole("radiogroup", { name: texts.keep })).getAllByRole("radio")[1]!);
    expect(asked(calls, "cards_merge_preview").map(({ keep }) => keep)).toEqual(["a", "b"]);
    await merge();
    expect(asked(calls, "cards_merge")).toMatchObject([
      { keep: "b", remove: "a", fields: { name: "Boiler", tags: ["water", "hot"] }, expected: [5, 3] },
    ]);
  });

  it("asks before flagged text is saved", async () => {
    let flagged = true;
    const calls = await begin({
      cards_merge: ({ flagged_too }) => {
        flagged = !flagged_too;
        if (flagged) throw new CommandError({ code: "flagged", message: "usage holds instructions", remedy: "Look." });
        return { change: "merge-1", cards: ["a", "b"] };
      },
    });
    await merge();
    expect(dialog().getByRole("alert").textContent).toContain("Usage holds instructions");
    await merge(texts.mergeFlagged);
    expect(asked(calls, "cards_merge").map(({ flagged_too }) => flagged_too)).toEqual([false, true]);
    expect(screen.queryByRole("dialog", { name: texts.mergeTitle })).toBeNull();
  });

  it("reads both cards again where one was changed meanwhile", async () => {
    const calls = await begin({
      cards_merge: () => {
        throw new CommandError({ code: "conflict", message: "the card was changed", remedy: "Look again." });
      },
    });
    await choose("name", texts.other);
    await merge();
    dialog().getByText(texts.reloaded);
    expect(asked(calls, "cards_merge_preview")).toHaveLength(2);
    expect(choices("name").map((radio) => radio.getAttribute("aria-checked"))).toEqual(["true", "false"]);
  });
});
