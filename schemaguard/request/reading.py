"""The shapes of a request: its tools, as the server would read them into typed fields."""

from __future__ import annotations

from schemaguard import data
from schemaguard.errors import MAX_FUNCTION_NAME, cut
from schemaguard.report import ERROR, Diagnostic
from schemaguard.request.result import RequestResult, ToolReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.document import Document, Limits
    from schemaguard.plan import Plans
    from schemaguard.report import Report

    Tokens = tuple[str | int, ...]
    #: What a `tool_choice` names: "function" or "namespace", and the name.
    Named = tuple[str, str]

# Why a schema is not checked.
NOT_STRICT = "not strict"
NO_PARAMETERS = "no parameters"
NOT_AN_OBJECT = "parameters are not an object"
UNSUPPORTED = "unsupported kind of tool"
MALFORMED = "malformed tool"
HARD_STOP = "hard stop"

_JSON_TYPES = frozenset({dict, list, str, int, float, bool, type(None)})


class Tool:
    """A tool while it is looked at.

    Attributes:
        at: where it is.
        inside: where its name, `strict` and parameters are.
        namespace: the name of the namespace that has it.
        names: what a `tool_choice` may call it.
        name, strict, reason, report: as in `ToolReport`; neither reason nor report: to be checked.
        parameters: None when omitted or null.
    """

    __slots__ = (
        "at",
        "inside",
        "name",
        "names",
        "namespace",
        "parameters",
        "reason",
        "report",
        "strict",
    )

    def __init__(self, at: Tokens, inside: Tokens, namespace: str | None = None) -> None:
        self.at = at
        self.inside = inside
        self.namespace = namespace
        self.names: frozenset[Named] | set[Named] = frozenset()
        self.name: str | None = None
        self.strict: bool | None = None
        self.parameters: Any = None
        self.reason: str | None = MALFORMED
        self.report: Report | None = None

    def published(self) -> ToolReport:
        """The tool for the caller."""
        return ToolReport(
            name=self.name,
            strict=self.strict,
            reason=self.reason,
            report=self.report,
            _at=self.at,
            _inside=self.inside,
        )


