// Checks of cards against their documentation pages: starting them and reading the results.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const checks = ({ autokit, artifacts, folder, services }) => ({
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
    const section = page.getByRole("region", { name: "Documentation check" });
    await page.keyboard.press("Control+4");
    await page.getByLabel("Filter by name, provider or description").fill("kitchen");
    await page.locator(".row .name", { hasText: /^Kettle Toolkit$/ }).click();
    await section.getByText("Never checked").waitFor();
    await section.getByRole("button", { name: "Check now" }).click();
    await section.getByRole("status").getByText("Verified").waitFor();
    await section.getByRole("button", { name: "Details" }).click();
    await section.getByText("1 redirect").waitFor();
    await section.getByText("not encrypted").waitFor();
    await section.getByText("Documents this tool", { exact: true }).waitFor();
    await section.getByText("from kettle_tools import KettleToolkit").first().waitFor();
    await page.screenshot({ path: join(artifacts, "28-browser-check.png") });

    await page.locator(".row .name", { hasText: "Lost Kettle Toolkit" }).click();
    await section.getByRole("button", { name: "Check now" }).click();
    await section.getByText("Page not found", { exact: true }).waitFor();
    await section.getByText(/Another page documents it/).waitFor();
    // The list updates without a reload.
    const lost = page.locator(".row", { hasText: "Lost Kettle Toolkit" });
    await lost.getByText("Broken", { exact: true }).waitFor();
    await section.getByRole("button", { name: "A proposal for this card is pending review" }).click();
    await page.getByRole("heading", { name: "Lost Kettle Toolkit" }).first().waitFor();
    assert.equal(autokit("cards", "list", "--health", "broken").rows[0].name, "Lost Kettle Toolkit");
  },

  async "checks what is selected and what is in view, and lets that wait"(page) {
    const web = services();
    await page.keyboard.press("Control+4");
    await page.keyboard.press("Escape");
    await page.getByLabel("Select Kettle Toolkit", { exact: true }).click();
    await page.getByLabel("Select Lost Kettle Toolkit").click({ modifiers: ["Shift"] });
    const bar = page.getByRole("toolbar", { name: "Selected cards" });
    await bar.getByText("2 cards selected").waitFor();
    await bar.getByRole("button", { name: "Check", exact: true }).click();
    await page.locator("footer .job", { hasText: "1 verified, 1 broken" }).waitFor();
    await page.getByLabel("Health", { exact: true }).selectOption("broken");
    await page.getByText(/^1 card of/).waitFor();
    await page.getByRole("button", { name: "Show all" }).click();

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
    await page.getByLabel("Filter by name, provider or description").fill("pantry");
    await page.getByText(/^12 cards of/).waitFor();
    await page.getByRole("button", { name: "Check shown" }).click();
    // A check must be running for the pause to wait for.
    await begun;
    await page.getByRole("button", { name: "Pause: Checking cards" }).click();
    await page.getByRole("button", { name: "Pausing: Checking cards" }).waitFor();
    release();
    await page.getByRole("button", { name: "Resume: Checking cards" }).click();
    await page.locator("footer .job", { hasText: "12 broken" }).waitFor();
  },

  async "keeps when cards are checked as soon as it is chosen"(page) {
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search commands and cards").fill("scheduled checks");
    await page.keyboard.press("Enter");
    const checks = page.locator("section[aria-labelledby=checks]");
    await checks.getByLabel("Check cards every").fill("14");
    await checks.getByText("Saved", { exact: true }).waitFor();
    // "Saved" may still be shown for the previous change.
    const kept = page.waitForResponse((answer) => answer.url().endsWith("/check_settings_set"));
    await checks.getByLabel("Check new cards").check();
    await kept;
    await checks.getByLabel("Check cards every").fill("often");
    await checks.getByText("Enter whole days").waitFor();
    assert.deepEqual(autokit("checks", "show"), { every_days: 14, new_cards: true });
  },
});
