"""How the engine reads a node of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.report import escape

if TYPE_CHECKING:
    Pointer = tuple[str, ...]


def pointer_to(at: Pointer) -> str:
    """The JSON Pointer of a place."""
    return "".join(f"/{escape(token)}" for token in at)


def is_several(members: Any) -> bool:
    """Whether a list has more than one member."""
    return members.__class__ is list and len(members) > 1


def types_of(node: dict[str, Any]) -> set[str]:
    """What the engine takes a node for; empty for any value."""
    kind = node.get("type")
    if kind.__class__ is str:
        return {kind}
    if kind.__class__ is list:
        return {k for k in kind if k.__class__ is str}
    if "properties" in node or "additionalProperties" in node:
        return {"object"}
    if "items" in node or "prefixItems" in node:
        return {"array"}
    return set()


def keeps_multiple(node: dict[str, Any], multiple: Any) -> bool:
    """Whether xgrammar enforces a `multipleOf`: small integers, with no bound or with two."""
    if "integer" not in types_of(node) or multiple.__class__ is not int or multiple > 1024:
        return False
    lower = "minimum" in node or "exclusiveMinimum" in node
    upper = "maximum" in node or "exclusiveMaximum" in node
    return lower == upper


def real_length(node: dict[str, Any]) -> bool:
    """Whether `minLength` or `maxLength` rules anything out."""
    return node.get("minLength", 0) != 0 or "maxLength" in node
