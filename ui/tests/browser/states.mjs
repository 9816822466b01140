// Accessibility of what is seldom seen: the first start, an empty library, what fails and what loads, confirmations and
// forms, in windows of their own. Where the focus goes in each dialog is tested as well.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "./axe.mjs";
import { fresh } from "./fresh.mjs";
import { button, checkbox, openCard, openGroup, section, segment, status, textbox, typeInPalette } from "./parts.mjs";
import { pattern, texts } from "./texts.mjs";

const SIZE = { width: 1180, height: 780 };
const SHOWN = "2026-01-02T03:04:05Z";

/** What lists in Settings and elsewhere show, by the command that reads it. */
const LISTS = {
  servers_list: null,
  market_sources_list: [{ id: "one", kind: "registry", url: "https://registry.example.org" }],
  api_keys_list: [
    {
      origin: "https://api.example.org",
      scheme: "key",
      place: "header",
      sort: "api_key",
      here: true,
      operations: 2,
      token_url: null,
    },
  ],
  bundle_keys_list: {
    own: null,
    own_fingerprint: null,
    known: [
      {
        key: "a1",
        fingerprint: "1f2e 3d4c 5b6a 7988",
        signers: ["Alice"],
        authors: ["Alice"],
        trusted: false,
        first_seen: SHOWN,
      },
    ],
  },
  subscriptions_list: [
    {
      id: "one",
      source: { url: "https://example.org/team.toolcards" },
      every_hours: 24,
      landing: "review",
      name: "Team",
      checked_at: SHOWN,
      digest: null,
      key: null,
      failed: null,
    },
  ],
  memory_list: {
    sources: [
      {
        id: "one",
        kind: "documents",
        location: "/home/me/handbook",
        added_at: SHOWN,
        read_at: SHOWN,
        files: 3,
        passages: 12,
        embedded: 12,
        problem: null,
        problems: [],
      },
    ],
  },
  teams_list: [
    {
      id: "kitchen",
      name: "The kitchen",
      server: "wss://teams.example.org",
      member: "ann",
      folder: "/home/me/library/teams/kitchen",
    },
  ],
  teams_unsent: { cards: 2 },
  personalization_get: {
    enabled: true,
    needed: 20,
    profiles: [{ profile: "Everyone", state: "collecting", questions: 3, ratings: 1, calls: 2, edits: 0 }],
  },
};

