"""What a request asks for: its tools, its choice of them, and the form of its answer.

Chat Completions (with the tools of system messages, as Kimi's), Responses and Anthropic Messages
come out as one thing, in the terms of Chat Completions, which are also xgrammar's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen
from schemaguard.document import DEFAULT_LIMITS, Document
from schemaguard.envelopes import unpack
from schemaguard.envelopes.reading import described
from schemaguard.envelopes.result import (
    ANTHROPIC,
    COHERE,
    MIXED,
    OLLAMA,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
)
from schemaguard.errors import MAX_FUNCTION_NAME, cut, printable
from schemaguard.preflight import as_document
from schemaguard.report import pointer_of
from schemaguard.request import MAX_TOOLS

if TYPE_CHECKING:
    Tokens = tuple[str | int, ...]

#: Kinds of `unpack` whose requests have the form of Chat Completions.
_LIKE_CHAT = frozenset({OPENAI_CHAT, COHERE, OLLAMA, MIXED, None})
_READ = frozenset({*_LIKE_CHAT, OPENAI_RESPONSES, ANTHROPIC})

_MODES = ("auto", "required", "none")
_ANTHROPIC_MODES = {"auto": "auto", "any": "required", "none": "none"}

#: Any object: what `json_object` asks for, and the arguments of a tool that is not pinned.
ANY_OBJECT = {"type": "object", "additionalProperties": True}


class BadRequest(Exception):  # noqa: N818 - caught by `plan`, never seen
    """The request cannot be read; the message is for whoever sent it."""


class AskedTool(Frozen):
    """One tool of a request.

    Attributes:
        name: of the function; the type of a tool that the server calls itself.
        strict: its `strict`; None when omitted or null.
        parameters: its schema as the request has it; None when omitted or null.
        hosted: the server calls it itself: the model's markup has no place for it.
    """

    __slots__ = ("_at", "hosted", "name", "parameters", "strict")

    name: str
    strict: bool | None
    parameters: Any
    hosted: bool
    _at: Tokens

    def __init__(
        self, name: str, strict: bool | None, parameters: Any, at: Tokens, *, hosted: bool = False
    ) -> None:
        self._fill(name=name, strict=strict, parameters=parameters, hosted=hosted, _at=at)

    @property
    def pointer(self) -> str:
        """JSON Pointer, in the body, of the schema or of where it would be."""
        return pointer_of(None, self._at)


class Asked(Frozen):
    """A request, as far as structural tags go.

    Attributes:
        api: "chat", "responses" or "anthropic".
        document: the body.
        tools: in the order of the request.
        mode: "auto", "required", "named" or "none".
        only: names of the tools that may be called; None for all.
        parallel: whether several calls may be made.
        answer: the schema that the answer has to follow; None when it is free.
        answer_pointer: JSON Pointer of that schema.
    """

    __slots__ = ("answer", "answer_pointer", "api", "document", "mode", "only", "parallel", "tools")

    api: str
    document: Document
    tools: tuple[AskedTool, ...]
    mode: str
    only: frozenset[str] | None
    parallel: bool
    answer: Any
    answer_pointer: str

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)


def read(request: Any) -> Asked:
    """Read a request.

    Raises:
        BadRequest: it is no JSON, not one of the three APIs' bodies, or something that matters here
            has the wrong type.
    """
    document = as_document(request, DEFAULT_LIMITS)
    if document.faults:
        fault = document.faults[0]
        raise BadRequest(f"the request cannot be read ({fault.name}): {_cut(fault.detail)}")
    try:
        return _read(document)
    except BadRequest:
        raise
    except Exception as error:
        if document.text is not None:
            raise  # a fault of ours: text is plain JSON
        # A parsed body can be of types that lie about themselves.
        raise BadRequest(f"a value that fails when it is read ({type(error).__name__})") from error


def _read(document: Document) -> Asked:
    body = document.value
    if body.__class__ is not dict:
        raise BadRequest(f"the request is {described(body)}, not an object")
    kind = unpack(body).kind
    if kind not in _READ:
        raise BadRequest(
            f"a request of kind {kind}; Chat Completions, Responses and Anthropic are read here"
        )
    if kind == OPENAI_RESPONSES:
        return _Body(document, "responses").read(_flat, ("text", "format"), ())
    if kind == ANTHROPIC:
        return _Body(document, "anthropic").read(_flat, ("output_config", "format"), ())
    return _Body(document, "chat").read(_nested, ("response_format",), ("json_schema",))


class _Body:
    """A body while it is read."""

    def __init__(self, document: Document, api: str) -> None:
        self.document = document
        self.body: dict[str, Any] = document.value
        self.api = api
        self.tools: list[AskedTool] = []

    def read(self, tool_of: Any, form: Tokens, inside: Tokens) -> Asked:
        self._list(tool_of, self.body.get("tools"), ("tools",))
        if self.api == "chat":
            messages = self.body.get("messages")
            for index, message in enumerate(messages if messages.__class__ is list else ()):
                if message.__class__ is dict and message.get("role") == "system":
                    self._list(tool_of, message.get("tools"), ("messages", index, "tools"))
        mode, only = self._choice()
        answer, pointer = self._answer(form, inside)
        return Asked(
            api=self.api,
            document=self.document,
            tools=tuple(self.tools),
            mode=mode,
            only=only,
            parallel=self._parallel(),
            answer=answer,
            answer_pointer=pointer,
        )

    def _list(self, tool_of: Any, tools: Any, at: Tokens, *, inside: bool = False) -> None:
        """Take a list of tools; those of a namespace stand for it, one level deep."""
        if tools is None:
            return
        if tools.__class__ is not list:
            raise BadRequest(f"{pointer_of(None, at)} is {described(tools)}, not an array")
        if len(self.tools) + len(tools) > MAX_TOOLS:
            raise BadRequest(f"more than {MAX_TOOLS} tools")
        for index, entry in enumerate(tools):
            here = (*at, index)
            if entry.__class__ is dict and entry.get("type") == "namespace":
                if inside:
                    raise BadRequest(f"{pointer_of(None, here)} is a namespace in a namespace")
                self._list(tool_of, entry.get("tools"), (*here, "tools"), inside=True)
            else:
                self.tools.append(tool_of(entry, here))

    def _choice(self) -> tuple[str, frozenset[str] | None]:
        choice = self.body.get("tool_choice")
        if choice is None:
            return ("auto" if self.tools else "none"), None
        if choice.__class__ is str and choice in _MODES:
            return choice, None
        if choice.__class__ is not dict:
            raise BadRequest(f"/tool_choice is {_shown(choice)}")
        kind = choice.get("type")
        if self.api == "anthropic" and kind.__class__ is str and kind in _ANTHROPIC_MODES:
            return _ANTHROPIC_MODES[kind], None
        if kind == "allowed_tools":
            holder = choice.get("allowed_tools") if self.api == "chat" else choice
            members = holder.get("tools") if holder.__class__ is dict else None
            mode = holder.get("mode", "auto") if holder.__class__ is dict else None
            if members.__class__ is not list or mode not in ("auto", "required"):
                raise BadRequest("/tool_choice: allowed_tools needs `mode` and `tools`")
            return mode, frozenset(self._named(member) for member in members)
        return "named", frozenset({self._named(choice)})

    def _named(self, entry: Any) -> str:
        """The name of the declared tool that a choice names."""
        kind = entry.get("type") if entry.__class__ is dict else None
        name = None
        if kind in ("function", "tool"):
            holder = entry.get("function") if self.api == "chat" else entry
            name = holder.get("name") if holder.__class__ is dict else None
        if name.__class__ is not str:
            raise BadRequest(f"/tool_choice names no function: {_shown(entry)}")
        if not any(tool.name == name for tool in self.tools):
            raise BadRequest(f"/tool_choice names {_shown(name)}, which the request does not have")
        return str(name)

    def _parallel(self) -> bool:
        if self.api == "anthropic":
            choice = self.body.get("tool_choice")
            given = choice.get("disable_parallel_tool_use") if choice.__class__ is dict else None
            where = "/tool_choice/disable_parallel_tool_use"
        else:
            given = self.body.get("parallel_tool_calls")
            where = "/parallel_tool_calls"
        if given is None:
            return True
        if given.__class__ is not bool:
            raise BadRequest(f"{where} is {described(given)}, not a boolean")
        return not given if self.api == "anthropic" else bool(given)

    def _answer(self, form: Tokens, inside: Tokens) -> tuple[Any, str]:
        """The schema of the answer, and where it is."""
        wanted: Any = self.body
        for key in form:
            wanted = wanted.get(key) if wanted.__class__ is dict else None
        if wanted.__class__ is not dict:
            return None, ""
        if wanted.get("type") == "json_object":
            return ANY_OBJECT, pointer_of(None, form)
        if wanted.get("type") != "json_schema":
            return None, ""
        for key in inside:
            wanted = wanted.get(key) if wanted.__class__ is dict else None
        schema = wanted.get("schema") if wanted.__class__ is dict else None
        return schema, pointer_of(None, (*form, *inside, "schema"))


def _nested(entry: Any, at: Tokens) -> AskedTool:
    """A tool of Chat Completions: `{"type": "function", "function": {…}}`."""
    if entry.__class__ is not dict:
        raise BadRequest(f"{pointer_of(None, at)} is {described(entry)}, not a tool")
    kind = entry.get("type", "function")
    if kind != "function":
        return _hosted(kind, at)
    function = entry.get("function")
    if function.__class__ is not dict:
        raise BadRequest(f"{pointer_of(None, at)}/function is {described(function)}")
    return _function(function, "parameters", (*at, "function"))


def _flat(entry: Any, at: Tokens) -> AskedTool:
    """A tool of Responses (`parameters`) or of Anthropic (`input_schema`)."""
    if entry.__class__ is not dict:
        raise BadRequest(f"{pointer_of(None, at)} is {described(entry)}, not a tool")
    if "input_schema" in entry:
        return _function(entry, "input_schema", at)
    if entry.get("type") != "function":
        return _hosted(entry.get("type"), at)
    return _function(entry, "parameters", at)


def _hosted(kind: Any, at: Tokens) -> AskedTool:
    name = kind if kind.__class__ is str else described(kind)
    return AskedTool(cut(name, MAX_FUNCTION_NAME), None, None, at, hosted=True)


def _function(function: dict[str, Any], key: str, at: Tokens) -> AskedTool:
    name = function.get("name")
    if name.__class__ is not str:
        raise BadRequest(f"{pointer_of(None, at)}/name is {described(name)}, not a string")
    strict = function.get("strict")
    if strict is not None and strict.__class__ is not bool:
        raise BadRequest(f"{pointer_of(None, at)}/strict is {described(strict)}, not a boolean")
    return AskedTool(str(name), strict, function.get(key), (*at, key))


def _shown(value: Any) -> str:
    return f"'{_cut(value)}'" if value.__class__ is str else described(value)


def _cut(text: Any) -> str:
    return printable(cut(str(text), MAX_FUNCTION_NAME))
