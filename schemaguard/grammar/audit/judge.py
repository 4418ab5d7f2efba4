"""Who says what is valid: jsonschema, kept from the network, from hanging and from recursing away.

The judge decides validity and nothing else does. It knows one document (an empty registry: nothing
is fetched), asserts formats, and follows the draft that `$schema` names, else 2020-12. Where it
cannot decide it says so (None), and what was asked stays untested:

* it counts the keywords that it applies and gives up at `MAX_STEPS`: recursive alternatives cost
  it exponentially many;
* a pattern meets only strings so short that Python's backtracking `re` is done with them soon;
* a RecursionError, a pattern that `re` does not know or a reference that leads nowhere is no
  verdict.

"Breaks this constraint and nothing else" is a question of two validities: the instance is invalid,
and valid once the keyword is taken out of the schema.
"""

from __future__ import annotations

import re
import threading
import warnings
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import jsonschema
import referencing
import referencing.exceptions
from jsonschema import validators

from schemaguard.grammar.audit import regexes, samples
from schemaguard.grammar.audit.discriminators import LEAST, Discriminator
from schemaguard.reads import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from schemaguard.grammar.audit.constraints import Constraint

#: Keywords that the judge applies for one instance before it gives up.
MAX_STEPS = 50_000

# What a glance at a branch counts for, beside a keyword; a sum of it is exact.
_GLANCE = 0.125

#: Formats of the specifications (draft 3 to 2020-12). Any other name is an annotation.
STANDARD_FORMATS = frozenset(samples.VALID)

# What jsonschema raises where it cannot decide. TypeError, AttributeError and KeyError come from
# keywords whose values are malformed.
_UNDECIDED = (
    re.error,
    RecursionError,
    OverflowError,
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    referencing.exceptions.Unresolvable,
    referencing.exceptions.Unretrievable,
)

_steps = threading.local()


class Undecided(ValueError):  # noqa: N818 - what it is, not what went wrong
    """The judge has no verdict."""


class Judge:
    """The validity of instances of one schema, and of that schema without one of its keywords.

    Args:
        schema: parsed JSON, the judge's own: `is_valid_without` changes it for the time of a call.

    Attributes:
        knows: the keywords of the schema's draft.
        formats: the formats that are asserted.
        spent: how many keywords were applied so far, a measure of time that no clock disturbs.
        ref_overrides: whether `$ref` makes its siblings void, as up to draft 7.
    """

    def __init__(self, schema: Any) -> None:
        dialect = _dialect(schema)
        self.schema = schema
        self._targets: dict[Any, Any] | None = None if _has_identifiers(schema) else {}
        self._discriminators = _discriminators(
            schema, self._target, constants="const" in dialect.VALIDATORS
        )
        self.spent = 0.0
        checker = dialect.FORMAT_CHECKER
        registry: Any = referencing.Registry()
        try:
            self._validator = _quick(dialect)(schema, registry=registry, format_checker=checker)
            self._explaining = _guarded(dialect)(schema, registry=registry, format_checker=checker)
        except _UNDECIDED:  # a malformed `$id`, for one
            self._validator = self._explaining = None
        self.formats = frozenset(checker.checkers)
        self.ref_overrides = dialect in _REF_OVERRIDES
        self.knows = frozenset(dialect.VALIDATORS)
        if "contains" in self.knows and not self.ref_overrides:
            self.knows |= {"minContains", "maxContains"}

    def is_valid(self, instance: Any) -> bool | None:
        """Whether the instance is valid; None when the judge cannot tell."""
        return self._decide(self._validator, instance)

    def _decide(self, validator: Any, instance: Any, changed: int | None = None) -> bool | None:
        _steps.left = MAX_STEPS
        _steps.targets = self._target
        _steps.discriminators = self._discriminators
        _steps.changed = changed
        try:
            return bool(validator.is_valid(instance))
        except _UNDECIDED:
            return None
        finally:
            self.spent += MAX_STEPS - _steps.left

    def _target(self, reference: Any) -> Any:
        """The schema that a local reference leads to; None where that is not plain to see."""
        if self._targets is None or not isinstance(reference, str):
            return None
        if reference not in self._targets:
            found = resolve(self.schema, reference)
            self._targets[reference] = None if found is None else found[0]
        return self._targets[reference]

    def is_valid_without(self, constraint: Constraint, instance: Any) -> bool | None:
        """Whether the instance would be valid if the schema did not have the constraint."""
        with constraint.removed():
            # A validator reads the keywords of its own schema once, so this takes another one.
            other = self._validator and self._validator.evolve(schema=self.schema)
            return self._decide(other, instance, id(constraint.holder))

    def broken(self, instance: Any) -> set[tuple[int, str]]:
        """The keywords that the instance breaks: (id of the schema that has it, keyword).

        Failures inside the branches of `anyOf` and `oneOf` count, too. Nothing when the judge
        cannot tell.
        """
        _steps.left = MAX_STEPS
        found = set()
        try:
            queue = list(self._explaining.iter_errors(instance))
            for error in queue:
                found.add((id(error.schema), str(error.validator)))
                queue.extend(error.context)
        except _UNDECIDED:
            return set()
        return found


_REF_OVERRIDES = (
    jsonschema.Draft3Validator,
    jsonschema.Draft4Validator,
    jsonschema.Draft6Validator,
    jsonschema.Draft7Validator,
)


