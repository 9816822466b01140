// The zoom of the window, with the layout that only a browser has.

import assert from "node:assert/strict";
import { cell } from "./parts.mjs";
import { texts } from "./texts.mjs";

/** Finds the row at the top of the table, and how high it is; `null` until the rows there are rendered. */
function topRow() {
  const viewport = document.querySelector("[role=grid] .viewport");
  const edge = viewport.getBoundingClientRect().top;
  const rows = [...viewport.querySelectorAll(".row")].map((row) => ({ row, box: row.getBoundingClientRect() }));
  const top = rows.find(({ box }) => box.top <= edge + 1 && box.bottom > edge + 1);
  return top ? { place: top.row.ariaRowIndex, height: top.box.height } : null;
}

/** Returns what {@link topRow} finds, as soon as the table has followed a scroll. */
const renderedTopRow = async (page) => (await page.waitForFunction(topRow)).jsonValue();

export const zoom = {
  async "zooms by keys and the wheel, and the table keeps its place"(page) {
    await page.keyboard.press("Control+4");
    await cell(page, "tool 000001").waitFor();
    const grid = page.getByRole("grid", { name: texts.library.cards, exact: true });
    const before = await renderedTopRow(page);
    assert.equal(before.height, 40);
    await grid.locator(".viewport").evaluate((viewport) => (viewport.scrollTop = 4000));
    const scrolled = await renderedTopRow(page);
    assert.notEqual(scrolled.place, before.place);
    /** Waits until the rows have this height, and checks that they are the same ones. */
    const at = async (height) => {
      await page.waitForFunction(
        (height) => document.querySelector("[role=grid] .row").offsetHeight === height,
        height,
      );
      await page.waitForFunction(() => document.querySelector("[role=grid] .row [role=gridcell]"));
      assert.equal((await renderedTopRow(page)).place, scrolled.place);
    };
    await page.keyboard.press("Control+=");
    await at(44);
    for (let step = 0; step < 2; step++) await page.keyboard.press("Control++");
    await at(60);
    await page.reload();
    await page.keyboard.press("Control+4");
    await cell(page, "tool 000001").waitFor();
    assert.equal((await renderedTopRow(page)).height, 60);
    await grid.locator(".viewport").evaluate((viewport) => (viewport.scrollTop = 6000));
    await grid.hover();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 100);
    await page.keyboard.up("Control");
    await at(50);
    await page.keyboard.press("Control+0");
    await at(40);
    assert.equal(await page.evaluate(() => localStorage.getItem("autokit.zoom")), null);
  },
};
