// @vitest-environment jsdom
import { render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import { desktop } from "../../lib/desktop.svelte";
import { clear, stage, wait } from "../../testing/stage";
import { desktop as texts } from "../../texts/settings/desktop";
import ThisComputer from "./ThisComputer.svelte";

afterEach(() => {
  clear();
  desktop.settings = null;
});

async function open(quick_ask: string) {
  stage({});
  vi.spyOn(desktop, "refresh").mockResolvedValue();
  desktop.settings = {
    ...{ close_to_tray: false, notifications: false, launch_at_login: false, quick_ask },
    updates: { address: "", key: "" },
  };
  render(ThisComputer);
  await wait();
}

const told = () => document.getElementById("desktop-quick-ask-about")?.textContent;

describe("the quick ask shortcut", () => {
  it("is said not to be set while it is empty", async () => {
    await open("");
    expect(told()).toBe(`${texts.quickAskNone} ${texts.quickAskHint}`);
    expect(screen.getByPlaceholderText(texts.quickAskExample)).toBeTruthy();
  });

  it("is said what it does once it is set", async () => {
    await open("Ctrl+Alt+Space");
    expect(told()).toBe(texts.quickAskHint);
  });
});
