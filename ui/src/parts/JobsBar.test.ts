// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Job } from "../lib/bindings";
import { runCommand } from "../lib/commands";
import { engine } from "../lib/engine.svelte";
import { OUTCOME_MS } from "../lib/jobs.svelte";
import { navigation } from "../lib/navigation.svelte";
import { overlays } from "../lib/overlays.svelte";
import { asked, clear, stage, wait } from "../testing/stage";
import { app as texts } from "../texts/app";
import JobsBar from "./JobsBar.svelte";

afterEach(clear);

const TALLY = { added: 0, changed: 0, unchanged: 0, rejected: 0, proposed: 0, conflicting: 0, similar: 0 };

function job(id: string, state: Job["state"], more: Partial<Job> = {}): Job {
  const error = { code: "internal", message: `no ${id}`, remedy: "" };
  return {
    ...{ id, kind: "import", title: `Import ${id}`, state, note: null, paused: false, version: 1, done: 1, total: 4 },
    ...{ unit: "cards", eta_ms: null, elapsed_ms: 2_000, tally: null },
    summary: state === "done" ? `${id} is there` : null,
    error: state === "failed" ? error : null,
    ...more,
  } as Job;
}

const withCards = { tally: { ...TALLY, added: 3, change: "c1" } };
const withProposals = { tally: { ...TALLY, proposed: 2, change: null } };

function open(...jobs: Job[]) {
  const calls = stage({
    jobs_cancel: ({ job: id }) => job(id, "cancelled"),
    jobs_pause: ({ job: id }) => job(id, "done"),
  });
  engine.jobs = jobs;
  render(JobsBar);
  return calls;
}

const bar = () => screen.queryByRole("contentinfo", { name: texts.jobs });
const button = (name: string) => within(bar()!).getByRole("button", { name });
// Without layout, a list is never placed and so stays hidden; what is hidden has no name.
const hidden = true;
const list = (name: string) => within(bar()!).getByLabelText(name, { selector: "[role=dialog]" });
const listed = (dialog: HTMLElement, name: string) => within(dialog).getByLabelText(name, { selector: "button" });
const groups = (within_ = bar()!) =>
  within(within_)
    .queryAllByRole("group", { hidden })
    .map((group) => group.getAttribute("aria-label"));
const announced = () => screen.getByRole("status").textContent;

