"""Files in, findings out: what the command line, the hooks and CI share.

A file holds one schema, tool definitions, a request body or a `tools/list` answer; `check_text`
finds the schemas in it, checks each, and gives every finding a pointer into the file and a line and
column. A file in which nothing was found to check is a finding, never a success.
"""

from __future__ import annotations

from schemaguard import envelopes
from schemaguard._frozen import Frozen
from schemaguard.data import rule_of
from schemaguard.document import DEFAULT_LIMITS, Limits, read
from schemaguard.envelopes.result import OUTPUT, PARAMETER
from schemaguard.preflight import DEFAULT_PROFILE, check
from schemaguard.report import ERROR, Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.document import Document
    from schemaguard.envelopes import ToolSchema
    from schemaguard.report import Report

#: Roles whose schemas the model does not write against as a whole: they are not held to the rules
#: for tool parameters.
UNCHECKED_ROLES = frozenset({OUTPUT, PARAMETER})


class Finding(Frozen):
    """One finding in a file.

    Attributes:
        code, name, severity, message, fix: as in `Diagnostic`.
        pointer: JSON Pointer into the file.
        line, column: of the value that the pointer names, or of the one above it when it is not
            there; both from 1, columns in code points. None when the file is no text.
        end_line, end_column: just after that value.
    """

    __slots__ = (
        "code",
        "column",
        "end_column",
        "end_line",
        "fix",
        "line",
        "message",
        "name",
        "pointer",
        "severity",
    )

    code: str
    name: str
    severity: str
    message: str
    fix: str
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
            code=diagnostic.code,
            name=diagnostic.name,
            severity=diagnostic.severity,
            message=diagnostic.message,
            fix=diagnostic.fix,
            pointer=pointer,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
        )


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
    document: Document | None
    ok: bool

    def __init__(
        self,
        path: str,
        kind: str | None,
        tools: tuple[CheckedTool, ...],
        findings: tuple[Finding, ...],
        document: Document | None = None,
    ) -> None:
        ok = all(t.ok for t in tools) and not any(f.severity == ERROR for f in findings)
        self._fill(path=path, kind=kind, tools=tools, findings=findings, document=document, ok=ok)


def check_text(
    path: str,
    text: bytes | str,
    profile: str = DEFAULT_PROFILE,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> FileReport:
    """Check everything that a file holds, as if every tool in it were strict.

    Args:
        path: for the report.
        text: the file's content.
        profile: a profile's plain or dated name.
        limits: hard stops for the file and for each schema.

    Raises:
        ProfileError: there is no such profile.
    """
    document = read(text, limits)
    about: list[tuple[Diagnostic, str]] = [
        (_diagnostic(fault.name, fault.detail, fault.offset), "") for fault in document.faults
    ]
    kind = None
    checked: list[tuple[ToolSchema, Report]] = []
    if document.readable:
        found = envelopes.unpack(document.value)
        kind = found.kind
        checked = [
            (tool, check(tool.schema, profile, limits=limits))
            for tool in found.tools
            if tool.role not in UNCHECKED_ROLES
        ]
        about.extend(_about(found, checked))
    tools = _place_all(document, checked, about)
    return FileReport(path, kind, tools[0], tools[1], document)


def _diagnostic(name: str, detail: str, offset: int | None = None) -> Diagnostic:
    return Diagnostic(rule_of(name), ERROR, {"detail": detail}, offset=offset)


def _about(
    found: envelopes.Unpacked, checked: list[tuple[ToolSchema, Report]]
) -> list[tuple[Diagnostic, str]]:
    """What is to be said about the file itself."""
    about = []
    if len(found.readings) > 1:
        about.append((_diagnostic("ambiguous-document", " or as ".join(found.readings)), ""))
    if found.kind is None:
        detail = "; ".join(note.text for note in found.problems) or "the form is not known"
        return [(_diagnostic("nothing-to-check", detail), "")]
    about.extend((_diagnostic("unreadable-tool", n.text), n.pointer) for n in found.problems)
    if not checked and not about:
        about.append((_diagnostic("nothing-to-check", f"read as {found.kind}"), ""))
    return about


def _place_all(
    document: Document,
    checked: list[tuple[ToolSchema, Report]],
    about: list[tuple[Diagnostic, str]],
) -> tuple[tuple[CheckedTool, ...], tuple[Finding, ...]]:
    """Pointers into the file and places in the text, all in one scan of it."""
    pointed: list[list[tuple[Diagnostic, str]]] = []
    for tool, report in checked:
        base = tool.schema_pointer
        pointed.append(
            [(d, base if tool.encoded else base + d.pointer) for d in report.diagnostics]
        )
    wanted = {pointer for findings in (*pointed, about) for _, pointer in findings}
    spans = document.spans(wanted | {p.rpartition("/")[0] for p in wanted}) if wanted else {}

    def place(diagnostic: Diagnostic, pointer: str) -> Finding:
        offset = diagnostic.offset
        if offset is None:
            span = spans.get(pointer) or spans.get(pointer.rpartition("/")[0])
        else:
            span = (offset, offset)
        if span is None or document.text is None:
            return Finding(diagnostic, pointer, None, None)
        start, end = map(document.line_column, span)
        return Finding(diagnostic, pointer, start, end)

    tools = tuple(
        CheckedTool(tool.name, tool.pointer, tuple(place(*f) for f in findings), report)
        for (tool, report), findings in zip(checked, pointed, strict=True)
    )
    return tools, tuple(place(*f) for f in about)


__all__ = ["CheckedTool", "FileReport", "Finding", "check_text"]
