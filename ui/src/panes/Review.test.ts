// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job, ProposalDetail, ProposalRow } from "../lib/bindings";
import { handleKey } from "../lib/commands";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import { fieldName } from "../lib/format";
import { diffOf } from "../lib/words";
import { setZoom } from "../lib/zoom.svelte";
import { NO_HEALTH, proposalOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import { common } from "../texts/common";
import { review as texts } from "../texts/review";
import Review from "./Review.svelte";

const row = (id: number): ProposalRow => ({
  id,
  title: `Kit ${id}`,
  origin: "discovery",
  group: "New card",
  risk: "low",
  suspect: false,
  conflicts: 0,
  approvals: 0,
  needed: 1,
  state: "pending",
  card: null,
  fields: ["name", "description"],
  confidence: 0.9,
  created_at: "2026-01-01T00:00:00Z",
  reason: "found on a page",
  page: "https://docs.example.org/kit",
  assigned_to: null,
});

function detail(id: number, state: ProposalDetail["proposal"]["state"] = "pending"): ProposalDetail {
  const fields = { name: `Kit ${id}`, description: "Counts things." };
  const diff = Object.entries(fields).map(([field, value]) => diffOf(field, undefined, value));
  return proposalOf(id, `Kit ${id}`, fields, diff, { state });
}

/** Renders Review with three proposals; accepting one removes it from the engine's queue as well. */
function open(changed = (one: ProposalDetail) => one, more: Parameters<typeof stage>[0] = {}) {
  let rows = [1, 2, 3].map(row);
  /** Whether the proposals that were left were accepted together. */
  let all = false;
  const slow = { held: [] as (() => void)[], on: false };
  const calls = stage({
    proposals_list: () => ({ rows, waiting: rows.length, groups: ["New card"] }),
    proposals_get: ({ id }) =>
      slow.on
        ? new Promise((done) => slow.held.push(() => done(detail(id))))
        : changed(detail(id, all ? "accepted" : "pending")),
    proposals_accept: ({ id }) => {
      rows = rows.filter((one) => one.id !== id);
      return detail(id, "accepted");
    },
    proposals_reject: ({ id }) => {
      rows = rows.filter((one) => one.id !== id);
      return detail(id, "rejected");
    },
    proposals_reopen: ({ id }) => detail(id),
    proposals_preview: () => ({
      safe: rows.map(({ id, title, reason }) => ({ id, title, reason, diff: [] })),
      left: [],
      seen: "seen",
    }),
    proposals_accept_safe: () => {
      rows = [];
      all = true;
      return { job: "bulk" };
    },
    changes_undo: ({ change }) => ({ change: change ?? "newest", undo: "step", reason: "it", cards: [], kept: [] }),
    changes_redo: ({ undo }) => ({ change: undo ?? "", undo: null, reason: "it", cards: [], kept: [] }),
    health_get: () => NO_HEALTH,
    ...more,
  });
  navigation.visit({ pane: "review", proposal: null });
  render(Review);
  return { calls, slow };
}

const title = () => document.getElementById("proposal-title")?.textContent;
const press = (key: string, repeat = false) => fireEvent.keyDown(document.body, { key, repeat });

beforeEach(() => addEventListener("keydown", handleKey));
afterEach(() => {
  removeEventListener("keydown", handleKey);
  clear();
});

describe("a proposal in review", () => {
  it("is the first of the queue, with its fields and what would change", async () => {
    open();
    await wait();
    expect([title(), navigation.proposal]).toEqual(["Kit 1", 1]);
    expect(screen.getByText(texts.waiting(3, null))).toBeTruthy();
    expect(screen.getByRole<HTMLInputElement>("checkbox", { name: fieldName("description") }).checked).toBe(true);
    expect(screen.getByRole("list", { name: texts.fields }).textContent).toContain("Counts things.");
    expect(screen.getByRole("button", { name: texts.accept }).title).toBe(`${texts.accept} (a)`);
  });

  it("stands in a queue that follows the zoom at once", async () => {
    open();
    await wait();
    const items = () =>
      [...screen.getByRole("list", { name: texts.queueItems }).children].map((item) => {
        const { transform, height } = (item as HTMLElement).style;
        return [transform, height];
      });
    const at = (share: number) =>
      [0, 30, 96, 162].map((top, place) => [`translateY(${top * share}px)`, `${(place ? 66 : 30) * share}px`]);
    expect(items()).toEqual(at(1));
    setZoom(150);
    await wait();
    expect(items()).toEqual(at(1.5));
    setZoom(100);
  });

  it("was proposed some time ago, which follows the clock", async () => {
    open();
    await wait();
    const times = () => screen.getAllByText(/ ago$|^just now$/).map(({ textContent }) => textContent);
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.parse("2026-01-01T00:00:10Z"));
    await wait(60_000);
    // Three in the queue, and that of the open proposal.
    expect(times()).toEqual(Array(4).fill("just now"));
    now.mockReturnValue(Date.parse("2026-01-01T00:03:00Z"));
    await wait(60_000);
    expect(times()).toEqual(Array(4).fill("3 minutes ago"));
    now.mockRestore();
  });

  it("is scrolled to when it was chosen and is below the queue", async () => {
    open();
    await wait();
    const scrolled: string[] = [];
    Element.prototype.scrollIntoView = function () {
      if (this.classList.contains("detail")) scrolled.push(title() ?? "");
    };
    // Beside each other, as where there is room.
    const place = vi.spyOn(Element.prototype, "getBoundingClientRect");
    place.mockImplementation(function (this: Element) {
      return this.tagName === "ASIDE" ? new DOMRect(0, 0, 300, 500) : new DOMRect(300, 0, 600, 500);
    });
    await press("j");
    await wait();
    await fireEvent.click(screen.getByRole("button", { name: /^Kit 3/ }));
    await wait();
    expect([title(), scrolled]).toEqual(["Kit 3", []]);
    place.mockImplementation(function (this: Element) {
      return this.tagName === "ASIDE" ? new DOMRect(0, 0, 300, 500) : new DOMRect(0, 500, 300, 900);
    });
    await press("k");
    await wait();
    await fireEvent.click(screen.getByRole("button", { name: /^Kit 1/ }));
    await wait();
    // Already open, but perhaps scrolled out of view.
    await fireEvent.click(screen.getByRole("button", { name: /^Kit 1/ }));
    await wait();
    await press("a");
    await wait();
    expect(scrolled).toEqual(["Kit 2", "Kit 1", "Kit 1", "Kit 2"]);
    place.mockRestore();
  });

  it("is accepted by a key, in part where a field was not ticked, and the next one follows", async () => {
    const { calls } = open();
    await wait();
    await press("J");
    await press(" ");
    expect(screen.getByRole("button", { name: texts.acceptSome(1, 2) })).toBeTruthy();
    await press("a");
    await wait();
    expect(asked(calls, "proposals_accept")).toMatchObject([{ id: 1, fields: ["name"] }]);
    expect(title()).toBe("Kit 2");
    expect(screen.getByText(texts.waiting(2, null))).toBeTruthy();
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.acceptedFields("Kit 1", 1)]);
  });

  it("is decided alone by a key that stays down, while steps go on", async () => {
    const { calls } = open();
    await wait();
    await press("a");
    await wait();
    await press("a", true);
    await wait();
    expect(asked(calls, "proposals_accept")).toMatchObject([{ id: 1 }]);
    expect(title()).toBe("Kit 2");
    await press("j", true);
    await wait();
    expect(title()).toBe("Kit 3");
  });

  it("is not decided by keys while a dialog covers it", async () => {
    const { calls } = open();
    await wait();
    await fireEvent.click(screen.getByTitle(texts.showTheNumbers));
    await wait();
    await press("a");
    await press("r");
    await wait();
    expect(asked(calls, "proposals_accept")).toEqual([]);
    expect(screen.queryByLabelText(texts.why)).toBeNull();
    await fireEvent.keyDown(screen.getByRole("dialog"), { key: "Escape" });
    await wait();
    await press("a");
    await wait();
    expect(asked(calls, "proposals_accept")).toMatchObject([{ id: 1 }]);
  });

  it("is undone together with those it was accepted with, not the decision before", async () => {
    const { calls } = open();
    await wait();
    await press("a");
    await wait();
    await press("A");
    await wait();
    await fireEvent.click(screen.getByRole("button", { name: texts.acceptProposals(2) }));
    await wait();
    engine.jobs = [{ id: "bulk", kind: "review", state: "done", tally: { changed: 2, change: "c7" } } as Job];
    engine.versions.queue++;
    await wait();
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.acceptedTogether(2)]);
    await press("u");
    await wait();
    expect(asked(calls, "changes_undo")).toEqual([{ change: "c7" }]);
    expect(asked(calls, "proposals_reopen")).toEqual([]);
    // What was undone is redone by its own id.
    engine.toasts.find((toast) => toast.action?.label === common.redo)?.action?.run();
    await wait();
    expect(asked(calls, "changes_redo")).toEqual([{ undo: "step" }]);
  });

  it("cannot be accepted once its card was removed", async () => {
    const { calls } = open((one) => ({
      ...one,
      revision: null,
      proposal: { ...one.proposal, draft: { ...one.proposal.draft, card: "kit" } },
    }));
    await wait();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: texts.accept }).disabled).toBe(true);
    expect(screen.getByText(texts.cardRemoved)).toBeTruthy();
    await press("a");
    await wait();
    expect(asked(calls, "proposals_accept")).toEqual([]);
  });

  it("gets the keys that were pressed for it while it was being read", async () => {
    const { calls, slow } = open();
    await wait();
    slow.on = true;
    await press("j");
    await press("j");
    await press("a");
    expect(asked(calls, "proposals_accept")).toEqual([]);
    slow.on = false;
    slow.held.forEach((answer) => answer());
    await wait();
    expect(asked(calls, "proposals_accept")).toMatchObject([{ id: 3 }]);
  });

  it("is compared with no value that was typed for the one before it", async () => {
    const { calls, slow } = open();
    await wait();
    slow.on = true;
    await press("j");
    await press("j");
    expect([title(), navigation.proposal]).toEqual(["Kit 2", 3]);
    await fireEvent.click(screen.getByRole("button", { name: texts.editField(fieldName("description")) }));
    const box = screen.getByLabelText(texts.valueOf(fieldName("description")));
    await fireEvent.input(box, { target: { value: "Counts nothing." } });
    await fireEvent.submit(box);
    await wait();
    slow.on = false;
    slow.held.forEach((answer) => answer());
    await wait();
    expect(title()).toBe("Kit 3");
    const typed = asked(calls, "proposals_get").filter(({ edits }) => Object.keys(edits ?? {}).length);
    expect(typed.filter(({ id }) => id !== 2)).toEqual([]);
  });

  it("is read while the one before it is decided on, and shown at once", async () => {
    const { calls, slow } = open();
    await wait();
    slow.on = true;
    await press("a");
    await wait();
    expect([title(), navigation.proposal]).toEqual(["Kit 2", 2]);
    await press("a");
    await wait();
    expect(asked(calls, "proposals_accept")).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it("is not read before the one on the same card is decided", async () => {
    const same = [1, 2, 3].map((id) => ({ ...row(id), card: id < 3 ? "card:kit" : "card:other" }));
    const list = () => ({ rows: same, waiting: 3, groups: ["New card"] });
    const { calls } = open(undefined, { proposals_list: list });
    await wait();
    expect(asked(calls, "proposals_get")).toEqual([{ id: 1, edits: {} }]);
    await press("j");
    await wait();
    expect(asked(calls, "proposals_get").slice(1)).toEqual([
      { id: 2, edits: {} },
      { id: 3, edits: {} },
    ]);
  });

  it("is decided once, and its buttons are only disabled while that takes long", async () => {
    let finish = () => {};
    const { calls } = open(undefined, {
      proposals_accept: ({ id }) => new Promise((done) => (finish = () => done(detail(id, "accepted")))),
    });
    await wait();
    const accept = () => screen.getByRole<HTMLButtonElement>("button", { name: texts.accept });
    await press("a");
    await press("a");
    await wait(100);
    expect([asked(calls, "proposals_accept").length, accept().disabled]).toEqual([1, false]);
    await wait(100);
    expect(accept().disabled).toBe(true);
    finish();
    await wait();
    expect([title(), accept().disabled]).toEqual(["Kit 2", false]);
  });

  it("is rejected with a reason, and letters typed there decide nothing", async () => {
    const { calls } = open();
    await wait();
    await press("r");
    await wait(50);
    const box = screen.getByLabelText(texts.why);
    await fireEvent.input(box, { target: { value: "we have one" } });
    await fireEvent.keyDown(box, { key: "a" });
    await fireEvent.submit(box);
    await wait();
    expect(asked(calls, "proposals_accept")).toEqual([]);
    expect(asked(calls, "proposals_reject")).toMatchObject([{ id: 1, reason: "we have one" }]);
  });

  it("is looked at step by step as one place to go back from, and by a click as one of its own", async () => {
    open();
    await wait();
    await press("j");
    await press("j");
    expect(navigation.proposal).toBe(3);
    await fireEvent.click(screen.getByRole("button", { name: /Kit 1/ }));
    navigation.back();
    expect(navigation.proposal).toBe(3);
    navigation.back();
    expect(navigation.pane).toBe("ask");
  });

  it("of a team is assigned to oneself, and decided only by those who may", async () => {
    const bob = { member: "bob", may_decide: false };
    const mine = (one: ProposalDetail, to: string | null) => ({
      ...one,
      team: bob,
      proposal: { ...one.proposal, assigned_to: to },
    });
    const { calls } = open((one) => mine(one, "ann"), {
      proposals_assign: ({ id, to }) => mine(detail(id), to),
    });
    await wait();
    expect(screen.getByText(texts.mayPropose)).toBeTruthy();
    expect(screen.getByText(texts.assignedTo("ann"), { exact: false })).toBeTruthy();
    expect(screen.queryByRole("button", { name: texts.accept })).toBeNull();
    await press("a");
    expect(asked(calls, "proposals_accept")).toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: texts.assignMe }));
    await wait();
    expect(asked(calls, "proposals_assign")).toEqual([{ id: 1, to: "bob" }]);
    expect(screen.getByText(texts.assignedTo(texts.you), { exact: false })).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: texts.unassign }));
    await wait();
    expect(asked(calls, "proposals_assign").at(-1)).toEqual({ id: 1, to: null });
  });

  it("says why it could not be accepted", async () => {
    const { calls } = open();
    await wait();
    const call = engine.call.bind(engine);
    const refuse = vi.spyOn(engine, "call").mockImplementation((name, request) => {
      if (name === "proposals_accept") return Promise.reject(new Error("it was changed meanwhile"));
      return call(name, request);
    });
    await press("a");
    await wait();
    refuse.mockRestore();
    expect(screen.getByRole("alert").textContent).toContain("it was changed meanwhile");
    expect([title(), asked(calls, "proposals_accept").length]).toEqual(["Kit 1", 0]);
  });
});

