"""What is lost and what is narrowed of objects and arrays."""

from __future__ import annotations

from schemaguard.unenforced.instances import breaks
from schemaguard.unenforced.leaves import may_differ, may_meet
from schemaguard.unenforced.members import declared, is_open, most_items, writes_items, writes_names
from schemaguard.unenforced.scalars import look, shortest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from schemaguard.unenforced.facts import Facts
    from schemaguard.unenforced.scalars import Loss


def can_be_broken(name: str, schema: dict[str, Any], kinds: frozenset[str]) -> bool:
    """Whether what is written of a schema can break a keyword that is not enforced."""
    if name in ("uniqueItems", "maxContains"):
        return most_items(schema) > 1
    if name == "contains":
        return True
    if name in ("dependentRequired", "dependentSchemas", "dependencies"):
        triggers = schema[name] if schema[name].__class__ is dict else {}
        return is_open(schema) or any(trigger in declared(schema) for trigger in triggers)
    if name == "not" and not may_meet(schema["not"], kinds):
        return False
    if name == "not" and kinds == {"string"} and _pattern_forbids(schema, schema["not"]):
        return False
    if name == "if" and not may_meet(schema["if"], kinds):
        return schema.get("else", True) not in (True, {})
    empty: Any = None
    if kinds == {"object"} and not writes_names(schema):
        empty = {}
    elif kinds == {"array"} and not writes_items(schema):
        empty = []
    if empty is None:
        return True
    if name == "not":
        return not _empty_breaks(schema["not"], empty)
    branch = "else" if _empty_breaks(schema["if"], empty) else "then"
    return _empty_breaks(schema.get(branch, True), empty)


def _pattern_forbids(schema: dict[str, Any], forbidden: Any) -> bool:
    """Whether an enforced pattern keeps out all the values that a `not` lists."""
    pattern = schema.get("pattern")
    if not isinstance(pattern, str) or "format" in schema or forbidden.__class__ is not dict:
        return False
    if "const" in forbidden:
        values = [forbidden["const"]]
    else:
        values = forbidden["enum"] if forbidden.get("enum").__class__ is list else []
    seen = look(pattern)
    if not values or not seen.known or seen.asserts:
        return False
    return all(v.__class__ is not str or breaks("pattern", pattern, v) for v in values)


def _empty_breaks(schema: Any, empty: Any) -> bool:
    """Whether the empty object or array breaks a schema, as far as one look tells."""
    if schema.__class__ is not dict:
        return schema is False
    return any(breaks(keyword, limit, empty) for keyword, limit in schema.items())


