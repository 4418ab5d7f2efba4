"""The tables of the three servers, a row a case."""

from __future__ import annotations

import pickle

import pytest

from schemaguard.errors import SchemaguardError
from schemaguard.grammar.tags import (
    DynamoPolicy,
    PolicyError,
    SglangPolicy,
    VllmPolicy,
    plan,
    policy_of,
)

pytest.importorskip("xgrammar")

CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
          "additionalProperties": False}  # fmt: skip
TRUE, FALSE, OMITTED = True, False, None


def request(*strict, parameters=CLOSED, **more):
    """A request with a tool for each value of `strict`."""
    tools = []
    for index, value in enumerate(strict):
        function = {"name": f"t{index}", "parameters": parameters}
        if value is not None:
            function["strict"] = value
        tools.append({"type": "function", "function": function})
    return {"model": "m", "messages": [], "tools": tools, **more}


NAMED = {"type": "function", "function": {"name": "t0"}}


def states(made):
    return [tool.state for tool in made.tools]


def kind(made):
    """What sort of tag it is: "calls", "ban" or None."""
    if made.text is None:
        return None
    return "ban" if made.tag["format"]["type"] == "any_text" else "calls"


# Dynamo ------------------------------------------------------------------------------------------

#: scope, tool_choice, strict of the tools, parallel_tool_calls, tools in the prompt → tag
DYNAMO_SCOPES = [
    ("always", "required", [FALSE], None, None, "calls"),
    ("always", NAMED, [FALSE], None, None, "calls"),
    ("always", "auto", [OMITTED], None, None, "calls"),
    ("always", "auto", [FALSE], None, None, "calls"),
    ("always", None, [OMITTED], None, None, "calls"),
    ("always", "none", [OMITTED], None, False, "ban"),
    ("always", "none", [OMITTED], None, True, "ban"),
    ("auto", "required", [FALSE], None, None, "calls"),
    ("auto", NAMED, [FALSE], None, None, "calls"),
    ("auto", "auto", [TRUE], None, None, "calls"),
    ("auto", "auto", [FALSE, TRUE], None, None, "calls"),
    ("auto", "auto", [OMITTED], None, None, None),
    ("auto", "auto", [FALSE], None, None, None),
    ("auto", "auto", [OMITTED], False, None, "calls"),
    ("auto", "auto", [OMITTED], True, None, None),
    ("auto", "none", [OMITTED], None, True, "ban"),
    ("auto", "none", [OMITTED], None, False, None),
    ("auto", "none", [TRUE], None, None, None),  # Dynamo strips the tools by default
]


@pytest.mark.parametrize(
    ("scope", "choice", "strict", "parallel", "in_prompt", "tag"), DYNAMO_SCOPES
)
def test_dynamo_scopes(scope, choice, strict, parallel, in_prompt, tag) -> None:
    body = request(*strict)
    if choice is not None:
        body["tool_choice"] = choice
    if parallel is not None:
        body["parallel_tool_calls"] = parallel
    made = plan(body, parser="hermes", policy=DynamoPolicy(scope=scope), tools_in_prompt=in_prompt)

    assert kind(made) == tag
    assert made.reason


#: schema mode, strict → state
DYNAMO_SCHEMAS = [
    ("auto", TRUE, "pinned"),
    ("auto", OMITTED, "pinned"),
    ("auto", FALSE, "relaxed"),
    ("strict", TRUE, "pinned"),
    ("strict", OMITTED, "pinned"),
    ("strict", FALSE, "pinned"),
]


@pytest.mark.parametrize(("mode", "strict", "state"), DYNAMO_SCHEMAS)
def test_dynamo_schema_modes(mode, strict, state) -> None:
    made = plan(request(strict), parser="hermes", policy=DynamoPolicy(schema=mode))

    assert states(made) == [state]
    assert made.ok
    assert mode in made.tools[0].why


#: style, choice → tag, when tags are off
DYNAMO_OFF = [
    ("hermes", "required", None),
    ("hermes", "auto", None),
    ("hermes", "none", None),
    ("kimi_k2", "required", "calls"),
    ("kimi_k2", NAMED, "calls"),
    ("kimi_k2", "auto", None),
    ("kimi_k3", NAMED, "calls"),
    ("kimi-k3", NAMED, "calls"),
    ("kimi_k3", "required", None),
    ("kimi_k3", "auto", None),
]