describe("several proposals in review", () => {
  it("are selected by keys and clicks, and accepted as previewed", async () => {
    const { calls } = open();
    await wait();
    await press("x");
    expect(screen.getByText(texts.selected(1))).toBeTruthy();
    await press("j");
    await press("j");
    await press("X");
    expect(screen.getByText(texts.selected(3))).toBeTruthy();
    const second = screen.getByRole("checkbox", { name: texts.selectProposal("Kit 2") });
    await fireEvent.click(second);
    expect(screen.getByText(texts.selected(2))).toBeTruthy();
    await press("a");
    await wait();
    const dialog = screen.getByRole("dialog", { name: texts.acceptTogether.selected.title });
    expect(asked(calls, "proposals_preview")).toEqual([{ ids: [1, 3], rule: "selected" }]);
    await fireEvent.click(within(dialog).getByRole("button", { name: texts.acceptProposals(3) }));
    await wait();
    expect(asked(calls, "proposals_accept_safe")).toMatchObject([{ ids: [1, 3], rule: "selected", seen: "seen" }]);
    expect(screen.queryByText(texts.selected(2))).toBeNull();
  });

  it("of a group are selected by its heading, and Escape clears the selection", async () => {
    open();
    await wait();
    const heading = screen.getByRole<HTMLInputElement>("checkbox", { name: texts.selectGroup("New card") });
    await fireEvent.click(heading);
    expect(screen.getByText(texts.selected(3))).toBeTruthy();
    await press("Escape");
    expect(screen.queryByText(texts.selected(3))).toBeNull();
    expect(heading.checked).toBe(false);
  });

  it("are rejected for one reason, and reopened together", async () => {
    const { calls } = open();
    await wait();
    await fireEvent.click(screen.getByRole("checkbox", { name: texts.selectGroup("New card") }));
    await press("r");
    await fireEvent.input(screen.getByLabelText(texts.whyHint), { target: { value: "not ours" } });
    await fireEvent.click(screen.getByRole("button", { name: texts.rejectProposals(3) }));
    await wait();
    const rejected = asked(calls, "proposals_reject");
    expect(rejected.map(({ id, reason }) => [id, reason])).toEqual([1, 2, 3].map((id) => [id, "not ours"]));
    expect(screen.queryByRole("dialog")).toBeNull();
    await press("u");
    await wait();
    expect(asked(calls, "proposals_reopen")).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it("that were rejected are reopened by their message, and the decision made since by its key", async () => {
    const { calls } = open();
    await wait();
    for (const name of ["Kit 2", "Kit 3"])
      await fireEvent.click(screen.getByRole("checkbox", { name: texts.selectProposal(name) }));
    await press("r");
    await fireEvent.click(screen.getByRole("button", { name: texts.rejectProposals(2) }));
    await wait();
    const undo = engine.toasts.find(({ text }) => text === texts.rejectedTogether(2))?.action;
    await press("a");
    await wait();
    expect(asked(calls, "proposals_accept")).toMatchObject([{ id: 1 }]);
    undo?.run();
    await wait();
    expect(asked(calls, "proposals_reopen")).toEqual([{ id: 2 }, { id: 3 }]);
    await press("u");
    await wait();
    expect(asked(calls, "proposals_reopen").at(-1)).toEqual({ id: 1 });
  });
});
