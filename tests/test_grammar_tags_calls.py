"""Real call texts of every parser against the compiled tag of its plan."""

from __future__ import annotations

import copy
import json
from functools import cache

import pytest
import tag_calls

from schemaguard.grammar import Tokenizer
from schemaguard.grammar.tags import (
    PARSERS,
    STYLES,
    DynamoPolicy,
    SglangPolicy,
    VllmPolicy,
    plan,
)

xgrammar = pytest.importorskip("xgrammar")

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "units": {"type": "string", "enum": ["metric", "imperial"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def function(name, parameters, **more):
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def request(*tools, **more):
    return {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [*tools], **more}


TOOLS = (function("weather", WEATHER), function("now", CLOSED))
NAMED = {"type": "function", "function": {"name": "weather"}}
GOOD = ("weather", {"city": "Rome", "days": 3})
FULL = ("weather", {"city": "Rome", "days": 3, "units": "metric", "tags": ["a", "b"]})


@cache
def compiler():
    return xgrammar.GrammarCompiler(Tokenizer.byte_level().info, max_threads=1)


def matcher(made):
    """Whether a text is a whole output under the tag of a plan."""
    assert made.text is not None, made.reason
    grammar = compiler().compile_structural_tag(made.text)

    def accepts(text):
        state = xgrammar.GrammarMatcher(grammar)
        return state.accept_string(text) and state.is_completed()

    return accepts


def start(style):
    """What the model writes first when it does not reason."""
    return "\n</think>\n\n\n\n" if style == "minimax" else ""


@pytest.fixture(params=sorted(PARSERS))
def parser(request):
    return request.param


@pytest.fixture
def style(parser):
    return PARSERS[parser]


def accepts(parser, body, **options):
    """Whether a text is a whole output, behind what the style writes first."""
    style = PARSERS[parser]
    whole = matcher(plan(body, parser=parser, **options))
    return lambda text: whole(start(style) + text)


# Names and schemas -------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["auto", "required", NAMED])
def test_a_right_call_is_accepted(parser, style, choice) -> None:
    whole = accepts(parser, request(*TOOLS, tool_choice=choice))

    assert whole(tag_calls.calls(style, GOOD))
    assert whole(tag_calls.calls(style, FULL))


@pytest.mark.parametrize("choice", ["auto", "required", NAMED])
@pytest.mark.parametrize(
    "wrong",
    [
        ("wether", {"city": "Rome", "days": 3}),
        ("weather2", {"city": "Rome", "days": 3}),
        ("weather", {"city": "Rome", "days": "three"}),
        ("weather", {"city": "Rome"}),
        ("weather", {"days": 3}),
        ("weather", {}),
        ("weather", {"city": "Rome", "days": 3, "units": "kelvin"}),
        ("weather", {"city": "Rome", "days": 3, "tags": "a"}),
        ("weather", {"city": "Rome", "days": 3, "zip": 1}),
    ],
    ids=["name", "longer", "type", "missing", "first", "empty", "enum", "array", "unknown"],
)
def test_a_wrong_call_is_refused(parser, style, choice, wrong) -> None:
    whole = accepts(parser, request(*TOOLS, tool_choice=choice))

    assert not whole(tag_calls.calls(style, wrong))


def test_a_tool_without_parameters_is_called_with_none(parser, style) -> None:
    whole = accepts(parser, request(*TOOLS, tool_choice="required"))

    assert whole(tag_calls.calls(style, ("now", {})))
    assert not whole(tag_calls.calls(style, ("now", {"a": 1})))


def test_a_tool_is_not_mistaken_for_one_whose_name_it_begins(parser, style) -> None:
    body = request(*(function(name, WEATHER) for name in ("f", "fo", "foo")))
    whole = accepts(parser, body)

    assert all(whole(tag_calls.calls(style, (name, GOOD[1]))) for name in ("f", "fo", "foo"))
    assert not whole(tag_calls.calls(style, ("fooo", GOOD[1])))


def test_definitions_of_one_name_keep_to_their_tools(parser, style) -> None:
    def with_definition(kind):
        return {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/X"}},
            "required": ["a"],
            "additionalProperties": False,
            "$defs": {"X": {"type": "array", "items": {"type": kind}}},
        }

    body = request(
        function("ints", with_definition("integer")), function("flags", with_definition("boolean"))
    )
    whole = accepts(parser, body)

    assert whole(tag_calls.calls(style, ("ints", {"a": [1]})))
    assert whole(tag_calls.calls(style, ("flags", {"a": [True]})))
    assert not whole(tag_calls.calls(style, ("ints", {"a": [True]})))
    assert not whole(tag_calls.calls(style, ("flags", {"a": [1]})))


# Choice ------------------------------------------------------------------------------------------


def test_several_calls_are_accepted_unless_parallel_calls_are_off(parser, style) -> None:
    two = tag_calls.calls(style, GOOD, ("now", {}))
    for choice in ("auto", "required"):
        assert accepts(parser, request(*TOOLS, tool_choice=choice))(two)
        one = accepts(parser, request(*TOOLS, tool_choice=choice, parallel_tool_calls=False))
        assert one(tag_calls.calls(style, GOOD))
        assert not one(two)


def test_a_named_choice_is_exactly_one_call_of_that_tool(parser, style) -> None:
    whole = accepts(parser, request(*TOOLS, tool_choice=NAMED))

    assert not whole(tag_calls.calls(style, ("now", {})))
    if style != "harmony":  # its messages follow one another in any case
        assert not whole(tag_calls.calls(style, GOOD, GOOD))


def test_text_without_a_call_is_for_auto_alone(parser, style) -> None:
    text = tag_calls.answer(style, "It rains.")

    assert accepts(parser, request(*TOOLS))(text)
    for choice in ("required", NAMED):
        assert not accepts(parser, request(*TOOLS, tool_choice=choice))(text)


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_only_allowed_tools_can_be_called(parser, style, mode) -> None:
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [NAMED]}}
    whole = accepts(parser, request(*TOOLS, tool_choice=allowed))

    assert whole(tag_calls.calls(style, GOOD))
    assert not whole(tag_calls.calls(style, ("now", {})))
    assert whole(tag_calls.answer(style, "It rains.")) is (mode == "auto")


