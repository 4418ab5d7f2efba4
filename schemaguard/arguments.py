"""`validate_arguments`: does a tool call keep to the tool's schema?

The check on the tool's side, that constrained decoding does not replace: engines drop keywords, and
many calls are not constrained at all. jsonschema validates, held to this
(`schemaguard.validating`):

* no reference is ever fetched (jsonschema's default asks the network);
* arguments are read strictly, within limits on size and depth;
* every step counts: where references multiply, or a schema refers to itself, the end is a finding;
* patterns are searched in bounded time (`schemaguard.searching`);
* the ten formats of `schemaguard.formats` are asserted, others are not.
"""

from __future__ import annotations

from schemaguard import data
from schemaguard._frozen import Frozen
from schemaguard.document import Limits
from schemaguard.errors import cut, printable
from schemaguard.formats import is_of_format
from schemaguard.preflight import as_document
from schemaguard.report import Accepted, Report, escape
from schemaguard.searching import Budget, UndecidedError, search
from schemaguard.validating import bounded, made, patterns_of_names, vouch_for_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from jsonschema import ValidationError

    from schemaguard.document import Document

__all__ = ["ARGUMENT_LIMITS", "ArgumentFinding", "ArgumentsReport", "validate_arguments"]

#: A call of a model is small: what is larger, or nests deeper, is no call.
ARGUMENT_LIMITS = Limits(max_bytes=1 << 20, max_depth=100, max_nodes=100_000)
MAX_STEPS = 500_000
MAX_FINDINGS = 100

# What is wrong.
NOT_JSON = "not-json"  # the arguments cannot be read
CONSTRAINT = "constraint"  # a keyword of the schema does not hold
SCHEMA = "schema"  # the schema cannot be used
UNDECIDED = "undecided"  # it cannot be told within the limits

_SHOWN = 200


class ArgumentFinding(Frozen):
    """One thing that is wrong with the arguments of a call.

    Attributes:
        kind: "constraint", or why there is no verdict: "not-json", "schema", "undecided".
        keyword: the keyword of the schema that does not hold; None for the other kinds.
        pointer: JSON Pointer (RFC 6901) into the arguments; "" is all of them.
        schema_pointer: where in the schema the keyword stands, references resolved on the way.
        message: one printable line of bounded length.
    """

    __slots__ = ("keyword", "kind", "message", "pointer", "schema_pointer")

    kind: str
    keyword: str | None
    pointer: str
    schema_pointer: str
    message: str

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        keyword: str | None = None,
        pointer: str = "",
        schema_pointer: str = "",
    ) -> None:
        self._fill(
            kind=kind,
            keyword=keyword,
            pointer=pointer,
            schema_pointer=schema_pointer,
            message=printable(cut(message, _SHOWN)),
        )


class ArgumentsReport(Frozen):
    """What `validate_arguments` found.

    Attributes:
        findings: at most `max_findings`, those that the validator comes upon first.
        complete: False when a limit ended the search for more.
    """

    __slots__ = ("complete", "findings")

    findings: tuple[ArgumentFinding, ...]
    complete: bool

    def __init__(self, findings: tuple[ArgumentFinding, ...], *, complete: bool) -> None:
        self._fill(findings=findings, complete=complete)

    @property
    def ok(self) -> bool:
        """Whether the arguments keep to the schema: nothing was found, and nothing left out."""
        return not self.findings


