// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { SvelteSet } from "svelte/reactivity";
import { afterEach, describe, expect, it } from "vitest";
import type { TeamDirectory } from "../../lib/bindings";
import { directory } from "../../lib/directory.svelte";
import { engine } from "../../lib/engine.svelte";
import { CommandError } from "../../lib/host";
import { asked, clear, stage, wait } from "../../testing/stage";
import { directoryOf } from "../../testing/teams";
import { team as texts } from "../../texts/team";
import SelectionActions from "../library/SelectionActions.svelte";

afterEach(clear);

async function show(team: TeamDirectory | null) {
  const kept = { refuse: false };
  const picked = new SvelteSet(["1", "2"]);
  const calls = stage({
    team_directory: () => team,
    team_share: () => {
      if (kept.refuse) throw new CommandError({ code: "refused", message: "not allowed", remedy: "Ask an admin." });
      return {};
    },
  });
  await directory.refresh();
  render(SelectionActions, { picked, query: null, collection: "" });
  await wait(100);
  return { calls, kept, picked };
}

const ask = () => screen.queryByRole("button", { name: texts.shareAsk });
const dialog = () => screen.queryByRole("dialog", { name: texts.shareCards(2) });

describe("who sees several cards", () => {
  it("is changed only in a team's library, by those who may", async () => {
    await show(null);
    expect(ask()).toBeNull();
    clear();
    await show(directoryOf({ may_share: false }));
    expect(ask()).toBeNull();
  });

  it("is changed once it was chosen, for all of them", async () => {
    const { calls, picked } = await show(directoryOf());
    await fireEvent.click(ask()!);
    await wait(100);
    const inside = within(dialog()!);
    const choice = inside.getByLabelText<HTMLSelectElement>(texts.visibleTo);
    const share = inside.getByRole<HTMLButtonElement>("button", { name: texts.share });
    expect([choice.selectedOptions[0]?.textContent, share.disabled]).toEqual([texts.chooseVisibility, true]);
    await fireEvent.change(choice, { target: { value: "role reviewer" } });
    await fireEvent.click(share);
    await wait(100);
    expect(asked(calls, "team_share")).toEqual([{ cards: ["1", "2"], visible_to: { kind: "role", of: "reviewer" } }]);
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.shared(2)]);
    expect([dialog(), picked.size]).toEqual([null, 0]);
  });

  it("stays as it is where the change is refused", async () => {
    const { kept, picked } = await show(directoryOf());
    kept.refuse = true;
    await fireEvent.click(ask()!);
    await wait(100);
    await fireEvent.change(within(dialog()!).getByLabelText(texts.visibleTo), { target: { value: "team" } });
    await fireEvent.click(within(dialog()!).getByRole("button", { name: texts.share }));
    await wait(100);
    expect(within(dialog()!).getByRole("alert").textContent).toContain("Not allowed");
    expect(picked.size).toBe(2);
  });
});
