// Bundles from another library: previewing, importing, and undoing an import.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Runs a command on the other library: Alice's, with keys of its own. */
function alice(folder, words, who = "Alice", keys = "alice") {
  const env = { ...process.env, AUTOKIT_AUTHOR: who, AUTOKIT_CONFIG_DIR: join(folder, keys) };
  const options = ["--data-dir", join(folder, `library-of-${keys}`), "--stand-in", "32"];
  const done = spawnSync(process.env.AUTOKIT_BIN, [...options, ...words], { encoding: "utf8", env });
  assert.equal(done.status, 0, `${who}: autokit ${words.join(" ")}: ${done.stderr}`);
}

/** Opens the import preview of a path or address. */
async function look(page, place) {
  await page.keyboard.press("Control+4");
  await page.getByRole("button", { name: "Import…" }).click();
  const source = page.locator("form", { has: page.getByLabel("URL or path") });
  await source.getByLabel("URL or path").fill(place);
  await source.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("group", { name: "Filter", exact: true }).waitFor();
}

const counts = (page) =>
  page
    .getByRole("group", { name: "Filter", exact: true })
    .getByRole("button")
    .allInnerTexts()
    .then((all) => all.map((text) => text.replace(/\s+/g, " ").trim()));

/** Closes the preview, discarding any choices. */
async function leave(page, chosen = false) {
  await page.keyboard.press("Escape");
  if (chosen) await page.getByRole("button", { name: "Discard choices" }).click();
  await page.getByRole("group", { name: "Filter", exact: true }).waitFor({ state: "detached" });
}

