// Accessibility of every pane, dialog and menu, in every color scheme.

import assert from "node:assert/strict";
import { agent } from "./agents.mjs";
import { inspect, NO_MEDIA } from "./axe.mjs";
import { fit, SMALL } from "./fit.mjs";
import {
  button,
  cell,
  checkbox,
  choice,
  filterBox,
  openCard,
  region,
  segment,
  status,
  textbox,
  typeInPalette,
} from "./parts.mjs";
import { counted, texts } from "./texts.mjs";

export const accessibility = ({ bin, options, env, call }) => {
  const dialog = (page) => page.getByRole("dialog");
  /** Waits until everything in view is loaded. */
  async function settled(page) {
    for (const text of [texts.common.counting, texts.common.reading]) {
      await page.getByText(text, { exact: true }).first().waitFor({ state: "hidden" });
    }
  }

  /** What axe found in the states that a test has visited. */
  let found = [];
  const state = async (page, name) => found.push(...(await inspect(page, name)));

  /** Closes the dialog on top. */
  async function escape(page) {
    await page.keyboard.press("Escape");
    await dialog(page).last().waitFor({ state: "detached" });
  }

  /** Opens Library with few rows, so that cards which other tests have added push none out of view. */
  async function openLibrary(page) {
    await page.keyboard.press("Control+4");
    await filterBox(page).fill("tool 00000");
    await cell(page, "tool 000001").waitFor();
  }

  /** Opens a dialog by a command of the palette. */
  async function run(page, command) {
    await typeInPalette(page, command);
    await page.keyboard.press("Enter");
    // It goes out of view slowly, and is a dialog, too.
    await page.getByPlaceholder(texts.commands.paletteBox, { exact: true }).waitFor({ state: "detached" });
  }

  /** Makes a test fail after it has visited all of its states. */
  const tests = (entries) =>
    Object.fromEntries(
      Object.entries(entries).map(([name, test]) => [
        name,
        async (page) => {
          found = [];
          await test(page);
          assert.equal(found.join("\n"), "");
        },
      ]),
    );

  /** Waits until a control has the focus. */
  const focused = async (page, control) => {
    const element = await control.elementHandle();
    await page.waitForFunction((element) => element === document.activeElement, element);
  };

  return tests({
    async "has no accessibility violations in Ask"(page) {
      // Earlier tests have chosen a theme; here it follows the emulated system.
      await page.evaluate(() => localStorage.removeItem("autokit.theme"));
      await page.reload();
      const box = textbox(page, texts.ask.question);
      await page.getByRole("heading", { name: texts.ask.forExample, exact: true }).waitFor();
      await state(page, "Ask, empty");
      await box.fill("thing number 4711");
      await page.locator(".answer h1").waitFor();
      await state(page, "Ask, while typing");
      await page.keyboard.press("Enter");
      const trace = region(page, texts.ask.trace);
      await trace.getByRole("button", { name: counted(texts.ask.doneAfter) }).click();
      await trace.getByRole("list", { name: texts.ask.traceSteps, exact: true }).waitFor();
      await button(page, texts.ask.helps).click();
      await textbox(page, texts.ask.use).waitFor();
      await state(page, "Ask, with an answer");
    },

    async "has no accessibility violations in Discover"(page) {
      await page.keyboard.press("Control+2");
      for (const name of Object.values(texts.discover.where)) {
        await segment(page, texts.discover.whereToLook, name).click();
        await settled(page);
        await state(page, `Discover, ${name}`);
      }
      await segment(page, texts.discover.whereToLook, texts.discover.where.web).click();
    },

    async "has no accessibility violations in Review"(page) {
      await call("cards_describe", {
        text: "Abacus Kit is a library that counts beads. See https://docs.example.org/abacus.\n\n```python\nfrom abacus_kit import Abacus\n```\n",
      });
      await page.keyboard.press("Control+3");
      await textbox(page, texts.review.filterProposals).fill("Abacus Kit");
      await page
        .getByRole("button", { name: /Abacus Kit/ })
        .first()
        .click();
      await page.getByRole("heading", { level: 1, name: "Abacus Kit" }).waitFor();
      for (const layout of Object.values(texts.review.layouts)) {
        await segment(page, texts.review.changes, layout).click();
        await state(page, `Review, ${layout}`);
      }
      await segment(page, texts.review.changes, texts.review.layouts.unified).click();
      await button(page, texts.review.rejectAsk).click();
      await state(page, "Review, rejecting");
      await page.keyboard.press("Escape");
      await button(page, texts.review.acceptSafe).click();
      await dialog(page).waitFor();
      await state(page, "Review, accepting low-risk proposals");
      await escape(page);
      await page.getByRole("group", { name: texts.review.healthOf, exact: true }).getByRole("button").click();
      await dialog(page).waitFor();
      await state(page, "Review, health");
      await escape(page);
      await textbox(page, texts.review.filterProposals).fill("");

      const nothing = { rows: [], total: 0 };
      await page.route("**/v1/call/proposals_list", async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), ...nothing } });
      });
      await page.reload();
      await page.keyboard.press("Control+3");
      await page.getByRole("heading", { name: texts.review.empty, exact: true }).waitFor();
      await state(page, "Review, empty");
      await page.unroute("**/v1/call/proposals_list");
      await page.reload();
    },

    async "has no accessibility violations in Library"(page) {
      await openLibrary(page);
      await state(page, "Library");
      await cell(page, "tool 000001").click();
      await openCard(page, "tool 000001").waitFor();
      for (const tab of await page.getByRole("tab").all()) {
        await tab.click();
        await state(page, `Library, ${await tab.textContent()}`);
      }
      await button(page, texts.common.edit).click();
      await button(page, texts.common.save).waitFor();
      await state(page, "Library, card editor");
      await button(page, texts.common.cancel).click();
      await page.keyboard.press("Escape");
      await page.keyboard.press("n");
      await page.getByRole("complementary", { name: texts.common.newCard, exact: true }).waitFor();
      await state(page, "Library, new card");
      await button(page, texts.common.cancel).click();
      await checkbox(page, texts.library.select("tool 000001")).click();
      await state(page, "Library, selected cards");
      await button(page, texts.library.clear).click();
      await filterBox(page).fill("no card has this name");
      await page.getByText(texts.library.noCardMatches, { exact: true }).waitFor();
      await state(page, "Library, no matches");
    },

    async "has no accessibility violations in Activity"(page) {
      await page.keyboard.press("Control+5");
      await page.getByRole("heading", { level: 1, name: texts.activity.activity, exact: true }).waitFor();
      await settled(page);
      // Details that are folded at first, such as the tables of the charts.
      const folded = page.locator("main [aria-expanded=false]:visible");
      await folded.evaluateAll((all) => all.forEach((control) => control.click()));
      await state(page, "Activity");
    },

    async "has no accessibility violations in Settings"(page) {
      await page.keyboard.press("Control+6");
      const sections = page.getByRole("navigation", { name: texts.common.settings, exact: true }).getByRole("button");
      await sections.first().waitFor();
      const seen = new Set();
      for (const entry of await sections.all()) {
        await entry.click();
        await settled(page);
        // Several entries may lead to the same page.
        const headings = (await page.locator("main h2:visible").allTextContents()).join("\n");
        if (seen.has(headings)) continue;
        seen.add(headings);
        await state(page, `Settings, ${await entry.textContent()}`);
      }
    },

    async "has no accessibility violations in dialogs and menus"(page) {
      await page.keyboard.press("Control+4");
      await typeInPalette(page, "tool 000042");
      await dialog(page).getByRole("option").filter({ hasText: "tool 000042" }).first().waitFor();
      await state(page, "Command palette");
      await escape(page);
      await run(page, texts.commands.shortcuts);
      await dialog(page).getByRole("heading", { name: texts.commands.keyboardShortcuts, exact: true }).waitFor();
      await state(page, "Keyboard shortcuts");
      await escape(page);
      await run(page, texts.commands.exportCards);
      await dialog(page).waitFor();
      for (const format of Object.values(texts.exporting.formats)) {
        await choice(dialog(page), format).check();
        await state(page, `Export, ${format.name}`);
      }
      await escape(page);
      for (const command of [texts.commands.imports, texts.commands.subscribe]) {
        await run(page, command);
        await dialog(page).waitFor();
        await state(page, command);
        if (command === texts.commands.subscribe) {
          await button(dialog(page), texts.bundles.subscribeAsk).first().click();
          await textbox(dialog(page), texts.bundles.place).waitFor();
          await state(page, "Subscribing to a bundle");
        }
        await escape(page);
      }
      await run(page, texts.commands.importCards);
      const pasted = textbox(page, texts.importing.pasted);
      await pasted.waitFor();
      await state(page, "Import");
      const cards = [{ name: "tool 000005", description: "Changed." }, { name: "a new tool" }, { name: "" }];
      await pasted.fill(JSON.stringify(cards));
      await button(page.locator("form", { has: pasted }), texts.importing.preview).click();
      await page.getByRole("list", { name: texts.importing.cardsOfTheSource, exact: true }).waitFor();
      await state(page, "Import, preview");
      await escape(page);
    },

    async "has no accessibility violations in messages and approvals"(page) {
      await openLibrary(page);
      await cell(page, "tool 000001").click();
      await openCard(page, "tool 000001").waitFor();
      await button(page, texts.common.remove).click();
      await status(page, texts.card.removed("tool 000001")).waitFor();
      const one = await agent(bin, options, env);
      await one.search("run python code");
      const waits = one.call("code_exec", { language: "python", code: "print(6*7)", seconds: 60 });
      const card = page.getByRole("alertdialog");
      await card.getByText('"code": "print(6*7)"').waitFor();
      await state(page, "A message and an approval");
      await button(card, texts.approvals.replies.no.name).click();
      await waits;
      await one.leave();
      await call("changes_undo", {});
    },

    async "leaves everything in reach at a zoom of 200% and with text of twice the size"(page) {
      for (const { name, size, text } of SMALL) {
        const small = await page.context().browser().newPage({ viewport: size });
        // Set before the page measures its rows.
        await small.addInitScript((text) => {
          document.addEventListener("readystatechange", () => (document.documentElement.style.fontSize = text));
        }, text);
        await small.goto(page.url());
        const check = async (state) => found.push(...(await fit(small, `${state}, ${name}`)));

        await textbox(small, texts.ask.question).fill("thing number 42");
        await small.locator(".answer h1").waitFor();
        await check("Ask");
        await small.keyboard.press("Control+2");
        for (const where of Object.values(texts.discover.where)) {
          await segment(small, texts.discover.whereToLook, where).click();
          await check(`Discover, ${where}`);
        }
        await small.keyboard.press("Control+3");
        await textbox(small, texts.review.filterProposals).fill("Abacus Kit");
        await small
          .getByRole("button", { name: /Abacus Kit/ })
          .first()
          .click();
        await small.getByRole("heading", { level: 1, name: "Abacus Kit" }).waitFor();
        await check("Review");
        await small.keyboard.press("Control+4");
        // Few rows are in view.
        await filterBox(small).fill("tool 000001");
        await cell(small, "tool 000001").waitFor();
        await check("Library");
        await cell(small, "tool 000001").click();
        await openCard(small, "tool 000001").waitFor();
        await check("Library, card");
        await button(small, texts.common.edit).click();
        await button(small, texts.common.save).waitFor();
        await check("Library, card editor");
        await button(small, texts.common.cancel).click();
        await small.keyboard.press("Escape");
        await small.keyboard.press("Control+5");
        await small.getByRole("heading", { level: 1, name: texts.activity.activity, exact: true }).waitFor();
        await settled(small);
        await check("Activity");
        await small.keyboard.press("Control+6");
        await settled(small);
        await check("Settings");
        for (const command of [
          texts.commands.shortcuts,
          texts.commands.importCards,
          texts.commands.exportCards,
          texts.commands.imports,
        ]) {
          await run(small, command);
          await dialog(small).waitFor();
          await check(command);
          await escape(small);
        }
        await small.close();
      }
    },

    async "moves through tabs by arrow keys and returns the focus from dialogs"(page) {
      await openLibrary(page);
      await cell(page, "tool 000001").click();
      await openCard(page, "tool 000001").waitFor();
      const tabs = page.getByRole("tab");
      await tabs.first().focus();
      await page.keyboard.press("ArrowRight");
      await focused(page, tabs.nth(1));
      assert.equal(await tabs.nth(1).getAttribute("aria-selected"), "true");
      const panel = page.locator(`[id="${await tabs.nth(1).getAttribute("aria-controls")}"][role=tabpanel]`);
      await panel.getByText(texts.card.revision(1), { exact: true }).waitFor();
      await page.keyboard.press("Home");
      await focused(page, tabs.first());

      const openers = [
        button(page, texts.common.importAsk),
        button(page, texts.common.exportAsk),
        button(page, texts.library.bundles),
      ];
      for (const opener of openers) {
        await opener.focus();
        await page.keyboard.press("Enter");
        await dialog(page).waitFor();
        await escape(page);
        await focused(page, opener);
      }
      await filterBox(page).focus();
      await run(page, texts.commands.exportCards);
      await dialog(page).getByRole("heading", { name: texts.exporting.title, exact: true }).waitFor();
      await escape(page);
      await focused(page, filterBox(page));
    },

    async "shows selection, switches and the focus in forced colors, and no motion where none is wanted"(page) {
      await page.emulateMedia({ ...NO_MEDIA, forcedColors: "active" });
      const look = (locator, ...properties) =>
        locator.evaluate((element, properties) => {
          const style = getComputedStyle(element);
          return properties.map((property) => style.getPropertyValue(property));
        }, properties);
      const differ = async (one, other, ...properties) =>
        assert.notDeepEqual(await look(one, ...properties), await look(other, ...properties));
      // Without the exemption, the canvas would be painted behind the text.
      const legible = async (locator) => {
        const [color, background, adjust] = await look(locator, "color", "background-color", "forced-color-adjust");
        assert.notEqual(color, background);
        assert.equal(adjust, "none");
      };
      const panes = page.getByRole("navigation", { name: texts.app.rail, exact: true }).getByRole("button");
      await differ(panes.nth(3), panes.nth(0), "background-color");
      await legible(panes.nth(3));
      const rows = page.getByRole("row");
      await differ(rows.filter({ has: cell(page, "tool 000001") }), rows.nth(3), "background-color");
      await differ(
        page.getByRole("tab", { selected: true }),
        page.getByRole("tab", { selected: false }),
        "border-bottom-color",
      );
      await filterBox(page).focus();
      const [style, width] = await look(filterBox(page), "outline-style", "outline-width");
      assert.deepEqual([style, width], ["solid", "2px"]);
      await page.keyboard.press("Control+2");
      const where = page.getByRole("radiogroup", { name: texts.discover.whereToLook, exact: true }).locator("label");
      await differ(where.nth(0), where.nth(1), "background-color");
      await legible(where.nth(0));

      await page.emulateMedia({ ...NO_MEDIA, reducedMotion: "reduce" });
      const moving = await page.evaluate(() => {
        const busy = document.body.appendChild(document.createElement("span"));
        busy.className = "busy";
        const { animationName } = getComputedStyle(busy);
        busy.remove();
        return animationName;
      });
      assert.equal(moving, "none");
      await page.emulateMedia(NO_MEDIA);
    },
  });
};
