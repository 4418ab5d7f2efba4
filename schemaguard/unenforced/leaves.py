"""What xgrammar writes for a schema: its leaves, once winners are followed and losers left out.

A leaf is a schema that is read by its type, one value of `const` or `enum`, or any value at all.
What beats a keyword does no harm where all of its leaves keep the keyword anyway.
"""

from __future__ import annotations

from schemaguard.keywords import TYPE_NAMES
from schemaguard.reads import ANNOTATIONS, resolve
from schemaguard.unenforced.facts import SPEAKS_OF
from schemaguard.unenforced.instances import breaks, is_of, type_of
from schemaguard.unenforced.members import (
    declared,
    is_basic,
    is_open,
    may_lack,
    most_items,
    needed,
    writes_items,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.unenforced.facts import Facts

#: Leaves that are looked at; of a schema with more, anything is taken to be possible.
MOST = 256

_OBJECT_KEYWORDS = ("properties", "additionalProperties", "unevaluatedProperties")
_ARRAY_KEYWORDS = ("items", "prefixItems", "unevaluatedItems")


class Value:
    """A leaf that is one value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


#: The leaf that is any value.
ANY: dict[str, Any] = {}


def winner_of(schema: dict[str, Any], facts: Facts) -> str | None:
    """The keyword that decides alone what is written, or None where the types do."""
    for keyword in facts.winners:
        if keyword in schema:
            held = schema[keyword]
            if keyword == "const" or held.__class__ is (str if keyword == "$ref" else list):
                return keyword
    return None


def kinds_of(schema: dict[str, Any]) -> frozenset[str]:
    """The types of value that are written for a schema without a winner."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return frozenset((kinds,))
    if kinds.__class__ is list and kinds:
        return frozenset(kind for kind in kinds if isinstance(kind, str))
    for keyword in _OBJECT_KEYWORDS:
        if keyword in schema:
            return _OBJECT
    for keyword in _ARRAY_KEYWORDS:
        if keyword in schema:
            return _ARRAY
    return TYPE_NAMES


_OBJECT = frozenset({"object"})
_ARRAY = frozenset({"array"})


def leaves(root: Any, schema: Any, facts: Facts) -> list[Any]:
    """The leaves of a schema; `[ANY]` where they are too many, or are not to be told.

    Args:
        root: the document, for references.
        schema: a part of it.
        facts: of the engine's version.
    """
    found: list[Any] = []
    waiting = [(schema, False)]
    seen: set[int] = set()
    while waiting:
        member, referred = waiting.pop()
        if member is False or id(member) in seen:
            continue
        if member.__class__ is not dict or len(found) > MOST or len(seen) > MOST:
            return [ANY]
        winner = winner_of(member, facts)
        if winner is None:
            kinds = kinds_of(member)
            if kinds is TYPE_NAMES:
                return [ANY]
            found.append(closed(member) if referred else member)
            continue
        seen.add(id(member))
        held = member[winner]
        if winner == "$ref":
            target = resolve(root, held)
            if target is None:
                return [ANY]
            waiting.append((target[0], True))
        elif winner == "const":
            found.append(Value(held))
        elif winner == "enum":
            if len(held) > MOST:
                return _by_type(held)
            found.extend(map(Value, held))
        elif winner == "allOf" and len(held) != 1:
            if facts.any_of_all or not held:
                return [ANY]
            found.append(member)
        else:
            waiting.extend((branch, winner == "allOf") for branch in held)
    return found


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema as it is read where a reference or an `allOf` of one leads to it.

    One that says nothing but "object" or "array" is open elsewhere, and there it is not.
    """
    if is_basic(schema):
        if schema.get("type") == "object":
            return {**schema, "additionalProperties": False}
        if schema.get("type") == "array":
            return {**schema, "items": False}
    return schema


def _by_type(values: list[Any]) -> list[Any]:
    return [{"type": name} for name in sorted({type_of(value) for value in values})]


def may_break(root: Any, keyword: str, value: Any, leaf: Any, beside: dict[str, Any]) -> bool:
    """Whether something that a leaf stands for may break a keyword.

    Of one value it is said only where that is sure.

    Args:
        root: the document, for references.
        keyword: of a schema whose winner has the leaf.
        value: the keyword's.
        leaf: one of `leaves`.
        beside: the schema that has the keyword.
    """
    if leaf is ANY:
        return True
    if leaf.__class__ is Value:
        return _value_breaks(keyword, value, leaf.value, beside)
    kinds = kinds_of(leaf)
    if keyword == "type":
        allowed = {value} if isinstance(value, str) else set(value)
        return not all(kind in allowed or _is_number(kind, allowed) for kind in kinds)
    spoken = SPEAKS_OF.get(keyword)
    if spoken is None or spoken.isdisjoint(kinds):
        return False
    if keyword in leaf and leaf[keyword] == value:
        return False
    check = _BY_KEYWORD.get(keyword)
    return check is None or bool(check(root, value, leaf, beside))


def _is_number(kind: str, allowed: set[str]) -> bool:
    return kind == "integer" and "number" in allowed


def _value_breaks(keyword: str, limit: Any, value: Any, beside: dict[str, Any]) -> bool:
    if keyword == "anyOf":
        return all(_surely_breaks(member, value) for member in limit)
    if keyword == "oneOf":
        kept = [member for member in limit if not _surely_breaks(member, value)]
        return not kept or (len(kept) > 1 and all(_is_surely(member, value) for member in kept))
    if keyword == "allOf":
        return any(_surely_breaks(member, value) for member in limit)
    if keyword == "not":
        return _is_surely(limit, value)
    if keyword == "if":
        if _surely_breaks(limit, value):
            return _surely_breaks(beside.get("else", True), value)
        return _is_surely(limit, value) and _surely_breaks(beside.get("then", True), value)
    if keyword == "properties" and value.__class__ is dict:
        return any(_surely_breaks(limit[name], value[name]) for name in value if name in limit)
    if keyword == "items" and value.__class__ is list:
        start = len(beside.get("prefixItems") or ())
        return any(_surely_breaks(limit, item) for item in value[start : start + MOST])
    if keyword == "additionalProperties" and limit is False and value.__class__ is dict:
        names = value.keys() - declared(beside).keys()
        return bool(names) and not beside.get("patternProperties")
    return breaks(keyword, limit, value)


def nothing_left(keywords: tuple[str, ...], schema: dict[str, Any], found: list[Any]) -> bool:
    """Whether every leaf of a winner breaks one of the keywords beside it, whatever it stands for.

    Formats do not count: to most validators they are remarks.
    """
    said = [name for name in keywords if name != "format"]
    kinds = schema.get("type")
    allowed = {kinds} if isinstance(kinds, str) else set(kinds or ())
    for leaf in found:
        if leaf.__class__ is Value:
            if not any(breaks(name, schema[name], leaf.value) for name in said):
                return False
        elif "type" not in said or leaf is ANY:
            return False
        else:
            written = kinds_of(leaf)
            if written & allowed or (written | allowed) >= {"integer", "number"}:
                return False
    return bool(found)


def _surely_breaks(schema: Any, value: Any) -> bool:
    """Whether a value breaks a schema, as far as one look tells."""
    if schema.__class__ is not dict:
        return schema is False
    return any(breaks(keyword, limit, value) for keyword, limit in schema.items())


def _is_surely(schema: Any, value: Any) -> bool:
    """Whether a value keeps all that a schema says of it and that can be told at a glance."""
    if schema is True:
        return True
    if schema.__class__ is not dict:
        return False
    for keyword, limit in schema.items():
        if keyword in ANNOTATIONS or keyword not in SPEAKS_OF:
            continue
        if not SPEAKS_OF[keyword] & {type_of(value), "number" if is_of(value, ("number",)) else ""}:
            continue
        if keyword not in _TOLD or breaks(keyword, limit, value):
            return False
    return True


#: What `breaks` decides.
_TOLD = frozenset(
    {"type", "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties"}
    | {"maxProperties", "required", "uniqueItems", "pattern"}
)


# ------------------------------------------------------------------------------------------ objects


def may_meet(schema: Any, kinds: frozenset[str]) -> bool:
    """Whether a value of some types may be valid, as far as one look at types and values tells."""
    if schema.__class__ is not dict:
        return schema is not False
    allowed = schema.get("type")
    if allowed is not None:
        names = {allowed} if isinstance(allowed, str) else set(allowed)
        numbers = {"integer", "number"}
        if not (names & kinds or (names & numbers and kinds & numbers)):
            return False
    if "const" in schema:
        return is_of(schema["const"], kinds)
    return "enum" not in schema or any(is_of(value, kinds) for value in schema["enum"])


def _other_properties(root: Any, value: Any, leaf: dict[str, Any], _: Any) -> bool:
    if is_open(leaf) or leaf.get("patternProperties"):
        return True
    own = declared(leaf)
    return any(name in own and may_differ(root, own[name], value[name]) for name in value)


def may_differ(root: Any, written: Any, wanted: Any) -> bool:
    """Whether what is written for one schema may break another, looking one level deep."""
    if wanted is True or written == wanted:
        return False
    if wanted.__class__ is not dict or written.__class__ is not dict:
        return True
    if not SPEAKS_OF.keys() & wanted.keys():
        return False
    for keyword in ("const", "enum"):
        if keyword in written:
            values = [written[keyword]] if keyword == "const" else written[keyword]
            return any(_surely_breaks(wanted, value) for value in values)
    simple = SPEAKS_OF.keys() & written.keys() <= _TOLD
    return not simple or any(
        keyword in SPEAKS_OF and may_break(root, keyword, limit, written, wanted)
        for keyword, limit in wanted.items()
    )


def _other_names(_: Any, __: Any, leaf: dict[str, Any], beside: dict[str, Any]) -> bool:
    if is_open(leaf) or leaf.get("patternProperties"):
        return True
    return not declared(leaf).keys() <= declared(beside).keys()


def _fewer(_: Any, value: Any, leaf: dict[str, Any], __: Any) -> bool:
    return bool(value > max(len(needed(leaf)), leaf.get("minProperties", 0)))


def _more(_: Any, value: Any, leaf: dict[str, Any], __: Any) -> bool:
    if is_open(leaf) or leaf.get("patternProperties"):
        return bool(leaf.get("maxProperties", value + 1) > value)
    return bool(min(len(declared(leaf)), leaf.get("maxProperties", 1 << 31)) > value)


def _below(*keywords: str, past: str | None = None) -> Any:
    """A check of a lower bound; a leaf's own has to lie past it where it does not reach so far."""

    def check(_: Any, value: Any, leaf: dict[str, Any], __: Any) -> bool:
        if past in leaf and leaf[past] > value:
            return False
        return not any(keyword in leaf and leaf[keyword] >= value for keyword in keywords)

    return check


def _above(*keywords: str, past: str | None = None) -> Any:
    """The same of an upper one."""

    def check(_: Any, value: Any, leaf: dict[str, Any], __: Any) -> bool:
        if past in leaf and leaf[past] < value:
            return False
        return not any(keyword in leaf and leaf[keyword] <= value for keyword in keywords)

    return check


def _undivided(_: Any, value: Any, leaf: dict[str, Any], __: Any) -> bool:
    """Whether a leaf writes numbers that are no multiples."""
    return kinds_of(leaf) != {"integer"} or 1 / value % 1 != 0


def _with_items(_: Any, _value: Any, leaf: dict[str, Any], __: Any) -> bool:
    return writes_items(leaf)


def _too_many_items(_: Any, value: Any, leaf: dict[str, Any], __: Any) -> bool:
    return writes_items(leaf) and bool(leaf.get("maxItems", value + 1) > value)


def _unseen(_: Any, _value: Any, leaf: dict[str, Any], __: Any) -> bool:
    """Whether a leaf writes members that it does not evaluate."""
    return is_basic(leaf)


_BY_KEYWORD: dict[str, Any] = {
    "required": lambda _, value, leaf, __: may_lack(value, leaf),
    "properties": _other_properties,
    "additionalProperties": _other_names,
    "unevaluatedProperties": _unseen,
    "unevaluatedItems": _unseen,
    "minProperties": _fewer,
    "maxProperties": _more,
    "minimum": _below("minimum", "exclusiveMinimum"),
    "exclusiveMinimum": _below("exclusiveMinimum", past="minimum"),
    "maximum": _above("maximum", "exclusiveMaximum"),
    "exclusiveMaximum": _above("exclusiveMaximum", past="maximum"),
    "multipleOf": _undivided,
    "not": lambda _, value, leaf, __: may_meet(value, kinds_of(leaf)),
    "minLength": _below("minLength"),
    "maxLength": _above("maxLength"),
    "minItems": _below("minItems", "minContains"),
    "maxItems": _too_many_items,
    "uniqueItems": lambda _, __, leaf, ___: most_items(leaf) > 1,
    "items": _with_items,
    "prefixItems": _with_items,
}
