# ruff: noqa: RUF001 - DeepSeek spells its markers with full-width characters
"""Whether what a schema puts into a tag could be read as markup of its style.

xgrammar writes values of `const` and `enum`, and names that `properties`, `patternProperties` and
`propertyNames` allow, as they are. One with an end tag in it ends its parameter for every parser
that reads the output, and what follows can be a second call, of a tool that nobody declared.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from schemaguard.errors import cut, printable
from schemaguard.grammar.tags.nodes import real_length, types_of
from schemaguard.grammar.tags.styles import COHERE, GEMMA, JSON, KIMI_K3, MINIMAX_M3
from schemaguard.grammar.tags.texts import may_match
from schemaguard.reads import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemaguard.grammar.tags.styles import Style

# What all markers and tags begin with. A `<` that stands alone (`<`, `<=`, `a < b`) is none: what
# comes behind a value begins with a `<` of its own.
_TAG = re.compile(r"<[/!?|｜\]A-Za-z]\S{0,30}")

# So many references in a row are followed.
_MAX_REFERENCES = 64

# Formats of names without a character of any markup; those of the others are not looked into.
_PLAIN_FORMATS = frozenset({"date", "date-time", "duration", "hostname", "ipv4", "time", "uuid"})


def mark_in(style: Style, text: str) -> str | None:
    """What a parser of the style could take for markup in a text that is written as it is.

    In JSON that is a marker of the style; where the whole call is JSON it is nothing, for the
    quotes of a second call are escaped. See `markup-in-strings`.
    """
    if style.content != JSON:
        found = _TAG.search(text)
        return None if found is None else found[0]
    if style.call_is_json:
        return None
    marks = (*style.openers, *style.tokens)
    return next((mark for mark in marks if mark in text and "think>" not in mark), None)


def mark_in_values(style: Style, values: Iterable[Any]) -> str | None:
    """What could be taken for markup anywhere in values of `const` or `enum`."""
    bare = style.content in (GEMMA, MINIMAX_M3)
    for text, is_name in _texts(values):
        mark = mark_in(style, text)
        if mark is None and bare and is_name:
            mark = fault_in_name(style.content, text)
        if mark is not None:
            return mark
    return None


def _texts(values: Iterable[Any]) -> Iterator[tuple[str, bool]]:
    """Every string in values, and whether it is the name of a member."""
    stack = list(values)
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value, False
        elif value.__class__ is list:
            stack.extend(value)
        elif value.__class__ is dict:
            for name, member in value.items():
                yield name, True
                stack.append(member)


def fault_in_name(content: str, name: str) -> str | None:
    """A character that markup cannot have in a declared name; cohere and Kimi K3 escape some."""
    escaped = {COHERE: "", KIMI_K3: "<>", GEMMA: "<>{}[]:,\"' "}
    bad = escaped.get(content, '<>"&')
    return next((c for c in name if c in bad or not c.isprintable()), None)


def fault_of_pattern(content: str, pattern: str) -> str | None:
    """A character of the markup that names of a pattern may have. No style escapes these."""
    return next((c for c in _raw(content) if may_match(pattern, c)), None)


def fault_of_names(root: Any, names: Any, content: str) -> str | None:
    """What of the markup `propertyNames` lets into a name, as words; None for nothing.

    Where the engine's reading of `propertyNames` is anything but plain, that is "anything".
    """
    referred = False
    for _ in range(_MAX_REFERENCES):
        if names.__class__ is not dict or "$ref" not in names:
            break
        if content == GEMMA:  # it takes letters, digits and `_` instead
            return None
        target = resolve(root, names["$ref"])
        names, referred = None if target is None else target[0], True
    if names.__class__ is not dict or "$ref" in names:
        return "anything"
    if "const" in names or "enum" in names:
        values = [names["const"]] if "const" in names else names["enum"]
        bad = _raw(content)
        found = (c for text, _ in _texts([values]) for c in text if c in bad or not c.isprintable())
        return _quoted(next(found, None))
    if content == GEMMA:
        pattern = names.get("pattern")
        return _quoted(fault_of_pattern(content, pattern)) if pattern.__class__ is str else None
    return _fault_of_text(names, content, referred=referred)


def _fault_of_text(names: dict[str, Any], content: str, *, referred: bool) -> str | None:
    """The same for names that are neither references nor listed, in styles of elements."""
    kinds = types_of(names)
    alternatives = any(keyword in names for keyword in ("anyOf", "oneOf", "allOf"))
    if alternatives or not kinds <= {"string"} or (referred and not kinds):
        return "anything"
    pattern = names.get("pattern")
    if pattern.__class__ is str:
        return _quoted(fault_of_pattern(content, pattern))
    if "format" in names:
        known = names["format"].__class__ is str and names["format"] in _PLAIN_FORMATS
        return None if known else "anything"
    return "anything" if real_length(names) else None


def _raw(content: str) -> str:
    """The characters that end a name, or begin something else, where nothing is escaped."""
    return '<>{}:,"' if content == GEMMA else '<>"&'


def _quoted(text: str | None) -> str | None:
    return None if text is None else quoted(text)


def quoted(text: str) -> str:
    """A piece of a schema for a message: short, printable, between quotes."""
    return f"'{printable(cut(text, 40))}'"
