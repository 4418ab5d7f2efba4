"""Claim: to check a request costs about as much as to parse it, and next to nothing when known.

A Chat request with 20 tools, 94 kB. A guard with the usual policy takes at most 6 times as long as
`orjson.loads` of the body when it sees the body for the first time, and at most twice as long when
it knows it: CPU time, interleaved. The same for the middleware, without a server. Latencies are
printed, not judged: of uvicorn on loopback with and without the middleware, in turns, over
connections that stay open; the servers are processes of their own.
"""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import documents
import orjson
from measure import interleaved, report

from schemaguard.handlers import Guard, Policy, VerdictCache
from schemaguard.handlers.asgi import PreflightMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOOLS = 20
COLD, CACHED = 6.0, 2.0
ROUNDS, REPEATS = 151, 5
REQUESTS = 500
PATH = "/v1/chat/completions"


def body_of(number: int = 0) -> bytes:
    """The request; each number makes other bytes of the same size."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": f"tool_{i}",
                "description": "What the tool does.",
                "strict": True,
                "parameters": {"title": f"tool {i}", **documents.CASES["medium"]()},
            },
        }
        for i in range(TOOLS)
    ]
    content = f"request {number:08}"
    request = {"model": "m", "messages": [{"role": "user", "content": content}], "tools": tools}
    return json.dumps(request).encode()


# ------------------------------------------------------------------------------------------- costs


def forgetful() -> VerdictCache:
    """A cache that has forgotten a body when it comes again."""
    return VerdictCache(max_entries=1)


def call_of(
    middleware: PreflightMiddleware, loop: asyncio.AbstractEventLoop
) -> Callable[[bytes], None]:
    """One request through the middleware, without a server."""
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": PATH}
    scope["headers"] = [(b"content-type", b"application/json")]

    async def send(_message: Any) -> None:
        pass

    def call(body: bytes) -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        loop.run_until_complete(middleware(scope, receive, send))

    return call


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Receives the body and answers."""
    while scope["type"] == "http":
        message = await receive()
        if not message.get("more_body"):
            break
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


def costs() -> dict[str, Any]:
    """CPU time of one request, and its ratio to parsing it."""
    first, second = body_of(0), body_of(1)
    turns: Iterator[bytes] = cycle((first, second))
    loop = asyncio.new_event_loop()
    both = Policy(profiles=("dynamo", "xgrammar"))
    cold, warm = Guard(cache=forgetful()), Guard()
    engine_cold = Guard(both, cache=forgetful())
    engine_tools = Guard(both, cache=forgetful())
    bare = call_of(application, loop)
    through_cold = call_of(PreflightMiddleware(application, guard=Guard(cache=forgetful())), loop)
    through_warm = call_of(PreflightMiddleware(application, guard=Guard()), loop)

    def never_seen() -> None:
        engine_cold.schemas.clear()
        engine_cold.check(next(turns), "chat")

    spent = interleaved(
        {
            "orjson.loads": lambda: orjson.loads(first),
            "json.loads": lambda: json.loads(first),
            "guard, cold": lambda: cold.check(next(turns), "chat"),
            "guard, cached": lambda: warm.check(first, "chat"),
            "application alone": lambda: bare(first),
            "middleware, cold": lambda: through_cold(next(turns)),
            "middleware, cached": lambda: through_warm(first),
            "guard, dynamo and xgrammar, cold": never_seen,
            "guard, dynamo and xgrammar, tools known": lambda: engine_tools.check(
                next(turns), "chat"
            ),
        },
        rounds=ROUNDS,
        repeats=REPEATS,
    )
    loop.close()
    for name in ("middleware, cold", "middleware, cached"):
        spent[name] -= spent["application alone"]
    unit = spent["orjson.loads"]
    return {
        name: {"us": round(value, 1), "ratio_to_orjson_loads": round(value / unit, 2)}
        for name, value in spent.items()
    }


# ----------------------------------------------------------------------------------------- latency

SERVER = """
import sys
sys.path.insert(0, {folder!r})
import uvicorn
from middleware import application
from schemaguard.handlers.asgi import PreflightMiddleware
app = PreflightMiddleware(application) if {guarded} else application
uvicorn.run(app, host="127.0.0.1", port={port}, log_level="critical", lifespan="off")
"""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


def start(guarded: bool) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A server in a process of its own, and a connection to it."""
    port = free_port()
    code = SERVER.format(folder=str(Path(__file__).parent), guarded=guarded, port=port)
    process = subprocess.Popen([sys.executable, "-c", code])
    end = time.monotonic() + 30
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        except OSError:
            if time.monotonic() > end:
                process.kill()
                raise
            time.sleep(0.05)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return process, connection


def ask(connection: socket.socket, body: bytes) -> float:
    """Seconds from the first byte of a request to the last of its answer."""
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    began = time.perf_counter()
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    got = b""
    while not got.endswith(b"ok"):
        data = connection.recv(65_536)
        if not data:
            raise ConnectionError("the server closed the connection")
        got += data
    return time.perf_counter() - began


def latency() -> dict[str, Any]:
    """Milliseconds of requests with and without the middleware, in turns."""
    bodies = [body_of(1_000 + number) for number in range(REQUESTS)]
    started = [start(guarded=False), start(guarded=True)]
    bare, guarded = (connection for _, connection in started)
    try:
        known = body_of()
        for connection in (bare, guarded):
            for number in range(20):
                ask(connection, body_of(number))
        times: dict[str, list[float]] = {"bare": [], "cached": [], "cold": []}
        turns = [("bare", bare), ("cached", guarded), ("cold", guarded)]
        for fresh in bodies:
            turns.append(turns.pop(0))  # nobody is always the first
            for name, connection in turns:
                times[name].append(ask(connection, fresh if name == "cold" else known))
    finally:
        for process, connection in started:
            connection.close()
            process.terminate()
            process.wait(10)
    rows = {}
    for name, values in times.items():
        marks = statistics.quantiles([value * 1_000 for value in values], n=100)
        rows[name] = {"p50_ms": round(marks[49], 3), "p99_ms": round(marks[98], 3)}
    for name in ("cached", "cold"):
        for mark in ("p50_ms", "p99_ms"):
            rows[name][f"added_{mark}"] = round(rows[name][mark] - rows["bare"][mark], 3)
    return rows


def main() -> None:
    """Measure and print."""
    rows = costs()
    ratios = {name: row["ratio_to_orjson_loads"] for name, row in rows.items()}
    holds = all(ratios[f"{what}, cold"] <= COLD for what in ("guard", "middleware")) and all(
        ratios[f"{what}, cached"] <= CACHED for what in ("guard", "middleware")
    )
    numbers = {"bytes": len(body_of()), "tools": TOOLS, "cpu": rows, "loopback": latency()}
    report(
        f"cold at most {COLD} times, cached at most {CACHED} times orjson.loads of the body",
        holds,
        numbers,
    )


if __name__ == "__main__":
    main()
