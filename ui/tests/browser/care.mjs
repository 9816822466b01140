// Care of a library: looking into a backup, and merging or dismissing cards that may be the same. Each test has a library
// of its own.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "./axe.mjs";
import { fresh } from "./fresh.mjs";
import { button, openGroup, section, typeInPalette } from "./parts.mjs";
import { ANY, fieldName, pattern, texts } from "./texts.mjs";

const SIZE = { width: 1180, height: 780 };

export const care = ({ bin, folder, artifacts }) => {
  let windows = 0;
  let found = [];
  const show = (page, name) => page.screenshot({ path: join(artifacts, name) });
  const state = async (page, name) => found.push(...(await inspect(page, name)));
  const dialog = (page, name) => page.getByRole("dialog", { name, exact: true });

  /** Makes a test of work in a window on a library of its own, with these cards. */
  const within = (cards, work) => async (page) => {
    found = [];
    const place = join(folder, `care-${++windows}`);
    mkdirSync(place, { recursive: true });
    const window = await fresh(bin, place, ["--no-model"]);
    const own = await page.context().browser().newPage({ viewport: SIZE });
    try {
      for (const fields of cards) await window.call("cards_create", { fields, reason: "", flagged_too: true });
      own.setDefaultTimeout(60_000);
      await own.goto(window.url);
      await work(own, window.call);
    } finally {
      await own.close();
      await window.close();
    }
    assert.equal(found.join("\n"), "");
  };

  /** Waits until a control has the focus. */
  const focused = (page, control) => control.and(page.locator(":focus")).waitFor();

  const KETTLE = { name: "Kettle Toolkit", provider: "Kitchen", description: "Boils water.", module: "kettle" };
  const JUICER = { name: "Juicer", provider: "Breakfast", description: "Presses oranges." };

  return {
    "shows what restoring a backup would change": within([KETTLE, JUICER], async (page, call) => {
      await call("backups_create", {});
      await call("cards_delete", { cards: ["Kettle Toolkit"], reason: "" });
      await openGroup(page, "library");
      const opener = section(page, "backups").getByRole("button", { name: pattern`^${texts.general.restoreOf("")}` });
      await opener.first().focus();
      await page.keyboard.press("Enter");
      const open = page.getByRole("dialog");
      const list = open.locator("details", { hasText: texts.general.cardsComeBack(1) });
      await list.locator("summary").click();
      await list.getByText("Kettle Toolkit").waitFor();
      await open.getByText(texts.general.changesUndone(1), { exact: true }).waitFor();
      assert.equal(await open.locator("details").count(), 1);
      await show(page, "60-browser-restore.png");
      await state(page, "Restoring a backup");
      await page.keyboard.press("Escape");
      await open.waitFor({ state: "detached" });
      await focused(page, opener.first());

      // Not restored here: the server of the pages does not survive that the engine closes its endpoint meanwhile.
      await page.keyboard.press("Enter");
      await focused(page, button(open, texts.common.cancel));
    }),

    "merges a duplicate, undoes that and dismisses another": within(
      [
        { ...KETTLE, class: "KettleToolkit", tags: ["water"] },
        { ...KETTLE, name: "Boiler", provider: "Boilers", class: "KettleToolkit", tags: ["heat"], pricing: "free" },
        { ...JUICER, module: "juice", class: "Juicer" },
        { ...JUICER, name: "Press", provider: "Presses", module: "juice", class: "Juicer" },
      ],
      async (page, call) => {
        await typeInPalette(page, texts.commands.duplicates);
        await page.keyboard.press("Enter");
        const list = dialog(page, texts.duplicates.title);
        const pairs = list.getByRole("list", { name: texts.duplicates.pairs, exact: true });
        await pairs.getByText(texts.duplicates.reasons.import, { exact: true }).first().waitFor();
        assert.equal(await pairs.locator(":scope > li").count(), 2);
        await list.getByText(texts.duplicates.wordsOnly).waitFor();
        await show(page, "61-browser-duplicates.png");
        await state(page, "Duplicates");

        const pair = pairs.locator(":scope > li", { hasText: "Kettle Toolkit" });
        const ask = pair.getByRole("button", { name: pattern`^${texts.duplicates.mergeOf(ANY, ANY)}$` });
        await ask.focus();
        await page.keyboard.press("Enter");
        const merge = dialog(page, texts.duplicates.mergeTitle);
        const field = (name) => merge.getByRole("radiogroup", { name: fieldName(name), exact: true });
        await field("tags").getByRole("radio", { name: texts.duplicates.both, exact: true, checked: true }).waitFor();
        await show(page, "62-browser-merge.png");
        await state(page, "Merging cards");
        // Keyboard only: keeps the other card, and takes the name of this one.
        await focused(
          page,
          merge
            .getByRole("radiogroup", { name: texts.duplicates.keep, exact: true })
            .getByRole("radio", { checked: true }),
        );
        const keep = merge.getByRole("radio", { name: /^Boiler / });
        if (!(await keep.isChecked())) await page.keyboard.press("ArrowRight");
        await merge.getByRole("radio", { name: /^Boiler /, checked: true }).waitFor();
        await field("name").getByRole("radio", { name: texts.duplicates.kept, exact: true, checked: true }).focus();
        await page.keyboard.press("ArrowRight");
        await field("name").getByRole("radio", { name: texts.duplicates.other, exact: true, checked: true }).waitFor();
        await page.keyboard.press("Control+Enter");
        await merge.waitFor({ state: "detached" });
        assert.equal((await call("status_get", {})).cards, 3);
        const { fields } = await call("cards_get", { card: "Kettle Toolkit" });
        assert.deepEqual(
          [fields.provider, fields.pricing, [...fields.tags].sort()],
          ["Boilers", "free", ["heat", "water"]],
        );

        // The focus is where the merge can be taken back.
        const undo = pairs.getByRole("button", { name: pattern`^${texts.duplicates.undoOf("")}` });
        await focused(page, undo);
        await page.keyboard.press("Enter");
        await focused(page, ask);
        assert.equal((await call("status_get", {})).cards, 4);
        assert.deepEqual((await call("cards_get", { card: "Boiler" })).fields.tags, ["heat"]);

        const other = pairs.locator(":scope > li", { hasText: "Juicer" });
        await other.getByRole("button", { name: pattern`^${texts.duplicates.dismissOf(ANY, ANY)}$` }).click();
        await focused(page, undo);
        await state(page, "Duplicates, one dismissed");
        const left = (await call("duplicates_list", {})).pairs;
        assert.equal(left.length, 1);
        await undo.press("Enter");
        await undo.waitFor({ state: "detached" });
        assert.equal((await call("duplicates_list", {})).pairs.length, 2);
      },
    ),
  };
};
