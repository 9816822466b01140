// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import { answerTo } from "../testing/fixtures";
import { clear, stage, wait } from "../testing/stage";
import { ask } from "../texts/ask";
import { desktop as texts } from "../texts/settings/desktop";
import QuickAsk from "./QuickAsk.svelte";

afterEach(clear);

async function type(text: string) {
  await fireEvent.input(screen.getByLabelText(texts.question), { target: { value: text } });
  await wait(200);
}

describe("the quick answer", () => {
  it("is the best tool with what limits it and its code, and the names of the others", async () => {
    stage({ answers_get: ({ question }) => answerTo(question) });
    render(QuickAsk);
    await type("send mail");
    expect(screen.getByRole("heading", { level: 1, name: "send mail one" })).toBeTruthy();
    for (const text of ["one is not free.", "import one", "send mail two"]) expect(screen.getByText(text)).toBeTruthy();
  });

  it("is no tool if none fits, but what comes closest", async () => {
    stage({ answers_get: ({ question }) => answerTo(question, { verdict: "nothing", confidence: null }) });
    render(QuickAsk);
    await type("walk the dog");
    expect(screen.getByText(texts.nothing)).toBeTruthy();
    expect(screen.getByRole("heading", { name: ask.closestMatches })).toBeTruthy();
    expect(screen.queryByText("import one")).toBeNull();
  });
});
