import { describe, expect, it } from "vitest";
import { argumentsOf, Calling } from "./calling.svelte";
import { engine } from "./engine.svelte";
import { CommandError, type Host } from "./host";

const NEED = { scope: "code", language: "python" } as const;
const OUTCOME = { failed: false, blocks: [{ kind: "text", text: "42" }], structured: null, took_ms: 3 };

/** Creates an engine that asks for permission before code runs; `job` is the state its jobs end in. */
function stage(job: unknown = { state: "done" }) {
  const asked: { name: string; request: Record<string, unknown> }[] = [];
  const call = async (name: string, request: Record<string, unknown>) => {
    asked.push({ name, request });
    if (name === "tools_outcome") return OUTCOME;
    if (name === "jobs_wait") return job;
    const granted = request.granted as unknown[];
    return granted.length
      ? { state: "started", job: "j" }
      : { state: "asks", needs: [NEED], words: ["to run code in python"] };
  };
  engine.use({ desktop: false, call } as unknown as Host);
  return asked;
}

describe("a tool called by hand", () => {
  it("takes an object and nothing else", () => {
    expect(argumentsOf(' { "a": 1 } ')).toEqual({ value: { a: 1 } });
    expect(argumentsOf("")).toEqual({ value: {} });
    for (const wrong of ["[1]", "null", '"a"', "{", "1"]) expect(argumentsOf(wrong)).toHaveProperty("problem");
  });

  it("is called once what it needs was granted, and shows what it answers", async () => {
    const asked = stage();
    const calling = new Calling("autokit:code_exec");
    calling.suggest({ code: "" });
    expect(calling.typed).toBe('{\n  "code": ""\n}');
    await calling.run();
    expect([calling.asks?.words, calling.outcome, calling.busy]).toEqual([["to run code in python"], null, false]);
    await calling.run(calling.asks!.needs);
    expect([calling.asks, calling.outcome, calling.busy, calling.job]).toEqual([null, OUTCOME, false, null]);
    expect(asked.filter(({ name }) => name === "tools_run").map(({ request }) => request.granted)).toEqual([
      [],
      [NEED],
    ]);
  });

  it("sends nothing that is no object, and says why a call failed", async () => {
    const error = { code: "provider", message: "the server ended", remedy: "Try again." };
    const asked = stage({ state: "failed", error });
    const calling = new Calling("x");
    calling.typed = "{";
    await calling.run([NEED]);
    expect(asked).toEqual([]);
    calling.typed = "{}";
    await calling.run([NEED]);
    expect(calling.error).toEqual(CommandError.from(error));
    expect([calling.outcome, calling.busy]).toEqual([null, false]);
  });
});
