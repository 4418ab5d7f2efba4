"""A request is checked in the order of the server, and refused in its words."""

from __future__ import annotations

import copy
import gzip
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schemaguard
from schemaguard import Limits, check_request
from schemaguard.errors import dynamo_body
from schemaguard.rules import ADVICE, REQUEST, RULES, TOOL, TOOLSET

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpora" / "requests.jsonl.gz"

GOOD: dict[str, Any] = {"type": "object", "additionalProperties": False}
OPEN: dict[str, Any] = {"type": "object"}
OPEN_WORDS = "object schemas require additionalProperties: false"
UNTYPED_WORDS = (
    "unsupported root representation: Dynamo requires an object-only type or local-reference chain"
)
PREFIX = {"chat": "Validation: ", "responses": "Failed to convert responses request: "}
BOTH = pytest.mark.parametrize("api", ["chat", "responses"])


def function(name: Any = "f", parameters: Any = GOOD, strict: Any = True) -> dict[str, Any]:
    """A strict function with a good schema, unless told otherwise; `...` leaves a member out."""
    members = {"name": name, "parameters": parameters, "strict": strict}
    return {key: value for key, value in members.items() if value is not ...}


def tool(api: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    made = function(*args, **kwargs)
    return {"type": "function", "function": made} if api == "chat" else {"type": "function", **made}


def namespace(name: str, *functions: dict[str, Any]) -> dict[str, Any]:
    members = [{"type": "function", **made} for made in functions]
    return {"type": "namespace", "name": name, "tools": members}


def codes(result: schemaguard.RequestResult) -> list[str]:
    return [diagnostic.code for diagnostic in result.diagnostics]


def places(result: schemaguard.RequestResult) -> list[tuple[str, str]]:
    return [(diagnostic.name, diagnostic.pointer) for diagnostic in result.diagnostics]


def message(result: schemaguard.RequestResult) -> str:
    answer = dynamo_body(result)
    assert answer is not None
    status, body = answer
    assert (status, list(body), body["type"], body["code"]) == (
        400,
        ["message", "type", "code"],
        "Bad Request",
        400,
    )
    assert isinstance(body["message"], str)
    return body["message"]


def schema_words(api: str, name: str, pointer: str, detail: str) -> str:
    return f"{PREFIX[api]}Invalid schema for function '{name}': In context=#{pointer}, {detail}"


# --------------------------------------------------------------------------------------------------
# which schemas are checked (rule 1)
# --------------------------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize("strict", [True, False, None, ...])
@pytest.mark.parametrize("parameters", [{}, OPEN, None, ...])
def test_a_schema_is_checked_when_strict_is_true_and_parameters_are_there(
    api: str, strict: Any, parameters: Any
) -> None:
    result = check_request({"tools": [tool(api, "f", parameters, strict)]}, api)

    (report,) = result.tools
    should_check = strict is True and parameters not in (None, ...)
    assert report.checked == should_check == (report.report is not None)
    assert (report.reason is None) == should_check
    assert result.ok != should_check
    if not should_check:
        assert report.reason == ("no parameters" if strict is True else "not strict")
    assert report.strict == (None if strict is ... else strict)


@BOTH
def test_an_empty_schema_is_a_schema(api: str) -> None:
    result = check_request({"tools": [tool(api, "f", {})]}, api)

    assert message(result) == schema_words(api, "f", "", UNTYPED_WORDS)


@BOTH
@pytest.mark.parametrize("strict", ["true", "false", 1, 0, 1.0, [], {}, "", [True]])
def test_strict_that_is_no_boolean_is_an_error_of_the_request(api: str, strict: Any) -> None:
    result = check_request({"tools": [tool(api, "f", OPEN, strict)]}, api)

    inside = "/tools/0/function" if api == "chat" else "/tools/0"
    assert places(result) == [("non-boolean-strict", inside + "/strict")]
    assert result.tools[0].strict is None
    assert result.tools[0].reason == "malformed tool"
    assert result.refused_tool is None


@BOTH
@pytest.mark.parametrize("choice", ["none", "auto", "required", None])
def test_schemas_are_checked_for_every_tool_choice(api: str, choice: str | None) -> None:
    result = check_request({"tools": [tool(api, "f", OPEN)], "tool_choice": choice}, api)

    assert result.diagnostics == ()
    assert message(result) == schema_words(api, "f", "", OPEN_WORDS)


@BOTH
def test_every_bad_schema_has_its_report_and_the_first_one_is_named(api: str) -> None:
    kinds = [GOOD, OPEN, {}, GOOD, {"type": "array"}]
    tools = [tool(api, f"f{index}", schema) for index, schema in enumerate(kinds)]
    result = check_request({"tools": tools}, api)

    assert [report.report and report.report.ok for report in result.tools] == [
        True,
        False,
        False,
        True,
        False,
    ]
    assert result.refused_tool is result.tools[1]
    assert message(result) == schema_words(api, "f1", "", OPEN_WORDS)


@BOTH
def test_tools_share_no_counters(api: str) -> None:
    names = [f"p{index}" for index in range(4_000)]
    wide = {**GOOD, "properties": dict.fromkeys(names, True), "required": names}

    assert check_request({"tools": [tool(api, "a", wide), tool(api, "b", wide)]}, api).ok


@BOTH
def test_a_request_without_tools_is_accepted(api: str) -> None:
    for body in ({}, {"tools": None}, {"tools": []}):
        result = check_request(body, api)
        assert result.ok
        assert result.tools == ()
        assert dynamo_body(result) is None


# --------------------------------------------------------------------------------------------------
# the loop of Chat (rule 45)
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a" * 128, None),
        ("a" * 129, "long-tool-name"),
        ("é" * 64, "illegal-tool-name"),  # 128 bytes
        ("é" * 64 + "a", "long-tool-name"),  # 129 bytes, 65 characters
        ("é" * 65, "long-tool-name"),
        ("", "blank-tool-name"),
        (" \t\n", "blank-tool-name"),
        ("\u2003", "blank-tool-name"),
        (" a", "illegal-tool-name"),
        ("a\n", "illegal-tool-name"),
        ("a.b", "illegal-tool-name"),
        ("a/b", "illegal-tool-name"),
        ("é", "illegal-tool-name"),
        ("\uff41", "illegal-tool-name"),  # a full-width a
        ("\u0661", "illegal-tool-name"),  # an Arabic one
        ("\x1b[31m", "illegal-tool-name"),
        ("Az09_-", None),
        ("_", None),
        ("-", None),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
@BOTH
def test_a_name_is_short_not_blank_and_of_few_characters(
    api: str, name: str, rule: str | None, strict: bool
) -> None:
    result = check_request({"tools": [tool(api, name, strict=strict)]}, api)

    inside = "/tools/0/function" if api == "chat" else "/tools/0"
    assert places(result) == ([] if rule is None else [(rule, inside + "/name")])
    assert result.ok == (rule is None)
    if rule is not None:
        assert message(result).startswith(PREFIX[api])


@pytest.mark.parametrize("parameters", [True, False, [], [{}], "{}", "", 0, 1.5])
@pytest.mark.parametrize("strict", [True, False, None, ...])
def test_chat_refuses_parameters_that_are_no_object_at_any_strictness(
    parameters: Any, strict: Any
) -> None:
    result = check_request({"tools": [tool("chat", "f", parameters, strict)]}, "chat")

    assert places(result) == [("non-object-parameters", "/tools/0/function/parameters")]
    assert not result.tools[0].checked
    assert result.tools[0].reason == (
        "parameters are not an object" if strict is True else "not strict"
    )


def test_chat_takes_1536_tools_and_no_more() -> None:
    tools = [tool("chat", "f", strict=False)] * 1_536

    assert check_request({"tools": tools}, "chat").ok

    result = check_request({"tools": [*tools, tool("chat", "f", OPEN)]}, "chat")
    assert places(result) == [("too-many-tools", "/tools")]
    assert "1537 tools" in message(result)
    assert result.tools[-1].checked  # still reported


def test_on_chat_the_name_is_named_before_the_parameters_before_the_next_tool() -> None:
    both = tool("chat", "a b", True)
    result = check_request({"tools": [both, tool("chat", "c d", OPEN)]}, "chat")

    assert places(result) == [
        ("illegal-tool-name", "/tools/0/function/name"),
        ("non-object-parameters", "/tools/0/function/parameters"),
        ("illegal-tool-name", "/tools/1/function/name"),
    ]
    assert result.refusal == result.diagnostics[0]
    assert result.tools[1].checked


def test_on_chat_a_bad_schema_is_named_before_the_bad_name_of_a_later_tool() -> None:
    result = check_request({"tools": [tool("chat", "a", OPEN), tool("chat", "b c")]}, "chat")

    assert codes(result) == ["SG607"]
    assert message(result) == schema_words("chat", "a", "", OPEN_WORDS)


def test_tools_of_system_messages_follow_those_of_the_request() -> None:
    late = {"role": "system", "tools": [tool("chat", "late", {})]}
    body = {"messages": [{"role": "user", "content": "x"}, late], "tools": [tool("chat", "a")]}
    result = check_request(body, "chat")

    assert [(report.name, report.pointer) for report in result.tools] == [
        ("a", "/tools/0"),
        ("late", "/messages/1/tools/0"),
    ]
    assert message(result) == schema_words("chat", "late", "", UNTYPED_WORDS)

    body["tools"] = [tool("chat", "early", OPEN)]
    assert message(check_request(body, "chat")) == schema_words("chat", "early", "", OPEN_WORDS)


@pytest.mark.parametrize("strict", ["true", 1, []])
def test_strict_of_a_tool_of_a_system_message_is_a_boolean_or_null(strict: Any) -> None:
    message_ = {"role": "system", "tools": [tool("chat", "a", OPEN, strict)]}
    result = check_request({"messages": [message_]}, "chat")

    assert places(result) == [("non-boolean-strict", "/messages/0/tools/0/function/strict")]
    for fine in (False, None, ...):
        message_["tools"] = [tool("chat", "a", OPEN, fine)]
        assert check_request({"messages": [message_]}, "chat").ok


def test_tools_of_system_messages_count_for_the_limit() -> None:
    system = {"role": "system", "tools": [tool("chat", "a")]}
    result = check_request({"tools": [tool("chat", "a")] * 1_536, "messages": [system]}, "chat")

    assert codes(result) == ["SG604"]


@pytest.mark.parametrize("role", ["user", "assistant", "tool", None, 3])
def test_tools_of_other_messages_are_no_tools(role: Any) -> None:
    body = {"messages": [{"role": role, "tools": [tool("chat", "a", OPEN)]}]}

    assert check_request(body, "chat").tools == ()


def test_messages_of_any_shape_are_not_the_checks_concern() -> None:
    for messages in (None, 3, "x", {}, [None, 3, [], "x", {}], [{"role": "system"}]):
        assert check_request({"messages": messages}, "chat").ok
    odd = {"messages": [{"role": "system", "tools": 3}]}
    assert places(check_request(odd, "chat")) == [("malformed-request", "/messages/0/tools")]


def test_a_chat_tool_without_a_type_is_a_function_and_any_other_type_is_unsupported() -> None:
    bare = {"function": function("a", OPEN)}
    assert check_request({"tools": [bare]}, "chat").tools[0].checked

    hosted = check_request({"tools": [{"type": "web_search"}]}, "chat")
    assert places(hosted) == [("unsupported-tool-kind", "/tools/0/type")]
    assert hosted.tools[0].reason == "unsupported kind of tool"


# --------------------------------------------------------------------------------------------------
# Responses (rule 46)
# --------------------------------------------------------------------------------------------------
def test_an_unsupported_tool_is_named_before_any_schema() -> None:
    tools = [tool("responses", "a", OPEN), {"type": "web_search"}]
    result = check_request({"tools": tools}, "responses")

    assert places(result) == [("unsupported-tool-kind", "/tools/1/type")]
    assert message(result) == (
        "Failed to convert responses request: "
        "tools of type 'web_search' are not supported (at /tools/1/type)"
    )
    assert result.tools[0].report is not None
    assert not result.tools[0].report.ok
    assert result.tools[1].reason == "unsupported kind of tool"


def test_members_of_a_namespace_take_their_turn_between_the_flat_functions() -> None:
    tools = [
        tool("responses", "a"),
        namespace("crm", function("b"), function("c", OPEN)),
        tool("responses", "d", {}),
    ]
    result = check_request({"tools": tools}, "responses")

    assert [(report.name, report.pointer) for report in result.tools] == [
        ("a", "/tools/0"),
        ("b", "/tools/1/tools/0"),
        ("c", "/tools/1/tools/1"),
        ("d", "/tools/2"),
    ]
    assert message(result) == schema_words("responses", "c", "", OPEN_WORDS)


def test_a_member_keeps_its_bare_name_unless_it_collides() -> None:
    tools = [
        namespace("crm", function("get", OPEN), function("set")),
        namespace("hr", function("get")),
        tool("responses", "set"),
        tool("responses", "get_all"),
    ]
    result = check_request({"tools": tools}, "responses")

    assert [report.name for report in result.tools] == [
        "crm__get",
        "crm__set",
        "hr__get",
        "set",
        "get_all",
    ]
    assert message(result) == schema_words("responses", "crm__get", "", OPEN_WORDS)


def test_two_flat_functions_of_one_name_both_keep_it() -> None:
    tools = [tool("responses", "a"), tool("responses", "a")]

    assert [t.name for t in check_request({"tools": tools}, "responses").tools] == ["a", "a"]


def test_unsupported_members_of_a_namespace_are_unsupported() -> None:
    body = {"tools": [namespace("n"), {"type": "namespace", "name": "m", "tools": []}]}
    body["tools"][1]["tools"] = [{"type": "custom", "name": "x"}, namespace("inner", function())]
    result = check_request(body, "responses")

    assert places(result) == [
        ("unsupported-tool-kind", "/tools/1/tools/0/type"),
        ("unsupported-tool-kind", "/tools/1/tools/1/type"),
    ]


@pytest.mark.parametrize(
    ("entry", "pointer"),
    [
        ({"type": "namespace", "name": "n"}, "/tools/0/tools"),
        ({"type": "namespace", "name": "n", "tools": {}}, "/tools/0/tools"),
        ({"type": "namespace", "tools": []}, "/tools/0/name"),
        ({"type": "namespace", "name": 3, "tools": []}, "/tools/0/name"),
        ({"type": "namespace", "name": "n", "tools": [3]}, "/tools/0/tools/0"),
        ({"type": "namespace", "name": "n", "tools": [{}]}, "/tools/0/tools/0/type"),
        ({"name": "f"}, "/tools/0/type"),
        ({"type": None, "name": "f"}, "/tools/0/type"),
        ({"type": "function"}, "/tools/0/name"),
        ({"type": "function", "function": function()}, "/tools/0/name"),  # the shape of Chat
    ],
)
def test_a_malformed_responses_tool_is_said_where_it_is(entry: Any, pointer: str) -> None:
    result = check_request({"tools": [entry]}, "responses")

    assert places(result) == [("malformed-request", pointer)]


def test_a_strict_boolean_schema_meets_the_walk_on_responses_and_the_object_test_on_chat() -> None:
    chat = check_request({"tools": [tool("chat", "f", True)]}, "chat")
    responses = check_request({"tools": [tool("responses", "f", True)]}, "responses")

    assert message(chat) == (
        "Validation: parameters must be a JSON object (at /tools/0/function/parameters)"
    )
    assert message(responses) == schema_words("responses", "f", "", UNTYPED_WORDS)
    assert codes(responses) == ["SG608"]  # the Chat checks of the converted request come later


def test_text_as_parameters_is_data_and_is_not_read_as_a_schema() -> None:
    result = check_request({"tools": [tool("responses", "f", json.dumps(GOOD))]}, "responses")

    detail = "schema must be an object or boolean"
    assert message(result) == schema_words("responses", "f", "", detail)


@pytest.mark.parametrize("parameters", [True, [], "{}", 3])
def test_responses_refuses_parameters_of_lax_tools_that_are_no_object_in_the_chat_checks(
    parameters: Any,
) -> None:
    tools = [tool("responses", "f", parameters, strict=False), tool("responses", "g", OPEN)]
    result = check_request({"tools": tools}, "responses")

    assert places(result) == [("non-object-parameters", "/tools/0/parameters")]
    assert message(result) == schema_words("responses", "g", "", OPEN_WORDS)


def allow(*names: Any, kind: str = "function") -> dict[str, Any]:
    entries = [{"type": kind, "name": name} for name in names]
    return {"type": "allowed_tools", "mode": "auto", "tools": entries}


def test_an_invalid_strict_function_that_allowed_tools_excludes_still_fails() -> None:
    tools = [tool("responses", "a"), tool("responses", "b", OPEN)]
    result = check_request({"tools": tools, "tool_choice": allow("a")}, "responses")

    assert message(result) == schema_words("responses", "b", "", OPEN_WORDS)


def test_a_function_that_allowed_tools_excludes_is_spared_the_chat_checks() -> None:
    tools = [tool("responses", "a"), tool("responses", "b c"), namespace("n", function("d.e"))]

    only_a = check_request({"tools": tools, "tool_choice": allow("a")}, "responses")
    named = check_request({"tools": tools, "tool_choice": allow("a", "d.e")}, "responses")
    by_namespace = check_request(
        {"tools": tools, "tool_choice": allow("n", kind="namespace")}, "responses"
    )
    everything = check_request({"tools": tools, "tool_choice": "auto"}, "responses")

    assert only_a.ok
    assert places(named) == [("illegal-tool-name", "/tools/2/tools/0/name")]
    assert places(by_namespace) == [("illegal-tool-name", "/tools/2/tools/0/name")]
    assert codes(everything) == ["SG607", "SG607"]


def test_responses_counts_the_tools_that_are_left() -> None:
    tools = [tool("responses", f"f{index}") for index in range(1_537)]

    assert codes(check_request({"tools": tools}, "responses")) == ["SG604"]
    assert check_request({"tools": tools, "tool_choice": allow("f0")}, "responses").ok


def test_responses_looks_at_the_choice_after_the_schemas_and_before_the_names() -> None:
    choice = {"type": "function", "name": "nope"}
    body = {"tools": [tool("responses", "a b")], "tool_choice": choice}

    result = check_request(body, "responses")
    assert codes(result) == ["SG610", "SG607"]
    assert message(result) == (
        "Failed to convert responses request: "
        "`tool_choice` names 'nope', which is not among the tools (at /tool_choice)"
    )

    body["tools"].append(tool("responses", "c", OPEN))
    result = check_request(body, "responses")
    assert codes(result) == ["SG610", "SG607"]
    assert message(result) == schema_words("responses", "c", "", OPEN_WORDS)


def test_a_colliding_member_can_be_chosen_by_both_of_its_names() -> None:
    tools = [namespace("crm", function("get")), tool("responses", "get")]
    for name in ("get", "crm__get"):
        body = {"tools": tools, "tool_choice": {"type": "function", "name": name}}
        assert check_request(body, "responses").ok


ODD_CHOICES: list[Any] = [
    "any",
    "",
    3,
    True,
    [],
    {},
    {"type": 3},
    {"type": "function"},
    {"type": "function", "name": 3},
    {"type": "allowed_tools"},
    {"type": "allowed_tools", "tools": {}},
    {"type": "allowed_tools", "tools": [3]},
    {"type": "allowed_tools", "allowed_tools": 3},
]


@pytest.mark.parametrize("choice", ODD_CHOICES)
def test_a_choice_that_is_not_understood_refuses_on_responses_and_warns_on_chat(
    choice: Any,
) -> None:
    on_responses = check_request({"tool_choice": choice}, "responses")
    on_chat = check_request({"tool_choice": choice}, "chat")

    assert codes(on_responses) == codes(on_chat) == ["SG609"]
    assert not on_responses.ok
    assert on_chat.ok
    assert on_chat.diagnostics[0].severity == "warning"


def test_a_hosted_tool_cannot_be_chosen() -> None:
    result = check_request({"tool_choice": {"type": "image_generation"}}, "responses")

    assert places(result) == [("undeclared-tool-choice", "/tool_choice")]


def test_chat_warns_of_a_choice_of_an_undeclared_function() -> None:
    def choose(name: str) -> Any:
        named = {"type": "function", "function": {"name": name}}
        allowed = {"mode": "auto", "tools": [named]}
        return [
            named,
            {"function": {"name": name}},
            {"type": "allowed_tools", "allowed_tools": allowed},
        ]

    for good, bad in zip(choose("f"), choose("g"), strict=True):
        body = {"tools": [tool("chat", "f")], "tool_choice": good}
        assert check_request(body, "chat").diagnostics == ()
        result = check_request({**body, "tool_choice": bad}, "chat")
        assert codes(result) == ["SG610"]
        assert result.ok


# --------------------------------------------------------------------------------------------------
# which finding is the first, for every combination of defects in three tools
# --------------------------------------------------------------------------------------------------
DEFECTS = {
    # defect: (name, parameters, strict), rule or None for a schema, stage on Chat, on Responses.
    # Chat looks at name, parameters and schema of one tool before the next tool; Responses at all
    # schemas first, then at name and parameters of each tool.
    "fine": (("f", GOOD, True), None, None),
    "shape": (("f", OPEN, "true"), 0, 0),
    "name": (("f.f", GOOD, True), 1, 2),
    "parameters": (("f", [], False), 1, 2),
    "schema": (("f", OPEN, True), 1, 1),
    "name and schema": (("f.f", OPEN, True), 1, 1),
}


@BOTH
@pytest.mark.parametrize("defects", list(itertools.product(DEFECTS, repeat=3)), ids="/".join)
def test_the_first_error_in_contract_order_is_the_one_that_refuses(
    api: str, defects: tuple[str, ...]
) -> None:
    tools = [tool(api, *DEFECTS[defect][0]) for defect in defects]
    result = check_request({"tools": tools}, api)

    stages = [
        (DEFECTS[defect][1 if api == "chat" else 2], index)
        for index, defect in enumerate(defects)
        if defect != "fine"
    ]
    assert result.ok == (not stages)
    if not stages:
        assert dynamo_body(result) is None
        return
    _stage, first = min(stages)
    defect = defects[first]
    inside = f"/tools/{first}/function" if api == "chat" else f"/tools/{first}"
    if defect == "schema" or (defect == "name and schema" and api == "responses"):
        assert result.refused_tool is result.tools[first]
        name = DEFECTS[defect][0][0]
        assert message(result) == schema_words(api, name, "", OPEN_WORDS)
    else:
        member = {"shape": "strict", "parameters": "parameters"}.get(defect, "name")
        assert result.refused_tool is None
        assert result.refusal is not None
        assert result.refusal.pointer == f"{inside}/{member}"
        assert message(result).endswith(f"(at {inside}/{member})")


# --------------------------------------------------------------------------------------------------
# the answer (rules 43, 44, 47)
# --------------------------------------------------------------------------------------------------
def test_the_body_is_flat_and_exact() -> None:
    chat = check_request({"tools": [tool("chat", "get_weather", OPEN)]}, "chat")
    responses = check_request({"tools": [tool("responses", "get_weather", OPEN)]}, "responses")

    assert dynamo_body(chat) == (
        400,
        {
            "message": "Validation: Invalid schema for function 'get_weather': In context=#, "
            "object schemas require additionalProperties: false",
            "type": "Bad Request",
            "code": 400,
        },
    )
    assert dynamo_body(responses) == (
        400,
        {
            "message": "Failed to convert responses request: Invalid schema for function "
            "'get_weather': In context=#, object schemas require additionalProperties: false",
            "type": "Bad Request",
            "code": 400,
        },
    )


@pytest.mark.parametrize(("length", "said"), [(128, "n" * 128), (129, "n" * 128 + "...")])
def test_a_function_name_is_cut_at_128_code_points(length: int, said: str) -> None:
    result = check_request({"tools": [tool("responses", "n" * length, OPEN)]}, "responses")

    assert message(result) == schema_words("responses", said, "", OPEN_WORDS)


@BOTH
def test_pointer_and_property_are_cut_at_256_code_points(api: str) -> None:
    start = "/properties/"  # 12 characters

    def inside(key: str) -> dict[str, Any]:
        return {**GOOD, "properties": {key: OPEN}, "required": [key]}

    for key, said in [
        ("k" * 244, start + "k" * 244),
        ("k" * 245, start + "k" * 244 + "..."),
        ("~" * 122, start + "~0" * 122),
        ("~" * 123, start + "~0" * 122 + "..."),
        ("😀" * 245, start + "😀" * 244 + "..."),
    ]:
        result = check_request({"tools": [tool(api, "f", inside(key))]}, api)
        assert message(result) == schema_words(api, "f", said, OPEN_WORDS)

    for key, said in [("k" * 256, "k" * 256), ("k" * 257, "k" * 256 + "...")]:
        schema = {**GOOD, "properties": {key: True}}
        result = check_request({"tools": [tool(api, "f", schema)]}, api)
        detail = f"must include property '{said}'"
        assert message(result) == schema_words(api, "f", "/required", detail)


MIB = 1 << 20
# A letter, a control character (6 bytes as JSON), a quote, a backslash, 4 bytes, a pointer's escape.
CHARACTERS = ["x", "\x01", '"', "\\", "😀", "~", "\x1b", "\u202e"]


def size(result: schemaguard.RequestResult) -> int:
    answer = dynamo_body(result)
    assert answer is not None
    return len(json.dumps(answer[1], ensure_ascii=False).encode())


@BOTH
@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
@pytest.mark.parametrize("as_text", [False, True])
def test_the_body_is_bounded_for_names_of_a_mebibyte(
    api: str, character: str, as_text: bool
) -> None:
    long = character * MIB
    deep = {**GOOD, "properties": {long: {**GOOD, "properties": {long: True}}}, "required": [long]}
    extra = {**GOOD, "properties": {long: {**GOOD, "required": [long]}}, "required": [long]}
    bodies: list[Any] = [
        {"tools": [tool(api, long, OPEN)]},
        {"tools": [tool(api, long, deep)]},
        {"tools": [tool(api, "f", deep)]},
        {"tools": [tool(api, "f", extra)]},
        {"tools": [{"type": long, "name": "f"}]},
        {"tools": [tool(api, "f", GOOD, long)]},
        {"tools": [tool(api, "f", long)]},
        {"tools": [namespace(long, function(long, deep)), namespace("n", function(long))]},
        {"tool_choice": {"type": "function", "name": long}, "tools": [{long: long}]},
    ]
    if api == "responses":
        bodies += [{"tool_choice": long}, {"tool_choice": {"type": "function", "name": long}}]
    for body in bodies:
        result = check_request(json.dumps(body).encode() if as_text else body, api)
        assert not result.ok
        assert size(result) <= 4_096
        assert len(repr(result)) < 1_000
        for diagnostic in result.diagnostics:
            assert all(len(str(value)) <= 131 for value in diagnostic.data.values())
        assert all(len(repr(report)) < 2_000 for report in result.tools)


def test_the_words_about_the_request_are_bounded_in_ascii_as_well() -> None:
    for body in (
        {"tools": [tool("chat", "😀" * MIB)]},
        {"tools": [{"type": "😀" * MIB}]},
        {"tools": [tool("chat", "\x01" * 100)]},
    ):
        answer = dynamo_body(check_request(body, "chat"))
        assert answer is not None
        assert len(json.dumps(answer[1])) <= 4_096


def test_what_refuses_is_known_when_no_diagnostic_is_kept() -> None:
    named = check_request({"tools": [tool("chat", "a b")]}, "chat", max_diagnostics=0)
    assert named.diagnostics == ()
    assert named.total == 1
    assert "a b" in message(named)

    schema = check_request({"tools": [tool("chat", "a", OPEN)]}, "chat", max_diagnostics=0)
    assert schema.tools[0].report is not None
    assert schema.tools[0].report.diagnostics == ()
    assert message(schema) == schema_words("chat", "a", "", OPEN_WORDS)


def test_diagnostics_are_kept_up_to_the_cap_and_counted_beyond_it() -> None:
    tools = [tool("chat", "a b")] * 20
    result = check_request({"tools": tools}, "chat", max_diagnostics=7)

    assert len(result.diagnostics) == 7
    assert result.total == 20


# --------------------------------------------------------------------------------------------------
# bodies that are none
# --------------------------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", "invalid-json"),
        (b"{", "invalid-json"),
        ("{'tools': []}", "invalid-json"),
        (b"\xff\xfe{}", "byte-order-mark"),
        (b"\xff", "not-utf-8"),
        (b"{} {}", "trailing-data"),
        (b'{"a": NaN}', "non-finite-number"),
        (b'{"a": 1e999}', "overflowing-number"),
        (b'{"tools": "\\ud800"}', "lone-surrogate"),
        (b'{"a": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "text-too-deep"),
        (b"[]", "malformed-request"),
        (b"3", "malformed-request"),
        (b"null", "malformed-request"),
        ('"{}"', "malformed-request"),
        (None, "malformed-request"),
        (3, "malformed-request"),
        ([], "malformed-request"),
        (object(), "not-json"),
        ({1, 2}, "not-json"),
        ({1: 2}, "non-string-key"),
        ({None: 2, "tools": []}, "non-string-key"),
        ({"tools": ()}, "not-json"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(api: str, body: Any, rule: str) -> None:
    result = check_request(body, api)

    assert [diagnostic.name for diagnostic in result.diagnostics] == [rule]
    assert result.tools == ()
    assert message(result).startswith(PREFIX[api])
    assert size(result) <= 4_096


def test_what_cannot_be_read_has_its_offset() -> None:
    result = check_request('{"tools": [}', "chat")

    (diagnostic,) = result.diagnostics
    assert diagnostic.offset == 11
    assert result.document.line_column(11) == (1, 12)


@BOTH
def test_a_name_given_twice_is_refused_and_the_tools_are_checked_with_the_last(api: str) -> None:
    entry = json.dumps(tool(api, "f", OPEN))
    body = '{"tools": [], "tools": [' + entry + "]}"
    result = check_request(body, api)

    assert [diagnostic.name for diagnostic in result.diagnostics] == ["duplicate-key"]
    assert result.tools[0].checked
    assert "duplicate key" in message(result)


def test_faults_of_the_text_beyond_those_that_are_kept_are_counted() -> None:
    result = check_request("{" + ", ".join(['"a": 1'] * 2_001) + "}", "chat")

    assert result.total == 2_000
    assert len(result.diagnostics) == 1_000


ODD: list[Any] = [None, True, False, 0, 1.5, "", "x", [], [1], {}, {"a": 1}, (), object(), b"x"]


@BOTH
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_any_value_in_any_place_is_answered(api: str, odd: Any) -> None:
    inside: list[Any] = [
        {"tools": odd},
        {"tools": [odd]},
        {"tools": [odd, tool(api, "f", OPEN)]},
        {"tools": [{"type": odd, "name": "f", "function": function()}]},
        {"tools": [{"type": "function", "function": odd}]},
        {"tools": [{"type": "namespace", "name": odd, "tools": odd}]},
        {"tools": [{"type": "namespace", "name": "n", "tools": [odd]}]},
        {"tools": [tool(api, name=odd)]},
        {"tools": [tool(api, parameters=odd)]},
        {"tools": [tool(api, strict=odd)]},
        {"tools": [tool(api)], "tool_choice": odd},
        {"tools": [tool(api)], "tool_choice": {"type": odd, "name": odd, "function": odd}},
        {"tool_choice": {"type": "allowed_tools", "tools": odd, "allowed_tools": odd}},
        {"tool_choice": {"type": "allowed_tools", "tools": [odd]}},
        {"messages": odd},
        {"messages": [odd]},
        {"messages": [{"role": odd, "tools": odd}]},
        {"messages": [{"role": "system", "tools": odd}]},
        {"messages": [{"role": "system", "tools": [odd]}]},
        {"response_format": odd},
        {"response_format": {"type": odd}},
        {"response_format": {"type": "json_schema", "json_schema": odd}},
        {"text": odd},
        {"text": {"format": odd}},
        {"text": {"format": {"type": "json_schema", "name": odd, "schema": odd}}},
    ]
    for body in inside:
        result = check_request(body, api)
        assert (dynamo_body(result) is None) == result.ok
        assert result.ok or size(result) <= 4_096


def test_a_value_that_compares_like_no_json_value_is_answered() -> None:
    class Evil:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    evil = Evil()
    for body in (
        {"tools": [{"type": evil}]},
        {"tools": [tool("chat", strict=evil)]},
        {"messages": [{"role": evil, "tools": []}]},
        {"tool_choice": {"type": evil}},
        {"response_format": {"type": evil}},
        {"text": {"format": {"type": evil}}},
    ):
        for api in ("chat", "responses"):
            check_request(body, api)


def test_a_key_that_is_no_name_is_said_in_the_body_its_tools_and_its_functions() -> None:
    body = {"tools": [{"type": "function", 1: 2, "function": {**function(), None: 3}}]}
    result = check_request(body, "chat")

    assert places(result) == [
        ("non-string-key", "/tools/0"),
        ("non-string-key", "/tools/0/function"),
    ]


# --------------------------------------------------------------------------------------------------
# hostile bodies
# --------------------------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize("kind", ["empty", "null", "bad name", "open", "good"])
def test_ten_thousand_tools_are_answered_soon(api: str, kind: str) -> None:
    made: dict[str, Any] = {
        "empty": {},
        "null": None,
        "bad name": tool(api, "a b"),
        "open": tool(api, "f", OPEN),
        "good": tool(api, "f"),
    }
    body = {"tools": [made[kind]] * 10_000}

    for sent in (body, json.dumps(body)):
        start = time.perf_counter()
        result = check_request(sent, api)
        assert time.perf_counter() - start < 10
        assert len(result.tools) == 10_000
        assert len(result.diagnostics) <= 1_000
        assert size(result) <= 4_096


@BOTH
def test_a_schema_as_deep_as_the_reader_allows_is_an_ordinary_schema(api: str) -> None:
    schema: Any = True
    for _ in range(900):
        schema = {"items": schema}
    body = {"tools": [tool(api, "f", {**GOOD, "properties": {"a": schema}, "required": ["a"]})]}

    text = b'{"tools": [' + json.dumps(tool(api, "f", ...)).encode()[: -2 if api == "chat" else -1]
    text += b', "parameters": ' + b'{"items":' * 900 + b"true" + b"}" * 900
    text += b"}}]}" if api == "chat" else b"}]}"
    assert check_request(body, api).ok
    assert not check_request(text, api).ok  # no type at its root


@BOTH
def test_a_parsed_body_of_any_depth_is_answered(api: str) -> None:
    schema: Any = True
    for _ in range(100_000):
        schema = {"items": schema}
    root = {**GOOD, "properties": {"a": schema}, "required": ["a"]}

    assert check_request({"tools": [tool(api, "f", root)]}, api).ok


@BOTH
def test_a_body_that_contains_itself_is_answered(api: str) -> None:
    body: dict[str, Any] = {"messages": []}
    cyclic: dict[str, Any] = {**GOOD}
    cyclic["properties"] = {"a": cyclic}
    cyclic["required"] = ["a"]
    body["tools"] = [tool(api, "f", cyclic), tool(api, "g", cyclic), tool(api, "h", body)]
    body["messages"].append({"role": "system", "tools": body["tools"]})
    result = check_request(body, api, limits=Limits(max_nodes=10_000))

    assert not result.ok
    assert size(result) <= 4_096


@BOTH
def test_one_part_in_many_places_costs_no_more_than_the_limit(api: str) -> None:
    wide = {f"p{index}": {"type": "string"} for index in range(4_000)}
    tools = [tool(api, f"f{n}", {**GOOD, "$defs": wide, "title": n}) for n in range(1_500)]
    start = time.perf_counter()
    result = check_request({"tools": tools}, api, limits=Limits(max_nodes=100_000))

    assert time.perf_counter() - start < 10
    assert [diagnostic.name for diagnostic in result.diagnostics] == ["too-many-nodes"]
    assert result.tools[0].report is not None
    assert result.tools[0].report.ok
    assert result.tools[-1].reason == "hard stop"
    # The same limit in each report, whatever share of it was enough.
    assert check_request({"tools": tools[:2]}, api, limits=Limits(max_nodes=100_000)).ok


def test_one_list_of_tools_in_many_places_costs_no_more_than_the_limit() -> None:
    shared = [tool("chat", "f", strict=False)] * 1_000
    messages = [{"role": "system", "tools": shared}] * 10_000
    members = [{"type": "function", **function(strict=False)}] * 1_000
    spaces = [{"type": "namespace", "name": "n" * MIB, "tools": members}] * 10_000
    start = time.perf_counter()
    limits = Limits(max_nodes=100_000)

    for result in (
        check_request({"messages": messages}, "chat", limits=limits),
        check_request({"tools": spaces}, "responses", limits=limits),
    ):
        assert "too-many-nodes" in [diagnostic.name for diagnostic in result.diagnostics]
        assert len(result.tools) <= 100_000
    assert time.perf_counter() - start < 20


def test_names_of_a_mebibyte_that_collide_stay_small() -> None:
    members = [function("get", strict=False)] * 1_000
    body = {"tools": [namespace("n" * MIB, *members)]}
    result = check_request(body, "responses")

    assert {report.name for report in result.tools} == {"n" * 128 + "...__get"}
    assert {diagnostic.name for diagnostic in result.diagnostics} == {"long-tool-name"}


@BOTH
def test_half_a_surrogate_pair_does_not_reach_the_answer(api: str) -> None:
    for body in (
        {"tools": [tool(api, "\ud800", OPEN)]},
        {"tools": [tool(api, "f", {**GOOD, "properties": {"\udfff": True}})]},
        {"tools": [{"type": "\ud800"}]},
    ):
        message(check_request(body, api)).encode()


# --------------------------------------------------------------------------------------------------
# results
# --------------------------------------------------------------------------------------------------
TEXT = """{
  "tools": [
    {"type": "function", "function": {"name": "a b"}},
    {"type": "function", "function": {
      "name": "f", "strict": true,
      "parameters": {
        "type": "object", "additionalProperties": false, "required": ["x/y"],
        "properties": {"x/y": {"type": "object"}}
      }
    }}
  ]
}"""


def test_pointers_lead_to_line_and_column() -> None:
    result = check_request(TEXT, "chat")

    (diagnostic,) = result.diagnostics
    assert result.document.position(diagnostic.pointer) == (3, 47)
    report = result.tools[1]
    assert report.report is not None
    (found,) = report.report.diagnostics
    assert report.pointer == "/tools/1"
    assert report.schema_pointer == "/tools/1/function/parameters"
    assert report.pointer_of(found) == "/tools/1/function/parameters/properties/x~1y"
    assert result.document.position(report.pointer_of(found)) == (8, 31)


def test_text_bytes_and_parsed_bodies_are_told_the_same() -> None:
    text = TEXT.replace('"name": "a b"', '"name": "a", "parameters": []')
    results = [check_request(body, "chat") for body in (text, text.encode(), json.loads(text))]

    assert {(places(r)[0], message(r), len(r.tools)) for r in results} == {
        (
            ("non-object-parameters", "/tools/0/function/parameters"),
            "Validation: parameters must be a JSON object (at /tools/0/function/parameters)",
            2,
        )
    }


@BOTH
def test_a_parsed_body_is_neither_changed_nor_copied(api: str) -> None:
    body = {"tools": [tool(api, "a", copy.deepcopy(GOOD)), tool(api, "b", copy.deepcopy(OPEN))]}
    before = copy.deepcopy(body)
    result = check_request(body, api)

    assert body == before
    for entry, report in zip(body["tools"], result.tools, strict=True):
        holder = entry["function"] if api == "chat" else entry
        assert report.report is not None
        assert report.report.document.value is holder["parameters"]
    assert result.document.value is body


@BOTH
def test_reports_of_a_parsed_body_are_those_of_a_check(api: str) -> None:
    bad = {"type": "object", "properties": {"a": {"allOf": []}, "b": OPEN}}
    result = check_request({"tools": [tool(api, "a", bad), tool(api, "b")]}, api)

    for schema, report in zip((bad, GOOD), result.tools, strict=True):
        alone = schemaguard.check(schema)
        assert report.report is not None
        assert report.report.diagnostics == alone.diagnostics
        assert (report.report.ok, report.report.total) == (alone.ok, alone.total)
        assert [(use.name, use.used, use.limit) for use in report.report.budgets] == [
            (use.name, use.used, use.limit) for use in alone.budgets
        ]


def test_an_accepted_tool_has_its_pass() -> None:
    result = check_request({"tools": [tool("chat", "a")]}, "chat")

    assert result.ok
    assert result.tools[0].report is not None
    accepted = result.tools[0].report.accepted
    assert accepted is not None
    assert json.loads(accepted.text) == GOOD


def test_results_cannot_be_changed() -> None:
    result = check_request(TEXT, "chat")

    with pytest.raises(AttributeError):
        result.refusal = None  # type: ignore[misc]
    with pytest.raises(AttributeError):
        result.tools[0].report = None  # type: ignore[misc]
    assert repr(result) == (
        "<RequestResult chat refused by dynamo-2026-11-30: 2 tools, 1 diagnostic>"
    )
    assert [repr(report) for report in result.tools] == [
        "<ToolReport 'a b' at /tools/0: not strict>",
        "<ToolReport 'f' at /tools/1: rejected>",
    ]


@pytest.mark.parametrize("api", ["", "Chat", "messages", "anthropic", None, 3, [], {}])
def test_an_unknown_api_is_misuse(api: Any) -> None:
    with pytest.raises(ValueError, match="chat, responses"):
        check_request({}, api)


def test_an_unknown_profile_is_misuse() -> None:
    with pytest.raises(schemaguard.ProfileError):
        check_request({}, "chat", profile="nobody")


def test_another_profile_judges_the_schemas() -> None:
    body = {"tools": [tool("chat", "f", OPEN)]}

    assert check_request(body, "chat", profile="xgrammar").ok
    assert not check_request({"tools": [tool("chat", "a b")]}, "chat", profile="xgrammar").ok


# --------------------------------------------------------------------------------------------------
# response formats (rule 48)
# --------------------------------------------------------------------------------------------------
def with_format(api: str, **members: Any) -> dict[str, Any]:
    if api == "chat":
        return {"response_format": {"type": "json_schema", "json_schema": members}}
    return {"text": {"format": {"type": "json_schema", **members}}}


@BOTH
def test_the_schema_of_a_response_format_is_not_checked(api: str) -> None:
    for schema in ({}, OPEN, {"not": 3}, None):
        assert check_request(with_format(api, name="x", schema=schema, strict=True), api).ok
    assert check_request(with_format(api, name="x"), api).ok


@BOTH
def test_a_response_format_has_a_name_and_an_object(api: str) -> None:
    where = "/response_format/json_schema" if api == "chat" else "/text/format"

    for members, expected in [
        ({"name": "", "schema": {}}, [("unnamed-format", where + "/name")]),
        ({"name": "x", "schema": True}, [("non-object-format", where + "/schema")]),
        ({"name": "x", "schema": []}, [("non-object-format", where + "/schema")]),
        ({"schema": {}}, [("malformed-request", where + "/name")]),
        ({"name": 3, "schema": {}}, [("malformed-request", where + "/name")]),
    ]:
        result = check_request(with_format(api, **members), api)
        assert places(result) == expected
        assert not result.ok


@BOTH
def test_other_response_formats_are_not_looked_at(api: str) -> None:
    for kind in ("text", "json_object", "x"):
        body = {"response_format": {"type": kind}, "text": {"format": {"type": kind}}}
        assert check_request(body, api).ok


# --------------------------------------------------------------------------------------------------
# rules
# --------------------------------------------------------------------------------------------------
OF_REQUESTS = [rule for rule in RULES.values() if rule.on[0] == REQUEST]


def example(text: str) -> str:
    if text != "@too-many-tools":
        return text
    return json.dumps({"tools": [tool("chat", "f", strict=False)] * 1_537})


@pytest.mark.parametrize("rule", OF_REQUESTS, ids=lambda rule: rule.name)
def test_the_bad_example_of_a_rule_is_refused_by_it_alone_and_the_good_one_is_accepted(
    rule: schemaguard.rules.Rule,  # type: ignore[name-defined]
) -> None:
    api = rule.on[1]
    bad = check_request(example(rule.bad), api)
    good = check_request(example(rule.good), api)

    assert set(codes(bad)) == {rule.code}
    assert not bad.ok
    assert good.diagnostics == ()
    assert all(d.message and d.fix and "{" not in d.message for d in bad.diagnostics)
    assert rule.why


def test_the_rules_of_requests_are_the_family_sg6() -> None:
    # Advice is for handlers alone; what is said of tools is the profile's.
    others = {code for code, rule in RULES.items() if rule.on[0] in (ADVICE, TOOL, TOOLSET)}
    assert {rule.code for rule in OF_REQUESTS} | others == {c for c in RULES if c.startswith("SG6")}
    assert len(OF_REQUESTS) == 12


# --------------------------------------------------------------------------------------------------
# real requests
# --------------------------------------------------------------------------------------------------
def tools_in(body: dict[str, Any], api: str) -> int:
    tools = body.get("tools") or []
    if api == "chat":
        messages = [m for m in body.get("messages") or [] if m.get("role") == "system"]
        return len(tools) + sum(len(m.get("tools") or []) for m in messages)
    return sum(len(t["tools"]) if t.get("type") == "namespace" else 1 for t in tools)


def test_real_requests_are_answered_and_no_tool_is_lost() -> None:
    if not CORPUS.exists():
        pytest.skip("the shared corpora are not beside this checkout")
    seen = {"chat": 0, "responses": 0}
    checked = 0
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            api = record["api"].removeprefix("openai-")
            if record["api"] not in ("openai-chat", "openai-responses"):
                continue
            body = record["body"]
            result = check_request(body, api)
            as_text = check_request(json.dumps(body), api)
            seen[api] += 1
            assert len(result.tools) == tools_in(body, api)
            assert (dynamo_body(result) is None) == result.ok
            assert dynamo_body(as_text) == dynamo_body(result)
            assert as_text.diagnostics == result.diagnostics
            for report in result.tools:
                found = report.report
                checked += found is not None
                if found is not None:
                    holder = body
                    for token in report.schema_pointer.split("/")[1:]:
                        holder = holder[int(token) if token.isdigit() else token]
                    assert found.document.value is holder
                    assert found.ok == schemaguard.check(holder).ok
    assert seen == {"chat": 163, "responses": 124}
    assert checked > 100


# --------------------------------------------------------------------------------------------------
# arbitrary bodies
# --------------------------------------------------------------------------------------------------
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from(
        ["f", "g", "a b", "", "function", "namespace", "x" * 300, "😀" * 200, "\x01" * 300]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "type", "name", "tools", "x" * 300]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def often(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(usual, usual, usual, usual, values)


parameters = st.sampled_from(
    [
        GOOD,
        OPEN,
        {},
        True,
        {**GOOD, "properties": {"\x02" * 300: OPEN}, "required": ["\x02" * 300]},
        {**GOOD, "required": ["\x03" * 300]},
        {**GOOD, "$defs": {"a": {"$ref": "#/$defs/a"}}},
    ]
)
functions = st.fixed_dictionaries(
    {"name": often(st.sampled_from(["f", "g", "a b", "\x01" * 300]))},
    optional={
        "type": often(st.just("function")),
        "parameters": often(parameters),
        "strict": often(st.just(True)),
        "function": often(st.fixed_dictionaries({"name": st.just("f")})),
    },
)
chat_tools = st.fixed_dictionaries(
    {"function": often(functions)}, optional={"type": often(st.just("function"))}
)
spaces = st.fixed_dictionaries(
    {"type": st.just("namespace"), "name": often(st.just("n"))},
    optional={"tools": often(st.lists(functions, max_size=3))},
)
tools_ = often(st.lists(often(st.one_of(functions, chat_tools, spaces)), max_size=4))
choices = st.sampled_from(
    [
        "auto",
        "any",
        {"type": "function", "name": "f", "function": {"name": "f"}},
        allow("f", "n"),
        allow("n", kind="namespace"),
        {"type": "allowed_tools", "allowed_tools": allow("f")},
    ]
)
bodies = often(
    st.fixed_dictionaries(
        {},
        optional={
            "tools": tools_,
            "tool_choice": often(choices),
            "messages": often(
                st.lists(
                    st.fixed_dictionaries({"role": st.just("system")}, optional={"tools": tools_}),
                    max_size=2,
                )
            ),
            "response_format": values,
            "text": values,
        },
    )
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies, st.sampled_from(["chat", "responses"]), st.sampled_from([0, 1, 1_000]))
def test_any_body_is_answered_the_same_as_text_and_parsed(body: Any, api: str, cap: int) -> None:
    text = json.dumps(body)
    parsed = check_request(
        json.loads(text) if isinstance(body, str) else body, api, max_diagnostics=cap
    )
    read = check_request(text, api, max_diagnostics=cap)
    if isinstance(body, str):  # a parsed string is text to read
        parsed = read

    for result in (parsed, read):
        assert (dynamo_body(result) is None) == result.ok
        assert result.ok or size(result) <= 4_096
        assert len(result.diagnostics) == min(result.total, cap)
        errors = [d for d in result.diagnostics if d.severity == "error"]
        if result.ok:
            assert not errors
            assert all(t.report.ok for t in result.tools if t.report)
        elif result.refused_tool is not None:
            assert result.refused_tool.report is not None
            assert not result.refused_tool.report.ok
        elif errors:
            assert result.refusal == errors[0]
        for report in result.tools:
            assert report.checked == (report.reason is None)
    assert dynamo_body(parsed) == dynamo_body(read)
    assert parsed.diagnostics == read.diagnostics
    assert [(t.name, t.pointer, t.reason, t.strict) for t in parsed.tools] == [
        (t.name, t.pointer, t.reason, t.strict) for t in read.tools
    ]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60), st.sampled_from(["chat", "responses"]))
def test_any_bytes_and_any_text_are_answered(body: bytes | str, api: str) -> None:
    result = check_request(body, api)

    assert (dynamo_body(result) is None) == result.ok
    assert result.ok or size(result) <= 4_096


def test_bodies_that_fail_when_they_are_read_end_in_a_diagnostic():
    class Liar:
        __class__ = dict

    class Raising:
        @property
        def __class__(self):
            raise RuntimeError

    released = memoryview(b"{}")
    released.release()
    for made in (Liar, Raising):
        for body in (made(), {"tools": made()}, {"tools": [made()]}, {"messages": [made()]}):
            for api in ("chat", "responses"):
                result = check_request(body, api=api)
                assert result.ok == (dynamo_body(result) is None)
    assert not check_request(released, api="chat").ok
