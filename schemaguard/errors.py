"""The exceptions, and the words in which a serving API reports a rejected schema.

::

    SchemaguardError
    ├── SchemaRejected        raise_if_rejected() of a report
    ├── SchemaChanged         a parsed schema was changed after its check
    ├── ProfileError          no such profile, or one that cannot be read
    ├── MissingExtra          an optional part is not installed (also an ImportError)
    └── CompileError          the grammar stage could not make a grammar
        └── CompileRefused    and did not let the engine try, or ended it

Bad input is never an exception of `check`: it is a diagnostic in the report.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from schemaguard.report import Diagnostic, Report
    from schemaguard.request import RequestResult

#: Dynamo cuts what a client sent when it says it back, in code points ("..." follows).
MAX_FUNCTION_NAME = 128
MAX_POINTER = 256
MAX_PROPERTY_NAME = 256


class SchemaguardError(Exception):
    """The base of all exceptions of this package."""


class SchemaRejected(SchemaguardError):  # noqa: N818  (it says what happened)
    """A schema has errors under the profile that it was checked with.

    Attributes:
        report: the whole `Report`.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(report)

    def __str__(self) -> str:
        errors = [d for d in self.report.diagnostics if d.severity == "error"]
        more = self.report.total - 1
        tail = f" (and {more} more)" if more > 0 else ""
        if not errors:
            return f"schema rejected by profile {self.report.profile}"
        first = errors[0]
        where = printable(cut(first.pointer, MAX_POINTER)) or "the root"
        return f"{first.code} {first.name} at {where}: {printable(first.message)}{tail}"


class SchemaChanged(SchemaguardError):  # noqa: N818  (it says what happened)
    """A parsed schema was changed after its check, so its report no longer speaks for it."""


class ProfileError(SchemaguardError):
    """No such profile, or its file is wrong; the message says which are there, or where.

    Attributes:
        keys: where in the file it is wrong: the keys that lead there.
    """

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        self.keys = keys
        super().__init__(message)


class MissingExtra(SchemaguardError, ImportError):  # noqa: N818  (the noun says it all)
    """An optional part is not installed; the message says what to install."""


class CompileError(SchemaguardError):
    """The grammar stage could not make a grammar of an accepted schema.

    Attributes:
        reason: "unsupported" (the engine refuses the schema) or "engine" (the engine failed); of a
            `CompileRefused`, what it says.
        pointer: JSON Pointer (RFC 6901) into the schema, where it can be known, else None.
        message: one line, printable.
        report: the report of the engine's profile when the reason is "cost".
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "engine",
        pointer: str | None = None,
        report: Report | None = None,
    ) -> None:
        self.message = message
        self.reason = reason
        self.pointer = pointer
        self.report = report
        super().__init__(message)

    def __str__(self) -> str:
        if self.pointer is None:
            return self.message
        return f"{self.message} (at {printable(cut(self.pointer, MAX_POINTER)) or 'the root'})"


class CompileRefused(CompileError):  # noqa: N818 - it says what happened
    """A schema was kept from the engine of this process, or ended in a worker.

    Attributes:
        reason: "cost" (a rule of the engine's profile rejects it), "timeout", "memory" or "crash"
            (so it ended in a worker process, now or before), or "busy" (no worker was free).
    """


def nearest(word: str, choices: Iterable[str]) -> str:
    """`; did you mean "…"?`, or nothing when no choice looks like the word."""
    import difflib  # noqa: PLC0415  (only after a mistake)

    close = difflib.get_close_matches(word[:100], list(choices), n=1)
    return f'; did you mean "{close[0]}"?' if close else ""


def cut(text: str, limit: int) -> str:
    """The text, or its first `limit` code points and "..."."""
    return text if len(text) <= limit else text[:limit] + "..."


def counted(number: int, noun: str) -> str:
    """A number and what it counts: "1 file", "2,000 files"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def printable(text: str) -> str:
    r"""The text with everything that is not printable escaped: `\uXXXX`, `\UXXXXXXXX` when beyond.

    Not printable are control characters, line separators, the characters that reverse or hide text,
    halves of surrogate pairs and code points without a character (`str.isprintable`).
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in text)


def _escaped(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def dynamo_message(report: Report, function: str) -> str | None:
    """What Dynamo says about the schema of a function, or None when it accepts it.

    Args:
        report: of `schemaguard.check(…, profile="dynamo")`.
        function: the function's name, as the request has it.

    Returns:
        `Invalid schema for function 'NAME': In context=#POINTER, DETAIL`, with Dynamo's own bounds
        on name, pointer and property name (rules 43 and 44 of the contract:
        ai-dynamo/dynamo#15153).
    """
    for diagnostic in report.diagnostics:
        if diagnostic.severity == "error":
            return _dynamo_words(diagnostic, function)
    return None


def _dynamo_words(diagnostic: Diagnostic, function: str) -> str:
    pointer = cut(diagnostic.pointer, MAX_POINTER)
    name = cut(function, MAX_FUNCTION_NAME)
    return f"Invalid schema for function '{name}': In context=#{pointer}, {diagnostic.message}"


#: How Dynamo begins the message of a refusal, by API.
_DYNAMO_PREFIXES = {
    "chat": "Validation: ",
    "responses": "Failed to convert responses request: ",
}


def dynamo_body(result: RequestResult) -> tuple[int, dict[str, Any]] | None:
    """Status and JSON body with which Dynamo refuses a request, or None when it does not.

    The message is Dynamo's own where a schema is at fault (rule 43 of the contract, after the
    prefix of the API, rule 47). Where the request itself is at fault, the contract fixes only
    status and shape: those words are ours, followed by the place in the body.

    Args:
        result: of `schemaguard.check_request`.

    Returns:
        `(400, {"message": …, "type": "Bad Request", "code": 400})`; flat, not OpenAI's envelope.
        As JSON in UTF-8 (`json.dumps(body, ensure_ascii=False)`) the body is at most 4,096 bytes
        whatever the request has for names; half a surrogate pair in it, which only a parsed body
        can have, becomes "?".
    """
    refusal = result.refusal
    if refusal is None:
        return None
    if result.refused_tool is not None:
        words = _dynamo_words(refusal, result.refused_tool.name or "")
    else:
        words = refusal.message
        if refusal.pointer:
            words += f" (at {refusal.pointer})"
    message = (_DYNAMO_PREFIXES[result.api] + words).encode("utf-8", "replace").decode()
    return 400, {"message": message, "type": "Bad Request", "code": 400}
