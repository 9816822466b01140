// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import { desktop } from "../../lib/desktop.svelte";
import { engine } from "../../lib/engine.svelte";
import { CommandError } from "../../lib/host";
import { asked, clear, stage, wait } from "../../testing/stage";
import { KITCHEN } from "../../testing/teams";
import { team as texts } from "../../texts/team";
import CreateTeam from "./CreateTeam.svelte";
import JoinTeam from "./JoinTeam.svelte";

const LINK = "autokit://join?server=wss%3A%2F%2Fteams.example.org&invitation=kitchen.0a1b";

afterEach(() => {
  clear();
  vi.restoreAllMocks();
});

const type = (label: string, value: string) => fireEvent.input(screen.getByLabelText(label), { target: { value } });

async function submit(name: string) {
  const button = screen.getByRole<HTMLButtonElement>("button", { name });
  await fireEvent.submit(button.form!);
  await wait();
}

describe("joining a team", () => {
  async function open(link: string, answer = () => KITCHEN, inDesktop = true) {
    const calls = stage({ teams_join: answer }, { desktop: inDesktop });
    const opened = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    const close = vi.fn();
    render(JoinTeam, { props: { link, close } });
    await wait(100);
    return { calls, opened, close };
  }

  it("by a link takes a name and a password, and opens the team's library", async () => {
    const { calls, opened, close } = await open(LINK);
    const dialog = screen.getByRole("dialog", { name: texts.joinTitleOf("kitchen") });
    expect(dialog.textContent).toContain("wss://teams.example.org");
    expect(dialog.textContent).not.toContain(texts.notEncrypted);
    expect(screen.queryByLabelText(texts.link)).toBeNull();
    expect(document.activeElement).toBe(screen.getByLabelText(texts.yourName));
    const button = () => screen.getByRole<HTMLButtonElement>("button", { name: texts.join });
    expect(button().disabled).toBe(true);
    await type(texts.yourName, " ann ");
    await type(texts.password, "secret of ann");
    expect(button().disabled).toBe(false);
    await submit(texts.join);
    expect(asked(calls, "teams_join")).toEqual([
      { invitation: LINK, authorities: null, member: "ann", password: "secret of ann" },
    ]);
    expect([close.mock.calls.length, opened.mock.calls]).toEqual([1, [["kitchen"]]]);
  });

  it("takes a link that is pasted, and shows where it leads", async () => {
    const { calls } = await open("");
    expect(document.activeElement).toBe(screen.getByLabelText(texts.link));
    await type(texts.link, ` ${LINK.replace("wss", "ws")}\n`);
    expect(screen.getByText("ws://teams.example.org")).toBeTruthy();
    expect(screen.getByText(texts.notEncrypted)).toBeTruthy();
    await type(texts.yourName, "ann");
    await type(texts.password, "secret of ann");
    await submit(texts.join);
    expect(asked(calls, "teams_join")).toMatchObject([{ invitation: LINK.replace("wss", "ws") }]);
  });

  it("says what went wrong and what to do, and keeps what was typed", async () => {
    const refused = { code: "invalid" as const, message: "the password is too short", remedy: "Choose a longer one." };
    const { opened, close } = await open(LINK, () => {
      throw new CommandError(refused);
    });
    await type(texts.yourName, "ann");
    await type(texts.password, "short");
    await submit(texts.join);
    const alert = screen.getByRole("alert");
    expect(alert.textContent).toContain("The password is too short");
    expect(alert.textContent).toContain(refused.remedy);
    expect(screen.getByLabelText<HTMLInputElement>(texts.yourName).value).toBe("ann");
    expect([opened.mock.calls, close.mock.calls]).toEqual([[], []]);
  });

  it("says in a browser how the team's library is opened", async () => {
    const { opened } = await open(LINK, () => KITCHEN, false);
    await type(texts.yourName, "ann");
    await type(texts.password, "secret of ann");
    await submit(texts.join);
    expect(opened.mock.calls).toEqual([]);
    expect(engine.toasts.map(({ text }) => text)).toEqual([texts.joined(KITCHEN.name, KITCHEN.id)]);
  });
});

describe("creating a team", () => {
  it("takes the server's owner and the first member, and opens its library", async () => {
    const calls = stage({ teams_create: () => KITCHEN }, { desktop: true });
    const opened = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    render(CreateTeam, { props: { close: () => {} } });
    await wait(100);
    const draft = {
      server: "wss://teams.example.org",
      owner: "root",
      owner_password: "of the server",
      id: "kitchen",
      name: "The kitchen",
      member: "ann",
      password: "secret of ann",
    };
    for (const [label, value] of [
      [texts.server, draft.server],
      [texts.owner, draft.owner],
      [texts.ownerPassword, draft.owner_password],
      [texts.id, draft.id],
      [texts.teamName, draft.name],
      [texts.yourName, draft.member],
      [texts.password, draft.password],
    ] as const) {
      expect(screen.getByRole<HTMLButtonElement>("button", { name: texts.create }).disabled).toBe(true);
      await type(label, value);
    }
    await submit(texts.create);
    expect(asked(calls, "teams_create")).toEqual([{ ...draft, authorities: null }]);
    expect(opened.mock.calls).toEqual([["kitchen"]]);
  });
});
