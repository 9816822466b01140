// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { engine } from "../../lib/engine.svelte";
import type { Host } from "../../lib/host";
import { stubResizeObserver } from "../../testing/stage";
import { permissions as texts } from "../../texts/permissions";
import CardPicker, { type Picked } from "./CardPicker.svelte";

const card = (id: string, name: string) => ({ id, name, provider: "vendor" });
const picked = vi.fn<(picked: Picked) => void>();

function stage(props: { providers?: boolean; own?: boolean } = {}) {
  const asked: string[] = [];
  const call = async (name: string, request: { query?: string; text?: string }) => {
    asked.push(`${name} ${request.query ?? request.text}`);
    if (name === "tools") return { tools: [] };
    return { results: request.query === "none" ? [] : [card("1", `${request.query} one`), card("2", "two")] };
  };
  engine.use({ desktop: false, call } as unknown as Host);
  const sent = vi.fn();
  addEventListener("submit", sent);
  render(CardPicker, { label: "Tool", own: false, pick: picked, ...props });
  return { asked, box: screen.getByRole<HTMLInputElement>("combobox", { name: "Tool" }) };
}

/** Enters a text at once and waits for the results. */
async function fill(box: HTMLInputElement, value: string) {
  box.focus();
  await fireEvent.input(box, { target: { value } });
  await vi.advanceTimersByTimeAsync(200);
}

const options = () => screen.queryAllByRole("option").map((option) => option.textContent?.trim());

beforeEach(() => {
  vi.useFakeTimers();
  picked.mockReset();
  stubResizeObserver();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("picking a tool by its name", () => {
  it("offers what is found, and takes the first one by Enter", async () => {
    const { box } = stage();
    expect(box.getAttribute("aria-expanded")).toBe("false");
    await fill(box, "mail");
    expect([box.getAttribute("aria-expanded"), ...options()]).toEqual(["true", "mail one vendor", "two vendor"]);
    const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
    await fireEvent(box, enter);
    await vi.advanceTimersByTimeAsync(500);
    expect(picked.mock.calls).toEqual([[{ id: "1", name: "mail one", provider: "vendor", whole: false }]]);
    // The box is empty again for the next selection, and Enter did not submit the form.
    expect([box.value, enter.defaultPrevented, options()]).toEqual(["", true, []]);
  });

  it("is moved through by arrows, also among what a longer text finds", async () => {
    const { box } = stage({ providers: true });
    await fill(box, "ma");
    await fill(box, "mail");
    const all = `${texts.allToolsOf} vendor`;
    expect(options()).toEqual(["mail one vendor", "two vendor", all]);
    await fireEvent.keyDown(box, { key: "ArrowDown" });
    await fireEvent.keyDown(box, { key: "ArrowDown" });
    const active = box.getAttribute("aria-activedescendant");
    expect(document.getElementById(active ?? "")?.textContent?.trim()).toBe(all);
    await fireEvent.keyDown(box, { key: "Enter" });
    expect(picked.mock.calls[0]?.[0]).toMatchObject({ id: "vendor/*", whole: true });
  });

  it("takes what is clicked", async () => {
    const { box } = stage();
    await fill(box, "mail");
    const two = screen.getByRole("option", { name: "two vendor" });
    await fireEvent.pointerDown(two);
    await fireEvent.pointerUp(two);
    expect(picked.mock.calls[0]?.[0]).toMatchObject({ id: "2" });
  });

  it("closes by Escape and tells no one else, and says when nothing is found", async () => {
    const { box } = stage();
    await fill(box, "mail");
    const heard = vi.fn();
    addEventListener("keydown", heard);
    await fireEvent.keyDown(box, { key: "Escape" });
    removeEventListener("keydown", heard);
    await vi.advanceTimersByTimeAsync(100);
    expect([options(), heard.mock.calls.length]).toEqual([[], 0]);
    await fill(box, "none");
    expect(screen.getByRole("status").textContent).toBe(texts.noOtherTool);
  });

  it("asks AutoKit's own tools only where they can be picked", async () => {
    const { asked, box } = stage({ own: true });
    await fill(box, "code");
    expect(asked).toEqual(["cards_search code", "tools_list code"]);
  });
});
