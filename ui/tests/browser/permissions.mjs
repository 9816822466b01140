// Agent permissions: profile rules, API keys, approvals, and the audit log.

import assert from "node:assert/strict";
import { join } from "node:path";
import { agent, as } from "./agents.mjs";
import {
  alert,
  answerTo,
  button,
  checkbox,
  choice,
  openGroup,
  refused,
  region,
  section,
  segment,
  textbox,
  typeInPalette,
} from "./parts.mjs";
import { ANY, pattern, texts } from "./texts.mjs";

export const permissions = ({ bin, options, env, call, artifacts }) => {
  const show = (page, name) => page.screenshot({ path: join(artifacts, name) });
  const SMALL = { width: 900, height: 600 };
  const SECRET = "api-key-of-this-test-91d4";
  const { everybody, scopes, words } = texts.permissions;
  const profile = (page, name) => page.getByRole("group", { name: texts.permissions.profileOf(name), exact: true });
  const scope = (page, name, of) => region(profile(page, name), scopes[of].name);
  /** Returns a permission for all things in a scope that no rule names. */
  const otherwise = (within, of, word) => segment(within, texts.permissions.unnamed(scopes[of].name), word);
  /** Returns the box for the thing that a new rule in a scope is for. */
  const thing = (within, of) => {
    const { one } = scopes[of];
    return textbox(within, texts.permissions.ruleThing(one.charAt(0).toUpperCase() + one.slice(1)));
  };
  const combobox = (within, name) => within.getByRole("combobox", { name, exact: true });
  const card = (page) => page.getByRole("alertdialog");
  const { replies } = texts.approvals;
  const reply = (page, { name }) => button(card(page), name);
  /** Waits until the card can be answered; it is disabled at first so that it can be read. */
  const ready = (page) => reply(page, replies.once).click({ trial: true });
  /** Returns what the call that waits needs permission for, found by its language. */
  const need = (page) =>
    card(page)
      .getByRole("listitem")
      .filter({ hasText: /\bpython\b/ });
  const said = (answer) => answer.content[0].text;
  /** Asserts that a call was refused for the code it was to run. */
  const wasRefused = (answer) => {
    assert.equal(answer.isError, true, said(answer));
    assert.match(said(answer), /\bpython\b/);
  };
  const stored = async (name) => (await call("profiles_list", {})).profiles.find((one) => one.name === name);
  // Code runs at low priority, so the default time limit may be too short on a busy machine.
  const code = (text) => ["code_exec", { language: "python", code: text, seconds: 60 }];
  let one;

  /** Runs an action that saves, and waits until it is saved; `words` as in `answerTo`. */
  async function saves(page, command, work, words = "") {
    const answer = await answerTo(page, command, work, words);
    assert.equal(answer.status(), 200, await answer.text());
  }

  /** Takes screenshots of a section in the light and the dark theme and in a small window. */
  async function portraits(page, number, name, id) {
    const place = () => page.evaluate((id) => document.getElementById(id).scrollIntoView({ block: "start" }), id);
    const tall = { width: 1180, height: 1300 };
    await as(page, "light", tall, async () => (await place(), await show(page, `${number}-browser-${name}-light.png`)));
    await as(page, "dark", tall, async () => (await place(), await show(page, `${number}-browser-${name}-dark.png`)));
    await as(
      page,
      "light",
      SMALL,
      async () => (await place(), await show(page, `${number}-browser-${name}-small.png`)),
    );
  }

  return {
    async "keeps a profile of agents with its rules"(page) {
      await typeInPalette(page, texts.commands.settingsPermissions);
      await page.keyboard.press("Enter");
      const permissions = section(page, "permissions");
      await scope(page, everybody, "code").getByText(scopes.code.said.ask, { exact: true }).waitFor();
      await button(permissions, texts.permissions.addProfileAsk).click();
      const form = page.getByRole("form", { name: texts.permissions.addProfile, exact: true });
      await textbox(form, texts.common.name).fill("the shop");
      await button(form, texts.common.add).click();
      await alert(form, texts.permissions.missing.goodName).waitFor();
      await textbox(form, texts.common.name).fill("shop");
      await textbox(form, texts.permissions.whatFor).fill("agents that work on the shop");
      await button(form, texts.common.add).click();
      await profile(page, "shop").getByText("autokit mcp --profile shop").waitFor();

      const hosts = scope(page, "shop", "hosts");
      await saves(page, "profiles_set", () => otherwise(hosts, "hosts", words.deny).click());
      await hosts.getByText(scopes.hosts.said.deny, { exact: true }).waitFor();
      await thing(hosts, "hosts").fill("https://API.example.org/v1?x=1");
      await saves(page, "profiles_set", () => button(hosts, texts.common.add).click());
      await thing(hosts, "hosts").fill("api.example.org");
      await button(hosts, texts.common.add).click();
      await alert(hosts, texts.permissions.missing.otherThing("api.example.org")).waitFor();
      await thing(hosts, "hosts").fill("*.example.org");
      await saves(page, "profiles_set", () => button(hosts, texts.common.add).click());
      const word = combobox(hosts, texts.permissions.wordOn("*.example.org"));
      await saves(page, "profiles_set", () => word.selectOption("ask"));

      const files = scope(page, "shop", "files");
      await thing(files, "files").fill("project");
      await button(files, texts.common.add).click();
      await alert(files, texts.permissions.missing.folder).waitFor();
      await thing(files, "files").fill("/srv/shop/");
      await saves(page, "profiles_set", () => button(files, texts.common.add).click());

      // Tools are selected by name; users do not know their ids.
      const tools = scope(page, "shop", "tools");
      const option = (within, name) => within.getByRole("option", { name });
      const all = (provider) => `${texts.permissions.allToolsOf} ${provider}`;
      const box = combobox(tools, texts.permissions.ruleTool);
      await box.fill("thing number 4711");
      await option(tools, "tool 004711").waitFor();
      await saves(page, "profiles_set", () => page.keyboard.press("Enter"));
      await box.fill("code exec");
      await option(tools, all("AutoKit")).waitFor();
      await saves(page, "profiles_set", () => option(tools, "code_exec AutoKit").click());
      const exec = combobox(tools, pattern`^${texts.permissions.wordOn(`autokit:code_exec${ANY}`)}`);
      await saves(page, "profiles_set", () => exec.selectOption("allow"));

      const first = region(profile(page, "shop"), texts.permissions.foundFirst);
      await first.getByRole("combobox").fill("thing number 4713");
      await saves(page, "profiles_set", () => option(first, "tool 004713").click());
      const only = region(profile(page, "shop"), texts.permissions.foundAtAll);
      await saves(page, "profiles_set", () => checkbox(only, texts.permissions.onlyNamed).check());
      await only.getByRole("combobox").fill("thing number 4711");
      await saves(page, "profiles_set", () => option(only, all("vendor 11")).click());

      const { about, cards, only: found, permissions: may } = await stored("shop");
      assert.equal(about, "agents that work on the shop");
      assert.deepEqual([cards.length, found], [1, { providers: ["vendor 11"], cards: [] }]);
      const told = ({ otherwise, rules }) => [otherwise, ...rules.map(({ of, permission }) => `${of} ${permission}`)];
      assert.deepEqual(told(may.hosts), ["deny", "api.example.org allow", "*.example.org ask"]);
      assert.deepEqual(told(may.files), [null, "/srv/shop allow"]);
      assert.deepEqual(
        may.tools.rules.map(({ permission }) => permission),
        ["deny", "allow"],
      );
      assert.equal((await stored("")).permissions.hosts.otherwise, null);
      await portraits(page, 61, "permissions", "permissions");

      // The profile is stored and listed by name.
      await page.reload();
      await openGroup(page, "agents");
      await choice(permissions, { name: "shop", about: "agents that work on the shop" }).check();
      await tools.getByText("tool 004711").waitFor();
      await hosts.getByText("*.example.org", { exact: true }).waitFor();
      await saves(page, "profiles_set", () => button(hosts, texts.permissions.removeRule("*.example.org")).click());
      assert.equal(await hosts.getByText("*.example.org", { exact: true }).count(), 0);
    },

    async "tells why a rule could not be kept, and shows what is"(page) {
      const code = scope(page, "shop", "code");
      const wrong = { code: "disk_full", message: "there is no room left", remedy: "Make some." };
      await page.route("**/v1/call/profiles_set", (route) => route.fulfill({ status: 507, json: wrong }));
      await otherwise(code, "code", words.allow).click();
      await alert(code, wrong.message).waitFor();
      await code.getByText(texts.permissions.likeEverybody(scopes.code.said.ask), { exact: true }).waitFor();
      assert.equal(await choice(code, { name: texts.permissions.inherit }).isChecked(), true);
      await page.unroute("**/v1/call/profiles_set");
      await saves(page, "profiles_set", () => otherwise(code, "code", words.deny).click());
      assert.equal(await code.getByRole("alert").count(), 0);
    },

    async "shows at once what is changed elsewhere"(page) {
      await call("profiles_set", { ...(await stored("shop")), about: "agents of the new shop" });
      await choice(section(page, "permissions"), { name: "shop", about: "agents of the new shop" }).waitFor();
    },

    async "removes a profile once that was confirmed"(page) {
      await button(profile(page, "shop"), texts.permissions.removeProfile("shop")).click();
      const asked = page.getByRole("dialog", { name: texts.permissions.removeTitle, exact: true });
      await asked.getByText(texts.permissions.removeAbout.after).waitFor();
      await button(asked, texts.common.remove).click();
      await profile(page, everybody).waitFor();
      assert.equal(await stored("shop"), undefined);
    },

    async "keeps how sessions are kept, and puts the defaults back"(page) {
      await openGroup(page, "advanced");
      const sessions = section(page, "sessions");
      const { limits } = texts.sessions;
      const results = textbox(sessions, limits.results.name);
      const tokens = textbox(sessions, texts.sessions.tokensOf("claude"));
      assert.equal(await results.inputValue(), "5");
      await results.fill("0");
      await results.blur();
      await alert(sessions, texts.sessions.outOfRange(limits.results.name, 1, 50)).waitFor();
      // Two changes in a row, the second while the first is being saved.
      await results.fill("7");
      await textbox(sessions, limits.ttl.name).fill("45");
      await button(sessions, texts.sessions.addAProgram).click();
      await textbox(sessions, texts.sessions.program(1)).fill("claude");
      await tokens.fill("300");
      // The changes above may still be on their way: their responses are not the one to the tokens.
      const enter = () => tokens.press("Enter");
      await refused(page, "agent_sessions_set", "invalid", enter, '"claude":300');
      // Says how many tokens are the least.
      await alert(sessions, /\b500\b/).waitFor();
      await tokens.fill("8000");
      await saves(page, "agent_sessions_set", enter, '"claude":8000');
      await portraits(page, 62, "sessions", "sessions");
      const kept = (await call("profiles_list", {})).sessions;
      assert.deepEqual([kept.session.results, kept.session.ttl_secs, kept.budgets], [7, 2700, { claude: 8000 }]);
      await button(sessions, texts.sessions.resetAll).click();
      const asked = page.getByRole("dialog", { name: texts.sessions.resetTitle, exact: true });
      await saves(page, "agent_sessions_set", () => button(asked, texts.sessions.resetYes).click());
      await page.waitForFunction((id) => document.getElementById(id).value === "5", await results.getAttribute("id"));
      const back = (await call("profiles_list", {})).sessions;
      assert.deepEqual([back.session.results, back.session.ttl_secs, back.budgets], [5, 1800, {}]);
    },

    async "keeps a key for a web API, and removes it"(page) {
      await openGroup(page, "agents");
      const keys = section(page, "apiKeys");
      const [origin, scheme] = ["https://api.example.org", "apiKey"];
      const named = texts.keys.called(scheme, origin);
      await keys.getByText(texts.keys.noApiKeys, { exact: true }).waitFor();
      await button(keys, texts.keys.addKeyAsk).click();
      const form = page.getByRole("form", { name: texts.keys.addKey, exact: true });
      await textbox(form, texts.keys.origin).fill("https://API.example.org/v1/things");
      await textbox(form, texts.keys.scheme).fill(scheme);
      await textbox(form, texts.keys.sentIn).fill("header X-Key");
      await button(form, texts.keys.saveKey).click();
      await alert(form, texts.keys.missing.key).waitFor();
      await form.getByLabel(texts.keys.key, { exact: true }).last().fill(SECRET);
      await form.getByText(texts.keys.keyAbout(origin), { exact: true }).waitFor();
      await portraits(page, 63, "api-key", "api-keys");
      await button(form, texts.keys.saveKey).click();
      const entry = keys.getByRole("list", { name: texts.keys.keysForWebApis, exact: true }).getByRole("listitem");
      await entry.getByText(texts.common.saved, { exact: true }).waitFor();
      await entry.getByText(origin, { exact: true }).waitFor();
      // Replaces the key by a user name and password.
      await button(entry, texts.keys.replaceKey(named)).click();
      const again = page.getByRole("form", { name: texts.keys.giveKeyFor(scheme, origin), exact: true });
      await choice(again, texts.keys.sorts.basic).check();
      await textbox(again, texts.keys.user).fill("me");
      await again.getByLabel(texts.keys.password, { exact: true }).fill(SECRET);
      await button(again, texts.keys.saveKey).click();
      await entry.getByText(texts.keys.sorts.basic.name, { exact: true }).waitFor();
      await portraits(page, 64, "api-keys", "api-keys");
      const held = await page.evaluate((secret) => {
        const boxes = [...document.querySelectorAll("input, textarea")].map((box) => box.value);
        return [document.documentElement.outerHTML, ...boxes].some((text) => text.includes(secret));
      }, SECRET);
      assert.equal(held, false, "the key stands in the page");
      await button(entry, texts.keys.removeKey(named)).click();
      const asked = page.getByRole("dialog", { name: texts.keys.removeTitle, exact: true });
      await button(asked, texts.common.remove).click();
      await keys.getByText(texts.keys.noApiKeys, { exact: true }).waitFor();
      assert.deepEqual(await call("api_keys_list", {}), []);
    },

    async "asks a person before code runs, and runs what was allowed"(page) {
      one = await agent(bin, options, env);
      const found = await one.search("run python code");
      assert(
        found.results.some(({ name }) => name === "code_exec"),
        JSON.stringify(found),
      );
      // A call arrives while the user is typing: the box keeps the focus, and Enter approves nothing.
      await page.keyboard.press("Control+1");
      const box = textbox(page, texts.ask.question);
      await box.fill("thing number 47");
      const waits = one.call(...code("print(6*7)"));
      await need(page).waitFor();
      await card(page).getByText("test agent").waitFor();
      await card(page).getByText('"code": "print(6*7)"').waitFor();
      const heard = texts.approvals.said(`test agent${ANY}`, "code_exec", "AutoKit", `${ANY}python`, "F6");
      await page.getByText(pattern`^${heard}$`).waitFor({ state: "attached" });
      await page.keyboard.type("12");
      assert.equal(await box.inputValue(), "thing number 4712");
      assert.equal(await page.evaluate(() => document.activeElement.id), "ask-box");
      await page.keyboard.press("F6");
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "alertdialog");
      await page.keyboard.press("Enter");
      await page.keyboard.press("F6");
      assert.equal(await page.evaluate(() => document.activeElement.id), "ask-box");
      await ready(page);
      await show(page, "65-browser-ask-light.png");
      await as(page, "dark", SMALL, () => show(page, "65-browser-ask-dark.png"));
      assert.equal(await card(page).count(), 1);
      await reply(page, replies.once).click();
      const answer = await waits;
      assert.match(said(answer), /\b42\b/, said(answer));
      assert(!answer.isError, said(answer));
      await card(page).waitFor({ state: "detached" });
      // After the answer, the focus returns to where it was.
      assert.equal(await page.evaluate(() => document.activeElement.id), "ask-box");
    },

    async "asks one after another, and takes away what waits no more"(page) {
      const long = `print("many lines")\n${"# and another \u202eline\n".repeat(40)}print("${"/a/long/path".repeat(40)}")`;
      const first = one.call(...code(long));
      await card(page).getByText('print("many lines")').waitFor();
      assert.equal(await card(page).getByText("and another ‹U+202E›line").count(), 1);
      // All of it is seen without scrolling sideways.
      const wider = (code) => code.scrollWidth - code.clientWidth;
      assert.equal(await card(page).locator("pre").first().evaluate(wider), 0);
      const other = await agent(bin, options, env);
      await other.search("run python code");
      // Never answered: its agent exits first.
      void other.call(...code("print(2)"));
      await card(page).getByText(texts.approvals.firstOf(2), { exact: true }).waitFor();
      await ready(page);
      await show(page, "66-browser-ask-queue.png");
      await as(page, "dark", SMALL, () => show(page, "66-browser-ask-queue-dark.png"));
      // Keyboard only: to the card, to its buttons, and back.
      await typeInPalette(page, texts.commands.answerAgent);
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "alertdialog");
      const deny = reply(page, replies.no);
      while (!(await deny.evaluate((button) => button === document.activeElement))) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      wasRefused(await first);
      // The focus moves to the next card, not to one of its buttons.
      await card(page).getByText("print(2)").waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "alertdialog");
      other.kill();
      await card(page).waitFor({ state: "detached" });
    },

    async "answers over a dialog without closing it"(page) {
      await page.keyboard.press("Control+4");
      await button(page, texts.common.importAsk).click();
      const dialog = page.getByRole("dialog");
      const pasted = textbox(dialog, texts.importing.pasted);
      await pasted.fill("typed before");
      const waits = one.call(...code("print(3)"));
      await card(page).getByText("print(3)").waitFor();
      await page.keyboard.press("F6");
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "alertdialog");
      // Escape leaves the card and closes nothing.
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate(() => document.activeElement.closest("[role=dialog]") !== null), true);
      assert.equal(await card(page).count(), 1);
      await ready(page);
      await show(page, "67-browser-ask-over-dialog.png");
      await reply(page, replies.no).click();
      wasRefused(await waits);
      await card(page).waitFor({ state: "detached" });
      assert.equal(await pasted.inputValue(), "typed before");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    },

    async "keeps a word that holds from now on"(page) {
      const waits = one.call(...code("print(4)"));
      await reply(page, replies.never).click();
      const byPerson = await waits;
      wasRefused(byPerson);
      // Denied by the new rule without asking.
      const byRule = await one.call(...code("print(5)"));
      wasRefused(byRule);
      assert.notEqual(said(byRule), said(byPerson));
      await openGroup(page, "agents");
      const rules = scope(page, everybody, "code");
      assert.equal(await combobox(rules, texts.permissions.wordOn("python")).inputValue(), "deny");
      await saves(page, "profiles_set", () => button(rules, texts.permissions.removeRule("python")).click());
      await one.leave();
    },

    async "shows every call, who let it, and what came of it"(page) {
      await page.keyboard.press("Control+5");
      const calls = region(page, texts.activity.calls);
      const { decidedBy, outcomes } = texts.activity;
      const row = (who, outcome) => calls.getByRole("row", { name: `code_exec AutoKit ${who} ${outcome}` });
      const done = row(decidedBy.person, outcomes.done);
      await done.waitFor();
      assert.equal(await row(decidedBy.person, outcomes.refused).count(), 3);
      await row(decidedBy.rules, outcomes.refused).waitFor();
      // Agents of earlier tests have called other tools as well.
      const { entries, total } = await call("audit_list", { days: 30, limit: 200 });
      const denied = entries.filter(({ outcome }) => outcome === "refused").length;
      const all = texts.common.calls(total);
      await calls.getByText(all, { exact: true }).waitFor();
      await segment(calls, texts.activity.outcomesLabel, outcomes.refused).click();
      await calls.getByText(texts.activity.shownOf(denied, all), { exact: true }).waitFor();
      assert.equal(await done.count(), 0);
      await segment(calls, texts.activity.outcomesLabel, outcomes.all).click();
      await done.getByRole("button").click();
      await calls.getByText(pattern`${texts.activity.needed(`${ANY}python`)}`).waitFor();
      await calls.getByText('"code": "print(6*7)"').waitFor();
      const whole = { width: 1180, height: 1240 };
      const place = () => calls.evaluate((section) => section.scrollIntoView({ block: "start" }));
      await as(page, "light", whole, async () => (await place(), await show(page, "68-browser-audit-light.png")));
      await as(page, "dark", whole, async () => (await place(), await show(page, "68-browser-audit-dark.png")));
      await as(page, "light", SMALL, async () => (await place(), await show(page, "68-browser-audit-small.png")));
    },
  };
};
