"""Schemas for the answer itself, and tools of which a call is demanded."""

from __future__ import annotations

import json

import pytest
from handler_requests import APIS, CLOSED, body

from schemaguard.handlers import Policy, check
from schemaguard.handlers.asgi import PATHS, PreflightMiddleware
from schemaguard.handlers.bodies import answer_of

VLLM = Policy(server="vllm")
DEAR = {"type": "object", "properties": {"v": {"type": "string", "pattern": "^.{0,3000}$"}}}
FINE = {**CLOSED, "properties": {"v": {"type": "string"}}, "required": ["v"]}

#: API, members of the body that hold a schema, and where it is.
PLACES = [
    (
        "chat",
        lambda s: {
            "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": s}}
        },
        "response_format.json_schema.schema",
    ),
    ("chat", lambda s: {"structured_outputs": {"json": s}}, "structured_outputs.json"),
    ("chat", lambda s: {"structured_outputs": {"json": json.dumps(s)}}, "structured_outputs.json"),
    ("chat", lambda s: {"guided_json": s}, "guided_json"),
    ("chat", lambda s: {"guided_json": json.dumps(s)}, "guided_json"),
    (
        "responses",
        lambda s: {"text": {"format": {"type": "json_schema", "name": "a", "schema": s}}},
        "text.format.schema",
    ),
    ("responses", lambda s: {"structured_outputs": {"json": s}}, "structured_outputs.json"),
    (
        "messages",
        lambda s: {"output_config": {"format": {"type": "json_schema", "schema": s}}},
        "output_config.format.schema",
    ),
    (
        "messages",
        lambda s: {"output_config": {"format": {"schema": s}}},
        "output_config.format.schema",
    ),
    (
        "messages",
        lambda s: {"output_format": {"type": "json_schema", "schema": s}},
        "output_format.schema",
    ),
]
EVERY_PLACE = pytest.mark.parametrize(("api", "holder", "param"), PLACES)
EVERY_HOLDER = pytest.mark.parametrize(("api", "holder"), [place[:2] for place in PLACES])


def plain(api, **more):
    """A body without tools."""
    made = json.loads(body(api, **more))
    del made["tools"]
    return made


# ------------------------------------------------------------------------- the answer's own schema


@EVERY_PLACE
@pytest.mark.parametrize("server", ["vllm", "sglang"])
def test_a_schema_for_the_answer_is_checked_as_those_of_tools(api, holder, param, server):
    policy = Policy(server=server)
    assert check(json.dumps(plain(api, **holder(FINE))), api, policy).findings == ()
    decision = check(json.dumps(plain(api, **holder(DEAR))), api, policy)
    assert decision.status == 400
    finding = decision.refusal
    assert finding.param == param
    assert finding.pointer == "/" + param.replace(".", "/") + "/properties/v/pattern"
    assert finding.within == "/properties/v/pattern"
    assert finding.tool is None
    assert finding.profile.startswith("xgrammar-")
    assert finding.words.startswith(
        f"Invalid schema for {param}: In context=#/properties/v/pattern, "
    )


@EVERY_HOLDER
def test_a_parsed_body_is_decided_about_as_its_text_is(api, holder):
    for schema in (FINE, DEAR):
        value = plain(api, **holder(schema))
        parsed, read = check(value, api, VLLM), check(json.dumps(value).encode(), api, VLLM)
        assert parsed.ok == read.ok
        assert parsed.findings == read.findings


@EVERY_HOLDER
def test_schemas_for_the_answer_to_dynamo_are_checked_when_a_profile_is_named(api, holder):
    text = json.dumps(plain(api, **holder(DEAR)))
    assert check(text, api).ok
    assert check(text, api, Policy(profiles=("dynamo", "xgrammar"))).ok
    assert not check(text, api, Policy(profiles={"answer": "xgrammar"})).ok
    assert check(text, api, Policy(server="vllm", profiles={"answer": ()})).ok


def test_the_client_of_openai_is_told_where_the_schema_is():
    _, holder, param = PLACES[0]
    answer = answer_of(check(json.dumps(plain("chat", **holder(DEAR))), "chat", VLLM))
    error = json.loads(answer.body)["error"]
    assert (error["param"], error["type"]) == (param, "invalid_request_error")
    assert error["code"] == error["findings"][0]["name"]
    assert param in error["message"]


def test_what_is_no_schema_is_left_to_the_server():
    for more in (
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "text", "json_schema": {"name": "a", "schema": DEAR}}},
        {"structured_outputs": {"choice": ["a"]}},
        {"structured_outputs": {"json": 7}},
        {"structured_outputs": [DEAR]},
        {"guided_json": None},
    ):
        assert check(json.dumps(plain("chat", **more)), "chat", VLLM).findings == (), more


