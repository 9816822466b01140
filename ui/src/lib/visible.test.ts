import { describe, expect, it } from "vitest";
import { visible, visibleLine } from "./visible";

describe("what is not seen", () => {
  it("is named", () => {
    expect(visible("user\u202enimda")).toBe("user‹U+202E›nimda");
    expect(visible("a\u200bb\ufeffc")).toBe("a‹U+200B›b‹U+FEFF›c");
    expect(visible("\u2066x\u2069\u061c")).toBe("‹U+2066›x‹U+2069›‹U+061C›");
    expect(visible("\u001b[31m\0\r\u0085\u007f")).toBe("‹U+001B›[31m‹U+0000›‹U+000D›‹U+0085›‹U+007F›");
    expect(visible("\u{e0068}\u{e0069}")).toBe("‹U+E0068›‹U+E0069›");
    expect(visible("half \ud83d pair")).toBe("half ‹U+D83D› pair");
  });

  it("leaves ordinary text as it is, in every script", () => {
    for (const text of ["", "Café – naïve\tπ\n漢字 עברית العربية", "🎉👍🏽"]) expect(visible(text)).toBe(text);
  });

  it("keeps emoji whole and lends their joiners to nobody", () => {
    for (const text of ["👩\u200d💻", "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "☎\ufe0e"]) {
      expect(visible(text)).toBe(text);
    }
    expect(visible("a\u200db")).toBe("a‹U+200D›b");
    expect(visible("👩\u200db")).toBe("👩‹U+200D›b");
    expect(visible("👩\u200d")).toBe("👩‹U+200D›");
    expect(visible("❤\ufe0f\ufe0f\ufe0f")).toBe("❤\ufe0f‹U+FE0F›‹U+FE0F›");
    expect(visible("x\ufe0f")).toBe("x‹U+FE0F›");
  });

  it("takes ends of lines for hidden where there is one line", () => {
    expect(visibleLine("name\nother")).toBe("name‹U+000A›other");
  });
});