describe("the line of jobs", () => {
  it("is there only while there is something to say", async () => {
    open();
    await wait();
    expect(bar()).toBeNull();
    engine.jobs = [job("a", "running")];
    await wait();
    expect(within(bar()!).getByText(texts.amount("1", "4"))).toBeTruthy();
    engine.jobs = [job("a", "done", withCards)];
    await wait(OUTCOME_MS - 1);
    expect(groups()).toEqual(["Import a"]);
    await wait(1);
    expect(bar()).toBeNull();
  });

  it("keeps an outcome while the pointer or the focus is on it", async () => {
    open(job("a", "done", withCards));
    await wait();
    await fireEvent.pointerEnter(bar()!);
    await wait(OUTCOME_MS * 2);
    button(texts.showCards).focus();
    await fireEvent.pointerLeave(bar()!);
    await wait(OUTCOME_MS * 2);
    button(texts.showCards).blur();
    await wait(OUTCOME_MS - 1);
    expect(bar()).toBeTruthy();
    await wait(1);
    expect(bar()).toBeNull();
  });

  it("marks whether all went well, some was rejected, or it failed", async () => {
    const marks = [
      [job("a", "done", withCards), "good"],
      [job("b", "done", { tally: { ...TALLY, added: 3, rejected: 6, change: "c1" } }), "warn"],
      [job("c", "cancelled"), "muted"],
      [job("d", "failed"), "bad"],
    ] as const;
    for (const [ended, mark] of marks) {
      open(ended);
      await wait();
      expect(bar()!.querySelector(".mark")!.classList.contains(mark), ended.id).toBe(true);
      cleanup();
    }
  });

  it("lets the outcome of a stopped job leave, and that of a failed one only when it is hidden", async () => {
    open(job("a", "cancelled"), job("b", "failed"));
    await wait();
    expect(groups()).toEqual(["Import a"]);
    await wait(OUTCOME_MS * 10);
    expect(groups()).toEqual(["Import b"]);
    await fireEvent.click(button(texts.hideJob("Import b")));
    expect(bar()).toBeNull();
  });

  it("prefers what runs to a failure, which is counted", async () => {
    open(job("b", "failed"), job("a", "running"));
    await wait();
    expect(groups()).toEqual(["Import a"]);
    await fireEvent.click(button(texts.failed(1)));
    await wait();
    const recent = list(texts.recentJobs);
    expect(within(recent).getByText(texts.jobSummary("Import b", "no b"))).toBeTruthy();
    await fireEvent.click(listed(recent, texts.hideJob("Import b")));
    expect(within(bar()!).queryByText(texts.failed(1))).toBeNull();
    expect(groups(recent)).toEqual(["Import b"]);
  });

  it("prefers an outcome with something to do to the latest one, and hides both at once", async () => {
    open();
    engine.jobs = [job("b", "done"), job("a", "done", withProposals)];
    await wait();
    expect(groups()).toEqual(["Import a"]);
    await fireEvent.click(button(texts.hideJob("Import a")));
    expect(bar()).toBeNull();
  });

  it("leads to the proposals a job made", async () => {
    open(job("a", "done", withProposals));
    await wait();
    expect(within(bar()!).queryByRole("button", { name: texts.showCards })).toBeNull();
    await fireEvent.click(button(texts.showInReview));
    expect(navigation.pane).toBe("review");
  });

  it("names the job of several that started last, and lists all of them", async () => {
    const calls = open(job("c", "running"), job("b", "running", { paused: true }), job("a", "running"));
    await wait();
    expect(groups()).toEqual([]);
    await fireEvent.click(button(texts.several(3, "Import c")));
    await wait();
    expect(groups(list(texts.runningJobs))).toEqual(["Import c", "Import b", "Import a"]);
    const entry = (name: string) => listed(list(texts.runningJobs), name);
    await fireEvent.click(entry(texts.stopJob("Import a")));
    await fireEvent.click(entry(`${texts.resume}: Import b`));
    await fireEvent.click(entry(`${texts.pause}: Import c`));
    expect(asked(calls, "jobs_cancel")).toEqual([{ job: "a" }]);
    expect(asked(calls, "jobs_pause")).toEqual([
      { job: "b", paused: false },
      { job: "c", paused: true },
    ]);
    await wait();
    expect(entry(`${texts.pausingName}: Import c`)).toHaveProperty("disabled", true);
    // The list stays open while they end.
    engine.jobs = [job("c", "running")];
    await wait();
    expect(groups(list(texts.runningJobs))).toEqual(["Import c"]);
    engine.jobs = [];
    await wait();
    expect(within(list(texts.runningJobs)).getByText(texts.noneRunning)).toBeTruthy();
  });

  it("announces each outcome once, but no failure, which is an error message", async () => {
    open(job("a", "running"));
    await wait();
    expect(announced()).toBe("");
    engine.jobs = [job("a", "done", withCards)];
    await wait();
    expect(announced()).toBe(texts.jobSummary("Import a", "a is there"));
    engine.jobs = [job("b", "failed"), job("a", "done", withCards)];
    await wait();
    expect(announced()).toBe(texts.jobSummary("Import a", "a is there"));
  });

  it("shows control characters of titles and outcomes", async () => {
    open(job("a", "done", { title: "Import \u202ea", summary: "\u2066b" }));
    await wait();
    expect(within(bar()!).getByText("Import ‹U+202E›a: ‹U+2066›b")).toBeTruthy();
  });
});

describe("the list of recent jobs", () => {
  it("is opened by a command when there is no line, and gives the focus back", async () => {
    const box = document.body.appendChild(document.createElement("input"));
    open(job("b", "done", withCards), job("a", "failed"));
    await wait();
    await fireEvent.click(button(texts.hideJob("Import b")));
    await fireEvent.click(button(texts.hideJob("Import a")));
    expect(bar()).toBeNull();
    box.focus();
    runCommand("jobs.recent");
    await wait(100);
    expect(groups(list(texts.recentJobs))).toEqual(["Import b", "Import a"]);
    expect(overlays.covered).toBe(true);
    await fireEvent.keyDown(document.activeElement!, { key: "Escape" });
    await wait(100);
    expect(bar()).toBeNull();
    expect(overlays.covered).toBe(false);
    expect(document.activeElement).toBe(box);
    box.remove();
  });

  it("closes when one of its buttons leads elsewhere", async () => {
    open(job("a", "done", withCards));
    await wait();
    await fireEvent.click(button(texts.recentJobs));
    await wait();
    await fireEvent.click(within(list(texts.recentJobs)).getByText(texts.showCards));
    await wait(100);
    expect(navigation.pane).toBe("library");
    expect(within(bar()!).queryByRole("dialog", { hidden })).toBeNull();
  });

  it("says when no job has ended", async () => {
    open();
    overlays.jobs = "recent";
    await wait();
    expect(within(list(texts.recentJobs)).getByText(texts.noneEnded)).toBeTruthy();
  });
});
