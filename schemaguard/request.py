"""`check_request`: one request in, a report for each of its tools out, in the order of the server.

The order decides which finding a server that stops at the first one would name (rules 45 to 48 of
the `dynamo` contract; source: Request Validation in NVIDIA Dynamo's Structural Tag documentation,
ai-dynamo/dynamo#15153):

| | Chat | Responses |
| --- | --- | --- |
| 1 | the body is JSON | the body is JSON |
| 2 | the shape of every tool | the shape of every tool |
| 3 | at most 1,536 tools | every tool is a function |
| 4 | each tool in turn: name, parameters, schema | each schema |
| 5 | `tool_choice` (warnings only) | `tool_choice`, which may leave only some of the tools |
| 6 | `response_format` | number of tools, then name and parameters of each that is left |
| 7 | | `text.format` |

A schema is checked when `strict` is exactly true and the parameters are there and not null,
whatever `tool_choice` says. On Chat the tools that system messages declare follow those of the
request. What the contract leaves open, and what is assumed here:

* All shapes come first, as in a server that reads the body into typed fields. That `strict` must be
  a boolean or null is one of them. A Chat tool without `type` is a function; any other type than
  "function" is unsupported. The limit on tools counts those of system messages.
* A name that is given twice is refused, as `check` refuses it: which of the two members counts
  differs between parsers. The tools are checked with the last one.
* A Responses namespace is `{"type": "namespace", "name": …, "tools": […]}`; its members have the
  shape of the flat functions (OpenAI's API has custom tools there, too; they are unsupported). A
  member keeps its bare name; if another function of the request has the same name, it is called
  `NAMESPACE__NAME` instead, with each part cut at 128 code points (either is too long a name then).
* On Responses, `tool_choice` and each entry of `allowed_tools` must name a declared function or
  namespace. The functions that `allowed_tools` excludes are spared step 6, but not step 4.
* `response_format` and `text.format` are looked at last, and only for a name and the type of the
  schema, which is not checked. Messages, tool calls in them and other fields are not looked at.
"""

from __future__ import annotations

import re

from schemaguard import data, walk
from schemaguard._frozen import Frozen
from schemaguard.document import DEFAULT_LIMITS, Document, Limits
from schemaguard.errors import MAX_FUNCTION_NAME, cut
from schemaguard.plan import compiled
from schemaguard.preflight import DEFAULT_PROFILE, as_document, check
from schemaguard.report import ERROR, WARNING, Diagnostic, Report, pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.plan import Plans
    from schemaguard.profiles import Profile

    Tokens = tuple[str | int, ...]
    #: What a `tool_choice` names: "function" or "namespace", and the name.
    Named = tuple[str, str]

__all__ = ["APIS", "MAX_NAME_BYTES", "MAX_TOOLS", "RequestResult", "ToolReport", "check_request"]

CHAT = "chat"
RESPONSES = "responses"
APIS = (CHAT, RESPONSES)

MAX_TOOLS = 1_536
MAX_NAME_BYTES = 128

# Why a schema is not checked.
NOT_STRICT = "not strict"
NO_PARAMETERS = "no parameters"
NOT_AN_OBJECT = "parameters are not an object"
UNSUPPORTED = "unsupported kind of tool"
MALFORMED = "malformed tool"
HARD_STOP = "hard stop"

_is_name = re.compile(r"[A-Za-z0-9_-]+").fullmatch
_JSON_TYPES = frozenset({dict, list, str, int, float, bool, type(None)})
_MODES = ("none", "auto", "required")


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
            f"{len(self.tools)} tools, {self.total} diagnostics>"
        )


