"""What profiles say of tools besides their schemas: names, descriptions, sums over a request."""

from __future__ import annotations

import json

import pytest

from schemaguard import check_request, envelopes, lint, toolsets
from schemaguard.handlers import Policy
from schemaguard.handlers import check as handle
from schemaguard.plan import compiled
from schemaguard.profiles import from_table

OBJECT = {"type": "object", "properties": {}}


def profile(**rules):
    return from_table(
        {
            "name": "own",
            "date": "2026-10-02",
            "title": "",
            "subject": "S",
            "basis": "observed",
            "source": "x",
            "rules": rules,
        },
        "own",
    )


def rule(**settings):
    return {"severity": "error", **settings}


def found(value, rules, prefix=""):
    """(code, severity, pointer) of each finding, and the messages."""
    unpacked = envelopes.unpack(value)
    tools = toolsets.gather(unpacked.tools, value, prefix)
    said = list(toolsets.findings(tools, compiled(profile(**rules))))
    places = [
        (f.diagnostic.code, f.diagnostic.severity, f.diagnostic.pointer, f.tool) for f in said
    ]
    return places, [f.diagnostic.message for f in said]


def chat(name, schema=OBJECT, **more):
    return {"type": "function", "function": {"name": name, "parameters": schema, **more}}


NAMES = {"SG621": rule(limit=8), "SG622": rule(pattern="[a-z_]+")}
FORMS = [
    ({"tools": [chat("a-b")]}, "/tools/0/function/name"),
    ({"tools": [{"type": "function", "name": "a-b", "parameters": OBJECT}]}, "/tools/0/name"),
    ([{"name": "a-b", "input_schema": OBJECT}], "/0/name"),
    ({"tools": [{"name": "a-b", "inputSchema": OBJECT}]}, "/tools/0/name"),
    (
        {"tools": [{"functionDeclarations": [{"name": "a-b", "parameters": OBJECT}]}]},
        "/tools/0/functionDeclarations/0/name",
    ),
    (
        {"toolConfig": {"tools": [{"toolSpec": {"name": "a-b", "inputSchema": {"json": OBJECT}}}]}},
        "/toolConfig/tools/0/toolSpec/name",
    ),
]


@pytest.mark.parametrize(("value", "pointer"), FORMS)
def test_a_name_is_found_where_each_api_has_it(value, pointer):
    places, _ = found(value, NAMES)
    assert places == [("SG622", "error", pointer, 0)]


def test_a_name_is_held_to_length_and_characters_with_the_prefix_of_a_client():
    value = {"tools": [chat("abcdefgh"), chat("abcdefghi"), chat("a.b")]}
    places, messages = found(value, NAMES)
    assert [(code, tool) for code, _, _, tool in places] == [("SG621", 1), ("SG622", 2)]
    assert messages[0] == "tool name of 9 characters is over S's 8"
    places, messages = found({"tools": [chat("abcd")]}, NAMES, "m__x_")
    assert [place[0] for place in places] == ["SG621"]
    assert messages == ["tool name of 9 characters is over S's 8, with the prefix m__x_"]


def test_the_description_of_a_tool_is_not_that_of_its_schema():
    rules = {"SG623": rule(limit=4)}
    value = {"tools": [chat("a", description="12345"), chat("b", description="1234")]}
    assert found(value, rules)[0] == [("SG623", "error", "/tools/0/function/description", 0)]
    schema = {**OBJECT, "description": "a schema may say a lot"}
    assert found({"tools": [chat("a", schema)]}, rules)[0] == []
    assert found(schema, rules)[0] == []


def test_tools_are_counted_where_they_stand():
    value = {"tools": [chat(name) for name in "abc"]}
    assert found(value, {"SG624": rule(limit=3)})[0] == []
    assert found(value, {"SG624": rule(limit=2)})[0] == [("SG624", "error", "/tools", None)]


def test_the_strict_tools_count_or_all_where_none_says():
    rules = {"SG625": rule(limit=1)}
    assert found({"tools": [chat("a"), chat("b")]}, rules)[0] == [
        ("SG625", "error", "/tools", None)
    ]
    assert found({"tools": [chat("a", strict=True), chat("b")]}, rules)[0] == []
    assert found({"tools": [chat("a", strict=False), chat("b", strict=False)]}, rules)[0] == []


def test_some_providers_want_all_or_none_strict():
    rules = {"SG626": rule()}
    assert found({"tools": [chat("a", strict=True), chat("b")]}, rules)[0] != []
    assert found({"tools": [chat("a", strict=True), chat("b", strict=True)]}, rules)[0] == []
    assert found({"tools": [chat("a", strict=False), chat("b", strict=False)]}, rules)[0] == []


def optional(count, definitions=0):
    return {
        "type": "object",
        "properties": {f"p{i}": {"type": "string"} for i in range(count)},
        "$defs": {
            "d": {
                "type": "object",
                "properties": {f"q{i}": {"type": "string"} for i in range(definitions)},
            }
        },
    }


READINGS = ["optional-parameters", "optional-parameters-of-root"]


