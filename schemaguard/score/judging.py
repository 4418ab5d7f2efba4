"""A verdict on each call: what the verifier counts, and whose fault it is.

The verifier has one answer, valid or not, and whatever goes wrong is the model's failure: a schema
that is none, a reference to nowhere, no schema at all. The fair verdict says which of these it was.
"""

from __future__ import annotations

import json
from collections import OrderedDict

from schemaguard.plan import compiled
from schemaguard.preflight import check
from schemaguard.report import escape
from schemaguard.score.validating import Validator
from schemaguard.searching import Budget, UndecidedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from jsonschema import ValidationError

# Whose fault it is.
OK = "ok"
MODEL = "model"
SCHEMA = "schema"
UNDECIDED = "undecided"

# Faults of the model.
UNKNOWN_TOOL = "unknown-tool"
MALFORMED_CALL = "malformed-call"
NOT_JSON = "not-json"
MISSING_ARGUMENT = "missing-argument"
WRONG_TYPE = "wrong-type"
CONSTRAINT = "constraint"
#: Of an answer: it ends with "tool_calls", and has none.
NO_CALL = "no-call"

# Faults of the schema, beside the codes of the profile's rules.
NO_SCHEMA = "not-a-schema"
UNRESOLVABLE = "unresolvable-reference"
UNUSABLE = "unusable-schema"

_REASONS = {"required": MISSING_ARGUMENT, "type": WRONG_TYPE}
_NONE: Any = object()

#: Keywords applied and values compared, about, for all calls of an answer.
MAX_STEPS = 500_000
#: Different schemas that are kept ready, and the characters of their texts.
MAX_SCHEMAS = 1_024
MAX_CHARACTERS = 8 << 20


class Verdict:
    """On one call.

    Attributes:
        valid: as the verifier has it.
        fault: "ok", or whose fault it is: "model", "schema"; "undecided" within the limits.
        reason: which fault; "" without one.
        path: of a constraint, JSON Pointer of its keyword in the schema.
        keyword: of a constraint, the keyword.
        tool: the name that the call has, if it has one.
    """

    __slots__ = ("fault", "keyword", "path", "reason", "tool", "valid")

    def __init__(
        self,
        valid: bool,
        fault: str,
        reason: str = "",
        *,
        tool: str | None = None,
        keyword: str = "",
        path: str = "",
    ) -> None:
        self.valid = valid
        self.fault = fault
        self.reason = reason
        self.tool = tool
        self.keyword = keyword
        self.path = path


class Judge:
    """Judges calls; schemas that it has seen are kept ready.

    Args:
        profile: a schema that this profile rejects is at fault for what comes of it; None holds
            schemas to their metaschema alone.

    Raises:
        ProfileError: there is no such profile.
    """

    def __init__(self, profile: str | None) -> None:
        self.profile = None if profile is None else compiled(profile).profile.id
        self._schemas: OrderedDict[str, _Schema] = OrderedDict()
        self._characters = 0
        self._budget = Budget(MAX_STEPS)

    def answer(self, calls: list[Any], tools: Any) -> list[Verdict]:
        """The verdicts on the calls of one answer.

        Args:
            calls: as the answer has them.
            tools: as the request has them.
        """
        self._budget.steps = MAX_STEPS
        return [self._call(call, tools) for call in calls]

    def _call(self, call: Any, tools: Any) -> Verdict:
        function = call.get("function") if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if function is None or not isinstance(name, str):
            return Verdict(False, MODEL, MALFORMED_CALL)
        declared, counts = _schema_of(name, tools)
        if declared is _NONE:
            return Verdict(False, MODEL, UNKNOWN_TOOL, tool=name)
        # A tool without parameters takes anything; the verifier fails what comes for it.
        anything = declared is None or declared == {}
        schema = self._known(True if anything else declared)
        if schema.fault:
            valid = counts and not anything and schema.checked and _is_valid(schema, function)
            return Verdict(valid, SCHEMA, schema.fault, tool=name)
        if "arguments" not in function:
            return Verdict(False, MODEL, MALFORMED_CALL, tool=name)
        return _judge(schema, function["arguments"], name, counts=counts and not anything)

    def _known(self, schema: Any) -> _Schema:
        try:
            key = json.dumps(schema)
        except RecursionError:
            return _Schema(_NONE, None, self._budget)
        known = self._schemas.get(key)
        if known is not None:
            self._schemas.move_to_end(key)
            return known
        made = _Schema(schema, self.profile, self._budget)
        self._schemas[key] = made
        self._characters += len(key)
        while len(self._schemas) > MAX_SCHEMAS or (
            self._characters > MAX_CHARACTERS and len(self._schemas) > 1
        ):
            self._characters -= len(self._schemas.popitem(last=False)[0])
        return made


