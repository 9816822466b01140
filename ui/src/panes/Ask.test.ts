// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Answer, Session } from "../lib/bindings";
import { navigation } from "../lib/navigation.svelte";
import { asking } from "../lib/conversation.svelte";
import { cardOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import { app } from "../texts/app";
import { ask as texts } from "../texts/ask";
import { common } from "../texts/common";
import Ask from "./Ask.svelte";

afterEach(() => {
  clear();
  asking.clear();
});

const PARTS = {
  keyword: 0.8,
  vector: 0,
  constraints: 0,
  name: 0,
  feedback: 0,
  lookup: 0,
  direction: 0,
  bm25: 0,
  coverage: 1,
};

function answerTo(question: string, more: Partial<Answer> = {}): Answer {
  const parts = { ...PARTS, matched_terms: [{ word: "mail", field: "description" as never, term: "mail" }] };
  const candidate = (id: string) => ({
    card: cardOf(id, `${question} ${id}`),
    score: 0.9,
    parts,
    sentence: `What ${id} does.`,
    limits: [`${id} is not free.`],
    stub: id === "one" ? { language: "python", code: "import one" } : null,
  });
  return {
    question,
    verdict: "answered",
    confidence: 0.93,
    candidates: [candidate("one"), candidate("two")],
    notes: ["Keyword search only"],
    searched: 100,
    took_ms: 3,
    ...more,
  };
}

/** Enters a text at once and waits until it would be asked. */
async function type(text: string) {
  await fireEvent.input(screen.getByLabelText(texts.question), { target: { value: text } });
  await wait(200);
}

describe("an answer while one types", () => {
  it("is the best tool with its lines, and the others below it", async () => {
    const calls = stage({ answers_get: ({ question }) => answerTo(question), sessions_list: () => [] });
    render(Ask);
    await type("send mail");
    expect(screen.getByRole("heading", { level: 1, name: "send mail one" })).toBeTruthy();
    expect(screen.getByText("import one")).toBeTruthy();
    // What limits it stands beside its code.
    expect(screen.getByText("one is not free.")).toBeTruthy();
    expect(screen.getByRole("button", { name: app.copyOf(texts.theCode) })).toBeTruthy();
    expect(screen.getByRole("region", { name: texts.otherCandidates }).textContent).toContain("send mail two");
    expect(screen.getByRole("status").textContent).toBe(texts.bestMatch("send mail one"));
    expect(screen.getByText("Keyword search only")).toBeTruthy();
    expect(asked(calls, "answers_get").map(({ question }) => question)).toEqual(["send mail"]);
    await fireEvent.click(screen.getByRole("button", { name: "send mail one" }));
    expect([navigation.pane, navigation.card]).toEqual(["library", "one"]);
  });

  it("states its confidence where it is known", async () => {
    stage({
      answers_get: ({ question }) =>
        answerTo(question, question === "words only" ? { verdict: "unsure", confidence: null } : {}),
      sessions_list: () => [],
    });
    render(Ask);
    await type("send mail");
    expect(screen.getByText(texts.confidence(0.93))).toBeTruthy();
    await type("words only");
    expect(screen.getByText(texts.unsure(null))).toBeTruthy();
    expect(screen.queryByText(texts.confidence(0.93))).toBeNull();
  });

  it("is the one to the newest question, however late an earlier one comes", async () => {
    const late: (() => void)[] = [];
    stage({
      answers_get: ({ question }) =>
        question === "slow" ? new Promise((done) => late.push(() => done(answerTo(question)))) : answerTo(question),
      sessions_list: () => [],
    });
    render(Ask);
    await type("slow");
    await type("quick");
    late.forEach((answer) => answer());
    await wait();
    expect(screen.getByRole("heading", { level: 1, name: "quick one" })).toBeTruthy();
    // Too short to be a question: no answer is shown for text that was not asked.
    await type("qu");
    expect(screen.queryByRole("heading", { level: 1 })).toBeNull();
    expect(screen.getByRole("heading", { name: texts.forExample })).toBeTruthy();
  });

  it("says that nothing fits, and why it failed", async () => {
    stage({
      answers_get: ({ question }) => {
        if (question === "broken") throw new Error("no index");
        return answerTo(question, { verdict: "nothing", confidence: null, candidates: [] });
      },
      sessions_list: () => [],
    });
    render(Ask);
    await type("nothing like it");
    expect(screen.getByRole("heading", { name: texts.nothingFits })).toBeTruthy();
    await type("broken");
    expect(screen.getByRole("alert").textContent).toContain("no index");
    expect(screen.getByRole("button", { name: common.tryAgain })).toBeTruthy();
  });

  it("stays below the agent's work once it is asked", async () => {
    const running = {
      kind: "ask",
      asked: "send mail",
      state: "running",
      events: [],
      answer: null,
      said: null,
    } as never;
    const session: Session = { id: "s", at: "", version: 1, turns: [running] };
    const calls = stage({
      answers_get: ({ question }) => answerTo(question),
      sessions_ask: () => ({ session: "s" }),
      sessions_wait: ({ after }) => (after ? new Promise(() => {}) : session),
      sessions_list: () => [],
      sessions_cancel: () => session,
    });
    render(Ask);
    await type("send mail");
    await fireEvent.submit(screen.getByRole("search"));
    await wait();
    expect(asked(calls, "sessions_ask")).toEqual([{ question: "send mail" }]);
    expect(screen.getByText(texts.firstLook)).toBeTruthy();
    expect(screen.getAllByRole("status")[0]?.textContent).toBe(texts.atWork);
    // It was asked while typing and is not asked again.
    expect(asked(calls, "answers_get").length).toBe(1);
  });
});
