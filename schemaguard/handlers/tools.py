"""The tools of a request body, and what it says about calls, for each API that is known.

Reading is lenient: what is malformed is left to the check, which names it. `Tool.plain` says that a
tool has the everyday form, in which nothing but its schema can be wrong.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeGuard

    Tokens = tuple[str | int, ...]
    Body = dict[str, Any]

CHAT = "chat"
RESPONSES = "responses"
MESSAGES = "messages"
AUTO = "auto"
APIS = (CHAT, RESPONSES, MESSAGES)

_MODES = ("none", "auto", "required")
_is_plain_name = re.compile(r"[A-Za-z0-9_-]{1,128}").fullmatch


class Tool:
    """One tool of a body, as far as it can be read.

    Attributes:
        at: the tool's place.
        inside: where its name, `strict` and parameters are.
        name: None unless it is a string.
        names: (kind, name) that a choice of tools may call it by.
        strict: None unless it is a boolean.
        description: None unless it is a string.
        parameters: the value, whatever it is; None when omitted or null.
        plain: nothing but its schema can be at fault.
    """

    __slots__ = (
        "at",
        "description",
        "inside",
        "name",
        "names",
        "parameters",
        "plain",
        "strict",
    )

    def __init__(self, at: Tokens, inside: Tokens, holder: object, key: str, plain: bool) -> None:
        self.at = at
        self.inside = inside
        self.name: str | None = None
        self.names: set[tuple[str, str]] = set()
        self.description: str | None = None
        self.strict: bool | None = None
        self.parameters: Any = None
        if holder.__class__ is not dict:
            self.plain = False
            return
        function: Body = holder
        name, strict = function.get("name"), function.get("strict")
        description = function.get("description")
        self.description = description if description.__class__ is str else None
        self.parameters = function.get(key)
        if name.__class__ is str:
            self.name = name
            self.names.add(("function", name))
        if strict.__class__ is bool:
            self.strict = strict
        self.plain = (
            plain
            and name.__class__ is str
            and _is_plain_name(name) is not None
            and (strict is None or strict.__class__ is bool)
            and (self.parameters is None or self.parameters.__class__ is dict)
        )


class Choice:
    """What a request says about calls.

    Attributes:
        mode: "none", "auto", "required" or "named".
        names: (kind, name) of the tools that may be called; None when all may.
        parallel: what it says about parallel calls; None when nothing.
        plain: it is one of the everyday forms.
    """

    __slots__ = ("mode", "names", "parallel", "plain")

    def __init__(self) -> None:
        self.mode = "auto"
        self.names: set[tuple[str, str]] | None = None
        self.parallel: bool | None = None
        self.plain = True

    def allows(self, tool: Tool) -> bool:
        """Whether a tool is among those that may be called."""
        return self.names is None or bool(tool.names & self.names)

    def demands(self, tool: Tool) -> bool:
        """Whether there has to be a call, and it may be of this tool.

        A choice in which no name can be read may be of any.
        """
        return self.mode in ("required", "named") and (not self.names or self.allows(tool))


def api_of(body: Body) -> str:
    """The API that a body is for, by its shape; "chat" when nothing tells."""
    tools = _dicts(body.get("tools"))
    if "messages" not in body:
        flat = any("parameters" in t and "function" not in t for t in tools)
        if "input" in body or flat or body.get("text").__class__ is dict:
            return RESPONSES
        return MESSAGES if any("input_schema" in t for t in tools) else CHAT
    if any("function" in tool for tool in tools):
        return CHAT
    if any("input_schema" in tool for tool in tools):
        return MESSAGES
    signs = ("anthropic_version", "system", "stop_sequences", "output_config", "thinking")
    return MESSAGES if any(sign in body for sign in signs) else CHAT


def read_tools(body: Body, api: str) -> list[Tool]:
    """The tools of a body, in the order of the server: of messages after those of the request."""
    return list(_READERS[api](body))


def _chat_tools(body: Body) -> Iterator[Tool]:
    places: list[tuple[Tokens, Any]] = [(("tools",), body.get("tools"))]
    messages = body.get("messages")
    if messages.__class__ is list:
        for index, message in enumerate(messages):
            if message.__class__ is dict and "tools" in message and is_system(message):
                places.append((("messages", index, "tools"), message["tools"]))
    for place, entries in places:
        for index, entry in enumerate(entries if entries.__class__ is list else ()):
            at = (*place, index)
            holder = entry.get("function") if entry.__class__ is dict else None
            plain = holder is not None and entry.get("type", "function") == "function"
            yield Tool(at, (*at, "function"), holder, "parameters", plain)


def is_system(message: Body) -> bool:
    """Whether a message may declare tools, as those of Kimi do."""
    role = message.get("role")
    return role.__class__ is str and role == "system"


def _responses_tools(body: Body) -> Iterator[Tool]:
    tools = body.get("tools")
    for index, entry in enumerate(tools if tools.__class__ is list else ()):
        at: Tokens = ("tools", index)
        kind = entry.get("type") if entry.__class__ is dict else None
        if kind != "namespace":
            yield Tool(at, at, entry, "parameters", kind == "function")
            continue
        space, members = entry.get("name"), entry.get("tools")
        for position, member in enumerate(members if members.__class__ is list else ()):
            inside = (*at, "tools", position)
            tool = Tool(inside, inside, member, "parameters", plain=False)
            if space.__class__ is str:
                tool.names.add(("namespace", space))
                if tool.name is not None:
                    tool.names.add(("function", f"{space}__{tool.name}"))
            yield tool


def _messages_tools(body: Body) -> Iterator[Tool]:
    tools = body.get("tools")
    for index, entry in enumerate(tools if tools.__class__ is list else ()):
        at: Tokens = ("tools", index)
        kind = entry.get("type", "custom") if entry.__class__ is dict else None
        tool = Tool(at, at, entry, "input_schema", kind is None or kind == "custom")
        tool.plain = tool.plain and tool.parameters is not None
        yield tool


_READERS = {CHAT: _chat_tools, RESPONSES: _responses_tools, MESSAGES: _messages_tools}


def schema_at(tool: Tool, api: str | None) -> Tokens:
    """The place of a tool's schema."""
    return (*tool.inside, "input_schema" if api == MESSAGES else "parameters")


