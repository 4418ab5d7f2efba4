"""What the values in a profile may be: the kinds of rules' settings, lines of text, days."""

from __future__ import annotations

import re
import warnings
from math import isfinite

from schemaguard.dialects import FEATURES
from schemaguard.measured import BREAKS, READINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_KINDS_OF_VALUES = ("string", "number", "boolean", "null", "array", "object")

#: No provider takes a longer name; a pattern for names has to be decided for one of this length.
_LONG_NAME = 256


def is_names(value: object) -> bool:
    """Whether a value is an array of strings."""
    return isinstance(value, list) and all(isinstance(member, str) for member in value)


def is_line(value: object) -> bool:
    """Whether a value is text that can be shown as it is, in one line."""
    return isinstance(value, str) and value.isprintable()


def is_json(value: object) -> bool:
    """Whether a value of TOML is one of JSON: no date, no NaN. TOML nests to a bounded depth."""
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, dict):
        return all(map(is_json, value.values()))
    return isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))


#: Days that every month but February has: known without the calendar, which takes 2 ms to load.
_usual_day = re.compile(r"(?!0000)[0-9]{4}-(?!02)(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|30)").fullmatch


def is_day(value: object) -> bool:
    """Whether a value is a TOML date, or its text: the parsed form of a profile has that."""
    if isinstance(value, str) and _usual_day(value):
        return True
    from datetime import date  # noqa: PLC0415  (see above)

    if isinstance(value, str) and len(value) == len("2026-12-01"):
        try:
            date.fromisoformat(value)
        except ValueError:
            return False
        return True
    return value.__class__ is date


def _are_in(known: Iterable[str]) -> Callable[[Any], bool]:
    names = frozenset(known)
    return lambda value: is_names(value) and names.issuperset(value)


def _is_flags(value: object) -> bool:
    return isinstance(value, list) and all(member.__class__ is bool for member in value)


def _is_count(value: Any) -> bool:
    return value.__class__ is int and value >= 0


def _is_numbers(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _is_pattern(value: Any) -> bool:
    """Whether a value is an expression that names can be held to in bounded time."""
    from schemaguard.rules.roots import is_bounded  # noqa: PLC0415  (circular)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about sets that mean something else in the future
            re.compile(value)
    except (re.error, TypeError, OverflowError, RecursionError):
        return False
    return is_bounded(value, _LONG_NAME)


#: Kind of a setting that is a list of words → the words.
MEMBERS: dict[str, Iterable[str]] = {
    "kinds": _KINDS_OF_VALUES,
    "features": FEATURES,
    "readings": READINGS,
    "breaks": BREAKS,
}

#: Of these there has to be one: a sum of nothing says nothing.
NOT_EMPTY = frozenset({"readings"})

#: Kind of a setting → whether a value is of it, and what people call it.
KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "count": (_is_count, "an integer of 0 or more"),
    "flag": (lambda value: value.__class__ is bool, "true or false"),
    "text": (is_line, "one line of text"),
    "names": (is_names, "an array of strings"),
    "pattern": (_is_pattern, "a regular expression that can be matched in bounded time"),
    "numbers": (_is_numbers, "a table of integers of 0 or more"),
    "flags": (_is_flags, "an array of true or false"),
    **{
        kind: (_are_in(members), f"an array of {', '.join(sorted(members))}")
        for kind, members in MEMBERS.items()
    },
}
