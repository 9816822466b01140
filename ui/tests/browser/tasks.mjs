// Ten tasks of somebody new, each done by the pointer and by the keyboard alone, with the actions that they take: a
// click, a press of a key or chord, or a text that is typed into a field counts as one.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fresh } from "./fresh.mjs";
import { button, choice, ended, openCard, region, status, textbox } from "./parts.mjs";
import { counted, pattern, texts } from "./texts.mjs";

/** Number of cards whose pages have more to say than the cards. */
const REPAIRS = 30;
const CALENDAR = "Create an event in Google Calendar";

/** Serves pages that document one kit each. */
async function kits() {
  const server = createServer((request, response) => {
    const [, n] = /^\/kit\/(\d+)$/.exec(request.url) ?? [];
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.statusCode = n ? 200 : 404;
    response.end(
      n &&
        `<!doctype html><title>Kit ${n}</title><main><h1>Kit ${n}</h1>
        <p>Kit ${n} counts the boxes in warehouse ${n}, and lets an agent order more of them.</p>
        <h2 id="use">Instantiation</h2>
        <pre><code class="language-python">from kit_${n} import Kit${n}\n\nkit = Kit${n}()</code></pre></main>`,
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Counts what a person does. */
class Hand {
  actions = 0;

  constructor(page) {
    this.page = page;
  }

  async click(control) {
    this.actions++;
    await control.click();
  }

  /** Presses a key or chord. What has the focus afterwards must be in view, if it is marked as focused. */
  async press(chord) {
    this.actions++;
    await this.page.keyboard.press(chord);
    const hidden = await this.page.evaluate(() => {
      const focused = document.activeElement;
      if (!focused?.matches(":focus-visible") || focused.matches("[tabindex='-1']")) return null;
      // A control that is not shown itself marks its label.
      const shown = focused.closest("label") ?? focused;
      const { top, left, bottom, right } = shown.getBoundingClientRect();
      const isInView = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
      return isInView && shown.checkVisibility({ visibilityProperty: true }) ? null : focused.outerHTML;
    });
    assert.equal(hidden, null, `after ${chord}, the focus is on what cannot be seen`);
  }

  /** Types into the field that has the focus. */
  async type(text) {
    this.actions++;
    await this.page.locator("input:focus, textarea:focus").waitFor();
    await this.page.keyboard.insertText(text);
  }

  /** Chooses a file that the browser downloads, and returns its text. */
  async downloads(work) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), work()]);
    return readFileSync(await download.path(), "utf8");
  }
}

const pane = (page, name) =>
  page
    .getByRole("navigation", { name: texts.app.rail, exact: true })
    .getByRole("button", { name: pattern`^${texts.app.panes[name]}` });
const dialog = (page, name) => page.getByRole("dialog", { name, exact: true });
const question = (page) => textbox(page, texts.ask.question);
const field = (page, name) => page.locator(`#edit-${name}`);
const answered = (page) => page.locator(".answer h1");
const acceptAll = (page) =>
  button(dialog(page, texts.review.acceptTogether.safe.title), texts.review.acceptProposals(REPAIRS));
const counts = (page) => page.getByRole("group", { name: texts.importing.showOnly, exact: true });
const exportNow = (page) => page.getByRole("button", { name: counted((n) => texts.exporting.exportNow(n, false)) });
const compared = (page) => dialog(page, texts.ask.compare).getByRole("table");

/**
 * The tasks in their order. Each starts in Ask, unless it goes on from the one before. `most` is the number of actions by
 * the pointer and by keys; `done` waits for the outcome.
 */
