// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import SessionsInPane from "../testing/SessionsInPane.svelte";
import { asked, clear, stage, wait } from "../testing/stage";
import { ask as texts } from "../texts/ask";

afterEach(clear);

const note = (id: string) => ({ id, at: "2026-01-01T00:00:00Z", question: `question ${id}` });
const questions = () => screen.queryAllByRole("listitem").map((item) => item.querySelector("span")?.textContent);

describe("a part that reads through a resource", () => {
  it("shows what it reads, and reads again once events pause", async () => {
    let notes = [note("a")];
    const calls = stage({ sessions_list: () => notes });
    render(SessionsInPane);
    await wait();
    expect(questions()).toEqual(["question a"]);
    notes = [note("b"), note("a")];
    for (let step = 0; step < 20; step++) engine.versions.sessions++;
    await wait(1000);
    expect([asked(calls, "sessions_list").length, questions()]).toEqual([2, ["question b", "question a"]]);
  });

  it("does not read in a hidden pane, and once when it is shown again", async () => {
    const calls = stage({ sessions_list: () => [note("a")] });
    render(SessionsInPane);
    await wait();
    navigation.go("library");
    await wait();
    for (let step = 0; step < 5; step++) {
      engine.versions.sessions++;
      await wait(1000);
    }
    expect(asked(calls, "sessions_list").length).toBe(1);
    navigation.go("ask");
    await wait(1000);
    expect(asked(calls, "sessions_list").length).toBe(2);
  });

  it("tells of a reading that failed", async () => {
    stage({});
    render(SessionsInPane);
    await wait();
    expect(engine.toasts.map(({ text }) => text)).toEqual(["nobody answers sessions_list"]);
  });

  it("opens what was asked", async () => {
    const turn = { kind: "ask", asked: "question a", state: "done", events: [] } as never;
    stage({
      sessions_list: () => [note("a")],
      sessions_get: ({ session }) => ({ id: session, at: "", version: 1, turns: [turn] }),
    });
    navigation.go("ask");
    render(SessionsInPane);
    await wait();
    await fireEvent.click(screen.getByRole("button", { name: /^question a/ }));
    await wait();
    expect(navigation.pane).toBe("ask");
  });

  it("deletes one question, and all of them once that was confirmed", async () => {
    let notes = [note("a"), note("b"), note("c")];
    const calls = stage({
      sessions_list: () => notes,
      sessions_delete: ({ sessions }) => (notes = sessions ? notes.filter(({ id }) => !sessions.includes(id)) : []),
    });
    render(SessionsInPane);
    await wait();
    await fireEvent.click(screen.getByRole("button", { name: texts.deleteQuestion("question b") }));
    await wait();
    expect(questions()).toEqual(["question a", "question c"]);
    await fireEvent.click(screen.getByRole("button", { name: texts.deleteAllAsk }));
    const dialog = await screen.findByRole("dialog", { name: texts.deleteAllTitle });
    expect(asked(calls, "sessions_delete")).toEqual([{ sessions: ["b"] }]);
    await fireEvent.click(within(dialog).getByRole("button", { name: texts.deleteAll }));
    await wait();
    expect(asked(calls, "sessions_delete").at(-1)).toEqual({});
    expect(questions()).toEqual([]);
  });
});
