// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job, Personalization as State } from "../../lib/bindings";
import { engine } from "../../lib/engine.svelte";
import type { Host } from "../../lib/host";
import { stubResizeObserver } from "../../testing/stage";
import { common } from "../../texts/common";
import { personalization as texts } from "../../texts/settings/personalization";
import Personalization from "./Personalization.svelte";

const AT = "2026-01-01T00:00:00.000Z";

function stage(initial: Partial<State> = {}, failure: object | null = null) {
  let unreadable = failure;
  engine.jobs = [];
  let state: State = {
    enabled: true,
    needed: 40,
    profiles: [
      { profile: "ann", state: "collecting", questions: 12, ratings: 13, calls: 0, edits: 1 },
      {
        profile: "agents/shop",
        state: "in_use",
        questions: 50,
        ratings: 0,
        calls: 61,
        edits: 0,
        comparison: { at: AT, questions: 50, before: 0.5, after: 0.7, lower: 0.1, upper: 0.3, better: 20, worse: 3 },
      },
    ],
    ...initial,
  };
  const calls: { name: string; request: unknown }[] = [];
  const call = async (name: string, request: { enabled?: boolean; profile?: string }) => {
    calls.push({ name, request });
    if (name === "personalization_set") state = { ...state, enabled: request.enabled! };
    if (name === "personalization_reset") {
      state = { ...state, profiles: state.profiles.filter((one) => one.profile !== request.profile) };
    }
    if (name === "personalization_get" && unreadable) throw unreadable;
    if (name === "personalization_reset" && !request.profile) unreadable = null;
    if (name === "personalization_learn") throw { code: "conflict", message: "it broke", remedy: "Try again." };
    return state;
  };
  engine.use({ desktop: false, call } as unknown as Host);
  render(Personalization);
  return calls;
}

const settle = () => vi.advanceTimersByTimeAsync(500);

beforeEach(() => {
  vi.useFakeTimers();
  stubResizeObserver();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("personalization", () => {
  it("shows what was learned for each profile, and resets one of them after a confirmation", async () => {
    const calls = stage();
    await settle();
    const [ann, shop] = screen.getAllByRole("listitem");
    expect(ann?.textContent).toContain(texts.collecting(12, 40));
    expect(shop?.textContent).toContain(texts.state.in_use);
    expect(shop?.textContent).toContain(texts.comparison(50, 20, 3));

    await fireEvent.click(screen.getByRole("button", { name: texts.resetOf("agents/shop") }));
    expect(calls.some(({ name }) => name === "personalization_reset")).toBe(false);
    await fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: texts.reset }));
    await settle();
    expect(calls).toContainEqual({ name: "personalization_reset", request: { profile: "agents/shop" } });
    expect(screen.getAllByRole("listitem")).toHaveLength(1);
  });

  it("is switched off with one click, and learns nothing then", async () => {
    const calls = stage();
    await settle();
    const learn = screen.getByRole("button", { name: texts.learn });
    expect(learn.hasAttribute("disabled")).toBe(false);
    await fireEvent.click(screen.getByRole("checkbox", { name: texts.enabled }));
    await settle();
    expect(calls).toContainEqual({ name: "personalization_set", request: { enabled: false } });
    expect(screen.getByRole<HTMLInputElement>("checkbox").checked).toBe(false);
    expect(learn.hasAttribute("disabled")).toBe(true);
  });

  it("says where learning failed, and can be tried again", async () => {
    stage();
    await settle();
    await fireEvent.click(screen.getByRole("button", { name: texts.learn }));
    await settle();
    expect(screen.getByRole("alert").textContent).toContain("It broke");
    expect(screen.getByRole("button", { name: texts.learn }).hasAttribute("disabled")).toBe(false);
  });

  it("waits while something is learned", async () => {
    stage();
    await settle();
    engine.jobs = [{ id: "j", kind: "learn", state: "running" } as unknown as Job];
    await settle();
    expect(screen.getByRole("button", { name: texts.learning }).hasAttribute("disabled")).toBe(true);
    expect(screen.getByRole("checkbox", { name: texts.enabled }).hasAttribute("disabled")).toBe(false);
  });

  it("exports one profile", async () => {
    const calls = stage();
    await settle();
    expect(screen.queryByRole("button", { name: texts.exportOf("ann") })).toBeNull();
    await fireEvent.click(screen.getByRole("button", { name: texts.exportOf("agents/shop") }));
    expect(calls).toContainEqual({ name: "personalization_export", request: { profile: "agents/shop" } });
  });

  it("resets everything where it cannot be read", async () => {
    const calls = stage({ profiles: [] }, { code: "internal", message: "unreadable", remedy: "" });
    await settle();
    await fireEvent.click(screen.getByRole("button", { name: texts.resetAll }));
    await fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: texts.reset }));
    await settle();
    expect(calls).toContainEqual({ name: "personalization_reset", request: {} });
    expect(screen.getByText(texts.none)).toBeTruthy();
  });

  it("says how to begin where there is nothing to learn from", async () => {
    stage({ profiles: [] });
    expect(screen.getByText(common.reading)).toBeTruthy();
    await settle();
    expect(screen.getByText(texts.none)).toBeTruthy();
    expect(screen.queryByRole("button", { name: texts.learn })).toBeNull();
  });
});
