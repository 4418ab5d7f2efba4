"""What `check_request` found: the request, and each of its tools."""

from __future__ import annotations

from schemaguard._frozen import Frozen
from schemaguard.errors import MAX_FUNCTION_NAME, counted, cut
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.document import Document
    from schemaguard.report import Diagnostic, Report

    Tokens = tuple[str | int, ...]


class ToolReport(Frozen):
    """One tool of a request.

    Attributes:
        name: the function's name (on Responses as it is after namespace encoding); None if it has
            none that is a string.
        strict: its `strict`; None when omitted, null or malformed.
        reason: why the schema was not checked: "not strict", "no parameters", "malformed tool",
            "unsupported kind of tool", "parameters are not an object" (Chat) or "hard stop"; None
            when it was.
        report: of the schema; None when it was not checked.
    """

    __slots__ = ("_at", "_inside", "name", "reason", "report", "strict")

    name: str | None
    strict: bool | None
    reason: str | None
    report: Report | None
    _at: Tokens
    _inside: Tokens

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def checked(self) -> bool:
        """Whether the schema was checked."""
        return self.report is not None

    @property
    def pointer(self) -> str:
        """JSON Pointer (RFC 6901) of the tool in the body."""
        return pointer_of(None, self._at)

    @property
    def schema_pointer(self) -> str:
        """JSON Pointer of the parameters in the body, or of where they would be."""
        return pointer_of(None, (*self._inside, "parameters"))

    def pointer_of(self, diagnostic: Diagnostic) -> str:
        """JSON Pointer, in the body, of a diagnostic of this tool's report."""
        return self.schema_pointer + diagnostic.pointer

    def __repr__(self) -> str:
        state = self.reason or ("accepted" if self.report and self.report.ok else "rejected")
        name = None if self.name is None else cut(self.name, MAX_FUNCTION_NAME)
        return f"<ToolReport {name!r} at {self.pointer}: {state}>"


class RequestResult(Frozen):
    """What `check_request` found.

    Attributes:
        api: "chat" or "responses".
        profile: dated name of the profile.
        document: the body; turns a pointer into line and column when it was text.
        tools: each tool, in the order in which the server takes them; malformed and unsupported
            ones included, a namespace's members instead of the namespace.
        diagnostics: what is wrong with the request itself, in contract order, at most
            `max_diagnostics`; what is wrong with a schema is in the tool's report.
        total: how many of these there are, those beyond the cap included.
        refusal: the first error in contract order, of the request or of a schema: what a server
            that stops at the first error says. None when the request is accepted.
        refused_tool: the tool whose schema the refusal is about; None when it is about the request.
    """

    __slots__ = (
        "api",
        "diagnostics",
        "document",
        "profile",
        "refusal",
        "refused_tool",
        "tools",
        "total",
    )

    api: str
    profile: str
    document: Document
    tools: tuple[ToolReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    total: int
    refusal: Diagnostic | None
    refused_tool: ToolReport | None

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def ok(self) -> bool:
        """Whether the request is accepted: no error in it, nor in a schema that was checked."""
        return self.refusal is None

    def __repr__(self) -> str:
        verdict = "accepted" if self.ok else "refused"
        return (
            f"<RequestResult {self.api} {verdict} by {self.profile}: "
            f"{counted(len(self.tools), 'tool')}, {counted(self.total, 'diagnostic')}>"
        )
