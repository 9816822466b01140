// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TeamDirectory, TeamMemberChange, TeamState } from "../../lib/bindings";
import { desktop } from "../../lib/desktop.svelte";
import { directory } from "../../lib/directory.svelte";
import { engine } from "../../lib/engine.svelte";
import { CommandError } from "../../lib/host";
import { navigation } from "../../lib/navigation.svelte";
import { overlays } from "../../lib/overlays.svelte";
import { asked, clear, stage, wait } from "../../testing/stage";
import { directoryOf, KITCHEN, membersOf, teamState } from "../../testing/teams";
import { app } from "../../texts/app";
import { team as texts } from "../../texts/team";
import Team from "./Team.svelte";

afterEach(() => {
  clear();
  vi.restoreAllMocks();
});

const NOTHING = { role: null, groups: null, active: null, password: null };
const LINK = "autokit://join?server=wss%3A%2F%2Fteams.example.org&invitation=kitchen.0a1b";
const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });

async function press(name: string) {
  await fireEvent.click(button(name));
  await wait(100);
}

describe("the teams on this computer", () => {
  async function open(unsent: number) {
    let teams = [KITCHEN];
    const calls = stage(
      {
        team_get: () => null,
        teams_list: () => teams,
        teams_unsent: () => ({ cards: unsent }),
        teams_leave: () => ((teams = []), KITCHEN),
      },
      { desktop: true },
    );
    render(Team);
    await wait();
    return calls;
  }

  it("are opened, and others joined and created", async () => {
    const opened = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    await open(0);
    const [row] = within(screen.getByRole("list", { name: texts.teams })).getAllByRole("listitem");
    expect(row?.textContent).toContain(KITCHEN.server);
    await press(texts.openOf(KITCHEN.name));
    expect(opened.mock.calls).toEqual([["kitchen"]]);
    await press(texts.joinAsk);
    await press(texts.createAsk);
    expect([overlays.joining, overlays.creatingTeam]).toEqual(["", true]);
  });

  it("are left after a look at what is lost", async () => {
    const calls = await open(2);
    await press(texts.leaveOf(KITCHEN.name));
    const dialog = screen.getByRole("dialog", { name: texts.leaveOf(KITCHEN.name) });
    expect(dialog.textContent).toContain(texts.leaveAbout(KITCHEN.name));
    expect(dialog.textContent).toContain("Changes to 2 cards haven't been sent");
    expect(asked(calls, "teams_leave")).toEqual([]);
    await press(texts.leave);
    expect(asked(calls, "teams_leave")).toEqual([{ id: "kitchen" }]);
    expect(screen.getByText(texts.none)).toBeTruthy();
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.left(KITCHEN.name)]);
  });

  it("lose nothing where everything was sent", async () => {
    await open(0);
    await press(texts.leaveOf(KITCHEN.name));
    expect(screen.getByRole("dialog").textContent).toContain(texts.allSent);
  });
});

