// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TeamState } from "../../lib/bindings";
import { desktop } from "../../lib/desktop.svelte";
import { engine } from "../../lib/engine.svelte";
import { CommandError } from "../../lib/host";
import { navigation } from "../../lib/navigation.svelte";
import { overlays } from "../../lib/overlays.svelte";
import { asked, clear, stage, wait } from "../../testing/stage";
import { KITCHEN, teamState } from "../../testing/teams";
import { team as texts } from "../../texts/team";
import LibrarySwitch from "./LibrarySwitch.svelte";

afterEach(() => {
  clear();
  vi.restoreAllMocks();
});

async function show(state: TeamState | null, { inDesktop = true } = {}) {
  const kept = { state };
  const calls = stage(
    {
      team_get: () => kept.state,
      teams_list: () => [KITCHEN],
      status_get: () => engine.status!,
      jobs_list: () => [],
    },
    { desktop: inDesktop },
  );
  render(LibrarySwitch);
  await wait();
  return { kept, calls };
}

async function openMenu(name: string) {
  const trigger = screen.getByRole("button", { name: texts.switchTo(name) });
  trigger.focus();
  await fireEvent.keyDown(trigger, { key: "Enter" });
  await wait(100);
}

const choices = () =>
  screen
    // Without a layout, what floats counts as hidden.
    .getAllByRole("menuitemradio", { hidden: true })
    .map((item) => [item.textContent?.trim(), item.getAttribute("aria-checked") === "true"]);

async function choose(name: string) {
  const item = screen.getByText(name, { selector: "[role^=menuitem], [role^=menuitem] *" });
  await fireEvent.click(item);
  await wait(100);
}

describe("the switch of libraries", () => {
  it("names the open library, checks it among the others, and opens another one", async () => {
    const open = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    const { calls } = await show(null);
    expect(asked(calls, "teams_list")).toEqual([]);
    await openMenu(texts.personal);
    expect(choices()).toEqual([
      [texts.personal, true],
      [KITCHEN.name, false],
    ]);
    await choose(KITCHEN.name);
    expect(open.mock.calls).toEqual([["kitchen"]]);
    // What was shown is not true of it.
    expect(engine.status).toBeNull();
  });

  it("goes back to the person's own library", async () => {
    const open = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    await show(teamState());
    await openMenu(KITCHEN.name);
    expect(choices()).toEqual([
      [texts.personal, false],
      [KITCHEN.name, true],
    ]);
    await choose(texts.personal);
    expect(open.mock.calls).toEqual([[null]]);
  });

  it("stays with the library whose place could not be taken, and says why", async () => {
    const refused = new CommandError({ code: "internal", message: "no space", remedy: "Make some." });
    vi.spyOn(desktop, "openLibrary").mockRejectedValue(refused);
    const { calls } = await show(null);
    await openMenu(texts.personal);
    await choose(KITCHEN.name);
    expect(engine.toasts.map(({ text, remedy }) => [text, remedy])).toEqual([["no space", "Make some."]]);
    expect(asked(calls, "status_get").length).toBe(1);
  });

  it("leads to joining a team, and to the settings of teams", async () => {
    await show(null);
    await openMenu(texts.personal);
    await choose(texts.joinAsk);
    expect(overlays.joining).toBe("");
    await openMenu(texts.personal);
    await choose(texts.teamSettings);
    expect([navigation.pane, navigation.section]).toEqual(["settings", "team"]);
  });

  it("is only a name in a browser, which cannot open another library", async () => {
    await show(teamState(), { inDesktop: false });
    expect(screen.getByText(KITCHEN.name)).toBeTruthy();
    expect(screen.queryByRole("button", { name: texts.switchTo(KITCHEN.name) })).toBeNull();
  });
});

describe("how a team's library stands", () => {
  it("is said in words, which follow the engine", async () => {
    const { kept } = await show(teamState());
    const told = () => screen.getByRole("button", { name: /·/ }).getAttribute("aria-label");
    expect(told()).toBe("Connected · synced 2 minutes ago");
    for (const [state, words] of [
      [teamState({ is_connected: false, unsent: 3 }), "Offline · 3 unsent changes"],
      [teamState({ is_connected: false, unsent: 1 }), "Offline · 1 unsent change"],
      [teamState({ is_connected: false, synced_at: null }), "Offline · not synced yet"],
    ] as const) {
      kept.state = state;
      engine.versions.team++;
      await wait(100);
      expect(told()).toBe(words);
    }
  });

  it("is not said of a person's own library", async () => {
    await show(null);
    expect(screen.queryByRole("button", { name: /·/ })).toBeNull();
  });
});