class Reading:
    """A request while it is read, and what was found so far."""

    def __init__(
        self, document: Document, api: str, plans: Plans, limits: Limits, cap: int
    ) -> None:
        self.document = document
        self.body: Any = document.value
        self.parsed = document.text is None
        self.api = api
        self.plans = plans
        self.profile = plans.profile
        self.limits = limits
        self.cap = cap
        self.room = limits.max_nodes
        self.stopped = False
        self.tools: list[Tool] = []
        self.diagnostics: list[Diagnostic] = []
        self.total = 0
        self.refusal: Diagnostic | None = None
        self.refused: Tool | None = None

    def result(self) -> RequestResult:
        """What was found, for the caller."""
        tools = []
        refused_tool = None
        for tool in self.tools:
            tools.append(tool.published())
            if tool is self.refused:
                refused_tool = tools[-1]
        return RequestResult(
            api=self.api,
            profile=self.profile.id,
            document=self.document,
            tools=tuple(tools),
            diagnostics=tuple(self.diagnostics),
            total=self.total,
            refusal=self.refusal,
            refused_tool=refused_tool,
        )

    def add(
        self,
        name: str,
        tokens: Tokens = (),
        /,
        *,
        offset: int | None = None,
        otherwise: str = ERROR,
        **filled: Any,
    ) -> None:
        """Record one finding; its severity is the profile's, `otherwise` where it has none."""
        rule = data.rule_of(name)
        severity = self.profile.severities.get(rule.code, otherwise)
        filled["subject"] = self.profile.subject
        self.keep(Diagnostic(rule, severity, filled, None, tokens, offset))

    def keep(self, diagnostic: Diagnostic) -> None:
        """Record a finding, as long as there is room for more; the first error always."""
        refuses = diagnostic.severity == ERROR and self.refusal is None
        self.total += 1
        if self.total > self.cap and not refuses:
            return
        if self.total <= self.cap:
            self.diagnostics.append(diagnostic)
        if refuses:
            self.refusal = diagnostic

    def is_object(self, value: object, tokens: Tokens, what: str) -> bool:
        """Whether a value is an object, with names for keys; it is said when it is not."""
        if value.__class__ is not dict:
            self.wrong(value, tokens, "malformed-request", what=what, expected="an object")
            return False
        if self.parsed and self.enter(len(value), tokens):
            for key in value:
                if key.__class__ is not str:
                    self.add("non-string-key", tokens, detail=type(key).__name__)
        return True

    def wrong(self, value: object, tokens: Tokens, rule: str, **filled: Any) -> None:
        """A value that has the wrong type: a rule says so, unless the value is no JSON at all."""
        if value.__class__ in _JSON_TYPES:
            self.add(rule, tokens, **filled)
        else:
            self.add("not-json", tokens, detail=type(value).__name__)

    def entries(self, value: object, tokens: Tokens) -> list[Any]:
        """The members of an array that may be null, as far as the hard stop allows."""
        if value is None:
            return []
        if value.__class__ is not list:
            self.wrong(value, tokens, "malformed-request", what="`tools`", expected="an array")
            return []
        return value if self.enter(len(value), tokens) else []

    def enter(self, values: int, tokens: Tokens) -> bool:
        """Whether the hard stop lets one look at so many values; what stops it is said once.

        The reader has counted the values of a text. In a parsed body one part may stand in many
        places, so that few objects in memory are very many values.
        """
        if self.room >= 0:
            self.room -= values
            return True
        if not self.stopped:
            self.stopped = True
            self.add("too-many-nodes", tokens, detail=f"{self.limits.max_nodes:,}")
        return False

    def read_chat_tools(self, value: object, tokens: Tokens) -> None:
        """The shape of the tools of a Chat request, or of one of its system messages."""
        for index, entry in enumerate(self.entries(value, tokens)):
            at = (*tokens, index)
            tool = Tool(at, (*at, "function"))
            self.tools.append(tool)
            if not self.is_object(entry, at, "a tool"):
                continue
            kind = entry.get("type", "function")
            if kind.__class__ is not str:
                self.not_a_string(kind, (*at, "type"), "`type`")
            elif kind != "function":
                tool.reason = UNSUPPORTED
                shown = cut(kind, MAX_FUNCTION_NAME)
                self.add("unsupported-tool-kind", (*at, "type"), kind=shown)
                continue
            if self.is_object(entry.get("function"), tool.inside, "`function`"):
                self._read_function(tool, entry["function"])

    def read_responses_tools(self, value: object) -> list[tuple[Tokens, str]]:
        """The shape of the tools of a Responses request; returns which are unsupported."""
        unsupported: list[tuple[Tokens, str]] = []
        for index, entry in enumerate(self.entries(value, ("tools",))):
            at: Tokens = ("tools", index)
            if not says(entry, "type", "namespace"):
                self._read_responses_tool(entry, at, None, unsupported)
                continue
            self.is_object(entry, at, "a tool")
            namespace = entry.get("name")
            if namespace.__class__ is not str:
                self.not_a_string(namespace, (*at, "name"), "`name`")
                namespace = None
            inside = (*at, "tools")
            members = entry.get("tools")
            if members is None:
                self.add("malformed-request", inside, what="`tools`", expected="an array")
            for position, member in enumerate(self.entries(members, inside)):
                self._read_responses_tool(member, (*inside, position), namespace, unsupported)
        self._encode_names()
        return unsupported

    def _read_responses_tool(
        self, entry: Any, at: Tokens, namespace: str | None, unsupported: list[tuple[Tokens, str]]
    ) -> None:
        tool = Tool(at, at, namespace)
        self.tools.append(tool)
        if not self.is_object(entry, at, "a tool"):
            return
        kind = entry.get("type")
        if kind.__class__ is not str:
            self.not_a_string(kind, (*at, "type"), "`type`")
        elif kind == "function":
            self._read_function(tool, entry)
        else:
            tool.reason = UNSUPPORTED
            unsupported.append((at, cut(kind, MAX_FUNCTION_NAME)))

    def _read_function(self, tool: Tool, function: dict[str, Any]) -> None:
        name = function.get("name")
        if name.__class__ is str:
            tool.name = name
            tool.names = {("function", name)}
        else:
            self.not_a_string(name, (*tool.inside, "name"), "`name`")
        tool.parameters = function.get("parameters")
        strict = function.get("strict")
        if strict is None or strict is False:
            tool.strict = strict
            tool.reason = NOT_STRICT
        elif strict is True:
            tool.strict = True
            tool.reason = NO_PARAMETERS if tool.parameters is None else None
        else:
            self.wrong(strict, (*tool.inside, "strict"), "non-boolean-strict")

    def not_a_string(self, value: object, tokens: Tokens, what: str) -> None:
        """Say that a value is to be a string."""
        self.wrong(value, tokens, "malformed-request", what=what, expected="a string")

    def _encode_names(self) -> None:
        """Give each member of a namespace its final name, and note what it may be called."""
        count: dict[str, int] = {}
        for tool in self.tools:
            if tool.name is not None:
                count[tool.name] = count.get(tool.name, 0) + 1
        for tool in self.tools:
            if tool.name is None or tool.namespace is None:
                continue
            names = {("namespace", tool.namespace), ("function", tool.name)}
            if count[tool.name] > 1:
                parts = (tool.namespace, tool.name)
                tool.name = "__".join(cut(part, MAX_FUNCTION_NAME) for part in parts)
                names.add(("function", tool.name))
            tool.names = names


def says(value: Any, key: str, word: str) -> bool:
    """Whether a value is an object with that string under that key."""
    said = value.get(key) if value.__class__ is dict else None
    return said.__class__ is str and said == word
