// Bundles from another library: previewing, importing, and undoing an import.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  acceptSome,
  alert,
  button,
  checkbox,
  choice,
  filterBox,
  openGroup,
  recentJob,
  refused,
  runJob,
  section,
  status,
  tab,
  textbox,
} from "./parts.mjs";
import { ANY, counted, fieldName, pattern, texts } from "./texts.mjs";

/** Runs a command on the other library: Alice's, with keys of its own. */
function alice(folder, words, who = "Alice", keys = "alice") {
  const env = { ...process.env, AUTOKIT_AUTHOR: who, AUTOKIT_CONFIG_DIR: join(folder, keys) };
  const options = ["--data-dir", join(folder, `library-of-${keys}`), "--stand-in", "32"];
  const done = spawnSync(process.env.AUTOKIT_BIN, [...options, ...words], { encoding: "utf8", env });
  assert.equal(done.status, 0, `${who}: autokit ${words.join(" ")}: ${done.stderr}`);
}

/** Returns the numbers of cards by status in the import preview. */
const counts = (page) => page.getByRole("group", { name: texts.importing.showOnly, exact: true });

/** Opens the import preview of a path or address. */
async function look(page, place) {
  await page.keyboard.press("Control+4");
  await button(page, texts.common.importAsk).click();
  const box = textbox(page, texts.importing.place);
  await box.fill(place);
  await button(page.locator("form", { has: box }), texts.importing.look).click();
  await counts(page).waitFor();
}

/** Asserts what the import preview counts. */
async function shows(page, numbers) {
  const shown = await counts(page).getByRole("button").allInnerTexts();
  const { new: added, changed, conflicting, similar, identical, invalid } = texts.bundles.statuses;
  const names = [added, changed, conflicting, similar, identical, invalid].map(({ name }) => name);
  assert.deepEqual(
    shown.map((text) => text.replace(/\s+/g, " ").trim()),
    [texts.importing.all, ...names].map((name, at) => `${numbers[at]} ${name}`),
  );
}

/** Closes the preview, discarding any choices. */
async function leave(page, chosen = false) {
  await page.keyboard.press("Escape");
  if (chosen) await button(page, texts.importing.leaveYes).click();
  await counts(page).waitFor({ state: "detached" });
}

