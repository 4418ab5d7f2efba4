"""Files in, findings out: what the command line, the hooks and CI share.

A file holds schemas, tool definitions, request bodies or `tools/list` answers, in one of the
formats of `schemaguard.sources`; `check_text` finds the schemas in it, checks each, and gives every
finding a pointer into the file and a line and column. A file in which nothing was found to check is
a finding, never a success.
"""

from __future__ import annotations

from schemaguard import envelopes, sources
from schemaguard._frozen import Frozen
from schemaguard.data import rule_of
from schemaguard.document import DEFAULT_LIMITS, Limits
from schemaguard.envelopes.bundling import MAX_VALUES
from schemaguard.envelopes.result import OUTPUT, PARAMETER, pointer_to
from schemaguard.plan import compiled
from schemaguard.preflight import DEFAULT_PROFILE, check
from schemaguard.report import ERROR, Diagnostic, Spoken, pointer_of
from schemaguard.rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from schemaguard.document import Document
    from schemaguard.envelopes import ToolSchema
    from schemaguard.envelopes.result import Place
    from schemaguard.profiles import Grounds, Profile
    from schemaguard.report import Report
    from schemaguard.sources import Source

    Refine = Callable[[Report], Report]

#: Roles whose schemas the model does not write against as a whole: they are not held to the rules
#: for tool parameters.
UNCHECKED_ROLES = frozenset({OUTPUT, PARAMETER})

#: Findings about one file itself that are kept; a file with more is not what it was taken for.
MAX_ABOUT = 2_000

_TOO_LARGE = (
    "not checked: with what they refer to, the schemas of this document are more than "
    f"{MAX_VALUES:,} values"
)

#: A finding with a longer pointer is placed at the nearest place above it.
_LONGEST_POINTER = 1 << 16