def _schema_of(name: str, tools: Any) -> tuple[Any, bool]:
    """The parameters of the first tool of a name, and whether the verifier finds them.

    It looks from the front, and fails at the first tool that is malformed.
    """
    counts = True
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or "name" not in function:
            counts = False
        elif function["name"] == name:
            return function.get("parameters"), counts
    return _NONE, False


class _Schema:
    """A schema and what is known about it.

    Attributes:
        fault: what is wrong with it, or "".
        checked: whether it is a schema by its metaschema.
        validator: None for what is no schema.
    """

    __slots__ = ("checked", "fault", "validator")

    def __init__(self, schema: Any, profile: str | None, budget: Budget) -> None:
        self.fault = ""
        self.checked = False
        self.validator: Validator | None = None
        if schema.__class__ is not dict and schema is not True:
            self.fault = NO_SCHEMA
            return
        if profile is not None and schema is not True:
            report = check(schema, profile, max_diagnostics=100)
            if not report.ok:
                first = next((d for d in report.diagnostics if d.severity == "error"), None)
                self.fault = f"{first.code} {first.name}" if first else NO_SCHEMA
        try:
            validator = Validator(schema, budget)
        except UndecidedError:
            self.fault = self.fault or UNUSABLE
        except Exception:  # noqa: BLE001  (jsonschema fails as it likes on malformed schemas)
            self.fault = self.fault or NO_SCHEMA
        else:
            self.validator = validator
            self.checked = validator.fault is None
            if not self.checked:
                self.fault = self.fault or NO_SCHEMA


def _is_valid(schema: _Schema, function: dict[str, Any]) -> bool:
    """What the verifier makes of a call whose schema a profile rejects."""
    return "arguments" in function and _judge(schema, function["arguments"], "", counts=True).valid


def _judge(schema: _Schema, arguments: Any, tool: str, *, counts: bool) -> Verdict:
    """The verdict on arguments; text is parsed as the verifier does it, leniently."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return Verdict(False, MODEL, NOT_JSON, tool=tool)
    if schema.validator is None:
        return Verdict(False, SCHEMA, NO_SCHEMA, tool=tool)
    try:
        error = schema.validator.first_error(arguments)
    except (UndecidedError, RecursionError, OverflowError):
        return Verdict(False, UNDECIDED, UNDECIDED, tool=tool)
    except Exception as failure:  # noqa: BLE001  (jsonschema fails as it likes)
        return Verdict(False, SCHEMA, _reason_of_failure(failure), tool=tool)
    if error is None:
        return Verdict(counts, OK, tool=tool)
    keyword = str(error.validator)
    reason = _REASONS.get(keyword, CONSTRAINT)
    return Verdict(False, MODEL, reason, tool=tool, keyword=keyword, path=_path(error))


def _reason_of_failure(failure: Exception) -> str:
    name = type(failure).__name__.lstrip("_")
    if "Referencing" in name or "Unresolvable" in name or "NoSuch" in name:
        return UNRESOLVABLE
    return UNUSABLE


def _path(error: ValidationError) -> str:
    return "".join(f"/{escape(str(step))}" for step in error.absolute_schema_path)
