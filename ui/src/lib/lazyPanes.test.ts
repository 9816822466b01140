// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/** What arrives at the document, once keys are pressed again. */
let pressed: string[] = [];
const hear = (event: KeyboardEvent) => void (event.isTrusted || pressed.push(event.key));

/** The modules anew, with the file of the panes not loaded yet. */
async function fresh({ fails = false } = {}) {
  vi.resetModules();
  vi.doMock("./lazyModule.svelte", async (original) => {
    const { LazyModule } = await original<typeof import("./lazyModule.svelte")>();
    class Panes extends LazyModule<object> {
      constructor(name: string) {
        super(name, () => (fails ? Promise.reject(new Error("gone")) : Promise.resolve({})));
      }
    }
    return { LazyModule: Panes };
  });
  const { lazyPanes, holdKey } = await import("./lazyPanes.svelte");
  const { navigation } = await import("./navigation.svelte");
  const { overlays } = await import("./overlays.svelte");
  const press = (key: string, held: KeyboardEventInit = {}, at: HTMLElement = document.body) => {
    const event = new KeyboardEvent("keydown", { key, cancelable: true, ...held });
    Object.defineProperty(event, "target", { value: at });
    return [holdKey(event), event.defaultPrevented];
  };
  const loaded = async () => {
    await lazyPanes.load();
    // The keys follow one after the other, without a timer.
    await new Promise((done) => setTimeout(done));
  };
  return { lazyPanes, navigation, overlays, press, loaded };
}

beforeEach(() => {
  pressed = [];
  document.addEventListener("keydown", hear);
  vi.spyOn(console, "warn").mockImplementation(() => {});
});

afterEach(() => {
  document.removeEventListener("keydown", hear);
  vi.doUnmock("./lazyModule.svelte");
  vi.restoreAllMocks();
});

const HELD = [true, true];
const LEFT_ALONE = [false, false];

describe("a key pressed before the panes are loaded", () => {
  it("is left to Ask, which is there", async () => {
    const { press } = await fresh();
    expect(press("4", { ctrlKey: true })).toEqual(LEFT_ALONE);
  });

  it("is pressed again once they are, in the order they were pressed", async () => {
    const { navigation, press, loaded } = await fresh();
    navigation.go("library");
    expect(press("n")).toEqual(HELD);
    expect(press("1", { ctrlKey: true })).toEqual(HELD);
    expect(pressed).toEqual([]);
    await loaded();
    expect(pressed).toEqual(["n", "1"]);
    expect(press("n")).toEqual(LEFT_ALONE);
  });

  it("is held for a dialog as well", async () => {
    const { overlays, press } = await fresh();
    overlays.importing = {};
    expect(press("4", { ctrlKey: true })).toEqual(HELD);
  });

  it("is left to the browser if it is no command, or belongs to the field or button that has the focus", async () => {
    const { navigation, press } = await fresh();
    navigation.go("review");
    const [field, button] = [document.createElement("input"), document.createElement("button")];
    for (const [key, at] of [
      ["Tab", document.body],
      ["ä", document.body],
      ["n", field],
      [" ", button],
    ] as const) {
      expect([key, ...press(key, {}, at)]).toEqual([key, ...LEFT_ALONE]);
    }
    expect(press("c", { ctrlKey: true })).toEqual(LEFT_ALONE);
  });

  it("is dropped if the pointer led elsewhere meanwhile, or the file cannot be loaded", async () => {
    const moved = await fresh();
    moved.navigation.go("library");
    moved.press("n");
    moved.navigation.go("ask");
    await moved.loaded();
    expect(pressed).toEqual([]);

    const failing = await fresh({ fails: true });
    failing.navigation.go("library");
    failing.press("n");
    await failing.loaded();
    expect([failing.lazyPanes.failed, pressed]).toEqual([true, []]);
    // From there on, keys lead away.
    expect(failing.press("1", { ctrlKey: true })).toEqual(LEFT_ALONE);
  });
});
