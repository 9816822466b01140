import { describe, expect, it } from "vitest";
import { marked, matched } from "./highlight";
import { ask as texts } from "../texts/ask";

const hits = (text: string, words: string[]) =>
  marked(text, words)
    .filter((piece) => piece.hit)
    .map((piece) => piece.text);

describe("marked", () => {
  it("marks words by their stem and loses nothing of the text", () => {
    const text = "Lists calendars, and a Calendar event.";
    expect(hits(text, ["calendar"])).toEqual(["calendars", "Calendar"]);
    expect(
      marked(text, ["calendar"])
        .map((piece) => piece.text)
        .join(""),
    ).toBe(text);
  });

  it("does not mark words that merely begin alike", () => {
    expect(hits("A cartographer has a cart", ["cart"])).toEqual(["cart"]);
  });

  it("takes markup as text", () => {
    const text = "<script>alert(1)</script>";
    expect(
      marked(text, ["alert"])
        .map((piece) => piece.text)
        .join(""),
    ).toBe(text);
  });
});

describe("matched", () => {
  it("tells each word once, and what words mean together", () => {
    const term = (word: string, meaning?: string) => ({ word, field: "name", term: word, meaning }) as const;
    const terms = [term("audio"), term("audio"), term("said", "speech to text"), term("meeting", "speech to text")];
    expect(matched(terms)).toEqual(["audio", "said, meeting → speech to text"]);
    expect(matched([])).toEqual([]);
  });

  it("tells what is known of a name and does not stand in the card", () => {
    const terms = [
      { word: "video", field: "known", term: "video" },
      { word: "video", field: "name", term: "video" },
      { word: "korean", field: "known", term: "korean" },
    ] as const;
    expect(matched([...terms])).toEqual(["video", texts.knownOfName("korean")]);
  });
});
