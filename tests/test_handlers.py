"""Policies: what is decided about a request, what is changed in it, and in which words."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
from pathlib import Path

import pytest
from handler_requests import (
    APIS,
    CLOSED,
    OPEN,
    TOOLS,
    body,
    chat_tool,
    messages_tool,
    responses_tool,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemaguard import Limits, check_request
from schemaguard.errors import dynamo_body
from schemaguard.handlers import Policy, check
from schemaguard.handlers.bodies import MAX_MESSAGE_BYTES, answer_of, make_answer
from schemaguard.handlers.checking import _decide
from schemaguard.handlers.enforcement import enforced
from schemaguard.handlers.tools import api_of, read_choice, read_tools
from schemaguard.rules import ADVICE, BY_NAME, RULES

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpora" / "requests.jsonl.gz"
EVERY_API = pytest.mark.parametrize("api", APIS)
SCHEMA_KEY = {
    "chat": "/function/parameters",
    "responses": "/parameters",
    "messages": "/input_schema",
}
DEAR = {"type": "object", "properties": {"v": {"type": "string", "pattern": "^.{0,3000}$"}}}


def codes(decision):
    return [finding.code for finding in decision.findings]


# ------------------------------------------------------------------------------- what is checked


@EVERY_API
def test_strict_tools_are_checked_and_others_are_not(api):
    decision = check(body(api, ("a", OPEN, False), ("b", OPEN, ...), ("c", OPEN, True)), api)
    assert [tool.ok for tool in decision.tools] == [True, True, False]
    assert decision.status == 400
    assert decision.refusal.tool == "c"
    assert decision.refusal.pointer == "/tools/2" + SCHEMA_KEY[api]
    assert decision.refusal.words.startswith(
        "Invalid schema for function 'c': In context=#, object schemas require"
    )


@EVERY_API
def test_a_good_request_has_nothing_to_say(api):
    decision = check(body(api, ("a",), ("b", OPEN, False)), api)
    assert decision.ok
    assert (decision.status, decision.findings, decision.changes, decision.body) == (
        200,
        (),
        (),
        None,
    )
    assert [tool.pointer for tool in decision.tools] == ["/tools/0", "/tools/1"]


@EVERY_API
def test_other_tools_are_checked_with_the_profile_for_others_when_asked(api):
    policy = Policy(strict_only=False)
    decision = check(body(api, ("a", OPEN, False), ("b", DEAR, False)), api, policy)
    assert [tool.ok for tool in decision.tools] == [True, False]
    assert {f.profile.split("-")[0] for f in decision.errors} == {"xgrammar"}


@EVERY_API
def test_a_server_that_treats_every_tool_as_strict_has_every_tool_checked(api):
    policy = Policy(server="vllm", server_level="parameter")
    assert not check(body(api, ("a", DEAR, False)), api, policy).ok
    assert check(body(api, ("a", DEAR, False)), api, Policy(server="vllm")).ok


def test_profiles_are_for_strict_and_other_tools():
    policy = Policy(profiles={"strict": "xgrammar"}, strict_only=False)
    assert [names[0].split("-")[0] for names in policy.profiles[:2]] == ["xgrammar", "xgrammar"]
    policy = Policy(profiles=("dynamo", "xgrammar"))
    said = check(body("chat", ("a", DEAR, True)), "chat", policy)
    assert {f.profile.split("-")[0] for f in said.errors} == {"dynamo", "xgrammar"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"server": "openai"},
        {"server_level": "all"},
        {"on_reject": "ignore"},
        {"scope": "never"},
        {"schema": "x"},
        {"profiles": {"relaxed": "dynamo"}},
        {"profiles": ()},
        {"severities": {"SG651": "fatal"}},
        {"severities": {"SG999": "error"}},
        {"server": "dynamo", "server_level": "function"},
    ],
    ids=str,
)
def test_a_policy_says_what_it_cannot_be(wrong):
    with pytest.raises(ValueError):
        Policy(**wrong)


def test_policies_are_values():
    policy = Policy(server="vllm", severities={"SG651": "error"}, on_reject="relax")
    assert policy == pickle.loads(pickle.dumps(policy))  # noqa: S301  (our own)
    assert hash(policy) == hash(policy.replaced())
    assert policy != policy.replaced(on_reject="error")
    with pytest.raises(AttributeError):
        policy.server = "dynamo"


def test_severities_of_a_policy_count():
    request = body("chat", ("a", OPEN))
    decision = check(request, "chat", Policy(severities={"SG401": "warning"}))
    assert decision.ok
    assert [(f.code, f.severity) for f in decision.findings] == [("SG401", "warning")]
    twice = body("chat", ("a",), ("a",))
    assert check(twice, "chat").ok
    assert check(twice, "chat", Policy(severities={"SG651": "error"})).refusal.code == "SG651"


@pytest.mark.parametrize("server", ["vllm", "sglang"])
def test_rules_that_are_dynamos_alone_are_warnings_elsewhere(server):
    hosted = body("responses", {"type": "web_search"}, ("a",))
    assert check(hosted, "responses").refusal.code == "SG603"
    decision = check(hosted, "responses", Policy(server=server))
    assert decision.ok
    assert [(f.code, f.severity) for f in decision.findings] == [("SG603", "warning")]


# ------------------------------------------------------------- the dynamo contract, where it rules


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of requests is not here")
def test_recorded_requests_are_refused_as_the_contract_refuses_them():
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line, _ in zip(lines, range(400), strict=False):
            record = json.loads(line)
            request = record.get("body", record)
            for api in ("chat", "responses"):
                text = json.dumps(request).encode()
                ours, theirs = check(text, api), check_request(text, api)
                assert ours.ok == theirs.ok
                if not theirs.ok:
                    status, words = dynamo_body(theirs)
                    assert json.loads(answer_of(ours, "dynamo").body) == words
                    assert ours.status == status


NAMES = st.sampled_from(["a", "b", "", " ", "a.b", "n" * 129, "é", 3, None, ...])
SCHEMAS = st.sampled_from(
    [CLOSED, OPEN, {}, True, 3, None, ..., {"$ref": "#"}, {**CLOSED, "not": {}}, DEAR]
)
STRICTS = st.sampled_from([True, True, False, None, "true", ...])
CHOICES = st.sampled_from(
    [
        ...,
        None,
        "auto",
        "none",
        "required",
        "any",
        3,
        {"type": "function", "function": {"name": "a"}},
        {"type": "function", "name": "z"},
        {"type": "tool", "name": "a"},
        {"type": "any"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "a"}]},
    ]
)
FORMATS = st.sampled_from(
    [
        ...,
        None,
        {"type": "text"},
        {"type": "json_schema", "json_schema": {"name": "", "schema": {}}},
        {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}},
        {"type": "json_schema"},
    ]
)


@st.composite
def requests(draw, api):
    tools = []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.integers(0, 9)) == 0:
            tools.append(
                draw(st.sampled_from([3, {}, {"type": "function"}, {"type": "web_search"}]))
            )
        else:
            tools.append(TOOLS[api](draw(NAMES), draw(SCHEMAS), draw(STRICTS)))
    request = {
        "messages": [{"role": "user"}],
        "tools": draw(st.sampled_from([tools, tools, None, {}])),
    }
    for key, values in (("tool_choice", CHOICES), ("response_format", FORMATS)):
        value = draw(values)
        if value is not ...:
            request[key] = value
    if draw(st.integers(0, 5)) == 0:
        request["messages"].append({"role": "system", "tools": [chat_tool("s", draw(SCHEMAS))]})
    if draw(st.integers(0, 5)) == 0:
        request["text"] = {"format": draw(FORMATS.filter(lambda f: f is not ...))}
    return request


@pytest.mark.parametrize("api", ["chat", "responses"])
@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_quick_pass_never_lets_through_what_the_contract_refuses(api, data):
    request = data.draw(requests(api))
    text = json.dumps(request).encode()
    expected = check_request(text, api)
    decision = check(text, api)
    assert decision.ok == expected.ok
    if not expected.ok:
        assert json.loads(answer_of(decision, "dynamo").body) == dynamo_body(expected)[1]


@EVERY_API
@given(data=st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_parsed_body_is_decided_as_its_text_is_and_not_touched(api, data):
    request = data.draw(requests(api))
    before = copy.deepcopy(request)
    for on_reject in ("error", "drop-tool", "relax"):
        policy = Policy(profiles=("dynamo", "xgrammar"), on_reject=on_reject, strict_only=False)
        text = check(json.dumps(request).encode(), api, policy)
        parsed = check(request, api, policy)
        assert (text.ok, text.status, text.total) == (parsed.ok, parsed.status, parsed.total)
        assert sorted(codes(text)) == sorted(codes(parsed))
        assert (text.body is None) == (parsed.body is None)
        if text.body is not None:
            assert json.loads(text.body) == parsed.body
    assert request == before


# ------------------------------------------------------------------------------------- bad bodies


@EVERY_API
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "SG101"),
        (b"{", "SG101"),
        (b"[]", "SG601"),
        (b"\xff", "SG108"),
        (b'{"a": 1, "a": 2}', "SG102"),
        (b'{"a": NaN}', "SG103"),
        (b'{"a": "\\ud800"}', "SG106"),
        (b"[" * 100_000, None),
        (b'{"tools": 3}', "SG601"),
        (b'{"a": 1e999}', None),
        (b"\xef\xbb\xbf{}", None),
        (b"{} {}", None),
        (b'{"a": ' + b"1" * 5_000 + b"}", None),
    ],
    ids=lambda v: str(v)[:20],
)
def test_a_body_that_is_no_strict_json_object_is_refused(api, text, code):
    decision = check(text, api)
    assert decision.status == 400
    assert code is None or RULES[code].code == decision.refusal.code
    assert decision.refusal.words.isprintable()
    direct = check_request(text, "responses" if api == "responses" else "chat")
    assert not direct.ok


def test_a_repeated_name_is_refused_however_it_is_written():
    for text in (
        b'{"tools": [], "tools" : []}',
        b'{"a": {"b": 1, "\\u0062": 2}}',
        b'{"x":"\\":","y":1,"y" :2}',
    ):
        assert check(text, "chat").refusal.name == "duplicate-key"


def test_a_body_over_the_limit_is_413():
    assert check(body("chat", ("a",)), "chat", Policy(limits=Limits(max_bytes=10))).status == 413


def test_an_unknown_api_is_misuse():
    with pytest.raises(ValueError):
        check(b"{}", "completions")


class Liar:
    @property
    def __class__(self):
        return dict


@EVERY_API
@pytest.mark.parametrize(
    "value",
    [
        Liar(),
        {"tools": [Liar()]},
        {"tools": Liar()},
        {"tools": [{"function": Liar()}]},
        {1: 2},
        None,
        3,
    ],
)
def test_parsed_bodies_that_lie_are_refused_without_an_exception(api, value):
    for name in (api, "auto"):
        assert not check(value, name).ok


@pytest.mark.parametrize(
    ("shape", "api"),
    [
        ({"messages": [], "tools": [chat_tool()]}, "chat"),
        ({"messages": []}, "chat"),
        ({"messages": [], "tools": [messages_tool()]}, "messages"),
        ({"messages": [], "system": "x", "max_tokens": 1}, "messages"),
        ({"input": "x"}, "responses"),
        ({"tools": [responses_tool()]}, "responses"),
        ({"tools": [chat_tool()]}, "chat"),
        ({"tools": [messages_tool()]}, "messages"),
        ({}, "chat"),
    ],
    ids=str,
)
def test_the_api_is_told_by_the_shape(shape, api):
    assert api_of(shape) == api
    assert check(json.dumps(shape).encode()).api == api


# --------------------------------------------------------------------------------------- messages


def test_tools_that_anthropic_hosts_are_passed_over_with_a_warning():
    decision = check(
        body("messages", {"type": "web_search_20250305", "name": "web_search"}, ("a", OPEN)),
        "messages",
    )
    assert [(f.code, f.severity, f.pointer) for f in decision.findings] == [
        ("SG603", "warning", "/tools/0/type"),
        ("SG401", "error", "/tools/1/input_schema"),
    ]


def test_pointers_into_a_messages_body_are_its_own():
    inner = {**CLOSED, "properties": {"x": {"type": "object"}}, "required": ["x"]}
    request = body(
        "messages", ("a.b",), ("c", inner), {"name": "d"}, tool_choice={"type": "tool", "name": "z"}
    )
    pointers = {f.code: f.pointer for f in check(request, "messages").findings}
    assert pointers == {
        "SG607": "/tools/0/name",
        "SG401": "/tools/1/input_schema/properties/x",
        "SG601": "/tools/2/input_schema",
        "SG610": "/tool_choice",
    }


# ----------------------------------------------------------------------------------------- advice


@pytest.mark.parametrize("name", sorted(r.name for r in RULES.values() if r.on[0] == ADVICE))
def test_advice_speaks_for_its_bad_example_alone(name):
    rule = BY_NAME[name]
    policy = Policy(tags=name != "unenforced-strict-tool")
    for example, expected in ((rule.bad, [rule.code]), (rule.good, [])):
        decision = check(example.encode(), "chat", policy)
        said = [f for f in decision.findings if RULES[f.code].on[0] == ADVICE]
        assert [f.code for f in said] == expected
        assert all(f.severity != "error" for f in said)


def definition(value):
    return {**CLOSED, "$defs": {"d": value}}


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ({"type": "string"}, {"type": "string"}, False),
        ({"const": 1, "title": "x"}, {"title": "x", "const": 1.0}, False),
        ({"const": 1}, {"const": True}, True),
        ({"const": 0}, {"const": False}, True),
        ({"enum": [1, 2]}, {"enum": [2, 1]}, True),
        ({"type": "string"}, {}, True),
    ],
)
def test_definitions_clash_when_they_are_different_json(one, other, clash):
    request = body("chat", ("a", definition(one)), ("b", definition(other)))
    found = [f.pointer for f in check(request, "chat").findings if f.code == "SG652"]
    assert found == (["/tools/1/function/parameters/$defs/d"] if clash else [])


@EVERY_API
def test_a_choice_of_a_tool_that_is_not_there_is_named(api):
    choice = {
        "chat": {"type": "function", "function": {"name": "z"}},
        "responses": {"type": "function", "name": "z"},
        "messages": {"type": "tool", "name": "z"},
    }[api]
    assert "SG610" in codes(check(body(api, ("a",), tool_choice=choice), api))


# ------------------------------------------------------------------------------------ enforcement

# (policy, choice) → which of [strict, omitted, relaxed, no parameters] are pinned.
TABLE = [
    ({}, "auto", "110"),
    ({}, "required", "110"),
    ({}, "none", "000"),
    ({"schema": "strict"}, "auto", "111"),
    ({"scope": "auto"}, "auto", "110"),
    ({"tags": False}, "required", "000"),
    ({"server": "vllm"}, "auto", "100"),
    ({"server": "vllm"}, "required", "100"),
    ({"server": "vllm", "server_level": "function"}, "auto", "100"),
    ({"server": "vllm", "server_level": "parameter"}, "auto", "111"),
    ({"server": "sglang", "server_level": "parameter"}, "none", "000"),
    ({"server": "sglang"}, "auto", "100"),
]


@pytest.mark.parametrize(("options", "choice", "expected"), TABLE)
def test_what_a_server_enforces_follows_its_documentation(options, choice, expected):
    request = json.loads(
        body(
            "chat",
            ("a", CLOSED, True),
            ("b", CLOSED, ...),
            ("c", CLOSED, False),
            ("d", ..., True),
            tool_choice=choice,
        )
    )
    tools = read_tools(request, "chat")
    verdicts = enforced(Policy(**options), tools, read_choice(request, "chat"))
    assert "".join(str(int(pinned)) for pinned, _ in verdicts) == expected + "0"
    assert all(why for _, why in verdicts)


@pytest.mark.parametrize(
    ("options", "strict", "parallel", "expected"),
    [
        ({"scope": "auto"}, ..., None, False),
        ({"scope": "auto"}, ..., True, False),
        ({"scope": "auto"}, ..., False, True),
        ({"scope": "auto"}, True, None, True),
        ({"scope": "always"}, ..., None, True),
        ({"server": "vllm"}, ..., False, False),
        ({"server": "vllm", "server_level": "function"}, ..., None, False),
    ],
)
def test_dynamos_scope_auto_wants_a_strict_tool_or_single_calls(
    options, strict, parallel, expected
):
    more = {} if parallel is None else {"parallel_tool_calls": parallel}
    decision = check(body("chat", ("a", CLOSED, strict), **more), "chat", Policy(**options))
    assert decision.tools[0].enforced is expected


@EVERY_API
def test_a_named_choice_pins_that_tool_alone(api):
    choice = {
        "chat": {"type": "function", "function": {"name": "b"}},
        "responses": {"type": "function", "name": "b"},
        "messages": {"type": "tool", "name": "b"},
    }[api]
    decision = check(body(api, ("a",), ("b",), tool_choice=choice), api)
    assert [tool.enforced for tool in decision.tools] == [False, True]


# ------------------------------------------------------------------------------------------ edits

ODD = """{
  "model" : "m", "messages": [{"role":"user","content":"\\u00e9 \\/ é"}],
  "temperature": 1.0e0, "seed": 12345678901234567890, "top_p":0.10,
  "tools": [%s]  ,
  "tool_choice":"auto"}