@pytest.mark.parametrize(
    ("sizes", "severity"),
    [
        (((10, 0), (14, 0)), None),
        (((10, 0), (15, 0)), "error"),  # over in both readings
        (((10, 0), (14, 1)), "warning"),  # only if definitions count
        (((0, 12), (0, 13)), "warning"),
    ],
)
def test_a_sum_over_tools_is_an_error_in_every_reading_and_a_warning_in_one(sizes, severity):
    value = {"tools": [chat(f"t{i}", optional(*size)) for i, size in enumerate(sizes)]}
    places, messages = found(value, {"SG627": rule(limit=24, readings=READINGS)})
    assert [place[:3] for place in places] == (
        [] if severity is None else [("SG627", severity, "/tools")]
    )
    for message in messages:
        assert "takes at most 24 in a request" in message
        assert message.endswith(
            f"t1 ({sum(sizes[1])}), t0 ({sum(sizes[0])})" if sizes[0][0] else ")"
        )


def test_the_largest_contributors_are_named_the_largest_first():
    value = {"tools": [chat(f"t{i}", optional(i)) for i in range(9)]}
    _, (message,) = found(value, {"SG627": rule(limit=1, readings=READINGS)})
    assert message.endswith("most are in t8 (8), t7 (7), t6 (6), t5 (5), t4 (4)")


def test_a_file_has_the_findings_about_its_tools_with_places():
    text = '{"tools": [\n {"name": "a.b",\n  "inputSchema": {"type": "object"}}]}'
    report = lint.check_text("x.json", text, profile(**NAMES))
    (finding,) = report.findings
    assert (finding.code, finding.pointer) == ("SG622", "/tools/0/name")
    assert (finding.line, finding.column) == (2, 11)
    assert not report.ok
    assert lint.check_text("x.json", text, profile(SG622=rule(pattern="[a-z.]+"))).ok


def test_a_request_is_held_to_what_the_profile_says_of_tools_and_not_to_other_numbers():
    value = {"tools": [chat("a.b", strict=True), chat("long_enough")]}
    result = check_request(value, "chat", profile=profile(**NAMES))
    assert [(d.code, d.pointer) for d in result.diagnostics] == [
        ("SG621", "/tools/1/function/name"),
        ("SG622", "/tools/0/function/name"),
    ]
    assert not result.ok
    assert result.refusal.code == "SG621"
    assert check_request(value, "chat", profile=profile(SG622=rule(pattern="[a-z._]+"))).ok
    # By itself the contract of Dynamo has no dots.
    assert [d.code for d in check_request(value, "chat", profile=profile()).diagnostics] == [
        "SG607"
    ]


def test_the_tools_of_a_responses_request_are_found_in_namespaces():
    inner = {"type": "function", "name": "a.b", "parameters": OBJECT}
    value = {"tools": [{"type": "namespace", "name": "n", "tools": [inner]}]}
    (said,) = check_request(value, "responses", profile=profile(**NAMES)).diagnostics
    assert (said.code, said.pointer) == ("SG622", "/tools/0/tools/0/name")


def test_names_with_escape_codes_and_endless_names_stay_in_bounds():
    value = {"tools": [chat("\x1b[2J" + "x" * 2_000_000), chat("(" * 500), chat("\u202e")]}
    places, messages = found(value, NAMES)
    assert {place[0] for place in places} == {"SG621", "SG622"}
    assert all(len(message) < 1_000 for message in messages)


def test_a_request_of_ten_thousand_bad_names_has_a_bounded_answer():
    value = {"tools": [chat("!" * 20) for _ in range(10_000)]}
    places, _ = found(value, NAMES)
    assert len(places) == toolsets.MAX_FINDINGS


# -------------------------------------------------------------------------------- in front of servers


@pytest.mark.parametrize(
    ("api", "entry", "pointer"),
    [
        ("chat", chat("a.b", strict=True), "/tools/0/function/name"),
        (
            "responses",
            {"type": "function", "name": "a.b", "strict": True, "parameters": OBJECT},
            "/tools/0/name",
        ),
        ("messages", {"name": "a.b", "strict": True, "input_schema": OBJECT}, "/tools/0/name"),
    ],
)
@pytest.mark.parametrize("profiles", [("openai",), ("basic", "openai")])
def test_a_policy_with_such_a_profile_refuses_the_request(api, entry, pointer, profiles):
    body = json.dumps(
        {"model": "m", "messages": [], "input": "", "max_tokens": 1, "tools": [entry]}
    )
    policy = Policy(profiles=profiles, strict_only=False)
    decision = handle(body.encode(), api, policy)
    assert decision.status == 400
    assert decision.refusal.pointer == pointer
    assert ("SG622", pointer) in {(f.code, f.pointer) for f in decision.findings}
    good = body.replace("a.b", "ab").replace('"properties": {}', '"properties": {"a": {}}')
    assert handle(good.encode(), api, policy).ok


def test_parsed_requests_that_contain_themselves_are_refused_and_not_counted():
    loop = {"type": "object", "properties": {}}
    loop["properties"]["again"] = loop
    body = {"messages": [], "tools": [chat("a", loop), chat("b.c", OBJECT)]}
    decision = handle(
        body, "chat", Policy(profiles=("basic", "anthropic-strict"), strict_only=False)
    )
    assert decision.status == 400
    assert "SG113" in {finding.code for finding in decision.findings}
