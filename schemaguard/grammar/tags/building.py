"""The tag itself: xgrammar's, with what it lacks put in.

xgrammar builds the markup from names; the schemas are put into its text afterwards, as they were
accepted, character for character. What is added here: the style `inkling`, arguments that are free
but still an object, the openers of calls that `tool_choice: none` bans, those that free text is
better without, an answer that follows a schema in place of a call, and tags that begin after the
reasoning.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from schemaguard.grammar import engine
from schemaguard.grammar.tags.reading import ANY_OBJECT
from schemaguard.grammar.tags.styles import GEMMA, KIMI_K3, MINIMAX_M3, Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Where a schema goes in the text of a tag. No name of a tool has a control character.
_SLOT = "\0"

_M3_END = "]<]minimax[>[</invoke>"

_registering = threading.Lock()


class Tool:
    """A tool on its way into a tag: its name, and the text of its schema; None for free."""

    __slots__ = ("name", "schema")

    def __init__(self, name: str, schema: str | None) -> None:
        self.name = name
        self.schema = schema


class Shape:
    """What a tag is to be, beyond its tools.

    Attributes:
        choice: "auto", "required", "none", or a chat `tool_choice` that names one tool.
        reasoning: "on", "off", "auto" or "backend".
        parallel: several calls may be made.
        any_order: arguments may come in any order.
        exclude: markers are kept out of free text; None is the style's default.
        max_whitespace: of JSON, in one place.
        token_markers: markers as tokens instead of text, where xgrammar knows them.
        answer: text of a schema that the answer follows when no tool is called; None for free text.
    """

    __slots__ = (
        "answer",
        "any_order",
        "choice",
        "exclude",
        "max_whitespace",
        "parallel",
        "reasoning",
        "token_markers",
    )

    def __init__(
        self,
        *,
        choice: str | dict[str, Any],
        reasoning: str,
        parallel: bool,
        any_order: bool,
        exclude: bool | None,
        max_whitespace: int | None,
        token_markers: bool,
        answer: str | None,
    ) -> None:
        self.choice = choice
        self.reasoning = reasoning
        self.parallel = parallel
        self.any_order = any_order
        self.exclude = exclude
        self.max_whitespace = max_whitespace
        self.token_markers = token_markers
        self.answer = answer


class Built:
    """A tag: its text, and the tokens that its markup is made of."""

    __slots__ = ("text", "tokens")

    def __init__(self, text: str, tokens: tuple[str, ...]) -> None:
        self.text = text
        self.tokens = tokens


def build(style: Style, tools: Sequence[Tool], shape: Shape) -> Built:
    """Build a tag.

    Raises:
        MissingExtra: xgrammar is not installed.
        ValueError: xgrammar has no tag for this.
    """
    tag = _xgrammar_tag(style, tools, shape)
    format_ = tag["format"]
    if shape.answer is not None:
        empty = _xgrammar_tag(style, (), shape, choice="auto")["format"]
        format_ = _or_answer(format_, empty, shape)
    if shape.reasoning == "backend" and style.reasons:
        format_ = _without_reasoning(format_)
    tag["format"] = format_
    if shape.choice == "none":
        _ban(style, format_)
    elif shape.exclude is not False:
        _keep_out(style, format_)
    if style.content == MINIMAX_M3:
        _free_text(format_, tools)
    if style.content == KIMI_K3 and shape.exclude is None:
        # xgrammar keeps markers out of strings in arguments, too, which costs 0.46 s of compile
        # time for every tool with a string below the first level.
        for inner in _formats(format_):
            if inner["type"] == "json_schema":
                inner["excludes"] = []
    schemas = [tool.schema for tool in tools]
    if shape.answer is not None:
        schemas.append(shape.answer)
    return Built(_with_schemas(tag, schemas), _tokens(style, format_))


def refusal_of(style: Style, schema: str, shape: Shape) -> str | None:
    """What xgrammar says against a schema in a style, or None; no vocabulary is needed for that.

    Raises:
        MissingExtra: xgrammar is not installed.
    """
    format_ = {
        "type": "json_schema",
        "json_schema": {_SLOT: 0},
        "style": style.content,
        "any_order": shape.any_order,
        "max_whitespace_cnt": shape.max_whitespace,
    }
    text = _with_schemas({"type": "structural_tag", "format": format_}, [schema])
    try:
        engine.xgrammar().Grammar.from_structural_tag(text)
    except (RuntimeError, ValueError, TypeError, MemoryError, OverflowError) as error:
        return engine.explain(error)[0]
    return None


def _xgrammar_tag(
    style: Style, tools: Sequence[Tool], shape: Shape, *, choice: str | None = None
) -> dict[str, Any]:
    """The tag that xgrammar makes, with a number in place of each schema."""
    xgrammar = engine.xgrammar()
    _register(xgrammar)
    reasoning = {"on": "enabled", "off": "disabled", "auto": "auto", "backend": "enabled"}
    mode = reasoning[shape.reasoning]
    if shape.reasoning == "backend" and not style.reasons:
        mode = "disabled"
    declared = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "parameters": ANY_OBJECT if tool.schema is None else {_SLOT: index},
            },
        }
        for index, tool in enumerate(tools)
    ]
    tag: dict[str, Any] = xgrammar.get_model_structural_tag(
        style.name,
        declared,
        shape.choice if choice is None else choice,
        reasoning=mode,
        any_order=shape.any_order,
        exclude_special_tokens=shape.exclude is not False,
        max_whitespace_cnt=shape.max_whitespace,
        parallel_tool_calls=shape.parallel,
        token_markers=shape.token_markers,
    ).model_dump(mode="json")
    return tag


def _formats(format_: Any) -> Iterator[dict[str, Any]]:
    """Every format inside a format, itself first. Schemas are not looked into."""
    stack = [format_]
    while stack:
        value = stack.pop()
        if value.__class__ is dict:
            if "type" in value:
                yield value
            stack.extend(inner for key, inner in reversed(value.items()) if key != "json_schema")
        elif value.__class__ is list:
            stack.extend(reversed(value))


def _with_schemas(tag: dict[str, Any], schemas: list[str | None]) -> str:
    """The text of a tag, with the texts of its schemas in their slots."""
    for format_ in _formats(tag["format"]):
        schema = format_.get("json_schema")
        if schema.__class__ is dict and _SLOT in schema:
            format_["json_schema"] = f"{_SLOT}{schema[_SLOT]}{_SLOT}"
    slot = json.dumps(_SLOT)[1:-1]
    parts = json.dumps(tag, separators=(",", ":")).split(slot)
    # text "slot number slot" text …: the odd parts are numbers, and quotes are around the slots.
    for index in range(1, len(parts), 2):
        parts[index - 1] = parts[index - 1][:-1]
        parts[index + 1] = parts[index + 1][1:]
        parts[index] = schemas[int(parts[index])] or ""
    return "".join(parts)


# ------------------------------------------------------------------------------------------------
# What xgrammar lacks
# ------------------------------------------------------------------------------------------------


def _ban(style: Style, format_: dict[str, Any]) -> None:
    """No call at all: keep what begins one out of all text."""
    for inner in _formats(format_):
        if inner["type"] == "any_text":
            inner["excludes"] += [text for text in style.openers if text not in inner["excludes"]]


def _keep_out(style: Style, format_: dict[str, Any]) -> None:
    """Calls that are optional: keep parts of calls out of the text around them.

    xgrammar leaves text at its trigger alone, so that a call which begins in another way is text
    to the grammar and perhaps a call to the parser.
    """
    if not style.inner:
        return
    for inner in _formats(format_):
        if inner["type"] == "triggered_tags":
            if style.trigger is not None:
                inner["triggers"] = [style.trigger]
            inner["excludes"] += [text for text in style.inner if text not in inner["excludes"]]


def _free_text(format_: dict[str, Any], tools: Sequence[Tool]) -> None:
    """Free arguments in minimax_m3, which has no markup for any value: text up to the end tag."""
    if all(tool.schema is not None for tool in tools):
        return
    for inner in _formats(format_):
        if inner["type"] == "tag" and inner["content"].get("json_schema") == ANY_OBJECT:
            inner["content"] = {"type": "any_text", "excludes": [_M3_END]}


def _or_answer(format_: dict[str, Any], empty: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Calls, or an answer that follows a schema; behind the reasoning, if there is any.

    Args:
        format_: of a tag that requires calls.
        empty: of the same tag without tools: what is in front of its free text is the reasoning.
        shape: has the schema of the answer, whose slot is the one after those of the tools.
    """
    before = len(empty["elements"]) - 1 if empty["type"] == "sequence" else 0
    elements = format_["elements"] if before else [format_]
    rest = elements[before:]
    calls = rest[0] if len(rest) == 1 else {"type": "sequence", "elements": rest}
    answer = {
        "type": "json_schema",
        "json_schema": {_SLOT: -1},
        "max_whitespace_cnt": shape.max_whitespace,
    }
    either = {"type": "or", "elements": [calls, answer]}
    return {"type": "sequence", "elements": [*elements[:before], either]} if before else either


