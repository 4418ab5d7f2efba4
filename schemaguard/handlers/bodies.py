"""Error bodies, each in the form that the client libraries of its API understand.

=========== ======================================================================================
form        body
=========== ======================================================================================
`openai`    `{"error": {"message", "type", "param", "code", "findings"}}`
`anthropic` `{"type": "error", "error": {"type", "message", "findings"}, "request_id": null}`
`dynamo`    `{"message", "type", "code"}`, flat, at most 4,096 bytes
`problem`   RFC 9457: `{"type", "title", "status", "detail", "findings"}`
=========== ======================================================================================

`findings` is an extension that these clients pass over; Dynamo's form has no room for one. The
message is one printable line of at most 1,024 characters and at most 2,048 bytes as JSON.
"""

from __future__ import annotations

import json
from http import HTTPStatus

from schemaguard.errors import cut, printable
from schemaguard.handlers.tools import MESSAGES, RESPONSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.handlers.results import Decision, Finding

FORMS = ("auto", "openai", "anthropic", "dynamo", "problem")

MAX_MESSAGE = 1_024
MAX_MESSAGE_BYTES = 2_048
#: A body shows so many findings; `total` in it counts all.
MAX_SHOWN = 50

_ANTHROPIC_TYPES = {
    408: "timeout_error",
    413: "request_too_large",
    503: "overloaded_error",
}
_DYNAMO_PREFIXES = {RESPONSES: "Failed to convert responses request: "}
#: The codes that OpenAI gives to a faulty schema of a tool, and to anything else.
_SCHEMA_CODE = "invalid_function_parameters"


class Answer:
    """An answer: status, headers and body.

    Attributes:
        status: HTTP status.
        headers: names in lower case, and values.
        body: JSON in UTF-8.
    """

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


def form_of(api: str | None, form: str = "auto") -> str:
    """The form of body that a client of an API expects."""
    if form != "auto":
        return form
    return "anthropic" if api == MESSAGES else "openai"


def answer_of(decision: Decision, form: str = "auto") -> Answer:
    """The answer to a request that a decision refuses.

    Args:
        decision: with a refusal.
        form: one of `FORMS`; "auto" goes by the API.
    """
    refusal = decision.refusal
    assert refusal is not None  # noqa: S101  (the caller asked)
    return make_answer(
        decision.status,
        refusal.words,
        form=form_of(decision.api, form),
        api=decision.api,
        refusal=refusal,
        findings=decision.findings,
        total=decision.total,
    )


def make_answer(
    status: int,
    words: str,
    *,
    form: str,
    api: str | None = None,
    code: str | None = None,
    refusal: Finding | None = None,
    findings: tuple[Finding, ...] = (),
    total: int = 0,
) -> Answer:
    """An answer in one of the forms.

    Args:
        status: HTTP status.
        words: what is wrong; cut, and made printable.
        form: "openai", "anthropic", "dynamo" or "problem".
        api: of the request; Dynamo's words begin differently for each.
        code: of an error that is no finding, for OpenAI's `code`.
        refusal: the finding that refuses.
        findings: all of them, for the extension.
        total: how many there are.
    """
    message = bounded(words)
    shown = [finding.as_dict() for finding in findings[:MAX_SHOWN]]
    more: dict[str, Any] = {"findings": shown, "total": total} if refusal is not None else {}
    phrase = HTTPStatus(status).phrase
    content = "application/json"
    body: dict[str, Any]
    if form == "openai":
        schema = refusal is not None and refusal.within is not None and refusal.tool is not None
        body = {
            "error": {
                "message": message,
                "type": "invalid_request_error" if status < 500 else "server_error",
                "param": None if refusal is None else refusal.param,
                "code": _SCHEMA_CODE if schema else refusal.name if refusal else code,
                **more,
            }
        }
    elif form == "anthropic":
        kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error")
        error = {"type": kind, "message": message, **more}
        body = {"type": "error", "error": error, "request_id": None}
    elif form == "dynamo":
        prefix = _DYNAMO_PREFIXES.get(api or "", "Validation: ") if refusal is not None else ""
        body = {"message": bounded(prefix + words), "type": phrase, "code": status}
    else:
        content = "application/problem+json"
        body = {"type": "about:blank", "title": phrase, "status": status, "detail": message, **more}
    data = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    headers = (("content-type", content), ("content-length", str(len(data))))
    return Answer(status, headers, data)


def bounded(words: str) -> str:
    """One printable line of bounded length, in characters and as escaped JSON."""
    line = printable(cut(words, MAX_MESSAGE))
    room = MAX_MESSAGE_BYTES - 3
    if 6 * len(line) <= room or len(json.dumps(line)) - 2 <= MAX_MESSAGE_BYTES:
        return line
    kept = 0
    for char in line:
        room -= len(json.dumps(char)) - 2
        if room < 0:
            break
        kept += 1
    return line[:kept] + "..."
