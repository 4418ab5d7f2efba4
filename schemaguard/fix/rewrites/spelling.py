"""Older spellings, and numbers: the same schema in the words of today."""

from __future__ import annotations

import re

from schemaguard import keywords as kw
from schemaguard.fix.draft import schemas, value_at
from schemaguard.fix.meaning import Reader
from schemaguard.fix.result import Edit
from schemaguard.fix.rewrites.base import Change, Refusal
from schemaguard.fix.rewrites.nulls import STYLES, nullable
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.fix.draft import History, Schema
    from schemaguard.fix.rewrites.base import Place


def move_definitions(place: Place) -> Iterator[Change | Refusal]:
    """`definitions` as `$defs`, with the references to them."""
    root: Any = place.root
    named = place.keyword == "definitions"
    if named and place.tokens:
        yield Refusal("`definitions` does not stand at the root")
        return
    if not named and not str(place.schema.get("$ref")).startswith("#/definitions/"):
        return  # a reference to some other place
    if root.get("definitions").__class__ is not dict or root.get("$defs", {}).__class__ is not dict:
        yield Refusal("`definitions` is no map of schemas at the root")
        return
    if "$defs" in root:
        both = place.history.made({**root["$defs"], **root["definitions"]}, root["$defs"])
        if len(both) < len(root["$defs"]) + len(root["definitions"]):
            yield Refusal("`$defs` has a definition of the same name")
            return
        root = place.history.put(place.history.drop(root, "definitions"), "$defs", both)
    else:
        root = place.history.rename(root, "definitions", "$defs")
    for tokens, schema in list(schemas(root)):
        if schema.__class__ is not dict:
            continue
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/definitions/"):
            moved = "#/$defs/" + reference.removeprefix("#/definitions/")
            # Only the member changes, so that the places of the others stay what they are.
            root = place.history.at(root, (*tokens, "$ref"), moved)
    what = "call `definitions` `$defs`, in references as well"
    yield Change(root, [Edit("/definitions", place.code, what)], whole=True, exposes=True)


def name_prefix_items(place: Place) -> Iterator[Change | Refusal]:
    """The array form of `items` as `prefixItems`, and `additionalItems` as `items`."""
    schema = place.schema
    if schema.get("items").__class__ is not list or "prefixItems" in schema:
        yield Refusal("`items` is no list of schemas")
        return
    what = "call the list of `items` `prefixItems`"
    if _is_of_old(place.root):
        yield _of_today(place)
        return
    yield place.change(_with_prefix_items(place.history, schema), what, "items", exposes=True)


def _with_prefix_items(history: History, schema: Schema) -> Schema:
    if schema.get("items").__class__ is not list or "prefixItems" in schema:
        return schema
    renamed = history.rename(schema, "items", "prefixItems")
    if "additionalItems" in renamed:
        renamed = history.rename(renamed, "additionalItems", "items")
    return renamed


_TODAY = "https://json-schema.org/draft/2020-12/schema"
_is_old = re.compile(r"https?://json-schema\.org/(draft-0[3-7]|draft/2019-09)/schema#?").fullmatch


def _is_of_old(root: Any) -> bool:
    """Whether a document says that it is of an older draft."""
    dialect = root.get("$schema") if root.__class__ is dict else None
    return isinstance(dialect, str) and _is_old(dialect) is not None


def _of_today(place: Place) -> Change | Refusal:
    """A document with each keyword in its new form, and the draft that has these forms.

    By the words of the old draft a new form would mean something else, or nothing.
    """
    history, root = place.history, place.root
    edits = []
    for tokens, schema in reversed(list(schemas(root))):
        if schema.__class__ is not dict:
            continue
        there = value_at(root, tokens)  # with what was changed inside
        changed = _with_numbers(history, _with_prefix_items(history, there))
        if changed is not there:
            root = history.at(root, tokens, changed)
            what = "write a keyword of an older draft as today's has it"
            edits.append(Edit(pointer_of(None, tokens), place.code, what))
    for tokens, schema in schemas(root):
        word = _old_word(schema, at_root=not tokens)
        if word is not None:
            return Refusal(f"by the draft of `$schema` {word} has another meaning than today")
    edits.append(Edit("/$schema", place.code, "name the draft that has this form in `$schema`"))
    return Change(history.put(root, "$schema", _TODAY), edits, whole=True, exposes=True)


def _old_word(schema: Any, *, at_root: bool) -> str | None:
    """A keyword of a schema that draft 2020-12 does not know, or knows otherwise."""
    if schema.__class__ is not dict:
        return None
    for keyword in ("dependencies", "$recursiveRef", "$recursiveAnchor"):
        if keyword in schema:
            return f"`{keyword}`"
    if schema.get("items").__class__ is list:
        return "the list of `items`"
    if any(schema.get(keyword).__class__ is bool for keyword in _BOUNDS):
        return "a bound that is a boolean"
    if not at_root and isinstance(schema.get("id"), str) and "$ref" not in schema:
        return "`id`"
    return None


def say_null(place: Place) -> Iterator[Change | Refusal]:
    """`nullable: true`, which is no keyword of JSON Schema, as a union with null."""
    schema = place.schema
    reader = Reader(place.root)
    if schema.get("nullable") is not True:
        yield place.change(
            place.history.drop(schema, "nullable"), "drop `nullable`, which says nothing here"
        )
        return
    what = "write `nullable` as a union with null"
    if reader.accepts_null(schema):
        yield place.change(place.history.drop(schema, "nullable"), what, "nullable")
        return
    for style in STYLES:
        union = nullable(place.history, schema, reader, style)
        if union is not None:
            yield place.change(union, what, "nullable")
            return
    yield Refusal("no union with null can be made of the schema")


_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def number_bound(place: Place) -> Iterator[Change | Refusal]:
    """A draft-4 boolean `exclusiveMinimum` as the number."""
    schema, keyword = place.schema, place.keyword
    inclusive = _BOUNDS.get(keyword)
    flag = schema.get(keyword)
    if inclusive is None or flag.__class__ is not bool:
        yield Refusal("what the bound is to be is not known")
        return
    if flag is False or inclusive not in schema:
        what = f"drop `{keyword}: {'true' if flag else 'false'}`, which bounds nothing here"
        yield place.change(place.history.drop(schema, keyword), what, keyword)
        return
    what = f"write `{inclusive}` and `{keyword}: true` as one `{keyword}`"
    if _is_of_old(place.root):
        yield _of_today(place)
        return
    yield place.change(_with_number(place.history, schema, keyword), what, keyword)


def _with_number(history: History, schema: Schema, keyword: str) -> Schema:
    bound = schema[_BOUNDS[keyword]]
    return history.put(history.drop(schema, _BOUNDS[keyword]), keyword, bound)


def _with_numbers(history: History, schema: Schema) -> Schema:
    for keyword, inclusive in _BOUNDS.items():
        if schema.get(keyword) is True and inclusive in schema:
            schema = _with_number(history, schema, keyword)
        elif schema.get(keyword).__class__ is bool:
            schema = history.drop(schema, keyword)
    return schema


def whole_number(place: Place) -> Iterator[Change | Refusal]:
    """A count like 1.0 as 1."""
    value = place.schema.get(place.keyword)
    if value.__class__ is not float or not kw.is_count(value):
        yield Refusal("the number is no count")
        return
    new = place.history.put(place.schema, place.keyword, int(value))
    yield place.change(new, f"write {value} as {int(value)}", place.keyword)