export const bundles = ({ autokit, call, artifacts, folder, judge, frames }) => {
  const at = (name) => join(folder, name);
  const show = (page, name) => page.screenshot({ path: join(artifacts, name) });
  const field = (name, key) => autokit("cards", "show", name).fields[key];
  const radio = (within, name) => choice(within, { name });
  const proposals = (page) => page.getByRole("list", { name: texts.review.queueItems, exact: true });
  const directly = (page) => choice(page, texts.importing.landings.library);
  /** Returns the choice to import directly, with the reason why it is not offered. */
  const barred = (page, { name }) =>
    choice(page, { ...texts.importing.landings.library, about: texts.importing.notWith(name.toLowerCase()) });
  const start = (page, cards) =>
    runJob(page, call, "imports_start", () => button(page, texts.importing.takeOver(cards)).click());
  /** The import with conflicts. */
  let second;

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
      await page.getByRole("heading", { name: texts.importing.importOf("Breakfast"), exact: true }).waitFor();
      // Invisible characters are made visible, and an unknown signer is not trusted.
      await page.getByText("Tested ‹U+202E›every‹U+202C› morning").waitFor();
      await page.getByText(texts.bundles.trust.new.name, { exact: true }).waitFor();
      await page.getByText(texts.bundles.trust.new.about, { exact: true }).waitFor();
      await shows(page, [3, 3, 0, 0, 0, 0, 0]);
      await button(page, texts.importing.propose(3)).waitFor();
      await directly(page).check();
      await show(page, "40-browser-bundle.png");
      const { title, tally } = await start(page, 3);
      assert.match(title, /\bBreakfast\b/);
      assert.equal(tally.added, 3);
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
      await page.getByText(texts.bundles.trust.known.name, { exact: true }).waitFor();
      await shows(page, [5, 1, 0, 2, 1, 1, 0]);

      // Keyboard only: filter the conflicts, go to the second one, exclude and include it again, and expand it.
      await page.keyboard.press("f");
      await page.keyboard.press("f");
      await page.getByText(texts.bundles.statuses.conflicting.about, { exact: true }).waitFor();
      const toaster = (checked) =>
        page.getByRole("checkbox", { name: texts.importing.take("Toaster"), exact: true, checked });
      await toaster().waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Space");
      await toaster(false).waitFor();
      await button(page, texts.importing.propose(3)).waitFor();
      await page.keyboard.press("Space");
      await toaster(true).waitFor();
      await page.keyboard.press("Enter");
      const conflict = (key) => page.getByRole("radiogroup", { name: fieldName(key), exact: true });
      const { review, mine, theirs } = texts.importing.resolutions;
      await radio(conflict("description"), theirs).check();
      // One field is decided; the other still goes to Review until it is decided as well.
      assert(await radio(conflict("pricing"), review).isChecked());
      await radio(conflict("pricing"), mine).check();
      await page.getByText(texts.importing.beforeBoth, { exact: true }).first().waitFor();
      await show(page, "41-browser-conflict.png");
      // Excludes the class, which only she changed, and confirms that her renamed card is one of ours.
      await checkbox(page, fieldName("class")).uncheck();
      await counts(page)
        .getByRole("button", { name: pattern`${texts.importing.all}$` })
        .click();
      await page.getByRole("button", { name: /^juicer!/ }).click();
      await radio(page, texts.importing.sameAsCard("Juicer"))
        .or(radio(page, texts.importing.sameAsCard("Breakfast / Juicer")))
        .check();

      // Closing asks for confirmation, as there are choices to lose.
      await page.keyboard.press("Escape");
      await page.getByText(texts.importing.leaveAbout(2), { exact: true }).waitFor();
      await page.keyboard.press("Escape");
      await directly(page).check();
      second = await start(page, 4);
      assert.match(second.title, /\bBreakfast\b/);
      assert(second.tally.proposed > 0, JSON.stringify(second));
      assert.deepEqual(
        ["description", "pricing", "class"].map((key) => field("Toaster", key)),
        ["Toasts bread on both sides.", "subscription", "Toaster"],
      );
      // This conflict is undecided: our value stays until it has been reviewed.
      assert.equal(field("Egg Timer", "class"), "EggWatch");
    },

    async "takes theirs in Review with one key"(page) {
      await button(await recentJob(page, second), texts.app.showInReview).click();
      await proposals(page).getByText("Egg Timer").click();
      await page.locator("#proposal-title", { hasText: "Egg Timer" }).waitFor();
      await page.getByText(texts.review.from("Alice")).waitFor();
      const dispute = page.getByRole("group", { name: texts.review.twoValues(fieldName("class")), exact: true });
      await dispute.getByText("EggWatch").waitFor();
      await dispute.getByText("EggClock").waitFor();
      await acceptSome(page, 0).waitFor();
      await page.keyboard.press("t");
      await button(page, texts.review.accept).waitFor();
      await page.keyboard.press("t");
      await button(page, texts.review.keepCard).waitFor();
      await page.keyboard.press("t");
      await show(page, "42-browser-dispute.png");
      await page.keyboard.press("a");
      await status(page, texts.review.acceptedWhole("Breakfast / Egg Timer")).waitFor();
      assert.equal(field("Egg Timer", "class"), "EggClock");
    },

    async "takes an import back with what was decided about it since"(page) {
      await page.keyboard.press("Control+4");
      await button(page, texts.library.bundles).click();
      const list = page.getByRole("list", { name: texts.bundles.imports, exact: true });
      await list.getByText("Breakfast").first().waitFor();
      await button(list, texts.bundles.undoImport("Breakfast")).first().click();
      await page.getByText(counted(texts.bundles.undoAbout)).waitFor();
      await show(page, "43-browser-imports.png");
      await button(page, texts.bundles.takeBackYes).click();
      await status(
        page,
        counted((n) => texts.bundles.takenBackSaid("Breakfast", n, 0)),
      ).waitFor();
      assert.equal(field("Egg Timer", "class"), "EggWatch");
      assert.equal(field("Toaster", "description"), "Toasts slices.");
      assert.equal(autokit("cards", "list", "--text", "Waffle").rows.length, 0);
      await page.keyboard.press("Escape");
    },

    async "warns of a bundle whose signature is missing or another one"(page) {
      alice(folder, ["bundle", "export", at("stripped.toolcards"), "--name", "Breakfast"]);
      await look(page, at("stripped.toolcards"));
      const { stripped, other_key, trusted } = texts.bundles.trust;
      await alert(page, stripped.name).waitFor();
      assert(await barred(page, stripped).isDisabled());
      await leave(page);
      alice(folder, ["providers", "keys", "--keep", "file"], "Alice", "mallory");
      alice(folder, ["import", at("alice.json")], "Alice", "mallory");
      alice(folder, ["bundle", "export", at("other.toolcards"), "--sign", "--name", "Breakfast"], "Alice", "mallory");
      await look(page, at("other.toolcards"));
      await page.getByRole("alert").getByText(other_key.name, { exact: true }).waitFor();
      assert(await barred(page, other_key).isDisabled());
      await show(page, "44-browser-other-key.png");
      await leave(page);
      // The user can trust a verified key and undo that in Settings.
      await look(page, at("two.toolcards"));
      await button(page, texts.bundles.trustAsk).click();
      await button(page, texts.bundles.trustYes).click();
      await page.getByText(trusted.name, { exact: true }).waitFor();
      await leave(page);
      await openGroup(page, "library");
      const keys = section(page, "bundles");
      await keys.getByText(texts.bundles.trusted, { exact: true }).waitFor();
      const trust = checkbox(keys, texts.bundles.trustKeyOf("Alice"));
      await trust.click();
      await keys.getByText(texts.bundles.seen, { exact: true }).waitFor();
      assert.equal(await trust.isChecked(), false);
    },

    async "looks again when the file changed after it was looked at"(page) {
      writeFileSync(at("moving.json"), JSON.stringify([{ name: "Whisk", description: "Whisks." }]));
      await look(page, at("moving.json"));
      await button(page, texts.importing.propose(1)).waitFor();
      writeFileSync(
        at("moving.json"),
        JSON.stringify([
          { name: "Whisk", description: "Whisks." },
          { name: "Bowl", description: "Holds." },
        ]),
      );
      await refused(page, "imports_start", "conflict", () => button(page, texts.importing.propose(1)).click());
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("alert").waitFor();
      await button(dialog, texts.common.lookAgain).click();
      await button(page, texts.importing.propose(2)).waitFor();
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
      await checkbox(page, texts.importing.take("many 15999")).uncheck();
      await button(page, texts.importing.propose(15_999)).waitFor();
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
      await filterBox(page).fill("breakfast");
      await page.getByText(pattern`^${counted((n) => texts.library.found(4, n))}`).waitFor();
      await button(page, texts.common.exportAsk).click();
      await radio(page, texts.exporting.cardsInView).waitFor();
      await alert(page, texts.exporting.secretsIn(1, 1)).waitFor();
      const dialog = page.getByRole("dialog");
      await textbox(dialog, texts.exporting.fileHere).fill(at("out.toolcards"));
      await textbox(dialog, texts.common.name).fill("Ours");
      const exports = counted((n) => texts.exporting.exportNow(n, false));
      assert(await dialog.getByRole("button", { name: pattern`^${exports}$` }).isDisabled());
      assert.equal(await dialog.getByText(key).count(), 0);
      await show(page, "46-browser-secrets.png");
      await button(dialog, texts.exporting.leaveOut("Leaky")).click();
      await button(dialog, texts.exporting.exportNow(3, false)).click();
      await status(page, pattern`${texts.exporting.writtenTo(3, ANY, ANY)}`).waitFor();
      assert(existsSync(at("out.toolcards")));

      await button(page, texts.common.exportAsk).click();
      await choice(dialog, texts.exporting.formats.csv).check();
      await button(dialog, texts.exporting.leaveOut("Leaky")).click();
      const file = page.waitForEvent("download");
      await button(dialog, texts.exporting.exportNow(3, false)).click();
      assert.equal((await file).suggestedFilename(), "toolcards.csv");
      await filterBox(page).fill("");
    },

    async "follows a bundle, says what failed, and lets it go"(page) {
      await button(page, texts.library.bundles).click();
      await tab(page, texts.bundles.subscriptions).click();
      await page.getByText(texts.bundles.noSubscriptions, { exact: true }).waitFor();
      await button(page, texts.bundles.subscribeAsk).click();
      await textbox(page, texts.bundles.place).fill(at("followed.json"));
      await button(page, texts.bundles.subscribe).click();
      await page.getByText("no such file or folder").waitFor();
      writeFileSync(at("followed.json"), "[]");
      await button(page, texts.bundles.subscribe).click();
      const list = page.getByRole("list", { name: texts.bundles.subscriptions, exact: true });
      await list.waitFor();
      rmSync(at("followed.json"));
      await button(page, texts.common.checkNow).click();
      // The words of the operating system.
      await list.getByText("No such file").waitFor();
      await list.getByText(texts.bundles.everyDay, { exact: true }).waitFor();
      await show(page, "47-browser-subscriptions.png");
      await button(page, texts.common.checkNow).waitFor();
      await list.getByRole("button", { name: pattern`^${texts.bundles.remove(ANY)}` }).click();
      await button(page, texts.bundles.unsubscribe).click();
      await page.getByText(texts.bundles.noSubscriptions, { exact: true }).waitFor();
      await page.keyboard.press("Escape");
    },
  };
};
