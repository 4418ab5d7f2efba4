"""Objects: closed ones, whose properties are all required; and the root."""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.fix.context import Contexts
from schemaguard.fix.draft import value_at
from schemaguard.fix.meaning import lists_containers
from schemaguard.fix.rewrites.base import Change, Refusal, listed, quoted
from schemaguard.fix.rewrites.definitions import defined
from schemaguard.fix.rewrites.nulls import STYLES, nullable
from schemaguard.fix.rewrites.wording import OF_OTHER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.fix.draft import Schema, Tokens
    from schemaguard.fix.rewrites.base import Place

#: Of a property that is declared as `false` by a closed object.
NEVER = "do not declare {}, which can never be there"

_EMPTY = (
    "it declares no properties, so it is an object of any names: closed, it would be an empty one"
)


def close(place: Place) -> Iterator[Change | Refusal]:
    """`additionalProperties: false`, where an object had no use for other names."""
    schema = place.schema
    reason = _use_of_others(place) or place.contexts.obstacle(place.tokens)
    if reason is not None:
        yield Refusal(reason)
        return
    free = schema.get("additionalProperties")
    what = "close the object: refuse names that it does not declare"
    closed = place.history.put(
        schema, "additionalProperties", False, after=("properties", "required")
    )
    if free is None:
        yield place.change(closed, what)
        return
    what = "close the object, though it says that other names are welcome"
    yield Change(closed, [place.edit(what, lossy=True)])


def _use_of_others(place: Place) -> str | None:
    """What an object does with names that it does not declare; None for nothing."""
    schema = place.schema
    declared = schema.get("properties")
    if "additionalProperties" in schema:
        free = schema["additionalProperties"]
        if free is not True and free != {}:
            return "it is a map: `additionalProperties` says what the members of any name are"
    if schema.get("patternProperties"):
        return "`patternProperties` says what members of other names are"
    if schema.get("unevaluatedProperties", False) is not False:
        return "`unevaluatedProperties` says what members of other names are"
    told = str(schema.get("description", ""))
    if any(words in told for words in OF_OTHER_NAMES):
        return "its description says what members of other names are"
    if declared.__class__ is not dict:
        if "$ref" in schema or not _IN_PLACE.isdisjoint(schema):
            return "its properties are declared by other schemas that hold for it"
        return _EMPTY
    if not declared and (place.tokens or "additionalProperties" in schema):
        return _EMPTY
    return _undeclared(place, declared)


_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "if"})


def _undeclared(place: Place, declared: dict[str, Any]) -> str | None:
    """Names that an object's other keywords speak of, and that it does not declare."""
    schema = place.schema
    required = schema.get("required")
    others = [
        name
        for name in (required if required.__class__ is list else ())
        if isinstance(name, str) and name not in declared
    ]
    if others:
        return f"it requires {listed(others)}, which it does not declare"
    if "dependencies" in schema or "dependentSchemas" in schema:
        return "what it accepts depends on which names are there"
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    for value in values if values.__class__ is list else ():
        if value.__class__ is dict and not value.keys() <= declared.keys():
            return "`enum` or `const` lists objects with other names"
    least: Any = schema.get("minProperties")
    if kw.is_number(least) and least > len(declared):
        return f"it wants more members than the {len(declared)} that it declares"
    beside = place.contexts.names_in_place(schema)
    if beside is None:
        return "schemas that hold for the same object may speak of any name"
    unknown = sorted(beside - declared.keys())
    if unknown:
        return f"schemas that hold for the same object know {listed(unknown)} as well"
    return None


def require(place: Place) -> Iterator[Change | Refusal]:
    """All properties in `required`; null stands for an optional one that is left out."""
    schema = place.schema
    declared = schema.get("properties")
    required = schema.get("required", [])
    if declared.__class__ is not dict or not kw.is_unique_strings(required):
        yield Refusal("`required` is malformed")
        return
    obstacle = place.contexts.obstacle(place.tokens) or _counts_members(schema)
    if obstacle is not None:
        yield Refusal(obstacle)
        return
    impossible = [name for name in declared if is_impossible(place, place.tokens, name)]
    if impossible:
        yield _without(place, impossible)
        return
    beside = place.contexts.names_in_place(schema)
    names = [name for name in declared if name not in required]
    if beside is None:
        yield Refusal("schemas that hold for the same object may speak of any name")
        return
    told = [name for name in names if name in beside]
    names = [name for name in names if name not in beside]
    shared = _referred_to(place, names)
    if shared:
        yield from _required_apart(place, shared)
        return
    offered = False
    for style in STYLES:
        change = _required(place, names, style)
        if change is not None:
            offered = True
            yield change
    if not offered:
        if told:
            reason = "whether it is there matters to another schema that holds for the same object"
            yield Refusal(f"{quoted(told[0])}: {reason}")
        else:
            yield Refusal("no union with null can be made of its schema")