def test_none_allows_text_and_no_call(parser, style) -> None:
    whole = accepts(parser, request(*TOOLS, tool_choice="none"))

    assert whole(tag_calls.answer(style, "It rains: 3 < 4 & 5 > 2."))
    assert not whole(tag_calls.calls(style, GOOD))
    assert not whole(tag_calls.answer(style, "So: " + tag_calls.calls(style, GOOD)))


# Settings ----------------------------------------------------------------------------------------


def test_relaxed_arguments_are_any_object(parser, style) -> None:
    body = request(function("weather", WEATHER, strict=False), tool_choice="required")
    whole = accepts(parser, body)

    assert whole(tag_calls.calls(style, ("weather", {"a": 1, "b": "x y", "c": [True]})))
    assert not whole(tag_calls.calls(style, ("wether", {"a": 1})))
    if STYLES[style].content == "json":
        call = tag_calls.calls(style, ("weather", {}))
        assert not whole(call.replace("{}", "[1]"))
        assert not whole(call.replace("{}", "1"))


def test_arguments_in_any_order_are_accepted_when_the_policy_says_so(parser, style) -> None:
    turned = tag_calls.calls(style, ("weather", {"days": 3, "city": "Rome"}))

    assert not accepts(parser, request(*TOOLS))(turned)
    any_order = DynamoPolicy(tool_arguments_any_order=True)
    assert accepts(parser, request(*TOOLS), policy=any_order)(turned)


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_reasoning_is_in_the_tag_as_asked(parser, style, choice) -> None:
    body = request(*TOOLS, tool_choice=choice)
    call = tag_calls.calls(style, GOOD)
    thought = tag_calls.reasoning(style)

    on = matcher(plan(body, parser=parser, reasoning="on"))
    assert on(thought + call)
    assert not on(thought + tag_calls.calls(style, ("weather", {})))
    if STYLES[style].reasons and choice == "required":
        assert not on(call)
    auto = matcher(plan(body, parser=parser, reasoning="auto"))
    if style == "kimi_k3":  # a block of its own, which opens the response
        assert auto("<|open|>response<|sep|>" + call)
        assert auto("<|open|>think<|sep|>" + thought + call)
    elif style not in ("harmony", "llama", "inkling", "mimo", "gemma_4"):
        opener = {"minimax_m3": "<mm:think>", "cohere": "<|START_THINKING|>"}.get(style, "<think>")
        assert auto(opener + thought + call)
        assert auto(call)
    else:
        assert auto(thought + call)
        assert auto(call)


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_tag_behind_the_reasoning_begins_where_the_server_starts_it(
    parser, style, choice
) -> None:
    body = request(*TOOLS, tool_choice=choice)
    after = matcher(plan(body, parser=parser, reasoning="backend"))
    thought = tag_calls.reasoning(style)
    for end in ("</think>", "</mm:think>", "<|close|>think<|sep|>", "<channel|>",
                "<|END_THINKING|>", "<|end_message|>", "<|start|>assistant"):  # fmt: skip
        if end in thought:
            thought = thought.split(end)[1]

    assert after(thought + tag_calls.calls(style, GOOD))
    assert not after(thought + tag_calls.calls(style, ("weather", {})))


