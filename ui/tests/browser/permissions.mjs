// Agent permissions: profile rules, API keys, approvals, and the audit log.

import assert from "node:assert/strict";
import { join } from "node:path";
import { agent, as } from "./agents.mjs";

export const permissions = ({ bin, options, env, call, artifacts }) => {
  const show = (page, name) => page.screenshot({ path: join(artifacts, name) });
  const SMALL = { width: 900, height: 600 };
  const SECRET = "api-key-of-this-test-91d4";
  const section = (page, name) => page.locator(`section[aria-labelledby=${name}]`);
  const profile = (page, name) => page.getByRole("group", { name: `Profile ${name}` });
  const scope = (page, name, of) => profile(page, name).getByRole("region", { name: of, exact: true });
  const card = (page) => page.getByRole("alertdialog");
  /** Waits until the card can be answered; it is disabled at first so that it can be read. */
  const ready = (page) => card(page).getByRole("button", { name: "Allow once" }).click({ trial: true });
  const said = (reply) => reply.content[0].text;
  const stored = async (name) => (await call("profiles_list", {})).profiles.find((one) => one.name === name);
  // Code runs at low priority, so the default time limit may be too short on a busy machine.
  const code = (text) => ["code_exec", { language: "python", code: text, seconds: 60 }];
  let one;

  /** Runs an action that saves, and waits until it is saved. */
  async function saves(page, command, work) {
    const answered = page.waitForResponse((answer) => answer.url().endsWith(`/${command}`));
    await work();
    const answer = await answered;
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
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Search commands and cards").fill("settings: permissions");
      await page.keyboard.press("Enter");
      const permissions = section(page, "permissions");
      await scope(page, "Everyone", "Code").getByText("You see and approve code before it runs").waitFor();
      await permissions.getByRole("button", { name: "Add profile…" }).click();
      const form = page.getByRole("form", { name: "Add profile" });
      await form.getByLabel("Name").fill("the shop");
      await form.getByRole("button", { name: "Add", exact: true }).click();
      await form.getByRole("alert").getByText("Profile names can have up to 40 letters").waitFor();
      await form.getByLabel("Name").fill("shop");
      await form.getByLabel("Description").fill("agents that work on the shop");
      await form.getByRole("button", { name: "Add", exact: true }).click();
      await profile(page, "shop").getByText("autokit mcp --profile shop").waitFor();

      const hosts = scope(page, "shop", "Hosts");
      await saves(page, "profiles_set", () => hosts.getByText("Deny", { exact: true }).first().click());
      await hosts.getByText("Tools can reach only hosts with an Allow or Ask rule.").waitFor();
      await hosts.getByLabel("Host", { exact: true }).fill("https://API.example.org/v1?x=1");
      await saves(page, "profiles_set", () => hosts.getByRole("button", { name: "Add" }).click());
      await hosts.getByLabel("Host", { exact: true }).fill("api.example.org");
      await hosts.getByRole("button", { name: "Add" }).click();
      await hosts.getByRole("alert").getByText("A rule for api.example.org already exists").waitFor();
      await hosts.getByLabel("Host", { exact: true }).fill("*.example.org");
      await saves(page, "profiles_set", () => hosts.getByRole("button", { name: "Add" }).click());
      await saves(page, "profiles_set", () => hosts.getByLabel("Permission for *.example.org").selectOption("ask"));

      const files = scope(page, "shop", "Folders");
      await files.getByLabel("Folder", { exact: true }).fill("project");
      await files.getByRole("button", { name: "Add" }).click();
      await files.getByRole("alert").getByText("Enter an absolute path").waitFor();
      await files.getByLabel("Folder", { exact: true }).fill("/srv/shop/");
      await saves(page, "profiles_set", () => files.getByRole("button", { name: "Add" }).click());

      // Tools are selected by name; users do not know their ids.
      const tools = scope(page, "shop", "Tools");
      const box = tools.getByRole("combobox", { name: "Tool", exact: true });
      await box.fill("thing number 4711");
      await tools.getByRole("option", { name: "tool 004711" }).waitFor();
      await saves(page, "profiles_set", () => page.keyboard.press("Enter"));
      await box.fill("code exec");
      await tools.getByRole("option", { name: "All tools from AutoKit" }).waitFor();
      await saves(page, "profiles_set", () => tools.getByRole("option", { name: "code_exec AutoKit" }).click());
      await saves(page, "profiles_set", () =>
        tools.getByLabel(/^Permission for autokit:code_exec/).selectOption("allow"),
      );

      const first = profile(page, "shop").getByRole("region", { name: "Pinned tools" });
      await first.getByRole("combobox").fill("thing number 4713");
      await saves(page, "profiles_set", () => first.getByRole("option", { name: "tool 004713" }).click());
      const only = profile(page, "shop").getByRole("region", { name: "Search scope" });
      await saves(page, "profiles_set", () =>
        only.getByLabel("Limit searches to selected tools and providers").check(),
      );
      await only.getByRole("combobox").fill("thing number 4711");
      await saves(page, "profiles_set", () => only.getByRole("option", { name: "All tools from vendor 11" }).click());

      const { about, cards, only: found, permissions: may } = await stored("shop");
      assert.equal(about, "agents that work on the shop");
      assert.deepEqual([cards.length, found], [1, { providers: ["vendor 11"], cards: [] }]);
      const words = ({ otherwise, rules }) => [otherwise, ...rules.map(({ of, permission }) => `${of} ${permission}`)];
      assert.deepEqual(words(may.hosts), ["deny", "api.example.org allow", "*.example.org ask"]);
      assert.deepEqual(words(may.files), [null, "/srv/shop allow"]);
      assert.deepEqual(
        may.tools.rules.map(({ permission }) => permission),
        ["deny", "allow"],
      );
      assert.equal((await stored("")).permissions.hosts.otherwise, null);
      await portraits(page, 61, "permissions", "permissions");

      // The profile is stored and listed by name.
      await page.reload();
      await page.keyboard.press("Control+6");
      await permissions.getByLabel("shop agents that work on the shop").check();
      await scope(page, "shop", "Tools").getByText("tool 004711").waitFor();
      await scope(page, "shop", "Hosts").getByText("*.example.org", { exact: true }).waitFor();
      await saves(page, "profiles_set", () =>
        scope(page, "shop", "Hosts").getByRole("button", { name: "Remove the rule for *.example.org" }).click(),
      );
      assert.equal(await scope(page, "shop", "Hosts").getByText("*.example.org", { exact: true }).count(), 0);
    },

    async "tells why a rule could not be kept, and shows what is"(page) {
      const code = scope(page, "shop", "Code");
      const wrong = { code: "disk_full", message: "there is no room left", remedy: "Make some." };
      await page.route("**/v1/call/profiles_set", (route) => route.fulfill({ status: 507, json: wrong }));
      await code.getByText("Allow", { exact: true }).first().click();
      await code.getByRole("alert").getByText("There is no room left").waitFor();
      await code.getByText("You see and approve code before it runs").waitFor();
      assert.equal(await code.getByRole("radio", { name: "Inherit" }).isChecked(), true);
      await page.unroute("**/v1/call/profiles_set");
      await saves(page, "profiles_set", () => code.getByText("Deny", { exact: true }).first().click());
      assert.equal(await code.getByRole("alert").count(), 0);
    },

    async "shows at once what is changed elsewhere"(page) {
      await call("profiles_set", { ...(await stored("shop")), about: "agents of the new shop" });
      await section(page, "permissions").getByLabel("shop agents of the new shop").waitFor();
    },

    async "removes a profile once that was confirmed"(page) {
      await profile(page, "shop").getByRole("button", { name: "Remove profile shop" }).click();
      const asked = page.getByRole("dialog", { name: "Remove this profile?" });
      await asked.getByText("will be rejected").waitFor();
      await asked.getByRole("button", { name: "Remove" }).click();
      await profile(page, "Everyone").waitFor();
      assert.equal(await stored("shop"), undefined);
    },

    async "keeps how sessions are kept, and puts the defaults back"(page) {
      const sessions = section(page, "sessions");
      const results = sessions.getByLabel("Results per search");
      assert.equal(await results.inputValue(), "5");
      await results.fill("0");
      await sessions.getByRole("button", { name: "Save" }).click();
      await sessions.getByRole("alert").getByText("Results per search: enter a number from 1 to 50.").waitFor();
      await results.fill("7");
      await sessions.getByLabel("Evict unused tools after (minutes)").fill("45");
      await sessions.getByRole("button", { name: "Add client" }).click();
      await sessions.getByLabel("Client 1", { exact: true }).fill("claude");
      await sessions.getByLabel("Tokens for claude", { exact: true }).fill("300");
      await sessions.getByRole("button", { name: "Save" }).click();
      await sessions
        .getByRole("alert")
        .getByText("tools need a budget of at least 500 tokens", { exact: false })
        .waitFor();
      await sessions.getByLabel("Tokens for claude", { exact: true }).fill("8000");
      await sessions.getByRole("button", { name: "Save" }).click();
      await sessions.getByText("Saved and applied").waitFor();
      await portraits(page, 62, "sessions", "sessions");
      const kept = (await call("profiles_list", {})).sessions;
      assert.deepEqual([kept.session.results, kept.session.ttl_secs, kept.budgets], [7, 2700, { claude: 8000 }]);
      await sessions.getByRole("button", { name: "Reset to defaults" }).click();
      assert.equal(await results.inputValue(), "5");
      await saves(page, "agent_sessions_set", () => sessions.getByRole("button", { name: "Save" }).click());
      const back = (await call("profiles_list", {})).sessions;
      assert.deepEqual([back.session.results, back.session.ttl_secs, back.budgets], [5, 1800, {}]);
    },

    async "keeps a key for a web API, and removes it"(page) {
      const keys = section(page, "api-keys");
      await keys.getByText("No operation in the library needs an API key.").waitFor();
      await keys.getByRole("button", { name: "Add API key…" }).click();
      const form = page.getByRole("form", { name: "Add API key" });
      await form.getByLabel("API URL").fill("https://API.example.org/v1/things");
      await form.getByLabel("Security scheme").fill("apiKey");
      await form.getByLabel("Sent in", { exact: true }).fill("header X-Key");
      await form.getByRole("button", { name: "Save key" }).click();
      await form.getByRole("alert").getByText("Enter the API key.").waitFor();
      await form.getByLabel("API key", { exact: true }).last().fill(SECRET);
      await form.getByText("Sent only to https://api.example.org, whatever a card says.").waitFor();
      await portraits(page, 63, "api-key", "api-keys");
      await form.getByRole("button", { name: "Save key" }).click();
      const entry = keys.getByRole("list", { name: "Web API keys" }).getByRole("listitem");
      await entry.getByText("Saved", { exact: true }).waitFor();
      await entry.getByText("https://api.example.org", { exact: true }).waitFor();
      // Replaces the key by a user name and password.
      await entry.getByRole("button", { name: "Replace apiKey for https://api.example.org" }).click();
      const again = page.getByRole("form", { name: "Enter apiKey for https://api.example.org" });
      await again.getByLabel("Username and password").check();
      await again.getByLabel("Username", { exact: true }).fill("me");
      await again.getByLabel("Password", { exact: true }).fill(SECRET);
      await again.getByRole("button", { name: "Save key" }).click();
      await entry.getByText("Username and password").waitFor();
      await portraits(page, 64, "api-keys", "api-keys");
      const held = await page.evaluate((secret) => {
        const boxes = [...document.querySelectorAll("input, textarea")].map((box) => box.value);
        return [document.documentElement.outerHTML, ...boxes].some((text) => text.includes(secret));
      }, SECRET);
      assert.equal(held, false, "the key stands in the page");
      await entry.getByRole("button", { name: "Remove apiKey for https://api.example.org" }).click();
      await page.getByRole("dialog", { name: "Remove this API key?" }).getByRole("button", { name: "Remove" }).click();
      await keys.getByText("No operation in the library needs an API key.").waitFor();
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
      const box = page.getByLabel("What should the tool do?");
      await box.fill("thing number 47");
      const waits = one.call(...code("print(6*7)"));
      await card(page).getByText("to run code in python").waitFor();
      await card(page).getByText("test agent").waitFor();
      await card(page).getByText('"code": "print(6*7)"').waitFor();
      await page
        .getByText(
          /^test agent.* wants to call code_exec from AutoKit and needs your approval to run code in python. Press F6 to respond.$/,
        )
        .waitFor({ state: "attached" });
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
      await card(page).getByRole("button", { name: "Allow once" }).click();
      const reply = await waits;
      assert.match(said(reply), /\b42\b/, said(reply));
      assert(!reply.isError, said(reply));
      await card(page).waitFor({ state: "detached" });
      // After the answer, the focus returns to where it was.
      assert.equal(await page.evaluate(() => document.activeElement.id), "ask-box");
    },

    async "asks one after another, and takes away what waits no more"(page) {
      const long = `print("many lines")\n${"# and another \u202eline\n".repeat(40)}print(1)`;
      const first = one.call(...code(long));
      await card(page).getByText('print("many lines")').waitFor();
      assert.equal(await card(page).getByText("and another ‹U+202E›line").count(), 1);
      const other = await agent(bin, options, env);
      await other.search("run python code");
      // Never answered: its agent exits first.
      void other.call(...code("print(2)"));
      await card(page).getByText("1 of 2").waitFor();
      await ready(page);
      await show(page, "66-browser-ask-queue.png");
      await as(page, "dark", SMALL, () => show(page, "66-browser-ask-queue-dark.png"));
      // Keyboard only: to the card, to its buttons, and back.
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Search commands and cards").fill("pending approval");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "alertdialog");
      const deny = card(page).getByRole("button", { name: "Deny" });
      while (!(await deny.evaluate((button) => button === document.activeElement))) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      const reply = await first;
      assert.equal(reply.isError, true);
      assert.match(said(reply), /The user denied the request to run code in python/);
      // The focus moves to the next card, not to one of its buttons.
      await card(page).getByText("print(2)").waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "alertdialog");
      other.kill();
      await card(page).waitFor({ state: "detached" });
    },

    async "answers over a dialog without closing it"(page) {
      await page.keyboard.press("Control+4");
      await page.getByRole("button", { name: "Import…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Pasted text").fill("typed before");
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
      await card(page).getByRole("button", { name: "Deny" }).click();
      assert.match(said(await waits), /The user denied the request/);
      await card(page).waitFor({ state: "detached" });
      assert.equal(await dialog.getByLabel("Pasted text").inputValue(), "typed before");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    },

    async "keeps a word that holds from now on"(page) {
      const waits = one.call(...code("print(4)"));
      await card(page).getByRole("button", { name: "Never allow" }).click();
      assert.match(said(await waits), /The user denied the request/);
      // Denied by the new rule without asking.
      assert.match(said(await one.call(...code("print(5)"))), /It is not permitted to run code in python/);
      await page.keyboard.press("Control+6");
      const rules = scope(page, "Everyone", "Code");
      assert.equal(await rules.getByLabel("Permission for python").inputValue(), "deny");
      await saves(page, "profiles_set", () =>
        rules.getByRole("button", { name: "Remove the rule for python" }).click(),
      );
      await one.leave();
    },

    async "shows every call, who let it, and what came of it"(page) {
      await page.keyboard.press("Control+5");
      const calls = page.getByRole("region", { name: "Calls", exact: true });
      const done = calls.getByRole("row", { name: /code_exec AutoKit Person Succeeded/ });
      await done.waitFor();
      assert.equal(await calls.getByRole("row", { name: /code_exec AutoKit Person Denied/ }).count(), 3);
      await calls.getByRole("row", { name: /code_exec AutoKit Rules Denied/ }).waitFor();
      // Agents of earlier tests have called other tools as well.
      const { entries, total } = await call("audit_list", { days: 30, limit: 200 });
      const refused = entries.filter(({ outcome }) => outcome === "refused").length;
      await calls.getByText(`${total} calls`, { exact: true }).waitFor();
      await calls.getByText("Denied", { exact: true }).first().click();
      await calls.getByText(`${refused} of ${total} calls`).waitFor();
      assert.equal(await done.count(), 0);
      await calls.getByText("All", { exact: true }).click();
      await done.getByRole("button").click();
      await calls.getByText("Needed permission to run code in python.").waitFor();
      await calls.getByText('"code": "print(6*7)"').waitFor();
      const whole = { width: 1180, height: 1240 };
      const place = () => calls.evaluate((section) => section.scrollIntoView({ block: "start" }));
      await as(page, "light", whole, async () => (await place(), await show(page, "68-browser-audit-light.png")));
      await as(page, "dark", whole, async () => (await place(), await show(page, "68-browser-audit-dark.png")));
      await as(page, "light", SMALL, async () => (await place(), await show(page, "68-browser-audit-small.png")));
    },
  };
};
