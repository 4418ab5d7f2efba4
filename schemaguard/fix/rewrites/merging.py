"""Several schemas that hold for the same value, as one."""

from __future__ import annotations

from schemaguard import keywords as kw
from schemaguard.data import equal, same
from schemaguard.fix.meaning import ANNOTATIONS, target
from schemaguard.report import tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from schemaguard.fix.draft import History, Schema, Tokens


class CannotMergeError(Exception):
    """The schemas cannot be made one; the message says why."""


def inlined(root: Any, tokens: Tokens, member: Any) -> Any:
    """What a bare reference leads to; anything else as it is.

    Args:
        root: the document.
        tokens: where the reference stands; the target must not be around it.
        member: the schema with the reference.

    Raises:
        CannotMergeError: it leads out of the document, or around itself.
    """
    seen: set[Tokens] = set()
    while member.__class__ is dict and "$ref" in member:
        found = target(root, member["$ref"])
        if found is None:
            raise CannotMergeError("a reference leads out of the document")
        place, schema = found
        if place in seen or tokens[: len(place)] == place or schema.__class__ is not dict:
            raise CannotMergeError("a reference leads back to where it stands")
        seen.add(place)
        if member.keys() - ANNOTATIONS != {"$ref"}:
            raise CannotMergeError("a reference has other keywords beside it")
        for keyword in ("$defs", "definitions", "$id", "id", "$anchor"):
            if keyword in schema:
                raise CannotMergeError(f"what it refers to has `{keyword}` of its own")
        member = schema
    return member


def merged(history: History, schema: Schema, keyword: str, members: list[Any]) -> Schema:
    """A schema with `keyword`, whose members hold as well, made one.

    Raises:
        CannotMergeError: they cannot be.
    """
    parts: list[Schema] = []
    for member in members:
        if member is True:
            continue
        if member.__class__ is not dict:
            raise CannotMergeError("a member is no object")
        parts.append(member)
    own = {key: value for key, value in schema.items() if key != keyword}
    wholes = [own, *parts]
    _check_objects(wholes)
    found: Schema = {}
    later: Schema = {}  # of members, where the schema has the same keyword further on
    for key, value in schema.items():
        if key != keyword:
            if key in later:
                found[key] = later.pop(key)
            found[key] = _joined(history, key, found, value, outer=True)
            continue
        for part in parts:
            for name, inner in part.items():
                there = later if name in own and name not in found else found
                there[name] = _joined(history, name, there, inner)
    return history.joined(history.made(found, schema), *parts)  # type: ignore[no-any-return]


#: Keywords of which one tells another what it means, with what is said where two have them.
_TOGETHER = (
    (("items", "prefixItems", "additionalItems"), "more than one says what the items are"),
    (("contains", "minContains", "maxContains"), "more than one says what the items contain"),
    (("if", "then", "else"), "more than one has conditions"),
)
_NAMING = ("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor")


def _check_objects(wholes: list[Schema]) -> None:
    """Whether each word means in the one schema what it means where it stands.

    Args:
        wholes: the schema's own words, and its members.
    """
    free = ("additionalProperties", "patternProperties", "unevaluatedProperties")
    telling = [whole for whole in wholes if any(keyword in whole for keyword in free)]
    if telling and sum(1 for whole in wholes if _speaks_of_members(whole)) > 1:
        raise CannotMergeError("one of them says what names it does not declare are")
    for keywords, reason in _TOGETHER:
        if sum(1 for whole in wholes if any(keyword in whole for keyword in keywords)) > 1:
            raise CannotMergeError(reason)
    for bound in ("Minimum", "Maximum"):
        exclusive, plain = f"exclusive{bound}", bound.lower()
        bounding = [whole for whole in wholes if exclusive in whole or plain in whole]
        if len(bounding) > 1 and any(whole.get(exclusive).__class__ is bool for whole in bounding):
            raise CannotMergeError(f"`{exclusive}` is about one `{plain}` alone")
    for part in wholes[1:]:
        if any(isinstance(part.get(keyword), (str, bool)) for keyword in _NAMING):
            raise CannotMergeError("one of them has a name of its own")
        others = sum(1 for whole in wholes if whole.keys() - ANNOTATIONS - {"type", "required"})
        if others > 1 and ("unevaluatedProperties" in part or "unevaluatedItems" in part):
            raise CannotMergeError("one of them asks what it has itself looked at")
        if part.get("nullable") is True and any(
            whole.keys() - ANNOTATIONS and whole.get("nullable") is not True for whole in wholes
        ):
            raise CannotMergeError("one of them is `nullable`, and the others are not")


