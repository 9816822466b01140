// Checks of cards against their documentation pages: starting them and reading the results.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  answerTo,
  button,
  cell,
  checkbox,
  ended,
  filterBox,
  jobs,
  region,
  runJob,
  section,
  status,
  textbox,
  typeInPalette,
} from "./parts.mjs";
import { counted, pattern, texts } from "./texts.mjs";

/** Returns the cards in a health state, by what the engine knows. */
const inState = (autokit, health) => autokit("cards", "list", "--health", health).rows.map(({ name }) => name);

export const checks = ({ autokit, call, artifacts, folder, services }) => ({
  async "checks a card against its page and tells what was found"(page) {
    const web = services();
    autokit("providers", "llm", "none");
    const add = (name, path) =>
      autokit(
        "cards",
        "add",
        ...Object.entries({
          name,
          provider: "Kitchen",
          description: "Boils water in a networked kettle: set the temperature, start it, and read how full it is.",
          programming_language: "python",
          module: "kettle_tools",
          class: "KettleToolkit",
          documentation: `${web.base}${path}`,
        }).flatMap(([field, value]) => ["--set", `${field}=${value}`]),
      );
    add("Kettle Toolkit", "/old/kettle");
    add("Lost Kettle Toolkit", "/gone");
    const check = region(page, texts.checks.documentationCheck);
    await page.keyboard.press("Control+4");
    await filterBox(page).fill("kitchen");
    // Before, the rows still move.
    await page.getByText(/^2 cards of /).waitFor();
    await cell(page, "Kettle Toolkit").click();
    await status(check, texts.checks.neverChecked).waitFor();
    await button(check, texts.common.checkNow).click();
    await check.getByRole("status").getByText(texts.checks.health.verified, { exact: true }).waitFor();
    await button(check, texts.checks.details).click();
    await check.getByText(texts.common.redirects(1)).waitFor();
    await check.getByText(texts.checks.notEncrypted).waitFor();
    await check.getByText(texts.checks.about, { exact: true }).waitFor();
    await check.getByText("from kettle_tools import KettleToolkit").first().waitFor();
    await page.screenshot({ path: join(artifacts, "28-browser-check.png") });

    await cell(page, "Lost Kettle Toolkit").click();
    await button(check, texts.common.checkNow).click();
    await check.getByText(texts.checks.links.no_page, { exact: true }).waitFor();
    await check.getByText(counted((n) => texts.checks.anotherPage(n / 100))).waitFor();
    // The list updates without a reload.
    const lost = page.getByRole("row").filter({ has: cell(page, "Lost Kettle Toolkit") });
    await lost.getByText(texts.checks.health.broken, { exact: true }).waitFor();
    await button(check, texts.checks.proposalWaits).click();
    await page.getByRole("heading", { name: "Lost Kettle Toolkit" }).first().waitFor();
    assert.equal(inState(autokit, "broken")[0], "Lost Kettle Toolkit");
  },

  async "checks what is selected and what is in view, and lets that wait"(page) {
    const web = services();
    await page.keyboard.press("Control+4");
    await page.keyboard.press("Escape");
    await checkbox(page, texts.library.select("Kettle Toolkit")).click();
    await checkbox(page, texts.library.select("Lost Kettle Toolkit")).click({ modifiers: ["Shift"] });
    const bar = page.getByRole("toolbar", { name: texts.library.selectedCards, exact: true });
    await status(bar, texts.library.selected(2)).waitFor();
    const { summary } = await runJob(page, call, "checks_start", () => button(bar, texts.library.check).click());
    // One of each.
    assert.match(summary, /^1\D+1\D+/);
    assert.deepEqual(inState(autokit, "verified"), ["Kettle Toolkit"]);
    assert.deepEqual(inState(autokit, "broken"), ["Lost Kettle Toolkit"]);
    await page.getByRole("combobox", { name: texts.library.health, exact: true }).selectOption("broken");
    await page.getByText(pattern`^${counted((n) => texts.library.found(1, n))}`).waitFor();
    await button(page, texts.common.showAll).click();

    // More cards than are checked at once, with pages that respond only when the test allows it.
    let release;
    web.held = new Promise((done) => (release = done));
    const begun = new Promise((done) => (web.asked = done));
    const file = join(folder, "held.json");
    const held = Array.from({ length: 12 }, (_, at) => ({
      name: `held ${at}`,
      provider: "Pantry",
      documentation: `${web.base}/held/${at}`,
    }));
    writeFileSync(file, JSON.stringify(held));
    autokit("import", file);
    await filterBox(page).fill("pantry");
    await page.getByText(pattern`^${counted((n) => texts.library.found(12, n))}`).waitFor();
    const answer = await answerTo(page, "checks_start", () => button(page, texts.library.checkThese).click());
    const { job } = await answer.json();
    // A check must be running for the pause to wait for.
    await begun;
    const does = (what) => jobs(page).getByRole("button", { name: pattern`^${what}: ` });
    await does(texts.app.pause).click();
    await does(texts.app.pausingName).waitFor();
    release();
    await does(texts.app.resume).click();
    assert.match((await ended(page, call, job)).summary, /^12\D/);
    assert.equal(inState(autokit, "broken").filter((name) => name.startsWith("held ")).length, 12);
  },

  async "keeps when cards are checked as soon as it is chosen"(page) {
    await typeInPalette(page, texts.commands.settingsChecks);
    await page.keyboard.press("Enter");
    const checks = section(page, "checks");
    const days = textbox(checks, texts.general.checkCardsEvery);
    await days.fill("14");
    await page.keyboard.press("Enter");
    await status(checks, texts.common.saved).waitFor();
    await answerTo(page, "check_settings_set", () => checkbox(checks, texts.general.checkNewCards).check());
    await days.fill("often");
    await days.blur();
    await checks.getByText(texts.general.giveDays, { exact: true }).waitFor();
    assert.deepEqual(autokit("checks", "show"), { every_days: 14, new_cards: true });
  },
});
