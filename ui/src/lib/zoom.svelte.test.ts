// @vitest-environment jsdom
import { flushSync } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMMANDS } from "./commandList";
import { handleKey } from "./commands";
import { overlays } from "./overlays.svelte";
import { scaled } from "./scaled.svelte";
import { handleWheel, setZoom, zoom, zoomBy, ZOOMS } from "./zoom.svelte";

const root = document.documentElement;

beforeEach(() => setZoom(100));
afterEach(() => (overlays.palette = false));

function press(key: string, held: KeyboardEventInit = { ctrlKey: true }, target: HTMLElement = document.body) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...held });
  addEventListener("keydown", handleKey, { once: true });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}

function turn(deltaY: number, more: WheelEventInit = { ctrlKey: true }) {
  const event = new WheelEvent("wheel", { deltaY, cancelable: true, ...more });
  handleWheel(event);
  return event.defaultPrevented;
}

describe("the zoom", () => {
  it("sets the size of text at the root, and is remembered unless it is the usual one", () => {
    setZoom(150);
    expect([root.style.fontSize, localStorage.getItem("autokit.zoom"), zoom()]).toEqual(["150%", "150", 150]);
    setZoom(100);
    expect([root.style.fontSize, localStorage.getItem("autokit.zoom"), zoom()]).toEqual(["", null, 100]);
  });

  it.each([
    ["125", 125],
    ["130", 100],
    ["nonsense", 100],
  ])("that was remembered as %s is %i", async (stored, used) => {
    localStorage.setItem("autokit.zoom", stored);
    vi.resetModules();
    const fresh = await import("./zoom.svelte");
    expect(fresh.zoom()).toBe(used);
  });

  it("has steps with an end", () => {
    const seen = ZOOMS.map(() => (zoomBy(-1), zoom()));
    expect(seen.slice(0, 2)).toEqual([90, 90]);
    expect([...ZOOMS, 0].map(() => (zoomBy(1), zoom()))).toEqual([100, 110, 125, 150, 175, 200, 200, 200]);
  });

  it("follows keys, also in a text field and over the palette", () => {
    const field = document.body.appendChild(document.createElement("input"));
    expect(press("=")).toBe(true);
    expect(zoom()).toBe(110);
    press("+", { ctrlKey: true, shiftKey: true }, field);
    expect(zoom()).toBe(125);
    overlays.palette = true;
    press("-", { metaKey: true });
    expect(zoom()).toBe(110);
    press("0");
    expect(zoom()).toBe(100);
    expect(press("-", {})).toBe(false);
    expect(zoom()).toBe(100);
    field.remove();
  });

  it("is offered in the palette and in the list of shortcuts", () => {
    const commands = COMMANDS.filter(({ id }) => id.startsWith("zoom."));
    expect(commands.map(({ shortcuts, keyOnly }) => [shortcuts?.length !== 0, keyOnly])).toEqual(
      Array.from({ length: 3 }, () => [true, undefined]),
    );
  });

  it("follows the wheel with Ctrl, a step for each notch or a longer pinch", () => {
    expect(turn(-100)).toBe(true);
    expect(zoom()).toBe(110);
    for (let at = 0; at < 4; at++) turn(-10);
    expect(zoom()).toBe(110);
    turn(-10);
    expect(zoom()).toBe(125);
    // Turned the other way, it begins anew.
    turn(-40);
    turn(10);
    expect(zoom()).toBe(125);
    turn(40);
    expect(zoom()).toBe(110);
    turn(3, { ctrlKey: true, deltaMode: WheelEvent.DOM_DELTA_LINE });
    turn(1, { ctrlKey: true, deltaMode: WheelEvent.DOM_DELTA_LINE });
    expect(zoom()).toBe(100);
    expect(turn(-100, {})).toBe(false);
    expect(zoom()).toBe(100);
  });

  it("is followed by lengths in scripts", () => {
    let seen = 0;
    const stop = $effect.root(() => {
      $effect(() => void (seen = scaled(40)));
    });
    flushSync();
    expect(seen).toBe(40);
    setZoom(150);
    flushSync();
    expect(seen).toBe(60);
    stop();
  });

  it("adds to the size that the system has", () => {
    vi.stubGlobal("getComputedStyle", () => ({ fontSize: "30px" }));
    expect(scaled(40)).toBe(75);
    vi.unstubAllGlobals();
  });
});
