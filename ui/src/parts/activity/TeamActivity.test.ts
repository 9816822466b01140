// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { TeamActivityEntry } from "../../lib/bindings";
import { navigation } from "../../lib/navigation.svelte";
import { clear, stage, wait } from "../../testing/stage";
import { KITCHEN, teamState } from "../../testing/teams";
import { activity as texts } from "../../texts/activity";
import TeamActivity from "./TeamActivity.svelte";

afterEach(clear);

const entry = (more: Partial<TeamActivityEntry>): TeamActivityEntry => ({
  at: new Date(Date.now() - 60_000).toISOString(),
  by: "bob",
  what: "edit",
  card: "kettle",
  card_id: "kettle-1",
  proposal: null,
  text: "",
  ...more,
});

async function open(entries: TeamActivityEntry[], inTeam = true) {
  const calls = stage({
    team_get: () => (inTeam ? teamState() : null),
    team_activity: ({ limit }: { limit: number }) => entries.slice(0, limit),
  });
  render(TeamActivity);
  await wait(50);
  return calls;
}

it("is not shown in a library of one's own", async () => {
  await open([entry({})], false);
  expect(screen.queryByRole("region")).toBeNull();
});

it("says who did what, and opens it", async () => {
  await open([
    entry({}),
    entry({ by: "ann", what: "commented", proposal: 7, text: "Is that so?" }),
    entry({ what: "delete", card: "a removed card", card_id: null }),
  ]);
  screen.getByRole("region", { name: texts.ofTeam(KITCHEN.name) });
  const rows = screen.getAllByRole("listitem");
  expect(rows.map((row) => row.querySelector("p")?.textContent?.replace(/\s+/g, " ").trim())).toEqual([
    "bob edited kettle",
    "ann commented on kettle Is that so?",
    "bob deleted a removed card",
  ]);
  await fireEvent.click(within(rows[1]!).getByRole("button", { name: "kettle" }));
  expect([navigation.pane, navigation.proposal]).toEqual(["review", 7]);
  await fireEvent.click(within(rows[0]!).getByRole("button", { name: "kettle" }));
  expect(navigation.card).toBe("kettle-1");
  expect(within(rows[2]!).queryByRole("button")).toBeNull();
});

it("shows more on request", async () => {
  await open(Array.from({ length: 30 }, (_, number) => entry({ card: `card ${number}` })));
  expect(screen.getAllByRole("listitem")).toHaveLength(20);
  await fireEvent.click(screen.getByRole("button", { name: texts.showMore }));
  await wait(50);
  expect(screen.getAllByRole("listitem")).toHaveLength(30);
  expect(screen.queryByRole("button", { name: texts.showMore })).toBeNull();
});

it("says when there is nothing", async () => {
  await open([]);
  screen.getByText(texts.nothingInTeam);
});
