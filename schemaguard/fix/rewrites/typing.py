"""Types: where a dialect wants one, wants it elsewhere, or wants fewer of them."""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.fix.draft import value_at
from schemaguard.fix.meaning import ANNOTATIONS, json_type
from schemaguard.fix.result import Edit
from schemaguard.fix.rewrites.base import Change, Refusal, quoted
from schemaguard.fix.rewrites.objects import NEVER, is_impossible
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.fix.draft import Schema
    from schemaguard.fix.rewrites.base import Place

#: keyword → the type that it speaks of; of any other type it says nothing.
_SPEAKS_OF = {
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "format": "string",
    "contentEncoding": "string",
    "contentMediaType": "string",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
    "items": "array",
    "prefixItems": "array",
    "additionalItems": "array",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "contains": "array",
    "minContains": "array",
    "maxContains": "array",
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "patternProperties": "object",
    "propertyNames": "object",
    "minProperties": "object",
    "maxProperties": "object",
    "dependentRequired": "object",
}


def name_type(place: Place) -> Iterator[Change | Refusal]:
    """The type that all listed values have."""
    schema = place.schema
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if schema.__class__ is not dict or values.__class__ is not list or not values:
        yield Refusal("it may be anything, and which types are meant is not known")
        return
    kinds = list(dict.fromkeys(_name(value) for value in values))
    typed = place.history.made({"type": kinds[0] if len(kinds) == 1 else kinds, **schema}, schema)
    yield place.change(typed, "name the type of its values")