export const bundles = ({ autokit, artifacts, folder, judge, frames }) => {
  const at = (name) => join(folder, name);
  const show = (page, name) => page.screenshot({ path: join(artifacts, name) });
  const field = (name, key) => autokit("cards", "show", name).fields[key];

  return {
    async "previews a signed bundle and takes it over at once"(page) {
      writeFileSync(
        at("alice.json"),
        JSON.stringify([
          {
            name: "Toaster",
            provider: "Breakfast",
            description: "Toasts bread.",
            class: "Toaster",
            module: "toast",
            pricing: "free",
          },
          { name: "Egg Timer", provider: "Breakfast", description: "Times eggs.", class: "Timer", module: "eggs" },
          { name: "Juicer", provider: "Breakfast", description: "Presses oranges." },
        ]),
      );
      alice(folder, ["providers", "keys", "--keep", "file"]);
      alice(folder, ["import", at("alice.json")]);
      alice(folder, [
        "bundle",
        "export",
        at("one.toolcards"),
        "--history",
        "--sign",
        "--name",
        "Breakfast",
        "--licence",
        "MIT",
        "--note",
        "Tested \u202eevery\u202c morning",
      ]);
      await look(page, at("one.toolcards"));
      await page.getByRole("heading", { name: "Import “Breakfast”" }).waitFor();
      // Invisible characters are made visible, and an unknown signer is not trusted.
      await page.getByText("Tested ‹U+202E›every‹U+202C› morning").waitFor();
      await page.getByText("Signed by a new key").waitFor();
      await page.getByText("Verify the fingerprint").waitFor();
      assert.deepEqual(await counts(page), [
        "3 All",
        "3 New",
        "0 Changed",
        "0 Conflicting",
        "0 Possible duplicate",
        "0 Identical",
        "0 Invalid",
      ]);
      await page.getByRole("button", { name: "Propose 3 cards" }).waitFor();
      await page.getByText("Import directly").click();
      await show(page, "40-browser-bundle.png");
      await page.getByRole("button", { name: "Import 3 cards" }).click();
      await page.locator("footer .job", { hasText: "Importing Breakfast: 3 added" }).waitFor();
      assert.equal(field("Toaster", "pricing"), "free");
    },

    async "settles conflicts field by field, by keys and by hand"(page) {
      alice(folder, [
        "cards",
        "edit",
        "Toaster",
        "--set",
        "description=Toasts bread on both sides.",
        "--set",
        "pricing=paid",
        "--set",
        "class=BothSides",
      ]);
      alice(folder, ["cards", "edit", "Egg Timer", "--set", "class=EggClock"]);
      writeFileSync(
        at("more.json"),
        JSON.stringify([
          { name: "Waffle Iron", provider: "Breakfast", description: "Bakes." },
          { name: "juicer!", provider: "Breakfast", description: "Presses." },
        ]),
      );
      alice(folder, ["import", at("more.json")]);
      alice(folder, ["bundle", "export", at("two.toolcards"), "--history", "--sign", "--name", "Breakfast"]);
      autokit("cards", "edit", "Toaster", "--set", "description=Toasts slices.", "--set", "pricing=subscription");
      autokit("cards", "edit", "Egg Timer", "--set", "class=EggWatch");
      await look(page, at("two.toolcards"));
      await page.getByText("Signed by a key seen before").waitFor();
      assert.deepEqual(await counts(page), [
        "5 All",
        "1 New",
        "0 Changed",
        "2 Conflicting",
        "1 Possible duplicate",
        "1 Identical",
        "0 Invalid",
      ]);

      // Keyboard only: filter the conflicts, go to the second one, exclude and include it again, and expand it.
      await page.keyboard.press("f");
      await page.keyboard.press("f");
      await page.getByText("Both libraries changed the same field").waitFor();
      const toaster = page.getByRole("checkbox", { name: "Import Toaster", exact: true });
      await toaster.waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Space");
      await page.getByRole("checkbox", { name: "Import Toaster", exact: true, checked: false }).waitFor();
      await page.getByRole("button", { name: "Propose 3 cards" }).waitFor();
      await page.keyboard.press("Space");
      await page.getByRole("checkbox", { name: "Import Toaster", exact: true, checked: true }).waitFor();
      await page.keyboard.press("Enter");
      const words = page.getByRole("radiogroup", { name: "Description" });
      const price = page.getByRole("radiogroup", { name: "Pricing" });
      await words.getByText("Use theirs").click();
      // One field is decided; the other still goes to Review until it is decided as well.
      assert(await price.getByLabel("Decide in Review").isChecked());
      await price.getByText("Keep mine").click();
      await page.getByText("Base", { exact: true }).first().waitFor();
      await show(page, "41-browser-conflict.png");
      // Excludes the class, which only she changed, and confirms that her renamed card is one of ours.
      await page.getByRole("checkbox", { name: "Class" }).uncheck();
      await page.getByRole("button", { name: /All$/ }).click();
      await page.getByRole("button", { name: /^juicer!/ }).click();
      await page.getByText("Same as Juicer").or(page.getByText("Same as Breakfast / Juicer")).click();

      // Closing asks for confirmation, as there are choices to lose.
      await page.keyboard.press("Escape");
      await page.getByText("You made choices for 2 cards").waitFor();
      await page.keyboard.press("Escape");
      await page.getByText("Import directly").click();
      await page.getByRole("button", { name: "Import 4 cards" }).click();
      await page.locator("footer .job", { hasText: /Importing Breakfast: .*pending review/ }).waitFor();
      assert.deepEqual(
        ["description", "pricing", "class"].map((key) => field("Toaster", key)),
        ["Toasts bread on both sides.", "subscription", "Toaster"],
      );
      // This conflict is undecided: our value stays until it has been reviewed.
      assert.equal(field("Egg Timer", "class"), "EggWatch");
    },

    async "takes theirs in Review with one key"(page) {
      await page
        .locator("footer .job", { hasText: /Importing Breakfast: .*pending review/ })
        .getByRole("button", { name: "Show in Review" })
        .click();
      await page.getByRole("list", { name: "Proposals" }).getByText("Egg Timer").click();
      await page.locator("#proposal-title", { hasText: "Egg Timer" }).waitFor();
      await page.getByText("From Alice’s library").waitFor();
      const dispute = page.getByRole("group", { name: "Class: conflicting values" });
      await dispute.getByText("EggWatch").waitFor();
      await dispute.getByText("EggClock").waitFor();
      await page.getByRole("button", { name: /^Accept 0 of/ }).waitFor();
      await page.keyboard.press("t");
      await page.getByRole("button", { name: "Accept", exact: true }).waitFor();
      await page.keyboard.press("t");
      await page.getByRole("button", { name: "Keep the card as it is" }).waitFor();
      await page.keyboard.press("t");
      await show(page, "42-browser-dispute.png");
      await page.keyboard.press("a");
      await page.getByText("Accepted Breakfast / Egg Timer").waitFor();
      assert.equal(field("Egg Timer", "class"), "EggClock");
    },

    async "takes an import back with what was decided about it since"(page) {
      await page.keyboard.press("Control+4");
      await page.getByRole("button", { name: "Bundles…" }).click();
      const list = page.getByRole("list", { name: "Imports" });
      await list.getByText("Breakfast").first().waitFor();
      await page.getByRole("button", { name: "Undo the import of Breakfast" }).first().click();
      await page.getByText("Cards edited by hand since are kept.").waitFor();
      await show(page, "43-browser-imports.png");
      await page.getByRole("button", { name: "Undo import" }).click();
      await page.getByText("Undid the import of Breakfast").waitFor();
      assert.equal(field("Egg Timer", "class"), "EggWatch");
      assert.equal(field("Toaster", "description"), "Toasts slices.");
      assert.equal(autokit("cards", "list", "--text", "Waffle").rows.length, 0);
      await page.keyboard.press("Escape");
    },

    async "warns of a bundle whose signature is missing or another one"(page) {
      alice(folder, ["bundle", "export", at("stripped.toolcards"), "--name", "Breakfast"]);
      await look(page, at("stripped.toolcards"));
      await page.getByRole("alert").getByText("Signature missing").waitFor();
      assert(await page.getByRole("radio", { name: /Import directly/ }).isDisabled());
      await leave(page);
      alice(folder, ["providers", "keys", "--keep", "file"], "Alice", "mallory");
      alice(folder, ["import", at("alice.json")], "Alice", "mallory");
      alice(folder, ["bundle", "export", at("other.toolcards"), "--sign", "--name", "Breakfast"], "Alice", "mallory");
      await look(page, at("other.toolcards"));
      await page.getByRole("alert").getByText("Signed by a different key", { exact: true }).waitFor();
      assert(await page.getByRole("radio", { name: /Import directly/ }).isDisabled());
      await show(page, "44-browser-other-key.png");
      await leave(page);
      // The user can trust a verified key and undo that in Settings.
      await look(page, at("two.toolcards"));
      await page.getByRole("button", { name: "Trust this key…" }).click();
      await page.getByRole("button", { name: "I verified it, trust this key" }).click();
      await page.getByText("Signed by a key you trust").waitFor();
      await leave(page);
      await page.keyboard.press("Control+6");
      const keys = page.locator("section[aria-labelledby=bundles]");
      await keys.getByText("trusted", { exact: true }).waitFor();
      await keys.getByRole("checkbox", { name: "Trust the key of Alice" }).click();
      await keys.getByText("seen", { exact: true }).waitFor();
      assert.equal(await keys.getByRole("checkbox", { name: "Trust the key of Alice" }).isChecked(), false);
    },

    async "looks again when the file changed after it was looked at"(page) {
      writeFileSync(at("moving.json"), JSON.stringify([{ name: "Whisk", description: "Whisks." }]));
      await look(page, at("moving.json"));
      await page.getByRole("button", { name: "Propose 1 card" }).waitFor();
      writeFileSync(
        at("moving.json"),
        JSON.stringify([
          { name: "Whisk", description: "Whisks." },
          { name: "Bowl", description: "Holds." },
        ]),
      );
      await page.getByRole("button", { name: "Propose 1 card" }).click();
      await page.getByRole("alert").getByText("changed after the preview").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Refresh" }).click();
      await page.getByRole("button", { name: "Propose 2 cards" }).waitFor();
      await leave(page);
    },

    async "scrolls a preview of 16,000 cards with at most 1 % of frames over 50 ms"(page) {
      const many = Array.from({ length: 16_000 }, (_, index) => ({
        name: `many ${index}`,
        provider: "Many",
        description: `Number ${index}.`,
      }));
      many[0].name = "user\u202enimda";
      writeFileSync(at("many.json"), JSON.stringify(many));
      await look(page, at("many.json"));
      await page.getByText("user‹U+202E›nimda").waitFor();
      await judge(page, await page.evaluate(frames, 4000));
      await page.waitForFunction(() => !document.querySelector("[role=dialog] .blank"));
      await page.keyboard.press("End");
      await page.getByRole("checkbox", { name: "Import many 15999", exact: true }).uncheck();
      await page.getByRole("button", { name: "Propose 15,999 cards" }).waitFor();
      await show(page, "45-browser-bundle-16000.png");
      await leave(page, true);
    },

    async "exports nothing with a secret in it, and a signed bundle without"(page) {
      // Split, so that secret scanners do not report this file.
      const key = ["AKIA", "Q3V7ZK2M9XWB4TRP"].join("");
      autokit(
        "cards",
        "add",
        "--set",
        "name=Leaky",
        "--set",
        "provider=Breakfast",
        "--set",
        `description=Call it with ${key} as the key`,
      );
      await page.keyboard.press("Control+4");
      await page.getByLabel("Filter by name, provider or description").fill("breakfast");
      await page.getByText(/^4 cards of/).waitFor();
      await page.getByRole("button", { name: "Export…" }).click();
      await page.getByRole("radio", { name: "Cards in view" }).waitFor();
      await page.getByRole("alert").getByText("1 secret found in 1 card").waitFor();
      await page.getByLabel("File on this machine").fill(at("out.toolcards"));
      await page.getByLabel("Name", { exact: true }).fill("Ours");
      const button = page.getByRole("button", { name: /^Export \d+ cards/ });
      assert(await button.isDisabled());
      assert.equal(await page.getByRole("dialog").getByText(key).count(), 0);
      await show(page, "46-browser-secrets.png");
      await page.getByRole("button", { name: "Exclude Leaky" }).click();
      await page.getByRole("button", { name: "Export 3 cards" }).click();
      await page.getByText(/Exported 3 cards to .*signed with your key/).waitFor();
      assert(existsSync(at("out.toolcards")));

      await page.getByRole("button", { name: "Export…" }).click();
      await page.getByText("A table for spreadsheets").click();
      await page.getByRole("button", { name: "Exclude Leaky" }).click();
      const file = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export 3 cards" }).click();
      assert.equal((await file).suggestedFilename(), "toolcards.csv");
      await page.getByLabel("Filter by name, provider or description").fill("");
    },

    async "follows a bundle, says what failed, and lets it go"(page) {
      await page.getByRole("button", { name: "Bundles…" }).click();
      await page.getByText("Subscriptions", { exact: true }).click();
      await page.getByText("No subscriptions yet").waitFor();
      await page.getByRole("button", { name: "Subscribe to a bundle…" }).click();
      await page.getByLabel("URL, file or folder").fill(at("gone.toolcards"));
      await page.getByRole("button", { name: "Subscribe", exact: true }).click();
      const list = page.getByRole("list", { name: "Subscriptions" });
      await list.getByText("No such file").waitFor();
      await list.getByText("every day").waitFor();
      await show(page, "47-browser-subscriptions.png");
      await page.getByRole("button", { name: "Check now" }).waitFor();
      await list.getByRole("button", { name: /^Remove/ }).click();
      await page.getByRole("button", { name: "Unsubscribe", exact: true }).click();
      await page.getByText("No subscriptions yet").waitFor();
      await page.keyboard.press("Escape");
    },
  };
};