def is_impossible(place: Place, tokens: Tokens, name: str) -> bool:
    """Whether an object would refuse a property as well if it did not declare it as `false`."""
    schema = value_at(place.root, tokens)
    required = schema.get("required")
    return (
        schema["properties"][name] is False
        and schema.get("additionalProperties") is False
        and not schema.get("patternProperties")
        and not (required.__class__ is list and name in required)
        and (*tokens, "properties", name) not in place.contexts.links.places
    )


def _without(place: Place, names: list[str]) -> Change:
    history, schema = place.history, place.schema
    declared = history.drop(schema["properties"], *names)
    edits = [place.edit(NEVER.format(quoted(name)), "properties", name) for name in names]
    return Change(history.put(schema, "properties", declared), edits)


def _referred_to(place: Place, names: list[str]) -> list[str]:
    """Those of some properties that references lead to, and that cannot be null so far."""
    places = place.contexts.links.places
    declared = place.schema["properties"]
    return [
        name
        for name in names
        if (*place.tokens, "properties", name) in places
        and declared[name].__class__ is dict
        and not place.contexts.reader.accepts_null(declared[name])
    ]


def _required_apart(place: Place, shared: list[str]) -> Iterator[Change | Refusal]:
    """The same where references lead to properties: what they lead to gets no null.

    A property of that kind becomes a definition first, so that the null is its own.
    """
    root: Any = place.root
    if root.get("$defs", {}).__class__ is not dict:
        yield Refusal("`$defs` is malformed")
        return
    edits = []
    for name in shared:
        where = ("properties", name)
        root, defined_as = defined(place.history, root, (*place.tokens, *where))
        what = f"make {quoted(name)}, which references lead to, the definition {quoted(defined_as)}"
        edits.append(place.edit(what, *where))
    apart = place.within(root, Contexts(root))
    for outcome in require(apart):
        if isinstance(outcome, Change):
            whole = place.history.at(root, place.tokens, outcome.schema)
            yield Change(whole, [*edits, *outcome.edits], whole=True)
        else:
            yield outcome


def _counts_members(schema: Schema) -> str | None:
    for keyword in ("minProperties", "maxProperties", "patternProperties", "propertyNames"):
        if keyword in schema:
            return f"`{keyword}` would count or judge members that are null for absent"
    if lists_containers(schema):
        return "`enum` or `const` lists whole objects, without the nulls"
    for keyword in ("dependencies", "dependentSchemas", "dependentRequired"):
        if keyword in schema:
            return f"with `{keyword}`, what it accepts depends on which names are there"
    return None


def _required(place: Place, names: list[str], style: str) -> Change | None:
    history, schema = place.history, place.schema
    reader = place.contexts.reader
    declared: dict[str, Any] = schema["properties"]
    changed: dict[str, Any] = {}
    added: list[str] = []
    absent: list[str] = []
    edits = []
    for name in names:
        member = declared[name]
        where = ("properties", name)
        accepts = reader.accepts_null(member)
        if accepts:
            what = f"require {quoted(name)}, which may be null"
            added.append(name)
            edits.append(place.edit(what, *where))
            continue
        if accepts is None or member.__class__ is not dict:
            continue
        union = nullable(history, member, reader, style)
        if union is None:
            continue
        changed[name] = union
        added.append(name)
        meant = reader.resolved(member)
        if not any(
            held.__class__ is dict and held.get("nullable") is True for held in (member, meant)
        ):
            absent.append(name)
        what = f"require {quoted(name)}, and let null stand for leaving it out"
        edits.append(place.edit(what, *where))
    if not added:
        return None
    if changed:
        members = history.made({k: changed.get(k, v) for k, v in declared.items()}, declared)
        schema = history.put(schema, "properties", members)
    required = schema.get("required")
    listed_names = added if required is None else history.append(required, *added)
    schema = history.put(schema, "required", listed_names, after=("properties",))
    return Change(history.made(schema, schema, absent), edits)


