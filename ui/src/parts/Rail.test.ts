// @vitest-environment jsdom
import { render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hint, runCommand } from "../lib/commands";
import { overlays } from "../lib/overlays.svelte";
import { clear, stage, wait } from "../testing/stage";
import { app as texts } from "../texts/app";
import Rail from "./Rail.svelte";

afterEach(clear);

const title = (name: string) => screen.getByRole("button", { name: new RegExp(`^${name}`) }).title;

describe("tooltips of the navigation rail", () => {
  it("are gone while something covers it", async () => {
    stage({});
    render(Rail);
    expect(title(texts.shortcuts)).toBe(hint(texts.shortcuts, "shortcuts"));
    runCommand("palette");
    await wait();
    expect(overlays.covered).toBe(true);
    expect([texts.panes.library, texts.shortcuts].map(title)).toEqual(["", ""]);
  });

  it("do not repeat names and shortcuts that are shown", async () => {
    stage({});
    const width = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(184);
    render(Rail);
    await wait();
    expect([texts.commands, texts.shortcuts].map(title)).toEqual(["", ""]);
    expect(title(texts.panes.library)).toBe(hint(texts.panes.library, "go.library"));
    width.mockRestore();
  });
});
