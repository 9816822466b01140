// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { COMMANDS } from "./commandList";
import { handleKey, handleMouse, hint, paletteCommands, shortcutList } from "./commands";
import { navigation } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";
import { commands as texts } from "../texts/commands";
import { common } from "../texts/common";

/** Presses a key on the page or in a field. */
function press(key: string, held: KeyboardEventInit = {}, field?: HTMLElement) {
  const target = field ?? document.body;
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...held });
  addEventListener("keydown", handleKey, { once: true });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}

beforeEach(() => {
  navigation.go("ask");
  [overlays.palette, overlays.shortcuts] = [false, false];
  document.body.innerHTML = "";
});

describe("the commands", () => {
  it("have names and shortcuts of their own", () => {
    const ids = COMMANDS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { scope } of COMMANDS) {
      const shortcuts = COMMANDS.filter((one) => one.scope === scope).flatMap((one) => one.shortcuts ?? []);
      expect(new Set(shortcuts).size, scope).toBe(shortcuts.length);
    }
    // No scope reuses a global shortcut.
    const everywhere = COMMANDS.filter(({ scope }) => scope === "everywhere").flatMap((one) => one.shortcuts ?? []);
    const others = COMMANDS.filter(({ scope }) => scope !== "everywhere").flatMap((one) => one.shortcuts ?? []);
    expect(others.filter((shortcut) => everywhere.includes(shortcut))).toEqual([]);
  });

  it("are carried out by their shortcuts", () => {
    expect(press("4", { ctrlKey: true })).toBe(true);
    expect(navigation.pane).toBe("library");
    press("ArrowLeft", { altKey: true });
    expect(navigation.pane).toBe("ask");
    press("ArrowRight", { altKey: true });
    expect(navigation.pane).toBe("library");
    press("?");
    expect(overlays.shortcuts).toBe(true);
    expect(press("q")).toBe(false);
  });

  it("leave letters to who types, and what lies over the pane alone", () => {
    const field = document.body.appendChild(document.createElement("input"));
    expect(press("?", {}, field)).toBe(false);
    press("k", { ctrlKey: true }, field);
    expect(overlays.palette).toBe(true);
    navigation.go("review");
    press("ArrowLeft", { altKey: true });
    expect(navigation.pane).toBe("review");
    press("k", { ctrlKey: true }, field);
    expect(overlays.palette).toBe(false);
    expect(press("z", { ctrlKey: true }, field)).toBe(false);
  });

  it("are executed once while a key is held, but for steps, which go on", () => {
    expect(COMMANDS.filter(({ repeats }) => repeats).map(({ id }) => id)).toEqual([
      "zoom.in",
      "zoom.out",
      "list.next",
      "list.previous",
      "list.pageDown",
      "list.pageUp",
      "review.next",
      "review.previous",
      "review.nextField",
      "review.previousField",
    ]);
    press("k", { ctrlKey: true });
    expect([press("k", { ctrlKey: true, repeat: true }), overlays.palette]).toEqual([true, true]);
  });

  it("let a held Enter press nothing and submit nothing, but start lines", () => {
    const field = (name: "button" | "input" | "textarea") => document.body.appendChild(document.createElement(name));
    for (const name of ["button", "input"] as const) {
      expect([press("Enter", {}, field(name)), press("Enter", { repeat: true }, field(name))]).toEqual([false, true]);
    }
    expect(press("Enter", { repeat: true }, field("textarea"))).toBe(false);
  });

  it("go back and forward by the buttons of a mouse", () => {
    navigation.go("library");
    const click = (button: number) => {
      const event = new MouseEvent("mouseup", { button, cancelable: true });
      handleMouse(event);
      return event.defaultPrevented;
    };
    expect([click(3), navigation.pane]).toEqual([true, "ask"]);
    expect([click(4), navigation.pane]).toEqual([true, "library"]);
    expect(click(0)).toBe(false);
  });

  it("are offered by the palette where they mean something", () => {
    const titles = (words: string) => paletteCommands(words).map(({ title }) => title);
    // The words are found in any order and case.
    expect(titles(texts.theme.toUpperCase().split(" ").reverse().join(" "))).toEqual([texts.theme]);
    expect(titles(texts.answerAgent)).toEqual([]);
    // No proposal is shown.
    expect(titles(texts.review.reject)).toEqual([]);
    expect(titles("")).toContain(common.addACard);
  });

  it("are listed with their shortcuts by where they mean something", () => {
    const [first] = shortcutList();
    expect(first?.name).toBe(texts.scopes.everywhere);
    expect(first?.commands).toContainEqual({ title: texts.back, keys: "Alt ←" });
    expect(hint("what it does", "card.add")).toBe("what it does (n)");
    expect(hint("what it does", "theme")).toBe("what it does");
  });
});