def check_request(
    body: Any,
    api: str,
    *,
    profile: str | Profile = DEFAULT_PROFILE,
    limits: Limits = DEFAULT_LIMITS,
    max_diagnostics: int = walk.MAX_DIAGNOSTICS,
) -> RequestResult:
    """Check the tools of a request.

    Args:
        body: JSON text as `bytes` or `str`, or the parsed body (`dict`), which is neither changed
            nor copied, and must not be changed by others meanwhile.
        api: "chat" (`/v1/chat/completions`) or "responses" (`/v1/responses`).
        profile: as for `check`; each schema is checked with it.
        limits: hard stops for reading the body and for the walk of each schema. What is looked at
            in a parsed body, all schemas together, is held to `max_nodes` values as well.
        max_diagnostics: how many diagnostics to keep, of the request and in each report.

    Returns:
        The result. Bad input of any kind is a diagnostic in it, never an exception.

    Raises:
        ValueError: there is no such API.
        ProfileError: there is no such profile.
    """
    if api not in APIS:
        raise ValueError(f"api is one of {', '.join(APIS)}")
    plans = compiled(profile)
    document = as_document(body, limits)
    request = _Request(document, api, plans, limits, max_diagnostics)
    for fault in document.faults:
        request.add(fault.name, offset=fault.offset, detail=fault.detail)
    request.total += document.fault_count - len(document.faults)
    if document.readable:
        try:
            if request.is_object(document.value, (), "the body"):
                (_chat if api == CHAT else _responses)(request)
                request.check_together()
        except Exception as error:
            if document.text is not None:
                raise  # a fault of ours: text is plain JSON
            # A parsed body can be of types that lie about themselves, or change meanwhile.
            detail = f"that fails when it is read ({type(error).__name__})"
            request.add("not-json", detail=detail)
    return request.result()


def _chat(request: _Request) -> None:
    """Everything about the body of a Chat request, in contract order."""
    body = request.body
    request.read_chat_tools(body.get("tools"), ("tools",))
    messages = body.get("messages")
    if messages.__class__ is list:
        for index, message in enumerate(messages):
            if _says(message, "role", "system"):
                request.read_chat_tools(message.get("tools"), ("messages", index, "tools"))
    tools = request.tools
    request.check_count(len(tools))
    for tool in tools:
        request.check_name(tool)
        request.check_parameters(tool)
        request.check_schema(tool)
    request.check_choice()
    wanted = body.get("response_format")
    if _says(wanted, "type", "json_schema"):
        request.check_format(wanted.get("json_schema"), ("response_format", "json_schema"))


def _responses(request: _Request) -> None:
    """Everything about the body of a Responses request, in contract order."""
    body = request.body
    unsupported = request.read_responses_tools(body.get("tools"))
    for tokens, kind in unsupported:
        request.add("unsupported-tool-kind", (*tokens, "type"), kind=kind)
    tools = request.tools
    for tool in tools:
        request.check_schema(tool)
    allowed = request.check_choice()
    kept = [tool for tool in tools if allowed is None or tool.names & allowed]
    request.check_count(len(kept))
    for tool in kept:
        request.check_name(tool)
        request.check_parameters(tool)
    text = body.get("text")
    wanted = text.get("format") if text.__class__ is dict else None
    if _says(wanted, "type", "json_schema"):
        request.check_format(wanted, ("text", "format"))


class _Tool:
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
        return ToolReport(
            name=self.name,
            strict=self.strict,
            reason=self.reason,
            report=self.report,
            _at=self.at,
            _inside=self.inside,
        )