def validate_arguments(
    report_or_schema: Any,
    arguments: Any,
    *,
    limits: Limits = ARGUMENT_LIMITS,
    max_steps: int = MAX_STEPS,
    max_findings: int = MAX_FINDINGS,
) -> ArgumentsReport:
    """Check the arguments of a tool call against the tool's schema.

    Args:
        report_or_schema: the `Report` of a check, its `Accepted`, or a schema as for `check`. A
            schema need not have been accepted: what cannot be used of it is a finding.
        arguments: JSON text as `str` or `bytes`, as calls have it, or the parsed value.
        limits: for the text of the arguments.
        max_steps: keywords applied and characters compared, about; a second takes some millions.
        max_findings: how many findings to keep.

    Returns:
        The report. Bad arguments and bad schemas are findings in it, never an exception.
    """
    source = _schema_of(report_or_schema)
    schema = source.value
    if schema.__class__ is not dict and schema.__class__ is not bool:
        return _stopped(SCHEMA, "the schema is not a JSON object or boolean that can be read")
    document = as_document(arguments, limits)
    for kind, read, held_to in ((SCHEMA, source, Limits()), (NOT_JSON, document, limits)):
        fault = _fault_of(read, held_to)
        if fault is not None:
            return _stopped(kind, fault)
    findings: list[ArgumentFinding] = []
    try:
        patterns = patterns_of_names(schema)
        if patterns:
            vouch_for_names(patterns, document.value)
        for error in _validator(schema, Budget(max_steps)).iter_errors(document.value):
            if len(findings) >= max_findings:
                return ArgumentsReport(tuple(findings), complete=False)
            findings.append(_finding(error))
    except UndecidedError as stop:
        findings.append(ArgumentFinding(UNDECIDED, f"not decided: {stop}"))
    except RecursionError:
        findings.append(ArgumentFinding(UNDECIDED, "not decided: it nests too deep"))
    except OverflowError:  # an integer divided by a number that is none
        findings.append(ArgumentFinding(UNDECIDED, "not decided: a number is too large"))
    except Exception as error:  # noqa: BLE001  (jsonschema fails as it likes on malformed schemas)
        findings.append(ArgumentFinding(SCHEMA, _words_of_failure(error)))
    else:
        return ArgumentsReport(tuple(findings), complete=True)
    return ArgumentsReport(tuple(findings), complete=False)


def _stopped(kind: str, words: str) -> ArgumentsReport:
    return ArgumentsReport((ArgumentFinding(kind, words),), complete=False)


def _schema_of(source: Any) -> Document:
    if isinstance(source, Report):
        return source.document
    return as_document(source.text if isinstance(source, Accepted) else source, Limits())


def _fault_of(document: Document, limits: Limits) -> str | None:
    """What is wrong with a text, or with a value that somebody else has parsed."""
    if document.faults:
        fault = document.faults[0]
        return f"{fault.name}: {fault.detail}"
    if document.text is not None:
        return None
    inside, nesting, found = data.faults(document.value, limits.max_nodes, 1)
    if found:
        return f"{found[0][0]}: {found[0][2]}"
    if inside > limits.max_nodes or nesting > limits.max_depth:
        return f"more than {limits.max_nodes:,} values, or more than {limits.max_depth:,} levels"
    return None


def _words_of_failure(error: Exception) -> str:
    name = type(error).__name__.lstrip("_")
    if "Referencing" in name or "Unresolvable" in name or "NoSuch" in name:
        return "a reference leads out of the schema, or to nothing in it"
    return f"the schema cannot be used ({name})"


def _finding(error: ValidationError) -> ArgumentFinding:
    return ArgumentFinding(
        CONSTRAINT,
        _words(error),
        keyword=str(error.validator),
        pointer=_pointer(error.absolute_path),
        schema_pointer=_pointer(error.absolute_schema_path),
    )


def _pointer(path: Iterable[object]) -> str:
    return "".join(f"/{escape(str(step))}" for step in path)


def _words(error: ValidationError) -> str:
    """What is wrong, without the value: it can be a megabyte, and a secret."""
    keyword, value = str(error.validator), error.validator_value
    if keyword in ("required", "additionalProperties", "dependentRequired"):
        return str(error.message)
    if keyword in ("anyOf", "oneOf", "not", "if", "contains", "uniqueItems"):
        return f"does not keep to `{keyword}`"
    return f"must keep to `{keyword}`: {cut(repr(value), 100) if _is_short(value) else '…'}"


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHOWN
    if isinstance(value, list):
        return len(value) <= 20 and all(isinstance(v, (str, int)) and _is_short(v) for v in value)
    return isinstance(value, (int, float)) or value is None


def _validator(schema: Any, budget: Budget) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (78 ms)
    from jsonschema.validators import validator_for  # noqa: PLC0415

    named = isinstance(schema, dict) and isinstance(schema.get("$schema"), str)
    draft = validator_for(schema if named else True, default=Draft202012Validator)
    return made(bounded(draft, search, is_of_format, follows=False), schema, budget)
