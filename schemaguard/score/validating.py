"""`jsonschema.validate` as the verifier calls it, bounded in time and without a network.

What is the same: the draft goes by `$schema` (of subschemas, too), else it is 2020-12; the schema
itself is held to its metaschema first, regular expressions included; `format` is not asserted.

What differs, since a log is from strangers, is in `schemaguard.validating`; patterns are searched
by `re` only where that is known to be quick (`schemaguard.searching`).
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from schemaguard.patterns import measure
from schemaguard.searching import (
    MAX_GROUP_DEPTH,
    MAX_PATTERN,
    Budget,
    UndecidedError,
    is_quick,
    search,
)
from schemaguard.validating import bounded, made, patterns_of_names, vouch_for_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from jsonschema import ValidationError

#: Keywords applied and values compared, about, until a schema is known to be one.
MAX_SCHEMA_STEPS = 1_000_000


class Validator:
    """A schema that arguments can be held to.

    Args:
        schema: any JSON.
        budget: pays for validating, from outside.

    Raises:
        UndecidedError: whether it is a schema takes too long to tell.
        Exception: it is none; jsonschema fails as it likes.
    """

    __slots__ = ("_patterns", "_validator", "fault")

    def __init__(self, schema: Any, budget: Budget) -> None:
        from jsonschema.validators import validator_for  # noqa: PLC0415  (78 ms)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a `$schema` that jsonschema does not know
            draft = validator_for(schema)
        of_schemas = bounded(draft, _found, _is_of_metaschema_format, follows=True)
        meta = made(of_schemas, draft.META_SCHEMA, Budget(MAX_SCHEMA_STEPS))
        error = next(meta.iter_errors(schema), None)
        #: Why it is no schema by its metaschema, or None.
        self.fault = None if error is None else f"`{error.validator}` of the metaschema"
        self._validator = made(bounded(draft, _found, _is_any_format, follows=True), schema, budget)
        self._patterns = patterns_of_names(schema)

    def first_error(self, arguments: Any) -> ValidationError | None:
        """The error that jsonschema comes upon first, or None.

        Raises:
            UndecidedError: it takes too long to tell.
            Exception: the schema cannot be used.
        """
        if self._patterns:
            vouch_for_names(self._patterns, arguments)
        return next(self._validator.iter_errors(arguments), None)


def _found(pattern: str, text: str, budget: Budget) -> bool:
    """`re.search`, where it is quick; else an automaton, to which `$` is the end of the text."""
    if is_quick(pattern, len(text)):
        budget.spend(1 + len(text) // 1_000)
        return re.search(pattern, text) is not None
    return search(pattern, text, budget)


def _is_any_format(_text: str, _name: str) -> bool:
    return True


def _is_of_metaschema_format(text: str, name: str) -> bool:
    """The one format of the metaschemas that jsonschema asserts without further packages."""
    return name != "regex" or _is_regex(text)


@lru_cache(maxsize=1_024)
def _is_regex(pattern: str) -> bool:
    if len(pattern) > MAX_PATTERN or measure(pattern).group_depth > MAX_GROUP_DEPTH:
        raise UndecidedError("a pattern is too large to compile")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about sets that mean something else in the future
            re.compile(pattern)
    except (re.error, OverflowError):
        return False
    return True
