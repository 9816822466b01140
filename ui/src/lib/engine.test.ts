// @vitest-environment jsdom
import { afterEach, describe, expect, it } from "vitest";
import type { Event, Job } from "./bindings";
import { engine } from "./engine.svelte";
import { moment } from "./format";
import type { Host } from "./host";
import { app as texts } from "../texts/app";

/** Connects to an engine that answers every command with `answer`. Returns how its events are sent. */
async function connect(answer: (name: string) => unknown): Promise<(event: Event) => void> {
  let hear: (event: Event) => void = () => {};
  engine.use({
    desktop: false,
    call: async (name: string) => answer(name),
    save: async (name) => name,
    listen: async (heard) => ((hear = heard), () => {}),
    links: async () => () => {},
    requests: async () => () => {},
  } as Host);
  await engine.connect();
  return (event) => hear(event);
}

const job = (id: string, kind: Job["kind"], state: Job["state"], version: number): Job => ({
  id,
  kind,
  title: "A job",
  state,
  note: null,
  paused: null,
  version,
  done: 0,
  total: 0,
  unit: "cards",
  eta_ms: null,
  elapsed_ms: 0,
  summary: null,
  tally: null,
  error: state === "failed" ? { code: "internal", message: `${id} failed`, remedy: "Try again." } : null,
});

const answers = (name: string) => (name === "jobs_list" ? [] : name === "imports_start" ? { job: "mine" } : {});

afterEach(() => {
  engine.toasts = [];
  engine.jobs = [];
});

describe("jobs that fail", () => {
  it("are told by a toast if this window started them, whichever is heard first", async () => {
    const send = await connect(answers);
    send({ event: "job", job: job("theirs", "verify", "failed", 1) });
    expect(engine.toasts).toEqual([]);
    expect(engine.jobs.map(({ id, state }) => [id, state])).toEqual([["theirs", "failed"]]);

    send({ event: "job", job: job("mine", "import", "failed", 1) });
    expect(engine.toasts).toEqual([]);
    await engine.call("imports_start", {} as never);
    expect(engine.toasts.map(({ text, remedy }) => [text, remedy])).toEqual([["mine failed", "Try again."]]);
  });

  it("are told once they fail", async () => {
    const send = await connect(answers);
    await engine.call("imports_start", {} as never);
    send({ event: "job", job: job("mine", "import", "running", 1) });
    expect(engine.toasts).toEqual([]);
    send({ event: "job", job: job("mine", "import", "failed", 2) });
    expect(engine.toasts.map(({ text }) => text)).toEqual(["mine failed"]);
  });
});

describe("missed news", () => {
  it("make everything that is shown be read again", async () => {
    let cursor = 1;
    const send = await connect((name) =>
      name === "status_get" ? { cursor } : name === "jobs_list" ? [job("new", "import", "done", 3)] : {},
    );
    const before = engine.versions.missed;
    cursor = 2;
    engine.jobs = [];
    send({ event: "missed" });
    expect(engine.versions.missed).toBe(before + 1);
    await expect.poll(() => [engine.status?.cursor, engine.jobs.length]).toEqual([2, 1]);
  });
});

describe("a restored backup", () => {
  const backup = { name: "b", created_at: "2026-01-02T03:04:05Z", cards: 3, commit: 7, bytes: 9 };

  it("makes everything be read again, and says where the replaced library is", async () => {
    const send = await connect((name) => (name === "status_get" ? { cursor: 7 } : []));
    const before = { ...engine.versions };
    await engine.restore("b");
    expect(engine.restoring).toBe("b");
    send({ event: "restored", backup, replaced: "/home/me/backups/re\u202eplaced", error: null });
    expect([engine.versions.missed, engine.versions.restored]).toEqual([before.missed + 1, before.restored + 1]);
    expect(engine.restoring).toBeNull();
    expect(engine.toasts.map(({ text, kind }) => [text, kind])).toEqual([
      [texts.restored(moment(backup.created_at), "/home/me/backups/re\u202eplaced"), "info"],
    ]);
  });

  it("is an error with its remedy where the library was not replaced", async () => {
    const send = await connect((name) => (name === "status_get" ? { cursor: 7 } : []));
    const { restored } = engine.versions;
    const error = { code: "disk_full" as const, message: "the disk is full", remedy: "Free some space." };
    await engine.restore("b");
    send({ event: "restored", backup, replaced: null, error });
    expect(engine.versions.restored).toBe(restored);
    expect(engine.toasts.map(({ text, kind, remedy }) => [text, kind, remedy])).toEqual([
      ["the disk is full", "error", "Free some space."],
    ]);
    // Told again to whoever connects, and to windows that did not ask.
    engine.toasts = [];
    send({ event: "restored", backup, replaced: "/home/me/backups/replaced", error: null });
    expect(engine.toasts).toEqual([]);
  });

  it("is not waited for if the engine refuses", async () => {
    await connect((name) => {
      if (name === "backups_restore") throw error;
      return name === "status_get" ? {} : [];
    });
    const error = { code: "not_found", message: "there is no such backup", remedy: "" };
    await expect(engine.restore("b")).rejects.toBe(error);
    expect(engine.restoring).toBeNull();
  });
});

describe("undo and redo", () => {
  const nothing = { code: "not_found", message: "nothing to undo", remedy: "" };
  const told = () => engine.toasts.map(({ text, kind }) => [text, kind]);

  it("say without an error that there is nothing to undo or redo", async () => {
    await connect((name) => {
      if (name.startsWith("changes_")) throw nothing;
      return name === "jobs_list" ? [] : {};
    });
    expect(await engine.undo()).toBe(false);
    expect(told()).toEqual([[texts.nothingToUndo, "note"]]);
    await engine.redo();
    expect(told()).toEqual([[texts.nothingToRedo, "note"]]);
  });

  it("say with an error that something in particular could not be undone", async () => {
    await connect((name) => {
      if (name.startsWith("changes_")) throw nothing;
      return name === "jobs_list" ? [] : {};
    });
    await engine.undo("c1");
    expect(told()).toEqual([[nothing.message, "error"]]);
    engine.toasts = [];
    await connect((name) => {
      if (name.startsWith("changes_")) throw { ...nothing, code: "conflict", message: "it changed" };
      return name === "jobs_list" ? [] : {};
    });
    await engine.undo();
    expect(told()).toEqual([["it changed", "error"]]);
  });
});
