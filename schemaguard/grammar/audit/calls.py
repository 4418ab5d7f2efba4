# ruff: noqa: RUF001 - DeepSeek spells its markers with full-width characters
"""What stands around the arguments of a call, by style: see docs/audit.md, "Styles".

One call of one tool, nothing in front of it. Written down here from the chat templates of the
families, so that what is audited is what they write: an engine that writes a style in another way
is found out when its grammar does not take the text before the arguments.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from schemaguard._frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The name of the tool whose arguments are audited.
TOOL = "f"

#: How arguments are written.
JSON = "json"
QWEN = "qwen"
MINIMAX = "minimax"
DSML = "dsml"
DSML_GAP = "dsml, with a space"
GLM = "glm"
KIMI_K3 = "kimi_k3"
COHERE = "cohere"
GEMMA = "gemma"
MINIMAX_M3 = "minimax_m3"


class Call(Frozen):
    """A call in one style.

    Attributes:
        style: its name.
        content: how the arguments are written.
        before: text of the output in front of the arguments.
        after: text of the output behind them, to its end.
    """

    __slots__ = ("after", "before", "content", "style")

    style: str
    content: str
    before: str
    after: str

    def __init__(self, style: str, content: str, before: str, after: str) -> None:
        self._fill(style=style, content=content, before=before, after=after)


_M3 = "]<]minimax[>["


def _dsml(style: str, block: str, content: str = DSML) -> Call:
    gap = " " if content == DSML_GAP else ""
    before = f'\n\n<｜DSML｜{gap}{block}>\n<｜DSML｜{gap}invoke name="{TOOL}">\n'
    return Call(style, content, before, f"</｜DSML｜{gap}invoke>\n</｜DSML｜{gap}{block}>")


def _qwen(style: str) -> Call:
    before = f"<tool_call>\n<function={TOOL}>\n"
    return Call(style, QWEN, before, "\n</function>\n</tool_call>")


_CALLS = (
    Call("llama", JSON, f'{{"name": "{TOOL}", "parameters": ', "}"),
    Call(
        "kimi",
        JSON,
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{TOOL}:0"
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|><|tool_calls_section_end|>",
    ),
    Call(
        "kimi_k3",
        KIMI_K3,
        f'<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="{TOOL}" index="0"<|sep|>',
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
    ),
    Call(
        "deepseek_r1",
        JSON,
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{TOOL}\n```json\n",
        "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    Call(
        "deepseek_v3_1",
        JSON,
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{TOOL}<｜tool▁sep｜>",
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    _dsml("deepseek_v3_2", "function_calls"),
    _dsml("deepseek_v4", "tool_calls"),
    _dsml("deepseek_v4_1", "calls", DSML_GAP),
    Call(
        "qwen_3",
        JSON,
        f'<tool_call>\n{{"name": "{TOOL}", "arguments": ',
        "}\n</tool_call>",
    ),
    _qwen("qwen_3_5"),
    _qwen("qwen_3_coder"),
    Call("mimo", QWEN, f"<tool_call><function={TOOL}>", "</function></tool_call>"),
    Call(
        "harmony",
        JSON,
        f"<|channel|>commentary to=functions.{TOOL}<|constrain|>json<|message|>",
        "<|call|>",
    ),
    Call(
        "minimax",
        MINIMAX,
        f'\n</think>\n\n\n\n\n<minimax:tool_call>\n<invoke name="{TOOL}">\n',
        "</invoke>\n</minimax:tool_call>",
    ),
    Call(
        "minimax_m3",
        MINIMAX_M3,
        f'{_M3}<tool_call>\n{_M3}<invoke name="{TOOL}">',
        f"{_M3}</invoke>\n{_M3}</tool_call>",
    ),
    Call("glm_4_7", GLM, f"<tool_call>{TOOL}", "</tool_call>"),
    Call("gemma_4", GEMMA, f"<|tool_call>call:{TOOL}", "<tool_call|>"),
    Call(
        "cohere",
        COHERE,
        f'<cofl:tool_calls><cofl:tool_call id="0" name="{TOOL}">',
        "</cofl:tool_call></cofl:tool_calls>",
    ),
    Call(
        "exaone",
        JSON,
        f'<tool_call>{{"name": "{TOOL}", "arguments": ',
        "}</tool_call>",
    ),
    Call(
        "inkling",
        JSON,
        f'<|content_invoke_tool_json|>{{"name": "{TOOL}", "args": ',
        "}<|end_message|>",
    ),
)

#: Style → its call.
CALLS: Mapping[str, Call] = MappingProxyType({call.style: call for call in _CALLS})
