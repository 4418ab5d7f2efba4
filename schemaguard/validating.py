"""jsonschema, held to a budget: the validators of `validate_arguments` and of `schemaguard score`.

Schemas and values are from strangers. So every keyword and every subschema counts, and costs what
it may have to look at; patterns are searched by a function that takes bounded time; the way down
ends before the stack does; and no reference is ever fetched (jsonschema's default asks the
network).
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import chain

from schemaguard.errors import cut
from schemaguard.searching import Budget, UndecidedError, is_quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from jsonschema import ValidationError

    #: Keyword of a schema: (validator, its value, instance, schema) to errors.
    Check = Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]
    #: Whether a pattern is found in a text, paid from a budget.
    Found = Callable[[str, str, Budget], bool]
    #: Whether a text is of the format of a name.
    IsOfFormat = Callable[[str, str], bool]

__all__ = ["bounded", "made", "patterns_of_names", "vouch_for_names"]

_CHARACTERS_A_STEP = 100
#: A validator is made for each subschema that is applied, and its reference looked up.
_STEPS_A_SUBSCHEMA = 2


def made(validator: Any, schema: Any, budget: Budget) -> Any:
    """An instance of a validator class that `bounded` made.

    The budget travels as the format checker, which every validator of a subschema gets, too.

    Raises:
        UndecidedError: there is too little left of the stack.
        Exception: the schema cannot be used; jsonschema fails as it likes.
    """
    _have_room()
    from jsonschema_specifications import (  # type: ignore[import-untyped]  # noqa: PLC0415
        REGISTRY,  # jsonschema needs it; it has the drafts' own metaschemas, and fetches nothing
    )

    return validator(schema, registry=REGISTRY, format_checker=budget)


@cache
def bounded(draft: Any, found: Found, is_of_format: IsOfFormat, *, follows: bool) -> Any:
    """A draft's validator class in which every keyword counts, and some are bounded.

    Args:
        draft: validator class of jsonschema.
        found: searches a text for a pattern, in bounded time.
        is_of_format: whether a text is of a format, in bounded time.
        follows: whether a subschema with a `$schema` of its own is of that draft, as jsonschema
            has it; else all are of one draft.
    """
    from attrs import evolve, fields  # noqa: PLC0415  (jsonschema needs it)
    from jsonschema.validators import extend, validator_for  # noqa: PLC0415

    def evolved(validator: Any, **changes: Any) -> Any:
        _have_room()
        validator.format_checker.spend(_STEPS_A_SUBSCHEMA)
        schema = changes.get("schema", validator.schema)
        if follows and schema.__class__ is dict and "$schema" in schema:
            other = validator_for(schema, default=draft)
            if other is not draft:
                for field in fields(own):
                    if field.init:
                        changes.setdefault(field.alias, getattr(validator, field.name))
                return bounded(other, found, is_of_format, follows=follows)(**changes)
        return evolve(validator, **changes)

    keywords = {**draft.VALIDATORS, **_keywords(found, is_of_format)}
    own = extend(draft, {name: _counted(name, keywords[name]) for name in draft.VALIDATORS})
    # jsonschema's own would lose what is bounded here where a subschema has a `$schema`.
    own.evolve = evolved
    return own


def _have_room() -> None:
    """Stop well before the end of the stack, where the Rust parts of jsonschema panic.

    A panic is no `Exception`, and writes to standard error. Every way down leads through `evolve`.

    Raises:
        UndecidedError: there is too little left.
    """
    try:
        sys._getframe(sys.getrecursionlimit() * 3 // 4)  # noqa: SLF001  (documented, and cheap)
    except ValueError:
        return
    raise UndecidedError("it nests too deep")


def _counted(keyword: str, check: Check) -> Check:
    weigh = _WEIGHTS.get(keyword, _of_lists)

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        budget: Budget = validator.format_checker
        budget.spend(1 + weigh(value, instance))
        for error in check(validator, value, instance, schema) or ():
            budget.spend(1 + len(error.message) // _CHARACTERS_A_STEP)
            yield error

    return counted


# ------------------------------------------------------------------------------------------ weights
# How many values a keyword may have to look at, beyond one.


def _of_lists(value: object, instance: object) -> int:
    return sum(len(each) for each in (value, instance) if isinstance(each, list))


def _of_comparing(value: object, instance: object) -> int:
    """`enum` and `const`: containers are compared member by member, in Python."""
    if isinstance(instance, (list, dict)):
        return _nodes(value)
    return len(value) if isinstance(value, list) else 0


def _of_unique_items(value: object, instance: object) -> int:
    """`uniqueItems` sorts what can be sorted, and compares each with each otherwise."""
    if value is False or not isinstance(instance, list):
        return 0
    if _are_sortable(instance):
        return len(instance)
    nodes = _nodes(instance)
    if all(isinstance(item, list) for item in instance) and _are_sortable(
        chain.from_iterable(instance)
    ):
        return nodes
    return len(instance) * nodes // 4


def _are_sortable(values: Iterable[object]) -> bool:
    kinds = {float if kind is int else kind for kind in map(type, values)}
    return kinds <= {str} or kinds <= {float}


def _of_names(value: object, instance: object) -> int:
    """Keywords that look up the names of a table, or of an object; schemas are counted apart."""
    return sum(len(each) for each in (value, instance) if isinstance(each, dict)) // 8


def _of_what_is_left(_value: object, instance: object) -> int:
    """`unevaluated…` looks for each member in a list of those that are evaluated."""
    size = len(instance) if isinstance(instance, (list, dict)) else 0
    return size + size**2 // 64


_WEIGHTS = {
    "additionalProperties": _of_names,
    "const": _of_comparing,
    "dependencies": _of_names,
    "dependentRequired": _of_names,
    "dependentSchemas": _of_names,
    "enum": _of_comparing,
    "properties": _of_names,
    "propertyNames": _of_names,
    "unevaluatedItems": _of_what_is_left,
    "unevaluatedProperties": _of_what_is_left,
    "uniqueItems": _of_unique_items,
}


def _nodes(root: object) -> int:
    count = 0
    stack = [root]
    while stack:
        value = stack.pop()
        count += 1
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return count


# ----------------------------------------------------------------------------------------- keywords


def _keywords(found: Found, is_of_format: IsOfFormat) -> dict[str, Check]:
    """The keywords that jsonschema itself does not hold to bounded time."""

    def pattern(validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        if isinstance(instance, str) and not found(pattern, instance, validator.format_checker):
            yield _error("does not match the pattern")

    def pattern_properties(
        validator: Any, patterns: Any, instance: Any, _schema: Any
    ) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        for pattern, schema in patterns.items():
            for name, member in instance.items():
                if found(pattern, name, validator.format_checker):
                    yield from validator.descend(member, schema, path=name, schema_path=pattern)

    def additional_properties(
        validator: Any, allowed: Any, instance: Any, schema: Any
    ) -> Iterator[Any]:
        if allowed is True or not isinstance(instance, dict):
            return
        declared = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        budget = validator.format_checker
        for name, member in instance.items():
            if name in declared or any(found(pattern, name, budget) for pattern in patterns):
                continue
            if allowed is False:
                yield _error(f"unexpected member {cut(name, 80)!r}")
            else:
                yield from validator.descend(member, allowed, path=name)

    def format_(_validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        if isinstance(instance, str) and isinstance(name, str) and not is_of_format(instance, name):
            yield _error("is not of the format")

    return {
        "additionalProperties": additional_properties,
        "format": format_,
        "pattern": pattern,
        "patternProperties": pattern_properties,
    }


def _error(words: str) -> ValidationError:
    from jsonschema import ValidationError  # noqa: PLC0415

    return ValidationError(words)


# -------------------------------------------------------------------------------- patterns of names


def patterns_of_names(schema: Any) -> tuple[str, ...]:
    """Patterns that jsonschema itself searches in names: for `unevaluatedProperties`."""
    patterns: set[str] = set()
    unevaluated = False
    for value in _dicts(schema):
        unevaluated = unevaluated or "unevaluatedProperties" in value
        held = value.get("patternProperties")
        patterns.update(held if isinstance(held, dict) else ())
    return tuple(patterns) if unevaluated else ()


def vouch_for_names(patterns: Iterable[str], arguments: Any) -> None:
    """Make sure that jsonschema may search the names in a value for patterns.

    Args:
        patterns: those of `patterns_of_names`.
        arguments: the value that is to be validated.

    Raises:
        UndecidedError: one may explode on a name.
    """
    longest = max((len(name) for one in _dicts(arguments) for name in one), default=0)
    if not all(is_quick(pattern, longest) for pattern in patterns):
        raise UndecidedError("a pattern of names may take exponential time")


def _dicts(root: Any) -> Iterator[dict[str, Any]]:
    stack = [root]
    while stack:
        value = stack.pop()
        if value.__class__ is dict:
            yield value
            stack.extend(value.values())
        elif value.__class__ is list:
            stack.extend(value)