def _without_reasoning(format_: dict[str, Any]) -> dict[str, Any]:
    """A tag for a server that starts it when the reasoning has ended.

    What a style writes between its reasoning and the rest stays.
    """
    first, *rest = format_["elements"]
    if first["type"] == "sequence":
        rest = first["elements"][1:] + rest
    return rest[0] if len(rest) == 1 else {"type": "sequence", "elements": rest}


def _tokens(style: Style, format_: dict[str, Any]) -> tuple[str, ...]:
    """The family's tokens that the markup of a tag writes, and those that it names as tokens."""
    written: list[str] = []
    named: dict[str, None] = {}
    inside = False
    for inner in _formats(format_):
        inside = inside or inner["type"] == "json_schema"
        for key in ("begin", "end", "value", "separator", "triggers"):
            text = inner.get(key)
            written += text if text.__class__ is list else [text] if text.__class__ is str else []
        token = inner.get("token")
        for name in ([token], inner.get("trigger_tokens"), inner.get("exclude_tokens")):
            named.update((text, None) for text in name or () if text.__class__ is str)
    if inside and style.content == GEMMA:
        written.append('<|"|>')
    found = [text for text in style.tokens if text in named or any(text in w for w in written)]
    return tuple(found + [text for text in named if text not in found])


# ------------------------------------------------------------------------------------------------
# Inkling, which xgrammar does not have
# ------------------------------------------------------------------------------------------------