class Finding(Spoken):
    """One finding in a file.

    Attributes:
        rule: the rule that speaks.
        severity, data, grounds: as in `Diagnostic`.
        pointer: JSON Pointer into the file.
        line, column: of the value that the pointer names, or of the one above it when it is not
            there; both from 1, columns in code points. None when the file is no text.
        end_line, end_column: just after that value.
    """

    __slots__ = (
        "column",
        "data",
        "end_column",
        "end_line",
        "grounds",
        "line",
        "pointer",
        "rule",
        "severity",
    )

    severity: str
    grounds: Grounds | None
    pointer: str
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None

    def __init__(
        self,
        diagnostic: Diagnostic,
        pointer: str,
        start: tuple[int, int] | None,
        end: tuple[int, int] | None,
    ) -> None:
        line, column = start or (None, None)
        end_line, end_column = end or (None, None)
        self._fill(
            rule=diagnostic.rule,
            severity=diagnostic.severity,
            data=diagnostic.data,
            grounds=diagnostic.grounds,
            pointer=pointer,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
        )

    def _fields(self) -> tuple[object, ...]:
        place = (self.line, self.column, self.end_line, self.end_column)
        return self.code, self.severity, self.pointer, *place, tuple(sorted(self.data.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        place = (self.pointer, self.line, self.column, self.end_line, self.end_column)
        return _finding, (self.code, self.severity, dict(self.data), self.grounds, *place)


def _finding(
    code: str, severity: str, data: dict[str, Any], grounds: Grounds | None, *place: Any
) -> Finding:
    finding: Finding = object.__new__(Finding)
    names = ("pointer", "line", "column", "end_line", "end_column")
    where = dict(zip(names, place, strict=True))
    what = {"rule": RULES[code], "severity": severity, "data": data, "grounds": grounds}
    finding._fill(**what, **where)  # noqa: SLF001  (its own)
    return finding


class CheckedTool(Frozen):
    """One schema of a file.

    Attributes:
        name: of the tool, or None.
        pointer: JSON Pointer into the file, of the tool.
        ok: whether the profile accepts it.
        findings: at most as many as the report keeps.
        report: the whole report.
    """

    __slots__ = ("findings", "name", "ok", "pointer", "report")

    name: str | None
    pointer: str
    ok: bool
    findings: tuple[Finding, ...]
    report: Report

    def __init__(
        self, name: str | None, pointer: str, findings: tuple[Finding, ...], report: Report
    ) -> None:
        self._fill(name=name, pointer=pointer, ok=report.ok, findings=findings, report=report)


class FileReport(Frozen):
    """What was found in one file.

    Attributes:
        path: as it was given.
        kind: what the file is (`envelopes.KINDS`), or None when that is not known.
        tools: the schemas that were checked.
        findings: those about the file itself.
        document: what was read, for excerpts of the text; None when it is not kept.
        ok: no finding anywhere is an error.
    """

    __slots__ = ("document", "findings", "kind", "ok", "path", "tools")

    path: str
    kind: str | None
    tools: tuple[CheckedTool, ...]
    findings: tuple[Finding, ...]
    document: Source | Document | None
    ok: bool

    def __init__(
        self,
        path: str,
        kind: str | None,
        tools: tuple[CheckedTool, ...],
        findings: tuple[Finding, ...],
        document: Source | Document | None = None,
    ) -> None:
        ok = all(t.ok for t in tools) and not any(f.severity == ERROR for f in findings)
        self._fill(path=path, kind=kind, tools=tools, findings=findings, document=document, ok=ok)


def check_text(
    path: str,
    text: bytes | str,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    as_: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    refine: Refine | None = None,
    prefix: str = "",
) -> FileReport:
    """Check everything that a file holds, as if every tool in it were strict.

    Args:
        path: for the report; its end says what the file is (`sources.FORMATS`).
        text: the file's content.
        profile: a profile's plain or dated name, or a `Profile`.
        as_: read what it holds as this one of `envelopes.KINDS`, not as what it looks like.
        limits: hard stops for the file and for each schema.
        refine: what makes of each schema's report the one that counts; None for nothing.
        prefix: what a client puts in front of the names of tools, `mcp__server__` for one.

    Raises:
        ProfileError: there is no such profile.
        MissingExtra: the file is YAML, and PyYAML is not installed.
        ValueError: `as_` is none of `envelopes.KINDS`.
    """
    return check_source(
        sources.read(path, text, limits),
        profile,
        as_=as_,
        limits=limits,
        refine=refine,
        prefix=prefix,
    )


def check_value(
    path: str,
    value: Any,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    as_: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    refine: Refine | None = None,
    prefix: str = "",
) -> FileReport:
    """Check everything that a value holds; findings have pointers into it, and no lines.

    Args:
        path: what the report calls it.
        value: a parsed JSON value.
        profile: see `check_text`.
        as_: see `check_text`.
        limits: see `check_text`.
        refine: see `check_text`.
        prefix: see `check_text`.

    Raises:
        ProfileError, ValueError: as `check_text`.
    """
    source = sources.ValueSource(path, "value", value)
    return check_source(source, profile, as_=as_, limits=limits, refine=refine, prefix=prefix)


def check_source(
    source: Source,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    as_: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    refine: Refine | None = None,
    prefix: str = "",
) -> FileReport:
    """Check everything that a source holds; see `check_text`."""

    def judge(schema: Any) -> Report:
        report = check(schema, profile, limits=limits)
        return report if refine is None else refine(report)

    plans = compiled(profile)
    about = _faults(source)
    kinds: dict[str, None] = {}
    checked: list[_Checked] = []
    for part in source.parts:
        if not part.readable:
            continue
        found = envelopes.unpack(part.value, as_)
        if found.kind is not None:
            kinds[found.kind] = None
        in_part = []
        for tool in found.tools:
            if tool.role in UNCHECKED_ROLES:
                continue
            whole = tool.standalone()
            if whole is None:
                about.append(
                    (_diagnostic("unreadable-tool", _TOO_LARGE), part.prefix + tool.pointer)
                )
                continue
            in_part.append(_Checked(part.prefix, tool, judge(whole[0]), whole[1]))
        checked += in_part
        about += _about(found, part.prefix, checked=bool(in_part))
        if plans.about_tools:
            from schemaguard import toolsets  # noqa: PLC0415  (only profiles that want something)

            whole_tools = [one.tool for one in in_part if one.report.complete]
            named = toolsets.gather(whole_tools, part.value, prefix)
            about += [
                (finding.diagnostic, part.prefix + finding.diagnostic.pointer)
                for finding in toolsets.findings(named, plans)
            ]
        if len(about) > MAX_ABOUT:
            detail = f"more than {MAX_ABOUT:,} findings about the file; the rest of it is not read"
            about[MAX_ABOUT:] = [(_diagnostic("nothing-to-check", detail), part.prefix)]
            break
    if not checked and not about:
        about.append((_diagnostic("nothing-to-check", _nothing(kinds)), ""))
    tools, findings = _place_all(source, checked, about)
    kind = None
    if kinds:
        kind = next(iter(kinds)) if len(kinds) == 1 else envelopes.MIXED
    return FileReport(source.path, kind, tools, findings, source)


class _Checked:
    """A schema of a part, and its report."""

    __slots__ = ("_moved", "_prefix", "report", "tool")

    def __init__(
        self, prefix: str, tool: ToolSchema, report: Report, moved: Mapping[str, Place]
    ) -> None:
        self._prefix = prefix
        self.tool = tool
        self.report = report
        self._moved = moved

    @property
    def pointer(self) -> str:
        """Of the tool, in the file."""
        return self._prefix + self.tool.pointer

    def pointers(self) -> list[str]:
        """Of the findings, in the file."""
        base = self._prefix + self.tool.schema_pointer
        if self.tool.encoded:
            return [base] * len(self.report.diagnostics)
        within = [d.pointer_within(_LONGEST_POINTER) for d in self.report.diagnostics]
        spelled = self.tool.spelled
        return [self._moved_back(pointer) or base + spelled(pointer) for pointer in within]

    def _moved_back(self, pointer: str) -> str | None:
        """Where a place in a definition stands that was brought into the schema."""
        if not self._moved or not pointer.startswith("/$defs/"):
            return None
        name, slash, rest = pointer.removeprefix("/$defs/").partition("/")
        if name not in self._moved:
            return None
        return f"{self._prefix}{pointer_to(self._moved[name])}{slash}{rest}"


def _diagnostic(name: str, detail: str, offset: int | None = None) -> Diagnostic:
    return Diagnostic(rule_of(name), ERROR, {"detail": detail}, offset=offset)


def _faults(source: Source) -> list[tuple[Diagnostic, str]]:
    """What is wrong with the text: first that of the file, then that of its parts."""
    if source.refusal is not None:
        return [(_diagnostic("nothing-to-check", source.refusal), "")]
    owned = [(fault, part.prefix) for part in source.parts for fault in part.faults]
    known = {id(fault) for fault, _ in owned}
    faults = [(fault, "") for fault in source.faults if id(fault) not in known] + owned
    steps = source.tokens_of_faults() if faults else {}
    return [
        (
            _diagnostic(f.name, f.detail, f.offset),
            pointer_of(None, steps[f.offset], _LONGEST_POINTER) if f.offset in steps else prefix,
        )
        for f, prefix in faults
    ]


def _about(
    found: envelopes.Unpacked, prefix: str, *, checked: bool
) -> list[tuple[Diagnostic, str]]:
    """What is to be said about one value of the file as a whole."""
    about = []
    if len(found.readings) > 1:
        about.append((_diagnostic("ambiguous-document", ", or as ".join(found.readings)), prefix))
    if found.kind is None:
        detail = "; ".join(note.text for note in found.problems) or "the form is not known"
        return [(_diagnostic("nothing-to-check", detail), prefix)]
    about.extend(
        (_diagnostic("unreadable-tool", n.text), prefix + n.pointer) for n in found.problems
    )
    # A record of a log may well be a request without tools.
    if not checked and not about and not prefix:
        about.append((_diagnostic("nothing-to-check", _nothing({found.kind: None})), ""))
    return about


def _nothing(kinds: Iterable[str]) -> str:
    named = ", ".join(kinds)
    return f"read as {named}" if named else "the file is empty"


def _place_all(
    source: Source,
    checked: list[_Checked],
    about: list[tuple[Diagnostic, str]],
) -> tuple[tuple[CheckedTool, ...], tuple[Finding, ...]]:
    """Pointers into the file and places in the text, all in one scan of it."""
    pointed = [list(zip(one.report.diagnostics, one.pointers(), strict=True)) for one in checked]
    spans = _spans(source, {pointer for findings in (*pointed, about) for _, pointer in findings})
    locate = source.line_column

    def place(diagnostic: Diagnostic, pointer: str) -> Finding:
        offset = diagnostic.offset
        span = spans.get(pointer) if offset is None else (offset, offset)
        if span is None:
            return Finding(diagnostic, pointer, None, None)
        return Finding(diagnostic, pointer, locate(span[0]), locate(span[1]))

    tools = tuple(
        CheckedTool(
            one.tool.name,
            one.pointer,
            tuple(place(*f) for f in findings),
            one.report,
        )
        for one, findings in zip(checked, pointed, strict=True)
    )
    return tools, tuple(place(*f) for f in about)


def _spans(source: Source, pointers: set[str]) -> dict[str, tuple[int, int] | None]:
    """Where the values of pointers are; one that is not there has the place of the one above it."""
    if not pointers or source.text is None:
        return {}
    spans = source.spans(pointers)
    missing = {p: p.rpartition("/")[0] for p in pointers if spans[p] is None}
    if missing:
        above = source.spans(set(missing.values()))
        spans |= {pointer: above[parent] for pointer, parent in missing.items()}
    return spans


__all__ = ["CheckedTool", "FileReport", "Finding", "check_source", "check_text", "check_value"]