def test_a_call_or_an_answer_that_follows_a_schema(parser, style) -> None:
    answer = {"type": "object", "properties": {"r": {"type": "integer"}}, "required": ["r"],
              "additionalProperties": False}  # fmt: skip
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": answer}}
    body = request(*TOOLS, response_format=form)
    policy = DynamoPolicy(allow_tool_calls_with_structured_output=True)
    made = plan(body, parser=parser, policy=policy)
    if not STYLES[style].composes:
        assert made.text is None
        assert "form of the answer" in made.reason
        return
    whole = accepts(parser, body, policy=policy)

    assert whole('{"r": 1}')
    assert not whole('{"r": "x"}')
    assert not whole("It rains.")
    assert whole(tag_calls.calls(style, GOOD))
    assert not whole(tag_calls.calls(style, ("weather", {})))
    thinking = matcher(plan(body, parser=parser, policy=policy, reasoning="on"))
    assert thinking(tag_calls.reasoning(style) + '{"r": 1}')
    assert thinking(tag_calls.reasoning(style) + tag_calls.calls(style, GOOD))


@pytest.mark.parametrize("policy", [VllmPolicy(2), SglangPolicy(2)], ids=["vllm", "sglang"])
def test_the_levels_build_the_same_tags(parser, style, policy) -> None:
    whole = accepts(parser, request(*TOOLS, tool_choice="required"), policy=policy)

    assert whole(tag_calls.calls(style, GOOD))
    assert not whole(tag_calls.calls(style, ("weather", {"city": "Rome", "days": "x"})))


def test_white_space_is_bounded(parser, style) -> None:
    nested = {
        "type": "object",
        "properties": {"o": {"type": "array", "items": {"type": "integer"}}},
        "required": ["o"],
        "additionalProperties": False,
    }
    body = request(function("f", nested), tool_choice="required")
    if style in ("cohere", "minimax_m3", "gemma_4"):
        pytest.skip("no JSON below the first level")
    call = tag_calls.calls(style, ("f", {"o": [1, 2]}))
    whole = accepts(parser, body)

    assert whole(call)
    assert whole(call.replace(", 2", ",  2"))
    assert not whole(call.replace(", 2", ",   2"))
    unbounded = accepts(parser, body, max_whitespace=None)
    assert unbounded(call.replace(", 2", "," + " " * 50 + "2"))


# Holes -------------------------------------------------------------------------------------------

#: Calls that begin nearly right, which xgrammar's own tags leave to free text.
NEAR_MISSES = {
    "qwen_3_coder": ["<function=nope>", "<tool_call><function=nope>", "<tool_call>\n <function=f>"],
    "qwen_3_5": ["<function=nope>", "<tool_call><function=nope>"],
    "mimo": ["<function=nope>"],
    "deepseek_r1": ["<｜tool▁call▁begin｜>function<｜tool▁sep｜>nope"],
    "deepseek_v3_1": ["<｜tool▁call▁begin｜>nope<｜tool▁sep｜>{}"],
    "deepseek_v3_2": ['<｜DSML｜invoke name="nope">'],
    "deepseek_v4": ['<｜DSML｜invoke name="nope">'],
    "deepseek_v4_1": ['<｜DSML｜ invoke name="nope">'],
    "kimi": ["<|tool_call_begin|>functions.nope:0"],
    "minimax": ['<invoke name="nope">'],
    "cohere": ['<cofl:tool_call id="0" name="nope">'],
    "qwen_3": ["<tool_call>{}", '<tool_call>\n{"name":"nope"}'],
    "exaone": ["<tool_call>\n{}"],
    "glm_4_7": ["<tool_call>nope"],
    "gemma_4": ["<|tool_call>call:nope{}"],
    "inkling": ["<|content_invoke_tool_json|>{}"],
}


@pytest.mark.parametrize("style", sorted(NEAR_MISSES))
def test_a_call_that_begins_nearly_right_is_no_free_text(style) -> None:
    whole = accepts(style, request(*TOOLS))

    for text in NEAR_MISSES[style]:
        assert not whole(text), text
        assert not whole("So: " + text), text
    assert whole("3 < 4 and a tool, called")


def test_the_near_miss_that_stays_is_named() -> None:
    made = plan(request(*TOOLS), parser="llama")

    assert accepts("llama", request(*TOOLS))('{"name":"weather","parameters":{"city":1}}')
    assert "near-miss" in [note.code for note in made.unenforced]


def test_markers_stay_in_free_text_when_the_policy_says_so() -> None:
    policy = DynamoPolicy(exclude_special_tokens=False)
    whole = accepts("qwen3_coder", request(*TOOLS), policy=policy)

    assert whole("<think>x</think> <function=nope>")
    assert not whole("<tool_call>\n<function=nope>")


