// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { Pages } from "./pages.svelte";

/** Creates a list whose responses the test controls; its rows start with `name`. */
function stage() {
  const asked: { offset: number; answer: () => void; fail: () => void }[] = [];
  const list = { name: "a" };
  const pages = new Pages<string>(10, (offset, limit) => {
    const { name } = list;
    return new Promise((resolve, reject) =>
      asked.push({
        offset,
        answer: () => resolve(Array.from({ length: limit }, (_, index) => `${name}${offset + index}`)),
        fail: () => reject(new Error("no answer")),
      }),
    );
  });
  return { asked, pages, list };
}

describe("the pages of a list", () => {
  it("are read once, around what is seen", async () => {
    const { asked, pages } = stage();
    const seen = pages.ensure(5, 25);
    await pages.ensure(12, 18);
    expect(asked.map(({ offset }) => offset)).toEqual([0, 10, 20]);
    asked.forEach(({ answer }) => answer());
    await seen;
    expect([pages.at(0), pages.at(29), pages.at(30)]).toEqual(["a0", "a29", undefined]);
    await pages.ensure(0, 30);
    expect(asked.length).toBe(3);
  });

  it("stay on screen until those of the other list are here, and late ones are dropped", async () => {
    const { asked, pages, list } = stage();
    const first = pages.ensure(0, 10);
    asked[0]!.answer();
    await first;
    const late = pages.ensure(10, 20);
    list.name = "b";
    pages.invalidate();
    const next = pages.ensure(0, 10);
    asked[1]!.answer();
    await late;
    expect([pages.at(0), pages.at(10)]).toEqual(["a0", undefined]);
    asked[2]!.answer();
    await next;
    expect([pages.at(0), pages.at(10)]).toEqual(["b0", undefined]);
  });

  it("are asked for again where that failed", async () => {
    const { asked, pages } = stage();
    const failed = pages.ensure(0, 10);
    asked[0]!.fail();
    await expect(failed).rejects.toThrow("no answer");
    const again = pages.ensure(0, 10);
    asked[1]!.answer();
    await again;
    expect(pages.at(3)).toBe("a3");
  });

  it("are forgotten where there are too many", async () => {
    const { asked, pages } = stage();
    for (let page = 0; page < 41; page++) {
      const read = pages.ensure(page * 10, page * 10 + 10);
      asked.at(-1)!.answer();
      await read;
    }
    expect([pages.at(0), pages.at(10), pages.at(400)]).toEqual([undefined, "a10", "a400"]);
  });
});
