// @vitest-environment jsdom
import { flushSync } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CardsQuery, Status } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError, type Host } from "./host";
import { sharedResource, Resource, type ResourceOptions } from "./resource.svelte";

interface Asked {
  request: { card: string };
  answer: (value: string) => Promise<void>;
  fail: (message: string) => Promise<void>;
}

/** Creates a resource whose responses the test controls. */
function stage(options: ResourceOptions & { start?: string | null; shown?: boolean } = {}) {
  const asked: Asked[] = [];
  const state = $state({ card: options.start === undefined ? "a" : options.start, shown: options.shown ?? true });
  let made!: Resource<{ card: string }, string>;
  const settle = async (settled: () => void) => {
    settled();
    await vi.advanceTimersByTimeAsync(0);
    flushSync();
  };
  const stop = $effect.root(() => {
    made = new Resource(
      (request) =>
        new Promise<string>((resolve, reject) => {
          const error = (message: string) => new CommandError({ code: "internal", message, remedy: "" });
          asked.push({
            request,
            answer: (value) => settle(() => resolve(value)),
            fail: (message) => settle(() => reject(error(message))),
          });
        }),
      () => (state.card === null ? null : { card: state.card }),
      () => state.shown,
      options,
    );
  });
  flushSync();
  const set = (change: Partial<typeof state>) => {
    Object.assign(state, change);
    flushSync();
  };
  return { asked, made, state, set, stop, cards: () => asked.map(({ request }) => request.card) };
}

function tell(cursor: number, checks = 0) {
  engine.status = { cursor, checks } as Status;
  flushSync();
}

beforeEach(() => {
  vi.useFakeTimers();
  tell(1);
});
afterEach(() => vi.useRealTimers());