@pytest.mark.parametrize(("parser", "choice", "tag"), DYNAMO_OFF)
def test_dynamo_forces_kimi_calls_even_when_tags_are_off(parser, choice, tag) -> None:
    made = plan(
        request(TRUE, tool_choice=choice), parser=parser, policy=DynamoPolicy.parse("false")
    )

    assert kind(made) == tag
    if tag is None:
        assert "off" in made.reason


DEFAULTS = {
    "enabled": True,
    "scope": "always",
    "schema": "auto",
    "allow_tool_calls_with_structured_output": False,
    "exclude_special_tokens": None,
    "reasoning_boundary": "auto",
    "tool_arguments_any_order": False,
    "exclude_tools_when_tool_choice_none": True,
}

#: text → what differs from the defaults
DYNAMO_TEXTS = [
    ("true", {}),
    ("TRUE", {}),
    ("false", {"enabled": False}),
    ("{}", {}),
    (' {"scope": "auto"} ', {"scope": "auto"}),
    ('{"scope": "always"}', {}),
    ('{"schema": "strict"}', {"schema": "strict"}),
    ('{"allow_tool_calls_with_structured_output": true}',
     {"allow_tool_calls_with_structured_output": True}),
    ('{"exclude_special_tokens": false}', {"exclude_special_tokens": False}),
    ('{"exclude_special_tokens": true}', {"exclude_special_tokens": True}),
    ('{"exclude_special_tokens": null}', {}),
    ('{"reasoning_boundary": "structural_tag"}', {"reasoning_boundary": "structural_tag"}),
    ('{"reasoning_boundary": "backend"}', {"reasoning_boundary": "backend"}),
    ('{"tool_arguments_any_order": true}', {"tool_arguments_any_order": True}),
    ('{"scope":"auto","schema":"strict","reasoning_boundary":"backend"}',
     {"scope": "auto", "schema": "strict", "reasoning_boundary": "backend"}),
]  # fmt: skip


def fields(policy):
    return {name: getattr(policy, name) for name in DEFAULTS}


@pytest.mark.parametrize(("text", "differs"), DYNAMO_TEXTS)
def test_dynamo_settings_are_read_from_their_text(text, differs) -> None:
    expected = {**DEFAULTS, **differs}

    assert fields(DynamoPolicy.parse(text)) == expected
    assert fields(DynamoPolicy.from_env({"DYN_STRUCTURAL_TAG": text})) == expected
    assert fields(DynamoPolicy.from_arguments(["--dyn-structural-tag", text])) == expected
    assert fields(DynamoPolicy.from_arguments([f"--dyn-structural-tag={text}"])) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "maybe", "{", "[]", "null", '"auto"', '{"unknown": true}', '{"Scope": "auto"}',
        '{"scope": "sometimes"}', '{"scope": true}', '{"scope": null}', '{"schema": "relaxed"}',
        '{"allow_tool_calls_with_structured_output": "yes"}',
        '{"allow_tool_calls_with_structured_output": 1}',
        '{"allow_tool_calls_with_structured_output": null}', '{"exclude_special_tokens": 0}',
        '{"reasoning_boundary": "engine"}', '{"tool_arguments_any_order": 1.0}',
        '{"scope": "auto", "scope": "always"}', '{"enabled": true}', '{"unfit": "absent"}',
        '{"scope": ["auto"]}', "[" * 100_000, '{"scope": "' + "a" * 100_000 + '"}',
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_a_setting_that_dynamo_would_refuse_is_an_error(text) -> None:
    for read in (
        DynamoPolicy.parse,
        lambda text: DynamoPolicy.from_env({"DYN_STRUCTURAL_TAG": text}),
        lambda text: policy_of(f"dynamo:{text}"),
    ):
        with pytest.raises(PolicyError) as caught:
            read(text)
        assert isinstance(caught.value, SchemaguardError)
        assert len(str(caught.value)) < 400


