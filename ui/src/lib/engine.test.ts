// @vitest-environment jsdom
import { afterEach, describe, expect, it } from "vitest";
import type { Event, Job } from "./bindings";
import { engine } from "./engine.svelte";
import type { Host } from "./host";

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