def forget_required(place: Place) -> Iterator[Change | Refusal]:
    """Drop required names that nothing declares; lossy, for it was required all the same."""
    schema = place.schema
    declared = schema.get("properties", {})
    required: Any = schema.get("required")
    if declared.__class__ is not dict or not kw.is_unique_strings(required):
        yield Refusal("`required` is malformed")
        return
    unknown = [name for name in required if name not in declared]
    if place.contexts.obstacle(place.tokens) is not None or not unknown:
        yield Refusal("nothing says what the required name is for")
        return
    kept = place.history.without(required, (name for name in required if name in declared))
    edits = [
        place.edit(f"do not require {quoted(name)}: nothing declares it", lossy=True)
        for name in unknown
    ]
    yield Change(place.history.put(schema, "required", kept), edits)


def type_root(place: Place) -> Iterator[Change | Refusal]:
    """The root is an object: arguments never are anything else."""
    schema = place.schema
    kind = schema.get("type")
    if place.tokens:
        yield Refusal("what the root refers to is used elsewhere as well")
    elif () in place.contexts.links.places:
        yield Refusal("a reference leads to the root, where other values may be meant")
    elif kind.__class__ is list and "object" in kind:
        what = "make the type object alone: arguments are never anything else"
        yield place.change(place.history.put(schema, "type", "object"), what, "type")
    elif kind is None and schema.get("properties").__class__ is dict:
        typed = place.history.made({"type": "object", **schema}, schema)
        yield place.change(typed, "make the type object: arguments are never anything else")
    else:
        yield Refusal("it does not describe an object, and arguments are one")


def type_branch(place: Place) -> Iterator[Change | Refusal]:
    """An alternative of the root is an object, where it does not say what it is."""
    history, links = place.history, place.contexts.links
    schema: Any = place.schema
    if () in links.places:
        yield Refusal("a reference leads to the root, where other values may be meant")
        return
    if place.tokens:
        typed = _typed_branch(place, schema)
        if typed is None:
            yield Refusal(_NO_OBJECT)
        elif place.tokens in links.places:
            yield Refusal("a reference leads to it, where other values may be meant")
        else:
            yield place.change(typed, _TYPE_BRANCH)
        return
    for keyword in ("anyOf", "oneOf"):  # the finding is about all of them
        branches = schema.get(keyword)
        if branches.__class__ is not list:
            continue
        led_to = any((keyword, index) in links.places for index in range(len(branches)))
        typed_ones = [_typed_branch(place, branch) for branch in branches]
        if not led_to and branches and None not in typed_ones:
            made = history.put(schema, keyword, history.made(typed_ones, branches))
            yield place.change(made, _TYPE_BRANCH, keyword)
            return
    yield Refusal(_NO_OBJECT)


_TYPE_BRANCH = "make the type of the alternative object: arguments are never anything else"
_NO_OBJECT = (
    "an alternative that is no object accepts no arguments, and what it is for is not known"
)


def _typed_branch(place: Place, branch: Any) -> Any:
    """An alternative that says that it is an object; None where it is something else."""
    if branch is True:
        return {"type": "object"}
    if branch.__class__ is not dict or "type" in branch or "$ref" in branch:
        return None
    return place.history.made({"type": "object", **branch}, branch)


def unique_names(place: Place) -> Iterator[Change | Refusal]:
    """Each name of `required` once."""
    required = place.schema.get("required")
    if required.__class__ is not list or not all(isinstance(name, str) for name in required):
        yield Refusal("`required` is no list of names, so what it means is not known")
        return
    kept = place.history.without(required, dict.fromkeys(required))
    schema = place.history.put(place.schema, "required", kept)
    yield place.change(schema, "list each name once", "required")


def declare_none(place: Place) -> Iterator[Change | Refusal]:
    """An empty `properties`, at a root that is closed already."""
    schema = place.schema
    if place.tokens or schema.get("additionalProperties") is not False or "properties" in schema:
        yield Refusal(f"{_EMPTY}; an empty `properties` would look as if it were meant")
        return
    declared = place.history.put(schema, "properties", {}, after=("type", "description"))
    yield place.change(declared, "add an empty `properties`, which says that there are none")
