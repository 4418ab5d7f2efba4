"""Claim: behind the middleware, vLLM answers bad requests at once, and good ones as before.

A real `vllm serve` on the CPU, once as it is and once with `--middleware
schemaguard.handlers.asgi.PreflightMiddleware` and no settings, gets 40 hostile and 40 good requests
(`vllm_requests.py`), one at a time. With the middleware no answer to a hostile request is a 500 or
takes more than a second; every good request gets the status and, but for ids and times, the body
that it gets without. What happens without is printed, not judged: a server that dies, or does not
answer within the limit, is started again.

It takes ten minutes, 4 GB on the disk under `.venv/vllm`, and 4 GB of memory for one process.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import vllm_requests
from measure import report
from vllm_server import Server, make_environment, versions

from schemaguard.errors import cut, printable
from schemaguard.handlers import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vllm_requests import Request

SECONDS = 1.0
LIMIT_SECONDS = 60.0
#: So many of the good requests come once before: the first of a kind loads and compiles code.
WARM_UP = 6
TIMEOUT, DIED = "no answer", "died"
#: What differs between two answers to one request.
VOLATILE = {"id", "created", "created_at", "completed_at", "call_id", "item_id"}


class Answer(NamedTuple):
    """What came back: HTTP status, or how it failed; what it says; seconds; the comparable body."""

    status: int | str
    message: str
    seconds: float
    body: Any


# ------------------------------------------------------------------------------------------ asking


def ask(server: Server, request: Request) -> Answer:
    """Send one request; a server that did not survive it is started again."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT_SECONDS)
    try:
        headers = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
        connection.request("POST", request.path, request.body, headers)
        response = connection.getresponse()
        data = response.read()
    except TimeoutError:
        answer = Answer(TIMEOUT, f"after {LIMIT_SECONDS:.0f} s", time.monotonic() - began, None)
    except (OSError, http.client.HTTPException) as error:
        answer = Answer(DIED, type(error).__name__, time.monotonic() - began, None)
    else:
        said = read(data)
        seconds = time.monotonic() - began
        answer = Answer(response.status, message_of(said), seconds, comparable(said))
    finally:
        connection.close()
    if answer.status in (TIMEOUT, DIED) or not server.healthy():
        server.restart()
    return answer


def read(data: bytes) -> Any:
    """The value of an answer; of a stream, all of its events put together."""
    text = data.decode(errors="replace")
    if text.startswith(("data:", "event:")):
        lines = (line[5:].strip() for line in text.splitlines() if line.startswith("data:"))
        return joined(json.loads(line) for line in lines if line != "[DONE]")
    try:
        return json.loads(text)
    except ValueError:
        return text


def joined(events: Iterable[Any]) -> dict[str, Any]:
    """Chunks of Chat as one: how many tokens one of them brings is a matter of timing."""
    whole: dict[str, Any] = {"content": "", "arguments": "", "rest": []}
    for event in events:
        for choice in event.get("choices", ()):
            delta = choice.pop("delta", {})
            whole["content"] += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                function = call.get("function", {})
                whole["arguments"] += (function.get("name") or "") + (
                    function.get("arguments") or ""
                )
            if choice.get("finish_reason"):
                whole["rest"].append(choice["finish_reason"])
        if event.get("usage") or "error" in event:
            whole["rest"].append(event.get("usage") or event)
    return whole


def comparable(value: Any) -> Any:
    """An answer without ids and times."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in VOLATILE}
    return [comparable(item) for item in value] if isinstance(value, list) else value


def message_of(value: Any) -> str:
    """What an answer says, in a line: the words of an error, else how the model ended."""
    if isinstance(value, dict):
        error = value.get("error")
        error = error if isinstance(error, dict) else value
        choices = value.get("choices") or [{}]
        value = (
            error.get("message")
            or value.get("detail")
            or value.get("status")
            or value.get("stop_reason")
            or choices[0].get("finish_reason")
            or ", ".join(map(str, value.get("rest", ())))  # of a stream
        )
    return printable(cut(str(value or ""), 200))


def answers(requests: list[Request], server: Server) -> list[Answer]:
    """The answers of one server."""
    got = []
    for number, request in enumerate(requests, 1):
        answer = ask(server, request)
        got.append(answer)
        line = f"{number}/{len(requests)} {request.name}: {answer.status}, {answer.seconds:.2f} s"
        print(line, file=sys.stderr, flush=True)
    return got


# ----------------------------------------------------------------------------------------- judging


def row_of(request: Request, without: Answer, guarded: Answer) -> dict[str, Any]:
    """One line of a table."""
    return {
        "name": request.name,
        "path": request.path,
        "bytes": len(request.body),
        "status": [without.status, guarded.status],
        "seconds": [round(without.seconds, 3), round(guarded.seconds, 3)],
        "message": [without.message, guarded.message],
        "same": (without.status, without.body) == (guarded.status, guarded.body),
    }


def faults(hostile: list[dict[str, Any]], good: list[dict[str, Any]]) -> list[str]:
    """What speaks against the claim."""
    said = []
    for row in hostile:
        status, seconds = row["status"][1], row["seconds"][1]
        if not isinstance(status, int) or status >= 500 or seconds > SECONDS:
            said.append(f"hostile: {row['name']}: {status} after {seconds} s")
    said.extend(
        f"good: {row['name']}: {row['status']}, same body: {row['same']}"
        for row in good
        if row["status"] != [200, 200] or not row["same"]
    )
    return said


def markdown(rows: list[dict[str, Any]]) -> str:
    """A table of rows: status, seconds and words without the middleware, and with it."""
    lines = ["| request | without | s | | with | s | |", "|---|---|--:|---|---|--:|---|"]
    for row in rows:
        cells = [row["name"]]
        for status, seconds, said in zip(
            row["status"], row["seconds"], row["message"], strict=True
        ):
            cells += [str(status), f"{seconds:.2f}", cut(said, 120)]
        lines.append(f"| {' | '.join(map(cell, cells))} |")
    return "\n".join(lines)


def cell(text: str) -> str:
    """Text in a table of Markdown."""
    for char in "\\|<*_`[$":
        text = text.replace(char, "\\" + char)
    return text


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the tables there, too")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers end with their blocks
    make_environment()
    hostile, good = vllm_requests.hostile(), vllm_requests.good()
    got: list[tuple[list[Answer], list[Answer]]] = []
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        for guarded in (False, True):
            log = Path(folder, "guarded.log" if guarded else "bare.log")
            with Server(guarded=guarded, log=log) as server:
                for request in good[:WARM_UP]:
                    ask(server, request)
                got.append((answers(good, server), answers(hostile, server)))
            servers.append(
                {
                    "middleware": guarded,
                    "start_seconds": round(server.start_seconds, 1),
                    "starts": server.starts,
                    "peak_MiB": server.peak_bytes >> 20,
                }
            )
    good_rows, hostile_rows = (
        [row_of(*row) for row in zip(requests, got[0][kind], got[1][kind], strict=True)]
        for kind, requests in enumerate((good, hostile))
    )
    if options.markdown:
        options.markdown.write_text(f"{markdown(hostile_rows)}\n\n{markdown(good_rows)}\n")
    against = faults(hostile_rows, good_rows)
    report(
        f"no 500 and nothing over {SECONDS:.0f} s for hostile requests, good ones unchanged",
        not against,
        {
            "versions": versions(),
            "profiles": Policy(server="vllm").profiles_for(True),
            "servers": servers,
            "against": against,
            "hostile": hostile_rows,
            "good": good_rows,
        },
    )


if __name__ == "__main__":
    main()
