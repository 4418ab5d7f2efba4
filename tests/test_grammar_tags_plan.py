"""What a plan is, which requests it reads, which it refuses."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import time

import pytest
from conftest import corpus

from schemaguard._frozen import _restore
from schemaguard.grammar import Compiler, Tokenizer, tags
from schemaguard.grammar.tags import DynamoPolicy, TagPlan, TagRefused, VllmPolicy, plan
from schemaguard.grammar.tags.styles import TOKEN_STYLES

xgrammar = pytest.importorskip("xgrammar")

CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
          "additionalProperties": False}  # fmt: skip


def tool(name="f", parameters=CLOSED, **more):
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def chat(*tools, **more):
    return {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [*tools], **more}


# The plan ----------------------------------------------------------------------------------------


def test_importing_the_package_does_not_import_xgrammar() -> None:
    code = (
        "import sys, schemaguard.grammar.tags as t; t.plan('{', parser='hermes'); "
        "t.plan({'messages': [], 'model': 'm'}, parser='hermes'); "
        "assert 'xgrammar' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_only_plan_makes_a_plan() -> None:
    made = plan(chat(tool()), parser="hermes")

    with pytest.raises(TypeError, match="plan"):
        TagPlan()
    with pytest.raises(AttributeError, match="frozen"):
        made.text = "{}"
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(made)
    assert copy.copy(made) is made
    assert copy.deepcopy(made) is made


def test_a_plan_that_was_put_together_elsewhere_has_no_tag_to_give() -> None:
    made = plan(chat(tool()), parser="hermes")
    fields = tuple(getattr(made, name) for name in TagPlan.__slots__ if not name.startswith("_"))
    empty = object.__new__(TagPlan)
    filled = object.__new__(TagPlan)
    filled._fill(_text="{}", refusal=None, tools=(), parser="hermes", policy=made.policy)
    compiler = Compiler(Tokenizer.byte_level(), isolation="none")

    for forged in (empty, filled):
        with pytest.raises(TypeError, match="plan"):
            forged.text  # noqa: B018 - it raises
        with pytest.raises(TypeError, match="plan"):
            compiler.compile_tag(forged)
        assert "no plan" in repr(forged)
    with pytest.raises(ValueError, match="shorter"):
        _restore(TagPlan, (made.text, *fields))
    with pytest.raises(TypeError, match="plan"):
        _restore(TagPlan, (None, made.text, *fields)).text  # noqa: B018 - it raises


def test_the_text_is_that_of_the_tag_and_has_the_schemas_as_they_were_accepted() -> None:
    text = '{"type":"object","properties":{"b":{"type":"number","minimum":1.50},"a":{"type":"string"}},"required":["b","a"],"additionalProperties":false}'
    body = json.dumps(chat()).replace(
        '"tools": []',
        '"tools": [{"type": "function", "function": {"name": "f", "parameters": ' + text + "}}]",
    )
    made = plan(body, parser="hermes")

    assert json.loads(made.text) == made.tag
    properties = made.tag["format"]["tags"][0]["content"]["json_schema"]["properties"]
    assert list(properties) == ["b", "a"]
    assert made.text == plan(body.encode(), parser="hermes").text
    assert made.text == plan(json.loads(body), parser="hermes").text


def test_each_tool_has_its_report_and_a_reason() -> None:
    made = plan(
        chat(tool("a"), tool("b", strict=False), tool("c", {"type": "object", "minProperties": "x"}),
             {"type": "function", "function": {"name": "d"}}, {"type": "web_search"}),
        parser="hermes", policy=VllmPolicy(2, unfit="relax"),
    )  # fmt: skip
    states = {t.name: t.state for t in made.tools}

    assert states == {"a": "pinned", "b": "pinned", "c": "relaxed", "d": "relaxed",
                      "web_search": "absent"}  # fmt: skip
    assert all(t.why for t in made.tools)
    assert made.tools[0].report.ok
    assert not made.tools[2].report.ok
    assert made.tools[2].report.errors[0].code in made.tools[2].why
    assert [t.pointer for t in made.tools][:2] == [
        "/tools/0/function/parameters", "/tools/1/function/parameters"]  # fmt: skip
    assert "relaxed-arguments" in [note.code for note in made.unenforced if note.tool == "c"]


def test_a_schema_that_the_engine_alone_refuses_spoils_its_own_tool_alone() -> None:
    # A list of two types with a bound that only integers may have is for the engine to refuse.
    odd = {**CLOSED, "properties": {"a": {"type": "integer", "minimum": 0.5}}}
    made = plan(chat(tool("odd", odd), tool("even")), parser="hermes")
    untried = plan(chat(tool("odd", odd), tool("even")), parser="hermes", trial=False)

    assert [t.state for t in made.tools] == ["relaxed", "pinned"]
    assert "xgrammar refuses" in made.tools[0].why
    xgrammar.Grammar.from_structural_tag(made.text)
    assert [t.state for t in untried.tools] == ["pinned", "pinned"]
    with pytest.raises(RuntimeError):
        xgrammar.Grammar.from_structural_tag(untried.text)


def test_a_refused_plan_says_why_when_asked_to_raise() -> None:
    made = plan("[]", parser="hermes")

    with pytest.raises(TagRefused, match="an array") as caught:
        made.raise_if_refused()
    assert caught.value.plan is made
    plan(chat(tool()), parser="hermes").raise_if_refused()


@pytest.mark.parametrize(
    "arguments",
    [{"reasoning": "enabled"}, {"max_whitespace": 0}, {"max_whitespace": 1001},
     {"parser": "llama", "token_markers": True}],
    ids=str,
)  # fmt: skip
def test_an_argument_out_of_its_range_is_the_callers_fault(arguments) -> None:
    with pytest.raises(ValueError, match=r"reasoning|max_whitespace|token_markers"):
        plan(chat(tool()), **{"parser": "hermes", **arguments})


def test_a_policy_is_a_policy() -> None:
    with pytest.raises(TypeError, match="str"):
        plan(chat(tool()), parser="hermes", policy="dynamo")


def test_markers_are_tokens_for_the_styles_for_which_xgrammar_knows_them() -> None:
    plan(chat(tool()), parser="inkling")
    known = xgrammar.builtin_structural_tag._structural_tag_marker_tokens

    assert set(known) == TOKEN_STYLES
    for style in TOKEN_STYLES:
        made = plan(chat(tool()), parser=style, token_markers=True)
        assert '"token"' in made.text
        assert set(made.needs_tokens) >= set(plan(chat(tool()), parser=style).needs_tokens)


# Requests ----------------------------------------------------------------------------------------


def test_responses_and_anthropic_bodies_are_read_like_chat() -> None:
    flat = {"type": "function", "name": "f", "parameters": CLOSED}
    responses = {"model": "m", "input": "?", "tools": [flat]}
    anthropic = {"model": "m", "max_tokens": 9, "messages": [],
                 "tools": [{"name": "f", "input_schema": CLOSED}]}  # fmt: skip
    for theirs, ours in [
        ({}, {}),
        ({"tool_choice": "required"}, {"tool_choice": "required"}),
        ({"tool_choice": {"type": "function", "name": "f"}},
         {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
        ({"tool_choice": {"type": "allowed_tools", "mode": "required",
                          "tools": [{"type": "function", "name": "f"}]}},
         {"tool_choice": "required"}),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
        ({"tool_choice": "none"}, {"tool_choice": "none"}),
    ]:  # fmt: skip
        assert (
            plan({**responses, **theirs}, parser="hermes").text
            == plan(chat(tool(), **ours), parser="hermes").text
        )
    for theirs, ours in [
        ({}, {}),
        ({"tool_choice": {"type": "any"}}, {"tool_choice": "required"}),
        ({"tool_choice": {"type": "tool", "name": "f"}},
         {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
        ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
         {"parallel_tool_calls": False}),
        ({"tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
    ]:  # fmt: skip
        made = plan({**anthropic, **theirs}, parser="hermes")
        assert made.text == plan(chat(tool(), **ours), parser="hermes").text
        assert made.tools[0].pointer == "/tools/0/input_schema"


def test_tools_of_system_messages_and_namespaces_can_be_called() -> None:
    system = {"role": "system", "content": "", "tools": [tool("g")]}
    kimi = plan(chat(tool("f"), messages=[system]), parser="kimi_k2")
    space = {"type": "namespace", "name": "n",
             "tools": [{"type": "function", "name": "f", "parameters": CLOSED}]}  # fmt: skip
    responses = plan({"model": "m", "input": "?", "tools": [space]}, parser="hermes")

    assert [t.name for t in kimi.tools] == ["f", "g"]
    assert kimi.tools[1].pointer == "/messages/0/tools/0/function/parameters"
    assert [t.pointer for t in responses.tools] == ["/tools/0/tools/0/parameters"]


@pytest.mark.parametrize("body", [chat(), {"model": "m", "messages": []}, chat(tools=None)])
def test_a_request_without_tools_has_no_tag_and_is_not_refused(body) -> None:
    made = plan(body, parser="hermes")

    assert made.text is None
    assert made.refusal is None
    assert made.ok


CYCLE: dict = {"model": "m", "messages": []}
CYCLE["tools"] = [CYCLE]
DEEP: list = []
for _ in range(100_000):
    DEEP = [DEEP]


class Liar(dict):
    """A mapping that fails when it is looked at."""

    def __getitem__(self, key):
        raise RuntimeError(key)

    get = items = __iter__ = __getitem__


@pytest.mark.parametrize(
    "body",
    [
        "", "{", b"\xff", "null", "[]", "1", '"x"', None, 1, [], object(), Liar(),
        '{"messages": [], "messages": []}', "[" * 100_000, DEEP, CYCLE,
        {"openapi": "3.1.0", "paths": {}}, {"contents": [], "tools": [{"functionDeclarations": []}]},
        chat(tools={}), chat(tools="f"), chat(tools=[1]), chat(tools=[None]), chat(tools=[{}]),
        chat(tools=[{"type": "function"}]), chat(tools=[{"type": "function", "function": []}]),
        chat(tool(None)), chat(tool(1)), chat(tool(["f"])), chat(tool(strict="yes")), chat(tool(strict=1)),
        chat(tool(), tool_choice="maybe"), chat(tool(), tool_choice=1), chat(tool(), tool_choice={}),
        chat(tool(), tool_choice={"type": ["x"]}),
        chat(tool(), tool_choice={"type": "function", "function": {"name": "g"}}),
        chat(tool(), tool_choice={"type": "function", "name": "f"}),
        chat(tool(), tool_choice={"type": "allowed_tools"}),
        chat(tool(), tool_choice={"type": "allowed_tools", "allowed_tools": {"tools": [1]}}),
        chat(tool(), parallel_tool_calls="no"), chat(tool(), parallel_tool_calls=0),
        chat(*[tool(f"t{n}") for n in range(1_537)]),
        {"model": "m", "input": "?", "tools": [
            {"type": "namespace", "tools": [{"type": "namespace", "tools": []}]}]},
    ],
    ids=lambda body: str(type(body).__name__) if not isinstance(body, (str, bytes)) else repr(body[:20]),
)  # fmt: skip
@pytest.mark.parametrize("policy", [DynamoPolicy(), VllmPolicy(2)], ids=["dynamo", "vllm"])
def test_a_bad_request_is_refused_and_nothing_is_raised(body, policy) -> None:
    made = plan(body, parser="hermes", policy=policy)

    assert made.refusal
    assert made.refusal.isprintable()
    assert len(made.refusal) < 500
    assert made.text is None
    assert not made.ok


def test_what_a_stranger_names_cannot_move_the_cursor() -> None:
    made = plan(chat(tool("\x1b[2J\u202e" * 1000)), parser="hermes", policy=VllmPolicy(2))

    assert made.refusal.isprintable()
    assert all(note.message.isprintable() for note in (*made.unenforced, *made.warnings))


# Names -------------------------------------------------------------------------------------------

#: style → names that its markup cannot carry; what follows a name in it is among them.
UNWRITABLE = {
    "qwen_3": ['a"b', "a\\b", "a</tool_call>"],
    "llama": ['a"b', "a\\u0022"],
    "exaone": ['a"', "a<b"],
    "inkling": ['a"', "a<|end_message|>"],
    "qwen_3_coder": ["a>b", "a<b", "a b", "a\\b"],
    "mimo": ["a>b", "a b"],
    "glm_4_7": ["a<arg_key>", "a b"],
    "kimi": ["a:1", "a<b", "a b"],
    "kimi_k3": ['a"b', "a&b", "a<b"],
    "deepseek_r1": ["a`b", "a<b", "a｜b"],
    "deepseek_v3_1": ["a<｜tool▁sep｜>"],
    "deepseek_v3_2": ['a"b', "a<b"],
    "deepseek_v4": ['a"b', "a>b"],
    "deepseek_v4_1": ['a"b'],
    "minimax": ['a"b', "a<b"],
    "minimax_m3": ['a"b', "a<b"],
    "gemma_4": ["a{b", "a:b", "a<b"],
    "cohere": ['a"b', "a&b"],
    "harmony": ["a b", "a<|channel|>"],
}
UNWRITABLE["qwen_3_5"] = UNWRITABLE["qwen_3_coder"]
NOWHERE = ["", " ", "\t", "a\nb", "a\x00b", "a\x1b[2J", "a\u202eb", " a", "a ", "\ud800", "a" * 129,
           "é" * 65]  # fmt: skip


@pytest.mark.parametrize("style", sorted(tags.STYLES))
def test_names_that_the_markup_cannot_carry_are_refused(style) -> None:
    for name in (*UNWRITABLE[style], *NOWHERE):
        made = plan(chat(tool(name)), parser=style, policy=VllmPolicy(2))
        assert made.refusal is not None, name
        assert made.text is None
    for name in ("a", "A-b_9", "a.b", "a" * 128, "é"):
        made = plan(chat(tool(name)), parser=style, policy=VllmPolicy(2))
        assert made.refusal is None, name


def test_a_name_that_cannot_be_written_does_not_matter_when_it_cannot_be_called() -> None:
    choice = {"type": "function", "function": {"name": "f"}}
    body = chat(tool("f"), tool('a"b'), tool_choice=choice)

    assert plan(body, parser="hermes", policy=VllmPolicy(2)).refusal is None
    body["tool_choice"] = "auto"
    assert plan(body, parser="hermes", policy=VllmPolicy(2)).refusal is not None


@pytest.mark.parametrize("policy", [DynamoPolicy(), VllmPolicy(2)], ids=["dynamo", "vllm"])
def test_two_tools_of_one_name_are_refused(policy) -> None:
    made = plan(chat(tool("f"), tool("g"), tool("f")), parser="hermes", policy=policy)

    assert "'f'" in made.refusal


def test_dynamos_own_rules_for_requests_refuse_first() -> None:
    made = plan(chat(tool("a.b")), parser="hermes")

    assert "preflight" in made.refusal
    assert plan(chat(tool("a.b")), parser="hermes", policy=VllmPolicy(2)).refusal is None


# Size --------------------------------------------------------------------------------------------


def test_a_hostile_request_is_planned_in_bounded_time() -> None:
    wide = {"type": "object", "additionalProperties": False,
            "properties": {f"p{n}": {"type": "string", "pattern": f"^.{{1,{n + 1}}}$"} for n in range(30)}}  # fmt: skip
    body = chat(*[tool(f"t{n}", {**wide, "title": str(n)}) for n in range(200)])
    start = time.process_time()
    made = plan(body, parser="qwen3_coder", policy=VllmPolicy(2, unfit="relax"))

    assert time.process_time() - start < 20
    assert made.refusal is None
    assert len(made.tools) == 200


def test_requests_of_the_corpus_are_planned_for_every_parser_and_the_engine_takes_the_tags() -> (
    None
):
    bodies = [r["body"] for r in corpus("requests.jsonl.gz")
              if r["api"] in ("openai-chat", "openai-responses", "anthropic")]  # fmt: skip
    built = 0
    for index, body in enumerate(bodies):
        parser = sorted(tags.PARSERS)[index % len(tags.PARSERS)]
        made = plan(body, parser=parser, policy=VllmPolicy(2, unfit="relax"))
        assert made.refusal is None or made.text is None
        if made.text is not None:
            xgrammar.Grammar.from_structural_tag(made.text)
            built += 1
    print(f"{built} tags of {len(bodies)} requests")
    assert built > len(bodies) // 2
