# ruff: noqa: ARG005 - some styles number their calls
"""Tool calls as the models write them, by xgrammar style: the texts that tags are tested with.

Written from the chat templates of the families, not from the grammars. Values in XML styles are
raw text for strings and JSON for all else.
"""

from __future__ import annotations

import json


def _json(value):
    return json.dumps(value, ensure_ascii=False)


def _raw(value):
    return value if isinstance(value, str) else _json(value)


def _kind(value):
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "object")


def _qwen(args):
    return "\n".join(f"<parameter={k}>\n{_raw(v)}\n</parameter>" for k, v in args.items())


def _minimax(args):
    return "".join(f'<parameter name="{k}">{_raw(v)}</parameter>\n' for k, v in args.items())


def _deepseek(args, gap=""):
    lines = (
        f'<｜DSML｜{gap}parameter name="{k}" string="{"true" if isinstance(v, str) else "false"}">'
        f"{_raw(v)}</｜DSML｜{gap}parameter>\n"
        for k, v in args.items()
    )
    return "".join(lines)


def _glm(args):
    return (
        "".join(
            f"\n<arg_key>{k}</arg_key>\n<arg_value>{_raw(v)}</arg_value>" for k, v in args.items()
        )
        + "\n"
    )


def _cohere(args):
    def kind(v):
        return {str: "raw", list: "list", dict: "dict"}.get(type(v), "json")

    def inner(v):
        if isinstance(v, dict):
            return "".join(
                f'<cofl:value name="{k}" type="{kind(w)}">{inner(w)}</cofl:value>'
                for k, w in v.items()
            )
        if isinstance(v, list):
            return "".join(f'<cofl:value type="{kind(w)}">{inner(w)}</cofl:value>' for w in v)
        return _raw(v)

    return inner(args)


def _kimi_k3(args):
    return "".join(
        f'<|open|>argument key="{k}" type="{_kind(v)}"<|sep|>{_raw(v)}<|close|>argument<|sep|>'
        for k, v in args.items()
    )


def _gemma(value):
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_gemma(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_gemma, value)) + "]"
    return _json(value)


_M3 = "]<]minimax[>["


def _minimax_m3(value):
    if isinstance(value, dict):
        return "".join(f"{_M3}<{k}>{_minimax_m3(v)}{_M3}</{k}>" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"{_M3}<item>{_minimax_m3(v)}{_M3}</item>" for v in value)
    return _raw(value)


#: content style → the text of the arguments.
ARGUMENTS = {
    "json": _json,
    "qwen_xml": _qwen,
    "minimax_xml": _minimax,
    "minimax_m3_xml": _minimax_m3,
    "deepseek_xml": _deepseek,
    "deepseek_v4_1_xml": lambda args: _deepseek(args, " "),
    "glm_xml": _glm,
    "cohere_xml": _cohere,
    "kimi_k3_xml": _kimi_k3,
    "gemma": _gemma,
}

_TOOLS = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_TOOL = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"


def _kimi_call(name, args, index):
    head = f"<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>"
    return f"{head}{_json(args)}<|tool_call_end|>"


def _dsml(name, args, gap):
    inner = _deepseek(args, gap)
    return f'<｜DSML｜{gap}invoke name="{name}">\n{inner}</｜DSML｜{gap}invoke>\n'


