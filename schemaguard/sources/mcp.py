"""The tools of a live MCP server, over stdio or streamable HTTP, by the official SDK (extra `mcp`).

The SDK speaks; what is kept is what the server sent, not what the SDK made of it. Over stdio the
process is ours from start to end: its lines are bounded, its noise is not passed on, and it has
ended, with what it has started in its process group, when `list_tools` returns or raises.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import signal
from typing import Any
from urllib.parse import urlsplit

from schemaguard.errors import MissingExtra, cut
from schemaguard.sources import process
from schemaguard.sources.base import SourceError, ValueSource

try:
    import anyio
    import httpx2
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.message import SessionMessage
    from mcp.types import PaginatedRequestParams, jsonrpc_message_adapter
except ImportError as error:
    raise MissingExtra(
        "asking an MCP server needs its SDK: pip install 'schemaguard-preflight[mcp]'"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Self

#: Seconds for a server to start and answer: `npx` may have to download it first.
TIMEOUT = 60.0
#: Hard stops for what a server may send.
MAX_LINE = 16 << 20
MAX_TOTAL = 64 << 20
MAX_PAGES = 1_000
MAX_TOOLS = 100_000

_GRACE = 1.0  # seconds for a server to end by itself, and again when it is asked to
_TAIL = 2_000  # bytes of a server's log to look for a reason in
_SHOWN = 300  # characters of that in a message

# A server that talks nonsense is our finding, not lines on the user's terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())


def list_tools(
    command: Sequence[str] | None = None, *, url: str | None = None, timeout: float = TIMEOUT
) -> ValueSource:
    """Ask a server for all its tools.

    Args:
        command: the program and its arguments, for a server that speaks over stdio. It gets the
            environment of this process.
        url: of a server that speaks streamable HTTP. One of the two.
        timeout: seconds for everything together; ending the process may take three more.

    Returns:
        A source with `{"tools": […]}`, all pages together, each tool as the server sent it. Its
        path is the command, or the URL without what may be a secret.

    Raises:
        SourceError: the server cannot be started or reached, does not answer in time, or answers
            something else than tools.
        ValueError: neither command nor URL, or both; or the URL is none of HTTP.
    """
    if (command is None) == (url is None) or command is not None and not command:  # noqa: RUF021
        raise ValueError("give either a command or a URL")
    if url is not None:
        label = _public(url)
        tools = _run(label, _http(url), timeout, None)
    else:
        server = _Server(list(command or ()))
        label = shlex.join(command or ())
        try:
            tools = _run(label, server.connect(), timeout, server)
        finally:
            server.kill()
    return ValueSource(label, "mcp", {"tools": tools})


def _public(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the URL of an MCP server starts with http:// or https://")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _run(
    label: str,
    connection: AbstractAsyncContextManager[tuple[Any, Any]],
    timeout: float,
    server: _Server | None,
) -> list[Any]:
    async def main() -> list[Any]:
        with anyio.fail_after(timeout):
            async with connection as (incoming, outgoing):
                return await _all_pages(incoming, outgoing)

    try:
        return asyncio.run(main())
    except TimeoutError:
        why = f"no list of tools within {timeout:g} s"
    except Exception as error:  # noqa: BLE001  (whatever the SDK raises about a bad server)
        why = _reason(error)
    said = server.said() if server is not None else ""
    raise SourceError(f"{label}: {why}{said}")


def _reason(error: BaseException) -> str:
    """The first error that says something, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, SourceError):
        return str(error)
    text = " ".join(str(error).split()) or type(error).__name__
    return cut(text, _SHOWN)


# ------------------------------------------------------------------------------------------------
# The conversation
# ------------------------------------------------------------------------------------------------


async def _all_pages(incoming: Any, outgoing: Any) -> list[Any]:
    tap = _Tap(incoming)
    tools: list[Any] = []
    cursors: set[str] = set()
    cursor: str | None = None
    async with ClientSession(tap, outgoing) as session:
        await session.initialize()
        for _ in range(MAX_PAGES):
            tap.answer = None
            params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
            try:
                await session.list_tools(params=params)
            except ValueError:
                # The SDK holds an answer against the protocol. What is wrong with a tool is for
                # the check to say, with its place.
                if tap.answer is None:
                    raise
            page = tap.answer
            if page is None:
                raise SourceError("the answer to tools/list has no tools")
            tools += page["tools"]
            if len(tools) > MAX_TOOLS:
                raise SourceError(f"more than {MAX_TOOLS:,} tools")
            cursor = page.get("nextCursor")
            if cursor is None:
                return tools
            if not isinstance(cursor, str) or cursor in cursors:
                raise SourceError("the pages of its tools have no end: a cursor came twice")
            cursors.add(cursor)
    raise SourceError(f"its tools have more than {MAX_PAGES:,} pages")


