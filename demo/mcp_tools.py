"""`tools/list` of real MCP servers over stdio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Seconds that a server may take to start and answer.
PATIENCE = 60


def tools_of(command: str, arguments: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The tools that a server offers, as it sends them. The server has ended when this returns."""
    return asyncio.run(asyncio.wait_for(_tools_of(command, arguments), PATIENCE))


async def _tools_of(command: str, arguments: Sequence[str]) -> list[dict[str, Any]]:
    server = StdioServerParameters(command=command, args=list(arguments))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        answer = await session.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in answer.tools]
