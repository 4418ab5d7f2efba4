"""Schemas for the answer itself, and tools of which a call is demanded."""

from __future__ import annotations

import json
import time

import pytest
from handler_requests import APIS, CLOSED, body

from schemaguard.handlers import Policy, check, grammars
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


# ------------------------------------------------------------------- the fields that servers have

REGEX = "^.{0,3000}$"  # the limit of the profile is 128
TAGGED = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f"],
        "tags": [
            {
                "type": "tag",
                "begin": "<f>",
                "content": {"type": "json_schema", "json_schema": DEAR},
                "end": "</f>",
            }
        ],
    },
}
OLDER_TAGGED = {
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": DEAR, "end": "</f>"}],
    "triggers": ["<f"],
}
IN_TAG = "format/tags/0/content/json_schema/properties/v/pattern"
IN_OLDER = "structures/0/schema/properties/v/pattern"


def replaced(value, old, new):
    """A JSON value in which one part is another."""
    return json.loads(json.dumps(value).replace(json.dumps(old), json.dumps(new)))


#: What a body has more, and where the faulty part of it is.
HOSTILE = [
    ({"structured_outputs": {"regex": REGEX}}, "structured_outputs/regex"),
    (
        {"structured_outputs": {"whitespace_pattern": REGEX}},
        "structured_outputs/whitespace_pattern",
    ),
    ({"structured_outputs": {"choice": []}}, "structured_outputs/choice"),
    ({"structured_outputs": {"choice": ["a", "a" * 200_000]}}, "structured_outputs/choice"),
    (
        {"structured_outputs": {"structural_tag": TAGGED}},
        f"structured_outputs/structural_tag/{IN_TAG}",
    ),
    (
        {"structured_outputs": {"structural_tag": json.dumps(TAGGED)}},
        f"structured_outputs/structural_tag/{IN_TAG}",
    ),
    ({"structured_outputs": {"structural_tag": "{"}}, "structured_outputs/structural_tag"),
    ({"response_format": TAGGED}, f"response_format/{IN_TAG}"),
    ({"response_format": OLDER_TAGGED}, f"response_format/{IN_OLDER}"),
    (
        {"response_format": replaced(OLDER_TAGGED, DEAR, json.dumps(DEAR))},
        f"response_format/{IN_OLDER}",
    ),
    ({"guided_regex": REGEX}, "guided_regex"),
    ({"guided_choice": []}, "guided_choice"),
    ({"guided_grammar": "root ::= [a-z]{1,3000}"}, "guided_grammar"),
    ({"guided_whitespace_pattern": REGEX}, "guided_whitespace_pattern"),
    ({"structural_tag": json.dumps(OLDER_TAGGED)}, f"structural_tag/{IN_OLDER}"),
    ({"json_schema": json.dumps(DEAR)}, "json_schema/properties/v/pattern"),
    ({"regex": REGEX}, "regex"),
    ({"ebnf": ""}, "ebnf"),
    (
        {"sampling_params": {"json_schema": json.dumps(DEAR)}},
        "sampling_params/json_schema/properties/v/pattern",
    ),
    ({"sampling_params": [{}, {"regex": REGEX}]}, "sampling_params/1/regex"),
    (
        {"sampling_params": {"structured_outputs": {"regex": REGEX}}},
        "sampling_params/structured_outputs/regex",
    ),
    ({"parameters": {"sampling_params": {"ebnf": " "}}}, "parameters/sampling_params/ebnf"),
    ({"nvext": {"guided_json": DEAR}}, "nvext/guided_json/properties/v/pattern"),
]
GOOD_REGEX = r"^[A-Z]{2}-\d{4}$"
GOOD_GRAMMAR = 'root ::= item ("," item){0,9}\nitem ::= [a-z()"]+ | "(" item ")"  # (('
FRIENDLY = [
    {"structured_outputs": {"regex": GOOD_REGEX}},
    {"structured_outputs": {"choice": ["yes", "no"]}},
    {"structured_outputs": {"grammar": GOOD_GRAMMAR}},
    {"structured_outputs": {"structural_tag": json.dumps(replaced(TAGGED, DEAR, FINE))}},
    {"structured_outputs": {"json_object": True}},
    {"response_format": replaced(TAGGED, DEAR, FINE)},
    {"response_format": replaced(OLDER_TAGGED, DEAR, FINE)},
    {"guided_regex": GOOD_REGEX, "guided_choice": None, "guided_grammar": None},
    {"json_schema": json.dumps(FINE), "regex": None, "ebnf": None},
    {"sampling_params": {"json_schema": json.dumps(FINE), "temperature": 0}},
    {"sampling_params": None, "structured_outputs": None, "nvext": None, "structural_tag": None},
    {"structured_outputs": {"regex": 7, "choice": "a", "grammar": {}, "structural_tag": 7}},
]


