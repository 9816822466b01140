// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Backup, BackupContents, CardNames } from "../../lib/bindings";
import { engine } from "../../lib/engine.svelte";
import { moment } from "../../lib/format";
import { CommandError } from "../../lib/host";
import { asked, clear, send, stage, wait } from "../../testing/stage";
import { common } from "../../texts/common";
import { general as texts } from "../../texts/settings/general";
import Backups from "./Backups.svelte";

const BACKUP: Backup = { name: "one", created_at: "2026-01-02T03:04:05Z", cards: 1200, commit: 7, bytes: 4200 };
const MADE = moment(BACKUP.created_at);
const names = (...first: string[]): CardNames => ({ count: first.length, first });
const SAME: BackupContents = {
  backup: BACKUP,
  problems: [],
  added: names(),
  removed: names(),
  changed: names(),
  proposals: 0,
  later_changes: 0,
};

async function open(contents: Partial<BackupContents>, answers: Parameters<typeof stage>[0] = {}) {
  const calls = stage({
    backups_list: () => [BACKUP],
    backups_inspect: () => ({ ...SAME, ...contents }),
    backups_restore: () => BACKUP,
    jobs_list: () => [],
    status_get: () => ({ cursor: 1, checks: 0, data_dir: "/home/me/autokit" }) as never,
    ...answers,
  });
  await engine.connect();
  render(Backups);
  await wait(1000);
  await fireEvent.click(screen.getByRole("button", { name: texts.restoreOf(MADE) }));
  await wait(1000);
  return calls;
}

const dialog = () => within(screen.getByRole("dialog", { name: texts.restoreOf(MADE) }));
const button = (name: string) => dialog().getByRole<HTMLButtonElement>("button", { name });
const restored = (error: { code: "damaged"; message: string; remedy: string } | null) =>
  send({ event: "restored", backup: BACKUP, replaced: error ? null : "/home/me/autokit/backups/replaced-1", error });

afterEach(() => {
  engine.restoring = null;
  clear();
});

describe("a backup", () => {
  it("is described by its age, time, cards and size", async () => {
    await open({});
    const row = within(screen.getByRole("list", { name: texts.sections.backups, hidden: true }));
    for (const part of [MADE, common.cards(1200), "4.2 kB"]) row.getByText(part);
  });

  it("is looked into before it is restored: which cards return, go and change, and what is undone", async () => {
    const calls = await open({
      added: { count: 240, first: ["Kettle", "Toast\u202eer"] },
      removed: names("Juicer"),
      changed: names("Egg Timer", "Whisk"),
      proposals: 2,
      later_changes: 5,
    });
    expect(asked(calls, "backups_inspect")).toEqual([{ name: "one" }]);
    const list = (name: string) => {
      const summary = dialog().getByText(name, { selector: "summary" });
      return [...summary.closest("details")!.querySelectorAll("li")].map((entry) => entry.textContent);
    };
    expect(list(texts.cardsComeBack(240))).toEqual(["Kettle", "Toast‹U+202E›er", texts.andMore(238)]);
    expect(list(texts.cardsGo(1))).toEqual(["Juicer"]);
    expect(list(texts.cardsChange(2))).toEqual(["Egg Timer", "Whisk"]);
    dialog().getByText(texts.changesUndone(5));
    dialog().getByText(texts.proposalsInBackup(2));
    dialog().getByText("/home/me/autokit/backups");
    expect(dialog().queryByText(texts.nothingDiffers)).toBeNull();
    expect(asked(calls, "backups_restore")).toEqual([]);
  });

  it("says that nothing differs", async () => {
    await open({});
    dialog().getByText(texts.nothingDiffers);
    dialog().getByText(texts.changesUndone(0));
    expect(dialog().queryAllByRole("group")).toEqual([]);
  });

  it("is not offered to be restored if it is damaged", async () => {
    await open({ problems: ["card 3 is missing"], added: names("Kettle") });
    expect(dialog().getByRole("alert").textContent).toContain("card 3 is missing");
    expect(dialog().queryByRole("button", { name: texts.restore })).toBeNull();
    expect(dialog().queryByText(texts.cardsComeBack(1))).toBeNull();
  });

  it("cannot be restored before it was looked into, and says why that failed", async () => {
    await open(
      {},
      {
        backups_inspect: () => {
          throw new CommandError({ code: "not_found", message: "there is no such backup", remedy: "Refresh." });
        },
      },
    );
    expect(dialog().getByRole("alert").textContent).toContain("There is no such backup");
    expect(button(texts.restore).disabled).toBe(true);
  });
});

describe("restoring", () => {
  it("starts with the focus on the button that cancels", async () => {
    await open({});
    expect(document.activeElement).toBe(button(common.cancel));
  });

  it("is confirmed once, and closes the dialog when the library was replaced", async () => {
    const calls = await open({ added: names("Kettle") });
    await fireEvent.click(button(texts.restore));
    await wait();
    expect(button(texts.restoring).disabled).toBe(true);
    dialog().getByText(texts.restoringAbout);
    await fireEvent.click(button(texts.restoring));
    expect(asked(calls, "backups_restore")).toEqual([{ name: "one" }]);
    const lists = asked(calls, "backups_list").length;
    restored(null);
    await wait(1000);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(asked(calls, "backups_list")).toHaveLength(lists + 1);
    expect(engine.toasts[0]?.text).toContain("/home/me/autokit/backups/replaced-1");
  });

  it("can be tried again where the library was not replaced", async () => {
    await open({});
    await fireEvent.click(button(texts.restore));
    await wait();
    restored({ code: "damaged", message: "the backup is damaged", remedy: "Restore another one." });
    await wait(1000);
    expect(button(texts.restore).disabled).toBe(false);
    expect(engine.toasts.map(({ kind, remedy }) => [kind, remedy])).toEqual([["error", "Restore another one."]]);
  });

  it("shows what the engine refuses", async () => {
    await open(
      {},
      {
        backups_restore: () => {
          throw new CommandError({ code: "read_only", message: "the library is read-only", remedy: "Look why." });
        },
      },
    );
    await fireEvent.click(button(texts.restore));
    await wait();
    expect(dialog().getByRole("alert").textContent).toContain("The library is read-only");
    expect(button(texts.restore).disabled).toBe(false);
  });

  it("goes on while the dialog is closed, and cannot be started again meanwhile", async () => {
    const calls = await open({});
    await fireEvent.click(button(texts.restore));
    await wait();
    await fireEvent.keyDown(document.activeElement!, { key: "Escape" });
    await wait(1000);
    expect(screen.queryByRole("dialog")).toBeNull();
    await fireEvent.click(screen.getByRole("button", { name: texts.restoreOf(MADE) }));
    await wait(1000);
    expect(button(texts.restoring).disabled).toBe(true);
    // The comparison would wait for the library to be open again.
    expect(asked(calls, "backups_inspect")).toHaveLength(1);
  });
});
