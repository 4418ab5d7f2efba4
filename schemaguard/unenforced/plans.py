"""For each sequence of keywords and each type: what there is to look at, and what to enter.

Real documents repeat a handful of them. A plan says what is lost whatever the values are, and which
checks look at values; a schema about which there is never anything to say costs one look-up.
"""

from __future__ import annotations

from schemaguard.keywords import TYPE_NAMES
from schemaguard.unenforced import broken, compounds, scalars
from schemaguard.unenforced.choices import overlapping
from schemaguard.unenforced.facts import (
    REF_OVERRIDES,
    SPEAKS_OF,
    means_something,
    restricts,
)
from schemaguard.unenforced.leaves import kinds_of, leaves, may_break, nothing_left, winner_of
from schemaguard.unenforced.members import is_basic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from schemaguard.unenforced.facts import Facts
    from schemaguard.unenforced.reading import _Reader
    from schemaguard.unenforced.scalars import Loss

    Look = Callable[[dict[str, Any], Facts], Iterable[Loss]]
    Check = Callable[[_Reader, dict[str, Any]], Iterable[Loss]]

#: The rule about a schema that nothing satisfies.
IMPOSSIBLE = "impossible-part"

# What a keyword holds.
REFERENCE = 0
ONE = 1
MAP = 2
LIST = 3
ONE_OF_A_LIST = 4  # entered where the list has one member; more are read and not written
NAMES = 5  # a schema of names, which is read and not written

# The plans hold key sequences that a stranger chooses: few, and short ones.
_MAX_PLANS = 4_096
_MAX_KEYS = 32
_MAX_KEY_CHARACTERS = 1_024
#: (version, draft) → keys and type → plan; shared between threads, each use is one operation.
_known: dict[tuple[str, int], dict[Any, Plan]] = {}


class Plan:
    """What to do with schemas of one sequence of keywords and one type.

    Attributes:
        losses: what is lost whatever the values are.
        looks: what looks at values, (schema, facts).
        checks: what looks at the document as well, (reader, schema).
        children: (keyword, what it holds) to enter, the last first.
        quiet: nothing of all that.
    """

    __slots__ = ("checks", "children", "looks", "losses", "quiet")

    def __init__(
        self,
        checks: Iterable[Check] = (),
        children: Iterable[tuple[str, int]] = (),
        losses: Iterable[Loss] = (),
        looks: Iterable[Look] = (),
    ) -> None:
        self.losses = tuple(losses)
        self.looks = tuple(looks)
        self.checks = tuple(checks)
        self.children = tuple(children)
        self.quiet = not (self.losses or self.looks or self.checks or self.children)


def known(version: str, draft: int) -> dict[Any, Plan]:
    """The plans that are kept for a version of the engine and a draft."""
    return _known.get((version, draft)) or _known.setdefault((version, draft), {})


def plan_of(schema: dict[str, Any], kept: dict[Any, Plan], facts: Facts, draft: int) -> Plan:
    """The plan for a schema, kept where it is short enough to keep."""
    kind = schema.get("type")
    if kind.__class__ is list:
        kind = tuple(name for name in kind if isinstance(name, str))
    elif not isinstance(kind, str):
        kind = None
    keys = tuple(schema)
    plan = kept.get((keys, kind))
    if plan is None:
        plan = _made(schema, facts, draft)
        if len(keys) <= _MAX_KEYS and sum(map(len, map(str, keys))) <= _MAX_KEY_CHARACTERS:
            if len(kept) >= _MAX_PLANS:
                kept.clear()
            kept[keys, kind] = plan
    return plan


