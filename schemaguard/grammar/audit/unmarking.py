# ruff: noqa: RUF001 - DeepSeek spells its markers with full-width characters
"""Arguments read back from the text of each style, as parsers of servers read them.

Nothing here knows a grammar, or how arguments are written (`marking`). Where the markup has no
types, what the tool declares decides; see docs/audit.md, "Styles":

* a value that can only be a string is the text as it stands;
* one that cannot be a string is JSON;
* else it is JSON where that is a value of a declared type and no string, and text otherwise.

A parameter that is there twice counts as the last one. Parsers differ in how much white space they
take off a text, so a text has two readings: with what the template puts there off, and with all of
it off.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

from schemaguard.data import equal
from schemaguard.grammar.audit import calls
from schemaguard.grammar.audit.parts import kinds_of
from schemaguard.grammar.audit.spelling import parse

if TYPE_CHECKING:
    from schemaguard.grammar.audit.declared import Declared


def readings(content: str, text: str, declared: Declared) -> tuple[Any, ...]:
    """The values that parsers make of arguments, without repetition; none when they fail.

    Args:
        content: how they are written; see `calls`.
        text: the arguments.
        declared: for them.
    """
    found: list[Any] = []
    for strip in (False, True):
        try:
            value = _READERS[content](text, declared, strip)
        except ValueError:
            return ()
        if not (found and equal(found[0], value)):
            found.append(value)
        if not any(map(str.isspace, text)):
            break
    return tuple(found)


def _value(text: str, declared: Declared, strip: bool) -> Any:
    """A value in markup without types."""
    plain = text.strip() if strip else text
    types = declared.types
    if types == {"string"}:
        return plain
    if "string" not in types:
        return parse(text.strip())
    try:
        value = parse(text.strip())
    except ValueError:
        return plain
    return value if kinds_of(value) & (types - {"string"}) else plain


# One element a parameter -------------------------------------------------------------------------


def _flat(opening: str, closing: str, *, lines: bool = False, escaped: bool = False) -> Any:
    """A reader of one element a parameter.

    Args:
        opening: expression, with the groups `key` and perhaps `type`.
        closing: what ends a value, wherever it is.
        lines: a value has its lines to itself.
        escaped: keys have entities.
    """
    opened = re.compile(r"\s*" + opening, re.DOTALL)
    typed = "type" in opened.groupindex

    def read(text: str, declared: Declared, strip: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        text = text.rstrip()
        at = 0
        while at < len(text):
            start = opened.match(text, at)
            end = -1 if start is None else text.find(closing, start.end())
            if start is None or end < 0:
                raise ValueError("no parameter, or one without an end")
            raw = text[start.end() : end]
            at = end + len(closing)
            if lines:
                raw = raw.removeprefix("\n").removesuffix("\n")
            key = unescape(start["key"]) if escaped else start["key"]
            if not typed:
                found[key] = _value(raw, declared.member(key), strip)
            elif start["type"] in ("true", "string"):
                found[key] = raw.strip() if strip else raw
            else:
                found[key] = parse(raw.strip())
        return found

    return read


def _dsml(gap: str) -> Any:
    opening = rf'<｜DSML｜{gap}parameter name="(?P<key>[^"]*)" string="(?P<type>true|false)">'
    return _flat(opening, f"</｜DSML｜{gap}parameter>")


# Elements at every level -------------------------------------------------------------------------

_COHERE_OPEN = re.compile(r'\s*<cofl:value(?: name="(?P<key>[^"]*)")? type="(?P<type>[a-z]+)">')
_COHERE_CLOSE = "</cofl:value>"


class _Container:
    """An object or an array that is being read."""

    __slots__ = ("declared", "key", "kind", "tag", "value")

    def __init__(self, kind: str, key: Any, declared: Declared | None = None) -> None:
        self.kind = kind
        self.key = key  # in the container around it; None for the next item
        self.tag = key
        self.declared = declared
        self.value: Any = [] if kind == "array" else {}

    def put(self, key: Any, value: Any) -> None:
        if (self.kind == "array") is not (key is None):
            raise ValueError("a name too many or too few")
        if key is None:
            self.value.append(value)
        else:
            self.value[key] = value


def _cohere(text: str, _declared: Declared, strip: bool) -> Any:
    """Cohere: every element has a type."""
    stack = [_Container("object", None)]
    at, text = 0, text.rstrip()
    while at < len(text):
        start = _COHERE_OPEN.match(text, at)
        if start is None:
            rest = text[at:].lstrip()
            if not rest.startswith(_COHERE_CLOSE) or len(stack) == 1:
                raise ValueError("neither an element nor the end of one")
            at = len(text) - len(rest) + len(_COHERE_CLOSE)
            done = stack.pop()
            stack[-1].put(done.key, done.value)
            continue
        at = start.end()
        key = None if start["key"] is None else unescape(start["key"])
        if start["type"] in ("dict", "list"):
            stack.append(_Container("object" if start["type"] == "dict" else "array", key))
            continue
        end = text.find(_COHERE_CLOSE, at)
        if end < 0:
            raise ValueError("an element without an end")
        raw = text[at:end]
        at = end + len(_COHERE_CLOSE)
        if start["type"] == "raw":
            stack[-1].put(key, raw.strip() if strip else raw)
        else:
            stack[-1].put(key, parse(raw.strip()))
    if len(stack) > 1:
        raise ValueError("an element without an end")
    return stack[0].value


_M3_OPEN = re.compile(r"\s*\]<\]minimax\[>\[<(?P<key>[^/>][^>]*)>")
_M3_CLOSE = re.compile(r"\s*\]<\]minimax\[>\[</(?P<key>[^>]*)>")
_M3 = "]<]minimax[>["


def _minimax_m3(text: str, declared: Declared, strip: bool) -> Any:
    """MiniMax M3: elements without types."""
    stack = [_Container("object", None, declared)]
    at, text = 0, text.rstrip()
    while at < len(text):
        around = stack[-1]
        start = _M3_OPEN.match(text, at)
        if start is None:
            end = _M3_CLOSE.match(text, at)
            if end is None or len(stack) == 1 or end["key"] != around.tag:
                raise ValueError("neither an element nor the end of one")
            at = end.end()
            done = stack.pop()
            stack[-1].put(done.key, done.value)
            continue
        at = start.end()
        key = None if around.kind == "array" else start["key"]
        if key is None and start["key"] != "item":
            raise ValueError("a name in an array")
        inner = around.declared
        if inner is not None:
            inner = inner.item(len(around.value)) if key is None else inner.member(key)
        types = inner.types if inner is not None else frozenset()
        further = _M3_OPEN.match(text, at)
        empty = _M3_CLOSE.match(text, at)
        if further is not None or (empty is not None and "string" not in types):
            is_list = "array" in types and (
                "object" not in types or (further is not None and further["key"] == "item")
            )
            container = _Container("array" if is_list else "object", key, inner)
            container.tag = start["key"]
            stack.append(container)
            continue
        mark = text.find(_M3, at)
        end = _M3_CLOSE.match(text, max(mark, 0))
        if mark < 0 or end is None or end["key"] != start["key"] or inner is None:
            raise ValueError("an element without an end")
        around.put(key, _value(text[at:mark], inner, strip))
        at = end.end()
    if len(stack) > 1:
        raise ValueError("an element without an end")
    return stack[0].value


_GEMMA = re.compile(
    r"""\s*(?:
        (?P<mark>[{}\[\],])
      | <\|"\|>(?P<text>.*?)<\|"\|>
      | (?P<key>[^:{}\[\],<\s"]+)\s*:
      | (?P<word>[^:{}\[\],<\s]+)
    )""",
    re.DOTALL | re.VERBOSE,
)


def _gemma(text: str, _declared: Declared, _strip: bool) -> Any:
    """Gemma: JSON without quotes at names, and with its own around strings."""
    stack: list[_Container] = []
    root: list[Any] = []
    key: str | None = None
    before = ","  # the last mark, or "value"
    at, text = 0, text.rstrip()
    while at < len(text):
        token = _GEMMA.match(text, at)
        if token is None or root:
            raise ValueError("no value")
        at = token.end()
        mark = token["mark"]
        if token["key"] is not None:
            if not stack or stack[-1].kind == "array" or key is not None or before == "value":
                raise ValueError("a name that does not belong here")
            key = token["key"]
            continue
        if mark == ",":
            if before != "value" or key is not None or not stack:
                raise ValueError("a comma that does not belong here")
            before = ","
            continue
        value: Any
        if mark in ("}", "]"):
            opened = "object" if mark == "}" else "array"
            closable = bool(stack) and stack[-1].kind == opened and key is None
            if not closable or (before == "," and stack[-1].value):
                raise ValueError("an end that does not belong here")
            done = stack.pop()
            key, value = done.key, done.value
        elif before == "value":
            raise ValueError("two values without a comma")
        elif mark is not None:
            stack.append(_Container("object" if mark == "{" else "array", key))
            key, before = None, ","
            continue
        else:
            value = token["text"] if token["text"] is not None else parse(token["word"])
        if stack:
            stack[-1].put(key, value)
        else:
            root.append(value)
        key, before = None, "value"
    if not root:
        raise ValueError("no end")
    return root[0]


_READERS: dict[str, Any] = {
    calls.QWEN: _flat(r"<parameter=(?P<key>[^>]+)>", "</parameter>", lines=True),
    calls.MINIMAX: _flat(r'<parameter name="(?P<key>[^"]*)">', "</parameter>"),
    calls.DSML: _dsml(""),
    calls.DSML_GAP: _dsml(" "),
    calls.GLM: _flat(r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>", "</arg_value>"),
    calls.KIMI_K3: _flat(
        r'<\|open\|>argument key="(?P<key>[^"]*)" type="(?P<type>[a-z]+)"<\|sep\|>',
        "<|close|>argument<|sep|>",
        escaped=True,
    ),
    calls.COHERE: _cohere,
    calls.GEMMA: _gemma,
    calls.MINIMAX_M3: _minimax_m3,
}