ENDS = {
    "qwen_3_coder": "\n</parameter>\n</function>\n</tool_call>",
    "minimax": "</parameter>",
    "deepseek_v4": "</｜DSML｜parameter>",
    "deepseek_v4_1": "</｜DSML｜ parameter>",
    "glm_4_7": "</arg_value>",
    "cohere": "</cofl:value>",
    "kimi_k3": "<|close|>argument<|sep|>",
}


@pytest.mark.parametrize("style", sorted(ENDS))
@pytest.mark.parametrize(
    "constraint",
    [{"maxLength": 60}, {"minLength": 1}, {"pattern": "^.*$"}, {"format": "json-pointer"}],
    ids=lambda constraint: next(iter(constraint)),
)
def test_the_end_tag_is_not_let_into_a_value(style, constraint) -> None:
    schema = copy.deepcopy(WEATHER)
    schema["properties"]["city"].update(constraint)
    made = plan(request(function("weather", schema)), parser=style)
    whole = accepts(style, request(function("weather", schema)))
    stuffed = "/x" + ENDS[style]

    assert whole(tag_calls.calls(style, GOOD))
    assert not whole(tag_calls.calls(style, ("weather", {"city": stuffed, "days": 3})))
    (tool,) = made.tools
    (keyword,) = constraint
    assert tool.state == "pinned"
    assert tool.loosened == (f"/tools/0/function/parameters/properties/city/{keyword}",)
    assert not made.ok


# Where xgrammar's markup is not that of the contract ----------------------------------------------

#: style → (the table's text, xgrammar's): the tag follows xgrammar.
DIFFERENCES = {
    # an optional call: the table's trigger; here free text already stops at the token
    "qwen_3_coder": ('"triggers":["<tool_call>\\n<function="]', '"triggers":["<tool_call>"]'),
}


def test_the_trigger_of_qwen_xml_is_its_token_so_that_no_call_begins_in_text() -> None:
    made = plan(request(*TOOLS), parser="qwen3_coder")
    theirs, ours = DIFFERENCES["qwen_3_coder"]

    assert ours in made.text
    assert theirs not in made.text


def test_a_forced_deepseek_block_is_behind_two_newlines_in_v3_2_as_well() -> None:
    # The table has the newlines for v4 alone.
    for style in ("deepseek_v3_2", "deepseek_v4"):
        for choice in ("required", NAMED):
            whole = accepts(style, request(*TOOLS, tool_choice=choice))
            call = tag_calls.calls(style, GOOD)
            assert call.startswith("\n\n<")
            assert whole(call)
            assert not whole(call.removeprefix("\n\n"))


def test_a_deepseek_v4_turn_ends_with_its_block() -> None:
    # The table has the block as one of any number; xgrammar ends the turn there.
    whole = accepts("deepseek_v4", request(*TOOLS))
    call = tag_calls.calls("deepseek_v4", GOOD)

    assert whole(call)
    assert not whole(call + "\n" + call)
    assert accepts("deepseek_v3_2", request(*TOOLS))(call.replace("tool_calls", "function_calls"))


def test_required_arguments_of_kimi_k3_are_required() -> None:
    # The table: any order, any number, required not enforced.
    whole = accepts("kimi_k3", request(*TOOLS))

    assert not whole(tag_calls.calls("kimi_k3", ("weather", {"city": "Rome"})))
    assert not whole(tag_calls.calls("kimi_k3", ("weather", {"days": 3, "city": "Rome"})))


def test_an_empty_qwen_call_has_a_blank_line_where_the_table_has_empty_text() -> None:
    whole = accepts("qwen3_coder", request(*TOOLS))

    assert whole("<tool_call>\n<function=now>\n\n</function>\n</tool_call>")
    assert not whole("<tool_call>\n<function=now></function></tool_call>")


def test_relaxed_arguments_are_an_object_where_the_table_has_any_value() -> None:
    body = request(function("weather", WEATHER, strict=False))
    (format_,) = (tag["content"] for tag in plan(body, parser="hermes").tag["format"]["tags"])

    assert format_["json_schema"] == {"type": "object", "additionalProperties": True}


def test_xgrammar_has_the_styles_that_are_known_here() -> None:
    plan(request(*TOOLS), parser="inkling")
    registry = xgrammar.builtin_structural_tag._structural_tag_registry

    assert set(registry) == set(STYLES)


def test_a_tag_is_json_text_that_is_the_same_every_time(parser) -> None:
    first, second = (plan(request(*TOOLS), parser=parser) for _ in range(2))

    assert first.text == second.text
    assert first.tag == json.loads(first.text)
    assert first.tag is not first.tag
