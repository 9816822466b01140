// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it, vi } from "vitest";
import { asked, clear, stage, wait } from "../../testing/stage";
import { kept } from "../../testing/teams";
import { team as texts } from "../../texts/team";
import TeamCards from "./TeamCards.svelte";

afterEach(clear);

it("keeps the cards of what is named, and asks for a name before it keeps fewer", async () => {
  const update = vi.fn();
  const calls = stage({ team_cards_set: (cards) => kept({ cards: cards as never, is_applied: false }) });
  render(TeamCards, { kept: kept(), update });
  const apply = screen.getByRole<HTMLButtonElement>("button", { name: texts.apply });
  expect(apply.disabled).toBe(true);
  await fireEvent.click(screen.getByRole("radio", { name: texts.keptSome }));
  await fireEvent.input(screen.getByLabelText(texts.tags), { target: { value: "tea, , soup" } });
  await fireEvent.submit(apply.closest("form")!);
  await wait();
  const chosen = { providers: [], kinds: [], tags: ["tea", "soup"] };
  expect(asked(calls, "team_cards_set")).toEqual([chosen]);
  expect(update.mock.calls.map(([kept]) => kept.cards)).toEqual([chosen]);

  await fireEvent.input(screen.getByLabelText(texts.tags), { target: { value: "" } });
  await fireEvent.submit(apply.closest("form")!);
  await wait();
  expect(screen.getByRole("alert").textContent).toBe(texts.nameSome);
  expect(asked(calls, "team_cards_set").length).toBe(1);
});
