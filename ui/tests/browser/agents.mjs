// Agents: their activity, their clients, and the servers whose tools they call.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

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
  const servers = (page) => page.locator("section[aria-labelledby=servers]");
  const entry = (page, name) => servers(page).getByRole("listitem").filter({ hasText: name });
  const SMALL = { width: 900, height: 600 };
  const SECRET = "token-of-this-test-51c8";

  return {
    async "tells how to connect an agent where none was at work"(page) {
      await page.keyboard.press("Control+5");
      await page.getByRole("heading", { name: "No agent activity in the last 30 days" }).waitFor();
      await page.getByText("7 days", { exact: true }).click();
      await page.getByRole("heading", { name: "No agent activity in the last 7 days" }).waitFor();
      await show(page, "50-browser-activity-empty.png");
      await page.getByRole("button", { name: "Connect a client" }).click();
      await page.getByRole("list", { name: "Clients" }).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.id), "agents");
    },

    async "connects an agent after showing exactly what changes"(page) {
      const [folder, hurt] = [join(home, ".cursor"), join(home, ".codeium", "windsurf")];
      const [file, before] = [join(folder, "mcp.json"), '{\n  "mcpServers": {\n    "mine": {"command": "x"}\n  }\n}\n'];
      for (const made of [folder, hurt]) mkdirSync(made, { recursive: true });
      writeFileSync(file, before);
      writeFileSync(join(hurt, "mcp_config.json"), "{ mine");
      const programs = page.getByRole("list", { name: "Clients" });
      const section = page.locator("section[aria-labelledby=agents]");
      await section.getByRole("button", { name: "Refresh" }).click();
      const cursor = programs.getByRole("listitem").filter({ hasText: "Cursor" });
      await cursor.getByText("not connected").waitFor();
      await show(page, "51-browser-agents.png");
      await as(page, "dark", SMALL, () => show(page, "51-browser-agents-dark.png"));

      await cursor.getByRole("button", { name: "Connect Cursor", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Connect Cursor" });
      await dialog.getByText(file, { exact: true }).waitFor();
      await dialog.locator("ins", { hasText: '"autokit": {' }).waitFor();
      await dialog.getByText("A backup copy is saved next to it").waitFor();
      await show(page, "52-browser-connect.png");
      await as(page, "dark", SMALL, () => show(page, "52-browser-connect-dark.png"));
      // The preview does not write the file, and changes made in the meantime are not overwritten.
      assert.equal(readFileSync(file, "utf8"), before);
      const meanwhile = before.replace('"x"', '"y"');
      writeFileSync(file, meanwhile);
      await dialog.getByRole("button", { name: "Update file" }).click();
      await dialog.getByRole("alert").getByText("changed after the preview").waitFor();
      assert.equal(readFileSync(file, "utf8"), meanwhile);
      await dialog.getByRole("button", { name: "Try again" }).click();
      await dialog.getByText('"command": "y"').first().waitFor();
      await dialog.getByRole("button", { name: "Update file" }).click();
      const done = page.getByRole("dialog", { name: "Connected Cursor" });
      // The file is written by the time this text appears.
      await done.getByText("The previous version was saved to").waitFor();
      const backup = readdirSync(folder).find((name) => name.includes("before-autokit"));
      await done.getByText(join(folder, backup)).waitFor();
      await show(page, "53-browser-connected.png");
      assert.equal(readFileSync(join(folder, backup), "utf8"), meanwhile);
      const after = JSON.parse(readFileSync(file, "utf8")).mcpServers;
      assert.equal(after.mine.command, "y");
      assert.equal(after.autokit.command, bin);
      assert.equal(after.autokit.args.at(-1), "mcp");
      await done.getByRole("button", { name: "Done" }).click();
      await cursor.getByText("connected", { exact: true }).waitFor();
      assert.equal(await cursor.getByRole("button", { name: "Connect Cursor", exact: true }).count(), 0);

      // A file that cannot be changed without loss is left to the user.
      await programs.getByRole("button", { name: "Show manual setup for Windsurf" }).click();
      const byHand = page.getByRole("dialog", { name: "Connect Windsurf" });
      await byHand.getByText("it is not valid JSON").waitFor();
      await byHand.getByText('"mcpServers"').waitFor();
      assert.equal(await byHand.getByRole("button", { name: "Update file" }).count(), 0);
      await show(page, "54-browser-by-hand.png");
      await byHand.getByRole("button", { name: "Close", exact: true }).last().click();
      await byHand.waitFor({ state: "detached" });
    },

    async "disconnects an agent after showing exactly what changes"(page) {
      const file = join(home, ".cursor", "mcp.json");
      const before = readFileSync(file, "utf8");
      const copies = () => readdirSync(dirname(file)).filter((name) => name.includes("before-autokit"));
      const had = copies();
      const cursor = page.getByRole("list", { name: "Clients" }).getByRole("listitem").filter({ hasText: "Cursor" });
      await cursor.getByRole("button", { name: "Disconnect Cursor" }).click();
      const dialog = page.getByRole("dialog", { name: "Disconnect Cursor" });
      await dialog.getByText("AutoKit will be removed from its MCP servers").waitFor();
      await dialog.locator("del", { hasText: '"autokit": {' }).waitFor();
      await show(page, "61-browser-disconnect.png");
      await as(page, "dark", SMALL, () => show(page, "61-browser-disconnect-dark.png"));
      // Neither the preview nor cancelling writes the file.
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
      assert.equal(readFileSync(file, "utf8"), before);

      await cursor.getByRole("button", { name: "Disconnect Cursor" }).click();
      await dialog.getByRole("button", { name: "Update file" }).click();
      const done = page.getByRole("dialog", { name: "Disconnected Cursor" });
      await done.getByText("The previous version was saved to").waitFor();
      const backup = copies().find((name) => !had.includes(name));
      await done.getByText(join(dirname(file), backup)).waitFor();
      assert.equal(readFileSync(join(dirname(file), backup), "utf8"), before);
      assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers), ["mine"]);
      await done.getByRole("button", { name: "Done" }).click();
      await cursor.getByText("not connected").waitFor();
      assert.equal(await cursor.getByRole("button", { name: "Disconnect Cursor" }).count(), 0);
    },

    async "opens an address for programs that cannot start AutoKit"(page) {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      const part = page.getByRole("group", { name: "Connect over HTTP" });
      const [port, save] = [part.getByLabel("Port", { exact: true }), part.getByRole("button", { name: "Save" })];
      const copied = async (what) => {
        await part.getByRole("button", { name: `Copy the ${what} for HTTP clients` }).click();
        await part.getByRole("button", { name: `Copied the ${what} for HTTP clients` }).waitFor();
        return page.evaluate(() => navigator.clipboard.readText());
      };
      await port.fill("80");
      await part.getByLabel("Enable the HTTP server").check();
      await save.click();
      await part.getByText("Enter a port from 1024 to 65535").waitFor();

      // A port in use is reported, and the endpoint stays closed.
      const other = await anyPort();
      await port.fill(String(other.port));
      await save.click();
      await part.getByRole("alert").getByText(`Port ${other.port} is already in use`).waitFor();
      await part.scrollIntoViewIfNeeded();
      await show(page, "62-browser-address-taken.png");
      assert.equal(await part.getByText("listening", { exact: true }).count(), 0);
      await other.close();
      await save.click();
      await part.getByText("listening", { exact: true }).waitFor();
      const url = await part.getByText(/^http:\/\/127\.0\.0\.1:/).innerText();
      assert(url.includes(`:${other.port}/`), url);

      // The token is only available through the clipboard.
      const token = await copied("token");
      const lines = JSON.parse(await copied("configuration")).mcpServers.autokit;
      assert.deepEqual([lines.url, lines.headers.Authorization], [url, `Bearer ${token}`]);
      assert.match(await part.getByLabel("Client configuration").innerText(), /Bearer •+"/);
      assert.equal(await page.evaluate((token) => document.documentElement.outerHTML.includes(token), token), false);
      assert.deepEqual([await admits(url, token), await admits(url, "wrong")], [true, false]);
      await part.scrollIntoViewIfNeeded();
      await show(page, "63-browser-address.png");
      await as(page, "dark", SMALL, () => show(page, "63-browser-address-dark.png"));

      await part.getByRole("button", { name: "Replace token…" }).click();
      const asked = page.getByRole("dialog", { name: "Replace the token?" });
      await asked.getByText("will be rejected").waitFor();
      await show(page, "64-browser-address-renew.png");
      await asked.getByRole("button", { name: "Replace token" }).click();
      await page.getByText("Token replaced").first().waitFor();
      const renewed = await copied("token");
      assert.deepEqual([await admits(url, token), await admits(url, renewed)], [false, true]);

      await part.getByLabel("Enable the HTTP server").uncheck();
      await save.click();
      await part.getByText(url, { exact: true }).waitFor({ state: "detached" });
      await assert.rejects(admits(url, renewed));
    },

    async "adds an MCP server, tells why it fails, and changes it"(page) {
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Search commands and cards").fill("mcp servers");
      await page.keyboard.press("Enter");
      await servers(page).getByText("No MCP servers yet").waitFor();
      await servers(page).getByRole("button", { name: "Add server…" }).click();
      const form = page.getByRole("form", { name: "Add MCP server" });
      await form.getByLabel("Name", { exact: true }).fill("Fixture");
      await form.getByRole("button", { name: "Add", exact: true }).click();
      await form.getByRole("alert").getByText("Enter the command").waitFor();
      await form
        .getByLabel("Command", { exact: true })
        .last()
        .fill(join(dirname(bin), "tools-server"));
      await form.getByLabel("Working directory").fill(home);
      await form.getByLabel("Arguments, one per line").fill("--fail");
      await form.getByRole("button", { name: "Add a variable" }).click();
      await form.getByLabel("Name of variable 1").fill("FIXTURE_TOKEN");
      await form.getByLabel("Value of FIXTURE_TOKEN").fill(SECRET);
      await show(page, "55-browser-server-form.png");
      await as(page, "dark", SMALL, () => show(page, "55-browser-server-form-dark.png"));
      await form.getByRole("button", { name: "Add", exact: true }).click();
      await entry(page, "Fixture").getByText("no licence was found").waitFor();
      await entry(page, "Fixture").getByText("FIXTURE_TOKEN").waitFor();
      await page
        .getByRole("alert")
        .filter({ hasText: "no licence was found" })
        .getByRole("button", { name: "Close" })
        .click();

      // Secrets are not read back, so each has to be entered again.
      await entry(page, "Fixture").getByRole("button", { name: "Edit Fixture" }).click();
      const change = page.getByRole("form", { name: "Edit Fixture" });
      assert.equal(await change.getByLabel("Value of FIXTURE_TOKEN").inputValue(), "");
      await change.getByLabel("Arguments, one per line").fill("--many\n90");
      await change.getByRole("button", { name: "Save" }).click();
      await change.getByRole("alert").getByText("Enter a value for FIXTURE_TOKEN or remove it.").waitFor();
      await change.getByLabel("Value of FIXTURE_TOKEN").fill(SECRET);
      await change.getByRole("button", { name: "Save" }).click();
      await entry(page, "Fixture")
        .getByText(/^\d+ tools pending review$/)
        .waitFor();
      await entry(page, "Fixture").getByRole("button", { name: "Show pending tools in Review" }).waitFor();
      await entry(page, "Fixture").getByText("running", { exact: true }).waitFor();
      assert.equal(await page.evaluate((secret) => document.documentElement.outerHTML.includes(secret), SECRET), false);
    },

    async "takes the tools of a trusted server over and looks at them again"(page) {
      await entry(page, "Fixture").getByRole("button", { name: "Edit Fixture" }).click();
      const change = page.getByRole("form", { name: "Edit Fixture" });
      await change.getByRole("button", { name: "Remove FIXTURE_TOKEN" }).click();
      await change.getByLabel("Trust this server").check();
      await change.getByText("without review, now and whenever they change").waitFor();
      await change.getByRole("button", { name: "Save" }).click();
      await entry(page, "Fixture").getByText("100 tools").waitFor();
      await entry(page, "Fixture").getByText("trusted", { exact: true }).waitFor();
      assert.equal(await entry(page, "Fixture").getByText("FIXTURE_TOKEN").count(), 0);
      await show(page, "56-browser-servers.png");
      await as(page, "dark", SMALL, () => show(page, "56-browser-servers-dark.png"));
      const asked = page.waitForResponse((answer) => answer.url().endsWith("/servers_refresh"));
      await entry(page, "Fixture").getByRole("button", { name: "Refresh Fixture" }).click();
      assert((await (await asked).json()).job, "a look is a job");
      await page.locator("footer .job", { hasText: "Reading the tools of Fixture: 100 unchanged" }).waitFor();
      await entry(page, "Fixture").getByRole("button", { name: "Refresh Fixture" }).waitFor();
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
      const figures = page.getByRole("region", { name: "Summary" });
      const figure = (name) =>
        figures
          .locator("div", { has: page.getByText(name, { exact: true }) })
          .last()
          .locator("dd");
      await figures.waitFor();
      await page.getByText("30 days", { exact: true }).click();
      assert.deepEqual(await figure("Sessions").allInnerTexts(), ["1", "from 1 client"]);
      assert.equal(await figure("Searches").first().innerText(), "3");
      assert.deepEqual(await figure("Calls").allInnerTexts(), ["3", "1 failed"]);
      const tools = page.getByRole("region", { name: "Most used tools" });
      assert.match(await tools.getByRole("img").getAttribute("aria-label"), /echo: 2 calls.*wrong: 1 call, 1 failed/);
      const row = tools.getByRole("row", { name: /wrong/ });
      assert.deepEqual((await row.getByRole("cell").allInnerTexts()).slice(0, 2), ["1", "1"]);
      const days = page.getByRole("region", { name: "Day by day" });
      await days
        .getByRole("img", { name: /^Searches and calls\. Active on 1 of 31 days: 3 searches and 3 calls, 1 failed/ })
        .waitFor();
      await days.getByRole("img", { name: /^Search latency\. .*: median .*, p95 / }).waitFor();
      // Days without activity are collapsed.
      assert.equal(await days.locator("tbody tr").count(), 1);
      assert.deepEqual((await days.locator("tbody td").allInnerTexts()).slice(0, 4), ["3", "3", "1", "0"]);
      await days.getByRole("button", { name: "Show all 31 days" }).click();
      await days.locator("tbody tr").nth(30).waitFor();
      await days.getByRole("button", { name: "Hide 30 days without activity" }).click();
      await days.locator("tbody tr").nth(1).waitFor({ state: "detached" });
      await page
        .getByRole("region", { name: "Search latency" })
        .getByRole("row", { name: /^Library/ })
        .waitFor();
      await page
        .getByRole("region", { name: "Tokens per session" })
        .getByRole("row", { name: /^Session with AutoKit/ })
        .waitFor();
      await page
        .getByRole("region", { name: "Clients" })
        .getByRole("row", { name: "test agent 1", exact: true })
        .waitFor();
      const whole = { width: 1180, height: 1240 };
      await as(page, "light", whole, () => show(page, "57-browser-activity-light.png"));
      await as(page, "dark", whole, () => show(page, "58-browser-activity-dark.png"));
      await as(page, "light", SMALL, () => show(page, "59-browser-activity-small.png"));
    },

    async "counts anew when one comes back, and when asked to"(page) {
      const sessions = page.getByRole("region", { name: "Summary" }).locator("dd").first();
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
      await page.getByRole("button", { name: "Refresh" }).click();
      await page.getByRole("row", { name: "test agent 3", exact: true }).waitFor();
      assert.equal(await sessions.innerText(), "3");
      // An error is shown with a way to retry, and the previous values stay.
      const wrong = { code: "owner_unreachable", message: "the engine does not answer", remedy: "Start it again." };
      await page.route("**/v1/call/activity_get", (route) => route.fulfill({ status: 503, json: wrong }));
      await page.getByText("90 days").click();
      const told = page.getByRole("alert").filter({ hasText: "The engine does not answer" });
      await told.waitFor();
      assert.equal(await sessions.innerText(), "3");
      await page.unroute("**/v1/call/activity_get");
      await told.getByRole("button", { name: "Try again" }).click();
      await told.waitFor({ state: "detached" });
    },

    async "calls a tool by hand, after what it needs was allowed"(page) {
      const rules = (await call("profiles_list", {})).profiles[0];
      await call("profiles_set", {
        ...rules,
        permissions: { ...rules.permissions, tools: { otherwise: "ask", overridable: false, rules: [] } },
      });
      await page.keyboard.press("Control+k");
      await page.getByPlaceholder("Search commands and cards").fill("echo");
      await page.locator(".palette-item", { hasText: "echo" }).first().click();
      await page.getByRole("tab", { name: "Call" }).click();
      const box = page.getByLabel("Arguments");
      await page.waitForFunction(() => document.querySelector("textarea[id$=arguments]")?.value.startsWith("{"));
      await box.fill('{ "text": ');
      await page.getByRole("button", { name: "Call echo" }).click();
      await page.getByText("Invalid JSON").waitFor();
      await box.fill('{ "text": "tea" }');
      await box.press("Control+Enter");
      const asks = page.getByRole("group", { name: "Needs your approval" });
      await asks.getByText("to call echo from Fixture").waitFor();
      await show(page, "59-browser-call-asks.png");
      await asks.getByRole("button", { name: "Allow once and call" }).click();
      const answer = page.getByRole("region", { name: "Response" });
      await answer.getByText("succeeded in").waitFor();
      await answer.getByText('"text": "tea"').waitFor();
      await as(page, "light", { width: 1180, height: 780 }, () => show(page, "59-browser-call-light.png"));
      await as(page, "dark", { width: 900, height: 600 }, () => show(page, "59-browser-call-dark.png"));
      await call("profiles_set", rules);
      await page.getByRole("button", { name: "Close the card" }).click();
      await page.keyboard.press("Control+6");
    },

    async "removes a server once that was confirmed"(page) {
      await page.keyboard.press("Control+6");
      await entry(page, "Fixture").getByRole("button", { name: "Remove Fixture" }).click();
      const asked = page.getByRole("dialog", { name: "Remove this server?" });
      await asked.getByText("can't be called").waitFor();
      await as(page, "light", SMALL, () => show(page, "60-browser-server-remove.png"));
      await asked.getByRole("button", { name: "Remove" }).click();
      await servers(page).getByText("No MCP servers yet").waitFor();
    },
  };
};