#: arguments, environment → fields, and whether something deprecated was used
DYNAMO_LEGACY = [
    ([], {}, {}, False),
    (["--dyn-structural-tag"], {}, {}, False),
    (["--dyn-structural-tag", "--other"], {}, {}, False),
    (["--dyn-enable-structural-tag"], {}, {}, True),
    (["--no-dyn-enable-structural-tag"], {}, {"enabled": False}, True),
    (["--dyn-structural-tag-scope", "auto"], {}, {"scope": "auto"}, True),
    (["--dyn-structural-tag-scope=auto", "--dyn-structural-tag-schema=strict"], {},
     {"scope": "auto", "schema": "strict"}, True),
    ([], {"DYN_ENABLE_STRUCTURAL_TAG": "false"}, {"enabled": False}, True),
    ([], {"DYN_ENABLE_STRUCTURAL_TAG": "1"}, {}, True),
    ([], {"DYN_STRUCTURAL_TAG_SCOPE": "auto"}, {"scope": "auto"}, True),
    ([], {"DYN_STRUCTURAL_TAG_SCHEMA": "strict"}, {"schema": "strict"}, True),
    (["--dyn-enable-structural-tag"], {"DYN_ENABLE_STRUCTURAL_TAG": "false"}, {}, True),
    (["--dyn-structural-tag", "true"], {"DYN_STRUCTURAL_TAG": "false"}, {}, False),
    (["--no-exclude-tools-when-tool-choice-none"], {},
     {"exclude_tools_when_tool_choice_none": False}, False),
    ([], {"DYN_EXCLUDE_TOOLS_WHEN_TOOL_CHOICE_NONE": "0"},
     {"exclude_tools_when_tool_choice_none": False}, False),
    (["--model", "x", "--dyn-tool-call-parser", "hermes"], {"HOME": "/"}, {}, False),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "environ", "differs", "deprecated"), DYNAMO_LEGACY)
def test_legacy_switches_still_count_and_are_said(arguments, environ, differs, deprecated) -> None:
    policy = DynamoPolicy.from_arguments(arguments, environ)
    made = plan(request(TRUE), parser="hermes", policy=policy)

    assert fields(policy) == {**DEFAULTS, **differs}
    assert ("deprecated-switch" in [note.code for note in made.warnings]) is deprecated


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        (["--dyn-structural-tag", "{}", "--dyn-structural-tag-scope", "always"], {}),
        ([], {"DYN_STRUCTURAL_TAG": "true", "DYN_STRUCTURAL_TAG_SCHEMA": "strict"}),
        (["--dyn-structural-tag-scope"], {}),
        (["--dyn-structural-tag-scope", "never"], {}),
        ([], {"DYN_ENABLE_STRUCTURAL_TAG": "maybe"}),
        ([], {"DYN_EXCLUDE_TOOLS_WHEN_TOOL_CHOICE_NONE": ""}),
    ],
)
def test_switches_that_contradict_or_lack_a_value_are_errors(arguments, environ) -> None:
    with pytest.raises(PolicyError):
        DynamoPolicy.from_arguments(arguments, environ)


def test_a_strict_tool_that_fails_dynamos_preflight_refuses_the_request() -> None:
    open_object = {"type": "object", "properties": {"a": {"type": "integer"}}}
    strict = plan(request(OMITTED, TRUE, parameters=open_object), parser="hermes")

    assert strict.refusal is not None
    assert "'t1'" in strict.refusal
    assert strict.text is None
    # Tags and preflight are independent: the same schema is pinned where Dynamo does not check it.
    omitted = plan(request(OMITTED, parameters=open_object), parser="hermes")
    assert states(omitted) == ["pinned"]


def test_the_boundary_of_reasoning_is_the_policys() -> None:
    backend = DynamoPolicy(reasoning_boundary="backend")
    tag = DynamoPolicy(reasoning_boundary="structural_tag")
    body = request(TRUE, tool_choice="required")

    assert (
        plan(body, parser="hermes", policy=backend, reasoning="on").text
        == plan(body, parser="hermes", reasoning="backend").text
    )
    assert (
        plan(body, parser="hermes", policy=tag, reasoning="on").text
        == plan(body, parser="hermes", reasoning="on").text
    )
    with pytest.raises(ValueError, match="reasoning_boundary"):
        plan(body, parser="hermes", policy=tag, reasoning="backend")