@pytest.mark.parametrize(("more", "place"), HOSTILE, ids=str)
@pytest.mark.parametrize("api", [*APIS, "auto"])
def test_what_the_answer_is_held_to_by_a_field_of_a_server_is_checked(more, place, api):
    if "response_format" in more and api in ("responses", "messages"):
        return  # there it is nobody's field
    request = plain("chat" if api == "auto" else api, **more)
    for policy in (VLLM, Policy(server="sglang")):
        decision = check(json.dumps(request).encode(), api, policy)
        assert decision.status == 400
        assert decision.refusal.pointer == f"/{place}"
        assert decision.refusal.tool is None
        assert check(request, api, policy).findings == decision.findings
    assert check(json.dumps(request), api).ok  # Dynamo checks none


@pytest.mark.parametrize("more", FRIENDLY, ids=str)
def test_what_any_engine_can_bear_goes_on_without_a_word(more):
    for api in (*APIS, "auto"):
        request = plain("chat" if api == "auto" else api, **more)
        assert check(json.dumps(request).encode(), api, VLLM).findings == ()
        assert check(request, api, VLLM).findings == ()


def test_a_regular_expression_is_named_by_its_field():
    refusal = check(json.dumps(plain("chat", guided_regex=REGEX)), "chat", VLLM).refusal
    assert refusal.code == "SG804"
    assert refusal.param == "guided_regex"
    assert refusal.words == (
        "Invalid schema for guided_regex: In context=#, pattern repeats up to 3000 times, over 128"
    )


@pytest.mark.parametrize(
    "shape",
    [
        {"system": "x", "messages": []},  # looks like Messages
        {"thinking": {}, "messages": [], "output_config": {}},
        {"input": "x", "prompt": "x"},  # looks like Responses
        {"text": {}, "prompt": "x"},
    ],
    ids=str,
)
def test_the_shape_of_a_body_does_not_hide_a_schema_at_a_path_of_several_apis(shape):
    for holder in (PLACES[0][1], PLACES[5][1], PLACES[7][1]):
        request = {"model": "m", **shape, **holder(DEAR)}
        assert not check(json.dumps(request), "auto", VLLM).ok
        assert check(json.dumps({"model": "m", **shape, **holder(FINE)}), "auto", VLLM).ok


def test_a_tag_that_holds_itself_is_refused():
    tag = {"type": "structural_tag"}
    tag["format"] = tag
    request = plain("chat") | {"structural_tag": tag}
    assert check(request, "chat", VLLM).refusal.code == "SG601"
    tag["format"] = [tag, tag]
    assert check(request, "chat", VLLM).status == 400


def test_a_tag_has_at_most_as_many_parts_as_there_may_be_tools():
    part = {"type": "json_schema", "json_schema": FINE}
    for count, ok in ((1_536, True), (1_537, False)):
        tag = {"type": "structural_tag", "format": {"type": "or", "elements": [part] * count}}
        assert check(json.dumps(plain("chat", structural_tag=tag)), "chat", VLLM).ok is ok


def test_the_text_around_the_parts_of_a_tag_is_paid_for_as_a_constant_is():
    for text, count, ok in (
        ("a" * 200_000, 1, False),
        ("a" * 2_000, 100, False),
        ("ab", 900, True),
    ):
        literal = {"type": "const_string", "value": text}
        tag = {"type": "structural_tag", "format": {"type": "or", "elements": [literal] * count}}
        decision = check(json.dumps(plain("chat", structural_tag=tag)), "chat", VLLM)
        assert decision.ok is ok
        assert ok or decision.refusal.pointer == "/structural_tag"


def test_a_tag_may_be_as_deep_as_a_body_without_costing_more():
    for levels, ok in ((60, True), (300, False), (900, False)):
        format_ = '{"type":"optional","content":' * levels + "7" + "}" * levels
        tag = '{"type":"structural_tag","format":' + format_ + "}"
        text = json.dumps(plain("chat", structural_tag=0)).replace(" 0", tag)
        began = time.process_time()
        decision = check(text.encode(), "chat", VLLM)
        assert decision.ok is ok
        assert time.process_time() - began < 5
        assert ok or decision.refusal.pointer == "/structural_tag"


def test_profiles_that_want_an_object_at_the_root_take_a_regular_expression():
    policy = Policy(server="vllm", profiles={"answer": ("openai-strict", "xgrammar")})
    for more, ok in (({"regex": GOOD_REGEX}, True), ({"regex": REGEX}, False)):
        assert check(json.dumps(plain("chat", **more)), "chat", policy).ok is ok


# ---------------------------------------------------------------------------------------- grammars


