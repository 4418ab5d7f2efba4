"""What is said of styles, against the engine."""

from __future__ import annotations

import json
import re
import string
from functools import cache

import pytest
import tag_calls
from closed_objects import closed
from hypothesis import given
from hypothesis import strategies as st

from schemaguard.grammar import Tokenizer
from schemaguard.grammar.tags import STYLES, plan, style_findings
from schemaguard.grammar.tags.texts import may_match

xgrammar = pytest.importorskip("xgrammar")


@cache
def compiler():
    return xgrammar.GrammarCompiler(Tokenizer.byte_level().info, max_threads=1)


def engine_takes(style, schema, text):
    """Whether the engine lets a call through whose schema nobody has touched; None: no grammar."""
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    tag = xgrammar.get_model_structural_tag(style, [tool], "auto", reasoning="disabled")
    try:
        state = xgrammar.GrammarMatcher(compiler().compile_structural_tag(tag))
    except RuntimeError:
        return None
    start = "\n</think>\n\n\n\n" if style == "minimax" else ""
    return state.accept_string(start + text) and state.is_completed()


def call(style, **arguments):
    return tag_calls.calls(style, ("f", arguments))


def codes(style, schema, **options):
    return [finding.code for finding in style_findings(style, schema, **options)]


S = {"type": "string"}
XML = ["qwen_3_coder", "minimax", "deepseek_v4", "deepseek_v4_1", "glm_4_7", "cohere"]
JSON_STYLES = sorted(name for name, style in STYLES.items() if style.content == "json")


@pytest.mark.parametrize("style", [*XML, "kimi_k3", "gemma_4", "minimax_m3", *JSON_STYLES])
def test_a_plain_schema_has_no_findings(style) -> None:
    schema = closed(a=S, b={"type": "integer", "minimum": 1}, c={"enum": ["x", "y"]},
                    d={"type": "array", "items": S}, e=closed(f={"type": ["string", "null"]}))  # fmt: skip

    assert codes(style, schema) == []


@pytest.mark.parametrize("style", XML)
@pytest.mark.parametrize("constraint", [{"maxLength": 9}, {"minLength": 1}])
def test_a_length_in_an_xml_style_lets_the_end_tag_in(style, constraint) -> None:
    schema = closed(a={**S, **constraint})
    end = {"qwen_xml": "</p", "minimax_xml": "</p", "glm_xml": "</a", "cohere_xml": "</c"}.get(
        STYLES[style].content, "</｜"
    )

    assert codes(style, schema) == ["dear-length"]
    assert engine_takes(style, schema, call(style, a="x" + end))


@pytest.mark.parametrize("style", JSON_STYLES)
def test_lengths_and_patterns_in_json_are_nothing_special(style) -> None:
    assert codes(style, closed(a={**S, "maxLength": 300}, b={**S, "pattern": "^.{1,9}$"})) == []


@pytest.mark.parametrize("style", [*XML, "kimi_k3"])
def test_below_the_first_level_arguments_are_json_but_for_cohere(style) -> None:
    schema = closed(a=closed(b={**S, "maxLength": 2}))
    expected = ["dear-length"] if style == "cohere" else []

    assert codes(style, schema) == expected
    assert not engine_takes("qwen_3_coder", schema, call("qwen_3_coder", a={"b": "xxx"}))


@pytest.mark.parametrize("place", ["ref", "anyOf", "allOf", "additional"])
def test_a_parameter_is_found_wherever_its_schema_stands(place) -> None:
    dear = {**S, "maxLength": 40}
    schema, pointer = {
        "ref": ({**closed(a={"$ref": "#/$defs/x"}), "$defs": {"x": dear}}, "/$defs/x"),
        "anyOf": (closed(a={"anyOf": [dear, {"type": "null"}]}), "/properties/a/anyOf/0"),
        "allOf": (closed(a={"allOf": [dear]}), "/properties/a/allOf/0"),
        "additional": ({**closed(), "additionalProperties": dear}, "/additionalProperties"),
    }[place]
    dears = [f for f in style_findings("qwen_3_coder", schema) if f.kind == "dear"]

    assert [f.pointer for f in dears] == [pointer]
    assert dears[0].keywords == ("maxLength",)


def test_gemma_drops_lengths_at_every_level() -> None:
    schema = closed(a={**S, "maxLength": 1}, b=closed(c={**S, "minLength": 3}))

    assert codes("gemma_4", schema) == ["dropped-length", "dropped-length"]
    assert engine_takes("gemma_4", schema, call("gemma_4", a="xxx", b={"c": "x"}))


def test_kimi_k3_drops_lengths_only_while_markers_are_kept_out_of_strings() -> None:
    schema = closed(a={**S, "maxLength": 1}, b=closed(c={**S, "minLength": 3}))

    assert codes("kimi_k3", schema, excludes=True) == ["dropped-length", "dropped-length"]
    assert engine_takes("kimi_k3", schema, call("kimi_k3", a="xxx", b={"c": "x"}))
    assert codes("kimi_k3", schema) == ["dear-length"]


