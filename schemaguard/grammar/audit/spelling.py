r"""The texts of a JSON value: the one that engines write, and others that mean the same.

A constraint is about values. That `1.0` cannot be written where `1` can takes nothing away from
what can be said; it is a freedom of spelling, and told apart from a constraint that is too narrow.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Texts longer than this are not asked about.
MAX_CHARS = 40_000

#: Longer ones are tried in fewer spellings.
MAX_RESPELT = 2_000

KEY_ORDER = "key-order"
NUMBER = "number"
ESCAPE = "escape"
WHITE_SPACE = "white-space"

FREEDOMS = (KEY_ORDER, NUMBER, ESCAPE, WHITE_SPACE)


class Unspeakable(ValueError):  # noqa: N818 - what it is, not what went wrong
    """The value has no text: half a surrogate pair, too deep, too long, or no JSON number."""


def compact(value: Any) -> str:
    """The text without white space, characters as they are, numbers without an exponent.

    Raises:
        Unspeakable: there is none.
    """
    text = _dumps(value, (",", ":"))
    return _written(value, _plain) if _ODD_NUMBER(text) else text


# A number that `json` writes as 5.0 or 1e-07, or something in a string that looks like one.
_ODD_NUMBER = re.compile(r"\d(?:\.0(?!\d)|e[-+]\d)").search


def texts(value: Any, *, all_of_them: bool) -> Iterator[str]:
    """The spellings that are tried for a value, the likeliest first.

    Args:
        value: an instance.
        all_of_them: also those that engines hardly ever ask for.

    Raises:
        Unspeakable: there is none.
    """
    plain = _dumps(value, (",", ":"))
    odd = _ODD_NUMBER(plain) is not None
    first = _written(value, _plain) if odd else plain
    yield first
    if odd and plain != first:
        yield plain
    if not plain.isascii():
        yield _dumps(value, (",", ":"), ascii_only=True)
    if all_of_them and len(plain) <= MAX_RESPELT:
        yield _dumps(value, (", ", ": "))
        yield _written(value, _with_exponent)


def writers(value: Any, *, all_of_them: bool) -> Iterator[Callable[[Any], str]]:
    """What writes the JSON in markup, beside `compact`, where that makes a difference.

    Args:
        value: what holds the JSON.
        all_of_them: also spellings that engines hardly ever ask for.
    """
    plain = _dumps(value, (",", ":"))
    if _ODD_NUMBER(plain) is not None:
        yield lambda inner: _dumps(inner, (",", ":"))
    if not plain.isascii():
        yield lambda inner: _dumps(inner, (",", ":"), ascii_only=True)
    if all_of_them and len(plain) <= MAX_RESPELT:
        yield lambda inner: _dumps(inner, (", ", ": "))
        yield lambda inner: _written(inner, _with_exponent)


def variants(value: Any) -> Iterator[tuple[str, str]]:
    """Spellings that use one freedom each: (freedom, text)."""
    try:
        plain = compact(value)
        made = (
            (KEY_ORDER, _written(value, _plain, backwards=True)),
            (NUMBER, _written(value, _with_fraction)),
            (ESCAPE, _written(value, _plain, escape=True)),
            (WHITE_SPACE, _dumps(value, (", ", ": "))),
        )
    except Unspeakable:
        return
    for freedom, text in made:
        if text != plain:
            yield freedom, text


def smuggled(value: Any, path: tuple[Any, ...], good: Any) -> Iterator[str]:
    r"""Spellings that hide a member from an engine that compares the bytes of names.

    The name of the last property on the path is written with an escape (`{"\u0061": 1}`), or the
    property is written twice, a good value first: readers of JSON keep the last one.

    Args:
        value: an instance.
        path: keys and indices of a member of it.
        good: another value for that member's property.
    """
    names = [index for index, key in enumerate(path) if isinstance(key, str)]
    if not names or not path[names[-1]]:
        return
    steps, name = path[: names[-1]], path[names[-1]]
    try:
        alone = compact(_moved(value, steps, name))
        after = compact(_moved(value, steps, name, before=[good]))
        plain = _string(name)
        good_text = compact(good)
    except Unspeakable:
        return
    mark = _string(_MARK)
    escaped = f'"\\u{ord(name[0]):04x}{_string(name[1:])[1:]}' if name[0] < "\U00010000" else plain
    yield alone.replace(mark, escaped, 1)
    yield alone.replace(mark, f"{plain}:{good_text},{plain}", 1)
    yield after.replace(mark, escaped, 1)
    yield after.replace(mark, plain, 1)


_MARK = "\x00here\x00"


def _moved(
    value: Any, steps: tuple[Any, ...], name: str, *, before: list[Any] | None = None
) -> Any:
    """The value with a property renamed to the mark and moved to the end of its object.

    Args:
        value: an instance.
        steps: the path to the object.
        name: of the property.
        before: holds what is left in the property's old place, if anything.
    """
    nodes = [value]
    for key in steps:
        nodes.append(nodes[-1][key])
    changed = dict(nodes.pop())
    last = changed[name]
    if before is None:
        del changed[name]
    else:
        changed[name] = before[0]
    changed[_MARK] = last
    for node, key in zip(reversed(nodes), reversed(steps), strict=True):
        copy = node.copy()
        copy[key] = changed
        changed = copy
    return changed


#: What writes the JSON in markup with one freedom each.
FREE_WRITERS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    (NUMBER, lambda value: _written(value, _with_fraction)),
    (ESCAPE, lambda value: _written(value, _plain, escape=True)),
    (WHITE_SPACE, lambda value: _dumps(value, (", ", ": "))),
)


def parse(text: str) -> Any:
    """The value of a JSON text (RFC 8259).

    Raises:
        ValueError: it is not JSON.
    """

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


# ------------------------------------------------------------------------------------------------
# Writing
# ------------------------------------------------------------------------------------------------


def _dumps(value: Any, separators: tuple[str, str], *, ascii_only: bool = False) -> str:
    try:
        text = json.dumps(value, ensure_ascii=ascii_only, separators=separators, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError, TypeError) as error:
        raise Unspeakable from error
    if len(text) > MAX_CHARS:
        raise Unspeakable
    return text


def _written(
    value: Any,
    number: Callable[[int | float], str],
    *,
    backwards: bool = False,
    escape: bool = False,
) -> str:
    """The compact text, with a say in how numbers, the order of names and strings are written."""
    parts: list[str] = []
    size = 0
    stack: list[tuple[bool, Any]] = [(True, value)]  # (is a value, it or a piece of text)
    while stack:
        is_value, item = stack.pop()
        if not is_value:
            parts.append(item)
        elif isinstance(item, dict):
            members = list(item.items())
            stack.append((False, "}"))
            for index, (name, member) in enumerate(members if backwards else reversed(members)):
                last = index == len(members) - 1
                stack.append((True, member))
                stack.append((False, f"{'' if last else ','}{_string(name, escape=escape)}:"))
            stack.append((False, "{"))
        elif isinstance(item, list):
            stack.append((False, "]"))
            for index, member in enumerate(reversed(item)):
                stack.append((True, member))
                if index < len(item) - 1:
                    stack.append((False, ","))
            stack.append((False, "["))
        elif isinstance(item, str):
            parts.append(_string(item, escape=escape))
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            parts.append(number(item))
        else:
            parts.append(_dumps(item, (",", ":")))
        size += len(parts[-1]) if parts else 0
        if size > MAX_CHARS:
            raise Unspeakable
    return "".join(parts)


def _string(text: str, *, escape: bool = False) -> str:
    if escape and text and text[0].isascii():
        return f'"\\u{ord(text[0]):04x}{_dumps(text[1:], (",", ":"))[1:]}'
    return _dumps(text, (",", ":"))


def _plain(number: float) -> str:
    """Digits and a point, as in 0.0000001; huge numbers keep their exponent."""
    if isinstance(number, int):
        return _dumps(number, (",", ":"))
    if not abs(number) < 1e21:
        return _dumps(number, (",", ":"))
    text = format(Decimal(repr(number)), "f")
    return text.removesuffix(".0")


def _with_fraction(number: float) -> str:
    """1 as 1.0."""
    plain = _plain(number)
    return f"{plain}.0" if plain.lstrip("-").isdigit() and abs(number) < 2**53 else plain


def _with_exponent(number: float) -> str:
    """1500 as 1.5e+3."""
    if isinstance(number, int) and abs(number) >= 2**53:
        return _plain(number)  # readers make a float of what has an exponent
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    if not isinstance(exponent, int):
        raise Unspeakable
    power = exponent + len(digits) - 1
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{'-' * sign}{text[0]}{fraction}e{power:+d}"
