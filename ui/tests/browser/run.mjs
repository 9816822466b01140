// The pages in a browser against the real engine: `autokit serve` behind Vite's preview server.
//
//   AUTOKIT_BIN   the autokit command, built
//   CHROMIUM      a Chromium, /usr/bin/chromium when not given
//   ROWS          cards in the large library, 100000 when not given

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { preview } from "vite";

const ui = resolve(fileURLToPath(import.meta.url), "../../..");
const artifacts = resolve(ui, "../tests/artifacts");
const bin = process.env.AUTOKIT_BIN;
const ROWS = Number(process.env.ROWS ?? 100_000);
assert(bin, "AUTOKIT_BIN names the autokit command; `cargo xtask test` sets it");
mkdirSync(artifacts, { recursive: true });

const folder = mkdtempSync(join(tmpdir(), "autokit-browser-"));
const library = join(folder, "library");
const options = ["--data-dir", library, "--no-model"];
let engine, server, browser;

function autokit(...words) {
  const done = spawnSync(bin, [...options, "--json", ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(done.status, 0, `autokit ${words.join(" ")}: ${done.stderr}`);
  return JSON.parse(done.stdout);
}

async function start() {
  const cards = Array.from({ length: ROWS }, (_, index) => ({
    name: `tool ${String(index).padStart(6, "0")}`,
    provider: `vendor ${index % 50}`,
    description: `Does thing number ${index} for account ${index % 977}.`,
    programming_language: index % 2 ? "python" : "typescript",
    documentation: `https://docs.example.org/${index}`,
    verified: index % 3 === 0,
  }));
  // Markup and marks of direction must stay text, wherever they are shown.
  cards[0].name = "<img src=x onerror=window.hit=1>";
  cards[0].description = "<script>window.hit=1</script> \u202eevil";
  const file = join(folder, "cards.json");
  writeFileSync(file, JSON.stringify(cards));
  autokit("import", file);

  engine = spawn(bin, [...options, "serve", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  await once(engine.stdout, "data");
  const endpoint = JSON.parse(readFileSync(join(library, "endpoint.json"), "utf8"));
  // The settings of this server pass calls on to the engine named here.
  process.env.AUTOKIT_ENGINE = `http://127.0.0.1:${endpoint.port}`;
  server = await preview({ root: ui, logLevel: "error", preview: { port: 0, host: "127.0.0.1" } });
  const page = `http://127.0.0.1:${server.httpServer.address().port}/#token=${endpoint.token}`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  return page;
}

/** Scrolls for `ms` and gives the length of every frame, in milliseconds. */
function frames(ms) {
  const viewport = document.querySelector(".viewport");
  const end = viewport.scrollHeight - viewport.clientHeight;
  return new Promise((done) => {
    const lengths = [];
    const began = performance.now();
    let last = began;
    let at = 0;
    function frame(now) {
      lengths.push(now - last);
      last = now;
      // Steady reading pace with a jump to somewhere far now and then.
      at = lengths.length % 60 === 0 ? (at * 7919 + 104729) % end : at + 90;
      viewport.scrollTop = at % end;
      if (now - began < ms) requestAnimationFrame(frame);
      else done(lengths.slice(1));
    }
    requestAnimationFrame(frame);
  });
}

const tests = {
  async "asks by words while typing and opens the card"(page) {
    await page.getByLabel("What should the tool do?").fill("thing number 4711");
    await page.getByRole("heading", { name: "tool 004711" }).waitFor();
    await page.getByText("Ranked by words alone").waitFor();
    await page.getByRole("button", { name: "tool 004711" }).first().click();
    await page.locator("aside h1", { hasText: "tool 004711" }).waitFor();
    await page.keyboard.press("Escape");
  },

  async "takes markup in cards as text"(page) {
    await page.getByLabel("Filter by name, provider or description").fill("<img");
    await page.locator(".row .name", { hasText: "<img src=x" }).click();
    await page.locator("aside h1", { hasText: "<img src=x onerror=window.hit=1>" }).waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show all" }).click();
  },

  async [`scrolls ${ROWS} rows with at most 1 % of frames over 50 ms`](page) {
    await page.locator(".row .name", { hasText: "tool 000001" }).waitFor();
    const lengths = await page.evaluate(frames, 8000);
    const slow = lengths.filter((length) => length > 50).length;
    const sorted = [...lengths].sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(1);
    console.log(
      `    ${lengths.length} frames, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${slow} over 50 ms (${((slow / lengths.length) * 100).toFixed(2)} %)`,
    );
    assert(slow / lengths.length <= 0.01, `${slow} of ${lengths.length} frames took over 50 ms`);
    // What stands still after the last jump is filled in, not left blank.
    await page.waitForFunction(() => !document.querySelector(".row .blank"));
    await page.screenshot({ path: join(artifacts, "20-browser-table.png") });
  },

  async "moves by keyboard from row to row"(page) {
    await page.getByRole("grid", { name: "Cards" }).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator("aside h1", { hasText: "tool 000002" }).waitFor();
    await page.keyboard.press("Escape");
  },

  async "previews a pasted import, imports it and undoes it"(page) {
    await page.getByRole("button", { name: "Import…" }).click();
    const text = JSON.stringify([
      { name: "tool 000005", provider: "vendor 5", description: "Changed words." },
      { name: "pasted tool", description: "New here." },
      { name: "" },
    ]);
    await page.getByLabel("AutoKit JSON").fill(text);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("`name`").or(page.getByText("Name is empty")).first().waitFor();
    await page.screenshot({ path: join(artifacts, "21-browser-import.png") });
    await page.getByRole("button", { name: "Import 2 cards" }).click();
    await page.locator("footer .job", { hasText: "1 added, 1 changed, 1 rejected" }).waitFor();
    await page.getByText(`${(ROWS + 1).toLocaleString("en")} cards`).first().waitFor();
    await page.getByRole("button", { name: "Undo" }).first().click();
    await page.getByText(`${ROWS.toLocaleString("en")} cards`).first().waitFor();
  },

  async "reaches commands and cards from the palette"(page) {
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A command or a card").fill("tool 000042");
    await page.locator(".palette-item", { hasText: "tool 000042" }).waitFor();
    await page.screenshot({ path: join(artifacts, "22-browser-palette.png") });
    await page.locator(".palette-item", { hasText: "tool 000042" }).click();
    await page.locator("aside h1", { hasText: "tool 000042" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A command or a card").fill("light and dark");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  },

  async "refuses a wrong token with a sentence"(page) {
    await page.goto(page.url().replace(/#.*/, "#token=wrong"));
    await page.reload();
    await page.getByRole("alert").getByText("autokit serve").waitFor();
    await page.screenshot({ path: join(artifacts, "23-browser-error.png") });
  },
};

let failed = 0;
try {
  const url = await start();
  const page = await browser.newPage({ viewport: { width: 1180, height: 780 } });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test(page);
      assert.deepEqual(complaints.splice(0), [], "the page threw");
      console.log(`  ✓ ${name}`);
    } catch (error) {
      failed++;
      console.log(`  ✗ ${name}\n${error.stack}`);
      await page.screenshot({ path: join(artifacts, `failed-${failed}.png`) });
      break;
    }
  }
} finally {
  await browser?.close();
  await server?.close();
  if (engine) {
    engine.kill("SIGTERM");
    if (engine.exitCode === null) await once(engine, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
