// Local stand-ins for external services: a SearXNG search, two pages, and a language model with the chat completions
// API. Their responses are fixed.

import { once } from "node:events";
import { createServer } from "node:http";

const CODE = `from kettle_tools import KettleToolkit

toolkit = KettleToolkit(address="192.168.0.7")
toolkit.boil(degrees=80)`;

const PAGES = {
  "/docs/tools/kettle": `<!doctype html><title>Kettle Toolkit</title><main><h1>Kettle Toolkit</h1>
    <p>The Kettle Toolkit boils water in a networked kettle: set the temperature, start it, and read how full it is.
    This tool lets an agent make tea.</p>
    <h2 id="install">Installation</h2><pre><code class="language-shell">pip install kettle-tools</code></pre>
    <h2 id="use">Instantiation</h2><p>The toolkit needs the address of the kettle.</p>
    <pre><code class="language-python">${CODE}</code></pre></main>`,
  "/blog/tea": `<!doctype html><title>On tea</title><main><h1>On tea</h1><p>Water that boils in a kettle makes tea,
    and we have opinions about it. Oolong steeps for three minutes.</p></main>`,
};

const said = (body) => body.messages.map((message) => message.content ?? "").join("\n");

/** Returns the model's response for a request, depending on its response format. */
function answer(body, base) {
  const form = body.response_format?.json_schema?.name;
  const ids = [...new Set([...said(body).matchAll(/\\?"id\\?":\s*\\?"([^"\\]+)/g)].map((match) => match[1]))];
  switch (form) {
    case "scores":
      return {
        scores: ids.map((id, at) => ({
          id,
          score: Math.max(0.1, 0.9 - at * 0.15),
          justification: `Number ${at + 1} of those shown.`,
        })),
      };
    case "answer":
      // There is no card about kettles, so the agent searches the web.
      return {
        tool: said(body).includes("kettle") ? null : (ids[0] ?? null),
        sentence: "",
        why: "It does what was asked.",
        code: "import made_up_package",
      };
    case "grade":
      return { answers: true, reason: "It names a tool for the request." };
    case "query":
      return { query: "something else" };
    case "starter":
      return { language: "python", code: "import made_up_package" };
    default:
      break;
  }
  if (!body.tools?.length) return "OK";
  const steps = body.messages.filter((message) => message.role === "tool").length;
  const url = `${base}/docs/tools/kettle`;
  const calls = [
    ["search", { query: "kettle toolkit" }, "A page that documents a toolkit for kettles is needed."],
    ["open", { url: `${base}/gone` }, "The first hit may be it."],
    ["open", { url }, "That one is gone; the other hit."],
    [
      "finish",
      { pages: [{ url, quote: "The toolkit needs the address of the kettle." }] },
      "It documents what is needed.",
    ],
  ];
  const [name, given, thought] = calls[Math.min(steps, calls.length - 1)];
  return {
    call: { id: `call-${steps}`, type: "function", function: { name, arguments: JSON.stringify(given) } },
    thought,
  };
}

/**
 * Starts the services. The model responds once `thinking` resolves and `pause` milliseconds have passed. A page below
 * /held/ calls `asked` and responds once `held` resolves.
 */
export async function services() {
  const state = { pause: 0, thinking: Promise.resolve(), keys: [], held: Promise.resolve(), asked: () => {} };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://here");
    const json = (body) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    };
    if (pathname === "/search") {
      const results = Object.keys(PAGES).map((path) => ({
        url: `${state.base}${path}`,
        title: /<title>(.*?)</.exec(PAGES[path])[1],
        content: "Boils water in a networked kettle.",
      }));
      json({ query: searchParams.get("q"), results });
    } else if (pathname === "/v1/chat/completions") {
      let text = "";
      for await (const piece of request) text += piece;
      state.keys.push(request.headers.authorization ?? "");
      await state.thinking;
      await new Promise((done) => setTimeout(done, state.pause));
      const given = answer(JSON.parse(text), state.base);
      const message = given.call
        ? { role: "assistant", content: given.thought, tool_calls: [given.call] }
        : { role: "assistant", content: typeof given === "string" ? given : JSON.stringify(given) };
      json({
        choices: [{ message, finish_reason: given.call ? "tool_calls" : "stop" }],
        usage: { prompt_tokens: 812, completion_tokens: 64 },
      });
    } else if (pathname === "/old/kettle") {
      response.writeHead(301, { location: "/docs/tools/kettle" }).end();
    } else if (pathname.startsWith("/held/")) {
      state.asked();
      await state.held;
      response.statusCode = 404;
      response.end("gone");
    } else if (PAGES[pathname]) {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(PAGES[pathname]);
    } else {
      response.statusCode = 404;
      response.end("gone");
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  state.host = `127.0.0.1:${server.address().port}`;
  state.base = `http://${state.host}`;
  state.close = () => server.close();
  return state;
}
