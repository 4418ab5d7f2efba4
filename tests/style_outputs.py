"""Calls of one tool `f` in every style, for `recheck`: tags, texts, and values read back.

Nothing of this project is used. Tags are xgrammar's own; texts are those of `tag_calls`. Readers
take whole outputs and go by the rules that docs/audit.md states ("Styles"), here by recursion: a
schema's types are looked up through references and combiners, and where a value may be text or
JSON, it is JSON if that is of a declared type.
"""

from __future__ import annotations

import json
import re
from html import unescape

import tag_calls

NAME = "f"
_KINDS = {"string", "integer", "number", "boolean", "array", "object", "null"}
_M3 = re.escape("]<]minimax[>[")


class Unreadable(ValueError):  # noqa: N818 - what it is
    """No call with arguments."""


# Tags and texts ---------------------------------------------------------------------------------


def tag(xgrammar, style, schema):
    """The structural tag that asks for one call."""
    if style == "inkling":
        content = {"type": "json_schema", "json_schema": schema, "max_whitespace_cnt": 2}
        before, after = around(style)
        return {
            "type": "structural_tag",
            "format": {"type": "tag", "begin": before, "content": content, "end": after},
        }
    declared = {"type": "function", "function": {"name": NAME, "parameters": schema}}
    made = xgrammar.get_model_structural_tag(
        style,
        [declared],
        {"type": "function", "function": {"name": NAME}},
        reasoning="disabled",
        max_whitespace_cnt=2,
        parallel_tool_calls=False,
    ).model_dump(mode="json")
    if style == "kimi_k3":  # xgrammar keeps markers out of strings in JSON, too
        for found in _formats(made["format"]):
            found["excludes"] = []
    return made


def _formats(value):
    if isinstance(value, dict):
        if value.get("type") == "json_schema":
            yield value
            return
        value = list(value.values())
    for member in value if isinstance(value, list) else ():
        yield from _formats(member)


def around(style):
    """The text of an output before its arguments, and behind them."""
    before, call, _, after = tag_calls.MARKUP[_same_markup(style)]
    arguments = tag_calls.ARGUMENTS[_content(style)]
    inner = arguments({"k": 0})
    head, _, tail = call(NAME, {"k": 0}, 0).partition(inner)
    if style == "minimax":
        before = "\n</think>\n\n\n\n" + before
    return before + head, tail + after


def _same_markup(style):
    return "qwen_3_coder" if style == "qwen_3_5" else style


def _content(style):
    contents = {
        "qwen_xml": ("qwen_3_5", "qwen_3_coder", "mimo"),
        "minimax_xml": ("minimax",),
        "minimax_m3_xml": ("minimax_m3",),
        "deepseek_xml": ("deepseek_v3_2", "deepseek_v4"),
        "deepseek_v4_1_xml": ("deepseek_v4_1",),
        "glm_xml": ("glm_4_7",),
        "cohere_xml": ("cohere",),
        "kimi_k3_xml": ("kimi_k3",),
        "gemma": ("gemma_4",),
    }
    return next((name for name, styles in contents.items() if style in styles), "json")


def texts(style, value):
    """Outputs that say a value as the templates of the style have it."""
    if not isinstance(value, dict) and _content(style) != "json":
        return []
    before, after = around(style)
    return [before + tag_calls.ARGUMENTS[_content(style)](value) + after]


# Declared types ---------------------------------------------------------------------------------


def types(schemas, root, depth=0):
    """The types that any of some schemas allows."""
    found = set()
    for schema in schemas:
        found |= _types(schema, root, depth)
    return found if schemas else set(_KINDS)


def _types(schema, root, depth):
    if schema is False:
        return set()
    if not isinstance(schema, dict) or depth > 40:
        return set(_KINDS)
    allowed = set(_KINDS)
    if "const" in schema or isinstance(schema.get("enum"), list):
        values = [schema["const"]] if "const" in schema else schema["enum"]
        allowed = set().union(*map(_kinds, values))
    elif "type" in schema:
        named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        allowed = {*named, *(["integer"] if "number" in named else [])}
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            allowed &= types(schema[keyword], root, depth + 1)
    for member in [*_target(schema, root), *(schema.get("allOf") or ())]:
        allowed &= _types(member, root, depth + 1)
    return allowed


