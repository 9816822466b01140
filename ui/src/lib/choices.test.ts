import { describe, expect, it } from "vitest";
import type { ImportItem, ImportPreview, ItemStatus } from "./bindings";
import { choiceOf, NOTHING_CHOSEN, resolutionOf, resolve, importTotals, includeField, type Chosen } from "./choices";
import { diffOf } from "./words";
import { importItem } from "../testing/fixtures";

function item(position: number, status: ItemStatus, clean: string[] = [], conflicts: string[] = []): ImportItem {
  return importItem(position, `card ${position}`, status, {
    diff: [...clean, ...conflicts].map((field) => diffOf(field, "a", "b")),
    conflicts: conflicts.map((field) => ({ field, base: null, ours: "a", theirs: "b" })),
  });
}

const preview = {
  new: 5,
  changed: 3,
  conflicting: 2,
  similar: 1,
  identical: 7,
  invalid: 4,
  suspect: 2,
  suspect_new: 1,
  reverting: 1,
} as ImportPreview;
const out: Chosen = { ...NOTHING_CHOSEN, take: false };

describe("what was chosen", () => {
  const card = item(3, "conflicting", ["class", "module"], ["name", "pricing"]);

  it("is told only where it differs from what happens anyway", () => {
    expect(choiceOf(card, NOTHING_CHOSEN)).toBeNull();
    expect(choiceOf(card, includeField(includeField(NOTHING_CHOSEN, "class", false), "class", true))).toBeNull();
    expect(choiceOf(card, resolve(resolve(NOTHING_CHOSEN, "name", "mine"), "name", "review"))).toBeNull();
    expect(choiceOf(card, out)).toEqual({ position: 3, take: false, fields: null, later: [], same_as: null });
  });

  it("names the fields that are taken; a conflict only where theirs wins", () => {
    expect(choiceOf(card, includeField(NOTHING_CHOSEN, "class", false))?.fields).toEqual(["module"]);
    expect(choiceOf(card, resolve(NOTHING_CHOSEN, "name", "theirs"))?.fields).toEqual(["class", "module", "name"]);
    expect(choiceOf(card, resolve(NOTHING_CHOSEN, "name", "mine"))?.fields).toEqual(["class", "module"]);
  });

  it("says which card it is under another name, and then no fields", () => {
    const same = { ...NOTHING_CHOSEN, sameAs: "kettle" };
    expect(choiceOf(item(1, "similar"), same)).toEqual({
      position: 1,
      take: true,
      fields: null,
      later: [],
      same_as: "kettle",
    });
  });

  it("leaves to Review what is not decided, whatever else is chosen", () => {
    expect(resolutionOf(NOTHING_CHOSEN, "name")).toBe("review");
    const one = resolve(NOTHING_CHOSEN, "pricing", "theirs");
    expect([resolutionOf(one, "pricing"), resolutionOf(one, "name")]).toEqual(["theirs", "review"]);
    expect(choiceOf(card, one)?.later).toEqual(["name"]);
    expect(choiceOf(card, includeField(NOTHING_CHOSEN, "class", false))?.later).toEqual(["name", "pricing"]);
    expect(choiceOf(card, resolve(one, "name", "mine"))?.later).toEqual([]);
  });
});

describe("what an import comes to", () => {
  it("counts the cards it brings something of", () => {
    expect(importTotals(preview, [], "review", "merge")).toEqual({ cards: 11, waiting: 2, suspect: 2, reverting: 1 });
    expect(importTotals(preview, [], "library", "keep")).toEqual({ cards: 6, waiting: 0, suspect: 1, reverting: 0 });
  });

  it("counts what was left out, and what nothing is left of", () => {
    const picks = [
      { item: { ...item(1, "new"), suspect: true }, chosen: out },
      { item: item(2, "identical"), chosen: out },
      { item: item(3, "conflicting", [], ["name"]), chosen: resolve(NOTHING_CHOSEN, "name", "mine") },
      { item: item(4, "conflicting", [], ["name"]), chosen: resolve(NOTHING_CHOSEN, "name", "theirs") },
      {
        item: { ...item(5, "changed", ["class"]), reverts: true },
        chosen: includeField(NOTHING_CHOSEN, "class", false),
      },
    ];
    expect(importTotals(preview, picks, "library", "merge")).toEqual({
      cards: 8,
      waiting: 0,
      suspect: 1,
      reverting: 0,
    });
    expect(importTotals(preview, picks, "library", "keep")).toEqual({ cards: 5, waiting: 0, suspect: 0, reverting: 0 });
  });

  it("counts a card of which one conflict is decided and one waits", () => {
    const both = item(3, "conflicting", [], ["name", "class"]);
    const one = resolve(NOTHING_CHOSEN, "name", "mine");
    expect(importTotals(preview, [{ item: both, chosen: one }], "library", "merge")).toEqual({
      cards: 11,
      waiting: 2,
      suspect: 2,
      reverting: 1,
    });
    const all = resolve(one, "class", "mine");
    expect(importTotals(preview, [{ item: both, chosen: all }], "library", "merge")).toEqual({
      cards: 10,
      waiting: 1,
      suspect: 2,
      reverting: 1,
    });
  });
});
