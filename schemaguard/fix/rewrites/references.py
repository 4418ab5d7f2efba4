"""References: to what stands beside the schema, and with what stands beside them."""

from __future__ import annotations

from schemaguard.fix.draft import find, schemas
from schemaguard.fix.meaning import ANNOTATIONS, target
from schemaguard.fix.rewrites.base import Change, Refusal, quoted
from schemaguard.fix.rewrites.definitions import defined
from schemaguard.fix.rewrites.merging import CannotMergeError, inlined, is_around, merged
from schemaguard.fix.rewrites.nulls import wrap
from schemaguard.report import tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.fix.rewrites.base import Place


def free_reference(place: Place) -> Iterator[Change | Refusal]:
    """A `$ref` without other keywords beside it."""
    schema, history = place.schema, place.history
    siblings = schema.keys() - ANNOTATIONS - {"$ref"}
    found = target(place.root, schema.get("$ref"))
    if "type" in siblings and found is not None:
        reader = place.contexts.reader
        kind = schema["type"]
        same_types = isinstance(kind, str) and reader.types(found[1]) == reader.types(
            {"type": kind}
        )
        # Numbers and integers are of one type to the reader.
        if same_types and (kind != "integer" or found[1].get("type") == "integer"):
            schema = history.drop(schema, "type")
            what = "drop `type` beside `$ref`: the target says the same"
            yield place.change(schema, what, "type")
            siblings -= {"type"}
    what = "put `$ref` by itself, in an `anyOf` of one"
    if not siblings:
        wrapped = wrap(history, schema, "anyOf", [])
        if wrapped is not None and len(wrapped) > 1:
            yield place.change(wrapped, what, "$ref")
    if found is None or is_around(place.tokens, schema["$ref"]):
        yield Refusal("what stands beside `$ref` cannot be told from what it refers to")
        return
    try:
        bare = {"$ref": schema["$ref"]}
        whole = inlined(place.root, place.tokens, bare)
        new = merged(history, place.schema, "$ref", [whole])
        yield place.change(new, "write what `$ref` refers to in its place", "$ref")
    except CannotMergeError as error:
        yield Refusal(f"`$ref` and what stands beside it cannot be made one: {error}")


def inline(place: Place) -> Iterator[Change | Refusal]:
    """What a bare reference leads to, in its place."""
    if is_around(place.tokens, str(place.schema.get("$ref"))):
        yield Refusal("the reference leads around itself")
        return
    try:
        whole = inlined(place.root, place.tokens, place.schema)
    except CannotMergeError as error:
        yield Refusal(f"what `$ref` refers to cannot be written in its place: {error}")
        return
    outer = {k: v for k, v in place.schema.items() if k != "$ref"}  # its own words come first
    new = place.history.made({**whole, **outer}, whole) if outer else whole
    what = "write what `$ref` refers to in its place"
    yield place.change(new, what, "$ref", exposes=True)


def drop_identifier(place: Place) -> Iterator[Change | Refusal]:
    """`$id` of subschemas, where no reference depends on it."""
    root = place.root
    places = [
        tokens
        for tokens, schema in schemas(root)
        if tokens and schema.__class__ is dict and isinstance(schema.get("$id"), str)
    ]
    if not places:
        yield Refusal("the identifier is `id`, which may be a name of its own")
        return
    for tokens, schema in schemas(root):
        if schema.__class__ is not dict or "$ref" not in schema:
            continue
        below = any(tokens[: len(place)] == place for place in places)
        if below or target(root, schema["$ref"]) is None:
            yield Refusal("references depend on the identifiers of subschemas")
            return
    for tokens in reversed(places):
        _, schema, _ = find(root, tokens)
        root = place.history.at(root, tokens, place.history.drop(schema, "$id"))
    yield Change(root, [place.edit("drop `$id` of subschemas: nothing refers to it")], whole=True)


def define_target(place: Place) -> Iterator[Change | Refusal]:
    """What some other place of the document holds, as a definition; that place refers to it."""
    root: Any = place.root
    reference = place.schema.get("$ref")
    found = target(root, reference)
    if found is None or not isinstance(reference, str):
        yield Refusal("the reference leads to no schema of the document")
        return
    tokens, schema = found
    if not tokens or root.__class__ is not dict or schema.__class__ is not dict:
        yield Refusal("the reference leads to the root, which is no definition")
        return
    held = root.get("$defs", {})
    if held.__class__ is not dict or tokens[-2:-1] in (("$defs",), ("definitions",)):
        yield Refusal("what it leads to is a definition, or `$defs` is malformed")
        return
    root, _ = defined(place.history, root, tokens)
    what = f"make a definition of what {quoted(reference)} names"
    yield Change(root, [place.edit(what, "$ref")], whole=True, exposes=True)


def bring(place: Place) -> Iterator[Change | Refusal]:
    """A reference to another document, or to an anchor, as one to a definition."""
    from schemaguard.fix.bundle import BundleError, brought  # noqa: PLC0415  (needs referencing)

    try:
        root, where = brought(place.root, place.tokens, place.library, place.history)
    except BundleError as error:
        yield Refusal(str(error))
        return
    reference = quoted(place.schema.get("$ref"))
    what = f"bring {reference} in as {quoted(where)}"
    yield Change(root, [place.edit(what, "$ref")], whole=True, exposes=True)


def name_of(reference: str) -> str:
    """The last word of a reference, for the name of a definition."""
    last = reference.rstrip("/#").rpartition("#")[2] or reference.rstrip("/#")
    tokens = tokens_of("/" + last)
    return tokens[-1].rpartition("/")[2].removesuffix(".json") if tokens else ""