def _made(schema: dict[str, Any], facts: Facts, draft: int) -> Plan:
    said = [name for name in schema if means_something(name, draft)]
    winner = winner_of(schema, facts)
    if winner is not None:
        return _of_winner(winner, [name for name in said if name != winner], draft)
    kinds = kinds_of(schema)
    if kinds is TYPE_NAMES:
        return Plan([_untyped] if said else ())
    checks: list[Check] = []
    looks: list[Look] = []
    children: list[tuple[str, int]] = []
    losses: list[Loss] = []
    never = tuple(name for name in said if any(name in facts.dropped.get(k, ()) for k in kinds))
    if never:
        checks.append(_unenforced(never))
    if "type" not in schema:
        losses += _implied(schema, kinds)
    if "string" in kinds and not _STRINGS.isdisjoint(schema):
        looks += [scalars.of_string, broken.of_string]
    for kind in ("integer", "number"):
        if kind in kinds and not _NUMBERS.isdisjoint(schema):
            looks += _of_number(kind)
    if "array" in kinds and not is_basic(schema):
        looks.append(compounds.of_array)
        if "minContains" in schema and "contains" not in schema:
            looks.append(compounds.of_count)
        if not _ARRAYS.isdisjoint(schema):
            looks.append(broken.of_array)
        children += [("prefixItems", LIST), (_rest_of(schema, "items", "unevaluatedItems"), ONE)]
    if "object" in kinds and not is_basic(schema):
        if compounds.says_nothing_of_others(schema) and "properties" in schema:
            losses.append(("closed-object", ("properties",), {}))
        looks += [of for keywords, of in compounds.CHECKS if not keywords.isdisjoint(schema)]
        if compounds.says_nothing_of_others(schema) and "properties" not in schema:
            looks.append(compounds.of_nameless)
        if not _OBJECTS.isdisjoint(schema):
            looks.append(broken.of_object)
        if "required" in schema and "additionalProperties" in schema and kinds == {"object"}:
            checks.append(_forbidden)
        children += [("properties", MAP), ("patternProperties", MAP)]
        children.append((_rest_of(schema, "additionalProperties", "unevaluatedProperties"), ONE))
        children.append(("propertyNames", NAMES))
    present = [row for row in children if row[0] in schema]
    return Plan(checks, reversed(present), losses, looks)


def _rest_of(schema: dict[str, Any], keyword: str, later: str) -> str:
    """Which of two keywords about all other members the engine reads: one is enough for it."""
    return keyword if keyword in schema else later


def _of_winner(winner: str, beside: list[str], draft: int) -> Plan:
    checks: list[Check] = []
    if winner == "$ref" and draft <= REF_OVERRIDES:
        beside = []
    if winner == "allOf":
        checks.append(_all_of(tuple(beside)))
    elif beside:
        checks.append(_lost(winner, tuple(beside)))
    if winner == "oneOf":
        checks.append(_one_of)
    if winner in ("const", "enum"):
        checks.append(_values(winner))
    holds = _HELD.get(winner)
    return Plan(checks, () if holds is None else [(winner, holds)])


_HELD = {"$ref": REFERENCE, "anyOf": LIST, "oneOf": LIST, "allOf": ONE_OF_A_LIST}

