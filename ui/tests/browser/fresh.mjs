// A window of its own on a library of its own, for tests that the state of others would disturb.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { resolve, join } from "node:path";
import { fileURLToPath } from "node:url";
import { preview } from "vite";

const ui = resolve(fileURLToPath(import.meta.url), "../../..");

/**
 * Starts an engine in this folder, by default with the starter cards and without a model, and a server of the pages for
 * it. Returns the address of the window; `call`, which calls a command of the engine; `home`, where the settings of
 * programs are read; and `close`.
 */
export async function fresh(bin, folder, flags = ["--starter", "--no-model"]) {
  const [library, home] = [join(folder, "library"), join(folder, "home")];
  mkdirSync(home, { recursive: true });
  const env = {
    ...process.env,
    AUTOKIT_LOG: "off,autokit=error",
    AUTOKIT_CONFIG_DIR: join(folder, "config"),
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    APPDATA: join(home, "AppData", "Roaming"),
  };
  const engine = spawn(bin, ["--data-dir", library, ...flags, "serve", "--json"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(engine.stdout, "data");
  const { port, token, protocol } = JSON.parse(readFileSync(join(library, "endpoint.json"), "utf8"));
  const other = process.env.AUTOKIT_ENGINE;
  // Read by `vite.config.ts` when a server of the pages starts.
  process.env.AUTOKIT_ENGINE = `http://127.0.0.1:${port}`;
  const server = await preview({ root: ui, logLevel: "error", preview: { port: 0, host: "127.0.0.1" } });
  process.env.AUTOKIT_ENGINE = other;
  return {
    home,
    url: `http://127.0.0.1:${server.httpServer.address().port}/#token=${token}`,
    async call(name, body) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/call/${name}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${token}`,
          "x-autokit-protocol": String(protocol),
        },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
      return answer.json();
    },
    async close() {
      const gone = once(engine, "exit");
      engine.kill("SIGTERM");
      await gone;
      // Requests that nobody answered would keep it open.
      server.httpServer.closeAllConnections();
      await server.close();
    },
  };
}
