"""Anthropic's Messages, seen as a Chat request: that is how servers of open models take them."""

from __future__ import annotations

import re

from schemaguard import data
from schemaguard.document import Document
from schemaguard.errors import MAX_FUNCTION_NAME, cut
from schemaguard.report import ERROR, WARNING, Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.handlers.tools import Body

_step = re.compile(r"/tools/(\d+)(/function)?(/parameters(?=/|$))?").match
_MODES = {"auto": "auto", "any": "required", "none": "none"}


class ChatView:
    """A Messages body as the Chat body that a server makes of it.

    Attributes:
        document: the Chat body; only what is looked at there.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._indices: list[int] = []
        self._unsupported: list[tuple[int, str]] = []
        tools = body.get("tools")
        # Names that are no strings, which only a parsed body can have, are said there.
        chat: Body = {key: None for key in body if key.__class__ is not str}
        chat["tools"] = tools
        if tools.__class__ is list:
            chat["tools"] = [
                entry for index, entry in enumerate(tools) for entry in self._tool(index, entry)
            ]
        chat["tool_choice"] = _chat_choice(body.get("tool_choice"))
        self.document = Document(chat)

    def _tool(self, index: int, entry: Any) -> Iterator[Any]:
        kind = entry.get("type", "custom") if entry.__class__ is dict else None
        if kind.__class__ is str and kind != "custom" and "input_schema" not in entry:
            self._unsupported.append((index, kind))
            return
        self._indices.append(index)
        if entry.__class__ is not dict:
            yield entry
            return
        function = {key: entry[key] for key in ("name", "strict") if key in entry}
        if "input_schema" in entry:
            function["parameters"] = entry["input_schema"]
        yield {"type": "function", "function": function}

    def pointer_in_body(self, pointer: str) -> str:
        """The pointer, in the Messages body, of what a pointer into the Chat body names."""
        match = _step(pointer)
        if match is None:
            return pointer.replace("/tool_choice/function", "/tool_choice", 1)
        index = self._indices[int(match[1])]
        schema = "/input_schema" if match[3] else ""
        return f"/tools/{index}{schema}{pointer[match.end() :]}"

    def diagnostics(self, document: Document, severity_of: Any) -> Iterator[Diagnostic]:
        """What is to be said that the Chat body does not show, with pointers into the body.

        Args:
            document: the Messages body.
            severity_of: code and usual severity of a rule → the severity that counts.
        """
        places = document.tokens_of_faults() if document.faults else {}
        for fault in document.faults:
            rule = data.rule_of(fault.name)
            filled = {"detail": fault.detail}
            there = places.get(fault.offset, ())
            yield Diagnostic(rule, severity_of(rule.code, ERROR), filled, None, there, fault.offset)
        for index, kind in self._unsupported:
            rule = data.rule_of("unsupported-tool-kind")
            filled = {"kind": cut(kind, MAX_FUNCTION_NAME)}
            there = ("tools", index, "type")
            usual = WARNING if _is_hosted(kind) else ERROR
            yield Diagnostic(rule, severity_of(rule.code, usual), filled, None, there)
        for index in self._indices:
            entry = self._body["tools"][index]
            if entry.__class__ is dict and entry.get("input_schema") is None:
                rule = data.rule_of("malformed-request")
                filled = {"what": "`input_schema`", "expected": "an object"}
                there = ("tools", index, "input_schema")
                yield Diagnostic(rule, severity_of(rule.code, ERROR), filled, None, there)


#: Tools that Anthropic defines have a dated type, like `computer_20250124`, and no schema.
_is_hosted = re.compile(r"\w+_20\d{6}|mcp_toolset").fullmatch


def _chat_choice(said: Any) -> Any:
    """The same choice in Chat's words; what has no such words stays as it is, and is named."""
    if said.__class__ is not dict:
        return said
    kind = said.get("type")
    if kind.__class__ is str and kind in _MODES:
        return _MODES[kind]
    if kind.__class__ is str and kind == "tool":
        return {"type": "function", "function": {"name": said.get("name")}}
    return "malformed"