def test_json_text_that_is_no_json_is_refused_where_it_stands():
    decision = check(json.dumps(plain("chat", guided_json='{"type": ')), "chat", VLLM)
    assert decision.status == 400
    assert decision.refusal.param == "guided_json"


def test_json_text_within_json_is_held_to_the_limits_of_the_body():
    text = json.dumps(plain("chat", guided_json="[" * 100_000))
    decision = check(text, "chat", VLLM)
    assert decision.status == 400
    assert decision.refusal.pointer.startswith("/guided_json")


@pytest.mark.parametrize("on_reject", ["relax", "drop-tool"])
def test_a_schema_for_the_answer_cannot_be_mended_by_changing_tools(on_reject):
    policy = VLLM.replaced(on_reject=on_reject)
    tools = (("a", DEAR, True), ("b", CLOSED, True))
    _, holder, _ = PLACES[0]
    assert check(body("chat", *tools), "chat", policy).changes
    decision = check(body("chat", *tools, **holder(DEAR)), "chat", policy)
    assert not decision.ok
    assert not decision.changes


def test_both_kinds_of_schema_are_reported_in_one_answer():
    _, holder, _ = PLACES[0]
    decision = check(body("chat", ("a", DEAR, True), **holder(DEAR)), "chat", VLLM)
    assert list(dict.fromkeys(finding.tool for finding in decision.errors)) == ["a", None]
    assert decision.refusal.tool == "a"
    assert [tool.ok for tool in decision.tools] == [False]


# ------------------------------------------------------------------------------- demanded calls

REQUIRED = {"chat": "required", "responses": "required", "messages": {"type": "any"}}


def named(api, name):
    return {
        "chat": {"type": "function", "function": {"name": name}},
        "responses": {"type": "function", "name": name},
        "messages": {"type": "tool", "name": name},
    }[api]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("server", ["vllm", "sglang"])
@pytest.mark.parametrize("strict", [False, ...])
def test_a_tool_is_checked_when_a_call_of_it_is_demanded(api, server, strict):
    policy = Policy(server=server)
    tools = (("a", DEAR, strict), ("b", CLOSED, strict))
    assert check(body(api, *tools), api, policy).ok
    assert not check(body(api, *tools, tool_choice=REQUIRED[api]), api, policy).ok
    assert not check(body(api, *tools, tool_choice=named(api, "a")), api, policy).ok
    assert check(body(api, *tools, tool_choice=named(api, "b")), api, policy).ok


def test_dynamo_checks_strict_tools_alone_whatever_is_demanded():
    assert check(body("chat", ("a", DEAR, False), tool_choice="required"), "chat").ok


def test_a_demanded_tool_that_is_not_strict_is_checked_as_others_are():
    policy = Policy(server="vllm", profiles={"strict": "dynamo"})
    open_ended = {"type": "object", "properties": {}}
    assert not check(body("chat", ("a", open_ended, True)), "chat", policy).ok
    assert check(body("chat", ("a", open_ended, False), tool_choice="required"), "chat", policy).ok


def test_a_demanded_tool_cannot_be_relaxed():
    policy = VLLM.replaced(on_reject="relax")
    assert check(body("chat", ("a", DEAR, True)), "chat", policy).changes
    decision = check(body("chat", ("a", DEAR, True), tool_choice="required"), "chat", policy)
    assert not decision.ok


# ------------------------------------------------------------------------------------ other paths


def test_the_usual_paths_are_those_at_which_servers_take_schemas():
    made = PreflightMiddleware(None, policy=VLLM)
    assert made.paths == PATHS
    assert set(PATHS) >= {
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/responses",
        "/v1/messages",
    }


def test_completions_are_checked_for_the_answer_and_need_no_messages():
    _, holder, _ = PLACES[0]
    request = {"model": "m", "prompt": "hi"}
    for schema, ok in ((FINE, True), (DEAR, False)):
        decision = check(json.dumps(request | holder(schema)), PATHS["/v1/completions"], VLLM)
        assert decision.ok is ok


def test_a_batch_of_conversations_is_checked_for_the_answer():
    _, holder, _ = PLACES[0]
    turns = [{"role": "user", "content": "hi"}]
    request = {"model": "m", "messages": [turns, turns]}
    for schema, ok in ((FINE, True), (DEAR, False)):
        api = PATHS["/v1/chat/completions/batch"]
        assert check(json.dumps(request | holder(schema)), api, VLLM).ok is ok
