// What every client does: list, search, hear that the tools changed (where a connection is a session),
// call what was found, get the result.
//
//   AUTOKIT_BIN   the command
//   AUTOKIT_DATA  a library that has the tools of the server of tests

import assert from "node:assert/strict";

export const command = process.env.AUTOKIT_BIN;
export const args = ["--data-dir", process.env.AUTOKIT_DATA, "--stand-in", "64", "mcp"];
assert(command && process.env.AUTOKIT_DATA, "AUTOKIT_BIN and AUTOKIT_DATA are set by `cargo xtask test`");

const OWN = ["search_tools", "call_tool", "ask", "discover", "propose_card", "report_outcome"];

const names = async (client) => (await client.listTools()).tools.map((tool) => tool.name);

/** Goes the whole way. `changed` resolves when the client was told that its tools changed; none where that never happens. */
export async function goes(client, changed) {
  assert.deepEqual(await names(client), OWN);
  const search = await client.callTool({ name: "search_tools", arguments: { query: "echo" } });
  const found = JSON.parse(search.content[0].text);
  assert.equal(found.results[0].name, "echo");
  assert.equal(found.results[0].input_schema.properties.text.type, "string");
  let answer;
  if (changed) {
    await changed;
    assert((await names(client)).includes("echo"));
    answer = await client.callTool({ name: "echo", arguments: { text: "grüße" } });
  } else {
    assert.deepEqual(await names(client), OWN);
    const call = { name: "echo", arguments: { text: "grüße" }, context: found.context };
    answer = await client.callTool({ name: "call_tool", arguments: call });
  }
  assert(!answer.isError, JSON.stringify(answer));
  assert.equal(answer.content[0].text, '{"text":"grüße"}');
  const wrong = await client.callTool({ name: "call_tool", arguments: { name: "nothing", context: found.context } });
  assert.equal(wrong.isError, true);
  await client.close();
}
