// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it, vi } from "vitest";
import App from "./App.svelte";
import { engine } from "./lib/engine.svelte";
import { navigation } from "./lib/navigation.svelte";
import { overlays } from "./lib/overlays.svelte";
import { clear, stageWindow, wait } from "./testing/stage";
import { app as texts } from "./texts/app";
import { common } from "./texts/common";

vi.mock("./lazyPanes", () => {
  throw new Error("gone");
});

afterEach(clear);

const press = (key: string) => fireEvent.keyDown(document.body, { key, ctrlKey: true });

it("says that a pane could not be loaded, in place of the pane or of a dialog", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const reload = vi.fn();
  vi.stubGlobal("location", { reload });
  stageWindow();
  render(App);
  await wait();
  await vi.dynamicImportSettled();
  await wait();
  expect(screen.queryByRole("alert")).toBeNull();
  await press("4");
  await wait();
  expect(screen.getByRole("alert").textContent?.toLowerCase()).toContain(texts.notLoaded.message);
  await fireEvent.click(screen.getByRole("button", { name: common.tryAgain }));
  expect(reload).toHaveBeenCalledTimes(1);
  await press("1");
  await wait();
  expect([navigation.pane, screen.queryByRole("alert")]).toEqual(["ask", null]);
  overlays.importing = {};
  await wait();
  expect([overlays.importing, engine.toasts.length]).toEqual([null, 1]);
});