describe("a resource", () => {
  it("reads at once and tells that it is loading", async () => {
    const { asked, made } = stage();
    expect([made.loading, made.value, asked.length]).toEqual([true, null, 1]);
    await asked[0]!.answer("A");
    expect([made.loading, made.value, made.answered]).toEqual([false, "A", { card: "a" }]);
  });

  it("keeps the value while the next is read, and lets the latest answer win", async () => {
    const { asked, made, set } = stage();
    await asked[0]!.answer("A");
    set({ card: "b" });
    set({ card: "c" });
    expect([made.value, made.answered, made.loading]).toEqual(["A", { card: "a" }, true]);
    await asked[2]!.answer("C");
    await asked[1]!.answer("B");
    expect([made.value, made.answered, made.loading]).toEqual(["C", { card: "c" }, false]);
  });

  it("asks nothing for null, and then knows nothing", async () => {
    const { asked, made, set } = stage({ start: null });
    expect([asked.length, made.loading]).toEqual([0, false]);
    set({ card: "a" });
    set({ card: null });
    await asked[0]!.answer("A");
    expect([made.value, made.error, made.loading]).toEqual([null, null, false]);
  });

  it("keeps a value whose refresh fails, but none that answers another request", async () => {
    const { asked, made, set } = stage();
    await asked[0]!.answer("A");
    void made.refresh();
    await asked[1]!.fail("gone");
    expect([made.value, made.error?.message, made.loading]).toEqual(["A", "gone", false]);
    set({ card: "b" });
    await asked[2]!.fail("not there");
    expect([made.value, made.error?.message]).toEqual([null, "not there"]);
    void made.refresh();
    await asked[3]!.answer("B");
    expect([made.value, made.error]).toEqual(["B", null]);
  });

  it("keeps the answer to another request where it is told to", async () => {
    const { asked, made, set } = stage({ keepOnError: true });
    await asked[0]!.answer("A");
    set({ card: "b" });
    await asked[1]!.fail("not there");
    expect([made.value, made.error?.message]).toEqual(["A", "not there"]);
  });

  it("shows errors at the edge of the window where it is told to", async () => {
    engine.toasts = [];
    const { asked } = stage({ toastErrors: true });
    await asked[0]!.fail("no route to the engine");
    expect(engine.toasts.map(({ text }) => text)).toEqual(["no route to the engine"]);
  });

  it("reads again for the events it names and for no others", async () => {
    const { asked, cards } = stage({ invalidatedBy: ["checks", "setting:profiles", "jobs:import"] });
    await asked[0]!.answer("A");
    tell(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.length).toBe(1);
    tell(2, 1);
    await vi.advanceTimersByTimeAsync(0);
    await asked[1]!.answer("A");
    engine.versions.settings.profiles = 1;
    flushSync();
    await vi.advanceTimersByTimeAsync(0);
    await asked[2]!.answer("A");
    engine.jobs = [{ id: "j", kind: "import", state: "running", done: 0 } as never];
    flushSync();
    await vi.advanceTimersByTimeAsync(0);
    await asked[3]!.answer("A");
    // A job's progress does not change any data.
    engine.jobs[0]!.done = 5;
    flushSync();
    await vi.advanceTimersByTimeAsync(0);
    expect(cards()).toEqual(["a", "a", "a", "a"]);
    engine.jobs = [];
  });

  it("reads once for a burst of events, never two at a time, and always after the last one", async () => {
    const { asked, made } = stage({ invalidatedBy: ["library"], pause: 250 });
    await asked[0]!.answer("A");
    for (let cursor = 2; cursor < 50; cursor++) tell(cursor);
    await vi.advanceTimersByTimeAsync(249);
    expect(asked.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.length).toBe(2);
    for (let cursor = 50; cursor < 100; cursor++) tell(cursor);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked.length).toBe(2);
    await asked[1]!.answer("B");
    expect(made.value).toBe("B");
    await vi.advanceTimersByTimeAsync(250);
    await asked[2]!.answer("C");
    await vi.advanceTimersByTimeAsync(1000);
    expect([made.value, asked.length]).toEqual(["C", 3]);
  });

  it("does not read while it is hidden, and once when it is shown again", async () => {
    const { asked, set, cards } = stage({ invalidatedBy: ["library"], shown: false });
    expect(asked.length).toBe(0);
    set({ shown: true });
    await asked[0]!.answer("A");
    set({ shown: false });
    set({ shown: true });
    expect(asked.length).toBe(1);
    set({ shown: false });
    for (let cursor = 2; cursor < 9; cursor++) tell(cursor);
    set({ card: "b" });
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked.length).toBe(1);
    set({ shown: true });
    await vi.advanceTimersByTimeAsync(1000);
    expect(cards()).toEqual(["a", "b"]);
  });

  it("is read each time it is shown where nothing tells of changes", async () => {
    const { asked, set } = stage({ refreshWhenShown: true });
    await asked[0]!.answer("A");
    set({ shown: false });
    expect(asked.length).toBe(1);
    set({ shown: true });
    expect(asked.length).toBe(2);
  });

  it("waits for typing to stop, but not the first time and not when told to read", async () => {
    const { asked, made, set, cards } = stage({ start: null, debounce: 120 });
    set({ card: "k" });
    expect(cards()).toEqual(["k"]);
    set({ card: "ke" });
    await vi.advanceTimersByTimeAsync(119);
    set({ card: "ket" });
    await vi.advanceTimersByTimeAsync(119);
    expect(asked.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(cards()).toEqual(["k", "ket"]);
    set({ card: "kett" });
    void made.refresh();
    await vi.advanceTimersByTimeAsync(1000);
    expect(cards()).toEqual(["k", "ket", "kett"]);
  });

  it("takes what a change answered, and drops readings that began before", async () => {
    const { asked, made } = stage();
    made.value = "changed";
    expect([made.value, made.loading]).toEqual(["changed", false]);
    await asked[0]!.answer("older");
    expect(made.value).toBe("changed");
    // The interrupted read may have had another cause, so it is repeated.
    expect(asked.length).toBe(2);
    await asked[1]!.answer("A");
    expect([made.value, asked.length]).toEqual(["A", 2]);
  });

  it("shows what was prefetched as soon as it is requested, and reads no more", async () => {
    const { asked, made, set, cards } = stage();
    await asked[0]!.answer("A");
    made.prefetch({ card: "b" });
    made.prefetch({ card: "b" });
    await asked[1]!.answer("B");
    expect([made.value, made.answered]).toEqual(["A", { card: "a" }]);
    const seen = new Set<string>();
    const stop = $effect.root(() => {
      $effect.pre(() => void seen.add(`${made.answered?.card} ${made.value}`));
    });
    set({ card: "b" });
    stop();
    expect([made.value, made.answered, made.loading]).toEqual(["B", { card: "b" }, false]);
    // At no time between was it the response to one request beside another.
    expect([...seen]).toEqual(["a A", "b B"]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(cards()).toEqual(["a", "b"]);
  });

  it("waits for what is being prefetched instead of reading it twice", async () => {
    const { asked, made, set, cards } = stage();
    await asked[0]!.answer("A");
    made.prefetch({ card: "b" });
    set({ card: "b" });
    expect([made.value, made.loading]).toEqual(["A", true]);
    await asked[1]!.answer("B");
    expect([made.value, made.loading]).toEqual(["B", false]);
    made.prefetch({ card: "c" });
    set({ card: "c" });
    await asked[2]!.fail("gone");
    expect([made.value, made.error?.message, made.loading]).toEqual([null, "gone", false]);
    expect(cards()).toEqual(["a", "b", "c"]);
  });

  it("reloads what became stale since it was prefetched, after the pause", async () => {
    const { asked, made, set, cards } = stage({ invalidatedBy: ["library"], pause: 250 });
    await asked[0]!.answer("A");
    made.prefetch({ card: "b" });
    await asked[1]!.answer("B");
    tell(2);
    set({ card: "b" });
    await vi.advanceTimersByTimeAsync(249);
    expect([made.value, asked.length]).toEqual(["B", 2]);
    await vi.advanceTimersByTimeAsync(1);
    await asked[2]!.answer("B2");
    await vi.advanceTimersByTimeAsync(1000);
    expect([made.value, cards()]).toEqual(["B2", ["a", "b", "b"]]);
  });

  it("reads what was prefetched again when it is told to, and prefetches nothing it has", async () => {
    const { asked, made, set, cards } = stage();
    await asked[0]!.answer("A");
    made.prefetch({ card: "a" });
    expect(asked.length).toBe(1);
    made.prefetch({ card: "b" });
    await asked[1]!.answer("B");
    set({ card: "b" });
    void made.refresh();
    await asked[2]!.answer("B2");
    expect([made.value, cards()]).toEqual(["B2", ["a", "b", "b"]]);
  });

  it("refreshes to what is read then, also before the request was sent", async () => {
    const { asked, made, state } = stage();
    await asked[0]!.answer("A");
    made.prefetch({ card: "b" });
    await asked[1]!.answer("B");
    state.card = "b";
    void made.refresh();
    await asked[2]!.answer("B2");
    expect([made.value, made.answered]).toEqual(["B2", { card: "b" }]);
  });

  it("reads again what could not be prefetched, or was for another request", async () => {
    const { asked, made, set, cards } = stage();
    await asked[0]!.answer("A");
    made.prefetch({ card: "b" });
    await asked[1]!.fail("gone");
    set({ card: "b" });
    await asked[2]!.answer("B");
    made.prefetch({ card: "c" });
    set({ card: "d" });
    await asked[3]!.answer("C");
    expect(made.value).toBe("B");
    await asked[4]!.answer("D");
    set({ card: "c" });
    expect(made.value).toBe("D");
    expect(cards()).toEqual(["a", "b", "b", "c", "d", "c"]);
  });

  it("does nothing any more once its component is gone", async () => {
    const { asked, made, stop } = stage({ invalidatedBy: ["library"] });
    stop();
    await asked[0]!.answer("A");
    tell(7);
    await vi.advanceTimersByTimeAsync(1000);
    expect([made.value, made.loading, asked.length]).toEqual([null, false, 1]);
  });
});

describe("a shared resource", () => {
  it("reads a command outside of a component", async () => {
    const asked: [string, unknown][] = [];
    const call = async (name: string, request: unknown) => (asked.push([name, request]), { total: 3, rows: [] });
    engine.use({ desktop: false, call } as unknown as Host);
    const cards = sharedResource("cards_list", () => ({ query: {} as CardsQuery, offset: 0, limit: 0 }));
    flushSync();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual([["cards_list", { query: {}, offset: 0, limit: 0 }]]);
    expect(cards.value?.total).toBe(3);
  });
});
