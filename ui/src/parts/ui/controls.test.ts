// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { createRawSnippet } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { engine } from "../../lib/engine.svelte";
import { app as texts } from "../../texts/app";
import CopyButton from "./CopyButton.svelte";
import Field from "./Field.svelte";
import RadioGroup from "./RadioGroup.svelte";
import Tabs from "./Tabs.svelte";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const checked = () =>
  screen
    .getAllByRole("radio")
    .filter((radio) => radio.getAttribute("aria-checked") === "true")
    .map((radio) => radio.getAttribute("data-value"));

describe("a group of choices", () => {
  const options = [
    { value: "", name: "Everyone" },
    { value: "shop", name: "shop", about: "agents of the shop" },
    { value: "x", name: "Not now", disabled: true },
  ];

  it("names itself and its choices, and shows which one holds", () => {
    render(RadioGroup, { label: "Profile", options, value: "" });
    expect(screen.getByRole("radiogroup", { name: "Profile" })).toBeTruthy();
    expect(screen.getByRole("radio", { name: "Everyone" }).getAttribute("aria-checked")).toBe("true");
    expect(screen.getByRole("radio", { name: "shop agents of the shop" })).toBeTruthy();
    expect((screen.getByRole("radio", { name: "Not now" }) as HTMLButtonElement).disabled).toBe(true);
  });

  it("is chosen from by its words and by keys, also from and to an empty value", async () => {
    render(RadioGroup, { label: "Profile", options, value: "" });
    await fireEvent.click(screen.getByText("agents of the shop"));
    expect(checked()).toEqual(["1"]);
    const shop = screen.getByRole("radio", { name: /^shop/ });
    shop.focus();
    await fireEvent.keyDown(shop, { key: "ArrowUp" });
    expect(checked()).toEqual(["0"]);
    await fireEvent.keyDown(screen.getByRole("radio", { name: "Everyone" }), { key: "ArrowRight" });
    expect(checked()).toEqual(["1"]);
    // Disabled options are skipped.
    await fireEvent.keyDown(shop, { key: "ArrowDown" });
    expect(checked()).toEqual(["0"]);
  });

  it("takes values that are no text", async () => {
    const days = [7, 30].map((value) => ({ value, name: `${value} days` }));
    render(RadioGroup, { label: "Period", look: "segments", options: days, value: 30 });
    await fireEvent.click(screen.getByText("7 days"));
    expect(checked()).toEqual(["0"]);
  });
});

describe("tabs", () => {
  const tabs = [
    { value: "fields", name: "Fields" },
    { value: "history", name: "History (3)" },
  ];
  const children = createRawSnippet((value: () => string) => ({ render: () => `<p>what is in ${value()}</p>` }));

  it("lead to their panels, by a click and by keys", async () => {
    render(Tabs, { label: "Card sections", tabs, value: "fields", children });
    expect(screen.getByRole("tablist", { name: "Card sections" })).toBeTruthy();
    const shown = () => screen.getAllByRole("tabpanel").map((panel) => panel.textContent?.trim());
    expect(shown()).toEqual(["what is in fields"]);
    const history = screen.getByRole("tab", { name: "History (3)" });
    await fireEvent.click(history);
    expect([history.getAttribute("aria-selected"), ...shown()]).toEqual(["true", "what is in history"]);
    expect(screen.getByRole("tabpanel").getAttribute("aria-labelledby")).toBe(history.id);
    history.focus();
    await fireEvent.keyDown(history, { key: "ArrowLeft" });
    expect(shown()).toEqual(["what is in fields"]);
  });
});

describe("a button that copies", () => {
  const write = vi.fn<(text: string) => Promise<void>>();

  beforeEach(() => {
    write.mockReset();
    Object.defineProperty(navigator, "clipboard", { value: { writeText: write }, configurable: true });
  });

  it("says for a moment that it did", async () => {
    vi.useFakeTimers();
    write.mockResolvedValue();
    render(CopyButton, { text: "autokit mcp", label: "the command" });
    await fireEvent.click(screen.getByRole("button", { name: texts.copyOf("the command") }));
    await vi.advanceTimersByTimeAsync(0);
    expect(write).toHaveBeenCalledWith("autokit mcp");
    const copied = screen.getByRole("button", { name: texts.copiedOf("the command") });
    expect(copied.textContent?.trim()).toBe(texts.copied);
    await vi.advanceTimersByTimeAsync(2000);
    expect(screen.getByRole("button", { name: texts.copyOf("the command") })).toBeTruthy();
  });

  it("says why it could not", async () => {
    vi.useFakeTimers();
    engine.toasts = [];
    write.mockRejectedValue(new Error("no permission"));
    render(CopyButton, { text: "x" });
    await fireEvent.click(screen.getByRole("button", { name: texts.copy }));
    await vi.advanceTimersByTimeAsync(0);
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.notCopied("Error: no permission")]);
  });
});

describe("a field", () => {
  it("is named by its label and told by its hint, and takes what an input takes", async () => {
    render(Field, { id: "llm", label: "Model", hint: "Writes answers", type: "password", maxlength: 40, value: "a" });
    const box = screen.getByLabelText<HTMLInputElement>("Model");
    expect([box.type, box.value, box.maxLength, box.autocomplete]).toEqual(["password", "a", 40, "off"]);
    expect(document.getElementById(box.getAttribute("aria-describedby") ?? "")?.textContent).toBe("Writes answers");
    await fireEvent.input(box, { target: { value: "b" } });
    expect(box.value).toBe("b");
  });
});
