"""What xgrammar writes into objects and arrays of a leaf: names, and numbers of items."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Keywords beside which a schema of a type alone still counts as one.
_UNREAD = frozenset(
    {"title", "description", "default", "examples", "$comment", "$schema"}
    | {"deprecated", "readOnly", "writeOnly"}
)


def declared(leaf: dict[str, Any]) -> dict[str, Any]:
    """The properties of a schema of objects."""
    held = leaf.get("properties")
    return held if held.__class__ is dict else {}


def needed(leaf: dict[str, Any]) -> frozenset[str]:
    """The names that an object has to have as it is written: required ones that are declared."""
    held = leaf.get("required")
    if held.__class__ is not list:
        return frozenset()
    names = declared(leaf)
    return frozenset(name for name in held if isinstance(name, str) and name in names)


def is_basic(leaf: dict[str, Any]) -> bool:
    """Whether a schema says nothing but types: then nothing is closed."""
    return leaf.keys() - _UNREAD <= {"type"}


def is_open(leaf: dict[str, Any]) -> bool:
    """Whether an object is written with names that no keyword mentions."""
    if "propertyNames" in leaf and not leaf.get("properties") and not leaf.get("patternProperties"):
        return True  # even beside `additionalProperties: false`
    if "additionalProperties" in leaf:
        return leaf["additionalProperties"] is not False
    if "unevaluatedProperties" in leaf:
        return leaf["unevaluatedProperties"] is not False
    return is_basic(leaf)


def writes_names(leaf: dict[str, Any]) -> bool:
    """Whether an object is written with any names at all."""
    return bool(declared(leaf) or leaf.get("patternProperties")) or is_open(leaf)


def writes_items(leaf: dict[str, Any]) -> bool:
    """Whether an array is written with any items at all."""
    if leaf.get("maxItems") == 0:
        return False
    if leaf.get("prefixItems"):
        return True
    if "items" in leaf:
        return leaf["items"] is not False
    if "unevaluatedItems" in leaf:
        return leaf["unevaluatedItems"] is not False
    return is_basic(leaf)


def least_items(leaf: dict[str, Any]) -> int:
    """How many items an array is written with at least: `minContains` counts any item."""
    least: int = max(leaf.get("minItems", 0), leaf.get("minContains", 0))
    return least


def most_items(leaf: dict[str, Any]) -> int:
    """How many items an array is written with at most; 2 stands for more."""
    if not writes_items(leaf):
        return 0
    most: int = min(leaf.get("maxItems", 2), 2)
    rest = leaf.get("items", leaf.get("unevaluatedItems", is_basic(leaf)))
    return most if rest is not False else min(most, len(leaf.get("prefixItems") or ()))


def may_lack(names: Any, leaf: dict[str, Any]) -> bool:
    """Whether an object may be written without one of the names."""
    return not frozenset(names) <= needed(leaf)