def _has_identifiers(schema: Any) -> bool:
    """Whether a part of a document may have another base for its references."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(value.get("$id"), str) or isinstance(value.get("id"), str):
                return True
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


def _discriminators(
    schema: Any, target: Callable[[Any], Any], *, constants: bool
) -> dict[int, Discriminator]:
    """For each list of many alternatives, by its identity: what tells them apart."""
    found = {}
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for keyword in ("anyOf", "oneOf"):
                branches = value.get(keyword)
                if isinstance(branches, list) and len(branches) >= LEAST:
                    found[id(branches)] = Discriminator(branches, target, constants=constants)
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return found


def _dialect(schema: Any) -> Any:
    """The draft that `$schema` names; 2020-12 where that is none."""
    named = isinstance(schema, dict) and isinstance(schema.get("$schema"), str)
    if not named:
        return jsonschema.Draft202012Validator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return validators.validator_for(schema, default=jsonschema.Draft202012Validator)


@lru_cache(maxsize=16)
def _guarded(dialect: Any) -> Any:
    """A dialect whose keywords count their use and do not start what they cannot end."""
    return validators.extend(
        dialect, {name: _counted(name, apply) for name, apply in dialect.VALIDATORS.items()}
    )


@lru_cache(maxsize=16)
def _quick(dialect: Any) -> Any:
    """The same for verdicts without their reasons: branches that cannot hold are passed over.

    With hundreds of alternatives nearly all the time would go into branches whose type, required
    names or constants tell at a glance that the instance is for another one.
    """
    return validators.extend(
        _guarded(dialect),
        {
            name: _counted(name, keyword)
            for name, keyword in (("anyOf", _any_of), ("oneOf", _one_of))
            if name in dialect.VALIDATORS
        },
    )


def _any_of(validator: Any, branches: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not any(_holding(validator, branches, instance)):
        yield jsonschema.ValidationError("no branch holds")


def _one_of(validator: Any, branches: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    holding = sum(islice(filter(None, _holding(validator, branches, instance)), 2))
    if holding != 1:
        yield jsonschema.ValidationError("none, or more than one branch holds")


def _holding(validator: Any, branches: Any, instance: Any) -> Iterator[bool]:
    """For each branch that may hold, whether it does."""
    indices: Iterable[int] = range(len(branches))
    known = _steps.discriminators.get(id(branches))
    if known is not None:
        _steps.left -= _GLANCE
        indices = known.candidates(instance, _steps.changed)
    for index in indices:
        branch = branches[index]
        if _may_hold(validator, branch, instance):
            failures = validator.descend(instance, branch, schema_path=index)
            yield next(failures, None) is None


def _may_hold(validator: Any, branch: Any, instance: Any) -> bool:
    """Whether keywords of a branch that are soon asked leave it open; jsonschema answers them."""
    _steps.left -= _GLANCE
    if _steps.left < 0:
        raise Undecided("too much work")
    if isinstance(branch, dict) and "$ref" in branch:
        branch = _steps.targets(branch["$ref"])  # which has to hold, too
    if not isinstance(branch, dict) or "$ref" in branch:
        return True
    wanted = branch.get("type")
    if isinstance(wanted, str) and not validator.is_type(instance, wanted):
        return False
    if not _constant_holds(validator, branch, instance):
        return False
    if not isinstance(instance, dict):
        return True
    required, properties = branch.get("required"), branch.get("properties")
    if isinstance(required, list) and any(name not in instance for name in required):
        return False
    if not isinstance(properties, dict):
        return True
    return all(
        _constant_holds(validator, properties[name], value)
        for name, value in instance.items()
        if name in properties
    )


def _constant_holds(validator: Any, schema: Any, instance: Any) -> bool:
    if not isinstance(schema, dict) or "$ref" in schema or "const" not in schema:
        return True
    apply = validator.VALIDATORS.get("const")
    failures = apply and apply(validator, schema["const"], instance, schema)
    return not failures or next(iter(failures), None) is None


def _counted(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _steps.left -= 1
        if _steps.left < 0:
            raise Undecided("too much work")
        if name == "pattern" and isinstance(instance, str):
            _check_length(value, instance)
        elif name == "format" and isinstance(instance, str):
            _check_format(validator, value, instance)
        elif name in _BY_NAME and isinstance(instance, dict):
            # Also `additionalProperties`, which asks which names a pattern covers.
            for pattern in schema.get("patternProperties", ()):
                for property_name in instance:
                    _check_length(pattern, property_name)
        return apply(validator, value, instance, schema)

    return counted


_BY_NAME = frozenset({"patternProperties", "additionalProperties", "unevaluatedProperties"})


def _check_format(validator: Any, value: Any, text: str) -> None:
    """Without a checker for a standard format, only what is known to be right counts as valid."""
    checked = value in validator.format_checker.checkers or value not in STANDARD_FORMATS
    if not checked and text not in samples.VALID[value]:
        raise Undecided("no checker for the format")


def _check_length(pattern: Any, text: str) -> None:
    if isinstance(pattern, str) and len(text) > regexes.longest_text(pattern):
        raise Undecided("matching could take for ever")


@contextmanager
def without(holder: dict[str, Any], key: str, replacement: Any) -> Iterator[None]:
    """A member of a map replaced (by None: taken out) for the time of the block, order kept."""
    before = dict(holder)
    if replacement is None:
        del holder[key]
    else:
        holder[key] = replacement
    try:
        yield
    finally:
        holder.clear()
        holder.update(before)
