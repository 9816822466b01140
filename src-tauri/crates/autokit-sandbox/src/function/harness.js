// Calls the function of a tool, or runs its tests, and reports what happened as JSON.
//
// Standard input: {"mode": "call" | "tests", "arguments": {...}}
// Standard output, last line: {"value": ...}, {"error": text} or {"access": text}, and "kibibytes" of memory
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");
const { Console } = require("node:console");

/** Modules that only compute. */
const COMPUTE = ["assert", "buffer", "crypto", "events", "path", "punycode", "querystring", "string_decoder", "url", "util"];
const NETWORK = ["dgram", "dns", "http", "http2", "https", "net", "tls", "inspector"];
const PROGRAMS = ["child_process", "cluster", "process", "worker_threads"];

const asked = JSON.parse(fs.readFileSync(0, "utf8"));
let reached;

/** What the tool tried to reach. Kept, so that a tool that catches this has not succeeded. */
function stop(what) {
  reached ??= what;
  throw new Error(what);
}

function load(name) {
  const bare = String(name).replace(/^node:/, "").replace(/\/.*$/, "");
  if (COMPUTE.includes(bare)) return require(bare);
  if (NETWORK.includes(bare)) stop(`uses the network (require "${name}")`);
  if (PROGRAMS.includes(bare)) stop(`starts other programs (require "${name}")`);
  stop(`uses files or other modules (require "${name}")`);
}

/** Strings are not evaluated as code, so that a function of this realm does not lead to what is outside of the context. */
const context = vm.createContext({}, { codeGeneration: { strings: false, wasm: false } });
const globals = vm.runInContext("globalThis", context);
const forbidden = {
  fetch: "uses the network (fetch)",
  WebSocket: "uses the network (WebSocket)",
  XMLHttpRequest: "uses the network (XMLHttpRequest)",
  process: "uses the process it runs in (process)",
};
const output = new Console(process.stderr, process.stderr);
const METHODS = ["debug", "dir", "error", "info", "log", "table", "trace", "warn"];
const given = {
  // Without the streams, which lead to sockets.
  console: Object.fromEntries(METHODS.map((name) => [name, (...what) => output[name](...what)])),
  require: load,
  TextEncoder, TextDecoder, URL, URLSearchParams, Buffer, structuredClone, atob, btoa, setTimeout, clearTimeout,
};
for (const [name, value] of Object.entries(given)) globals[name] = value;
for (const [name, what] of Object.entries(forbidden)) {
  Object.defineProperty(globals, name, { get: () => stop(what) });
}
vm.runInContext("globalThis.module = { exports: {} }; globalThis.exports = module.exports;", context);
// What this realm inherits from is not changed by the code, or it could write the report.
for (const made of [Object, Array, Error, Promise, String, Number, Boolean, RegExp, Map, Set]) Object.freeze(made.prototype);
// The constructors of functions lead to code of this realm.
for (const made of [Function, async function () {}.constructor, function* () {}.constructor, async function* () {}.constructor]) {
  Object.defineProperty(made.prototype, "constructor", { get: () => stop("leaves its sandbox (constructor)") });
}

/** The first place in the tool or its tests that an error names, and the error itself. */
function where(error) {
  const text = error instanceof Error || typeof error?.message === "string" ? `${error.name}: ${error.message}` : String(error);
  const place = /(tool|tests)\.js:(\d+)/.exec(String(error?.stack ?? ""));
  return place ? `${text} (${place[1]}.js, line ${place[2]})` : text;
}

async function attempt(action) {
  let outcome;
  try {
    outcome = { value: await action() };
  } catch (error) {
    const code = error?.code === "ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING";
    if (code) reached ??= "loads another module (import)";
    outcome = { error: where(error) };
  }
  return reached === undefined ? outcome : { access: reached };
}

function evaluate(name) {
  new vm.Script(fs.readFileSync(name, "utf8"), { filename: name }).runInContext(context);
}

/** A function the code defines, by a declaration or as an export. */
function defined(name) {
  const found = vm.runInContext(`typeof ${name} === "function" ? ${name} : undefined`, context);
  const exported = globals.module.exports;
  return found ?? (typeof exported === "function" && name === "run" ? exported : exported?.[name]);
}

async function tests() {
  const names = vm.runInContext("Object.keys(globalThis)", context).filter((name) => name.startsWith("test"));
  const results = [];
  for (const name of names) {
    const test = defined(name);
    if (typeof test !== "function") continue;
    const outcome = await attempt(() => test());
    if (outcome.access) return results;
    results.push({ name, error: outcome.error ?? null });
  }
  return results;
}

async function main() {
  let report = await attempt(() => {
    evaluate("tool.js");
    if (asked.mode !== "tests") return;
    context.run = defined("run");
    evaluate("tests.js");
  });
  if ("value" in report) {
    report = await attempt(async () => {
      if (asked.mode === "tests") return tests();
      const run = defined("run");
      if (typeof run !== "function") throw new Error("the code defines no function `run`");
      return (await run(asked.arguments)) ?? null;
    });
  }
  let text;
  /** What JSON would leave out or turn into something else is no result. */
  const exact = (key, value) => {
    const isLost = typeof value === "function" || typeof value === "symbol" || (typeof value === "number" && !Number.isFinite(value));
    const kind = Object.prototype.toString.call(value);
    if (isLost || kind === "[object Map]" || kind === "[object Set]") throw new Error(`${String(key) || "it"} is ${kind}`);
    return value;
  };
  try {
    report.kibibytes = process.resourceUsage().maxRSS;
    text = JSON.stringify(report, exact);
  } catch (error) {
    text = JSON.stringify({ error: `its result is not JSON: ${error.message}`, kibibytes: 0 });
  }
  fs.writeSync(1, `${text}\n`);
  process.exit(0);
}

void main();
