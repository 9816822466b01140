// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it, vi } from "vitest";
// Loaded here, so that the test does not wait for it to be compiled.
import "./lazyPanes";
import App from "./App.svelte";
import { navigation } from "./lib/navigation.svelte";
import { clear, stageWindow, wait } from "./testing/stage";
import { app as texts } from "./texts/app";

const loading = vi.hoisted(() => {
  let finish = () => {};
  const done = new Promise<void>((resolve) => (finish = resolve));
  return { done, finish };
});
vi.mock("./lib/lazyModule.svelte", async (original) => {
  const { LazyModule } = await original<typeof import("./lib/lazyModule.svelte")>();
  class Held<M> extends LazyModule<M> {
    constructor(name: string, read: () => Promise<M>) {
      super(name, () => loading.done.then(read));
    }
  }
  return { LazyModule: Held };
});

afterEach(clear);

it("gives the focus to a pane that is still being loaded, and the keys once it is there", async () => {
  stageWindow();
  render(App);
  await wait();
  document.getElementById("ask-box")?.focus();
  await fireEvent.keyDown(document.activeElement!, { key: "4", ctrlKey: true });
  await wait();
  const pane = screen.getByRole("group", { name: texts.panes.library });
  expect([document.activeElement, pane.textContent]).toEqual([pane, ""]);
  await fireEvent.keyDown(pane, { key: "n" });
  expect(navigation.adding).toBe(false);
  loading.finish();
  await vi.dynamicImportSettled();
  await vi.waitFor(() => expect(navigation.adding).toBe(true));
  expect(pane.textContent).not.toBe("");
  navigation.visit({ adding: false });
});
