"""Whether alternatives of a `oneOf` can both hold: then what is written may fit two of them.

xgrammar keeps `oneOf` where it can prove that no value fits two alternatives, and makes `anyOf` of
it elsewhere. That does harm only where a value that it writes for one of them really fits another.
"""

from __future__ import annotations

from schemaguard.data import equal
from schemaguard.keywords import TYPE_NAMES
from schemaguard.unenforced.facts import SPEAKS_OF
from schemaguard.unenforced.instances import is_of
from schemaguard.unenforced.leaves import ANY, Value, kinds_of, leaves, may_break
from schemaguard.unenforced.members import declared, is_open, needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.unenforced.facts import Facts

    #: A number, and whether it is itself left out.
    Bound = tuple[float, bool]

_NUMBERS = frozenset({"number", "integer"})

#: Pairs of leaves that are held against each other; more are taken to overlap nowhere.
_MOST_PAIRS = 20_000


def overlapping(root: Any, branches: list[Any], facts: Facts) -> tuple[int, int] | None:
    """The first two alternatives that one value may fit, or None.

    Args:
        root: the document, for references.
        branches: the alternatives.
        facts: of the engine's version.
    """
    every = [leaves(root, branch, facts) for branch in branches]
    pairs = 0
    for second, others in enumerate(every):
        for first in range(second):
            for one in every[first]:
                for other in others:
                    pairs += 1
                    if pairs > _MOST_PAIRS:
                        return None
                    if _share(root, one, other, facts, deep=True):
                        return first, second
    return None


def _share(root: Any, one: Any, other: Any, facts: Facts, *, deep: bool) -> bool:
    """Whether two leaves may stand for one value."""
    if one is ANY or other is ANY:
        return True
    if one.__class__ is Value:
        return _fits(root, one.value, other)
    if other.__class__ is Value:
        return _fits(root, other.value, one)
    ours, theirs = kinds_of(one), kinds_of(other)
    common = ours & theirs
    if ours & _NUMBERS and theirs & _NUMBERS:  # every integer is a number
        common |= _NUMBERS
    return any(_SHARE[kind](root, one, other, facts, deep) for kind in common)


def _fits(root: Any, value: Any, leaf: Any) -> bool:
    if leaf.__class__ is Value:
        return equal(value, leaf.value)
    if not is_of(value, kinds_of(leaf)):
        return False
    wrapped = Value(value)
    return not any(
        may_break(root, keyword, limit, wrapped, leaf)
        for keyword, limit in leaf.items()
        if keyword in SPEAKS_OF
    )


def _always(*_: Any) -> bool:
    return True


def _numbers(_root: Any, one: Any, other: Any, _facts: Facts, _deep: bool) -> bool:
    low, high = bounds(one, other)
    return low is None or high is None or low[0] < high[0] or low == high == (low[0], False)


def bounds(*schemas: dict[str, Any]) -> tuple[Bound | None, Bound | None]:
    """The narrowest bounds of schemas together: (number, whether it is itself left out)."""
    lows = [(s[k], k == "exclusiveMinimum") for s in schemas for k in _LOW if k in s]
    highs = [(s[k], k != "exclusiveMaximum") for s in schemas for k in _HIGH if k in s]
    low = max(lows, default=None)
    high = min(highs, default=None)
    return low, None if high is None else (high[0], not high[1])


_LOW = ("minimum", "exclusiveMinimum")
_HIGH = ("maximum", "exclusiveMaximum")


def _strings(_root: Any, one: Any, other: Any, _facts: Facts, _deep: bool) -> bool:
    low = max(one.get("minLength", 0), other.get("minLength", 0))
    high = min(one.get("maxLength", 1 << 62), other.get("maxLength", 1 << 62))
    if low > high:
        return False
    if one.get("format") != other.get("format") and "format" in one and "format" in other:
        return False
    patterns = ("pattern" in one or "format" in one) and ("pattern" in other or "format" in other)
    return not patterns or one.get("pattern") == other.get("pattern")


def _objects(root: Any, one: Any, other: Any, facts: Facts, deep: bool) -> bool:
    """Names decide first: what one of them is written with, the other has to allow."""
    ours, theirs = declared(one), declared(other)
    if not (_writes(one, other) or _writes(other, one)):
        return False
    if not deep:
        return True
    both = (needed(one) | needed(other)) & ours.keys() & theirs.keys()
    for name in both:
        mine = leaves(root, ours[name], facts)
        yours = leaves(root, theirs[name], facts)
        if len(mine) * len(yours) <= 1_024 and not any(
            _share(root, a, b, facts, deep=False) for a in mine for b in yours
        ):
            return False
    return True


def _writes(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether an object that is written for one of them can have the names that both want."""
    wanted = frozenset(name for name in other.get("required") or () if isinstance(name, str))
    if not is_open(one) and not one.get("patternProperties") and not wanted <= declared(one).keys():
        return False
    closed = other.get("additionalProperties") is False and not other.get("patternProperties")
    return not closed or needed(one) <= declared(other).keys()


def _arrays(root: Any, one: Any, other: Any, facts: Facts, deep: bool) -> bool:
    low = max(one.get("minItems", 0), other.get("minItems", 0))
    high = min(one.get("maxItems", 1 << 62), other.get("maxItems", 1 << 62))
    if low > high:
        return False
    if not low or not deep:
        return True
    mine, yours = one.get("items"), other.get("items")
    if (
        mine.__class__ is not dict
        or yours.__class__ is not dict
        or "prefixItems" in {**one, **other}
    ):
        return True
    return any(
        _share(root, a, b, facts, deep=False)
        for a in leaves(root, mine, facts)[:32]
        for b in leaves(root, yours, facts)[:32]
    )


_SHARE: dict[str, Any] = {
    **dict.fromkeys(TYPE_NAMES, _always),
    "integer": _numbers,
    "number": _numbers,
    "string": _strings,
    "object": _objects,
    "array": _arrays,
}
