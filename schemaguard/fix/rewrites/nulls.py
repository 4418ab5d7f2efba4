"""A schema that accepts null as well, and nothing else that it did not."""

from __future__ import annotations

from schemaguard.fix.meaning import ANNOTATIONS, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.fix.draft import History, Schema

TYPES = "types"  # ["string", "null"] where that is possible
ANY_OF = "any-of"  # an alternative, always
STYLES = (TYPES, ANY_OF)

#: Beside these a list of types is not enough, or says something else.
_NOT_BY_TYPE = frozenset({"$ref", "allOf", "oneOf", "not", "if", "const", "$dynamicRef"})
_NULL: Schema = {"type": "null"}


def nullable(history: History, schema: Schema, reader: Reader, style: str) -> Schema | None:
    """A schema with null as one more instance; None when there is no sure way.

    Args:
        history: of the draft.
        schema: does not accept null.
        reader: of the document.
        style: one of `STYLES`.
    """
    schema = history.drop(schema, "nullable") if "nullable" in schema else schema
    by_type = _by_type(history, schema) if style == TYPES else _by_branch(history, schema)
    if by_type is not None and reader.accepts_null(by_type):
        return by_type
    wrapped = wrap(history, schema, "anyOf", [dict(_NULL)])
    return wrapped if wrapped is not None and reader.accepts_null(wrapped) else None


def _by_type(history: History, schema: Schema) -> Schema | None:
    if not _NOT_BY_TYPE.isdisjoint(schema):
        return None
    new = schema
    kind = schema.get("type")
    if isinstance(kind, str):
        new = history.put(new, "type", [kind, "null"])
    elif kind.__class__ is list and "null" not in kind:
        new = history.put(new, "type", history.append(kind, "null"))
    members = schema.get("enum")
    if members.__class__ is list and None not in members:
        new = history.put(new, "enum", history.append(members, None))
    branches = schema.get("anyOf")
    if branches.__class__ is list:
        new = history.put(new, "anyOf", history.append(branches, dict(_NULL)))
    return new


def _by_branch(history: History, schema: Schema) -> Schema | None:
    branches = schema.get("anyOf")
    if branches.__class__ is not list:
        return None
    return history.put(schema, "anyOf", history.append(branches, dict(_NULL)))


def wrap(history: History, schema: Schema, keyword: str, more: list[Any]) -> Schema | None:
    """The constraints of a schema as the first member of `keyword`, its annotations outside.

    None when nothing is to be wrapped, or a definition inside would move.
    """
    inner = {key for key in schema if key not in ANNOTATIONS}
    if not inner or "$defs" in inner or "definitions" in inner or "$id" in inner:
        return None
    first = next(key for key in schema if key in inner)
    body = schema
    if len(inner) < len(schema):
        body = history.drop(schema, *(key for key in schema if key not in inner))
    outer = history.replace(schema, first, {keyword: [body, *more]})
    others = [key for key in inner if key not in (first, keyword)]
    return history.drop(outer, *others) if others else outer