def read_choice(body: Body, api: str) -> Choice:
    """What a body says about calls; of a malformed choice, nothing."""
    choice = Choice()
    said = body.get("tool_choice")
    if api == MESSAGES:
        _read_messages_choice(choice, said)
        return choice
    parallel = body.get("parallel_tool_calls")
    if parallel.__class__ is bool:
        choice.parallel = parallel
    if said is None:
        return choice
    if said.__class__ is str and said in _MODES:
        choice.mode = said
        return choice
    choice.plain = False
    if said.__class__ is not dict:
        return choice
    entries = [said]
    choice.mode = "named"
    if said.get("type") == "allowed_tools":
        inner = said.get("allowed_tools")  # Chat has it one object further in
        inner = inner if inner.__class__ is dict else said
        choice.mode = "required" if inner.get("mode") == "required" else "auto"
        entries = _dicts(inner.get("tools"))
    choice.names = set()
    for entry in entries:
        kind = entry.get("type", "function")
        holder = entry.get("function") if api == CHAT and "function" in entry else entry
        name = holder.get("name") if holder.__class__ is dict else None
        if kind.__class__ is str and name.__class__ is str:
            choice.names.add((kind, name))
    return choice


def _read_messages_choice(choice: Choice, said: Any) -> None:
    if said is None:
        return
    kind = said.get("type") if said.__class__ is dict else None
    modes = {"auto": "auto", "any": "required", "none": "none", "tool": "named"}
    if kind.__class__ is not str or kind not in modes:
        choice.plain = False
        return
    choice.mode = modes[kind]
    if said.get("disable_parallel_tool_use") is True:
        choice.parallel = False
    if kind == "tool":
        choice.plain = False
        name = said.get("name")
        choice.names = {("function", name)} if name.__class__ is str else set()


def has_plain_rest(body: Body, api: str | None) -> bool:
    """Whether what else the full check looks at is absent or in everyday form."""
    if api == MESSAGES:
        return True
    if api == RESPONSES:
        text = body.get("text")
        form = text.get("format") if text.__class__ is dict else None
        return not _is_schema_form(form) or _is_plain_form(form)
    messages = body.get("messages")
    if messages.__class__ is list:
        for message in messages:
            if message.__class__ is dict and "tools" in message:
                return False
    form = body.get("response_format")
    return not _is_schema_form(form) or _is_plain_form(form.get("json_schema"))


def _is_schema_form(form: Any) -> TypeGuard[dict[str, Any]]:
    return form.__class__ is dict and form.get("type") == "json_schema"


def _is_plain_form(form: Any) -> bool:
    if form.__class__ is not dict:
        return False
    name, schema = form.get("name"), form.get("schema")
    return name.__class__ is str and name != "" and (schema is None or schema.__class__ is dict)


def has_format(body: Body, api: str) -> bool:
    """Whether a body asks for an answer of a certain form."""
    if api == CHAT:
        return _form(body.get("response_format"))
    if api == RESPONSES:
        text = body.get("text")
        return text.__class__ is dict and _form(text.get("format"))
    config = body.get("output_config")
    config = config if config.__class__ is dict else {}
    return _form(config.get("format")) or _form(body.get("output_format"))


def _form(value: Any) -> bool:
    return value.__class__ is dict and value.get("type", "text") != "text"


def _dicts(value: Any) -> list[Body]:
    return [m for m in value if m.__class__ is dict] if value.__class__ is list else []