const TASKS = [
  {
    name: "Ask a question and copy its starter code",
    most: [3, 3],
    async byPointer({ hand, page }) {
      await hand.type(CALENDAR);
      await answered(page).waitFor();
      await hand.click(button(page, texts.ask.starterCode));
      await hand.click(button(page, texts.app.copyOf(texts.ask.theStarterCode)));
    },
    async byKeys({ hand, page }) {
      await hand.type(CALENDAR);
      await answered(page).waitFor();
      await hand.press("Control+Enter");
      await button(page, texts.app.copyOf(texts.ask.theStarterCode)).and(page.locator(":focus")).waitFor();
      await hand.press("Enter");
    },
    async done({ page, call }) {
      await button(page, texts.app.copiedOf(texts.ask.theStarterCode)).waitFor();
      const { candidates } = await call("answers_get", { question: CALENDAR, limit: 1 });
      const { code } = await call("cards_starter", { card: candidates[0].card.id });
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
    },
  },
  {
    name: `Accept ${REPAIRS} safe repairs after a preview`,
    most: [3, 3],
    async byPointer({ hand, page }) {
      await hand.click(pane(page, "review"));
      await hand.click(button(page, texts.review.acceptSafe));
      await hand.click(acceptAll(page));
    },
    async byKeys({ hand, page }) {
      await hand.press("Control+3");
      await page.locator("#proposal-title").waitFor();
      await hand.press("A");
      await acceptAll(page).and(page.locator(":focus")).waitFor();
      await hand.press("Enter");
    },
    async done({ page, call }) {
      await status(page, texts.review.acceptedTogether(REPAIRS)).waitFor();
      assert.equal((await call("proposals_list", { state: "pending" })).rows.length, 1);
    },
  },
  {
    name: "Connect an agent found on this machine",
    most: [3, 3],
    async byPointer({ hand, page }) {
      await hand.click(button(page, texts.ask.firstSteps.connectAction));
      await hand.click(button(page, texts.agents.connect("Cursor")));
      await hand.click(button(dialog(page, texts.agents.connect("Cursor")), texts.agents.changeTheFile));
    },
    async byKeys({ hand, page }) {
      await hand.press("Control+Shift+A");
      await button(page, texts.agents.connect("Cursor")).and(page.locator(":focus")).waitFor();
      await hand.press("Enter");
      const change = button(dialog(page, texts.agents.connect("Cursor")), texts.agents.changeTheFile);
      await change.and(page.locator(":focus")).waitFor();
      await hand.press("Enter");
    },
    async done({ page, home }) {
      await dialog(page, texts.agents.isConnected("Cursor")).waitFor();
      assert("autokit" in JSON.parse(readFileSync(join(home, ".cursor", "mcp.json"), "utf8")).mcpServers);
    },
  },
  {
    name: "Reject a proposal with a reason",
    most: [4, 4],
    async byPointer({ hand, page }) {
      await hand.click(pane(page, "review"));
      await hand.click(button(page, texts.review.rejectAsk));
      await hand.type("not ours");
      await hand.click(button(page, texts.review.reject));
    },
    async byKeys({ hand, page }) {
      await hand.press("Control+3");
      await page.locator("#proposal-title").waitFor();
      await hand.press("r");
      await hand.type("not ours");
      await hand.press("Enter");
    },
    async done({ page, call }) {
      await status(page, texts.review.rejectedToast("Abacus Kit")).waitFor();
      assert.equal((await call("proposals_list", { state: "pending" })).rows.length, 0);
    },
  },
  {
    name: "Undo that decision",
    goesOn: true,
    most: [1, 1],
    byPointer: ({ hand, page }) =>
      hand.click(button(status(page, texts.review.rejectedToast("Abacus Kit")), texts.common.undo)),
    byKeys: ({ hand }) => hand.press("u"),
    async done({ page, call }) {
      await status(page, texts.review.waitsAgain("Abacus Kit")).waitFor();
      assert.equal((await call("proposals_list", { state: "pending" })).rows.length, 1);
    },
  },
  {
    name: "Import a bundle, after a look at what it brings",
    most: [5, 4],
    async byPointer({ hand, page, bundle }) {
      await hand.click(pane(page, "library"));
      await hand.click(button(page, texts.common.importAsk));
      await hand.type(bundle);
      await hand.click(button(page, texts.importing.look).first());
      await counts(page)
        .getByRole("button", { name: pattern`^2 .*${texts.bundles.statuses.new.name}` })
        .waitFor();
      await hand.click(button(page, texts.importing.propose(2)));
    },
    async byKeys({ hand, page, bundle }) {
      await hand.press("Control+i");
      await hand.type(bundle);
      await hand.press("Enter");
      await counts(page)
        .getByRole("button", { name: pattern`^2 .*${texts.bundles.statuses.new.name}` })
        .waitFor();
      await hand.press("Control+Enter");
    },
    async done({ page, call }) {
      await counts(page).waitFor({ state: "detached" });
      const jobs = await call("jobs_list", {});
      await ended(page, call, jobs.filter(({ kind }) => kind === "import").at(-1).id);
      assert.equal((await call("proposals_list", { state: "pending" })).rows.length, 3);
    },
  },
  {
    name: "Export the library",
    most: [4, 4],
    async byPointer({ hand, page }) {
      await hand.click(pane(page, "library"));
      await hand.click(button(page, texts.common.exportAsk));
      await hand.click(choice(page, texts.exporting.formats.json));
      return hand.downloads(() => hand.click(exportNow(page)));
    },
    async byKeys({ hand, page }) {
      await hand.press("Control+e");
      await choice(page, texts.exporting.formats.bundle).and(page.locator(":focus")).waitFor();
      await hand.press("ArrowDown");
      await hand.press("ArrowDown");
      await exportNow(page).and(page.locator(":enabled")).waitFor();
      return hand.downloads(() => hand.press("Control+Enter"));
    },
    async done({ call, outcome }) {
      const { total } = await call("cards_list", { query: {}, offset: 0, limit: 0 });
      assert.equal(JSON.parse(outcome).length, total);
    },
  },
  {
    name: "Add a card by hand",
    most: [6, 6],
    async byPointer({ hand, page }) {
      await hand.click(pane(page, "library"));
      await hand.click(button(page, texts.common.add));
      await hand.type("Tea timer");
      await hand.click(field(page, "description"));
      await hand.type("Tells when the tea is ready.");
      await hand.click(button(page, texts.common.save));
    },
    async byKeys({ hand }) {
      await hand.press("Control+4");
      await hand.press("n");
      await hand.type("Tea timer");
      await hand.press("Tab");
      await hand.type("Tells when the tea is ready.");
      await hand.press("Control+Enter");
    },
    async done({ page, call }) {
      await openCard(page, "Tea timer").waitFor();
      const { rows } = await call("cards_list", { query: { text: "Tea timer" }, offset: 0, limit: 1 });
      const { fields } = await call("cards_get", { card: rows[0].id });
      assert.deepEqual([fields.name, fields.description], ["Tea timer", "Tells when the tea is ready."]);
    },
  },
  {
    name: "Find a card and check it against its page",
    most: [3, 4],
    async byPointer({ hand, page }) {
      await hand.type("Kit 7");
      await hand.click(button(page.locator(".answer"), "Kit 7"));
      await hand.click(button(page, texts.common.checkNow));
    },
    async byKeys({ hand, page }) {
      await hand.press("Control+k");
      await hand.type("Kit 7");
      await page.getByRole("option", { selected: true }).filter({ hasText: "Kit 7" }).waitFor();
      await hand.press("Enter");
      await openCard(page, "Kit 7").waitFor();
      await hand.press("c");
    },
    done: ({ page }) =>
      region(page, texts.checks.documentationCheck)
        .getByRole("status")
        .getByText(texts.checks.health.verified, { exact: true })
        .waitFor(),
  },
  {
    name: "Compare two candidates of an answer",
    most: [2, 5],
    async byPointer({ hand, page }) {
      await hand.type(CALENDAR);
      await hand.click(page.locator(".compare").first());
    },
    async byKeys({ hand, page }) {
      await hand.type(CALENDAR);
      await answered(page).waitFor();
      await hand.press("ArrowDown");
      await hand.press("ArrowDown");
      await hand.press("Tab");
      await hand.press("Enter");
    },
    done: ({ page }) => compared(page).getByRole("columnheader").nth(1).waitFor(),
  },
];