def _kinds(value):
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, (int, float)):
        whole = isinstance(value, int) or value.is_integer()
        return {"integer", "number"} if whole else {"number"}
    return {{str: "string", list: "array", dict: "object"}.get(type(value), "null")}


def _target(schema, root):
    """What a local reference leads to, in a list, or nothing."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return []
    from urllib.parse import unquote

    found = root
    for token in unquote(reference[1:]).split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name)] if isinstance(found, list) else found[name]
        except (KeyError, IndexError, ValueError, TypeError):
            return []
    return [found]


def _parts(schemas, root, seen=None):
    """Every schema that may hold for a value."""
    seen = {} if seen is None else seen
    for schema in schemas:
        if isinstance(schema, dict) and id(schema) not in seen:
            seen[id(schema)] = schema
            inner = _target(schema, root)
            for keyword in ("allOf", "anyOf", "oneOf"):
                inner += schema.get(keyword) or []
            inner += [schema[word] for word in ("then", "else") if word in schema]
            _parts(inner, root, seen)
    return list(seen.values())


def member(schemas, root, name):
    """The schemas of a property."""
    parts = _parts(schemas, root)
    found = [part["properties"][name] for part in parts if name in (part.get("properties") or ())]
    for part in parts:
        for pattern, schema in (part.get("patternProperties") or {}).items():
            found += [schema] if re.search(pattern, name) else []
    others = [part.get("additionalProperties") for part in parts]
    return found or [other for other in others if isinstance(other, dict)]


def item(schemas, root, index):
    """The schemas of an item."""
    found = []
    for part in _parts(schemas, root):
        first = part.get("prefixItems", part.get("items"))
        if isinstance(first, list) and index < len(first):
            found.append(first[index])
        elif isinstance(part.get("items"), dict):
            found.append(part["items"])
        elif "prefixItems" in part or "items" in part or "additionalItems" in part:
            found.append(part.get("additionalItems", True))
    return found


# Values read back -------------------------------------------------------------------------------


def readings(style, output, schema):
    """The values that readers make of an output: with all white space around texts, and without.

    Raises:
        Unreadable: they make nothing of it.
    """
    before, after = around(style)
    if style == "kimi_k3":  # calls are numbered
        output = re.sub(r'(<\|open\|>call tool="f" index=")\d+', r"\g<1>1", output, count=1)
    elif style == "kimi":
        output = re.sub(r"(functions\.f:)\d+", r"\g<1>0", output, count=1)
    if not output.startswith(before) or not output.endswith(after):
        raise Unreadable
    inner = output[len(before) : len(output) - len(after)]
    if _content(style) == "json":
        return [_json(inner)]
    return [_READERS[_content(style)](inner, schema, strip) for strip in (False, True)]


def _json(text):
    def never(name):
        raise Unreadable(name)

    try:
        return json.loads(text, parse_constant=never)
    except (ValueError, RecursionError) as error:
        raise Unreadable from error


def _text_or_json(text, schemas, root, strip):
    plain = text.strip() if strip else text
    kinds = types(schemas, root)
    if kinds == {"string"}:
        return plain
    if "string" not in kinds:
        return _json(text.strip())
    try:
        value = _json(text.strip())
    except Unreadable:
        return plain
    return value if _kinds(value) & (kinds - {"string"}) else plain


def _flat(opening, closing):
    def read(text, schema, strip):
        found, rest = {}, text
        while rest.strip():
            start = re.match(r"\s*" + opening, rest, re.DOTALL)
            if start is None or closing not in rest[start.end() :]:
                raise Unreadable
            raw, rest = rest[start.end() :].split(closing, 1)
            key, kind = start.group(1), (*start.groups(), None)[1]
            if closing == "</parameter>" and opening[10] == "=":
                raw = raw.removeprefix("\n").removesuffix("\n")
            if "argument" in closing:
                key = unescape(key)
            if kind in ("true", "string"):
                found[key] = raw.strip() if strip else raw
            elif kind is not None:
                found[key] = _json(raw.strip())
            else:
                found[key] = _text_or_json(raw, member([schema], schema, key), schema, strip)
        return found

    return read


def _dsml(gap):
    return _flat(
        rf'<｜DSML｜{gap}parameter name="([^"]*)" string="(true|false)">',
        f"</｜DSML｜{gap}parameter>",
    )


def _cohere(text, _schema, strip):
    def inside(rest):
        found = []
        while start := re.match(r'\s*<cofl:value(?: name="([^"]*)")? type="([a-z]+)">', rest):
            rest = rest[start.end() :]
            if start[2] in ("dict", "list"):
                members, rest = inside(rest)
                end = re.match(r"\s*</cofl:value>", rest)
                if end is None:
                    raise Unreadable
                rest = rest[end.end() :]
                if any((key is None) is not (start[2] == "list") for key, _ in members):
                    raise Unreadable
                value = dict(members) if start[2] == "dict" else [member for _, member in members]
            else:
                raw, mark, rest = rest.partition("</cofl:value>")
                if not mark:
                    raise Unreadable
                value = _json(raw.strip()) if start[2] != "raw" else raw.strip() if strip else raw
            found.append((None if start[1] is None else unescape(start[1]), value))
        return found, rest

    found, rest = inside(text)
    if rest.strip() or any(key is None for key, _ in found):
        raise Unreadable
    return dict(found)


def _minimax_m3(text, schema, strip):
    def inside(rest, schemas, tag):
        """The value up to the end of its element, and what follows."""
        kinds = types(schemas, schema)
        opening = rf"\s*{_M3}<([^/>][^>]*)>"
        closing = rf"\s*{_M3}</{re.escape(tag)}>"
        start = re.match(opening, rest)
        if tag and start is None and ("string" in kinds or not re.match(closing, rest)):
            found = re.match(rf"(.*?){_M3}</{re.escape(tag)}>", rest, re.DOTALL)
            if found is None or re.search(_M3, found[1]):
                raise Unreadable
            return _text_or_json(found[1], schemas, schema, strip), rest[found.end() :]
        is_list = (
            tag
            and "array" in kinds
            and ("object" not in kinds or (start is not None and start[1] == "item"))
        )
        value = [] if is_list else {}
        while start := re.match(opening, rest):
            if is_list:
                if start[1] != "item":
                    raise Unreadable
                inner, rest = inside(rest[start.end() :], item(schemas, schema, len(value)), "item")
                value.append(inner)
            else:
                value[start[1]], rest = inside(
                    rest[start.end() :], member(schemas, schema, start[1]), start[1]
                )
        if not tag:
            return value, rest
        end = re.match(closing, rest)
        if end is None:
            raise Unreadable
        return value, rest[end.end() :]

    value, rest = inside(text, [schema], "")
    if rest.strip():
        raise Unreadable
    return value


def _gemma(text, _schema, _strip):
    """Made into JSON, token by token."""
    tokens = re.compile(
        r'<\|"\|>(?P<text>.*?)<\|"\|>|(?P<mark>[{}\[\],])|(?P<key>[^:{}\[\],<\s"]+)\s*:'
        r"|(?P<word>[^:{}\[\],<\s]+)|(?P<space>\s+)",
        re.DOTALL,
    )
    at, made = 0, []
    while at < len(text):
        token = tokens.match(text, at)
        if token is None:
            raise Unreadable
        at = token.end()
        if token["text"] is not None:
            made.append(json.dumps(token["text"]))
        elif token["key"] is not None:
            made.append(json.dumps(token["key"]) + ":")
        elif token["mark"] or token["word"]:
            made.append(token["mark"] or token["word"] + " ")
    return _json("".join(made))


_READERS = {
    "qwen_xml": _flat(r"<parameter=([^>]+)>", "</parameter>"),
    "minimax_xml": _flat(r'<parameter name="([^"]*)">', "</parameter>"),
    "deepseek_xml": _dsml(""),
    "deepseek_v4_1_xml": _dsml(" "),
    "glm_xml": _flat(r"<arg_key>(.*?)</arg_key>\s*<arg_value>", "</arg_value>"),
    "kimi_k3_xml": _flat(
        r'<\|open\|>argument key="([^"]*)" type="([a-z]+)"<\|sep\|>',
        "<|close|>argument<|sep|>",
    ),
    "cohere_xml": _cohere,
    "minimax_m3_xml": _minimax_m3,
    "gemma": _gemma,
}
