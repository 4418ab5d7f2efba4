# ruff: noqa: RUF001 - DeepSeek spells its markers with full-width characters
"""Arguments as models of each style write them, from the chat templates of the families.

What is written here is a proposal: whether it says what it should is for `unmarking` to tell.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import calls, spelling
from schemaguard.grammar.audit.declared import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schemaguard.grammar.audit.declared import Declared

    Dumps = Callable[[Any], str]

# A piece of text, or a value that is still to be written, with what is declared for it.
_Item = str | tuple[Any, "Declared | None"]

_M3 = "]<]minimax[>["


def arguments(
    content: str,
    value: dict[str, Any],
    declared: Declared,
    dumps: Dumps,
    *,
    tight: bool = False,
    backwards: bool = False,
) -> str:
    """The text of arguments.

    Args:
        content: how they are written; see `calls`.
        value: the arguments.
        declared: for them.
        dumps: JSON of what is not written as text.
        tight: without white space that the templates have and parsers do not need.
        backwards: the last parameter first.

    Raises:
        Unspeakable: there is no text.
    """
    members = list(value.items())
    if backwards:
        members.reverse()
    return joined(content, elements(content, members, declared, dumps, tight=tight), tight=tight)


def elements(
    content: str,
    members: Iterable[tuple[str, Any]],
    declared: Declared,
    dumps: Dumps,
    *,
    tight: bool = False,
) -> list[str]:
    """The text of each parameter."""
    written = [
        _parameter(content, name, member, declared.member(name), dumps, tight=tight)
        for name, member in members
    ]
    if sum(map(len, written)) > spelling.MAX_CHARS:
        raise spelling.Unspeakable
    return written


def joined(content: str, parameters: list[str], *, tight: bool = False) -> str:
    """Parameters as one text."""
    if content == calls.GEMMA:
        return "{" + ",".join(parameters) + "}"
    if tight or content in (calls.KIMI_K3, calls.COHERE, calls.MINIMAX_M3):
        return "".join(parameters)
    if content == calls.QWEN:
        return "\n".join(parameters)
    if content == calls.GLM:
        return "".join(f"\n{text}" for text in parameters) + "\n"
    return "".join(f"{text}\n" for text in parameters)


def _parameter(
    content: str, name: str, value: Any, declared: Declared, dumps: Dumps, *, tight: bool
) -> str:
    if content in _DEEP:
        return _written(content, _DEEP[content](name, value, declared), dumps)
    line = "" if tight else "\n"
    text = value if isinstance(value, str) else dumps(value)
    if content in (calls.DSML, calls.DSML_GAP):
        gap = " " if content == calls.DSML_GAP else ""
        is_text = str(isinstance(value, str)).lower()
        begin = f'<｜DSML｜{gap}parameter name="{name}" string="{is_text}">'
        return f"{begin}{text}</｜DSML｜{gap}parameter>"
    if content == calls.KIMI_K3:
        key = name.replace("&", "&amp;").replace('"', "&quot;")
        begin = f'<|open|>argument key="{key}" type="{kind_of(value)}"<|sep|>'
        return f"{begin}{text}<|close|>argument<|sep|>"
    if isinstance(value, str) and "string" not in declared.types:
        text = dumps(value)  # a reader takes it for JSON
    if content == calls.QWEN:
        return f"<parameter={name}>{line}{text}{line}</parameter>"
    if content == calls.MINIMAX:
        return f'<parameter name="{name}">{text}</parameter>'
    return f"<arg_key>{name}</arg_key>{line}<arg_value>{text}</arg_value>"


# Markup at every level ---------------------------------------------------------------------------


def _cohere(name: str | None, value: Any, declared: Declared) -> list[_Item]:
    kind = {"string": "raw", "array": "list", "object": "dict"}.get(kind_of(value), "json")
    named = "" if name is None else f' name="{escape(name, quote=True)}"'
    return [f'<cofl:value{named} type="{kind}">', (value, declared), "</cofl:value>"]


def _gemma(name: str | None, value: Any, declared: Declared) -> list[_Item]:
    return [(value, declared)] if name is None else [f"{name}:", (value, declared)]


def _minimax_m3(name: str | None, value: Any, declared: Declared) -> list[_Item]:
    tag = "item" if name is None else name
    return [f"{_M3}<{tag}>", (value, declared), f"{_M3}</{tag}>"]


_DEEP: dict[str, Callable[[str | None, Any, Declared], list[_Item]]] = {
    calls.COHERE: _cohere,
    calls.GEMMA: _gemma,
    calls.MINIMAX_M3: _minimax_m3,
}


def _written(content: str, items: list[_Item], dumps: Dumps) -> str:
    """The text of items, and of what is inside of them."""
    element = _DEEP[content]
    gemma = content == calls.GEMMA
    parts: list[str] = []
    stack = items[::-1]
    size = 0
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            size += len(item)
            if size > spelling.MAX_CHARS:
                raise spelling.Unspeakable
            continue
        value, declared = item
        if declared is None or not isinstance(value, (dict, list)):
            stack.append(_scalar(content, value, declared, dumps))
            continue
        inner: list[_Item] = []
        members: Iterable[tuple[Any, Any]] = (
            value.items() if isinstance(value, dict) else enumerate(value)
        )
        for key, member in members:
            if gemma and inner:
                inner.append(",")
            if isinstance(value, dict):
                inner += element(key, member, declared.member(key))
            else:
                inner += element(None, member, declared.item(key))
        if gemma:
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            inner = [opening, *inner, closing]
        stack.extend(reversed(inner))
    return "".join(parts)


def _scalar(content: str, value: Any, declared: Declared | None, dumps: Dumps) -> str:
    if not isinstance(value, str):
        return dumps(value)
    if content == calls.GEMMA:
        return f'<|"|>{value}<|"|>'
    quoted = content == calls.MINIMAX_M3 and declared and "string" not in declared.types
    return dumps(value) if quoted else value