/** Puts what the tasks are about into a new library: an agent's settings, proposals, and a bundle to import. */
async function prepare(bin, folder, { home, call }, server) {
  const host = `127.0.0.1:${server.address().port}`;
  mkdirSync(join(home, ".cursor"), { recursive: true });
  const { settings } = await call("providers_get", {});
  await call("providers_set", { ...settings, network: { ...settings.network, allowed_hosts: [host] } });
  const job = async (name, request) => {
    const { job } = await call(name, request);
    for (let at = { version: 0, state: "running" }; at.state === "running";)
      at = await call("jobs_wait", { job, after: at.version });
  };
  for (let n = 0; n < REPAIRS; n++) {
    const fields = { name: `Kit ${n}`, provider: "Boxes", programming_language: "python" };
    const code = { module: `kit_${n}`, class: `Kit${n}`, documentation: `http://${host}/kit/${n}` };
    await call("cards_create", { fields: { ...fields, ...code }, reason: "", flagged_too: false });
  }
  const { rows } = await call("cards_list", { query: { provider: "Boxes" }, offset: 0, limit: 100 });
  await job("checks_start", { scope: { kind: "cards", cards: rows.map(({ id }) => id) }, improve: true, anew: false });
  await call("cards_describe", {
    text: "Abacus Kit is a library that counts beads. See https://docs.example.org/abacus.\n\n```python\nfrom abacus_kit import Abacus\n```\n",
  });

  const [cards, bundle] = [join(folder, "breakfast.json"), join(folder, "breakfast.toolcards")];
  writeFileSync(
    cards,
    JSON.stringify([
      { name: "Toaster", description: "Toasts." },
      { name: "Juicer", description: "Presses." },
    ]),
  );
  const env = { ...process.env, AUTOKIT_CONFIG_DIR: join(folder, "config-of-another") };
  for (const words of [
    ["import", cards],
    ["bundle", "export", bundle, "--name", "Breakfast"],
  ]) {
    const done = spawnSync(bin, ["--data-dir", join(folder, "another"), "--no-model", ...words], {
      env,
      encoding: "utf8",
    });
    assert.equal(done.status, 0, done.stderr);
  }
  return bundle;
}

