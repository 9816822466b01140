// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import { engine } from "../lib/engine.svelte";
import { clear, stage, wait } from "../testing/stage";
import { app as texts } from "../texts/app";
import { common } from "../texts/common";
import Toasts from "./Toasts.svelte";

afterEach(clear);

const shown = () => engine.toasts.map(({ text }) => text);
const region = () => screen.getByRole("region", { name: texts.messages });

describe("the toasts", () => {
  it("stay while the pointer or the focus is on them", async () => {
    stage({});
    render(Toasts);
    engine.showToast("Saved");
    await wait();
    await fireEvent.pointerEnter(region());
    await wait(10_000);
    expect(shown()).toEqual(["Saved"]);
    screen.getByRole("button", { name: common.close }).focus();
    await fireEvent.pointerLeave(region());
    await wait(10_000);
    expect(shown()).toEqual(["Saved"]);
    screen.getByRole("button", { name: common.close }).blur();
    await wait(5_000);
    expect(shown()).toEqual(["Saved"]);
    await wait(2_000);
    expect(shown()).toEqual([]);
  });

  it("do not hold those that come after the last was dismissed", async () => {
    stage({});
    render(Toasts);
    engine.showToast("First");
    await wait();
    await fireEvent.pointerEnter(region());
    await fireEvent.click(screen.getByRole("button", { name: common.close }));
    await wait();
    engine.showToast("Second");
    await wait(7_000);
    expect(shown()).toEqual([]);
  });

  it("have no mark of success where nothing was done", async () => {
    stage({});
    render(Toasts);
    for (const [kind, marks] of [["info", 2] as const, ["note", 1] as const, ["error", 2] as const]) {
      engine.showToast("Told", { kind });
      await wait();
      // Besides that of the button that closes it.
      expect(region().querySelectorAll("svg").length, kind).toBe(marks);
    }
  });

  it("take the focus only when asked to, and give it back", async () => {
    stage({});
    const box = document.body.appendChild(document.createElement("input"));
    box.focus();
    render(Toasts);
    engine.showToast("Removed", { kind: "error" });
    await wait();
    expect(document.activeElement).toBe(box);
    expect(screen.getByRole("alert").textContent).toContain("Removed");
    screen.getByRole("button", { name: common.close }).focus();
    await fireEvent.keyDown(screen.getByRole("button", { name: common.close }), { key: "Escape" });
    expect(shown()).toEqual([]);
    expect(document.activeElement).toBe(box);
    box.remove();
  });
});
