// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { flushSync } from "svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CardDetail, Session, Starter } from "../lib/bindings";
import { handleKey } from "../lib/commands";
import { engine } from "../lib/engine.svelte";
import { firstRun } from "../lib/firstRun.svelte";
import { bytes } from "../lib/format";
import { navigation } from "../lib/navigation.svelte";
import { asking } from "../lib/conversation.svelte";
import { answerTo, cardOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import { app } from "../texts/app";
import { ask as texts } from "../texts/ask";
import { common } from "../texts/common";
import Ask from "./Ask.svelte";

beforeEach(() => addEventListener("keydown", handleKey));

afterEach(() => {
  removeEventListener("keydown", handleKey);
  clear();
  asking.clear();
  firstRun.reset();
  // The example is shared, and the next test has its own.
  engine.status = null;
  flushSync();
});

const STARTER: Starter = {
  language: "python",
  code: "print(1)",
  install: "",
  variables: [],
  removed: [],
  model: null,
};

/** Enters a text at once and waits until it would be asked. */
async function type(text: string) {
  await fireEvent.input(screen.getByLabelText(texts.question), { target: { value: text } });
  await wait(200);
}

/** Presses a key where the focus is. */
const press = (key: string, more: KeyboardEventInit = {}) =>
  fireEvent.keyDown(document.activeElement!, { key, ...more });

const copyStarter = () => screen.queryByRole("button", { name: app.copyOf(texts.theStarterCode) });

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

  it("can be left to the agent, whose button tells what it does with the services there are", async () => {
    stage({ sessions_list: () => [] });
    render(Ask);
    const button = () => screen.getByRole("button", { name: texts.ask });
    expect(button().title).toBe("Ask the agent: checks its answer (Enter)");
    engine.status = { ...engine.status!, llm: "large", search: "SearXNG" };
    await wait();
    expect(button().title).toBe(texts.askHint(true, true));
    expect(button().title).toContain("rewrites the query, searches the web");
  });

  it("has what can be done with it in one row", async () => {
    const starter = { language: "python", code: "print(1)", install: "pip install one", variables: ["KEY"] };
    const calls = stage({
      answers_get: ({ question }) => {
        const answer = answerTo(question);
        answer.candidates[0]!.card.callable = true;
        return answer;
      },
      cards_starter: () => ({ ...starter, removed: [], model: null }),
      sessions_list: () => [],
    });
    render(Ask);
    await type("send mail");
    const names = [texts.copyCode, texts.tryIt, texts.starterCode, texts.connectAgent, texts.notThisOne];
    const row = within(screen.getByRole("group", { name: texts.actions }));
    expect(row.getAllByRole("button").map((button) => button.textContent?.trim())).toEqual(names);
    const open = row.getByRole("button", { name: texts.starterCode });
    await fireEvent.click(open);
    await wait();
    expect(open.getAttribute("aria-expanded")).toBe("true");
    for (const code of ["pip install one", "export KEY=", "print(1)"]) expect(screen.getByText(code)).toBeTruthy();
    expect(asked(calls, "cards_starter")).toEqual([{ card: "one" }]);
    await fireEvent.click(open);
    expect(screen.queryByText("print(1)")).toBeNull();
    await fireEvent.click(row.getByRole("button", { name: texts.connectAgent }));
    expect([navigation.pane, navigation.section]).toEqual(["settings", "agents"]);
  });

  it("opens its starter code by a key from the question, ready to be copied", async () => {
    stage({
      answers_get: ({ question }) => answerTo(question),
      cards_starter: () => STARTER,
      sessions_list: () => [],
    });
    render(Ask);
    await type("send mail");
    await press("Enter", { ctrlKey: true });
    await wait();
    expect(document.activeElement).toBe(copyStarter());
    expect(asking.asked).toBe("");
  });

  it("is what keys are about that were pressed before it was there", async () => {
    const late: (() => void)[] = [];
    const calls = stage({
      answers_get: ({ question }) =>
        question === "first"
          ? answerTo(question)
          : new Promise((done) =>
              late.push(() => done(answerTo(question, { candidates: answerTo(question).candidates.reverse() }))),
            ),
      cards_starter: () => STARTER,
      cards_get: () => new Promise(() => {}),
      sessions_list: () => [],
    });
    render(Ask);
    const box = screen.getByLabelText(texts.question);
    await type("first");
    await type("second");
    await press("ArrowDown");
    await press("ArrowDown");
    expect(document.activeElement).toBe(box);
    late.shift()!();
    await wait();
    expect(document.activeElement?.textContent).toContain("second one");

    box.focus();
    await type("third");
    await press("Enter", { ctrlKey: true });
    await type("first");
    await wait();
    // What was pressed was about a question that is no longer asked.
    expect(copyStarter()).toBeNull();
    expect(asked(calls, "cards_starter")).toEqual([]);
  });

  it("leaves a tool out that is not the one, until another question", async () => {
    const calls = stage({
      answers_get: ({ question, exclude }) =>
        answerTo(question, exclude ? { candidates: answerTo(question).candidates.slice(1) } : {}),
      sessions_list: () => [],
    });
    render(Ask);
    await type("send mail");
    await fireEvent.click(screen.getByRole("button", { name: texts.notThisOne }));
    await wait(200);
    expect(screen.getByRole("heading", { level: 1, name: "send mail two" })).toBeTruthy();
    expect(asked(calls, "answers_get").at(-1)).toMatchObject({ question: "send mail", exclude: ["one"] });
    await fireEvent.click(screen.getByRole("button", { name: texts.showThemAgain }));
    await wait(200);
    expect(screen.getByRole("heading", { level: 1, name: "send mail one" })).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: texts.notThisOne }));
    await wait(200);
    await type("print a page");
    expect(asked(calls, "answers_get").at(-1)).toEqual({ question: "print a page", limit: 6 });
  });

  it("is reached with the arrow keys, and the focus is there again on the way back", async () => {
    stage({ answers_get: ({ question }) => answerTo(question), sessions_list: () => [] });
    render(Ask);
    await type("send mail");
    const box = screen.getByLabelText(texts.question);
    box.focus();
    await press("ArrowDown");
    expect(document.activeElement?.textContent).toBe("send mail one");
    await press("ArrowDown");
    const second = document.activeElement;
    expect(second?.textContent).toContain("send mail two");
    await press("ArrowDown");
    expect(document.activeElement).toBe(second);
    await fireEvent.click(second!);
    expect([navigation.pane, navigation.card]).toEqual(["library", "two"]);
    navigation.back();
    await wait();
    expect(document.activeElement).toBe(second);
    await press("ArrowUp");
    await press("ArrowUp");
    expect(document.activeElement).toBe(box);
  });

  it("is compared with another candidate", async () => {
    const detail = (id: string) =>
      ({
        summary: cardOf(id, `tool ${id}`),
        fields: { description: `Does ${id}.`, pricing: "Free", parameters: { properties: { q: {} }, required: ["q"] } },
        warnings: [],
        stub: null,
      }) as unknown as CardDetail;
    stage({
      answers_get: ({ question }) => answerTo(question),
      cards_get: ({ card }) => detail(card),
      sessions_list: () => [],
    });
    render(Ask);
    await type("send mail");
    await fireEvent.click(screen.getByRole("button", { name: texts.compareTo("send mail two", "send mail one") }));
    await wait();
    const table = within(screen.getByRole("dialog", { name: texts.compare })).getByRole("table");
    const rows = within(table)
      .getAllByRole("row")
      .map((row) => [...row.children].map((cell) => cell.textContent?.trim()));
    expect(rows).toContainEqual(["Description", "Does one.", "Does two."]);
    expect(rows).toContainEqual(["Pricing", "Free", "Free"]);
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
    expect(screen.queryByRole("heading", { name: "quick one" })).toBeNull();
    expect(screen.getByRole("heading", { name: texts.forExample })).toBeTruthy();
  });

  it("says that nothing fits, with what comes closest and what can be done, and no code", async () => {
    stage({
      answers_get: ({ question }) => answerTo(question, { verdict: "nothing", confidence: null }),
      sessions_list: () => [],
    });
    render(Ask);
    await type("walk the dog");
    expect(screen.getByRole("heading", { name: texts.nothingFits })).toBeTruthy();
    expect(screen.getByText(texts.searched(100))).toBeTruthy();
    const closest = screen.getByRole("region", { name: texts.closestMatches }).textContent;
    for (const name of ["walk the dog one", "walk the dog two"]) expect(closest).toContain(name);
    expect(screen.queryByText("import one")).toBeNull();
    expect(screen.queryByRole("group", { name: texts.actions })).toBeNull();
    expect(screen.queryByText(texts.doesHelp)).toBeNull();
    await fireEvent.click(screen.getByRole("button", { name: common.lookOnTheWeb }));
    expect([navigation.pane, navigation.need]).toEqual(["discover", "walk the dog"]);
    await fireEvent.click(screen.getByRole("button", { name: common.addACard }));
    expect([navigation.pane, navigation.adding]).toEqual(["library", true]);
    navigation.visit({ adding: false });
    navigation.need = "";
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

  it("hands what is open and focused over to the agent's answer of the same tool", async () => {
    const turn = { kind: "ask", asked: "send mail", state: "running", events: [], documents: [], answer: null };
    const session: Session = { id: "s", at: "", version: 1, turns: [turn as never] };
    const answer = { tool: "one", name: "send mail one", verdict: "answered", confidence: null, sentence: "It sends." };
    const lists = { candidates: [], findings: [], notes: [], limits: [], removed: [], citations: [] };
    const told = { ...answer, ...lists, why: "", stub: { language: "python", code: "import one" } };
    let end = () => {};
    stage({
      answers_get: ({ question }) => answerTo(question),
      sessions_ask: () => ({ session: "s" }),
      sessions_wait: ({ after }) =>
        after
          ? new Promise((done) => {
              end = () => done({ ...session, version: 2, turns: [{ ...turn, state: "done", answer: told } as never] });
            })
          : session,
      sessions_list: () => [],
      cards_get: () => ({ summary: cardOf("one", "send mail one"), fields: {}, warnings: [], stub: null }) as never,
      cards_starter: () => STARTER,
    });
    render(Ask);
    await type("send mail");
    await fireEvent.submit(screen.getByRole("search"));
    await wait();
    await press("Enter", { ctrlKey: true });
    await wait();
    const before = copyStarter();
    expect(document.activeElement).toBe(before);
    end();
    await wait();
    expect(screen.queryByText(texts.firstLook)).toBeNull();
    expect(before?.isConnected).toBe(false);
    expect(copyStarter()).not.toBeNull();
    expect(document.activeElement).toBe(copyStarter());
  });
});

