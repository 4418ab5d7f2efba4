"""Readers of tool calls as models of each style write them, by the name of the style.

Written from the chat templates of the families and the parsers of servers, for tests that let a
model write calls: nothing here knows a grammar. A reader takes a whole output with one call, and
gives the tool's name and its arguments, or raises `ValueError`. Where the markup has no types, the
parameters of the tool decide, as they do for servers.
"""

from __future__ import annotations

import json
import re
from typing import Any


def read(style: str, text: str, tools: dict[str, dict], *, strip: bool = True) -> tuple[str, Any]:
    """The one call in an output.

    Args:
        style: which markup.
        text: the whole output.
        tools: name → schema of the parameters.
        strip: white space around a string without quotes belongs to the markup.

    Raises:
        ValueError: the text is not exactly one call of a tool that is there.
    """
    pattern, arguments = STYLES[style]
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        raise ValueError("no call")
    groups = found.groupdict()
    name = groups["name"] or groups.get("other_name")
    if name not in tools:
        raise ValueError(f"no tool {name!r}")
    made = arguments(found["args"], tools[name])
    return name, stripped(made) if strip and arguments is not plain_json else made


def stripped(made: Any) -> Any:
    """The arguments with white space taken off the ends of strings."""
    if isinstance(made, dict):
        return {key: stripped(item) for key, item in made.items()}
    if isinstance(made, list):
        return [stripped(item) for item in made]
    return made.strip() if isinstance(made, str) else made


# Arguments --------------------------------------------------------------------------------------


def plain_json(text: str, _schema: Any = None) -> Any:
    """JSON (RFC 8259), each name once."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a name is there twice")
        return dict(pairs)

    def never(text: str) -> None:
        raise ValueError(f"{text} is no JSON")

    return json.loads(text, object_pairs_hook=unique, parse_constant=never)


def is_text(schema: dict) -> bool:
    """Whether a server reads a value of this schema as it stands."""
    if "enum" in schema:
        return all(isinstance(value, str) for value in schema["enum"])
    return schema.get("type") == "string"


def value(text: str, schema: dict) -> Any:
    """A value without quotes: text where the schema says so, else JSON."""
    return text if is_text(schema) else plain_json(text)


def elements(opening: str, closing: str, *, lines: bool = False) -> Any:
    """A reader of one element a parameter; with `lines`, a value has its lines to itself."""

    def read_all(text: str, schema: dict) -> dict[str, Any]:
        found: dict[str, Any] = {}
        at = 0
        text = text.rstrip()
        while at < len(text):
            start = re.compile(r"\s*" + opening).match(text, at)
            if start is None:
                raise ValueError("no parameter")
            end = text.find(closing, start.end())
            key, raw = start["key"], text[start.end() : end]
            at = end + len(closing)
            if end < 0 or key in found:
                raise ValueError("a parameter is open, or there twice")
            if key not in schema["properties"]:
                raise ValueError("a parameter that is not declared")
            if lines:
                raw = raw.removeprefix("\n").removesuffix("\n")
            found[key] = value(raw, schema["properties"][key])
        return found

    return read_all


def typed(text: str, _schema: dict) -> dict[str, Any]:
    """Kimi K3: the type is in the element."""
    found: dict[str, Any] = {}
    pattern = r'<\|open\|>argument key="([^"]*)" type="([a-z]+)"<\|sep\|>(.*?)'
    pattern += r"<\|close\|>argument<\|sep\|>"
    rest = re.sub(
        pattern, lambda m: found.update({m[1]: (m[2], m[3])}) or "", text, flags=re.DOTALL
    )
    if rest.strip():
        raise ValueError("text between arguments")
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    for key, (kind, raw) in found.items():
        found[key] = raw if kind == "string" else plain_json(raw)
        actual = "null" if found[key] is None else kinds.get(type(found[key]), "object")
        if actual != kind:
            found[key] = {"value": found[key], "but called": kind}
    return found


def deepseek(gap: str) -> Any:
    """DSML: the element says whether its value is a string."""

    def read_all(text: str, _schema: dict) -> dict[str, Any]:
        found: dict[str, Any] = {}
        pattern = rf'\s*<｜DSML｜{gap}parameter name="([^"]*)" string="(true|false)">(.*?)'
        pattern += rf"</｜DSML｜{gap}parameter>\s*"
        at = 0
        while at < len(text):
            m = re.compile(pattern, re.DOTALL).match(text, at)
            if m is None or m[1] in found:
                raise ValueError("no parameter, or one twice")
            found[m[1]] = m[3] if m[2] == "true" else plain_json(m[3])
            at = m.end()
        return found

    return read_all


def glm(text: str, schema: dict) -> dict[str, Any]:
    """GLM: keys and values in turns."""
    found: dict[str, Any] = {}
    pattern = r"\s*<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>\s*"
    at = 0
    while at < len(text):
        m = re.compile(pattern, re.DOTALL).match(text, at)
        if m is None or m[1] in found or m[1] not in schema["properties"]:
            raise ValueError("no pair, or one that does not belong here")
        found[m[1]] = value(m[2], schema["properties"][m[1]])
        at = m.end()
    return found


class Cursor:
    """A place in a text, for the markups that nest."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, pattern: str) -> re.Match[str]:
        m = self.maybe(pattern)
        if m is None:
            raise ValueError(f"expected {pattern} at {self.text[self.at : self.at + 20]!r}")
        return m

    def maybe(self, pattern: str) -> re.Match[str] | None:
        m = re.compile(pattern, re.DOTALL).match(self.text, self.at)
        if m is not None:
            self.at = m.end()
        return m

    def end(self) -> None:
        if self.text[self.at :].strip():
            raise ValueError("text behind the end")


