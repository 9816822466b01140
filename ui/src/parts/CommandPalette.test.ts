// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Verdict } from "../lib/bindings";
import { runCommand } from "../lib/commands";
import { navigation } from "../lib/navigation.svelte";
import { overlays } from "../lib/overlays.svelte";
import { BY_WORDS, cardOf } from "../testing/fixtures";
import { asked, clear, stage, wait } from "../testing/stage";
import { commands as texts } from "../texts/commands";
import { format } from "../texts/format";
import CommandPalette from "./CommandPalette.svelte";

afterEach(clear);

function open() {
  const calls = stage({
    answers_get: ({ question }) => ({
      question,
      verdict: "answered",
      confidence: null,
      candidates: [
        { card: cardOf("1", `${question} tool`), score: 0.9, parts: BY_WORDS, sentence: "", limits: [], stub: null },
      ],
      notes: [],
      searched: 1,
      took_ms: 1,
    }),
  });
  overlays.palette = true;
  render(CommandPalette);
  return calls;
}

const box = () => screen.getByPlaceholderText(texts.paletteBox);

async function type(text: string) {
  await fireEvent.input(box(), { target: { value: text } });
  await wait(200);
}

const items = () => screen.getAllByRole("option").map((item) => item.textContent?.trim());

describe("the command palette", () => {
  it("offers every command with its shortcut", async () => {
    open();
    await wait();
    expect(screen.getByRole("dialog", { name: texts.commandPalette })).toBeTruthy();
    expect(items()).toContain(`${texts.go.library} ${texts.keys.ctrl} 4`);
    expect(items()).toContain(texts.settingsServers);
  });

  it("finds commands by their words and cards by what is typed, asking once it stops", async () => {
    const calls = open();
    await wait();
    // The words of a command, without the end of the last one.
    const words = texts.theme.slice(0, -2);
    for (const text of ["t", "th", "the", words]) await fireEvent.input(box(), { target: { value: text } });
    await wait(200);
    expect(items()).toEqual([texts.theme, `${words} tool vendor · ${format.kinds.class}`]);
    expect(asked(calls, "answers_get").map(({ question }) => question)).toEqual(["t", words]);
  });

  it("carries a command out and closes", async () => {
    open();
    await type(texts.go.library.toLowerCase());
    await fireEvent.click(screen.getByText(texts.go.library));
    await wait(200);
    expect([overlays.palette, navigation.pane]).toEqual([false, "library"]);
  });

  it("opens a card", async () => {
    open();
    await type("mail");
    await fireEvent.click(screen.getByText("mail tool"));
    await wait(200);
    expect([overlays.palette, navigation.pane, navigation.card]).toEqual([false, "library", "1"]);
  });

  /** Opens the palette over a library that answers with these cards, by id. */
  function openWith(verdict: Verdict, cards: (question: string) => [string, string][]) {
    stage({
      answers_get: ({ question }) => ({
        ...{ question, verdict, confidence: null, notes: [], searched: 1, took_ms: 1 },
        candidates: cards(question).map(([id, name]) => ({
          ...{ card: cardOf(id, name), score: 0.9, parts: BY_WORDS, sentence: "", limits: [], stub: null },
        })),
      }),
    });
    overlays.palette = true;
    render(CommandPalette);
  }

  const selected = () => screen.queryByRole("option", { selected: true })?.textContent?.trim().split(" · ")[0];
  const press = (key: string) => fireEvent.keyDown(box(), { key });

  it("selects the first result, also when only cards are found", async () => {
    openWith("answered", (question) =>
      question === "qqa"
        ? [
            ["1", "one"],
            ["2", "two"],
          ]
        : [
            ["3", "three"],
            ["1", "one"],
          ],
    );
    await type("qqa");
    expect(selected()).toBe("one vendor");
    // Nobody chose it, so it is not kept when another one is first.
    await type("qqb");
    expect(selected()).toBe("three vendor");
    await press("Enter");
    await wait(200);
    expect([overlays.palette, navigation.card]).toEqual([false, "3"]);
  });

  it("keeps what was selected by the arrow keys while cards arrive", async () => {
    open();
    await wait();
    await fireEvent.input(box(), { target: { value: "settings" } });
    await wait();
    await press("ArrowDown");
    const chosen = selected();
    expect(chosen).toBeTruthy();
    expect(items()[0]).not.toBe(chosen);
    await wait(200);
    expect(items()).toContain(`settings tool vendor · ${format.kinds.class}`);
    expect(selected()).toBe(chosen);
  });

  it("is empty again after its shortcut closed it", async () => {
    open();
    await type("mail");
    runCommand("palette");
    await wait(200);
    runCommand("palette");
    await wait(200);
    expect((box() as HTMLInputElement).value).toBe("");
    expect(items()).toContain(texts.settingsServers);
    expect(selected()).toBe(items()[0]);
  });

  it("leaves out cards that answer nothing, unless they are called like what is typed", async () => {
    openWith("nothing", () => [
      ["1", "Alpha"],
      ["2", "Zzqq mail"],
    ]);
    await type("zzqq for a");
    expect(items()).toEqual([`Zzqq mail vendor · ${format.kinds.class}`]);
    await type("xyzzy");
    expect(screen.queryAllByRole("option")).toEqual([]);
    expect(screen.getByText(texts.nothingFound)).toBeTruthy();
  });
});