@pytest.mark.parametrize(
    ("grammar", "depth", "repeats"),
    [
        ('root ::= ((("a")))', 3, 0),
        ('root ::= "((((" [(((] "\\"((("', 0, 0),
        ('root ::= ["] (("a")) ["]', 2, 0),  # quotes in a class begin no string
        ('root ::= "[" (("a")) "]"', 2, 0),  # and brackets in a string no class
        ('root ::= ("a") # ((((\n  | (("b"))', 2, 0),
        ('root ::= "a" # "\nb ::= ((("c"))) # "', 3, 0),
        ('root ::= "a"{3} "b"{2,70} "c"{5,} "d{900}" [e{900}]', 0, 70),
        ("root ::= 'a(' ( 'b' )", 1, 0),
        ('root ::= "a"{00000000000000000007}', 0, 7),
        ('root ::= "a"{99999999999999999999}', 0, 999_999_999),
        ('start: (("a"))', 2, 0),
        ('start: ["a" ("b" ["c"])]', 3, 0),  # in Lark a bracket is an option
        ('start: "a" ~ 3..500 ("b")~7', 1, 500),
        ("start: /a{1,400}/ // {1,900} ((((", 0, 400),
        ('start: /"/ ((("a"))) /"/', 3, 0),
        ("start: /((((a))))/", 4, 0),
        (")))) ((", 2, 0),
        ("{", 0, 0),
    ],
)
def test_a_grammar_is_measured_without_its_literals(grammar, depth, repeats):
    assert grammars.measure(grammar) == (depth, repeats)


@pytest.mark.parametrize(
    ("grammar", "code"),
    [
        ("", "SG601"),
        (" \n\t", "SG601"),
        ("root ::= " + "(" * 33 + '"a"' + ")" * 33, "SG803"),
        ("root ::= " + "(" * 32 + '"a"' + ")" * 32, None),
        ('root ::= "a"{1,129}', "SG804"),
        ('root ::= "a"{1,128}', None),
        ('root ::= "' + "a" * 65_536 + '"', "SG802"),
        ('root ::= "' + "a" * 65_000 + '"', None),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_grammar_that_would_hurt_an_engine_is_refused(grammar, code):
    decision = check(json.dumps(plain("chat", guided_grammar=grammar)), "chat", VLLM)
    assert [f.code for f in decision.findings] == ([code] if code else [])
    assert decision.ok is (code is None)


@pytest.mark.parametrize(
    ("grammar", "cost"),
    [
        ('root ::= "ab"{1,128}', 128),  # a literal is one narrow state, 128 times
        ("root ::= [^x]{1,30}", 960),  # a wide class is 32 states
        ("root ::= [a-z]{1,9}\nb ::= [^x]{1,9} # {9,99}", 72 + 288),  # rules add up
        ('root ::= [^x]+ "{1,99}"', 0),  # nothing is written out
        ("root ::= a{1,9}\na ::= [^x]{1,9}", (9 + 288) * 9),  # what repeats a rule multiplies
        ('root ::= a ("," a){0,9}\na ::= [a-z]+', (1 + 2 * 9) * 9),
        ("start: a ~ 2..9", 81),
    ],
)
def test_bounded_repetitions_of_a_grammar_are_priced_as_those_of_patterns(grammar, cost):
    assert grammars.price(grammar) == cost


@pytest.mark.parametrize(
    "grammar",
    [
        "root ::= ([^x]{1,128}){1,128}",
        "root ::= a{1,128}\na ::= [^x]{1,30}",
        "\n".join(["root ::= a b", *(f"{name} ::= [^q]{{1,30}}" for name in "ab")]),
    ],
)
def test_a_grammar_whose_repetitions_are_dear_is_refused(grammar):
    decision = check(json.dumps(plain("chat", guided_grammar=grammar)), "chat", VLLM)
    assert [finding.code for finding in decision.findings] == ["SG805"]


def test_measuring_a_grammar_takes_linear_time():
    units = ["(", ")", "[", "[\\", '"', "'", "/", "#", "//", "{", "{1,", "~", "\\", '"\\', "/\\"]
    units += ["/a\\/", "(\n", '"\\"', "a|", "{ ", "~ "]
    for unit in units:
        for start in ("", "a ::= "):
            text = start + unit * (grammars.MAX_CHARACTERS // len(unit) - 3)
            began = time.process_time()
            grammars.measure(text)
            grammars.price(text)
            assert time.process_time() - began < 2.0, (start, unit)


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


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "allowed_tools", "mode": "required", "tools": [named("chat", "a")]},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required"}},
        {"type": "function"},
        {"type": "function", "function": {"name": ["a"]}},
        {"type": None, "function": {"name": "a"}},
    ],
    ids=str,
)
def test_a_choice_that_is_not_understood_may_demand_any_tool(choice):
    assert not check(body("chat", ("a", DEAR, False), tool_choice=choice), "chat", VLLM).ok
    assert check(body("chat", ("a", CLOSED, False), tool_choice=choice), "chat", VLLM).ok


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
        "/generate",
        "/inference/v1/generate",
        "/vertex_generate",
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
