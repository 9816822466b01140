// Agents: their activity, their clients, and the servers whose tools they call.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import {
  alert,
  answerTo,
  button,
  checkbox,
  ended,
  offered,
  openGroup,
  refused,
  region,
  section,
  segment,
  status,
  textbox,
  typeInPalette,
} from "./parts.mjs";
import { ANY, counted, pattern, texts } from "./texts.mjs";

/** Connects a test agent to `autokit mcp` over stdio, with one line of JSON per message. */
export async function agent(bin, options, env) {
  const process = spawn(bin, [...options, "mcp"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: process.stdout }).on("line", (line) => {
    const said = JSON.parse(line);
    waiting.get(said.id)?.(said);
  });
  const say = (message) => process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (method, params) => {
    const id = waiting.size + 1;
    const answer = new Promise((done) => waiting.set(id, done));
    say({ id, method, params });
    const { result, error } = await answer;
    assert(result, `${method}: ${JSON.stringify(error)}`);
    return result;
  };
  await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test agent", version: "0.9" },
  });
  say({ method: "notifications/initialized" });
  return {
    search: async (query) =>
      JSON.parse((await ask("tools/call", { name: "search_tools", arguments: { query } })).content[0].text),
    call: (name, args) => ask("tools/call", { name: "call_tool", arguments: { name, arguments: args } }),
    /** Exits without a shutdown, like a crash. */
    kill: () => process.kill(),
    async leave() {
      process.stdin.end();
      await once(process, "exit");
    },
  };
}

/** Starts a server on a free port, which is free again once the server is closed. */
async function anyPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => new Promise((done) => server.close(done));
  return { port: server.address().port, close };
}

/** Returns whether the HTTP endpoint accepts a token. Starts no session, as sessions are counted. */
async function admits(url, token) {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await answer.body?.cancel();
  return answer.status !== 401;
}

/** Runs `work` with the window in the given theme and size. */
export async function as(page, theme, size, work) {
  const before = [page.viewportSize(), await page.evaluate(() => document.documentElement.dataset.theme)];
  await page.setViewportSize(size);
  await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
  await work();
  await page.setViewportSize(before[0]);
  await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), before[1]);
}

