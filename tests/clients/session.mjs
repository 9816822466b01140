// The TypeScript SDK, version 1: a connection is a session.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { args, command, goes } from "./common.mjs";

const client = new Client({ name: "typescript-sdk-1", version: "1" });
const changed = new Promise((told) => client.setNotificationHandler(ToolListChangedNotificationSchema, () => told()));
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
await goes(client, changed);