class _Tap:
    """A stream of messages that remembers the last list of tools that came through."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.answer: dict[str, Any] | None = None

    def _seen(self, item: Any) -> Any:
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            self.answer = result
        return item

    async def receive(self) -> Any:
        return self._seen(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._seen(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(*error)
        return ended

    @property
    def last_context(self) -> Any:
        """What the SDK asks of its own streams."""
        return getattr(self._stream, "last_context", None)


@contextlib.asynccontextmanager
async def _http(url: str) -> AsyncIterator[tuple[Any, Any]]:
    budget = [MAX_TOTAL]

    async def bound(response: Any) -> None:
        # A body that was packed may be any size when it is not.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise SourceError("it packs its answers, unasked")
        response.stream = _Bounded(response.stream, budget)

    client = httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity"},
        timeout=None,  # the caller's holds for all requests together
        event_hooks={"response": [bound]},
    )
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams[0], streams[1]


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error when a budget for all bodies together is used up."""

    def __init__(self, stream: Any, budget: list[int]) -> None:
        self._stream = stream
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._budget[0] -= len(chunk)
            if self._budget[0] < 0:
                raise SourceError(f"it sent more than {MAX_TOTAL:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


# ------------------------------------------------------------------------------------------------
# A server of our own
# ------------------------------------------------------------------------------------------------


class _Server:
    """A server as a child process."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._status: int | None = None  # when it ended by itself
        self._log = b""
        self._noise = ""

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start it; gives the streams that a `ClientSession` takes."""
        try:
            child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=MAX_LINE,
                **process.OWN_GROUP,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SourceError(f"cannot be started: {reason}") from None
        self._process = child
        streams: tuple[Any, ...] = ()
        try:
            to_session, incoming = anyio.create_memory_object_stream[Any](0)
            outgoing, from_session = anyio.create_memory_object_stream[Any](0)
            streams = (to_session, incoming, outgoing, from_session)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, child, to_session)
                tasks.start_soon(self._send, child, from_session)
                tasks.start_soon(self._listen, child)
                yield incoming, outgoing
                tasks.cancel_scope.cancel()
        finally:
            for stream in streams:
                stream.close()
            await self._end(child)

    async def _receive(self, child: asyncio.subprocess.Process, to_session: Any) -> None:
        assert child.stdout is not None  # noqa: S101  (it was asked for)
        total = 0
        async with to_session:
            while True:
                try:
                    line = await child.stdout.readline()
                except ValueError:
                    raise SourceError(f"a line of more than {MAX_LINE:,} bytes") from None
                if not line:
                    return
                total += len(line)
                if total > MAX_TOTAL:
                    raise SourceError(f"it sent more than {MAX_TOTAL:,} bytes")
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self._noise = self._noise or line[:_TAIL].decode("utf-8", "replace").strip()
                    # However fast the noise comes, time has to run out for it.
                    await anyio.lowlevel.checkpoint()
                    continue
                try:
                    await to_session.send(SessionMessage(message))
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return

    @staticmethod
    async def _send(child: asyncio.subprocess.Process, from_session: Any) -> None:
        assert child.stdin is not None  # noqa: S101  (it was asked for)
        async with from_session:
            async for sent in from_session:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                with contextlib.suppress(OSError):  # the other stream ends, too, and says it
                    child.stdin.write(f"{text}\n".encode())
                    await child.stdin.drain()

    async def _listen(self, child: asyncio.subprocess.Process) -> None:
        assert child.stderr is not None  # noqa: S101  (it was asked for)
        while chunk := await child.stderr.read(1 << 16):
            self._log = (self._log + chunk)[-_TAIL:]

    async def _end(self, child: asyncio.subprocess.Process) -> None:
        """End it: by closing its input, then asking, then by force. Cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            if child.stdin is not None:
                child.stdin.close()
            for how in (None, signal.SIGTERM):
                if how is not None:
                    self._signal(child, how)
                if await self._ended(child):
                    self._status = child.returncode if how is None else None
                    break
            process.kill(child.pid)  # what it left behind in its group as well
            await self._ended(child)
            # A grandchild outside the group may hold the pipes; the loop need not wait for it.
            transport = getattr(child, "_transport", None)
            if transport is not None:
                transport.close()

    @staticmethod
    async def _ended(child: asyncio.subprocess.Process) -> bool:
        """Whether it ends within a while. `wait` would wait for whoever holds its pipes, too."""
        with anyio.move_on_after(_GRACE):
            while child.returncode is None:  # noqa: ASYNC110  (nothing else tells)
                await anyio.sleep(0.01)
        return child.returncode is not None

    @staticmethod
    def _signal(child: asyncio.subprocess.Process, how: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(child.pid, how)
            else:
                child.terminate()

    def kill(self) -> None:
        """End it if it still runs, as when a second Ctrl-C came while it was ending."""
        if self._process is not None and self._process.returncode is None:
            process.kill(self._process.pid)

    def said(self) -> str:
        """What may tell the user why it failed: its status, the end of its log, or its noise."""
        parts = []
        if self._status:
            parts.append(f"status {self._status}")
        lines = self._log.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        if last:
            parts.append(f"its log ends with: {cut(last, _SHOWN)}")
        elif self._noise:
            first = self._noise.split("\n")[0]
            parts.append(f"its output is no MCP: {cut(first, _SHOWN)}")
        return f" ({'; '.join(parts)})" if parts else ""


__all__ = ["MAX_PAGES", "MAX_TOOLS", "TIMEOUT", "list_tools"]
