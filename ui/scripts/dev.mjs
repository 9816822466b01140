// Serves the pages with hot reload for a running engine (`autokit serve`, or the app itself): `npm run dev`, with
// `-- --data-dir DIR` for a library other than the default one.
//
// Requests to the engine go through Vite's proxy: the pages then have the engine's origin, and the engine need not
// allow another one.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createServer } from "vite";

const { values } = parseArgs({ options: { "data-dir": { type: "string" } } });

/** Returns the default library folder, like `autokit-workspace/src/paths.rs`. */
function dataDir() {
  if (process.env.AUTOKIT_DATA_DIR) return process.env.AUTOKIT_DATA_DIR;
  const platform = {
    darwin: () => join(homedir(), "Library", "Application Support"),
    win32: () => process.env.APPDATA ?? join(homedir(), "AppData", "Roaming"),
  }[process.platform];
  const xdg = process.env.XDG_DATA_HOME ?? "";
  const home = platform ? platform() : isAbsolute(xdg) ? xdg : join(homedir(), ".local", "share");
  return join(home, "autokit", "library");
}

function stop(problem) {
  console.error(`${problem}\nStart the engine with \`autokit serve\`, or name its library with \`-- --data-dir DIR\`.`);
  process.exit(1);
}

const file = join(values["data-dir"] ?? dataDir(), "endpoint.json");
let endpoint;
try {
  endpoint = JSON.parse(readFileSync(file, "utf8"));
} catch (error) {
  stop(`${file} cannot be read: ${error.message}`);
}
const engine = `http://127.0.0.1:${endpoint.port}`;
try {
  const hello = await fetch(`${engine}/v1/hello`, { headers: { authorization: `Bearer ${endpoint.token}` } });
  if (!hello.ok) stop(`The engine at ${engine} answers ${hello.status}.`);
} catch (error) {
  stop(`No engine answers at ${engine}: ${error.cause?.message ?? error.message}.`);
}

// Read by `vite.config.ts`, which proxies `/v1` to it.
process.env.AUTOKIT_ENGINE = engine;
const server = await createServer({
  root: resolve(fileURLToPath(import.meta.url), "../.."),
  server: { host: "127.0.0.1" },
});
await server.listen();
const { port } = server.httpServer.address();
console.log(`http://127.0.0.1:${port}/#token=${endpoint.token}`);