#: style → (text before the calls, one call, between two, text after them).
MARKUP = {
    "llama": ("", lambda n, a, i: f'{{"name": "{n}", "parameters": {_json(a)}}}', "", ""),
    "qwen_3": (
        "",
        lambda n, a, i: f'<tool_call>\n{{"name": "{n}", "arguments": {_json(a)}}}\n</tool_call>',
        "\n",
        "",
    ),
    "exaone": (
        "",
        lambda n, a, i: f'<tool_call>{{"name": "{n}", "arguments": {_json(a)}}}</tool_call>',
        "\n",
        "",
    ),
    "qwen_3_coder": (
        "",
        lambda n, a, i: f"<tool_call>\n<function={n}>\n{_qwen(a)}\n</function>\n</tool_call>",
        "\n",
        "",
    ),
    "mimo": (
        "",
        lambda n, a, i: f"<tool_call><function={n}>{_qwen(a)}</function></tool_call>",
        "",
        "",
    ),
    "kimi": ("<|tool_calls_section_begin|>", _kimi_call, "", "<|tool_calls_section_end|>"),
    "kimi_k3": (
        "<|close|>response<|sep|><|open|>tools<|sep|>",
        lambda n, a, i: (
            f'<|open|>call tool="{n}" index="{i + 1}"<|sep|>{_kimi_k3(a)}<|close|>call<|sep|>'
        ),
        "",
        "<|close|>tools<|sep|><|close|>message<|sep|>",
    ),
    "deepseek_r1": (
        _TOOLS[0],
        lambda n, a, i: f"{_TOOL[0]}function<｜tool▁sep｜>{n}\n```json\n{_json(a)}\n```{_TOOL[1]}",
        "\n",
        _TOOLS[1],
    ),
    "deepseek_v3_1": (
        _TOOLS[0],
        lambda n, a, i: f"{_TOOL[0]}{n}<｜tool▁sep｜>{_json(a)}{_TOOL[1]}",
        "",
        _TOOLS[1],
    ),
    "deepseek_v3_2": (
        "\n\n<｜DSML｜function_calls>\n",
        lambda n, a, i: _dsml(n, a, ""),
        "",
        "</｜DSML｜function_calls>",
    ),
    "deepseek_v4": (
        "\n\n<｜DSML｜tool_calls>\n",
        lambda n, a, i: _dsml(n, a, ""),
        "",
        "</｜DSML｜tool_calls>",
    ),
    "deepseek_v4_1": (
        "\n\n<｜DSML｜ calls>\n",
        lambda n, a, i: _dsml(n, a, " "),
        "",
        "</｜DSML｜ calls>",
    ),
    "minimax": (
        "\n<minimax:tool_call>\n",
        lambda n, a, i: f'<invoke name="{n}">\n{_minimax(a)}</invoke>\n',
        "",
        "</minimax:tool_call>",
    ),
    "minimax_m3": (
        f"{_M3}<tool_call>\n",
        lambda n, a, i: f'{_M3}<invoke name="{n}">{_minimax_m3(a)}{_M3}</invoke>\n',
        "",
        f"{_M3}</tool_call>",
    ),
    "glm_4_7": ("", lambda n, a, i: f"<tool_call>{n}{_glm(a)}</tool_call>", "", ""),
    "gemma_4": ("", lambda n, a, i: f"<|tool_call>call:{n}{_gemma(a)}<tool_call|>", "", ""),
    "cohere": (
        "<cofl:tool_calls>",
        lambda n, a, i: f'<cofl:tool_call id="{i}" name="{n}">{_cohere(a)}</cofl:tool_call>',
        "",
        "</cofl:tool_calls>",
    ),
    "harmony": (
        "",
        lambda n, a, i: (
            f"<|channel|>commentary to=functions.{n}<|constrain|>json<|message|>{_json(a)}<|call|>"
        ),
        "<|start|>assistant",
        "",
    ),
    "inkling": (
        "",
        lambda n, a, i: (
            f'<|content_invoke_tool_json|>{{"name": "{n}", "args": {_json(a)}}}<|end_message|>'
        ),
        "",
        "",
    ),
}
MARKUP["qwen_3_5"] = MARKUP["qwen_3_coder"]


def calls(style: str, *made: tuple[str, dict]) -> str:
    """The output of a model of that style that calls tools: (name, arguments) each."""
    before, call, between, after = MARKUP[style]
    return before + between.join(call(n, a, i) for i, (n, a) in enumerate(made)) + after


#: style → what stands in front of an answer that is no call, and behind it.
ANSWER = {
    "kimi_k3": ("", "<|close|>response<|sep|><|close|>message<|sep|>"),
    "harmony": ("<|channel|>final<|message|>", "<|return|>"),
}

#: Reasoning as the model writes it when the prompt has opened it (or, for some, has not).
REASONING = {
    "llama": "",
    "kimi_k3": "Hm.<|close|>think<|sep|><|open|>response<|sep|>",
    "mimo": "<think>Hm.</think>",
    "harmony": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant",
    "minimax_m3": "Hm.</mm:think>",
    "gemma_4": "<|channel>thought\nHm.<channel|>",
    "cohere": "Hm.<|END_THINKING|>",
    "inkling": "Hm.<|end_message|>",
    **dict.fromkeys(("qwen_3", "qwen_3_5", "qwen_3_coder", "minimax", "exaone"), "Hm.</think>\n\n"),
}


def reasoning(style: str) -> str:
    """A block of reasoning, up to where the call or the answer begins."""
    return REASONING.get(style, "Hm.</think>")


def answer(style: str, text: str) -> str:
    """The output of a model of that style that answers without a call."""
    before, after = ANSWER.get(style, ("", ""))
    return before + text + after
