"""The Python SDK, in both generations: each goes the whole way from a search to a result."""

import asyncio
import json
import os
import sys

from mcp import StdioServerParameters, types
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

OWN = ["search_tools", "call_tool", "ask", "discover", "propose_card", "report_outcome"]


async def goes(mode: str) -> None:
    server = StdioServerParameters(
        command=os.environ["AUTOKIT_BIN"],
        args=["--data-dir", os.environ["AUTOKIT_DATA"], "--stand-in", "64", "mcp"],
        env=dict(os.environ),
    )
    changed = asyncio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification) or "list_changed" in str(
            getattr(message, "method", "")
        ):
            changed.set()

    async with Client(stdio_client(server), mode=mode, message_handler=heard) as client:

        async def names() -> list[str]:
            return [tool.name for tool in (await client.list_tools()).tools]

        assert await names() == OWN, await names()
        search = await client.call_tool("search_tools", {"query": "echo"})
        found = json.loads(search.content[0].text)
        assert found["results"][0]["name"] == "echo", found
        if mode == "legacy":
            await asyncio.wait_for(changed.wait(), 20)
            assert "echo" in await names()
            answer = await client.call_tool("echo", {"text": "grüße"})
        else:
            assert await names() == OWN
            call = {"name": "echo", "arguments": {"text": "grüße"}, "context": found["context"]}
            answer = await client.call_tool("call_tool", call)
        assert not answer.is_error, answer
        assert answer.content[0].text == '{"text":"grüße"}', answer


for mode in sys.argv[1:] or ["legacy", "2026-07-28"]:
    asyncio.run(goes(mode))
    print(mode)
