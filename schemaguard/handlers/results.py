"""What a policy decides about one request: frozen values that hold nothing of its schemas."""

from __future__ import annotations

from schemaguard._frozen import Frozen
from schemaguard.errors import MAX_FUNCTION_NAME, MAX_POINTER, cut, printable
from schemaguard.report import ERROR, pointer_of, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.handlers.tools import Tokens

_set = object.__setattr__

#: A pointer longer than this is cut back to the nearest place above it.
MAX_KEPT_POINTER = 1_024
MAX_PARAM = 256


class Finding(Frozen):
    """One thing that was found, with its place in the body.

    Attributes:
        code, name: of the rule.
        severity: "error", "warning" or "note", after the policy had its say.
        message, fix: printable, of bounded length.
        pointer: JSON Pointer (RFC 6901) of the place in the body, or of the nearest place above it
            whose pointer takes at most 1,024 characters.
        tool: name of the tool that it is about, printable and cut; None when it is about none, such
            as one in a schema for the answer itself.
        within: for a finding in a schema: the pointer of the place in the schema; else None.
        profile: dated name of the profile that says so; None for a finding about the request.
    """

    __slots__ = (
        "code",
        "fix",
        "message",
        "name",
        "pointer",
        "profile",
        "severity",
        "tool",
        "within",
    )

    code: str
    name: str
    severity: str
    message: str
    fix: str
    pointer: str
    tool: str | None
    within: str | None
    profile: str | None

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def words(self) -> str:
        """What to tell the client: one line; schemas are named as OpenAI and Dynamo name them."""
        if self.within is not None:
            where = printable(cut(self.within, MAX_POINTER))
            return f"Invalid schema for {self._whose}: In context=#{where}, {self.message}"
        return (
            f"{self.message} (at {shown_pointer(self.pointer)})" if self.pointer else self.message
        )

    @property
    def param(self) -> str | None:
        """Where it is, as OpenAI says it: `tools[3].function.parameters`.

        Inside a schema it stops at the schema; the message says where in it.
        """
        pointer = self.pointer
        if self.within:
            pointer = pointer[: len(pointer) - len(self.within)]
        said = ""
        for token in tokens_of(pointer):
            if token.isascii() and token.isdecimal():
                said += f"[{token}]"
            else:
                said += f".{token}" if said else token
        return printable(cut(said, MAX_PARAM)) or None

    @property
    def _whose(self) -> str:
        return f"function '{self.tool}'" if self.tool is not None else str(self.param)

    def as_dict(self) -> dict[str, Any]:
        """The finding for JSON."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "fix": self.fix,
            "pointer": printable(self.pointer),
            "tool": self.tool,
            "profile": self.profile,
        }


class ToolVerdict(Frozen):
    """One tool of the request.

    Attributes:
        name: printable and cut; None where there is none.
        pointer: JSON Pointer of the tool in the body.
        strict: its `strict`; None when omitted or malformed.
        profiles: what its schema was checked with, dated names; empty when it was not checked.
        ok: no error is about this tool.
        enforced: whether the server of the policy would hold the model to the schema.
        why: why it would, or would not.
    """

    # One slot: a verdict is made for every tool of every request.
    __slots__ = ("_row",)

    _row: tuple[str | None, Tokens, bool | None, tuple[str, ...], bool, bool, str]

    def __init__(
        self,
        name: str | None,
        at: Tokens,
        strict: bool | None,
        profiles: tuple[str, ...],
        ok: bool,
        enforced: tuple[bool, str],
    ) -> None:
        _set(self, "_row", (name, at, strict, profiles, ok, *enforced))

    @property
    def name(self) -> str | None:  # noqa: D102  (above)
        return shown_name(self._row[0])

    @property
    def pointer(self) -> str:  # noqa: D102
        return pointer_of(None, self._row[1])

    @property
    def strict(self) -> bool | None:  # noqa: D102
        return self._row[2]

    @property
    def profiles(self) -> tuple[str, ...]:  # noqa: D102
        return self._row[3]

    @property
    def ok(self) -> bool:  # noqa: D102
        return self._row[4]

    @property
    def enforced(self) -> bool:  # noqa: D102
        return self._row[5]

    @property
    def why(self) -> str:  # noqa: D102
        return self._row[6]

    def __repr__(self) -> str:
        state = "accepted" if self.ok else "rejected"
        return f"<ToolVerdict {self.name!r} at {self.pointer}: {state}, {self.why}>"


class Change(Frozen):
    """A change that a policy made to the body.

    Attributes:
        action: "drop-tool" or "relax".
        tool: the tool's name, printable and cut; None where it has none.
        pointer: JSON Pointer of the tool in the body as it was sent.
        code: of the first error that made the change necessary.
        reason: that error in words.
    """

    __slots__ = ("action", "code", "pointer", "reason", "tool")

    action: str
    tool: str | None
    pointer: str
    code: str
    reason: str

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def header(self) -> str:
        """The change as part of a header value: `relax; tool=NAME; at=/tools/0; code=SG401`."""
        tool = "" if self.tool is None else f"; tool={_token(self.tool)}"
        return f"{self.action}{tool}; at={_token(self.pointer)}; code={self.code}"

    def as_dict(self) -> dict[str, Any]:
        """The change for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


class Decision(Frozen):
    """What to do with a request.

    Attributes:
        api: "chat", "responses" or "messages"; None where the body could not be read that far.
        refusal: the error to answer with; None when the request may go on.
        status: HTTP status of the answer; 200 when the request may go on.
        findings: in the order of the contract, at most `Policy.max_findings`.
        total: how many there are, those beyond the cap included.
        tools: the tools of the body as it was sent.
        changes: what was changed, and why; then `body` is what may go on.
        body: the changed body, of the type that was given (`bytes`, `str` or `dict`); None when
            nothing was changed.
    """

    __slots__ = ("api", "body", "changes", "findings", "refusal", "status", "tools", "total")

    api: str | None
    refusal: Finding | None
    status: int
    findings: tuple[Finding, ...]
    total: int
    tools: tuple[ToolVerdict, ...]
    changes: tuple[Change, ...]
    body: Any

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def ok(self) -> bool:
        """Whether the request may go on, changed or not."""
        return self.refusal is None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that refuse the request, or made the changes necessary."""
        return tuple(f for f in self.findings if f.severity == ERROR)

    def __repr__(self) -> str:
        if self.refusal is not None:
            verdict = f"refused with {self.status}: {self.refusal.code}"
        else:
            verdict = f"accepted with {len(self.changes)} changes" if self.changes else "accepted"
        return f"<Decision {self.api} {verdict}, {len(self.tools)} tools, {self.total} findings>"


def shown_name(name: str | None) -> str | None:
    """A tool's name for people: printable, at most 128 characters of it."""
    return None if name is None else printable(cut(name, MAX_FUNCTION_NAME))


def shown_pointer(pointer: str) -> str:
    """A pointer for people: printable, at most 256 characters of it."""
    return printable(cut(pointer, MAX_POINTER))


def _token(text: str) -> str:
    """Text as part of a header value: visible ASCII without separators, others %-encoded."""
    from urllib.parse import quote  # noqa: PLC0415  (changes are rare)

    return quote(text, safe="/~:.")
