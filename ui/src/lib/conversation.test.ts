import { beforeEach, describe, expect, it } from "vitest";
import type { Session, Turn } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError, type Host } from "./host";
import { Conversation } from "./conversation.svelte";

const turn = (asked: string, state: Turn["state"]): Turn => ({
  kind: "ask",
  asked,
  state,
  events: [],
  answer: null,
  documents: [],
  discovered: null,
  said: null,
  error: null,
  ms: 0,
});
const session = (id: string, version: number, state: Turn["state"]): Session => ({
  id,
  at: "",
  version,
  turns: [turn(id, state)],
});

let calls: [string, unknown][];
let answers: Record<string, (request: never) => unknown>;

beforeEach(() => {
  calls = [];
  answers = {};
  engine.use({
    desktop: false,
    call: async (name, request) => {
      calls.push([name, request]);
      const answer = answers[name];
      if (!answer) throw new CommandError({ code: "not_found", message: name, remedy: "" });
      return (await answer(request as never)) as never;
    },
    save: async (name) => name,
    listen: async () => () => {},
    links: async () => () => {},
    requests: async () => () => {},
  } satisfies Host);
});

describe("a conversation with the agent", () => {
  it("follows a session from version to version until its turn is over", async () => {
    let version = 0;
    answers["sessions_ask"] = () => ({ session: "s" });
    answers["sessions_wait"] = () => session("s", ++version, version < 3 ? "running" : "done");
    const conversation = new Conversation("sessions_ask");
    await conversation.start("q");
    expect(calls.filter(([name]) => name === "sessions_wait").map(([, request]) => request)).toEqual(
      [0, 1, 2].map((after) => ({ session: "s", after })),
    );
    expect([conversation.running, conversation.turn?.state]).toEqual([false, "done"]);
  });

  it("drops a slow answer to an earlier question", async () => {
    let release = (_: Session) => {};
    answers["sessions_ask"] = ({ question }: { question: string }) => ({ session: question });
    answers["sessions_wait"] = ({ session: id }: { session: string }) =>
      id === "slow" ? new Promise<Session>((done) => (release = done)) : session(id, 1, "done");
    const conversation = new Conversation("sessions_ask");
    const first = conversation.start("slow");
    await conversation.start("quick");
    release(session("slow", 9, "done"));
    await first;
    expect([conversation.asked, conversation.session?.id, conversation.running]).toEqual(["quick", "quick", false]);
  });

  it("tells why a question was refused and is at rest again", async () => {
    const conversation = new Conversation("sessions_discover");
    await conversation.start("q");
    expect([conversation.error?.code, conversation.running]).toEqual(["not_found", false]);
  });
});