export const states = ({ bin, folder }) => {
  let windows = 0;
  let found = [];
  const state = async (page, name) => found.push(...(await inspect(page, name)));
  const dialog = (page) => page.getByRole("dialog").last();
  const question = (page) => textbox(page, texts.ask.question);
  const queue = (page) => page.getByRole("list", { name: texts.review.queueItems, exact: true });

  /** Makes a test of work in a window on a library of its own, which fails after all states were visited. */
  const within = (flags, work) => async (page) => {
    found = [];
    const place = join(folder, `states-${++windows}`);
    mkdirSync(place, { recursive: true });
    const window = await fresh(bin, place, flags);
    const own = await page.context().browser().newPage({ viewport: SIZE });
    try {
      own.setDefaultTimeout(60_000);
      await own.goto(window.url);
      await work(own, window);
    } finally {
      await own.close();
      await window.close();
    }
    assert.equal(found.join("\n"), "");
  };

  /** Answers commands as given instead of by the engine. */
  const answer = async (page, answers) => {
    for (const [command, json] of Object.entries(answers))
      if (json) await page.route(`**/v1/call/${command}`, (route) => route.fulfill({ json }));
  };

  const focusIsInDialog = () => [...document.querySelectorAll("[role=dialog]")].at(-1).contains(document.activeElement);

  /** Opens a dialog by a control and a key, looks at where the focus is in it and at what axe finds, and closes it. */
  async function visit(page, name, opener, { key = "Enter", look = state } = {}) {
    await opener.focus();
    await page.keyboard.press(key);
    await dialog(page).waitFor();
    await page.waitForFunction(focusIsInDialog);
    const [tag, isClose] = await page.evaluate(() => {
      const focused = document.activeElement;
      return [focused.outerHTML.slice(0, 120), focused.matches(".dialog-close")];
    });
    assert(!isClose, `${name}: the focus starts at the button that closes the dialog`);
    await look(page, name);
    // One more than there is to go to, in both directions.
    const stops = await dialog(page).locator("button, a, input, select, textarea, summary, [tabindex]").count();
    for (const tab of ["Tab", "Shift+Tab"]) {
      for (let at = 0; at <= Math.min(stops, 12); at++) {
        await page.keyboard.press(tab);
        assert(await page.evaluate(focusIsInDialog), `${name}: ${tab} leaves the dialog, which started at ${tag}`);
      }
    }
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    const element = await opener.elementHandle();
    await page.waitForFunction((element) => element === document.activeElement, element);
  }

  return {
    "has no accessibility violations on the first start, with the model missing": within(
      ["--starter"],
      async (page, { call }) => {
        await page.getByRole("heading", { name: texts.ask.firstSteps.title, exact: true }).waitFor();
        await page.locator(".answer h1").waitFor();
        assert.equal((await call("status_get", {})).model_state, "missing");
        await button(page, texts.ask.downloadModel).waitFor();
        await state(page, "First start");
      },
    ),

    "has no accessibility violations in an empty library": within(["--no-model"], async (page) => {
      await page.getByRole("heading", { name: texts.ask.empty, exact: true }).waitFor();
      await state(page, "Ask, no cards");
      await page.keyboard.press("Control+3");
      await page.getByRole("heading", { name: texts.review.empty, exact: true }).waitFor();
      await state(page, "Review, no cards");
      await page.keyboard.press("Control+4");
      await page.locator(".list").getByText(texts.library.empty, { exact: true }).waitFor();
      await state(page, "Library, no cards");
      await page.keyboard.press("Control+5");
      await page.getByRole("heading", { name: texts.activity.nothing(30), exact: true }).waitFor();
      await state(page, "Activity, nothing");
      await page.keyboard.press("Control+2");
      for (const where of Object.values(texts.discover.where)) {
        await segment(page, texts.discover.whereToLook, where).click();
        await page.getByText(texts.common.reading, { exact: true }).first().waitFor({ state: "hidden" });
        await state(page, `Discover, ${where}, nothing`);
      }
    }),

    "has no accessibility violations where things fail or load": within(["--starter", "--no-model"], async (page) => {
      /** Commands that a pane reads first. */
      const panes = [
        { name: "ask", key: "1", reads: "answers_get" },
        { name: "discover", key: "2", reads: "memory_list" },
        { name: "review", key: "3", reads: "proposals_list" },
        { name: "library", key: "4", reads: "cards_list" },
        { name: "activity", key: "5", reads: "activity_get" },
        { name: "settings", key: "6", reads: "clients_list" },
      ];
      const open = async (pane) => {
        await page.reload();
        await question(page).waitFor();
        await page.keyboard.press(`Control+${pane.key}`);
        if (pane.name === "ask") await question(page).fill("create an event in a calendar");
        if (pane.name === "discover")
          await segment(page, texts.discover.whereToLook, texts.discover.where.documents).click();
        if (pane.name === "settings") await openGroup(page, "agents");
      };
      const isNeeded = (url) => /(status_get|jobs_list|approvals_wait)$/.test(url);
      const failure = {
        code: "internal",
        message:
          "the library at /home/me/Library/Application Support/autokit/library cannot be read: permission denied",
        remedy: "Check who may read the folder, and try again.",
      };
      const held = [];
      const works = {
        loading: (route) => new Promise((done) => held.push(() => done(route.abort()))),
        failed: (route) => route.fulfill({ status: 500, json: failure }),
      };
      for (const [kind, work] of Object.entries(works)) {
        const handler = (route) => (isNeeded(route.request().url()) ? route.continue() : work(route));
        await page.route("**/v1/call/*", handler);
        for (const pane of panes) {
          await Promise.all([page.waitForRequest(`**/v1/call/${pane.reads}`), open(pane)]);
          if (kind === "failed") await page.getByRole("alert").first().waitFor();
          await state(page, `${texts.app.panes[pane.name]}, ${kind}`);
          for (const go of held.splice(0)) go();
        }
        await page.unroute("**/v1/call/*", handler);
      }
    }),

    "has no accessibility violations in what is done with an answer": within(
      ["--starter", "--no-model"],
      async (page) => {
        await question(page).fill("current and historical currency exchange rates");
        await page.locator(".answer h1").waitFor();
        await page.keyboard.press("Control+Enter");
        await button(page, texts.app.copyOf(texts.ask.theStarterCode)).and(page.locator(":focus")).waitFor();
        await state(page, "Starter code");
        await button(page, texts.ask.tryIt).click();
        await page.locator(".opened form").waitFor();
        await state(page, "Try it");
        await visit(page, "Compare", page.locator(".compare").first());
        const release = [];
        await page.route(
          "**/v1/call/cards_get",
          (route) => new Promise((done) => release.push(() => done(route.continue()))),
        );
        await page.locator(".compare").nth(1).click();
        await status(dialog(page), texts.common.reading).waitFor();
        await state(page, "Compare, loading");
        for (const go of release) go();
        await page.unroute("**/v1/call/cards_get");
        await page.keyboard.press("Escape");
        await dialog(page).waitFor({ state: "detached" });
      },
    ),

    "has no accessibility violations where several proposals are decided": within(
      ["--no-model"],
      async (page, { call }) => {
        for (const n of [1, 2, 3]) {
          await call("cards_describe", {
            text: `Abacus ${n} is a library that counts beads. See https://docs.example.org/abacus/${n}.\n\n\`\`\`python\nfrom abacus_${n} import Abacus\n\`\`\`\n`,
          });
        }
        // Repairs of addresses need pages that are reached over https.
        await page.route("**/v1/call/proposals_list", async (route) => {
          const json = await (await route.fetch()).json();
          await route.fulfill({ json: { ...json, rows: json.rows.map((row) => ({ ...row, origin: "repair" })) } });
        });
        await page.keyboard.press("Control+3");
        await page.locator("#proposal-title").waitFor();
        await visit(page, "Accepting low-risk proposals", button(page, texts.review.acceptSafe));
        await visit(page, "Accepting link repairs, none", button(page, texts.review.acceptRepairs));
        await checkbox(queue(page), texts.review.selectGroup("New card")).check();
        await page.getByRole("group", { name: texts.review.selected(3), exact: true }).waitFor();
        await state(page, "Review, several selected");
        const bar = page.getByRole("group", { name: texts.review.selected(3), exact: true });
        await visit(page, "Accepting selected proposals", button(bar, texts.review.acceptAsk));
        await visit(page, "Rejecting selected proposals", button(bar, texts.review.rejectAsk));
        await button(bar, texts.review.clearSelection).click();
        await bar.waitFor({ state: "detached" });
        await page.keyboard.press("r");
        await textbox(page, texts.review.why).fill("no");
        await page.keyboard.press("Enter");
        const rejected = status(page, texts.review.rejectedToast("Abacus 3"));
        // It stays while the pointer is on it.
        await rejected.hover();
        await state(page, "A decision that can be undone");
      },
    ),

    "has no accessibility violations in changes that can be undone and redone": within(
      ["--starter", "--no-model"],
      async (page) => {
        await typeInPalette(page, "Wikipedia");
        await page
          .getByRole("option", { name: /Wikipedia/ })
          .first()
          .click();
        await openCard(page, "Wikipedia").waitFor();
        await button(page, texts.common.remove).click();
        const removed = status(page, texts.card.removed("Wikipedia"));
        // It stays while the pointer is on it.
        await removed.hover();
        await state(page, "A change that can be undone");
        await button(removed, texts.common.undo).click();
        await status(page, texts.app.undone("Removed", 0)).hover();
        await state(page, "A change that can be redone");
      },
    ),

    "has no accessibility violations in confirmations, which take and return the focus": within(
      ["--starter", "--no-model"],
      async (page, { call }) => {
        const { settings } = await call("providers_get", {});
        await call("providers_set", { ...settings, keep: "file" });
        const everybody = (await call("profiles_list", {})).profiles[0];
        await call("profiles_set", { ...everybody, name: "reviewer", about: "Reads only" });
        await call("mcp_http_set", { enabled: true, port: null });
        await call("servers_add", {
          name: "Files",
          reach: { transport: "stdio", command: "no-such-program", args: [], folder: "" },
          secrets: {},
          trusted: false,
        });
        await answer(page, LISTS);
        await page.reload();
        await question(page).waitFor();

        await openGroup(page, "agents");
        const agents = section(page, "agents");
        await visit(page, "Replacing a token", button(agents, texts.agents.renewAsk));
        const servers = section(page, "servers");
        await visit(page, "Removing a server", button(servers, texts.servers.remove("Files")));
        const market = section(page, "market");
        await visit(page, "Removing a source", button(market, texts.market.remove("registry.example.org")));
        const rules = section(page, "permissions");
        await rules.getByRole("radio", { name: /^reviewer/ }).check();
        await visit(page, "Removing a profile", button(rules, texts.permissions.removeProfile("reviewer")));
        const keys = section(page, "apiKeys");
        await visit(
          page,
          "Removing a key",
          keys.getByRole("button", { name: pattern`^${texts.keys.removeKey("")}` }).first(),
        );
        await openGroup(page, "library");
        const personal = section(page, "personalization");
        await visit(page, "Forgetting what was learned", button(personal, texts.personalization.resetOf("Everyone")));
        const signing = section(page, "bundles");
        await visit(page, "Trusting a key", checkbox(signing, texts.bundles.trustKeyOf("Alice")), { key: "Space" });
        await visit(page, "Forgetting a key", button(signing, texts.bundles.forgetKeyOf("Alice")));
        await openGroup(page, "team");
        const teams = section(page, "team");
        await visit(page, "Leaving a team", button(teams, texts.team.leaveOf("The kitchen")));
        await visit(page, "Joining a team", button(teams, texts.team.joinAsk));
        await visit(page, "Creating a team", button(teams, texts.team.createAsk));
        await openGroup(page, "advanced");
        const limits = section(page, "sessions");
        await visit(page, "Resetting the limits", button(limits, texts.sessions.resetAll));
        await page.keyboard.press("Control+2");
        await segment(page, texts.discover.whereToLook, texts.discover.where.documents).click();
        await visit(page, "Removing documents", button(page, texts.memory.remove("/home/me/handbook")));
      },
    ),

    "has no accessibility violations in forms that a button opens, which take and return the focus": within(
      ["--starter", "--no-model"],
      async (page) => {
        await answer(page, { ...LISTS, api_keys_list: [], market_sources_list: [], personalization_get: null });
        await page.reload();
        await question(page).waitFor();
        await openGroup(page, "agents");
        /** Opens a form by a button, looks at it, and cancels it. */
        const form = async (name, within, opener, label) => {
          await opener.focus();
          await page.keyboard.press("Enter");
          const opened = within.getByRole("form", { name: label, exact: true });
          await opened.locator(":focus").waitFor();
          await state(page, name);
          await button(opened, texts.common.cancel).focus();
          await page.keyboard.press("Enter");
          await opener.and(page.locator(":focus")).waitFor();
        };
        const servers = section(page, "servers");
        await form("A new server", servers, button(servers, texts.servers.addAsk), texts.servers.add);
        const market = section(page, "market");
        await form("A new source", market, button(market, texts.market.addSourceAsk), texts.market.addSourceForm);
        const rules = section(page, "permissions");
        await form(
          "A new profile",
          rules,
          button(rules, texts.permissions.addProfileAsk),
          texts.permissions.addProfile,
        );
        const keys = section(page, "apiKeys");
        await form("A new key", keys, button(keys, texts.keys.addKeyAsk), texts.keys.addKey);
      },
    ),
  };
};
