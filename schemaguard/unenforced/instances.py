"""Whether one value breaks one keyword: for members of `const` and `enum`, which win over all else.

Only what is told without a validator: keywords that look at a value itself. Of the others, and of
what cannot be told in bounded time, it is taken that the value keeps them.
"""

from __future__ import annotations

from schemaguard.data import equal
from schemaguard.formats import is_of_format
from schemaguard.searching import Budget, UndecidedError, search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

#: Steps that searching for one pattern may take.
_STEPS = 20_000


def type_of(value: Any) -> str:
    """The narrowest type name of a value: a whole number is an integer, however it is written."""
    if value is None:
        return "null"
    if value.__class__ is float:
        return "integer" if value % 1 == 0 else "number"
    return _TYPES.get(value.__class__, "object")


_TYPES = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}


def is_of(value: Any, types: Iterable[str]) -> bool:
    """Whether a value is of one of the types."""
    own = type_of(value)
    return any(own == name or (own == "integer" and name == "number") for name in types)


def breaks(keyword: str, limit: Any, value: Any) -> bool:
    """Whether a value surely breaks a keyword of a schema.

    Args:
        keyword: its name.
        limit: its value, of the shape that the keyword wants.
        value: the instance.
    """
    if keyword == "type":
        return not is_of(value, (limit,) if isinstance(limit, str) else limit)
    if keyword == "const":
        return not equal(limit, value)
    if keyword == "enum":
        return not any(equal(member, value) for member in limit)
    if value.__class__ is int or value.__class__ is float:
        compare = _NUMBERS.get(keyword)
        return compare is not None and compare(value, limit)
    measured = _SIZES.get(keyword)
    if measured is not None:
        kind, compare = measured
        return isinstance(value, kind) and compare(len(value), limit)
    if isinstance(value, str):
        return _breaks_string(keyword, limit, value)
    if keyword == "uniqueItems":
        return limit is True and value.__class__ is list and _repeats(value)
    if keyword == "required":
        return value.__class__ is dict and any(name not in value for name in limit)
    return False


def _breaks_string(keyword: str, limit: Any, value: str) -> bool:
    if keyword == "pattern":
        try:
            return not search(limit, value, Budget(_STEPS))
        except UndecidedError:
            return False
    return keyword == "format" and isinstance(limit, str) and not is_of_format(value, limit)


def _repeats(items: list[Any]) -> bool:
    if len(items) > 50:
        return False
    return any(equal(one, other) for i, one in enumerate(items) for other in items[:i])


def _is_no_multiple(value: float, divisor: float) -> bool:
    if value.__class__ is int and divisor.__class__ is int:
        return value % divisor != 0
    quotient = value / divisor if abs(value) < 1e300 and abs(divisor) > 1e-300 else 0.0
    return quotient != int(quotient)


_NUMBERS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, limit: value < limit,
    "maximum": lambda value, limit: value > limit,
    "exclusiveMinimum": lambda value, limit: value <= limit,
    "exclusiveMaximum": lambda value, limit: value >= limit,
    "multipleOf": _is_no_multiple,
}
_SIZES: dict[str, tuple[type[Any], Callable[[int, Any], bool]]] = {
    "minLength": (str, lambda size, limit: size < limit),
    "maxLength": (str, lambda size, limit: size > limit),
    "minItems": (list, lambda size, limit: size < limit),
    "maxItems": (list, lambda size, limit: size > limit),
    "minProperties": (dict, lambda size, limit: size < limit),
    "maxProperties": (dict, lambda size, limit: size > limit),
}
