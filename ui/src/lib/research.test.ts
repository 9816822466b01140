import { describe, expect, it } from "vitest";
import type { Research, ResearchPassage } from "./bindings";
import { citedIn, numbered } from "./research";

function passage(text: string, source: number): ResearchPassage {
  return { text, source, heading: [], code: false, outdated: false, score: 0.5 };
}

const found: Research = {
  answered: true,
  summary: [2, 0],
  passages: [passage("a", 0), passage("b", 0), passage("c", 1), passage("d", 1)],
  sources: [
    { kind: "web", title: "One", location: "https://one.example/" },
    { kind: "documents", title: "Two", location: "two.md#1" },
  ],
  queries: [],
  visited: [],
  read: 2,
  rounds: 1,
  complete: true,
  model: null,
  notes: [],
};

describe("research", () => {
  it("numbers sources in the order of their first quote", () => {
    const list = numbered(found, citedIn(found));
    expect(list.quotes.map(({ passage, number }) => [passage.text, number])).toEqual([
      ["c", 1],
      ["a", 2],
    ]);
    expect(list.sources.map((source) => source.title)).toEqual(["Two", "One"]);
  });

  it("shows the closest passages where there is no answer", () => {
    expect(citedIn({ ...found, answered: false }).map((passage) => passage.text)).toEqual(["a", "b", "c"]);
  });
});