def _speaks_of_members(whole: Schema) -> bool:
    return any(k in whole for k in ("properties", "additionalProperties", "patternProperties"))


def _joined(history: History, key: str, found: Schema, value: Any, *, outer: bool = False) -> Any:
    """The value of a keyword that holds with what was found before."""
    if key not in found or same(found[key], value):
        return value
    before = found[key]
    if key == "description" and isinstance(before, str) and isinstance(value, str):
        return f"{before} {value}"
    if key in ANNOTATIONS:
        return value if outer else before
    join = _JOINS.get(key)
    if join is None:
        raise CannotMergeError(f"more than one has `{key}`")
    return join(history, before, value)


def _properties(history: History, before: Any, value: Any) -> Any:
    if before.__class__ is not dict or value.__class__ is not dict:
        raise CannotMergeError("`properties` is malformed")
    both = before.keys() & value.keys()
    if any(not same(before[name], value[name]) for name in both):
        raise CannotMergeError("more than one declares the same property")
    return history.made({**before, **value}, before)


def _required(history: History, before: Any, value: Any) -> Any:
    if not (kw.is_unique_strings(before) and kw.is_unique_strings(value)):
        raise CannotMergeError("`required` is malformed")
    return history.made([*before, *(name for name in value if name not in before)], before)


def _types(history: History, before: Any, value: Any) -> Any:
    if not (kw.is_types(before) and kw.is_types(value)):
        raise CannotMergeError("`type` is malformed")
    ones = [before] if isinstance(before, str) else before
    others = [value] if isinstance(value, str) else value
    common = [name for name in ones if name in others]
    common += [
        "integer"
        for a, b in ((ones, others), (others, ones))
        if "integer" in a and "number" in b and "integer" not in b
    ]
    if not common:
        raise CannotMergeError("their types have nothing in common")
    return common[0] if len(common) == 1 else history.made(common, before)


def _enum(history: History, before: Any, value: Any) -> Any:
    if before.__class__ is not list or value.__class__ is not list:
        raise CannotMergeError("`enum` is malformed")
    common = [one for one in before if any(equal(one, other) for other in value)]
    if not common:
        raise CannotMergeError("their values have nothing in common")
    return history.made(common, before)


def _largest(_history: History, before: Any, value: Any) -> Any:
    return _bound(before, value, max)


def _smallest(_history: History, before: Any, value: Any) -> Any:
    return _bound(before, value, min)


def _bound(before: Any, value: Any, choose: Callable[..., Any]) -> Any:
    if not (kw.is_number(before) and kw.is_number(value)):
        raise CannotMergeError("a bound is no number")
    return choose(before, value)


_JOINS: dict[str, Callable[[History, Any, Any], Any]] = {
    "properties": _properties,
    "required": _required,
    "type": _types,
    "enum": _enum,
    "minimum": _largest,
    "exclusiveMinimum": _largest,
    "minLength": _largest,
    "minItems": _largest,
    "minProperties": _largest,
    "maximum": _smallest,
    "exclusiveMaximum": _smallest,
    "maxLength": _smallest,
    "maxItems": _smallest,
    "maxProperties": _smallest,
}


def is_around(tokens: Tokens, reference: str) -> bool:
    """Whether a local reference leads to a place around (or at) some tokens."""
    place = tokens_of(reference.removeprefix("#"))
    return tuple(map(str, tokens[: len(place)])) == place
