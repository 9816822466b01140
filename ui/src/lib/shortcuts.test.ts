import { describe, expect, it } from "vitest";
import { matches, shown, worksWhileTyping } from "./shortcuts";
import { commands } from "../texts/commands";

const press = (key: string, held: Partial<KeyboardEvent> = {}) =>
  ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held }) as KeyboardEvent;

describe("a shortcut", () => {
  it("is meant by its key with what is held, and by nothing else", () => {
    expect(matches(press("k", { ctrlKey: true }), "Mod+K")).toBe(true);
    expect(matches(press("k", { metaKey: true }), "Mod+K")).toBe(true);
    expect(matches(press("K", { ctrlKey: true, shiftKey: true }), "Mod+K")).toBe(false);
    expect(matches(press("k"), "Mod+K")).toBe(false);
    expect(matches(press("Z", { ctrlKey: true, shiftKey: true }), "Mod+Shift+Z")).toBe(true);
    expect(matches(press("z", { ctrlKey: true }), "Mod+Shift+Z")).toBe(false);
    expect(matches(press("4", { ctrlKey: true, shiftKey: true }), "Mod+4")).toBe(true);
    expect(matches(press("ArrowLeft", { altKey: true, shiftKey: true }), "Alt+ArrowLeft")).toBe(false);
    expect(matches(press("ArrowLeft", { altKey: true }), "Alt+ArrowLeft")).toBe(true);
    expect(matches(press("ArrowLeft"), "Alt+ArrowLeft")).toBe(false);
    expect(matches(press("[", { ctrlKey: true }), "Meta+[")).toBe(false);
    expect(matches(press("[", { metaKey: true }), "Meta+[")).toBe(true);
    expect(matches(press("+", { ctrlKey: true, shiftKey: true }), "Mod++")).toBe(true);
    expect(matches(press("+"), "Mod++")).toBe(false);
    expect(matches(press("-", { ctrlKey: true }), "Mod+-")).toBe(true);
  });

  it("tells a letter from the same one with Shift", () => {
    expect(matches(press("A", { shiftKey: true }), "A")).toBe(true);
    expect(matches(press("a"), "A")).toBe(false);
    expect(matches(press("?", { shiftKey: true }), "?")).toBe(true);
    expect(matches(press("a", { ctrlKey: true }), "a")).toBe(false);
    expect(matches(press(" "), "Space")).toBe(true);
  });

  it("is text while one types, unless something is held with it", () => {
    const works = (shortcut: string, mac = false) => worksWhileTyping(shortcut, mac);
    expect([works("j"), works("Escape"), works("Mod+K"), works("F6")]).toEqual([false, false, true, true]);
    // On a Mac, Alt+ArrowLeft moves the text cursor by a word.
    expect([works("Alt+ArrowLeft"), works("Alt+ArrowLeft", true)]).toEqual([true, false]);
  });

  it("is shown as it stands on the keys", () => {
    expect(shown("Mod++")).toBe(`${commands.keys.ctrl} +`);
    expect([shown("Mod+K"), shown("Alt+ArrowLeft"), shown("?"), shown("Escape")]).toEqual([
      `${commands.keys.ctrl} K`,
      "Alt ←",
      "?",
      commands.keys.escape,
    ]);
  });
});