def cohere(text: str, _schema: dict) -> Any:
    """Cohere: typed elements at every level."""
    cursor = Cursor(text)

    def members() -> list[tuple[str | None, Any]]:
        found = []
        while (
            m := cursor.maybe(r'\s*<cofl:value(?: name="([^"]*)")? type="([a-z]+)">')
        ) is not None:
            if m[2] in {"dict", "list"}:
                inner = members()
                named = m[2] == "dict"
                if any((key is None) is named for key, _ in inner):
                    raise ValueError("a name too many or too few")
                made: Any = dict(inner) if named else [item for _, item in inner]
                cursor.take(r"\s*</cofl:value>\s*")
            else:
                raw = cursor.take(r"(.*?)</cofl:value>\s*")[1]
                made = raw if m[2] == "raw" else plain_json(raw)
            found.append((m[1], made))
        return found

    found = members()
    cursor.end()
    if len(dict(found)) != len(found) or None in dict(found):
        raise ValueError("a parameter is there twice, or has no name")
    return dict(found)


def gemma(text: str, _schema: dict) -> Any:
    """Gemma: JSON without quotes at names, and with its own around strings."""
    cursor = Cursor(text)

    def item() -> Any:
        if cursor.maybe(r"\s*\{\s*"):
            made: dict[str, Any] = {}
            while not cursor.maybe(r"\s*\}\s*"):
                if made:
                    cursor.take(r"\s*,\s*")
                key = cursor.take(r"([^:{}\[\],<\s]+)\s*:\s*")[1]
                if key in made:
                    raise ValueError("a name is there twice")
                made[key] = item()
            return made
        if cursor.maybe(r"\s*\[\s*"):
            listed: list[Any] = []
            while not cursor.maybe(r"\s*\]\s*"):
                if listed:
                    cursor.take(r"\s*,\s*")
                listed.append(item())
            return listed
        if m := cursor.maybe(r'<\|"\|>(.*?)<\|"\|>'):
            return m[1]
        return plain_json(cursor.take(r"[^,{}\[\]<]+")[0])

    made = item()
    cursor.end()
    return made


M3 = re.escape("]<]minimax[>[")


def minimax_m3(text: str, schema: dict) -> Any:
    """MiniMax M3: elements at every level, values without types."""
    cursor = Cursor(text)

    def inside(schema: dict) -> Any:
        if schema.get("type") == "object":
            made: dict[str, Any] = {}
            while m := cursor.maybe(rf"\s*{M3}<(?!/)([^>]+)>"):
                key = m[1]
                if key in made or key not in schema["properties"]:
                    raise ValueError("a name that does not belong here")
                made[key] = inside(schema["properties"][key])
                cursor.take(rf"\s*{M3}</{re.escape(key)}>\s*")
            return made
        if schema.get("type") == "array":
            listed = []
            while cursor.maybe(rf"\s*{M3}<item>"):
                listed.append(inside(schema["items"]))
                cursor.take(rf"\s*{M3}</item>\s*")
            return listed
        return value(cursor.take(rf"(.*?)(?={M3})")[1], schema)

    # The end of the last element stands before the end of the call.
    made = inside(schema)
    cursor.end()
    return made


# Calls ------------------------------------------------------------------------------------------

