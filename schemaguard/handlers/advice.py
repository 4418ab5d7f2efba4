"""What is to be said about a request as a whole, whether or not its schemas are in order."""

from __future__ import annotations

from schemaguard.errors import MAX_FUNCTION_NAME, cut
from schemaguard.handlers.tools import has_format, schema_at
from schemaguard.report import NOTE, WARNING, Diagnostic, pointer_of
from schemaguard.rules import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from schemaguard.handlers.tools import Body, Choice, Tokens, Tool

_USUAL = {
    "duplicate-tool-name": WARNING,
    "clashing-definitions": WARNING,
    "format-with-tools": WARNING,
    "uncallable-tools": NOTE,
    "unenforced-strict-tool": WARNING,
}
#: Comparing definitions stops after so many values: they are advice, and bodies are large.
_MAX_COMPARED = 100_000


def advice(
    body: Body,
    api: str,
    tools: list[Tool],
    choice: Choice,
    severities: Mapping[str, str],
    *,
    tags: bool,
) -> Iterator[tuple[Diagnostic, int | None]]:
    """What is to be said, each with the index of the tool that it is about."""

    def say(name: str, tokens: Tokens, /, **filled: Any) -> Diagnostic:
        rule = BY_NAME[name]
        severity = severities.get(rule.code, _USUAL[name])
        return Diagnostic(rule, severity, filled, None, tokens)

    first: dict[str, int] = {}
    for index, tool in enumerate(tools):
        if tool.name is None:
            continue
        shown = cut(tool.name, MAX_FUNCTION_NAME)
        seen = first.setdefault(tool.name, index)
        if seen != index:
            there = pointer_of(None, tools[seen].at)
            tokens = (*tool.inside, "name")
            yield say("duplicate-tool-name", tokens, name=shown, first=there), index
        if tool.strict is True and tool.parameters is not None and not tags:
            tokens = (*tool.inside, "strict")
            why = "it builds no structural tags"
            yield say("unenforced-strict-tool", tokens, name=shown, why=why), index
    for index, key, name, other in _clashes(tools):
        tokens = (*schema_at(tools[index], api), key, name)
        shown = cut(tools[other].name or "", MAX_FUNCTION_NAME)
        yield say("clashing-definitions", tokens, name=name, other=shown), index
    if tools and choice.mode == "none":
        yield say("uncallable-tools", ("tool_choice",), count=len(tools)), None
    elif tools and has_format(body, api):
        place: Tokens = ("response_format",)
        if api != "chat":
            place = ("text", "format") if api == "responses" else ()
        yield say("format-with-tools", place), None


def _clashes(tools: list[Tool]) -> Iterator[tuple[int, str, str, int]]:
    """Definitions that differ from one of the same name: tool, keyword, name, the other tool."""
    first: dict[str, tuple[int, Any]] = {}
    room = _MAX_COMPARED
    for index, tool in enumerate(tools):
        if tool.parameters.__class__ is not dict:
            continue
        for key in ("$defs", "definitions"):
            definitions = tool.parameters.get(key)
            if definitions.__class__ is not dict:
                continue
            for name, definition in definitions.items():
                if name.__class__ is not str:
                    continue
                other, known = first.setdefault(name, (index, definition))
                if other == index or known is definition:
                    continue
                equal, room = same_json(known, definition, room)
                if room < 0:
                    return
                if not equal:
                    yield index, key, name, other


def same_json(one: object, other: object, room: int) -> tuple[bool, int]:
    """Whether two values are the same JSON, in which 1 is 1.0 and not true.

    Args:
        one: a value.
        other: another.
        room: give up after so many values.

    Returns:
        The answer, and what is left of `room`; below zero there is no answer.
    """
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        room -= 1
        if room < 0:
            return False, room
        kinds = {a.__class__, b.__class__}
        if kinds == {dict}:
            if a.keys() != b.keys():  # type: ignore[attr-defined]  # dicts
                return False, room
            stack.extend((a[key], b[key]) for key in a)  # type: ignore[index,attr-defined]
        elif kinds == {list}:
            if len(a) != len(b):  # type: ignore[arg-type]  # lists
                return False, room
            stack.extend(zip(a, b, strict=True))  # type: ignore[call-overload]
        elif dict in kinds or list in kinds or (bool in kinds and len(kinds) > 1) or a != b:
            return False, room
    return True, room