export const tasks = ({ bin, folder }) => {
  /** Actions of each task, by the pointer and by keys. */
  const took = TASKS.map(() => []);

  /** Carries out all tasks in one way in a library of their own, and notes the actions. */
  async function carryOut(page, way) {
    const place = join(folder, `tasks-${way}`);
    const server = await kits();
    const window = await fresh(bin, place);
    const column = ["byPointer", "byKeys"].indexOf(way);
    const context = await page
      .context()
      .browser()
      .newContext({ viewport: { width: 1180, height: 780 } });
    try {
      const bundle = await prepare(bin, place, window, server);
      const { origin } = new URL(window.url);
      await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
      const own = await context.newPage();
      own.setDefaultTimeout(60_000);
      const strayed = [];
      await own.exposeFunction("strayed", (event) => strayed.push(event));
      if (way === "byKeys") {
        await own.addInitScript(() => {
          for (const event of ["pointerdown", "pointermove", "mousedown", "mousemove", "wheel"])
            addEventListener(event, () => window.strayed(event), { capture: true, passive: true });
        });
      }
      await own.goto(window.url);
      for (const [at, task] of TASKS.entries()) {
        if (!task.goesOn) {
          await own.reload();
          await question(own).and(own.locator(":focus")).waitFor();
        }
        const given = { ...window, page: own, bundle, hand: new Hand(own) };
        const outcome = await task[way](given);
        await task.done({ ...given, outcome });
        took[at][column] = given.hand.actions;
      }
      assert.deepEqual(strayed, [], "the pointer was used");
    } finally {
      await context.close();
      await window.close();
      server.close();
    }
    for (const [at, { name, most }] of TASKS.entries())
      assert(took[at][column] <= most[column], `${name} took ${took[at][column]} actions`);
  }

  return {
    "does ten tasks by the pointer": (page) => carryOut(page, "byPointer"),

    async "does ten tasks by the keyboard alone"(page) {
      await carryOut(page, "byKeys");
      const width = Math.max(...TASKS.map(({ name }) => name.length));
      console.log(`    ${"Task".padEnd(width)}  pointer  keys`);
      for (const [at, { name }] of TASKS.entries()) {
        const [pointer, keys] = took[at].map((actions) => String(actions ?? "-"));
        console.log(`    ${name.padEnd(width)}  ${(pointer ?? "-").padStart(7)}  ${keys.padStart(4)}`);
      }
    },
  };
};