_INVOKE = "<|content_invoke_tool_json|>"
_MESSAGE_END = "<|end_message|>"


def _register(xgrammar: Any) -> None:
    """Register `inkling` with xgrammar, unless it has one of its own by now."""
    with _registering:
        try:
            xgrammar.get_model_structural_tag("inkling")
        except ValueError:
            _register_inkling(xgrammar)


def _register_inkling(xgrammar: Any) -> None:
    from xgrammar import structural_tag as formats  # noqa: PLC0415 - seconds to import: on use

    def call(function: Any, *, any_order: bool, max_whitespace_cnt: int | None) -> Any:
        free = function.strict is False or function.parameters is None
        return formats.TagFormat(
            begin=f'{_INVOKE}{{"name": "{function.name}", "args": ',
            content=formats.JSONSchemaFormat(
                json_schema=True if free else function.parameters,
                any_order=any_order,
                max_whitespace_cnt=max_whitespace_cnt,
            ),
            end="}" + _MESSAGE_END,
        )

    @xgrammar.register_model_structural_tag("inkling", marker_tokens=[_INVOKE, _MESSAGE_END])
    def inkling(  # type: ignore[no-untyped-def]  # noqa: ANN202 - xgrammar's signature
        tools=None,  # noqa: ANN001
        builtin_tools=None,  # noqa: ANN001
        tool_choice="auto",  # noqa: ANN001
        reasoning="enabled",  # noqa: ANN001
        *,
        any_order=False,  # noqa: ANN001
        exclude_special_tokens=True,  # noqa: ANN001
        max_whitespace_cnt=None,  # noqa: ANN001
        parallel_tool_calls=True,  # noqa: ANN001
        **_,  # noqa: ANN003
    ):
        """Inkling: `<|content_invoke_tool_json|>{"name": …, "args": …}<|end_message|>`."""
        if builtin_tools:
            raise ValueError("inkling has no markup for builtin tools")
        options = {"any_order": any_order, "max_whitespace_cnt": max_whitespace_cnt}
        tags = [call(tool.function, **options) for tool in tools or ()]
        suffix: Any
        if not tags:
            suffix = formats.AnyTextFormat()
        elif tool_choice == "forced":
            suffix = tags[0]
        else:
            suffix = formats.TriggeredTagsFormat(
                triggers=[_INVOKE],
                tags=tags,
                at_least_one=tool_choice == "required",
                stop_after_first=not parallel_tool_calls,
            )
        if reasoning == "disabled":
            return formats.StructuralTag(format=suffix)
        # The prompt has opened the reasoning; a message of its own ends it.
        thought = formats.TagFormat(
            begin="",
            content=formats.AnyTextFormat(excludes=[_INVOKE] if exclude_special_tokens else []),
            end=_MESSAGE_END,
        )
        prefix = formats.OptionalFormat(content=thought) if reasoning == "auto" else thought
        return formats.StructuralTag(format=formats.SequenceFormat(elements=[prefix, suffix]))
