// The texts of the window, from `src/texts`. Tests name a text by its entry, as in `texts.review.accept` or
// `texts.library.selected(2)`, so that a reworded text breaks none of them.

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const ui = resolve(fileURLToPath(import.meta.url), "../../..");

/** Loads modules of the window, given by their paths in `src`. They must work without a DOM. */
async function load(paths) {
  const server = await createServer({
    root: ui,
    // Plain modules need no plugins.
    configFile: false,
    appType: "custom",
    logLevel: "error",
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  try {
    return await Promise.all(paths.map((path) => server.ssrLoadModule(`/src/${path}`)));
  } finally {
    await server.close();
  }
}

/** Makes it an error to read an entry that does not exist: a name that is `undefined` would match everything. */
function strict(entries, path = "") {
  return new Proxy(entries, {
    get(target, key) {
      const entry = Reflect.get(target, key);
      if (Object.hasOwn(target, key)) {
        return typeof entry === "object" && !Array.isArray(entry) ? strict(entry, `${path}${key}.`) : entry;
      }
      // Also asked for by what awaits, compares or prints the object.
      if (typeof key === "symbol" || key === "then" || key === "toJSON" || key in target) return entry;
      throw new Error(`no text "${path}${key}"`);
    },
  });
}

const names = ["texts", "texts/settings"].flatMap((folder) =>
  readdirSync(join(ui, "src", folder))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`),
);
const [format, ...modules] = await load(["lib/format.ts", ...names]);
const entries = {};
for (const [name, texts] of modules.flatMap((module) => Object.entries(module))) {
  if (Object.hasOwn(entries, name)) throw new Error(`two modules of texts export "${name}"`);
  entries[name] = texts;
}

/** All texts, by the names under which their modules export them. */
export const texts = strict(entries);

/** Returns the display name of a field of a card. */
export const { fieldName } = format;

/** Stands for any words in an argument of a text that is made a pattern. */
export const ANY = "\uf8ff";

const source = (part) =>
  part instanceof RegExp
    ? part.source
    : String(part)
        .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
        .replaceAll(ANY, ".*");

/** Makes a pattern of a template, in which texts stand for themselves: `` pattern`^${texts.app.pause}: ` ``. */
export function pattern({ raw }, ...parts) {
  return new RegExp(raw.map((piece, at) => piece + (at < parts.length ? source(parts[at]) : "")).join(""));
}

/** Makes a pattern of a text about a number, for any number: `counted((n) => texts.library.found(1, n))`. */
export function counted(entry) {
  const forms = [1, 7_654_321].map((n) => {
    const number = new RegExp(`(?<!\\d|\\d,)(?:${n.toLocaleString("en")}|${n})(?!\\d|,\\d)`, "g");
    return source(entry(n)).replace(number, "[\\d,]+");
  });
  return new RegExp(`(?:${forms.join("|")})`);
}