def of_array(schema: dict[str, Any], _facts: Facts) -> Iterator[Loss]:
    """What is narrowed of a schema of arrays."""
    if "items" in schema or "unevaluatedItems" in schema:
        return
    if schema.get("maxItems") == 0:
        return
    for keyword in ("prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "type"):
        if keyword in schema:
            count = len(schema.get("prefixItems") or ())
            if count and schema.get("maxItems", count + 1) <= count:
                return
            yield "closed-array", (keyword,), {"count": count}
            return


def of_count(schema: dict[str, Any], _facts: Facts) -> Iterator[Loss]:
    """A `minContains` without `contains`, which says nothing and yet is counted."""
    if schema["minContains"] > schema.get("minItems", 0):
        yield "counted-without-contains", ("minContains",), {"count": schema["minContains"]}


def says_nothing_of_others(schema: dict[str, Any]) -> bool:
    """Whether a schema leaves open what other names an object may have."""
    return "additionalProperties" not in schema and "unevaluatedProperties" not in schema


def _of_required(schema: dict[str, Any], _facts: Facts) -> Iterable[Loss]:
    """Required names that are not declared."""
    required, names = schema["required"], declared(schema)
    if required == list(names):
        return ()
    undeclared = [name for name in required if name not in names]
    if not undeclared:
        return ()
    return (("lost-required", ("required",), {"names": ", ".join(undeclared[:3])}),)


def _of_open(schema: dict[str, Any], _facts: Facts) -> Iterable[Loss]:
    """Declared names in an object that is open to others."""
    open_to = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if open_to is False or schema.get("patternProperties"):
        return ()
    if any(_differs(member, open_to) for member in declared(schema).values()):
        return (("hidden-name", ("properties",), {}),)
    return ()


def of_nameless(schema: dict[str, Any], _facts: Facts) -> Iterable[Loss]:
    """An object without declared names that the engine closes."""
    keyword = "patternProperties"
    if keyword not in schema:
        if is_open(schema):
            return ()
        keyword = next((k for k in schema if k in _OBJECTS), "type")
    return (("closed-object", (keyword,), {}),)


def _of_names(schema: dict[str, Any], _facts: Facts) -> Iterator[Loss]:
    """Declared names that are no names, and a closed object that names open."""
    rule = schema["propertyNames"]
    if is_open(schema) and schema.get("maxProperties") != 0:
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in schema:
                if schema[keyword] is False:
                    data = {"winner": "propertyNames", "lost": f"`{keyword}`"}
                    yield "lost-sibling", (keyword,), data
                break
    if rule.__class__ is dict:
        names = declared(schema)
        bad = next((n for n in names if any(breaks(k, v, n) for k, v in rule.items())), None)
        if bad is not None:
            yield "unchecked-declared-name", ("propertyNames",), {"name": bad}


def forbidden(schema: dict[str, Any]) -> str | None:
    """A required name that a closed object cannot have."""
    names = declared(schema)
    named = schema.get("patternProperties") or ()
    for name in schema["required"]:
        if name not in names and all(breaks("pattern", pattern, name) for pattern in named):
            return str(name)
    return None


_OBJECTS = ("required", "minProperties", "maxProperties", "propertyNames", "dependentRequired")


def _of_patterns(schema: dict[str, Any], _facts: Facts) -> Iterator[Loss]:
    """Values that patterns of names do not keep."""
    names, named = declared(schema), schema["patternProperties"]
    if not named:
        return
    if is_open(schema):
        if names:
            yield "open-name-patterns", ("patternProperties", "properties"), {}
        else:
            yield "closed-object", ("patternProperties",), {}
        return
    if any(_is_written_again(member, name, named) for name, member in names.items()):
        yield "hidden-name", ("properties",), {}
    pair = _held_to_one(names, named)
    if pair is not None:
        data = {"one": pair[0], "other": pair[1]}
        yield "overlapping-name-patterns", ("patternProperties",), data
    elif len(named) > 1:
        pair = _overlap(named)
        if pair is not None:
            data = {"one": pair[0], "other": pair[1]}
            yield "overlapping-name-patterns", ("patternProperties",), data


#: Patterns of names that are held against each other.
_MOST_PATTERNS = 32


def _held_to_one(names: dict[str, Any], named: dict[str, Any]) -> tuple[str, str] | None:
    """A declared name and a pattern that it matches, whose schema what is declared may break."""
    for pattern, schema in list(named.items())[:_MOST_PATTERNS]:
        for name, member in list(names.items())[:_MOST_PATTERNS]:
            if not breaks("pattern", pattern, name) and may_differ(None, member, schema):
                return name, pattern
    return None


def _overlap(named: dict[str, Any]) -> tuple[str, str] | None:
    """Two patterns that a name is seen to match, and whose values differ."""
    rows = [(pattern, shortest(pattern)) for pattern in list(named)[:_MOST_PATTERNS]]
    for index, (one, text) in enumerate(rows):
        for other, its in rows[:index]:
            if text is None or its is None or named[one] == named[other]:
                continue
            for name in (text, its, text + its, its + text):
                if (_is_whole(one, name) and not breaks("pattern", other, name)) or (
                    _is_whole(other, name) and not breaks("pattern", one, name)
                ):
                    return other, one
    return None


def _is_whole(pattern: str, name: str) -> bool:
    """Whether a pattern matches a name as a whole, which is how names are written."""
    return not breaks("pattern", f"^(?:{pattern})$", name)


def _is_written_again(member: Any, name: str, named: dict[str, Any]) -> bool:
    """Whether a pattern lets a declared name be written a second time, with another value."""
    return any(
        _differs(member, schema)
        and not breaks("pattern", pattern, name)
        and _is_whole(pattern, name)
        for pattern, schema in list(named.items())[:_MOST_PATTERNS]
    )


def _differs(member: Any, other: Any) -> bool:
    """Whether a property may not have every value that other names may have."""
    return member is not True and member not in ({}, other)


#: Keywords, of which one is there → what to look at.
CHECKS: tuple[tuple[frozenset[str], Callable[[dict[str, Any], Facts], Iterable[Loss]]], ...] = (
    (frozenset({"required"}), _of_required),
    (frozenset({"additionalProperties", "unevaluatedProperties"}), _of_open),
    (frozenset({"patternProperties"}), _of_patterns),
    (frozenset({"propertyNames"}), _of_names),
)
