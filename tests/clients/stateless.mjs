// The TypeScript SDK, version 2, at the revision in which every request stands alone.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { args, command, goes } from "./common.mjs";

const client = new Client(
  { name: "typescript-sdk-2", version: "1" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
await goes(client);
