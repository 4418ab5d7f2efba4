"""How xgrammar reads a schema: which keywords it looks at, and what a reference leads to."""

from __future__ import annotations

from schemaguard.keywords import TYPE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

#: Keywords that it passes over, and those whose schemas it reads only where something refers to
#: them.
ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "$schema", "$defs", "definitions"}
)

_OBJECT_KEYWORDS = frozenset(
    {"properties", "additionalProperties", "unevaluatedProperties", "patternProperties"}
)
_ARRAY_KEYWORDS = frozenset({"items", "prefixItems", "unevaluatedItems"})


def is_basic(schema: dict[str, Any]) -> bool:
    """Whether a schema says nothing but one type, or nothing: it then has no rule of its own."""
    said = schema.keys() - ANNOTATIONS
    return not said or (said == {"type"} and isinstance(schema["type"], str))


def kinds_of(schema: dict[str, Any]) -> Collection[str]:
    """The types of value that a schema without a combiner is compiled to."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return (kinds,)
    if kinds.__class__ is list:
        return dict.fromkeys(k for k in kinds if isinstance(k, str) and k in TYPE_NAMES)
    if not _OBJECT_KEYWORDS.isdisjoint(schema):
        return ("object",)
    if not _ARRAY_KEYWORDS.isdisjoint(schema):
        return ("array",)
    return TYPE_NAMES


def find(root: Any, reference: str) -> tuple[Any, tuple[str | int, ...]] | None:
    """What a document-local reference points at, and where; None when there is nothing."""
    if not reference.startswith("#/"):
        return None
    pointer = reference[2:]
    if "%" in pointer:
        from urllib.parse import unquote  # noqa: PLC0415  (8 ms, rarely needed)

        pointer = unquote(pointer)
    value = root
    tokens: list[str | int] = []
    for part in pointer.split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if value.__class__ is dict and name in value:
            tokens.append(name)
            value = value[name]
        elif value.__class__ is list and name.isascii() and name.isdigit() and len(name) < 10:
            if int(name) >= len(value):
                return None
            tokens.append(int(name))
            value = value[int(name)]
        else:
            return None
    return value, tuple(tokens)


def resolve(root: Any, reference: object) -> tuple[Any, tuple[str | int, ...]] | None:
    """As `find`, for any value of `$ref`; "#" is the root."""
    if reference == "#":
        return root, ()
    return find(root, reference) if isinstance(reference, str) else None