NAME = r"(?P<name>[\w-]+)"
ARGS = r"(?P<args>.*)"
_QWEN = elements(r"<parameter=(?P<key>[^>]+)>", "</parameter>", lines=True)
_PIPE = {
    "b": r"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>",
    "e": r"<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
}


def _dsml(block: str, gap: str) -> str:
    return (
        rf"\n\n<｜DSML｜{gap}{block}>\n<｜DSML｜{gap}invoke name=\"{NAME}\">\n{ARGS}"
        rf"</｜DSML｜{gap}invoke>\n</｜DSML｜{gap}{block}>"
    )


#: style → pattern of an output with one call, and the reader of its arguments.
STYLES = {
    "llama": (rf'{{"name": "{NAME}", "parameters": {ARGS}}}', plain_json),
    "qwen_3": (
        rf'<tool_call>\n{{"name": "{NAME}", "arguments": {ARGS}}}\n</tool_call>',
        plain_json,
    ),
    "exaone": (rf'<tool_call>{{"name": "{NAME}", "arguments": {ARGS}}}</tool_call>', plain_json),
    "inkling": (
        rf'<\|content_invoke_tool_json\|>{{"name": "{NAME}", "args": {ARGS}}}<\|end_message\|>',
        plain_json,
    ),
    "kimi": (
        (
            rf"<\|tool_calls_section_begin\|><\|tool_call_begin\|>functions\.{NAME}:\d+"
            rf"<\|tool_call_argument_begin\|>{ARGS}<\|tool_call_end\|><\|tool_calls_section_end\|>"
        ),
        plain_json,
    ),
    "deepseek_r1": (
        rf"{_PIPE['b']}function<｜tool▁sep｜>{NAME}\n```json\n{ARGS}\n```{_PIPE['e']}",
        plain_json,
    ),
    "deepseek_v3_1": (rf"{_PIPE['b']}{NAME}<｜tool▁sep｜>{ARGS}{_PIPE['e']}", plain_json),
    "harmony": (
        (
            rf"(?:<\|channel\|>commentary to=functions\.{NAME}<\|constrain\|>json"
            rf"| to=functions\.(?P<other_name>[\w-]+)<\|channel\|>commentary (?:<\|constrain\|>)?json)"
            rf"<\|message\|>{ARGS}<\|call\|>"
        ),
        plain_json,
    ),
    "qwen_3_5": (rf"<tool_call>\n<function={NAME}>\n{ARGS}\n</function>\n</tool_call>", _QWEN),
    "mimo": (rf"<tool_call><function={NAME}>{ARGS}</function></tool_call>", _QWEN),
    "minimax": (
        (
            rf'(?:\n</think>\n\n\n\n)?\n<minimax:tool_call>\n<invoke name="{NAME}">\n{ARGS}</invoke>\n'
            r"</minimax:tool_call>"
        ),
        elements(r'<parameter name="(?P<key>[^"]+)">', "</parameter>"),
    ),
    "deepseek_v3_2": (_dsml("function_calls", ""), deepseek("")),
    "deepseek_v4": (_dsml("tool_calls", ""), deepseek("")),
    "deepseek_v4_1": (_dsml("calls", " "), deepseek(" ")),
    "glm_4_7": (r"<tool_call>(?P<name>[\w-]+?)(?P<args>\s*<arg_key>.*|\s*)</tool_call>", glm),
    "kimi_k3": (
        (
            r"[^<]*<\|close\|>response<\|sep\|><\|open\|>tools<\|sep\|>"
            rf'<\|open\|>call tool="{NAME}" index="\d+"<\|sep\|>{ARGS}<\|close\|>call<\|sep\|>'
            r"<\|close\|>tools<\|sep\|><\|close\|>message<\|sep\|>"
        ),
        typed,
    ),
    "cohere": (
        (
            rf'<cofl:tool_calls><cofl:tool_call id="\d+" name="{NAME}">{ARGS}</cofl:tool_call>'
            r"</cofl:tool_calls>"
        ),
        cohere,
    ),
    "gemma_4": (rf"<\|tool_call>call:{NAME}(?P<args>\{{.*)<tool_call\|>", gemma),
    "minimax_m3": (
        rf'{M3}<tool_call>\n{M3}<invoke name="{NAME}">{ARGS}{M3}</invoke>\n{M3}</tool_call>',
        minimax_m3,
    ),
}
STYLES["qwen_3_coder"] = STYLES["qwen_3_5"]