#: what minimax_m3 refuses: the schema of a parameter → code, and whether it can be taken out
M3 = [
    ({**S, "pattern": "^a$"}, "plain-text-only", True),
    ({**S, "maxLength": 3}, "plain-text-only", True),
    ({**S, "minLength": 1}, "plain-text-only", True),
    ({**S, "format": "date"}, "plain-text-only", True),
    ({}, "unconstrained-value", False),
    ({"allOf": [S, S]}, "unconstrained-value", False),
    ({"type": "object", "additionalProperties": True}, "open-object", True),
    ({"type": "object", "additionalProperties": S}, "open-object", True),
    ({"type": "object", "patternProperties": {"^a": S}}, "open-object", True),
]


@pytest.mark.parametrize(("parameter", "code", "loosened"), M3)
def test_minimax_m3_refuses_half_of_the_keywords(parameter, code, loosened) -> None:
    schema = closed(a=parameter)
    body = {"messages": [], "model": "m", "tools": [
        {"type": "function", "function": {"name": "f", "parameters": schema}}]}  # fmt: skip
    made = plan(body, parser="minimax_m3")

    assert engine_takes("minimax_m3", schema, "") is None
    assert code in codes("minimax_m3", schema)
    xgrammar.Grammar.from_structural_tag(made.text)
    assert made.tools[0].state == ("pinned" if loosened else "relaxed")


@pytest.mark.parametrize("style", ["qwen_3_coder", "minimax", "deepseek_v4", "glm_4_7", "kimi_k3"])
def test_an_open_object_lets_a_declared_parameter_come_again_with_a_wrong_type(style) -> None:
    schema = {**closed(v={"type": "integer"}), "additionalProperties": True}
    content = tag_calls.ARGUMENTS[STYLES[style].content]
    good, bad = content({"v": 1}), content({"v": "bad"})
    text = call(style, v=1).replace(good, good + ("\n" if "qwen" in style else "") + bad)

    assert "redeclared-parameter" in codes(style, schema)
    assert engine_takes(style, schema, text)
    assert not engine_takes(style, closed(v={"type": "integer"}), text)
    assert "plain-names-only" in codes(style, schema)
    assert engine_takes(style, schema, call(style, v=1, z="x"))
    assert not engine_takes(style, schema, call(style, v=1, **{"a-b": "x"}))


@pytest.mark.parametrize(
    ("schema", "bad"),
    [
        ({"type": "array", "items": S}, True), (S, True), ({}, True), ({"enum": ["a"]}, True),
        ({"const": {}}, True), ({"type": ["object", "null"], "properties": {}}, True),
        ({"anyOf": [S, closed()]}, True), ({"allOf": [closed(), closed()]}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": S}}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": closed()}}, False),
        ({"anyOf": [closed(), closed(a=S)]}, False), ({"allOf": [closed()]}, False),
        ({"properties": {"a": S}}, False), ({"type": "object"}, False),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("style", ["qwen_3", "qwen_3_coder", "gemma_4"])
def test_arguments_that_need_not_be_an_object_are_refused(style, schema, bad) -> None:
    assert ("not-an-object" in codes(style, schema)) is bad


def test_a_root_that_is_no_object_compiles_into_a_call_that_cannot_be_parsed() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": ["x"]}\n</tool_call>'

    assert engine_takes("qwen_3", {"type": "array", "items": S}, text)


@pytest.mark.parametrize(
    ("name", "styles"),
    [("a>b", ["qwen_3_coder", "minimax", "glm_4_7", "kimi_k3", "gemma_4", "minimax_m3"]),
     ('a"b', ["minimax", "deepseek_v4", "gemma_4"]), ("a:b", ["gemma_4"]), ("a\nb", XML)],
)  # fmt: skip
def test_names_of_parameters_that_the_markup_cannot_carry_are_refused(name, styles) -> None:
    for style in styles:
        assert "unwritable-name" in codes(style, closed(**{name: {"type": "integer"}})), style
    assert codes("qwen_3", closed(**{name: {"type": "integer"}})) == []


#: schema of a parameter → a value that breaks it and comes through in JSON, code
DROPPED = [
    ({"type": "integer", "not": {"const": 5}}, 5, "ignored-keyword"),
    ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 1], "ignored-keyword"),
    ({"type": "array", "items": {"type": "integer"}, "contains": {"const": 5}}, [1], "ignored-keyword"),
    ({"type": "number", "multipleOf": 0.25}, 0.3, "ignored-keyword"),
    ({"type": "integer", "multipleOf": 5, "minimum": 1}, 6, "ignored-keyword"),
    ({"allOf": [{"type": "integer"}, {"minimum": 5}]}, "x", "ignored-all-of"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}], "minimum": 5}, 1, "ignored-sibling"),
    ({**closed(x=S), "dependentRequired": {"x": ["y"]}}, {"x": "1"}, "ignored-keyword"),
    ({"type": "object", "properties": {"x": S}, "required": ["x", "z"]}, {"x": "1"},
     "undeclared-required"),
    ({**S, "format": "iri"}, "no iri", "unknown-format"),
    ({**S, "pattern": "^a+$", "maxLength": 2}, "aaa", "second-constraint"),
]  # fmt: skip