describe("the first start", () => {
  it("shows an answer with its code, and three steps until they are skipped", async () => {
    stage({
      answers_get: ({ question }) => answerTo(question),
      clients_list: () => [{ id: "cursor", name: "Cursor", here: true, connected: false }] as never,
      sessions_list: () => [],
    });
    engine.status = { ...engine.status!, first_run: true };
    render(Ask);
    await wait(200);
    expect(screen.getByText("import one")).toBeTruthy();
    expect(screen.getByText(texts.firstSteps.connectAbout(["Cursor"]))).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: texts.firstSteps.servicesAction }));
    expect([navigation.pane, navigation.section]).toEqual(["settings", "llm"]);
    navigation.back();
    await fireEvent.click(screen.getByRole("button", { name: texts.firstSteps.skip }));
    expect(screen.queryByText(texts.firstSteps.title)).toBeNull();
    expect(screen.queryByText("import one")).toBeNull();
  });
});

describe("the example of the first start", () => {
  const first = { clients_list: () => [], sessions_list: () => [], cards_starter: () => STARTER };

  it("gives way to a question at once, so that no key is about it", async () => {
    let answer = () => {};
    const calls = stage({
      ...first,
      answers_get: ({ question }) =>
        question === texts.samples[0]
          ? answerTo("example")
          : new Promise((done) => (answer = () => done(answerTo(question)))),
    });
    engine.status = { ...engine.status!, first_run: true };
    render(Ask);
    await wait();
    expect(screen.getByRole("heading", { level: 1, name: "example one" })).toBeTruthy();
    await type("send mail");
    expect(screen.queryByRole("heading", { name: "example one" })).toBeNull();
    await press("Enter", { ctrlKey: true });
    answer();
    await wait();
    expect(screen.getByRole("heading", { level: 1, name: "send mail one" })).toBeTruthy();
    expect(asked(calls, "cards_starter").length).toBe(1);
    expect(document.activeElement).toBe(copyStarter());
  });

  it("is there again without being asked again", async () => {
    const calls = stage({ ...first, answers_get: ({ question }) => answerTo(question) });
    engine.status = { ...engine.status!, first_run: true };
    render(Ask);
    await wait();
    await type("send mail");
    await fireEvent.click(screen.getByRole("button", { name: texts.clear }));
    await wait();
    expect(screen.getByRole("heading", { level: 1, name: `${texts.samples[0]} one` })).toBeTruthy();
    expect(asked(calls, "answers_get").map(({ question }) => question)).toEqual([texts.samples[0], "send mail"]);
  });

  it("keeps its code open while cards are still being loaded", async () => {
    const calls = stage({ ...first, answers_get: () => answerTo("example") });
    engine.status = { ...engine.status!, first_run: true };
    render(Ask);
    await wait();
    await press("Enter", { ctrlKey: true });
    await wait();
    const copy = copyStarter();
    expect(document.activeElement).toBe(copy);
    engine.status = { ...engine.status, cursor: 2 };
    await wait(600);
    expect(asked(calls, "answers_get").length).toBe(2);
    expect(copy?.isConnected).toBe(true);
    expect(document.activeElement).toBe(copy);
  });
});

describe("the embedding model", () => {
  it("is offered beside the question while it is missing", async () => {
    const model = { name: "minilm", size_bytes: 91e6, installed: false, folder_only: false };
    const calls = stage({
      models_list: () => ({ models: [{ model, current: true }] }) as never,
      models_pull: () => ({ job: "j" }) as never,
      sessions_list: () => [],
    });
    engine.status = { ...engine.status!, model_state: "missing" };
    render(Ask);
    await wait();
    expect(screen.getByText(texts.modelMissing(bytes(91e6)))).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: texts.downloadModel }));
    expect(asked(calls, "models_pull")).toEqual([{ name: "minilm", folder: null }]);
    engine.jobs = [{ id: "j", kind: "download", state: "running", done: 1, total: 4 } as never];
    await wait();
    expect(screen.getByText(texts.modelDownloading(0.25))).toBeTruthy();
    engine.status = { ...engine.status, model_state: "ready" };
    await wait();
    expect(screen.queryByText(texts.modelDownloading(0.25))).toBeNull();
  });
});
