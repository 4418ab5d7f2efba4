# ruff: noqa: RUF001 - DeepSeek spells its markers with full-width characters
"""The styles of tool calls: what xgrammar does not know about the markup that it writes.

xgrammar builds the markup of every style (`get_model_structural_tag`). Here is only what one needs
around it: which parser of a server reads which style, which names the markup can carry, which
strings open a call, and which of them are single tokens of the family's tokenizer.

Sources: the builders of xgrammar 0.2.9; chat templates of the families; the parser names of Dynamo
(Structural Tag documentation) and vLLM.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from schemaguard._frozen import Frozen
from schemaguard.request import MAX_NAME_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How a style writes arguments where it is not JSON: xgrammar's `style` of a `json_schema`.
JSON = "json"
GEMMA = "gemma"
MINIMAX_M3 = "minimax_m3_xml"
COHERE = "cohere_xml"
KIMI_K3 = "kimi_k3_xml"

#: One element a parameter, strings as raw text up to the end tag; JSON below the first level.
FLAT = frozenset(
    {"qwen_xml", "minimax_xml", "deepseek_xml", "deepseek_v4_1_xml", "glm_xml", KIMI_K3}
)
#: Markup at every level.
DEEP = frozenset({COHERE, GEMMA, MINIMAX_M3})

# What ends a name, by where the markup has it. Angle brackets begin every family's markers.
_IN_JSON = '"\\<>'
_IN_ATTRIBUTE = '"\\&<>'
_BARE = '"\\<> '


class Style(Frozen):
    """One style of tool calls.

    Attributes:
        name: xgrammar's key.
        content: how arguments are written; `style` of xgrammar's `json_schema` format.
        forbidden: characters that end a tool's name in this markup, or are read as something else.
        openers: strings that begin a call, or a part of one; banned when no call may be made.
        inner: those of them that xgrammar leaves to free text when calls are optional.
        trigger: what free text is left at instead, where xgrammar's trigger contains one of
            `inner`; None where it does not.
        tokens: strings of the markup that are single tokens of the family's tokenizer.
        reasons: the markup has a block of reasoning in front.
        composes: a call can be replaced by an answer that follows a schema.
    """

    __slots__ = (
        "composes",
        "content",
        "forbidden",
        "inner",
        "name",
        "openers",
        "reasons",
        "tokens",
        "trigger",
    )

    name: str
    content: str
    forbidden: str
    openers: tuple[str, ...]
    inner: tuple[str, ...]
    trigger: str | None
    tokens: tuple[str, ...]
    reasons: bool
    composes: bool

    def __init__(
        self,
        name: str,
        content: str,
        forbidden: str,
        openers: tuple[str, ...],
        *,
        inner: tuple[str, ...] = (),
        trigger: str | None = None,
        tokens: tuple[str, ...] = (),
        reasons: bool = True,
        composes: bool = True,
    ) -> None:
        self._fill(
            name=name,
            content=content,
            forbidden=forbidden,
            openers=openers,
            inner=inner,
            trigger=trigger,
            tokens=tokens,
            reasons=reasons,
            composes=composes,
        )

    @property
    def call_is_json(self) -> bool:
        """Whether a whole call is JSON, its name too: none can be spelt inside a string."""
        return self.content == JSON and self.forbidden == _IN_JSON

    def fault_of(self, name: str) -> str | None:
        """Why the markup cannot carry a tool's name, or None when it can.

        xgrammar pastes names as they are, so one with a quote or an angle bracket would be markup.
        """
        if not name.strip():
            return "it is empty"
        if len(name) > MAX_NAME_BYTES or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
            return f"it is longer than {MAX_NAME_BYTES} bytes"
        if not name.isprintable():
            return "it has a character that cannot be printed"
        if name != name.strip():
            return "it begins or ends with a space"
        bad = next((character for character in name if character in self.forbidden), None)
        if bad is not None:
            return f"{bad!r} is part of the markup of {self.name}"
        return None


_THINK = ("<think>", "</think>")
_TOOL_CALL = ("<tool_call>", "</tool_call>")
_DEEPSEEK = (
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
)
_KIMI = (
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
_GLM = (*_TOOL_CALL, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_M3 = "]<]minimax[>["
_INKLING = ("<|content_invoke_tool_json|>", "<|end_message|>")
_HARMONY = (
    "<|channel|>",
    "<|message|>",
    "<|constrain|>",
    "<|call|>",
    "<|end|>",
    "<|return|>",
    "<|start|>",
)


def _qwen_xml(name: str) -> Style:
    return Style(
        name,
        "qwen_xml",
        _BARE,
        ("<tool_call>", "<function="),
        inner=("<function=",),
        trigger="<tool_call>",
        tokens=(*_TOOL_CALL, *_THINK),
    )


def _deepseek_xml(name: str, content: str, gap: str) -> Style:
    return Style(
        name,
        content,
        _IN_ATTRIBUTE,
        ("<｜DSML｜",),
        inner=(f"<｜DSML｜{gap}invoke",),
        tokens=("｜DSML｜", *_THINK),
    )


_STYLES = (
    # The opener also begins an answer in JSON whose first member is `name`.
    Style("llama", JSON, _IN_JSON, ('{"name": ',), reasons=False),
    Style(
        "kimi",
        JSON,
        _BARE + ":",
        ("<|tool_calls_section_begin|>", "<|tool_call_begin|>"),
        tokens=(*_KIMI, *_THINK),
    ),
    Style(
        "kimi_k3",
        KIMI_K3,
        _IN_ATTRIBUTE,
        ("<|open|>tools<|sep|>", "<|open|>call "),
        tokens=("<|open|>", "<|close|>", "<|sep|>"),
        composes=False,
    ),
    Style(
        "deepseek_r1",
        JSON,
        _BARE + "｜`",
        (_DEEPSEEK[0], _DEEPSEEK[2]),
        inner=(_DEEPSEEK[2],),
        tokens=(*_DEEPSEEK, *_THINK),
    ),
    Style(
        "deepseek_v3_1",
        JSON,
        _BARE + "｜",
        (_DEEPSEEK[0], _DEEPSEEK[2]),
        inner=(_DEEPSEEK[2],),
        tokens=(*_DEEPSEEK, *_THINK),
    ),
    _deepseek_xml("deepseek_v3_2", "deepseek_xml", ""),
    _deepseek_xml("deepseek_v4", "deepseek_xml", ""),
    _deepseek_xml("deepseek_v4_1", "deepseek_v4_1_xml", " "),
    Style("qwen_3", JSON, _IN_JSON, ("<tool_call>",), tokens=(*_TOOL_CALL, *_THINK)),
    _qwen_xml("qwen_3_5"),
    _qwen_xml("qwen_3_coder"),
    Style("mimo", "qwen_xml", _BARE, ("<tool_call>", "<function="), tokens=(*_TOOL_CALL, *_THINK)),
    Style(
        "harmony",
        JSON,
        _BARE,
        ("<|channel|>commentary to=",),
        tokens=_HARMONY,
        reasons=False,
        composes=False,
    ),
    Style(
        "minimax",
        "minimax_xml",
        _IN_ATTRIBUTE,
        ("<minimax:tool_call>", "<invoke name="),
        inner=("<invoke name=",),
        tokens=("<minimax:tool_call>", "</minimax:tool_call>", *_THINK),
    ),
    Style(
        "minimax_m3",
        MINIMAX_M3,
        _IN_ATTRIBUTE,
        (f"{_M3}<tool_call>", f"{_M3}<invoke"),
        tokens=(_M3, "<mm:think>", "</mm:think>"),
    ),
    Style("glm_4_7", "glm_xml", _BARE, _GLM, tokens=(*_GLM, *_THINK)),
    Style(
        "gemma_4",
        GEMMA,
        _BARE + "{}:",
        ("<|tool_call>",),
        tokens=("<|tool_call>", "<tool_call|>", "<|channel>", "<channel|>", '<|"|>'),
    ),
    Style(
        "cohere",
        COHERE,
        _IN_ATTRIBUTE,
        ("<cofl:tool_calls>", "<cofl:tool_call "),
        inner=("<cofl:tool_call ",),
        tokens=("<|START_THINKING|>", "<|END_THINKING|>"),
    ),
    Style("exaone", JSON, _IN_JSON, ("<tool_call>",), tokens=(*_TOOL_CALL, *_THINK)),
    Style("inkling", JSON, _IN_JSON, (_INKLING[0],), tokens=_INKLING),
)

#: xgrammar's name → style; `inkling` is registered with xgrammar by this package.
STYLES: Mapping[str, Style] = MappingProxyType({style.name: style for style in _STYLES})

#: Parser of a server → name of its style. Every style is a parser of its own name, too.
PARSERS: Mapping[str, str] = MappingProxyType(
    {
        "hermes": "qwen_3",
        "qwen25": "qwen_3",
        "qwen3_coder": "qwen_3_coder",
        "nemotron_nano": "qwen_3_coder",
        "kimi_k2": "kimi",
        "kimi-k3": "kimi_k3",
        "glm47": "glm_4_7",
        **{name: name for name in STYLES},
    }
)

#: Styles whose markers a tag can name as tokens.
TOKEN_STYLES = frozenset({"glm_4_7", "inkling", "qwen_3", "qwen_3_5", "qwen_3_coder"})

#: vLLM's generic parser: it reads calls, but has no markup that a tag could be made of.
GENERIC = "hf"


def style_of(parser: str) -> Style | None:
    """The style that a parser reads; None for one that has no tag."""
    name = PARSERS.get(parser)
    return None if name is None else STYLES[name]
