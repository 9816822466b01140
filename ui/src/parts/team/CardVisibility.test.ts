// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { CardSharing, CardVisibility as Visibility, TeamDirectory } from "../../lib/bindings";
import { directory } from "../../lib/directory.svelte";
import { engine } from "../../lib/engine.svelte";
import { CommandError } from "../../lib/host";
import { cardOf } from "../../testing/fixtures";
import { asked, clear, stage, wait } from "../../testing/stage";
import { directoryOf } from "../../testing/teams";
import { team as texts } from "../../texts/team";
import CardDetail from "../CardDetail.svelte";

afterEach(clear);

const TEAM: Visibility = { kind: "team" };

async function show(team: TeamDirectory | null, sharing: Partial<CardSharing> = {}) {
  const kept = { sharing: { visible_to: TEAM, wanted: null, ...sharing } as CardSharing, refuse: false };
  const calls = stage({
    team_directory: () => team,
    team_sharing_get: () => kept.sharing,
    team_share: ({ visible_to }) => {
      if (kept.refuse) throw new CommandError({ code: "refused", message: "not allowed", remedy: "Ask an admin." });
      kept.sharing = { ...kept.sharing, wanted: visible_to };
      return {};
    },
    cards_get: ({ card }) => ({
      summary: cardOf(card, "grill"),
      fields: {},
      warnings: [],
      stub: null,
      created_at: "2026-01-01T00:00:00Z",
      change: null,
    }),
    cards_history: () => [],
    checks_get: () => {
      throw new CommandError({ code: "not_found", message: "not checked", remedy: "" });
    },
  });
  await directory.refresh();
  render(CardDetail, { id: "1" });
  await wait(100);
  return { kept, calls };
}

const choice = () => screen.queryByRole<HTMLSelectElement>("combobox", { name: texts.visibleTo });
const chosen = () => choice()?.selectedOptions[0]?.textContent;
const offered = () => [...(choice()?.options ?? [])].map((option) => option.textContent);

async function choose(value: string) {
  await fireEvent.change(choice()!, { target: { value } });
  await wait(100);
}

describe("who sees a card", () => {
  it("is not said in a library that is not a team's", async () => {
    const { calls } = await show(null);
    expect(screen.queryByText(texts.visibleTo)).toBeNull();
    expect(asked(calls, "team_sharing_get")).toEqual([]);
  });

  it("is shown, and changed among what this person sees too", async () => {
    const { calls } = await show(directoryOf());
    expect(chosen()).toBe(texts.wholeTeam);
    expect(offered()).toEqual([
      texts.everyone,
      texts.wholeTeam,
      texts.rolesAndUp.contributor,
      texts.rolesAndUp.reviewer,
      texts.groupNamed("cooks"),
      texts.onlyYou,
    ]);
    expect(screen.queryByText(texts.notSent)).toBeNull();
    await choose("person ann");
    expect(asked(calls, "team_share")).toEqual([{ cards: ["1"], visible_to: { kind: "person", of: "ann" } }]);
    expect(chosen()).toBe(texts.onlyYou);
    expect(screen.getByText(texts.notSent)).toBeTruthy();
  });

  it("follows the team", async () => {
    const { kept } = await show(directoryOf(), { wanted: { kind: "everyone" } });
    expect([chosen(), !!screen.queryByText(texts.notSent)]).toEqual([texts.everyone, true]);
    kept.sharing = { visible_to: { kind: "everyone" }, wanted: null };
    engine.versions.team++;
    await wait(100);
    expect([chosen(), !!screen.queryByText(texts.notSent)]).toEqual([texts.everyone, false]);
  });

  it("is who sees new cards, for one that the team does not have", async () => {
    await show(directoryOf({ new_cards: { kind: "group", of: "cooks" } }), { visible_to: null });
    expect([chosen(), !!screen.queryByText(texts.notSent)]).toEqual([texts.groupNamed("cooks"), true]);
    await choose("team");
    expect([chosen(), !!screen.queryByText(texts.notSent)]).toEqual([texts.wholeTeam, true]);
  });

  it("may be somebody else, who is not offered otherwise", async () => {
    await show(directoryOf({ self_name: "amy", groups: [] }), { visible_to: { kind: "person", of: "bob" } });
    expect(chosen()).toBe(texts.onlyMember("bob"));
    expect(offered()).toContain(texts.rolesAndUp.admin);
    expect(offered().at(-1)).toBe(texts.onlyMember("bob"));
  });

  it("is as before where the change is refused", async () => {
    const { kept } = await show(directoryOf());
    kept.refuse = true;
    await choose("everyone");
    expect(screen.getAllByRole("alert").some((alert) => alert.textContent?.includes("Not allowed"))).toBe(true);
    expect([chosen(), choice()?.disabled]).toEqual([texts.wholeTeam, false]);
  });

  it("is only told to whoever may not change it", async () => {
    await show(directoryOf({ self_name: "bob", may_share: false }), {
      visible_to: { kind: "role", of: "contributor" },
    });
    expect(choice()).toBeNull();
    expect(screen.getByText(texts.visibleTo)).toBeTruthy();
    expect(screen.getByText(texts.rolesAndUp.contributor)).toBeTruthy();
  });
});
