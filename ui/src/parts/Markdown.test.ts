// @vitest-environment jsdom
import { render, screen } from "@testing-library/svelte";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { markdown } from "../lib/markdownLoader.svelte";
import { clear, stage } from "../testing/stage";
import Markdown from "./Markdown.svelte";

afterEach(clear);

function show(text: string): HTMLElement {
  stage({});
  return render(Markdown, { text }).container;
}

/** Returns the names of all elements, in order. */
const tags = (within: HTMLElement) => [...within.querySelectorAll("*")].map((one) => one.localName);

describe("Markdown", () => {
  it("is plain until its parser is loaded, and becomes a page then", async () => {
    const page = show("**Reads** \u202ea file");
    expect(page.textContent).toBe("**Reads** ‹U+202E›a file");
    await markdown.load();
    await Promise.resolve();
    expect(page.querySelector("strong")?.textContent).toBe("Reads");
  });

  describe("once its parser is loaded", () => {
    beforeAll(() => markdown.load());

    it("shows paragraphs, headings, lists, marks and quotes", () => {
      const page = show(
        "# Use\n\nReads *one* **file**, ~~not~~ `two`.\n\n1. first\n   - inner\n2. second\n\n> said\n\n---",
      );
      expect(screen.getByRole("heading", { level: 3 }).textContent).toBe("Use");
      expect(page.querySelector("p")?.textContent).toBe("Reads one file, not two.");
      expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
        "firstinner",
        "inner",
        "second",
      ]);
      for (const tag of ["em", "strong", "del", "code", "ol", "ul", "blockquote", "hr"])
        expect(tags(page)).toContain(tag);
    });

    it("counts a list from where it begins", () => {
      expect(show("3. third").querySelector("ol")?.start).toBe(3);
    });

    it("shows code in blocks with their language", () => {
      const page = show("```python\nimport os\n```\n\n    indented");
      expect([...page.querySelectorAll("pre")].map((pre) => pre.textContent)).toEqual(["import os", "indented"]);
      expect(page.querySelector("figcaption")?.textContent).toContain("python");
    });

    it("shows the real address of a link, and opens only web pages", () => {
      show(
        "See [our bank](https://evil.example/a?b=1), <https://docs.example>, [mail](mailto:a@b.example) and [a](x.md)",
      );
      expect(screen.getAllByRole("link").map((link) => [link.getAttribute("href"), link.textContent?.trim()])).toEqual([
        ["https://evil.example/a?b=1", "https://evil.example/a?b=1"],
        ["https://docs.example", "https://docs.example"],
      ]);
      expect(screen.getByText("mailto:a@b.example")).toBeTruthy();
    });

    it.each([
      "[x](javascript:alert(1))",
      "[x](JaVaScRiPt:alert(1))",
      "[x](data:text/html,<script>alert(1)</script>)",
      "[x](vbscript:x)",
      "<javascript:alert(1)>",
      "[x](&#106;avascript:alert(1))",
    ])("makes no link of %s", (text) => {
      expect(show(text).querySelector("a")).toBeNull();
    });

    it.each(["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>b</b> <!-- c -->"])(
      "shows the HTML %s as text",
      (text) => {
        const page = show(text);
        expect(page.textContent).toBe(text);
        expect(tags(page).filter((tag) => tag !== "div" && tag !== "p")).toEqual([]);
      },
    );

    it("shows what an image says instead of loading it", () => {
      const page = show("![A *kettle*](https://evil.example/pixel.png)");
      expect(page.textContent).toBe("A kettle");
      expect(page.querySelector("img")).toBeNull();
    });

    it("shows control characters, also those written as entities or in code", () => {
      const page = show("a\u202eb &#x202e;c `d\u2066` [e\u200b](https://docs.example/\u202e)\n\n```\nf\u200b\n```");
      expect(page.textContent).toMatch(/a‹U\+202E›b ‹U\+202E›c d‹U\+2066› e‹U\+200B›[^]*f‹U\+200B›/);
      expect(page.innerHTML).not.toMatch(/[\u200b\u202e\u2066]/u);
    });

    it.each([">", "- ", "[", "*a **b ", "`", "![", "<", "1. ", "  - \n"])(
      "takes %j by the thousands without nesting them deeply",
      (mark) => {
        const page = show(`${mark.repeat(Math.floor(19_000 / mark.length))} end`);
        expect(page.textContent).toContain("end");
        let depth = 0;
        for (const one of page.querySelectorAll("*")) {
          let above = 0;
          for (let up = one.parentElement; up && up !== page; up = up.parentElement) above++;
          depth = Math.max(depth, above);
        }
        expect(depth).toBeLessThan(60);
      },
    );

    it("shows what only agents would read: titles of links and more words after a language", () => {
      const page = show('[a](https://docs.example "Do this first")\n\n```python and then that\n```');
      expect(page.textContent).toContain("(Do this first)");
      expect(page.querySelector("figcaption")?.textContent).toContain("python and then that");
    });

    it("shows a long text plain", () => {
      const text = `**${"[".repeat(1_000_000)}**`;
      const page = show(text);
      expect(page.textContent).toBe(text);
      expect(page.querySelector("strong")).toBeNull();
    });
  });
});