class _Request:
    """A request while it is looked at: one method a step, and what they found."""

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
        self._shared: Limits | None = None
        self.tools: list[_Tool] = []
        self.diagnostics: list[Diagnostic] = []
        self.total = 0
        self.refusal: Diagnostic | None = None
        self.refused: _Tool | None = None

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
        self._keep(Diagnostic(rule, severity, filled, None, tokens, offset))

    def _keep(self, diagnostic: Diagnostic) -> None:
        refuses = diagnostic.severity == ERROR and self.refusal is None
        self.total += 1
        if self.total > self.cap and not refuses:
            return
        if self.total <= self.cap:
            self.diagnostics.append(diagnostic)
        if refuses:
            self.refusal = diagnostic

    # --------------------------------------------------------------------------------- reading

    def is_object(self, value: object, tokens: Tokens, what: str) -> bool:
        """Whether a value is an object, with names for keys; it is said when it is not."""
        if value.__class__ is not dict:
            self.wrong(value, tokens, "malformed-request", what=what, expected="an object")
            return False
        if self.parsed and self._enter(len(value), tokens):
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
        return value if self._enter(len(value), tokens) else []

    def _enter(self, values: int, tokens: Tokens) -> bool:
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
            tool = _Tool(at, (*at, "function"))
            self.tools.append(tool)
            if not self.is_object(entry, at, "a tool"):
                continue
            kind = entry.get("type", "function")
            if kind.__class__ is not str:
                self._not_a_string(kind, (*at, "type"), "`type`")
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
            if not _says(entry, "type", "namespace"):
                self._read_responses_tool(entry, at, None, unsupported)
                continue
            self.is_object(entry, at, "a tool")
            namespace = entry.get("name")
            if namespace.__class__ is not str:
                self._not_a_string(namespace, (*at, "name"), "`name`")
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
        tool = _Tool(at, at, namespace)
        self.tools.append(tool)
        if not self.is_object(entry, at, "a tool"):
            return
        kind = entry.get("type")
        if kind.__class__ is not str:
            self._not_a_string(kind, (*at, "type"), "`type`")
        elif kind == "function":
            self._read_function(tool, entry)
        else:
            tool.reason = UNSUPPORTED
            unsupported.append((at, cut(kind, MAX_FUNCTION_NAME)))

    def _read_function(self, tool: _Tool, function: dict[str, Any]) -> None:
        name = function.get("name")
        if name.__class__ is str:
            tool.name = name
            tool.names = {("function", name)}
        else:
            self._not_a_string(name, (*tool.inside, "name"), "`name`")
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

    def _not_a_string(self, value: object, tokens: Tokens, what: str) -> None:
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

    # -------------------------------------------------------------------------------- checking

    def check_count(self, count: int) -> None:
        """Whether there are too many tools; a profile may have numbers of its own."""
        if count > MAX_TOOLS and not self.plans.about_tools:
            self.add("too-many-tools", ("tools",), count=count, limit=MAX_TOOLS)

    def check_name(self, tool: _Tool) -> None:
        """Whether the name can be used; only the first of its faults is worth saying."""
        name = tool.name
        if name is None or (len(name) <= MAX_NAME_BYTES and _is_name(name)):
            return
        if self.plans.about_tools and name.strip():
            return
        tokens = (*tool.inside, "name")
        shown = cut(name, MAX_FUNCTION_NAME)
        if len(name) > MAX_NAME_BYTES or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
            self.add("long-tool-name", tokens, name=shown, limit=MAX_NAME_BYTES)
        elif not name.strip():
            self.add("blank-tool-name", tokens)
        else:
            self.add("illegal-tool-name", tokens, name=shown)

    def check_parameters(self, tool: _Tool) -> None:
        """Whether the parameters are an object, if there are any."""
        if tool.parameters is None or tool.parameters.__class__ is dict:
            return
        self.wrong(tool.parameters, (*tool.inside, "parameters"), "non-object-parameters")
        if tool.report is None and tool.reason is None:
            tool.reason = NOT_AN_OBJECT

    def check_schema(self, tool: _Tool) -> None:
        """Check the schema of a tool, if it is to be checked."""
        if tool.reason is not None:
            return
        tool.report = self._report(tool)
        if tool.report is None:
            tool.reason = HARD_STOP
        elif not tool.report.ok and self.refusal is None:
            self.refusal = self._first_error(tool.report)
            self.refused = tool

    def _report(self, tool: _Tool) -> Report | None:
        """The report of a tool's schema; None when the hard stop forbids to look at it.

        To count values takes as long as to check them, so a schema that needs no more than an equal
        share of the limit is not counted.
        """
        schema = tool.parameters
        # A string is data here, not JSON text.
        source = schema if schema.__class__ is dict else Document(schema)
        if not self.parsed:
            return self._check(source, self.limits)
        if self.room >= 0:
            report = self._check(source, self._share)
            if report.complete:
                found = (report.diagnostics, report.total, report.ok, report.complete)
                return Report(source, self.profile, self.limits, *found)
        if not self._enter(_count(schema, self.room), (*tool.inside, "parameters")):
            return None
        return self._check(source, self.limits)

    @property
    def _share(self) -> Limits:
        """The limits for one of the tools when they share alike."""
        if self._shared is None:
            whole = self.limits
            self._shared = Limits(
                max_bytes=whole.max_bytes,
                max_depth=whole.max_depth,
                max_nodes=max(1, whole.max_nodes // len(self.tools)),
            )
        return self._shared

    def _check(self, source: Any, limits: Limits, cap: int | None = None) -> Report:
        kept = self.cap if cap is None else cap
        return check(source, self.profile, limits=limits, max_diagnostics=kept)

    def _first_error(self, report: Report) -> Diagnostic:
        errors = report.errors
        if not errors:  # the first is beyond the cap
            errors = self._check(report.document, self.limits, report.total).errors
        return errors[0]

    def check_together(self) -> None:
        """What the profile says of names, descriptions, and of all tools together."""
        if not self.plans.about_tools:
            return
        from schemaguard import toolsets  # noqa: PLC0415  (only profiles that want something)

        tools = []
        for tool in self.tools:
            sound = tool.report is None or tool.report.complete
            if tool.reason in (None, NOT_STRICT, NO_PARAMETERS) and sound:
                tools.append(
                    toolsets.Tool(
                        name=tool.name,
                        prefix="",
                        description=self._description(tool.inside),
                        strict=tool.strict,
                        schema=tool.parameters,
                        place=toolsets.linked(tool.inside),
                        at=toolsets.linked(tool.at),
                    )
                )
        for finding in toolsets.findings(tools, self.plans):
            self._keep(finding.diagnostic)

    def _description(self, tokens: Tokens) -> str | None:
        value = self.body
        for token in tokens:
            value = value[token]
        description = value.get("description") if value.__class__ is dict else None
        return description if isinstance(description, str) else None

    def check_choice(self) -> set[Named] | None:
        """Whether `tool_choice` is understood and names declared tools.

        Returns:
            What it allows; None when it allows every tool.
        """
        choice = self.body.get("tool_choice")
        if choice is None or (choice.__class__ is str and choice in _MODES):
            return None
        found = self._choice_entries(choice)
        if found is None:
            self._bad_choice(("tool_choice",))
            return None
        is_list, entries = found
        declared: set[Named] = set().union(*(tool.names for tool in self.tools))
        named: set[Named] = set()
        for tokens, entry in entries:
            kind, name = self._named(entry)
            if name is None:
                self._bad_choice(tokens)
            elif (kind, name) in declared:
                named.add((kind, name))
            else:
                shown = cut(name, MAX_FUNCTION_NAME)
                self.add(
                    "undeclared-tool-choice", tokens, otherwise=self._choice_severity, name=shown
                )
        return named if is_list else None

    def _choice_entries(self, choice: Any) -> tuple[bool, list[tuple[Tokens, Any]]] | None:
        """Whether a choice is a list of allowed tools, and each tool that it names."""
        at: Tokens = ("tool_choice",)
        if choice.__class__ is not dict:
            return None
        if not _says(choice, "type", "allowed_tools"):
            return False, [(at, choice)]
        if self.api == CHAT:  # OpenAI's Chat has them one object further in
            at = (*at, "allowed_tools")
            choice = choice.get("allowed_tools")
        members = choice.get("tools") if choice.__class__ is dict else None
        if members.__class__ is not list:
            return None
        return True, [((*at, "tools", index), member) for index, member in enumerate(members)]

    def _named(self, entry: Any) -> tuple[str, str | None]:
        """Kind and name of the tool that a choice names; no name when it is malformed."""
        if entry.__class__ is not dict:
            return "", None
        kind = entry.get("type", "function")
        if kind.__class__ is not str:
            return "", None
        if kind not in ("function", "namespace"):
            return kind, kind  # a hosted tool, called by its type
        holder = entry.get("function") if self.api == CHAT else entry
        name = holder.get("name") if holder.__class__ is dict else None
        return kind, name if name.__class__ is str else None

    @property
    def _choice_severity(self) -> str:
        return WARNING if self.api == CHAT else ERROR

    def _bad_choice(self, tokens: Tokens) -> None:
        self.add("malformed-tool-choice", tokens, otherwise=self._choice_severity)

    def check_format(self, wanted: Any, tokens: Tokens) -> None:
        """Name and schema of a response format; the schema itself is not checked (rule 48)."""
        if not self.is_object(wanted, tokens, "a response format"):
            return
        name = wanted.get("name")
        if name.__class__ is not str:
            self._not_a_string(name, (*tokens, "name"), "the name of a response format")
        elif not name:
            self.add("unnamed-format", (*tokens, "name"))
        schema = wanted.get("schema")
        if schema is not None and schema.__class__ is not dict:
            self.wrong(schema, (*tokens, "schema"), "non-object-format")


def _says(value: Any, key: str, word: str) -> bool:
    """Whether a value is an object with that string under that key."""
    said = value.get(key) if value.__class__ is dict else None
    return said.__class__ is str and said == word


def _count(value: object, room: int) -> int:
    """How many values a value is; counts no further than just beyond `room`."""
    count = 1
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if item.__class__ is not dict and item.__class__ is not list:
            continue
        count += len(item)
        if count > room:
            break
        stack.extend(item.values() if item.__class__ is dict else item)
    return count