describe("the team whose library is open", () => {
  async function open(role: "admin" | "reader", more: Partial<TeamState> = {}) {
    const kept = {
      state: teamState(more),
      members: membersOf(role),
      policy: { low: 1, medium: 1, high: 2 },
      directory: null as TeamDirectory | null,
      refuse: false,
    };
    const change = ({ name, role, groups, active }: TeamMemberChange) => {
      if (kept.refuse)
        throw new CommandError({ code: "unauthorized", message: "not allowed", remedy: "Ask an admin." });
      const members = kept.members.members.map((member) =>
        member.name === name
          ? {
              ...member,
              role: role ?? member.role,
              groups: groups ?? member.groups,
              active: active ?? member.active,
            }
          : member,
      );
      return (kept.members = { ...kept.members, members });
    };
    const calls = stage(
      {
        team_get: () => kept.state,
        team_sync: () => (kept.state = teamState()),
        team_members: () => kept.members,
        team_member_change: change,
        team_policy_get: () => kept.policy,
        team_policy_set: (policy) => (kept.policy = policy),
        team_audit: () => [],
        team_directory: () => kept.directory,
        team_new_cards_set: ({ visible_to }) => {
          if (kept.refuse)
            throw new CommandError({ code: "unauthorized", message: "not allowed", remedy: "Ask an admin." });
          return (kept.directory = directoryOf({ new_cards: visible_to }));
        },
        team_invite: () => ({ link: LINK, expires: "2026-01-08T00:00:00Z" }),
      },
      { desktop: true },
    );
    render(Team);
    await wait(100);
    return { calls, kept };
  }

  it("is described, and synchronized on request", async () => {
    const { calls } = await open("reader", { is_connected: false, error: "refused", unsent: 3, conflicts: 2 });
    const values = () => [...document.querySelectorAll("dd")].map((value) => value.textContent?.trim());
    const server = [KITCHEN.name, KITCHEN.server, KITCHEN.member];
    const conflicts = texts.conflictsInReview(2);
    expect(values()).toEqual([...server, texts.offline, "2 minutes ago", "3", conflicts]);
    expect(screen.getByText("Refused")).toBeTruthy();
    await press(texts.sync);
    expect(asked(calls, "team_sync").length).toBe(1);
    expect(values()).toEqual([...server, texts.connected, "2 minutes ago", "0", texts.noConflicts]);
    expect(screen.queryByText("Refused")).toBeNull();
  });

  it("leads to its conflicts", async () => {
    await open("reader", { conflicts: 2 });
    await press(texts.conflictsInReview(2));
    expect(navigation.pane).toBe("review");
  });

  it("has members, whom only admins change", async () => {
    await open("reader");
    const [, ann, bob] = screen.getAllByRole("row").map((row) => row.textContent?.replace(/\s+/g, " ").trim());
    expect(ann).toContain(`ann (${texts.you})`);
    expect(bob).toContain("cooks");
    expect(screen.queryAllByRole("combobox")).toEqual([]);
    expect(screen.queryAllByRole("checkbox")).toEqual([]);
    expect(screen.queryByRole("form", { name: texts.invite })).toBeNull();
  });

  it("lets an admin change others, and shows what holds where it is refused", async () => {
    const { calls, kept } = await open("admin");
    expect(screen.queryByRole("combobox", { name: texts.roleOf("ann") })).toBeNull();
    const role = () => screen.getByRole<HTMLSelectElement>("combobox", { name: texts.roleOf("bob") });
    await fireEvent.change(role(), { target: { value: "reviewer" } });
    await wait(100);
    const groups = screen.getByRole("textbox", { name: texts.groupsOf("bob") });
    await fireEvent.change(groups, { target: { value: "cooks, waiters,, cooks" } });
    await wait(100);
    const active = () => screen.getByRole<HTMLInputElement>("checkbox", { name: texts.activeOf("bob") });
    await fireEvent.click(active());
    await wait(100);
    expect(asked(calls, "team_member_change")).toEqual([
      { ...NOTHING, name: "bob", role: "reviewer" },
      { ...NOTHING, name: "bob", groups: ["cooks", "waiters"] },
      { ...NOTHING, name: "bob", active: false },
    ]);
    kept.refuse = true;
    await fireEvent.change(role(), { target: { value: "admin" } });
    await wait(100);
    expect(screen.getByRole("alert").textContent).toContain("Not allowed");
    expect([role().value, active().checked]).toEqual(["reviewer", false]);
  });

  it("is joined with a link that an admin copies", async () => {
    const { calls } = await open("admin");
    const days = screen.getByLabelText(texts.days);
    await fireEvent.input(days, { target: { value: "400" } });
    await press(texts.createLink);
    expect(screen.getByRole("alert").textContent).toBe(texts.giveDays);
    await fireEvent.input(days, { target: { value: "14" } });
    const form = within(screen.getByRole("form", { name: texts.invite }));
    await fireEvent.change(form.getByLabelText(texts.role), { target: { value: "reviewer" } });
    await fireEvent.input(form.getByLabelText(texts.groups), { target: { value: "cooks" } });
    await press(texts.createLink);
    expect(asked(calls, "team_invite")).toEqual([{ role: "reviewer", groups: ["cooks"], days: 14 }]);
    expect(form.getByText(LINK)).toBeTruthy();
    const writeText = vi.fn(async () => {});
    vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText } });
    await press(app.copyOf(texts.theLink));
    expect(writeText.mock.calls).toEqual([[LINK]]);
  });

  it("requires as many reviewers as an admin says", async () => {
    const { calls } = await open("admin");
    const medium = screen.getByRole<HTMLSelectElement>("combobox", { name: texts.risks.medium });
    expect(medium.value).toBe("1");
    await fireEvent.change(medium, { target: { value: "3" } });
    await wait(100);
    expect(asked(calls, "team_policy_set")).toEqual([{ low: 1, medium: 3, high: 2 }]);
    clear();
    document.body.replaceChildren();
    await open("reader");
    expect(screen.getByText(`${texts.risks.high}: ${texts.reviewers(2)}`)).toBeTruthy();
  });

  it("shows its audit log to admins only", async () => {
    const { calls } = await open("admin");
    expect(screen.getByText(texts.auditEmpty)).toBeTruthy();
    expect(asked(calls, "team_audit")).toEqual([{ limit: 100 }]);
    clear();
    document.body.replaceChildren();
    const reader = await open("reader");
    expect(screen.queryByRole("heading", { name: texts.audit })).toBeNull();
    expect(asked(reader.calls, "team_audit")).toEqual([]);
  });

  it("lets people say who sees the cards they add, and shows what holds where it is refused", async () => {
    const { calls, kept } = await open("reader");
    const choice = () => screen.queryByRole<HTMLSelectElement>("combobox", { name: texts.newCardsLabel });
    expect(choice()).toBeNull();
    kept.directory = directoryOf();
    await directory.refresh();
    await wait(100);
    expect(choice()?.value).toBe("team");
    await fireEvent.change(choice()!, { target: { value: "group cooks" } });
    await wait(100);
    expect(asked(calls, "team_new_cards_set")).toEqual([{ visible_to: { kind: "group", of: "cooks" } }]);
    expect(choice()?.value).toBe("group cooks");
    kept.refuse = true;
    await fireEvent.change(choice()!, { target: { value: "everyone" } });
    await wait(100);
    expect(screen.getByRole("alert").textContent).toContain("Not allowed");
    expect(choice()?.value).toBe("group cooks");
    // Whoever only reads adds none.
    directory.value = directoryOf({ self_name: "cid" });
    await wait(100);
    expect(choice()).toBeNull();
    directory.value = null;
  });

  it("takes a new password, with which its library is opened again", async () => {
    const opened = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    const { calls } = await open("reader");
    const password = screen.getByLabelText(texts.newPassword);
    await fireEvent.input(password, { target: { value: "short" } });
    expect(button(texts.changePassword).disabled).toBe(true);
    await fireEvent.input(password, { target: { value: "longer than that" } });
    await press(texts.changePassword);
    expect(asked(calls, "team_member_change")).toEqual([{ ...NOTHING, name: "ann", password: "longer than that" }]);
    expect(opened.mock.calls).toEqual([["kitchen"]]);
  });
});