@pytest.mark.parametrize(("parameter", "value", "code"), DROPPED)
def test_what_is_said_to_be_dropped_is_dropped(parameter, value, code) -> None:
    schema = closed(a=parameter)

    assert code in codes("qwen_3", schema)
    assert engine_takes("qwen_3", schema, call("qwen_3", a=value))


@pytest.mark.parametrize(
    "parameter",
    [{"type": "integer", "multipleOf": 5}, {"type": "array", "items": S, "uniqueItems": False},
     {"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": 50}],
)  # fmt: skip
def test_what_is_enforced_is_not_said_to_be_dropped(parameter) -> None:
    assert codes("qwen_3", closed(a=parameter)) == []


def test_a_name_that_is_a_keyword_is_a_name() -> None:
    schema = closed(pattern=S, maxLength={"type": "integer"}, **{"not": S, "$ref": S})

    for style in STYLES:
        assert codes(style, schema) == []


def test_schemas_that_refer_to_themselves_end() -> None:
    tree = {**closed(v={**S, "maxLength": 3}, n={"$ref": "#"})}

    assert codes("qwen_3_coder", tree) == ["dear-length"]
    assert codes("cohere", tree) == ["dear-length", "dear-length"]


# Patterns ----------------------------------------------------------------------------------------

CANNOT = ["^[a-z]+$", "^\\d{4}-\\d\\d$", "^[^<]*$", "^[^<>&]{1,9}$", "^(?<year>\\d+)$", "\\w+", "\\x3d",
          "\\u003e", "^[=>?@-Z]$", "^(?:a|b)?$", "", "^[-+]?[0-9]+$", "^[a\\-z]$"]  # fmt: skip
CAN = [".", "^.*$", "[^a]", "\\S", "\\W", "\\D", "<", "\\<", "\\x3c", "\\u003c", "\\u003C", "[ -~]", "[!-z]",
       "[<]", "[\\S]", "[^>]", "\\p{L}", "[\\x00-\\x7f]", "a|<", "(<)", "\\u{3c}", "[", "[^", "\\"]  # fmt: skip


@pytest.mark.parametrize("pattern", CANNOT)
def test_patterns_that_cannot_match_an_angle_bracket(pattern) -> None:
    assert not may_match(pattern, "<")


@pytest.mark.parametrize("pattern", CAN[:-3])
def test_patterns_that_can_match_an_angle_bracket(pattern) -> None:
    assert may_match(pattern, "<")


_PIECES = st.sampled_from(
    ["a{1,2}", "(?:<)?", "(?=a)", "a", "<", "=", ".", "\\d", "\\w", "\\s", "\\S", "\\W", "[a-z]", "[^a]", "[^<]", "[^<=]", "[;-=]",
     "[\\]<]", "[^\\]]", "(a|<)", "(?:b|c)", "\\x3c", "\\x3d", "x*", "[+--]", "[<-]"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=4), st.text("a<=;x-] 5", max_size=5))
def test_no_pattern_matches_a_text_with_the_character_unless_it_may(pieces, text) -> None:
    pattern = "".join(pieces)
    if "<" in text and re.fullmatch(pattern, text):
        assert may_match(pattern, "<")


@pytest.mark.parametrize(
    ("pattern", "character", "may"),
    [("^[a-z]{1,9}$", "{", False), ("^a{2,}$", ",", False), ("a{", "{", True), ("{2}", "2", False),
     ("\\{2}", "{", True), ("(?:a|b)", ":", False), ("(:a)", ":", True), ("[^a]", "[", True),
     ("[^a]", "^", True), ("\\s", " ", True), ("\\s", "<", False), ("a,b", ",", True),
     ("[{2}]", "{", True), ("(?=a)", "=", False), ("(?!a)", "!", False), ("(?<!a)b", "<", False)],
)  # fmt: skip
def test_what_stands_for_no_character_is_none(pattern, character, may) -> None:
    assert may_match(pattern, character) is may


@given(st.text(string.printable, max_size=40), st.sampled_from("<a}"))
def test_any_text_is_read(pattern, character) -> None:
    assert may_match(pattern, character) in (True, False)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "string", "#", "#/x", "<"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "properties", "$ref", "anyOf", "allOf", "items", "pattern", "format",
                         "maxLength", "required", "additionalProperties", "not", "multipleOf", "const",
                         "enum", "patternProperties", "propertyNames"]),
        inner, max_size=4),
    max_leaves=20,
))  # fmt: skip
def test_any_value_is_surveyed(schema) -> None:
    for style in ("qwen_3", "qwen_3_coder", "gemma_4", "minimax_m3", "cohere"):
        json.dumps([finding.pointer for finding in style_findings(style, schema)])