"""


def odd(*tools):
    return (ODD % ",\n   ".join(tools)).encode()


def tool_text(name, schema, strict='"strict": true, '):
    inside = f'"name":"{name}", {strict}"parameters": {schema}'
    return '{"type":"function", "function" : { ' + inside + " } }"


GOOD_TEXT = '{"additionalProperties":false,"type":"object"}'
BAD_TEXT = '{"type":"object","title":"\\u0062ad"}'


@pytest.mark.parametrize(
    "bad", [[0], [1], [3], [0, 1], [1, 2], [2, 3], [0, 3], [0, 1, 3], [1, 2, 3]], ids=str
)
def test_dropping_leaves_every_other_byte_as_it_was(bad):
    tools = [tool_text(f"t{i}", BAD_TEXT if i in bad else GOOD_TEXT) for i in range(4)]
    kept = [tool for i, tool in enumerate(tools) if i not in bad]
    decision = check(odd(*tools), "chat", Policy(on_reject="drop-tool"))
    assert decision.body == odd(*kept)
    assert [(c.action, c.tool, c.pointer, c.code) for c in decision.changes] == [
        ("drop-tool", f"t{i}", f"/tools/{i}", "SG401") for i in bad
    ]
    assert decision.ok
    assert all("object schemas require" in change.reason for change in decision.changes)


def test_relaxing_changes_one_word_of_the_tool():
    tools = [tool_text("a", GOOD_TEXT), tool_text("b", BAD_TEXT), tool_text("c", BAD_TEXT)]
    relaxed = [tools[0], *(t.replace("true", "false") for t in tools[1:])]
    decision = check(odd(*tools), "chat", Policy(on_reject="relax"))
    assert decision.body == odd(*relaxed)
    assert [c.header for c in decision.changes] == [
        "relax; tool=b; at=/tools/1; code=SG401",
        "relax; tool=c; at=/tools/2; code=SG401",
    ]


def test_relaxing_adds_the_word_where_it_is_left_out():
    dear = json.dumps(DEAR)
    tools = [tool_text("a", dear, ""), tool_text("b", GOOD_TEXT, "")]
    decision = check(
        odd(*tools),
        "chat",
        Policy(on_reject="relax", profiles={"strict": "dynamo"}, strict_only=False),
    )
    # Relaxed, it is still checked as one of the other tools, and still refused.
    assert not decision.ok
    policy = Policy(on_reject="relax", server="sglang", server_level="parameter")
    assert not check(odd(*tools), "chat", policy).ok


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"on_reject": "relax", "schema": "strict"}, {}),
        (
            {
                "on_reject": "relax",
                "server": "vllm",
                "server_level": "parameter",
                "profiles": "dynamo",
            },
            {},
        ),
        (
            {"on_reject": "drop-tool"},
            {"tool_choice": {"type": "function", "function": {"name": "b"}}},
        ),
        ({"on_reject": "drop-tool"}, {"tools": [chat_tool("b", OPEN)]}),
        (
            {"on_reject": "drop-tool"},
            {
                "tools": [chat_tool("b", OPEN)],
                "messages": 3,
                "tool_choice": 3,
                "response_format": {"type": "json_schema"},
            },
        ),
        ({"on_reject": "relax"}, {"tools": [chat_tool("b.c", OPEN)]}),
    ],
    ids=str,
)
def test_what_cannot_be_mended_is_refused(options, more):
    request = {"messages": [], "tools": [chat_tool("a"), chat_tool("b", OPEN)], **more}
    decision = check(json.dumps(request).encode(), "chat", Policy(**options))
    assert not decision.ok
    assert decision.changes == ()
    assert decision.body is None


def test_a_tool_with_a_bad_name_can_be_dropped():
    decision = check(body("chat", ("a",), ("b.c",)), "chat", Policy(on_reject="drop-tool"))
    assert json.loads(decision.body)["tools"] == [chat_tool("a")]
    assert decision.changes[0].code == "SG607"


def test_a_namespace_of_which_nothing_is_left_is_dropped_whole():
    space = {
        "type": "namespace",
        "name": "n",
        "tools": [responses_tool("x", OPEN), responses_tool("y", OPEN)],
    }
    half = {
        "type": "namespace",
        "name": "h",
        "tools": [responses_tool("v", OPEN), responses_tool("w")],
    }
    decision = check(
        body("responses", ("a",), space, half), "responses", Policy(on_reject="drop-tool")
    )
    assert json.loads(decision.body)["tools"] == [
        responses_tool("a"),
        {**half, "tools": [responses_tool("w")]},
    ]


def test_tools_of_system_messages_are_mended_in_their_place():
    request = {
        "messages": [{"role": "system", "tools": [chat_tool("s", OPEN), chat_tool("t")]}],
        "tools": [chat_tool("a")],
    }
    dropped = check(json.dumps(request).encode(), "chat", Policy(on_reject="drop-tool"))
    assert json.loads(dropped.body)["messages"] == [{"role": "system", "tools": [chat_tool("t")]}]
    relaxed = check(request, "chat", Policy(on_reject="relax"))
    assert relaxed.body["messages"][0]["tools"] == [chat_tool("s", OPEN, False), chat_tool("t")]
    assert request["messages"][0]["tools"][0]["function"]["strict"] is True


def test_a_header_of_changes_is_visible_ascii():
    name = 'x", evil: 1\r\nset-cookie: a=é'
    decision = check(body("chat", ("a",), (name, OPEN)), "chat", Policy(on_reject="drop-tool"))
    header = decision.changes[0].header
    assert header.isascii()
    assert header.isprintable()
    assert header.count(";") == 3
    assert "," not in header


# ----------------------------------------------------------------------------------------- bodies

FORMS = ("openai", "anthropic", "dynamo", "problem")
EVIL = "\x1b[31m\r\nSet-Cookie: a\u202e\x00" + "n" * 100_000 + "é" * 10


@pytest.mark.parametrize("form", FORMS)
@EVERY_API
def test_every_form_is_bounded_and_printable(form, api):
    decision = check(body(api, (EVIL, {**OPEN, "properties": {EVIL: {"not": {}}, "\x07": 1}})), api)
    assert not decision.ok
    answer = answer_of(decision, form)
    parsed = json.loads(answer.body)
    assert len(answer.body) < 60_000
    assert answer.body.isascii()
    assert dict(answer.headers)["content-length"] == str(len(answer.body))
    words = parsed.get("detail") or parsed.get("message") or parsed["error"]["message"]
    assert words.isprintable()
    assert len(json.dumps(words)) <= MAX_MESSAGE_BYTES + 20
    if form == "dynamo":
        assert len(answer.body) <= 4_096
        assert parsed.keys() == {"message", "type", "code"}


def test_the_forms_are_those_of_the_apis():
    decision = check(body("chat", ("a",), ("b", {**CLOSED, "not": {}})), "chat")
    words = "Invalid schema for function 'b': In context=#/not, keyword is not supported in strict schemas"
    findings = [
        {
            "code": "SG201",
            "name": decision.refusal.name,
            "severity": "error",
            "message": "keyword is not supported in strict schemas",
            "fix": decision.refusal.fix,
            "pointer": "/tools/1/function/parameters/not",
            "tool": "b",
            "profile": "dynamo-2026-11-30",
        }
    ]
    bodies = {form: json.loads(answer_of(decision, form).body) for form in FORMS}
    assert bodies["openai"] == {
        "error": {
            "message": words,
            "type": "invalid_request_error",
            "param": "tools[1].function.parameters",
            "code": "invalid_function_parameters",
            "findings": findings,
            "total": 1,
        }
    }
    assert bodies["anthropic"] == {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": words,
            "findings": findings,
            "total": 1,
        },
        "request_id": None,
    }
    assert bodies["dynamo"] == {
        "message": f"Validation: {words}",
        "type": "Bad Request",
        "code": 400,
    }
    assert bodies["problem"] == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": words,
        "findings": findings,
        "total": 1,
    }
    assert (
        dict(answer_of(decision, "problem").headers)["content-type"] == "application/problem+json"
    )


@pytest.mark.parametrize(
    ("request_body", "api", "param"),
    [
        (body("chat", ("a.b",)), "chat", "tools[0].function.name"),
        (body("responses", ("a", OPEN)), "responses", "tools[0].parameters"),
        (b"{", "chat", None),
        (body("responses", ("a",), tool_choice=3), "responses", "tool_choice"),
    ],
)
def test_param_says_where_as_openai_does(request_body, api, param):
    assert json.loads(answer_of(check(request_body, api), "openai").body)["error"]["param"] == param


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [408, 413, 415, 503])
def test_answers_without_a_finding_have_the_same_forms(form, status):
    answer = make_answer(status, "no", form=form, code="x")
    parsed = json.loads(answer.body)
    assert answer.status == status
    assert "no" in json.dumps(parsed)
    assert "findings" not in json.dumps(parsed)


def test_a_message_of_wide_characters_is_cut_by_its_bytes():
    words = json.loads(make_answer(400, "é" * 5_000, form="problem").body)["detail"]
    assert words.endswith("...")
    assert len(json.dumps(words)) - 2 <= MAX_MESSAGE_BYTES


def test_findings_are_capped_and_counted():
    schema = {
        **CLOSED,
        "properties": {f"p{i}": {"type": "object"} for i in range(300)},
        "required": [f"p{i}" for i in range(300)],
    }
    decision = check(body("chat", ("a", schema)), "chat")
    assert len(decision.findings) == 100
    assert decision.total == 300
    parsed = json.loads(answer_of(decision).body)["error"]
    assert len(parsed["findings"]) == 50
    assert parsed["total"] == 300


def test_deciding_twice_is_the_same():
    request = body("chat", ("a", OPEN), ("a", DEAR))
    assert _decide(request, "chat", Policy()) == _decide(request, "chat", Policy())


# ---------------------------------------------------------------------------------------- reading

TEXTS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text('ab"\\[]{},:\né😀\ud800', max_size=6),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text('a"\\:é', max_size=2), inner, max_size=3),
    ),
    max_leaves=12,
)
SPELLINGS = st.builds(
    lambda value, ascii_, indent, tail: (
        json.dumps(value, ensure_ascii=ascii_, indent=indent).encode("utf-8", "surrogatepass")
        + tail
    ),
    TEXTS,
    st.booleans(),
    st.sampled_from([None, 1]),
    st.sampled_from([b"", b" ", b"x", b"\xff"]),
)
BROKEN = st.builds(
    lambda text, at, byte: text[: at % (len(text) + 1)] + byte + text[at % (len(text) + 1) :],
    SPELLINGS,
    st.integers(0, 200),
    st.sampled_from([b'"', b"\\", b"[", b"}", b",", b":", b'{"a":1,"a":2}', b"1e999", b"0"]),
)


@given(
    st.one_of(SPELLINGS, BROKEN),
    st.sampled_from([Limits(), Limits(max_depth=2), Limits(max_nodes=5), Limits(max_bytes=40)]),
)
@settings(max_examples=1_000, deadline=None)
def test_the_fast_reading_is_that_of_the_strict_reader(text, limits):
    from schemaguard.document import read
    from schemaguard.handlers.reading import read_body

    ours, theirs = read_body(text, limits), read(text, limits)
    assert repr(ours.value) == repr(theirs.value)
    assert ours.faults == theirs.faults
    assert (ours.text, ours.nbytes, ours.readable) == (theirs.text, theirs.nbytes, theirs.readable)


@given(TEXTS, st.booleans(), st.integers(1, 7))
@settings(max_examples=500, deadline=None)
def test_measuring_in_pieces_finds_depth_and_a_bound_of_the_values(value, ascii_, piece):
    from unittest.mock import patch

    from schemaguard.document import _count_nodes, _measure_depth
    from schemaguard.handlers import reading

    text = json.dumps(value, ensure_ascii=ascii_)
    if "\ud800" in text:
        return
    with patch.object(reading, "_PIECE", piece):
        values, depth = reading.measure(text)
    assert depth == _measure_depth(text)
    assert _count_nodes(text) <= values <= _count_nodes(text) + text.count("[]") + text.count("{}")