export const agents = ({ bin, options, env, home, call, artifacts }) => {
  const show = (page, name) => page.screenshot({ path: join(artifacts, name) });
  const servers = (page) => section(page, "servers");
  const entry = (page, name) => servers(page).getByRole("listitem").filter({ hasText: name });
  const dialog = (page, name) => page.getByRole("dialog", { name, exact: true });
  const form = (page, name) => page.getByRole("form", { name, exact: true });
  const programs = (page) => page.getByRole("list", { name: texts.agents.programs, exact: true });
  const cursor = (page) => programs(page).getByRole("listitem").filter({ hasText: "Cursor" });
  const SMALL = { width: 900, height: 600 };
  const SECRET = "token-of-this-test-51c8";

  return {
    async "tells how to connect an agent where none was at work"(page) {
      await page.keyboard.press("Control+5");
      await page.getByRole("heading", { name: texts.activity.nothing(30), exact: true }).waitFor();
      await segment(page, texts.activity.howFarBack, texts.activity.days(7)).click();
      await page.getByRole("heading", { name: texts.activity.nothing(7), exact: true }).waitFor();
      await show(page, "50-browser-activity-empty.png");
      await button(page, texts.activity.connectAnAgent).click();
      await programs(page).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.id), "agents");
    },

    async "connects an agent after showing exactly what changes"(page) {
      const [folder, hurt] = [join(home, ".cursor"), join(home, ".codeium", "windsurf")];
      const [file, before] = [join(folder, "mcp.json"), '{\n  "mcpServers": {\n    "mine": {"command": "x"}\n  }\n}\n'];
      for (const made of [folder, hurt]) mkdirSync(made, { recursive: true });
      writeFileSync(file, before);
      writeFileSync(join(hurt, "mcp_config.json"), "{ mine");
      await button(section(page, "agents"), texts.common.lookAgain).click();
      await cursor(page).getByText(texts.agents.notConnected, { exact: true }).waitFor();
      await show(page, "51-browser-agents.png");
      await as(page, "dark", SMALL, () => show(page, "51-browser-agents-dark.png"));

      await button(cursor(page), texts.agents.connect("Cursor")).click();
      const preview = dialog(page, texts.agents.connect("Cursor"));
      await preview.getByText(file, { exact: true }).waitFor();
      await preview.getByRole("insertion").filter({ hasText: '"autokit": {' }).waitFor();
      await preview.getByText(texts.agents.nothingElse).waitFor();
      await show(page, "52-browser-connect.png");
      await as(page, "dark", SMALL, () => show(page, "52-browser-connect-dark.png"));
      // The preview does not write the file, and changes made in the meantime are not overwritten.
      assert.equal(readFileSync(file, "utf8"), before);
      const meanwhile = before.replace('"x"', '"y"');
      writeFileSync(file, meanwhile);
      await refused(page, "clients_connect", "conflict", () => button(preview, texts.agents.changeTheFile).click());
      const conflict = alert(preview, file);
      await conflict.waitFor();
      assert.equal(readFileSync(file, "utf8"), meanwhile);
      await button(conflict, texts.common.tryAgain).click();
      await preview.getByText('"command": "y"').first().waitFor();
      await button(preview, texts.agents.changeTheFile).click();
      const done = dialog(page, texts.agents.isConnected("Cursor"));
      // The file is written by the time this text appears.
      await done.getByText(texts.agents.keptIn).waitFor();
      const backup = readdirSync(folder).find((name) => name.includes("before-autokit"));
      await done.getByText(join(folder, backup)).waitFor();
      await show(page, "53-browser-connected.png");
      assert.equal(readFileSync(join(folder, backup), "utf8"), meanwhile);
      const after = JSON.parse(readFileSync(file, "utf8")).mcpServers;
      assert.equal(after.mine.command, "y");
      assert.equal(after.autokit.command, bin);
      assert.equal(after.autokit.args.at(-1), "mcp");
      await button(done, texts.agents.done).click();
      await cursor(page).getByText(texts.agents.connected, { exact: true }).waitFor();
      assert.equal(await button(cursor(page), texts.agents.connect("Cursor")).count(), 0);

      // A file that cannot be changed without loss is left to the user.
      await button(programs(page), texts.agents.showLines("Windsurf")).click();
      const byHand = dialog(page, texts.agents.connect("Windsurf"));
      const { problem } = (await call("clients_list", {})).find(({ name }) => name === "Windsurf");
      assert.match(problem, /\bJSON\b/);
      await byHand.getByText(problem).waitFor();
      await byHand.getByText('"mcpServers"').waitFor();
      assert.equal(await button(byHand, texts.agents.changeTheFile).count(), 0);
      await show(page, "54-browser-by-hand.png");
      await button(byHand, texts.common.close).last().click();
      await byHand.waitFor({ state: "detached" });
    },

    async "disconnects an agent after showing exactly what changes"(page) {
      const file = join(home, ".cursor", "mcp.json");
      const before = readFileSync(file, "utf8");
      const copies = () => readdirSync(dirname(file)).filter((name) => name.includes("before-autokit"));
      const had = copies();
      await button(cursor(page), texts.agents.disconnect("Cursor")).click();
      const preview = dialog(page, texts.agents.disconnect("Cursor"));
      await preview.getByText(texts.agents.takenOut).waitFor();
      await preview.getByRole("deletion").filter({ hasText: '"autokit": {' }).waitFor();
      await show(page, "61-browser-disconnect.png");
      await as(page, "dark", SMALL, () => show(page, "61-browser-disconnect-dark.png"));
      // Neither the preview nor cancelling writes the file.
      await button(preview, texts.common.cancel).click();
      await preview.waitFor({ state: "detached" });
      assert.equal(readFileSync(file, "utf8"), before);

      await button(cursor(page), texts.agents.disconnect("Cursor")).click();
      await button(preview, texts.agents.changeTheFile).click();
      const done = dialog(page, texts.agents.isDisconnected("Cursor"));
      await done.getByText(texts.agents.keptIn).waitFor();
      const backup = copies().find((name) => !had.includes(name));
      await done.getByText(join(dirname(file), backup)).waitFor();
      assert.equal(readFileSync(join(dirname(file), backup), "utf8"), before);
      assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers), ["mine"]);
      await button(done, texts.agents.done).click();
      await cursor(page).getByText(texts.agents.notConnected, { exact: true }).waitFor();
      assert.equal(await button(cursor(page), texts.agents.disconnect("Cursor")).count(), 0);
    },

    async "opens an address for programs that cannot start AutoKit"(page) {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      const part = page.getByRole("group", { name: texts.agents.forPrograms, exact: true });
      const port = textbox(part, texts.agents.port);
      const copied = async (what) => {
        const name = texts.agents.copies[what].of(texts.agents.cannotStart);
        await button(part, texts.app.copyOf(name)).click();
        await button(part, texts.app.copiedOf(name)).waitFor();
        return page.evaluate(() => navigator.clipboard.readText());
      };
      await port.fill("80");
      await port.blur();
      await alert(part, texts.agents.portWrong).waitFor();

      // A port in use is reported, and the endpoint stays closed.
      const other = await anyPort();
      await port.fill(String(other.port));
      await answerTo(page, "mcp_http_set", () => port.blur());
      const enabled = checkbox(part, texts.agents.answerHere);
      await refused(page, "mcp_http_set", "conflict", () => enabled.check());
      await alert(part, String(other.port)).waitFor();
      await part.scrollIntoViewIfNeeded();
      await show(page, "62-browser-address-taken.png");
      assert.equal(await part.getByText(texts.agents.open, { exact: true }).count(), 0);
      await other.close();
      await button(alert(part, String(other.port)), texts.common.tryAgain).click();
      await part.getByText(texts.agents.open, { exact: true }).waitFor();
      const url = await part.getByText(/^http:\/\/127\.0\.0\.1:/).innerText();
      assert(url.includes(`:${other.port}/`), url);

      // The token is only available through the clipboard.
      const token = await copied("token");
      const lines = JSON.parse(await copied("lines")).mcpServers.autokit;
      assert.deepEqual([lines.url, lines.headers.Authorization], [url, `Bearer ${token}`]);
      const shown = part.getByRole("group", { name: texts.agents.linesLabel, exact: true });
      assert.match(await shown.innerText(), /Bearer •+"/);
      assert.equal(await page.evaluate((token) => document.documentElement.outerHTML.includes(token), token), false);
      assert.deepEqual([await admits(url, token), await admits(url, "wrong")], [true, false]);
      await part.scrollIntoViewIfNeeded();
      await show(page, "63-browser-address.png");
      await as(page, "dark", SMALL, () => show(page, "63-browser-address-dark.png"));

      await button(part, texts.agents.renewAsk).click();
      const asked = dialog(page, texts.agents.renewTitle);
      await asked.getByText(texts.agents.renewAbout.after).waitFor();
      await show(page, "64-browser-address-renew.png");
      await button(asked, texts.agents.renewYes).click();
      await status(page, texts.agents.renewed).first().waitFor();
      const renewed = await copied("token");
      assert.deepEqual([await admits(url, token), await admits(url, renewed)], [false, true]);

      await enabled.uncheck();
      await part.getByText(url, { exact: true }).waitFor({ state: "detached" });
      await assert.rejects(admits(url, renewed));
    },

    async "adds an MCP server, tells why it fails, and changes it"(page) {
      await typeInPalette(page, texts.commands.settingsServers);
      await page.keyboard.press("Enter");
      await servers(page).getByText(texts.servers.noServers, { exact: true }).waitFor();
      await button(servers(page), texts.servers.addAsk).click();
      const add = form(page, texts.servers.add);
      const value = (within) => within.getByLabel(texts.servers.valueOf("FIXTURE_TOKEN"), { exact: true });
      await textbox(add, texts.common.name).fill("Fixture");
      await button(add, texts.common.add).click();
      await alert(add, texts.servers.missing.program).waitFor();
      await textbox(add, texts.servers.program).fill(join(dirname(bin), "tools-server"));
      await textbox(add, texts.servers.folder).fill(home);
      await textbox(add, texts.servers.arguments).fill("--fail");
      await button(add, texts.servers.addOne(texts.servers.variable)).click();
      await textbox(add, texts.servers.nameOf(texts.servers.variable, 1)).fill("FIXTURE_TOKEN");
      await value(add).fill(SECRET);
      await show(page, "55-browser-server-form.png");
      await as(page, "dark", SMALL, () => show(page, "55-browser-server-form-dark.png"));
      await button(add, texts.common.add).click();
      // The server's last words.
      await entry(page, "Fixture").getByText("no licence was found").waitFor();
      await entry(page, "Fixture").getByText("FIXTURE_TOKEN").waitFor();
      await button(alert(page, "no licence was found"), texts.common.close).click();

      // Secrets are not read back, so each has to be entered again.
      await button(entry(page, "Fixture"), texts.servers.change("Fixture")).click();
      const change = form(page, texts.servers.change("Fixture"));
      assert.equal(await value(change).inputValue(), "");
      await textbox(change, texts.servers.arguments).fill("--many\n90");
      await button(change, texts.common.save).click();
      await alert(change, texts.servers.missing.secretValue("FIXTURE_TOKEN")).waitFor();
      await value(change).fill(SECRET);
      await button(change, texts.common.save).click();
      await entry(page, "Fixture")
        .getByText(pattern`^${counted(texts.servers.waiting)}$`)
        .waitFor();
      await button(entry(page, "Fixture"), texts.servers.seeWaiting).waitFor();
      await entry(page, "Fixture").getByText(texts.servers.running, { exact: true }).waitFor();
      assert.equal(await page.evaluate((secret) => document.documentElement.outerHTML.includes(secret), SECRET), false);
    },

    async "takes the tools of a trusted server over and looks at them again"(page) {
      await button(entry(page, "Fixture"), texts.servers.change("Fixture")).click();
      const change = form(page, texts.servers.change("Fixture"));
      await button(change, texts.servers.remove("FIXTURE_TOKEN")).click();
      await checkbox(change, texts.servers.trust).check();
      await change.getByText(texts.servers.trustedAbout).waitFor();
      await button(change, texts.common.save).click();
      await entry(page, "Fixture").getByText(texts.common.tools(100), { exact: true }).waitFor();
      await entry(page, "Fixture").getByText(texts.servers.trusted, { exact: true }).waitFor();
      assert.equal(await entry(page, "Fixture").getByText("FIXTURE_TOKEN").count(), 0);
      await show(page, "56-browser-servers.png");
      await as(page, "dark", SMALL, () => show(page, "56-browser-servers-dark.png"));
      const look = button(entry(page, "Fixture"), texts.servers.lookAgainAt("Fixture"));
      const { job } = await (await answerTo(page, "servers_refresh", () => look.click())).json();
      assert(job, "a look is a job");
      const { title, tally } = await ended(page, call, job);
      assert.match(title, /\bFixture\b/);
      assert.deepEqual([tally.added, tally.changed, tally.unchanged], [0, 0, 100]);
      await look.waitFor();
    },

    async "shows what agents did, in figures, charts and tables"(page) {
      const one = await agent(bin, options, env);
      const found = await one.search("gives back what it is given");
      const named = (word) => found.results.find(({ id, name }) => `${id} ${name}`.includes(word))?.name;
      assert(named("echo"), JSON.stringify(found));
      await one.call(named("echo"), { text: "tea" });
      await one.call(named("echo"), { text: "coffee" });
      const wrong = (await one.search("answers with an error")).results.find(({ name }) => name.includes("wrong"));
      assert.equal((await one.call(wrong.name, {})).isError, true);
      await one.search("nothing in this library is called zzyzx qwrtp");
      await one.leave();

      await page.keyboard.press("Control+5");
      const figures = region(page, texts.activity.inFigures);
      const figure = (name) =>
        figures
          .locator("div", { has: page.getByText(name, { exact: true }) })
          .last()
          .locator("dd");
      await figures.waitFor();
      await segment(page, texts.activity.howFarBack, texts.activity.days(30)).click();
      assert.deepEqual(await figure(texts.activity.sessions).allInnerTexts(), ["1", texts.activity.ofPrograms(1)]);
      assert.equal(await figure(texts.activity.searches).first().innerText(), "3");
      assert.deepEqual(await figure(texts.activity.calls).allInnerTexts(), ["3", texts.activity.failedOf(1)]);
      const tools = region(page, texts.activity.toolsCalledMost);
      assert.match(
        await tools.getByRole("img").getAttribute("aria-label"),
        pattern`${texts.activity.toolUse("echo", 2, 0)}.*${texts.activity.toolUse("wrong", 1, 1)}`,
      );
      const wrongs = tools.getByRole("row", { name: /wrong/ });
      assert.deepEqual((await wrongs.getByRole("cell").allInnerTexts()).slice(0, 2), ["1", "1"]);
      const days = region(page, texts.activity.dayByDay);
      const use = texts.activity.use(3, 3, 1);
      await days
        .getByRole("img", {
          name: pattern`^${texts.activity.searchesAndCalls}\. ${texts.activity.used(1, 31, use, ANY, use)}$`,
        })
        .waitFor();
      await days
        .getByRole("img", {
          name: pattern`^${texts.activity.timeOfASearch}\. ${texts.activity.times(ANY, ANY, ANY)}`,
        })
        .waitFor();
      // Days without activity are collapsed.
      assert.equal(await days.locator("tbody tr").count(), 1);
      assert.deepEqual((await days.locator("tbody td").allInnerTexts()).slice(0, 4), ["3", "3", "1", "0"]);
      await button(days, texts.activity.showAllDays(31)).click();
      await days.locator("tbody tr").nth(30).waitFor();
      await button(days, texts.activity.leaveOut(30)).click();
      await days.locator("tbody tr").nth(1).waitFor({ state: "detached" });
      const row = (within, name) => within.getByRole("rowheader", { name, exact: true });
      await row(region(page, texts.activity.timeOfASearch), texts.activity.tiers.library).waitFor();
      await row(region(page, texts.activity.tokensOfASession), texts.activity.sessionWithAutokit).waitFor();
      await region(page, texts.activity.programs).getByRole("row", { name: "test agent 1", exact: true }).waitFor();
      const whole = { width: 1180, height: 1240 };
      await as(page, "light", whole, () => show(page, "57-browser-activity-light.png"));
      await as(page, "dark", whole, () => show(page, "58-browser-activity-dark.png"));
      await as(page, "light", SMALL, () => show(page, "59-browser-activity-small.png"));
    },

    async "counts anew when one comes back, and when asked to"(page) {
      const sessions = region(page, texts.activity.inFigures).getByRole("definition").first();
      const again = async () => {
        const one = await agent(bin, options, env);
        await one.search("gives back what it is given");
        await one.leave();
      };
      await page.keyboard.press("Control+4");
      await again();
      await page.keyboard.press("Control+5");
      await page.getByRole("row", { name: "test agent 2", exact: true }).waitFor();
      assert.equal(await sessions.innerText(), "2");
      await again();
      await button(page, texts.activity.refresh).click();
      await page.getByRole("row", { name: "test agent 3", exact: true }).waitFor();
      assert.equal(await sessions.innerText(), "3");
      // An error is shown with a way to retry, and the previous values stay.
      const wrong = { code: "owner_unreachable", message: "the engine does not answer", remedy: "Start it again." };
      await page.route("**/v1/call/activity_get", (route) => route.fulfill({ status: 503, json: wrong }));
      await segment(page, texts.activity.howFarBack, texts.activity.days(90)).click();
      const told = alert(page, wrong.message);
      await told.waitFor();
      assert.equal(await sessions.innerText(), "3");
      await page.unroute("**/v1/call/activity_get");
      await button(told, texts.common.tryAgain).click();
      await told.waitFor({ state: "detached" });
    },

    async "calls a tool by hand, after what it needs was allowed"(page) {
      const rules = (await call("profiles_list", {})).profiles[0];
      await call("profiles_set", {
        ...rules,
        permissions: { ...rules.permissions, tools: { otherwise: "ask", overridable: false, rules: [] } },
      });
      await typeInPalette(page, "echo");
      await offered(page, "echo").first().click();
      await page.getByRole("tab", { name: texts.card.call, exact: true }).click();
      const field = page.getByRole("textbox", { name: /^text\b/ });
      const times = page.getByRole("textbox", { name: /^times\b/ });
      await times.fill("often");
      await button(page, texts.card.callTool("echo")).click();
      await page.getByText(texts.card.notANumber, { exact: true }).waitFor();
      await times.fill("");
      await field.fill("coffee");
      await button(page, texts.card.editAsJson).click();
      const box = textbox(page, texts.card.arguments);
      await box.fill('{ "text": ');
      await button(page, texts.card.callTool("echo")).click();
      await alert(page, pattern`${texts.card.argumentsNotJson(ANY)}`).waitFor();
      await box.fill('{ "text": "milk" }');
      await button(page, texts.card.editAsForm).click();
      assert.equal(await field.inputValue(), "milk");
      await field.fill("tea");
      await field.press("Enter");
      const asks = page.getByRole("group", { name: texts.card.needsYourApproval, exact: true });
      await asks
        .getByRole("listitem")
        .filter({ hasText: /\becho\b.*\bFixture\b/ })
        .waitFor();
      await show(page, "59-browser-call-asks.png");
      await button(asks, texts.card.allowOnce).click();
      const answer = region(page, texts.card.answer);
      await answer.getByText(pattern`${texts.card.answered}\s+${texts.card.answeredIn(ANY)}`).waitFor();
      await answer.getByText('"text": "tea"').waitFor();
      await as(page, "light", { width: 1180, height: 780 }, () => show(page, "59-browser-call-light.png"));
      await as(page, "dark", { width: 900, height: 600 }, () => show(page, "59-browser-call-dark.png"));
      await call("profiles_set", rules);
      await button(page, texts.card.closeCard).click();
    },

    async "removes a server once that was confirmed"(page) {
      await openGroup(page, "agents");
      await button(entry(page, "Fixture"), texts.servers.remove("Fixture")).click();
      const asked = dialog(page, texts.servers.removeTitle);
      await asked.getByText(texts.servers.removeAbout(false)).waitFor();
      await as(page, "light", SMALL, () => show(page, "60-browser-server-remove.png"));
      await button(asked, texts.common.remove).click();
      await servers(page).getByText(texts.servers.noServers, { exact: true }).waitFor();
    },
  };
};