@pytest.mark.parametrize("in_prompt", [True, False])
def test_the_price_of_a_ban_is_said_either_way(in_prompt) -> None:
    made = plan(request(TRUE, tool_choice="none"), parser="hermes", tools_in_prompt=in_prompt)
    (note,) = [note for note in made.warnings if note.code.startswith("tools-")]

    assert note.code == ("tools-in-prompt" if in_prompt else "tools-stripped")
    assert "prefix" in note.message
    assert "answers" in note.message


# vLLM and SGLang ---------------------------------------------------------------------------------

#: level, tool_choice, strict of the tools → states, or None for no tag
LEVELS = [
    (0, "auto", [TRUE, FALSE, OMITTED], ["pinned", "relaxed", "relaxed"]),
    (0, "auto", [FALSE, OMITTED], None),
    (0, "auto", [FALSE, FALSE], None),
    (0, "auto", [OMITTED], None),
    (0, "required", [OMITTED, TRUE], ["relaxed", "pinned"]),
    (0, NAMED, [OMITTED], ["relaxed"]),
    (0, NAMED, [TRUE, TRUE], ["pinned", "absent"]),
    (0, "none", [TRUE], None),
    (1, "auto", [TRUE, FALSE, OMITTED], ["pinned", "relaxed", "relaxed"]),
    (1, "auto", [OMITTED], ["relaxed"]),
    (1, "auto", [FALSE], ["relaxed"]),
    (1, "none", [TRUE], None),
    (2, "auto", [TRUE, FALSE, OMITTED], ["pinned", "pinned", "pinned"]),
    (2, "auto", [FALSE], ["pinned"]),
    (2, NAMED, [OMITTED], ["pinned"]),
    (2, "none", [TRUE], None),
]


@pytest.mark.parametrize(("level", "choice", "strict", "expected"), LEVELS)
@pytest.mark.parametrize("policy", [VllmPolicy, SglangPolicy])
def test_levels(policy, level, choice, strict, expected) -> None:
    made = plan(request(*strict, tool_choice=choice), parser="hermes", policy=policy(level))

    if expected is None:
        assert made.text is None
        assert made.reason
        assert made.ok
    else:
        assert kind(made) == "calls"
        assert states(made) == expected


@pytest.mark.parametrize(
    ("text", "level"),
    [("auto", 0), ("function", 1), ("parameter", 2), ("Parameter", 2), ("0", 0), (" 2 ", 2)],
)
def test_vllm_levels_have_names_and_numbers(text, level) -> None:
    assert VllmPolicy.parse(text).level == level
    assert policy_of(f"vllm:{text}") == VllmPolicy(level)


@pytest.mark.parametrize("text", ["", "3", "-1", "strict", "1.0", "true", "auto function"])
def test_there_is_no_other_vllm_level(text) -> None:
    with pytest.raises(PolicyError):
        VllmPolicy.parse(text)


@pytest.mark.parametrize("text", ["", "3", "auto", "PARAMETER", "2.0"])
def test_sglang_levels_are_numbers(text) -> None:
    assert SglangPolicy.parse("2").level == 2
    assert SglangPolicy.from_env({"SGLANG_TOOL_STRICT_LEVEL": "1"}).level == 1
    assert SglangPolicy.from_env({}).level == 0
    with pytest.raises(PolicyError):
        SglangPolicy.parse(text)
    with pytest.raises(PolicyError):
        SglangPolicy.from_env({"SGLANG_TOOL_STRICT_LEVEL": text})


@pytest.mark.parametrize(
    ("value", "enabled"), [("false", False), ("0", False), ("FALSE", False), ("1", True)]
)
def test_vllm_can_be_told_to_build_no_tags_at_all(value, enabled) -> None:
    environ = {"VLLM_ENFORCE_STRICT_TOOL_CALLING": value}
    policy = VllmPolicy.from_env(environ, level="parameter")
    made = plan(request(TRUE, tool_choice="required"), parser="hermes", policy=policy)

    assert policy == policy_of("vllm:parameter", environ)
    assert (made.text is not None) is enabled
    if not enabled:
        assert "VLLM_ENFORCE_STRICT_TOOL_CALLING" in made.reason
    with pytest.raises(PolicyError):
        VllmPolicy.from_env({"VLLM_ENFORCE_STRICT_TOOL_CALLING": "perhaps"})


