// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { ProposalDetail, TeamDirectory } from "../../lib/bindings";
import { directory } from "../../lib/directory.svelte";
import { CommandError } from "../../lib/host";
import { proposalOf } from "../../testing/fixtures";
import { asked, clear, stage, wait } from "../../testing/stage";
import { directoryOf } from "../../testing/teams";
import { review as texts } from "../../texts/review";
import ProposalView from "./ProposalView.svelte";

afterEach(clear);

const detailOf = (to: string | null, member = "ann"): ProposalDetail => ({
  ...proposalOf(1, "Kit 1", { name: "Kit 1" }, [], { assigned_to: to }),
  team: { member, may_decide: true },
});

async function open(to: string | null, team: TeamDirectory | null = directoryOf()) {
  const self = team?.self_name;
  const kept = { refuse: false };
  const calls = stage({
    team_directory: () => team,
    proposals_assign: ({ to }) => {
      if (kept.refuse) throw new CommandError({ code: "conflict", message: "decided before", remedy: "" });
      return detailOf(to, self);
    },
  });
  await directory.refresh();
  const shown = render(ProposalView, {
    detail: detailOf(to, self),
    held: [],
    show: (detail) => shown.rerender({ detail }),
    look: () => {},
    decided: () => {},
    reopen: async () => true,
    undoLast: () => {},
  });
  await wait(100);
  return { calls, kept };
}

const choice = () => screen.queryByRole<HTMLSelectElement>("combobox", { name: texts.reviewer });
const offered = () => [...(choice()?.options ?? [])].map((option) => option.textContent);

async function choose(value: string) {
  await fireEvent.change(choice()!, { target: { value } });
  await wait(100);
}

describe("the reviewer of a proposal", () => {
  it("is nobody, or one of the team's reviewers, this person first", async () => {
    const { calls } = await open(null);
    expect(offered()).toEqual([texts.nobody, texts.yourself("ann"), "amy"]);
    expect(choice()?.value).toBe("");
    await choose("amy");
    expect(choice()?.value).toBe("amy");
    await choose("");
    expect(choice()?.value).toBe("");
    expect(asked(calls, "proposals_assign")).toEqual([
      { id: 1, to: "amy" },
      { id: 1, to: null },
    ]);
  });

  it("is this person by one click", async () => {
    const { calls } = await open("amy");
    await fireEvent.click(screen.getByRole("button", { name: texts.assignMe }));
    await wait(100);
    expect(asked(calls, "proposals_assign")).toEqual([{ id: 1, to: "ann" }]);
    expect(choice()?.value).toBe("ann");
    expect(screen.getByRole("button", { name: texts.unassign })).toBeTruthy();
  });

  it("may be somebody who is no reviewer", async () => {
    await open("zoe");
    expect(choice()?.value).toBe("zoe");
    expect(offered().at(-1)).toBe("zoe");
  });

  it("stays who it is where the assignment is refused", async () => {
    const { kept } = await open("amy");
    kept.refuse = true;
    await choose("ann");
    expect(screen.getByRole("alert").textContent).toContain("Decided before");
    expect([choice()?.value, choice()?.disabled]).toEqual(["amy", false]);
  });

  it("is only told to readers", async () => {
    await open("amy", directoryOf({ self_name: "cid" }));
    expect(choice()).toBeNull();
    expect(screen.queryByRole("button", { name: texts.assignMe })).toBeNull();
    expect(screen.getByText(texts.assignedTo("amy"), { exact: false })).toBeTruthy();
  });
});
