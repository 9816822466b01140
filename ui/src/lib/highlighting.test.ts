import { beforeAll, describe, expect, it } from "vitest";
import { highlighting, languageOf } from "./highlighting.svelte";

const kinds = (code: string, language: string) =>
  highlighting
    .piecesOf(code, languageOf(language))
    ?.filter(({ kind }) => kind)
    .map(({ text, kind }) => [text, kind]);

describe("code", () => {
  it("is plain until the highlighter is loaded", () => {
    expect(highlighting.piecesOf("import os", "python")).toBeNull();
  });

  describe("once the highlighter is loaded", () => {
    beforeAll(() => highlighting.load());

    it("is split by its language", () => {
      expect(kinds('from kit import Kit  # "x"\nKit(3, key="y")', "Python")).toEqual([
        ["from", "keyword"],
        ["import", "keyword"],
        ['# "x"', "comment"],
        ["3", "number"],
        ['"y"', "string"],
      ]);
      expect(kinds('{"a": [1, true]}', "JSON")).toEqual([
        ['"a"', "name"],
        ["1", "number"],
        ["true", "keyword"],
      ]);
    });

    const samples = ["x = '<b>' & 1\n", "a ‹U+202E› b", "`${`${`", "\\u{202e}", "<script>alert(1)</script>", ""];
    const languages = ["bash", "c#", "go", "http", "toml", "java", "js", "json", "kt", "php", "py", "rb", "rs", "sql"];
    it.each([...languages, "ts", "html", "yml"])("keeps every character in %s", (language) => {
      for (const code of samples) {
        const pieces = highlighting.piecesOf(code, languageOf(language));
        expect(pieces?.map(({ text }) => text).join("")).toBe(code);
      }
    });

    it("is plain in a language that is not known", () => {
      for (const name of ["", "text", "constructor", "__proto__"]) expect(languageOf(name)).toBeNull();
      expect(languageOf(undefined)).toBeNull();
      expect(highlighting.piecesOf("import os", null)).toBeNull();
    });

    it("is plain if it is long", () => {
      expect(highlighting.piecesOf("x".repeat(20_000), "python")).toHaveLength(1);
      expect(highlighting.piecesOf("x".repeat(20_001), "python")).toBeNull();
    });
  });
});