def test_vllms_generic_parser_refuses_strict_tools() -> None:
    strict = plan(request(TRUE), parser="hf", policy=VllmPolicy())
    loose = plan(request(OMITTED), parser="hf", policy=VllmPolicy())

    assert strict.refusal is not None
    assert loose.refusal is None
    assert loose.text is None


def test_a_parser_without_a_tag_falls_back_without_an_error() -> None:
    made = plan(request(TRUE), parser="mistral")

    assert made.refusal is None
    assert made.text is None
    assert "mistral" in made.reason
    assert not made.ok


# What does not fit -------------------------------------------------------------------------------

UNFIT = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("policy", "state", "refused"),
    [
        (DynamoPolicy(), "relaxed", False),
        (DynamoPolicy(unfit="refuse"), "relaxed", True),
        (DynamoPolicy(unfit="absent"), "absent", False),
        (VllmPolicy(2), "relaxed", True),
        (VllmPolicy(2, unfit="relax"), "relaxed", False),
        (SglangPolicy(2), "relaxed", False),
        (SglangPolicy(2, unfit="absent"), "absent", False),
    ],
)
def test_what_happens_to_a_tool_that_cannot_be_pinned_is_the_policys(
    policy, state, refused
) -> None:
    body = request(OMITTED, OMITTED)
    body["tools"][1]["function"]["parameters"] = UNFIT
    made = plan(body, parser="hermes", policy=policy)

    assert (made.refusal is not None) is refused
    assert made.tools[1].state == state
    assert not made.tools[1].as_wanted
    assert not made.ok
    assert (made.text is None) is refused
    if state == "absent":
        assert "t1" not in made.text


@pytest.mark.parametrize("name", ["unfit", "dear"])
def test_what_a_policy_can_do_is_a_word_of_a_few(name) -> None:
    with pytest.raises(PolicyError, match=name):
        DynamoPolicy(**{name: "whatever"})


def test_dear_constraints_can_make_a_tool_unfit() -> None:
    dear = {**CLOSED, "properties": {"a": {"type": "string", "maxLength": 500}}}
    loosened = plan(request(OMITTED, parameters=dear), parser="qwen3_coder")
    relaxed = plan(
        request(OMITTED, parameters=dear), parser="qwen3_coder", policy=DynamoPolicy(dear="unfit")
    )

    assert states(loosened) == ["pinned"]
    assert loosened.tools[0].loosened == ("/tools/0/function/parameters/properties/a/maxLength",)
    assert states(relaxed) == ["relaxed"]


def test_sglangs_builder_stumbles_over_definitions_of_one_name_and_the_plan_says_so() -> None:
    def with_definition(kind):
        return {
            **CLOSED,
            "properties": {"a": {"$ref": "#/$defs/X"}},
            "$defs": {"X": {"type": kind}},
        }

    body = request(TRUE, TRUE)
    body["tools"][0]["function"]["parameters"] = with_definition("integer")
    body["tools"][1]["function"]["parameters"] = with_definition("string")
    clash = plan(body, parser="hermes", policy=SglangPolicy(2))
    body["tools"][1]["function"]["parameters"] = with_definition("integer")
    same = plan(body, parser="hermes", policy=SglangPolicy(2))

    assert "clashing-defs" in [note.code for note in clash.warnings]
    assert clash.ok
    assert "clashing-defs" not in [note.code for note in same.warnings]


# Values ------------------------------------------------------------------------------------------


def test_policies_are_values() -> None:
    assert DynamoPolicy() == DynamoPolicy.parse("true")
    assert DynamoPolicy() != DynamoPolicy(dear="unfit")
    assert VllmPolicy() != SglangPolicy()
    assert pickle.loads(pickle.dumps(VllmPolicy(2))) == VllmPolicy(2)  # noqa: S301 - own bytes
    with pytest.raises(AttributeError):
        DynamoPolicy().scope = "auto"
    for text in ("dynamo", "vllm", "sglang"):
        assert policy_of(text).name == text
    with pytest.raises(PolicyError, match="no policy"):
        policy_of("trtllm")
