"""What a line of a log says: which tools were offered, how the answer ended, which calls it has.

Two shapes are read, told apart by what they have:

* a line of the K2 Vendor Verifier's `results.jsonl`: `data_index`, `request`, `response`, `status`,
  `finish_reason`, `tool_calls_valid`, `last_run_at`;
* a pair `{"request": …, "response": …}` of an OpenAI-style log. Either may be an object, the JSON
  text of one, or an object whose `body` is it, as in batches. A streamed answer is a list of chunks
  (as `response` or `chunks`), or the text of its server-sent events.

Streams are put together as the verifier does it.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The largest `data_index` that is joined: a byte of memory is kept for each below it.
MAX_INDEX = 1 << 23

TOOL_CALLS = "tool_calls"
_MISSING = object()
#: Ends of lines in a stream; `str.splitlines` knows some that JSON strings may hold.
_ends = re.compile(r"\r\n|\n|\r").split


class ShapeError(Exception):
    """A line of JSON that is no record; the message names the kind of fault."""


class Record:
    """One request and its answer.

    Attributes:
        index: `data_index`, where the line has one that can be joined; else None.
        indexed: whether the line has a `data_index` at all.
        succeeded: whether there is an answer.
        finish: the finish reason; None without an answer.
        calls: the tool calls, as the answer has them; any JSON.
        tools: the tools of the request, as it has them; None without a request.
        has_request: whether the line has a request.
        recorded: `tool_calls_valid` as a verifier wrote it; None where it wrote nothing.
        last_run: `last_run_at`, or "".
    """

    __slots__ = (
        "calls",
        "finish",
        "has_request",
        "index",
        "indexed",
        "last_run",
        "recorded",
        "succeeded",
        "tools",
    )

    def __init__(self, line: Any) -> None:
        """Read a line.

        Raises:
            ShapeError: it is neither of the two.
        """
        if line.__class__ is not dict or ("response" not in line and "chunks" not in line):
            raise ShapeError("wrong-shape")
        self.indexed = "data_index" in line
        self.index = index_of(line)
        last_run = line.get("last_run_at")
        self.last_run: str = last_run if isinstance(last_run, str) else ""
        recorded = line.get("tool_calls_valid")
        self.recorded: bool | None = recorded if isinstance(recorded, bool) else None
        request = body_of(line.get("request"))
        self.has_request = request is not None
        self.tools: Any = None if request is None else request.get("tools")
        choice = _first_choice(_answer(line.get("response", line.get("chunks"))))
        message = None if choice is None else choice.get("message")
        self.calls: Any = message.get(TOOL_CALLS) if isinstance(message, dict) else None
        self.succeeded: bool = choice is not None
        if "status" in line:
            self.succeeded = line["status"] == "success"
        finish = line.get("finish_reason", _MISSING)
        if finish is _MISSING:
            finish = None if choice is None else choice.get("finish_reason")
        self.finish: str | None = finish if isinstance(finish, str) else None


def index_of(line: Any) -> int | None:
    """The `data_index` of a line, where it has one within bounds."""
    index = line.get("data_index") if isinstance(line, dict) else None
    if index.__class__ is int and 0 < index <= MAX_INDEX:
        return index
    return None


def body_of(request: Any) -> dict[str, Any] | None:
    """The body of a request; None when there is none."""
    request = _parsed(request)
    if isinstance(request, dict) and isinstance(request.get("body"), (dict, str)):
        request = _parsed(request["body"])
    return request if isinstance(request, dict) else None


def _parsed(value: Any) -> Any:
    """A value, or that of its JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _answer(response: Any) -> Any:
    """A completion; a stream is put together."""
    response = _received(response)
    if isinstance(response, dict) and "choices" not in response:
        response = _received(response.get("body"))
    return _together(response) if isinstance(response, list) else response


def _received(text: Any) -> Any:
    """A value, that of its JSON text, or the chunks of its server-sent events."""
    if isinstance(text, str) and text.lstrip().startswith(("data:", "event:", "id:", ":")):
        return _events(text)
    return _parsed(text)


def _first_choice(response: Any) -> dict[str, Any] | None:
    """Only the first is looked at, as the verifier does."""
    choices = response.get("choices") if isinstance(response, dict) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return None


# ----------------------------------------------------------------------------------------- streams


def _events(text: str) -> list[Any]:
    """The chunks in the text of server-sent events, each a line."""
    chunks = []
    for line in _ends(text):
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            break
        try:
            chunks.append(json.loads(data))
        except (ValueError, RecursionError):
            raise ShapeError("broken-stream") from None
    return chunks


def _first_of_stream(chunks: list[Any]) -> list[dict[str, Any]]:
    """The parts of the first choice. The verifier asks for one; of several, each says which."""
    held = [chunk["choices"] for chunk in chunks if _first_choice(chunk) is not None]
    numbered = [
        choice
        for choices in held
        for choice in choices
        if isinstance(choice, dict) and choice.get("index") == 0
    ]
    return numbered or [choices[0] for choices in held]


def _together(chunks: list[Any]) -> dict[str, Any]:
    """The completion of a stream.

    Names are replaced and arguments joined; a call without an index is the first; a stream that
    ends without a reason ended with "stop".
    """
    if not any(isinstance(chunk, dict) for chunk in chunks):
        raise ShapeError("broken-stream")
    calls: dict[int, dict[str, Any]] = {}
    arguments: dict[int, list[str]] = {}
    finish = None
    for choice in _first_of_stream(chunks):
        delta = choice.get("delta")
        parts = delta.get(TOOL_CALLS) if isinstance(delta, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if not isinstance(part, dict):
                continue
            index = part.get("index")
            index = index if isinstance(index, int) else 0
            call = calls.setdefault(index, {"function": {"name": ""}})
            function = part.get("function")
            if isinstance(function, dict):
                call["function"]["name"] = function.get("name") or call["function"]["name"]
                text = function.get("arguments")
                arguments.setdefault(index, []).append(text if isinstance(text, str) else "")
        finish = choice.get("finish_reason") or finish
    for index, call in calls.items():
        call["function"]["arguments"] = "".join(arguments.get(index, ()))
    message = {TOOL_CALLS: list(calls.values()) or None}
    return {"choices": [{"message": message, "finish_reason": finish or "stop"}]}