def _name(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return "integer"
    return json_type(value)


def move_type(place: Place) -> Iterator[Change | Refusal]:
    """A type beside `anyOf`, in its branches."""
    schema, history = place.schema, place.history
    branches = schema.get("anyOf")
    kind = schema.get("type")
    if branches.__class__ is not list or not kw.is_types(kind):
        yield Refusal("`anyOf` or `type` is malformed")
        return
    reader = place.contexts.reader
    outer = reader.types({"type": kind})
    moved: list[Any] = []
    for branch in branches:
        if branch.__class__ is dict and "type" not in branch and "$ref" not in branch:
            moved.append(history.made({"type": kind, **branch}, branch))
        elif ("integer" not in str(kind) and reader.types(branch) <= outer) or (
            branch.__class__ is dict and branch.get("type") == kind
        ):
            moved.append(branch)
        else:
            yield Refusal("a branch has types that `type` beside `anyOf` does not have")
            return
    changed = any(new is not old for new, old in zip(moved, branches, strict=True))
    if changed:
        schema = history.put(schema, "anyOf", history.made(moved, branches))
    what = "move `type` into the branches of `anyOf`"
    yield place.change(history.drop(schema, "type"), what, "type")


def split_types(place: Place) -> Iterator[Change | Refusal]:
    """A list of types as `nullable`, or as branches of `anyOf`."""
    schema, history = place.schema, place.history
    kinds = schema.get("type")
    if not kw.is_types(kinds) or kinds.__class__ is not list:
        yield Refusal("`type` is no list of types")
        return
    names: list[str] = list(kinds)
    if len(names) == 1:
        what = "write a list of one type as the type"
        yield place.change(history.put(schema, "type", names[0]), what, "type")
        return
    others = [name for name in names if name != "null"]
    if "anyOf" not in schema and "oneOf" not in schema and "allOf" not in schema:
        branched = _branches(place, others, names)
        if branched is not None:
            yield place.change(branched, "give each type a branch of `anyOf`", "type", exposes=True)
    accepts = place.contexts.reader.accepts_null(schema)
    if len(others) == 1 and "null" in names and accepts is False:
        what = "take null out of the types: what stands beside them does not accept it"
        yield place.change(history.put(schema, "type", others[0]), what, "type")
        return
    if len(others) == 1 and "null" in names and "const" not in schema and accepts:
        single = history.put(schema, "type", others[0])
        members = schema.get("enum")
        if members.__class__ is list and None in members:
            kept = history.without(members, (v for v in members if v is not None))
            single = history.put(single, "enum", kept)
        single = history.put(single, "nullable", True, after=("type",))
        what = "say null with `nullable`, as OpenAPI has it"
        yield place.change(single, what, "type")
        return
    yield Refusal("what stands beside the list of types cannot be told apart by type")


def _branches(place: Place, others: list[str], names: list[str]) -> Schema | None:
    schema, history = place.schema, place.history
    inner = [key for key in schema if key not in ANNOTATIONS and key != "type"]
    if any(key not in _SPEAKS_OF and key != "enum" for key in inner):
        return None
    members = schema.get("enum")
    branches: list[Schema] = []
    for name in [*others, *(["null"] if "null" in names else [])]:
        branch: Schema = {"type": name}
        for key in inner:
            if key == "enum":
                if members.__class__ is not list:
                    return None
                kept = [v for v in members if _fits(v, name, names)]
                if not kept:
                    break
                if name != "null":
                    branch[key] = history.made(kept, members)
            elif _SPEAKS_OF[key] == ("number" if name == "integer" else name):
                branch[key] = schema[key]
        else:
            branches.append(history.joined(branch, schema))
    if not branches:
        return None
    outer = history.replace(schema, "type", {"anyOf": branches})
    return history.drop(outer, *inner) if inner else outer


def _fits(value: object, name: str, names: list[str]) -> bool:
    """Whether a listed value belongs to the branch of a type; to one branch at most."""
    kind = json_type(value)
    if kind != "number":
        return kind == name
    whole = float(value).is_integer()  # type: ignore[arg-type]
    if name == "integer":
        return whole
    return name == "number" and not (whole and "integer" in names)


def split_enum(place: Place) -> Iterator[Change | Refusal]:
    """An `enum` of values of several kinds as `anyOf` of one for each kind."""
    schema, history = place.schema, place.history
    members = schema.get("enum")
    inner = {key for key in schema if key not in ANNOTATIONS}
    if members.__class__ is not list or not inner <= {"enum", "type"}:
        yield Refusal("what stands beside `enum` cannot be told apart by type")
        return
    kinds: dict[str, list[Any]] = {}
    for value in members:
        kinds.setdefault(json_type(value), []).append(value)
    allowed = place.contexts.reader.types({"type": schema["type"]} if "type" in schema else {})
    branches = [{"type": kind, "enum": values} for kind, values in kinds.items() if kind in allowed]
    if not branches or "integer" in str(schema.get("type")):
        yield Refusal("the values do not have the type that is named")
        return
    outer = history.replace(schema, "enum", {"anyOf": branches})
    if "type" in outer:
        outer = history.drop(outer, "type")
    yield place.change(outer, "give each kind of values a branch of `anyOf`", "enum")


def add_items(place: Place) -> Iterator[Change | Refusal]:
    """`items` that say nothing, where an array has none."""
    schema = place.schema
    if "items" in schema:
        yield Refusal("`items` is there")
        return
    if place.contexts.links.evaluates:
        yield Refusal("`unevaluatedItems` asks which items other keywords speak of")
        return
    items = place.history.put(schema, "items", {}, after=("type", "description"))
    what = "add `items` that say that the array may hold anything, as it did"
    yield place.change(items, what)


def end_tuple(place: Place) -> Iterator[Change | Refusal]:
    """`items: false` behind `prefixItems`, where no more items are accepted anyway."""
    schema = place.schema
    leading, most = schema.get("prefixItems"), schema.get("maxItems")
    if leading.__class__ is not list or not kw.is_count(most) or most > len(leading):  # type: ignore[operator]
        yield Refusal("more items than `prefixItems` names are accepted")
        return
    ended = place.history.put(schema, "items", False, after=("prefixItems",))
    yield place.change(
        ended, "say with `items` that no more follow, as `maxItems` does", "prefixItems"
    )


def spell_boolean(place: Place) -> Iterator[Change | Refusal]:
    """The schema `true` as `{}`, which says the same."""
    schema: Any = place.schema
    holder, words = place.tokens[:-2], place.tokens[-2:]
    if words[:1] == ("properties",) and is_impossible(place, holder, str(words[1])):
        declared = value_at(place.root, holder)["properties"]
        names = [name for name in declared if is_impossible(place, holder, name)]
        kept = place.history.drop(declared, *names)
        root = place.history.at(place.root, (*holder, "properties"), kept)
        edits = [
            Edit(
                pointer_of(None, (*holder, "properties", name)),
                place.code,
                NEVER.format(quoted(name)),
            )
            for name in names
        ]
        yield Change(root, edits, whole=True)
        return
    if schema is not True:
        yield Refusal("the schema `false` accepts nothing, and cannot be said otherwise")
        return
    yield place.change({}, "write `true` as `{}`")


def lower_type(place: Place) -> Iterator[Change | Refusal]:
    """`STRING`, as Gemini's own messages have it, as `string`."""
    kind: Any = place.schema.get("type")
    names = kind if kind.__class__ is list else [kind]
    if not all(isinstance(name, str) for name in names):
        yield Refusal("what the type is to be is not known")
        return
    lowered = [name.lower() if name.isupper() else name for name in names]
    if lowered == names or not kw.is_types(lowered):
        yield Refusal("what the type is to be is not known")
        return
    new: Any = place.history.without(kind, lowered) if kind.__class__ is list else lowered[0]
    what = f"write the type as {', '.join(lowered)}, as JSON Schema has it"
    yield place.change(place.history.put(place.schema, "type", new), what, "type", exposes=True)
