// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
// Loaded here, so that no test waits for it to be compiled.
import "./lazyPanes";
import App from "./App.svelte";
import { engine } from "./lib/engine.svelte";
import { navigation } from "./lib/navigation.svelte";
import { asked, clear, stageWindow, wait } from "./testing/stage";
import { app as texts } from "./texts/app";
import { commands } from "./texts/commands";

afterEach(clear);

/** Opens the window, with what is loaded after its start. */
async function open() {
  const calls = stageWindow();
  render(App);
  await wait();
  await vi.dynamicImportSettled();
  await wait();
  return calls;
}

const press = (key: string, held: KeyboardEventInit = {}) => fireEvent.keyDown(document.body, { key, ...held });
const current = () => document.querySelector("nav [aria-current=page]")?.textContent?.trim();

describe("the window", () => {
  it("begins with Ask, and reads nothing for panes that nobody looked at", async () => {
    const calls = await open();
    expect(current()).toBe(texts.panes.ask);
    await wait(5000);
    const reads = new Set(calls.map(({ name }) => name));
    expect([...reads].sort()).toEqual([
      ...["approvals_wait", "jobs_list", "providers_get", "sessions_list", "status_get", "team_get"],
    ]);
    await fireEvent.click(screen.getByRole("button", { name: texts.panes.library }));
    await wait(500);
    expect(asked(calls, "cards_facets").length).toBe(1);
    expect(asked(calls, "proposals_list").length).toBe(0);
  });

  it("makes a pane when it is first shown, and keeps it from then on", async () => {
    await open();
    const made = () =>
      [...document.querySelectorAll(".pane[role=group]")].map((pane) => pane.getAttribute("aria-label"));
    expect(made()).toEqual([texts.panes.ask]);
    for (const key of ["4", "1"]) {
      await press(key, { ctrlKey: true });
      await wait();
    }
    expect(made()).toEqual([texts.panes.ask, texts.panes.library]);
    expect(document.getElementById("library-filter")).toBeTruthy();
  });

  it("takes the keys that are pressed right after those that open a pane", async () => {
    await open();
    await press("4", { ctrlKey: true });
    await press("n");
    expect(navigation.adding).toBe(true);
    navigation.visit({ adding: false });
  });

  it("goes from pane to pane by keys, back by Alt and an arrow or a mouse's button, forward again", async () => {
    await open();
    await press("4", { ctrlKey: true });
    await press("3", { ctrlKey: true });
    expect(current()?.startsWith(texts.panes.review)).toBe(true);
    await press("ArrowLeft", { altKey: true });
    expect(current()).toBe(texts.panes.library);
    await fireEvent.mouseUp(document.body, { button: 3 });
    expect(current()).toBe(texts.panes.ask);
    await fireEvent.mouseUp(document.body, { button: 4 });
    expect(current()).toBe(texts.panes.library);
  });

  it("gives the keys to the pane that was gone to, and leaves them to a dialog", async () => {
    await open();
    const link = screen.getByRole("button", { name: texts.panes.library });
    link.focus();
    await fireEvent.click(link);
    await wait();
    const pane = document.activeElement;
    expect(pane?.matches(".pane:not([hidden])")).toBe(true);
    await press("?");
    await wait(200);
    const dialog = screen.getByRole("dialog", { name: commands.keyboardShortcuts });
    expect(dialog.contains(document.activeElement)).toBe(true);
    await press("3", { ctrlKey: true });
    await wait();
    expect(document.activeElement === pane).toBe(false);
  });

  it("gives Space to Review, not to the button of the job that led there", async () => {
    await open();
    const tally = {
      added: 0,
      changed: 0,
      unchanged: 0,
      rejected: 0,
      proposed: 2,
      conflicting: 0,
      similar: 0,
      change: null,
    };
    engine.jobs = [{ id: "a", kind: "import", title: "Import a", state: "done", summary: "done", tally } as never];
    await wait();
    const button = screen.getByRole("button", { name: texts.showInReview });
    button.focus();
    await fireEvent.click(button);
    await wait();
    expect(current()?.startsWith(texts.panes.review)).toBe(true);
    const focused = document.activeElement;
    expect([focused === button, focused?.getAttribute("aria-label")]).toEqual([false, texts.panes.review]);
  });

  it("lists the shortcuts, which Escape closes and going back does not", async () => {
    await open();
    await press("4", { ctrlKey: true });
    await press("?");
    await wait(200);
    const dialog = screen.getByRole("dialog", { name: commands.keyboardShortcuts });
    const review = screen.getByRole("region", { name: commands.scopes.review });
    expect(review.textContent).toContain(commands.review.accept);
    await press("ArrowLeft", { altKey: true });
    expect(dialog.isConnected).toBe(true);
    expect(current()).toBe(texts.panes.library);
    await fireEvent.keyDown(dialog, { key: "Escape" });
    await wait(500);
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});