_STRINGS = frozenset({"format", "pattern", "minLength", "maxLength"})
_ARRAYS = frozenset({"minItems", "minContains", "maxItems", "prefixItems", "items"})
_OBJECTS = frozenset({"minProperties", "maxProperties", "propertyNames", "patternProperties"})
_NUMBERS = frozenset({"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


def _named(keywords: Any) -> str:
    return ", ".join(f"`{keyword}`" for keyword in keywords)


def _untyped(reader: _Reader, schema: dict[str, Any]) -> Iterator[Loss]:
    lost = [
        name
        for name in schema
        if means_something(name, reader.draft)
        and restricts(name, schema[name])
        and _says(name, schema)
    ]
    always = [name for name in lost if name in ("not", "if")]
    typed = tuple(name for name in lost if name not in ("not", "if"))
    if typed:
        yield "untyped-keyword", typed, {"keywords": _named(typed)}
    for name in always:
        yield "unenforced-keyword", _with_branches(name), {"keyword": name}


def _says(name: str, schema: dict[str, Any]) -> bool:
    """Whether a keyword that needs another one has it."""
    if name == "if":
        return any(schema.get(branch, True) not in (True, {}) for branch in ("then", "else"))
    if name in ("minContains", "maxContains"):
        return "contains" in schema and not (name == "minContains" and schema[name] == 1)
    if name == "format":
        return schema[name] in scalars.STANDARD_FORMATS
    return not (
        name == "contains" and schema.get("minContains") == 0 and "maxContains" not in schema
    )


def _with_branches(name: str) -> tuple[str, ...]:
    return ("if", "then", "else") if name == "if" else (name,)


def _unenforced(keywords: tuple[str, ...]) -> Check:
    def check(_: _Reader, schema: dict[str, Any]) -> Iterator[Loss]:
        kinds = kinds_of(schema)
        for name in keywords:
            if not restricts(name, schema[name]) or not _says(name, schema):
                continue
            if not compounds.can_be_broken(name, schema, kinds):
                continue
            yield "unenforced-keyword", _with_branches(name), {"keyword": name}

    return check


def _implied(schema: dict[str, Any], kinds: frozenset[str]) -> Iterator[Loss]:
    (kind,) = kinds
    for keyword in schema:
        if SPEAKS_OF.get(keyword) == kinds:
            yield "implied-type", (keyword,), {"keyword": keyword, "kind": kind}
            return


def _of_number(kind: str) -> list[Look]:
    return [
        lambda schema, facts: scalars.of_number(schema, kind, facts),
        lambda schema, facts: broken.of_number(schema, kind, facts),
    ]


def _forbidden(_: _Reader, schema: dict[str, Any]) -> Iterator[Loss]:
    """A required name that the object cannot have."""
    if schema.get("additionalProperties") is not False:
        return
    name = compounds.forbidden(schema)
    if name is not None:
        why = f"`{name}` is required and forbidden"
        yield IMPOSSIBLE, ("required",), {"why": why}


def _lost(winner: str, beside: tuple[str, ...]) -> Check:
    def check(reader: _Reader, schema: dict[str, Any]) -> Iterable[Loss]:
        if beside == _TYPE and winner == "enum" and _are_all(schema["enum"], schema["type"]):
            return ()
        return lost(reader, schema)

    def lost(reader: _Reader, schema: dict[str, Any]) -> Iterator[Loss]:
        written = leaves(reader.root, {winner: schema[winner]}, reader.facts)
        names = tuple(
            name
            for name in beside
            if restricts(name, schema[name])
            and _says(name, schema)
            and any(may_break(reader.root, name, schema[name], leaf, schema) for leaf in written)
        )
        if names:
            keywords = tuple(k for name in names for k in _with_branches(name))
            yield "lost-sibling", keywords, {"winner": winner, "lost": _named(names)}
            if nothing_left(names, schema, written):
                why = f"nothing that `{winner}` allows keeps {_named(names)}"
                yield IMPOSSIBLE, (winner,), {"why": why}

    return check


_TYPE = ("type",)
_CLASSES = {"string": {str}, "integer": {int}, "boolean": {bool}}


def _are_all(members: list[Any], kind: Any) -> bool:
    """Whether members are all of the type that their schema says, told by one look at most."""
    return kind.__class__ is str and {m.__class__ for m in members} == _CLASSES.get(kind)


def _all_of(beside: tuple[str, ...]) -> Check:
    lost = _lost("allOf", beside)

    def check(reader: _Reader, schema: dict[str, Any]) -> Iterator[Loss]:
        branches = schema["allOf"]
        if len(branches) < 2 or not reader.facts.any_of_all:
            yield from lost(reader, schema)
            return
        also = tuple(
            name for name in beside if restricts(name, schema[name]) and _says(name, schema)
        )
        keywords = tuple(k for name in ("allOf", *also) for k in _with_branches(name))
        named = f", and {_named(also)} beside it" if also else ""
        yield "unmerged-all-of", keywords, {"number": len(branches), "also": named}

    return check


def _one_of(reader: _Reader, schema: dict[str, Any]) -> Iterator[Loss]:
    if reader.facts.one_is_any:
        pair = overlapping(reader.root, schema["oneOf"], reader.facts)
        if pair is not None:
            yield "overlapping-one-of", ("oneOf",), {"first": pair[0], "second": pair[1]}


#: Integers beyond these are written as rounded numbers.
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def _values(winner: str) -> Check:
    def check(_: _Reader, schema: dict[str, Any]) -> Iterable[Loss]:
        held = schema[winner]
        if winner == "enum":
            if _PLAIN.issuperset({member.__class__ for member in held}):
                return () if held else (("enum-of-nothing", (winner,), {}),)
        elif held.__class__ in _PLAIN:
            return ()
        waiting = [held]
        while waiting:
            value = waiting.pop()
            if value.__class__ is int and not _LEAST <= value <= _MOST:
                return (("rounded-integer", (winner,), {"keyword": winner}),)
            if value.__class__ is list:
                waiting.extend(value)
            elif value.__class__ is dict:
                waiting.extend(value.values())
        return ()

    return check


#: Classes of values that hold no integer.
_PLAIN = frozenset({str, bool, type(None)})
