"""`allOf`, `oneOf` and `const`, in other words."""

from __future__ import annotations

from schemaguard.fix.draft import value_at
from schemaguard.fix.rewrites.base import Change, Refusal
from schemaguard.fix.rewrites.dropping import noted
from schemaguard.fix.rewrites.merging import CannotMergeError, inlined, merged
from schemaguard.fix.rewrites.wording import EXACTLY_ONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.fix.rewrites.base import Place


def merge_all_of(place: Place) -> Iterator[Change | Refusal]:
    """The members of `allOf` as one schema."""
    members = place.schema.get("allOf")
    if members.__class__ is not list or not members:
        yield Refusal("`allOf` is malformed")
        return
    history, schema = place.history, place.schema
    offers: list[Change] = []
    reason = ""
    try:
        new = merged(history, schema, "allOf", members)
        offers.append(place.change(new, "merge `allOf` into the schema", "allOf", exposes=True))
    except CannotMergeError as error:
        reason = str(error)
    if len(members) == 1 and "anyOf" not in schema:
        renamed = history.rename(schema, "allOf", "anyOf")
        what = "write `allOf` of one schema as `anyOf`, which is the same"
        offers.append(place.change(renamed, what, "allOf", exposes=True))
    elif not offers or "$ref" in offers[0].schema:  # a reference beside other keywords
        try:
            whole = [inlined(place.root, (*place.tokens, "allOf", 0), member) for member in members]
            new = merged(history, schema, "allOf", whole)
            what = "merge `allOf` into the schema, with what it refers to"
            offers.insert(0, place.change(new, what, "allOf", exposes=True))
        except CannotMergeError as error:
            reason = reason or str(error)
    yield from offers
    if not offers:
        yield Refusal(f"`allOf` cannot be merged: {reason}")


def loosen_one_of(place: Place) -> Iterator[Change | Refusal]:
    """`oneOf` as `anyOf`, where no instance can be valid against two of its schemas."""
    schema = place.schema
    branches = schema.get("oneOf")
    if branches.__class__ is not list or not branches:
        yield Refusal("`oneOf` is malformed")
        return
    if "anyOf" in schema:
        yield Refusal("`anyOf` stands beside `oneOf`")
        return
    renamed = place.history.rename(schema, "oneOf", "anyOf")
    if len(branches) == 1 or place.contexts.reader.are_disjoint(branches):
        what = "write `oneOf` as `anyOf`: no value can keep to two of the alternatives"
        yield place.change(renamed, what, "oneOf", exposes=True)
        return
    obstacle = place.contexts.obstacle(place.tokens)
    if obstacle is not None:
        yield Refusal(f"the alternatives of `oneOf` may overlap, and {obstacle}")
        return
    what = "write `oneOf` as `anyOf`; the description says that one alone must hold"
    said = noted(place.history, renamed, EXACTLY_ONE)
    yield Change(said, [place.edit(what, "oneOf", lossy=True)], exposes=True)


def list_const(place: Place) -> Iterator[Change | Refusal]:
    """`const` as an `enum` of one."""
    schema = place.schema
    if "enum" in schema:
        yield Refusal("`enum` stands beside `const`")
        return
    listed = place.history.replace(schema, "const", {"enum": [schema["const"]]})
    yield place.change(listed, "write `const` as `enum` of one value", "const")


def drop_impossible(place: Place) -> Iterator[Change | Refusal]:
    """`{"not": {}}` accepts nothing: as an alternative among others it can go."""
    holder = place.tokens[:-2]
    keyword = place.tokens[-2:-1]
    if place.schema.get("not") not in ({}, True) or keyword not in (("anyOf",), ("oneOf",)):
        yield Refusal("what `not` forbids cannot be said otherwise")
        return
    outer = value_at(place.root, holder)
    if place.contexts.links.is_led_into((*holder, keyword[0])):
        yield Refusal("a reference counts the alternatives")
        return
    index = place.tokens[-1]
    kept = [branch for i, branch in enumerate(outer[keyword[0]]) if i != index]
    if not kept:
        yield Refusal("it is the only alternative, and accepts nothing")
        return
    branches = place.history.without(outer[keyword[0]], kept)
    root = place.history.at(place.root, (*holder, keyword[0]), branches)
    what = "drop an alternative that accepts nothing"
    yield Change(root, [place.edit(what)], whole=True)
