// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { TeamAuditEntry } from "../../lib/bindings";
import { CommandError } from "../../lib/host";
import { asked, clear, stage, wait } from "../../testing/stage";
import { common } from "../../texts/common";
import { team as texts } from "../../texts/team";
import TeamAudit from "./TeamAudit.svelte";

afterEach(clear);

function entry(what: string, about: string, by: string | null = "ann"): TeamAuditEntry {
  return { at: new Date(Date.now() - 120_000).toISOString(), by, what, about };
}

async function show(entries: TeamAuditEntry[]) {
  const kept = { entries, refuse: false };
  const calls = stage({
    team_audit: ({ limit }) => {
      if (kept.refuse) throw new CommandError({ code: "no_connection", message: "no answer", remedy: "Try again." });
      return kept.entries.slice(0, limit);
    },
  });
  render(TeamAudit);
  const loading = !!screen.queryByText(common.reading);
  await wait(100);
  return { kept, calls, loading };
}

const rows = () =>
  screen
    .getAllByRole("row")
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole("cell")
        .map((cell) => cell.textContent?.trim()),
    );

/** Finding many rows by their role is slow. */
const shown = () => document.querySelectorAll("tbody tr").length;

describe("the audit log of a team", () => {
  it("says when who did what, in words", async () => {
    const { loading } = await show([
      entry("upgraded", "", null),
      entry("role", "reader: reviewer"),
      entry("policy", "high: 2"),
      entry("shared", "pan: group"),
      entry("accepted", "turn it down low"),
      entry("rejected", "low"),
      entry("removed", "reader"),
      entry("teleported", "constructor"),
    ]);
    expect(loading).toBe(true);
    const { roles, risks, actions, visibilityKinds } = texts;
    expect(rows()).toEqual(
      [
        [texts.serverOwner, actions.upgraded, ""],
        ["ann", actions.role, `reader: ${roles.reviewer}`],
        ["ann", actions.policy, `${risks.high}: 2`],
        ["ann", actions.shared, `pan: ${visibilityKinds.group}`],
        ["ann", actions.accepted, "turn it down low"],
        ["ann", actions.rejected, risks.low],
        ["ann", actions.removed, "reader"],
        ["ann", "teleported", "constructor"],
      ].map((cells) => ["2 minutes ago", ...cells]),
    );
    expect(screen.queryByRole("button", { name: texts.showMore })).toBeNull();
  });

  it("shows more on request, until there is no more", async () => {
    const { calls } = await show(Array.from({ length: 150 }, (_, index) => entry("signed_in", `member ${index}`)));
    expect(shown()).toBe(100);
    await fireEvent.click(screen.getByRole("button", { name: texts.showMore }));
    await wait(100);
    expect(asked(calls, "team_audit")).toEqual([{ limit: 100 }, { limit: 200 }]);
    expect(shown()).toBe(150);
    expect(screen.queryByRole("button", { name: texts.showMore })).toBeNull();
  });

  it("keeps what it shows where more cannot be read, and tries again", async () => {
    const { kept } = await show(Array.from({ length: 150 }, (_, index) => entry("signed_in", `member ${index}`)));
    kept.refuse = true;
    await fireEvent.click(screen.getByRole("button", { name: texts.showMore }));
    await wait(100);
    expect(screen.getByRole("alert").textContent).toContain("No answer");
    expect(shown()).toBe(100);
    kept.refuse = false;
    await fireEvent.click(screen.getByRole("button", { name: common.tryAgain }));
    await wait(100);
    expect([screen.queryByRole("alert"), shown()]).toEqual([null, 150]);
  });

  it("says that nothing was logged", async () => {
    await show([]);
    expect(screen.getByText(texts.auditEmpty)).toBeTruthy();
  });
});
