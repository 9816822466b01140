// The conformance suite of MCP against the address for agents, with the tools it calls behind AutoKit. The suite
// knows no tokens: a proxy in this process adds the one of the address and passes everything else on as it is, the
// names of hosts and origins included.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SUITE = ["simple_text", "image_content", "audio_content", "embedded_resource", "multiple_content_types", "error_handling", "tool_with_progress"];

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const home = mkdtempSync(join(tmpdir(), "autokit-conformance-"));
const words = ["--data-dir", join(home, "library"), "--stand-in", "64"];
const env = { ...process.env, AUTOKIT_CONFIG_DIR: join(home, "config") };
const autokit = (...more) => JSON.parse(execFileSync(process.env.AUTOKIT_BIN, [...words, "--json", ...more], { env, encoding: "utf8" }));

/** A port nobody has at this moment. */
async function freePort() {
  const socket = createSocket().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

/** Passes requests on with the token of the address. */
async function proxied(port, token) {
  const proxy = createServer((ask, answer) => {
    const headers = { ...ask.headers, authorization: `Bearer ${token}` };
    const passed = request({ host: "127.0.0.1", port, path: ask.url, method: ask.method, headers }, (told) => {
      answer.writeHead(told.statusCode, told.headers);
      answer.flushHeaders();
      told.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    ask.pipe(passed);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

/** Waits until somebody answers at a port, as long as the process lives that is to answer there. */
async function answers(port, process) {
  while (process.exitCode === null) {
    const ask = request({ host: "127.0.0.1", port });
    ask.end();
    const [told] = await Promise.race([once(ask, "response"), once(ask, "error").then(() => [null])]).catch(() => [null]);
    if (told) return told.resume();
    await new Promise((then) => setImmediate(then));
  }
  throw new Error("AutoKit ended");
}

autokit("providers", "keys", "--keep", "file");
autokit("servers", "add", "suite", "--trust", "--", process.env.AUTOKIT_SERVER, "--suite");
autokit("profiles", "always", ...SUITE.map((name) => `test_${name}`));
const port = await freePort();
const { lines } = autokit("mcp-http", "on", "--port", String(port));
const token = JSON.parse(lines).mcpServers.autokit.headers.Authorization.replace("Bearer ", "");
const owner = spawn(process.env.AUTOKIT_BIN, [...words, "serve"], { env, stdio: ["ignore", "ignore", "inherit"] });
const ended = once(owner, "exit");
let code = 1;
try {
  await answers(port, owner);
  const proxy = await proxied(port, token);
  // The suite wants a newer Node than AutoKit does; the one of this folder is new enough.
  const [major] = process.versions.node.split(".").map(Number);
  const node = major >= 22 ? process.execPath : here("node_modules/node/bin/node");
  const suite = [
    here("node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    ...["server", "--url", `http://localhost:${proxy.address().port}/mcp`],
    ...["--expected-failures", here("conformance.yml")],
    ...process.argv.slice(2),
  ];
  [code] = await once(spawn(node, suite, { stdio: "inherit" }), "exit");
  proxy.close();
  proxy.closeAllConnections();
} finally {
  owner.kill("SIGTERM");
  await ended;
  rmSync(home, { recursive: true, force: true });
}
process.exitCode = code ?? 1;
