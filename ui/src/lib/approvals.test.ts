import { afterEach, describe, expect, it, vi } from "vitest";
import {
  clientLabel,
  describeApproval,
  timeLeft,
  pauseAfter,
  repliesOf,
  shownArguments,
  scopeLabel,
} from "./approvals";
import { approvals } from "./approvals.svelte";
import type { ApprovalRequest, ApprovalRequests } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError, type Host } from "./host";
import { approvals as texts } from "../texts/approvals";

const ask = (id: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  id,
  at: "2026-01-01T00:00:00Z",
  until: "2026-01-01T00:02:00Z",
  session: "s",
  client: "test agent",
  profile: "",
  tool: "autokit:code_exec",
  name: "code_exec",
  provider: "AutoKit",
  needs: [{ scope: "code", language: "python" }],
  words: ["to run code in python"],
  can_always: true,
  arguments: {},
  ...more,
});

/** Creates an engine whose responses to `approvals_wait` the test controls. */
function waits() {
  const asked: { after: number; tell: (asks: ApprovalRequests) => void; fail: (reason: unknown) => void }[] = [];
  const answered: unknown[] = [];
  const call = (name: string, request: { after: number }) => {
    if (name !== "approvals_wait") return (answered.push(request), Promise.resolve({ version: 0, asks: [] }));
    return new Promise((tell, fail) => asked.push({ after: request.after, tell, fail }));
  };
  engine.use({ desktop: false, call } as unknown as Host);
  return { asked, answered };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

afterEach(() => vi.useRealTimers());

describe("calls that wait for a person", () => {
  it("tell how long they still wait", () => {
    const at = (time: string) => timeLeft(ask("a").until, Date.parse(`2026-01-01T00:0${time}Z`));
    expect([at("0:00"), at("0:51.5"), at("1:59.2"), at("2:00"), at("5:00")]).toEqual([
      "2:00",
      "1:09",
      "0:01",
      "0:00",
      "0:00",
    ]);
  });

  it("cannot be allowed for good where a rule for everybody asks each time", () => {
    const replies = (can_always: boolean) => repliesOf(ask("a", { can_always })).map(({ reply }) => reply);
    expect(replies(true)).toEqual(["once", "no", "session", "always", "never"]);
    expect(replies(false)).toEqual(["once", "no", "session", "never"]);
  });

  it("name the profiles the agent is bound by", () => {
    const bound = (profile: string) => [clientLabel(ask("a", { profile })), scopeLabel(profile)];
    const agent = "test agent";
    expect(bound("")).toEqual([agent, texts.allAgents]);
    expect(bound("/shop")).toEqual([texts.inProfile(agent, "shop"), texts.allAgents]);
    expect(bound("shop/night")).toEqual([texts.inProfile(agent, texts.and(["shop", "night"])), texts.agentsOf("shop")]);
  });

  it("are told in a sentence that cannot pretend", () => {
    expect(describeApproval(ask("a", { profile: "shop" }), "F6")).toBe(
      texts.said(texts.inProfile("test agent", "shop"), "code_exec", "AutoKit", "to run code in python", "F6"),
    );
    expect(describeApproval(ask("a", { client: "", name: "x\u202ey", provider: "" }), "F6")).toBe(
      texts.said(texts.unnamed, "x‹U+202E›y", "", "to run code in python", "F6"),
    );
  });

  it("show what is called with, texts of several lines by themselves", () => {
    expect(shownArguments({ language: "python", code: "a\nb" })).toEqual([
      { name: "json", text: '{\n  "language": "python"\n}' },
      { name: "code", text: "a\nb" },
    ]);
    expect(shownArguments({ deep: { text: "a\nb" } })).toEqual([
      { name: "json", text: '{\n  "deep": {\n    "text": "a\\nb"\n  }\n}' },
    ]);
    expect(shownArguments(null)).toEqual([]);
    expect(shownArguments({})).toEqual([]);
    expect(shownArguments([1])).toEqual([{ name: "json", text: "[\n  1\n]" }]);
  });

  it("are asked for again and again, from what is known", async () => {
    vi.useFakeTimers();
    const { asked, answered } = waits();
    const stop = approvals.watch();
    asked[0]?.tell({ version: 5, asks: [ask("a"), ask("b")] });
    await settle();
    expect(approvals.waiting.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(asked[1]?.after).toBe(5);
    // An answered call disappears at once; a response sent before the answer does not bring it back.
    await approvals.answer(ask("a"), "once");
    expect(answered).toEqual([{ id: "a", reply: "once" }]);
    expect(approvals.waiting.map(({ id }) => id)).toEqual(["b"]);
    asked[1]?.tell({ version: 6, asks: [ask("a"), ask("b")] });
    await settle();
    expect(approvals.waiting.map(({ id }) => id)).toEqual(["b"]);
    asked[2]?.tell({ version: 7, asks: [] });
    await settle();
    expect(approvals.waiting).toEqual([]);
    stop();
    asked[3]?.tell({ version: 8, asks: [ask("c")] });
    await settle();
    expect([approvals.waiting.length, asked.length]).toEqual([0, 4]);
  });

  it("are asked for after a pause that grows where that fails", async () => {
    vi.useFakeTimers();
    const { asked } = waits();
    const stop = approvals.watch();
    asked[0]?.tell({ version: 5, asks: [ask("a")] });
    await settle();
    for (const [nth, pause] of [500, 1000, 2000].entries()) {
      asked[nth + 1]?.fail(new CommandError({ code: "owner_unreachable", message: "gone", remedy: "" }));
      await settle();
      expect(approvals.waiting).toEqual([]);
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(asked.length).toBe(nth + 2);
      await vi.advanceTimersByTimeAsync(1);
      expect(asked.length).toBe(nth + 3);
    }
    // After a failure, versions count from the start, as the engine may be another one.
    expect(asked.at(-1)?.after).toBe(0);
    stop();
    expect([pauseAfter(0), pauseAfter(1), pauseAfter(20)]).toEqual([0, 500, 30_000]);
  });

  it("are not asked for where nobody knows of them", async () => {
    vi.useFakeTimers();
    const { asked } = waits();
    const stop = approvals.watch();
    asked[0]?.fail(new CommandError({ code: "bad_request", message: "unknown command", remedy: "" }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(1);
    stop();
  });
});
