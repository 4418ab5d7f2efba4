"""Older spellings, and numbers: the same schema in the words of today."""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.fix.draft import schemas
from schemaguard.fix.meaning import Reader
from schemaguard.fix.result import Edit
from schemaguard.fix.rewrites.base import Change, Refusal
from schemaguard.fix.rewrites.nulls import STYLES, nullable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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
    what = "`definitions` is called `$defs`, in references as well"
    yield Change(root, [Edit("/definitions", place.code, what)], whole=True, exposes=True)


def name_prefix_items(place: Place) -> Iterator[Change | Refusal]:
    """The array form of `items` as `prefixItems`, and `additionalItems` as `items`."""
    schema = place.schema
    if schema.get("items").__class__ is not list or "prefixItems" in schema:
        yield Refusal("`items` is no list of schemas")
        return
    renamed = place.history.rename(schema, "items", "prefixItems")
    if "additionalItems" in renamed:
        renamed = place.history.rename(renamed, "additionalItems", "items")
    what = "the list of `items` is called `prefixItems`"
    yield place.change(renamed, what, "items", exposes=True)


def say_null(place: Place) -> Iterator[Change | Refusal]:
    """`nullable: true`, which is no keyword of JSON Schema, as a union with null."""
    schema = place.schema
    reader = Reader(place.root)
    if schema.get("nullable") is not True:
        yield place.change(place.history.drop(schema, "nullable"), "`nullable` says nothing here")
        return
    what = "`nullable` is written as a union with null"
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
        what = f"`{keyword}: {'true' if flag else 'false'}` bounds nothing here and is dropped"
        yield place.change(place.history.drop(schema, keyword), what, keyword)
        return
    dropped = place.history.drop(schema, inclusive)
    number = place.history.put(dropped, keyword, schema[inclusive])
    what = f"`{inclusive}` and `{keyword}: true` are written as one `{keyword}`"
    yield place.change(number, what, keyword)


def whole_number(place: Place) -> Iterator[Change | Refusal]:
    """A count like 1.0 as 1."""
    value = place.schema.get(place.keyword)
    if value.__class__ is not float or not kw.is_count(value):
        yield Refusal("the number is no count")
        return
    new = place.history.put(place.schema, place.keyword, int(value))
    yield place.change(new, f"{value} is written as {int(value)}", place.keyword)
