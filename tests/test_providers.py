"""What the provider profiles say of public reports, of single demands, and where they have it from."""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
import re

import pytest
import strategies
from closed_objects import closed
from conftest import ROOT, shared
from hypothesis import HealthCheck, given, settings

import schemaguard
from schemaguard import dialects, lint, walk
from schemaguard.keywords import KEYWORDS
from schemaguard.plan import Plans
from schemaguard.profiles import BASES, Grounds, ProfileError, from_table, load, names
from schemaguard.rules import RULES

#: The cases call some profiles otherwise.
CALLED = {"bedrock-claude-strict": "bedrock-strict"}

#: What a case calls its finding → the rules that mean it.
MEANS = {
    "additionalProperties-missing": {"SG401"},
    "array-items-missing": {"SG421"},
    "boolean-subschema": {"SG246"},
    "depth-exceeded": {"SG501", "SG521"},
    "dialect": {"SG247"},
    "enum-count-exceeded": {"SG523"},
    "enum-not-string": {"SG249"},
    "items-array": {"SG247"},
    "items-untyped": {"SG244"},
    "keyword-ignored": {"SG232"},
    "keyword-not-permitted": {"SG231"},
    "keyword-unsupported": {"SG231"},
    "metaschema-2020-12": {"SG216", "SG247"},
    "object-properties-missing": {"SG433"},
    "property-key-pattern": {"SG422"},
    "ref-expansion-conflict": {"SG262"},
    "ref-recursive": {"SG261"},
    "ref-siblings": {"SG241"},
    "ref-unsupported": {"SG243"},
    "required-extra-key": {"SG425"},
    "required-incomplete": {"SG424"},
    "required-undeclared": {"SG425"},
    "required-undefined": {"SG425"},
    "required-without-properties": {"SG426"},
    "reserved-property-name": {"SG423"},
    "root-combinator": {"SG231"},
    "root-not-object": {"SG432"},
    "root-type-missing": {"SG413", "SG431"},
    "root-union-branch-not-object": {"SG434"},
    "too-many-optional": {"SG524"},
    "type-beside-anyof": {"SG231", "SG245"},
    "type-beside-ref": {"SG241"},
    "type-missing": {"SG244"},
    "unknown-field": {"SG231"},
}

#: (case, profile) → why its verdict is not ours; each is in docs/profiles.md.
EXCEPTIONS = {
    ("prov-011", "dynamo"): "the contract has the finding at the object that is too deep",
    ("prov-036", "anthropic-sdk-transform"): "what a client library does is no API's answer",
    ("prov-052", "gemini-json"): "a limit that depends on the model and moves: a warning",
    ("prov-060", "openai"): "one reporter against several: the other reports of the same shape",
}


def cases():
    lines = shared("cases", "providers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def expectations():
    for case in cases():
        if case["input"] == "schema":  # names and numbers of tools: see test_toolsets
            for profile, expected in case["expected"].items():
                if (case["id"], profile) not in EXCEPTIONS:
                    yield case, CALLED.get(profile, profile), expected


def disagreement(case, profile, expected):
    """What is not as expected, or None."""
    report = schemaguard.check(case["schema"], profile=profile)
    verdict = expected["verdict"]
    if verdict in ("accept", "degrade") and not report.ok:
        return f"rejected: {report.diagnostics[:3]}"
    if verdict == "reject" and report.ok:
        return "accepted"
    if verdict in ("accept", "unknown"):
        return None
    meant = MEANS[expected["rule"]]
    said = {(d.code, d.pointer) for d in report.diagnostics if verdict != "reject" or is_error(d)}
    if not any((code, expected["at"]) in said for code in meant):
        return f"{expected['rule']} at {expected['at']!r}: {sorted(said)[:5]}"
    return None


def is_error(diagnostic):
    return diagnostic.severity == "error"


def test_every_definite_verdict_of_the_cases_is_ours(capsys):
    wrong = []
    count = 0
    for case, profile, expected in expectations():
        if expected["verdict"] == "unknown":
            continue
        count += 1
        found = disagreement(case, profile, expected)
        if found is not None:
            wrong.append((case["id"], profile, expected["verdict"], found))
    with capsys.disabled():
        print(f"\n{count - len(wrong)} of {count} definite verdicts of providers.jsonl")
    assert count > 150
    assert wrong == []


def test_what_nobody_knows_is_no_error_where_the_case_has_it():
    for case, profile, expected in expectations():
        if expected["verdict"] == "unknown" and "at" in expected and profile in names():
            report = schemaguard.check(case["schema"], profile=profile)
            at = expected["at"]
            assert not [d for d in report.diagnostics if is_error(d) and d.pointer == at], case[
                "id"
            ]


def test_exceptions_are_exceptions_and_the_page_has_each():
    page = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")
    for case, profile in EXCEPTIONS:
        assert f"{case}, `{profile}`" in page
    known = {case["id"]: case for case in cases()}
    for name, profile in EXCEPTIONS:
        case = known[name]
        expected = case["expected"][profile]
        if profile in names() and expected["verdict"] != "unknown":
            assert disagreement(case, profile, expected) is not None


def test_the_page_lists_every_profile_and_every_reading():
    path = ROOT / "docs" / "make_profiles.py"
    spec = importlib.util.spec_from_file_location("make_profiles", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    page = made.PAGE.read_text(encoding="utf-8")
    assert page == made.listed(page), "run `make docs`"
    assert page.count("\n| `openai-strict` | OpenAI, strict tools | documented |") == 1


# ------------------------------------------------------------------------------------------- facts


@pytest.mark.parametrize("name", names())
def test_every_fact_has_a_basis_a_source_and_a_date(name):
    profile = load(name)
    facts = [
        Grounds(profile.basis, profile.source, profile.date),
        *profile.grounds.values(),
        *(setting.grounds for entries in profile.settings.values() for setting in entries),
        *(remark.grounds for remarks in profile.remarks.values() for remark in remarks),
    ]
    assert profile.severities.keys() == profile.grounds.keys()
    for grounds in facts:
        assert grounds.basis in BASES
        assert len(grounds.source) >= 10
        assert dt.date.fromisoformat(grounds.date) <= dt.date(2026, 12, 1)


@pytest.mark.parametrize("name", names())
def test_what_is_disputed_is_never_an_error(name):
    profile = load(name)
    for code, severity in profile.severities.items():
        settings_of = profile.settings.get(code, ())
        bases = {entry.grounds.basis for entry in settings_of} or {profile.grounds[code].basis}
        if code not in ("SG231", "SG232", "SG233"):
            assert severity != "error" or "disputed" not in bases
    assert "disputed" not in {remark.grounds.basis for remark in profile.remarks["refused"]}
    assert profile.severities.get("SG233", "warning") != "error"


def test_the_profiles_are_those_that_were_promised():
    assert set(names()) >= {
        *("dynamo", "openai", "openai-strict", "openai-fine-tuned", "azure-openai-strict"),
        *("anthropic", "anthropic-strict", "gemini-json", "gemini-openapi", "moonshot", "xai"),
        *("deepseek-strict", "cerebras-strict", "groq-strict", "cohere-strict", "bedrock-strict"),
        *("fireworks", "mistral", "meta", "mcp", "xgrammar", "vllm", "sglang", "llguidance"),
    }


@pytest.mark.parametrize("name", names())
def test_a_closed_object_with_one_required_string_is_fine_with_all_that_take_closed_objects(name):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    report = schemaguard.check(schema, profile=name)
    if name == "gemini-openapi":
        assert [d.pointer for d in report.diagnostics] == ["/additionalProperties"]
    else:
        assert report.ok
    if name != "xai":  # where it is disputed
        assert all(is_error(d) for d in report.diagnostics)


# ------------------------------------------------------------------------------------ single demands


def objects(levels, inner=None):
    schema = inner or {"type": "string"}
    for _ in range(levels):
        schema = closed(a=schema)
    return schema


STRING = {"type": "string"}
LINKED = {
    "type": "object",
    "properties": {"value": STRING, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
    "required": ["value", "next"],
    "additionalProperties": False,
}
TREE = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/T"}},
    "required": ["a"],
    "$defs": {
        "T": {
            "type": "object",
            "properties": {"b": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
            "required": ["b"],
        }
    },
}
CLOSING = "/$defs/T/properties/b/items/$ref"
DEFS = {"$defs": {"S": STRING}}

#: (profile, schema, rule, pointer): the rule speaks there.
SPEAKS = [
    ("openai-strict", closed(a={"$ref": "#/$defs/S", "default": 1}) | DEFS, "SG241", "a/$ref"),
    ("gemini-json", closed(a={"$ref": "#/$defs/S", "title": "x"}) | DEFS, "SG241", "a"),
    ("openai-strict", closed(a=STRING, b={"$ref": "#/properties/a"}), "SG242", "b/$ref"),
    ("moonshot", closed(a={"$ref": "#/definitions/S"}) | {"definitions": {"S": STRING}}, "SG242", "a/$ref"),
    ("moonshot", LINKED, "SG242", "next/anyOf/0/$ref"),
    ("anthropic-strict", closed(a={"allOf": [{"$ref": "#/$defs/S"}]}) | DEFS, "SG243", "a/allOf/0/$ref"),
    ("openai-strict", closed(a={"type": "array", "items": True}), "SG244", "a/items"),
    ("openai-strict", closed(a={"anyOf": [{"description": "x"}, STRING]}), "SG244", "a/anyOf/0"),
    ("moonshot", closed(a={"type": "object", "additionalProperties": {"title": "x"}}), "SG244", "a/additionalProperties"),
    ("moonshot", closed(a={"type": "string", "anyOf": [STRING]}), "SG245", "a/type"),
    ("xai", closed(a=False), "SG246", "a"),
    ("cerebras-strict", closed(a={"type": "array", "items": True}), "SG246", "a/items"),
    ("anthropic", closed(a={"type": "array", "items": [STRING]}), "SG247", "a/items"),
    ("gemini-openapi", closed(a={"type": ["string", "null"]}), "SG248", "a/type"),
    ("moonshot", closed(a={"type": ["string", "integer"], "enum": ["x"]}), "SG248", "a/type"),
    ("anthropic-strict", closed(a={"enum": [{"x": 1}]}), "SG249", "a/enum"),
    ("gemini-openapi", closed(a={"type": "boolean", "enum": [True]}), "SG249", "a/enum"),
    ("moonshot", closed(a={"type": "string", "enum": ["x", 1]}), "SG250", "a/enum"),
    ("anthropic-strict", closed(a={"enum": ["Open", "x", "OPEN"]}), "SG251", "a/enum"),
    ("openai-strict", closed(a={"type": "string", "pattern": "(?<!a)b"}), "SG252", "a/pattern"),
    ("cohere-strict", closed(a={"type": "string", "pattern": "^a"}), "SG252", "a/pattern"),
    ("xai", closed(a={"type": "array", "items": STRING, "maxItems": 257}), "SG253", "a/maxItems"),
    ("moonshot", closed(a={"type": "array", "items": STRING, "default": []}), "SG254", "a/default"),
    ("moonshot", closed(a={**STRING, **DEFS}), "SG255", "a/$defs"),
    ("moonshot", closed(a=STRING) | {"$defs": {"x/y": STRING}}, "SG256", "/$defs/x~1y"),
    ("moonshot", closed(a={"type": "string", "minLength": 2, "maxLength": 1}), "SG257", "a/minLength"),
    ("moonshot", closed(a={"anyOf": [STRING] * 101}), "SG258", "a/anyOf"),
    ("xai", closed(a={"allOf": [STRING, STRING]}), "SG258", "a/allOf"),
    ("openai-strict", closed(a={"enum": [f"{i:060}" for i in range(251)]}), "SG259", "a/enum"),
    ("gemini-openapi", closed(a={"type": "string", "readOnly": True}), "SG260", "a/readOnly"),
    ("meta", TREE, "SG261", CLOSING),
    ("gemini-json", TREE, "SG261", CLOSING),
    ("cerebras-strict", LINKED, "SG261", "next/anyOf/0/$ref"),
    ("moonshot", closed(a={"$ref": "#/$defs/S", "description": "x"}) | {"$defs": {"S": {**STRING, "description": "y"}}}, "SG262", "a"),
    ("moonshot", closed(a={"anyOf": [STRING], "default": "x"}), "SG263", "a/default"),
    ("xai", closed(a={"type": "string", "enum": []}), "SG264", "a/enum"),
    ("cerebras-strict", closed(a={"type": "array", "prefixItems": [STRING]}), "SG265", "a/prefixItems"),
    ("vllm", closed(a={"type": "string", "pattern": "a", "maxLength": 1}), "SG266", "a/pattern"),
    ("sglang", closed(a={"format": "date", "pattern": "a"}), "SG266", "a/format"),
    ("openai", closed(a={"type": ["array", "null"]}), "SG421", "a"),
    ("gemini-openapi", closed(**{"1a": STRING}), "SG422", "1a"),
    ("moonshot", closed(required=STRING), "SG423", "required"),
    ("groq-strict", {**closed(a=STRING, b=STRING), "required": ["b"]}, "SG424", "a"),
    ("openai-strict", {**closed(a=STRING), "required": ["a", "b"]}, "SG425", "/required/1"),
    ("groq", closed(a={"type": "object", "required": ["x"]}), "SG426", "a/required"),
    ("cohere-strict", {**closed(a=STRING), "required": []}, "SG427", ""),
    ("openai", {"properties": {}}, "SG431", ""),
    ("openai", {"type": ["object", "null"], "properties": {}}, "SG432", "/type"),
    ("openai", {"type": "object"}, "SG433", ""),
    ("xai", {"oneOf": [closed(a=STRING), STRING]}, "SG434", "/oneOf/1"),
    ("xai", {"type": "object", "anyOf": [{"required": ["a"]}]}, "SG434", "/anyOf"),
    ("mcp", {**closed(a=STRING), "required": "a"}, "SG435", "/required"),
    ("mcp", {**closed(a=STRING), "required": [1]}, "SG435", "/required"),
    ("mcp", {**closed(a=STRING), "properties": []}, "SG435", "/properties"),
    ("mcp", closed(a=True), "SG246", "a"),
    ("openai-strict", objects(12), "SG521", ""),
    ("azure-openai-strict", objects(7), "SG521", ""),
    ("azure-openai-strict", closed(**{f"p{i}": STRING for i in range(101)}), "SG522", ""),
    ("cerebras-strict", closed(a={"enum": ["x"]}, b={"enum": [f"v{i}" for i in range(500)]}), "SG523", "b/enum"),
    ("anthropic-strict", {**closed(**{f"p{i}": STRING for i in range(25)}), "required": []}, "SG524", ""),
    ("anthropic-strict", closed(**{f"p{i}": {"anyOf": [STRING]} for i in range(17)}), "SG525", ""),
    ("gemini-json", closed(a={"type": "array", "maxItems": 961}), "SG526", ""),
    ("cerebras-strict", closed(a={**STRING, "description": "x" * 5000}), "SG527", ""),
    ("cerebras-strict", closed(a={"enum": [f"{i:031}" for i in range(251)]}), "SG528", "a/enum"),
    ("openai-strict", objects(11), "SG540", ""),
    ("moonshot", objects(6), "SG540", ""),
    ("moonshot", closed(a={"anyOf": [STRING] * 11}), "SG540", ""),
    ("anthropic-strict", closed(a={"minItems": 2}), "SG231", "a/minItems"),
    ("anthropic-strict", {**closed(a=STRING), "additionalProperties": True}, "SG231", "/additionalProperties"),
    ("anthropic", {"type": "object", "allOf": [True]}, "SG231", "/allOf"),
    ("vllm", closed(a={"type": ["number", "null"], "multipleOf": 2}), "SG231", "a/multipleOf"),
    ("gemini-json", closed(a={"type": "string", "format": "uri"}), "SG232", "a/format"),
    ("azure-openai-strict", closed(a={"type": "integer", "minimum": 1}), "SG231", "a/minimum"),
    ("openai-fine-tuned", closed(a={"type": "string", "pattern": "x"}), "SG231", "a/pattern"),
    ("bedrock-strict", closed(a={"type": "string", "maxLength": 3}), "SG233", "a/maxLength"),
]  # fmt: skip

#: (profile, schema, rule): next to what the rule is about, and it is silent.
SILENT = [
    ("openai-strict", closed(a={"$ref": "#/$defs/S"}) | DEFS, "SG241"),
    ("moonshot", closed(a={"$ref": "#/$defs/S", "description": "x"}) | DEFS, "SG241"),
    ("openai-strict", LINKED, "SG242"),
    ("openai-strict", closed(a={"enum": ["x"]}, b={"$ref": "#"}, c={"anyOf": [STRING]}), "SG244"),
    ("moonshot", closed(a={"type": "object", "additionalProperties": {}}), "SG244"),
    ("moonshot", {**closed(a=STRING), "anyOf": [STRING]}, "SG245"),  # the root: SG231 says it
    ("cerebras-strict", closed(a={"type": "array", "prefixItems": [STRING], "items": False}), "SG246"),
    ("xai", closed(a={"type": "array", "items": True}), "SG246"),
    ("moonshot", closed(a={"type": ["string", "null"], "enum": ["x", None]}), "SG248"),
    ("moonshot", closed(a={"type": ["string", "integer"]}), "SG248"),
    ("gemini-json", closed(a={"enum": ["x", 1, 1.5]}), "SG249"),
    ("moonshot", closed(a={"enum": ["x", None]}), "SG250"),
    ("anthropic-strict", closed(a={"enum": ["open", "open "]}), "SG251"),
    ("anthropic-strict", closed(a={"type": "string", "pattern": "^[a-z$\\b(?=]+$"}), "SG252"),
    ("xai", closed(a={"type": "array", "items": STRING, "maxItems": 256}), "SG253"),
    ("moonshot", closed(a=STRING) | DEFS, "SG255"),
    ("openai-strict", closed(a={"enum": [f"{i:060}" for i in range(250)]}), "SG259"),
    ("gemini-openapi", closed(a={"type": "string", "nullable": True}), "SG260"),
    ("meta", closed(a={"$ref": "#/$defs/S"}, b={"$ref": "#/$defs/S"}) | DEFS, "SG261"),
    ("gemini-json", {**LINKED, "required": ["value"]}, "SG261"),
    ("moonshot", TREE, "SG261"),
    ("vllm", closed(a={"pattern": "a", "maxLength": 1}), "SG266"),  # no type, no check
    ("vllm", closed(a={"multipleOf": 2}), "SG231"),
    ("openai-strict", objects(11), "SG521"),
    ("openai-strict", objects(10), "SG540"),
    ("azure-openai-strict", objects(6), "SG521"),
    ("anthropic-strict", closed(**{f"p{i}": {"anyOf": [STRING]} for i in range(16)}), "SG540"),
    ("cohere-strict", closed(a=STRING), "SG427"),
    ("xai", {"oneOf": [closed(a=STRING), closed(b=STRING)]}, "SG431"),
    ("xai", {"oneOf": [closed(a=STRING), closed(b=STRING)]}, "SG434"),
    ("groq", closed(a={"type": "object", "properties": {}, "required": []}), "SG426"),
    ("anthropic", closed(**{"filter.name": STRING}), "SG422"),
    ("anthropic-strict", closed(a={"type": "array", "items": STRING, "minItems": 1}), "SG231"),
    ("anthropic", closed(a={"anyOf": [STRING]}), "SG231"),
    ("mcp", {**closed(a=STRING), "required": []}, "SG435"),
    ("mcp", closed(a={"required": 1, "properties": 2}), "SG435"),
    ("mcp", closed(a=closed(b=True)), "SG246"),
    ("mcp", {**closed(a={}), "$defs": {"b": True}}, "SG246"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "schema", "code", "where"), SPEAKS, ids=[f"{s[2]}-{s[0]}-{s[3]}" for s in SPEAKS]
)
def test_a_demand_speaks_where_it_is_not_met(profile, schema, code, where):
    pointer = where if not where or where.startswith("/") else f"/properties/{where}"
    report = schemaguard.check(schema, profile=profile)
    assert (code, pointer) in {(d.code, d.pointer) for d in report.diagnostics}
    assert load(profile).severities[code] in {
        d.severity for d in report.diagnostics if d.code == code
    }


@pytest.mark.parametrize(("profile", "schema", "code"), SILENT)
def test_a_demand_is_silent_next_to_what_it_is_about(profile, schema, code):
    assert code in load(profile).severities
    report = schemaguard.check(schema, profile=profile)
    assert code not in {d.code for d in report.diagnostics}


def test_every_rule_for_providers_is_in_one_of_these_tables():
    spoken = {code for _, _, code, _ in SPEAKS}
    declared = {code for code, rule in RULES.items() if rule.on[0] in ("part", "top", "measure")}
    assert declared <= spoken


def test_all_that_is_wrong_is_said_in_one_run():
    schema = {"oneOf": [{"type": "object"}]}
    said = {(d.code, d.pointer) for d in schemaguard.check(schema, profile="openai").diagnostics}
    assert {("SG431", ""), ("SG231", "/oneOf")} <= said
    schema = {"type": "object", "properties": {"a b": STRING, "k" * 65: STRING}}
    said = {(d.code, d.pointer) for d in schemaguard.check(schema, profile="anthropic").diagnostics}
    assert said == {("SG422", "/properties/a b"), ("SG422", f"/properties/{'k' * 65}")}


def test_both_readings_of_a_limit_are_computed():
    in_definitions = {
        **closed(a={"$ref": "#/$defs/D"}),
        "$defs": {"D": {**closed(**{f"p{i}": STRING for i in range(25)}), "required": []}},
    }
    report = schemaguard.check(in_definitions, profile="anthropic-strict")
    assert report.ok  # without following a reference, nothing is optional
    assert [(d.code, d.severity) for d in report.diagnostics] == [("SG540", "warning")]
    assert "25" in report.diagnostics[0].message
    assert "24" in report.diagnostics[0].message


def test_a_budget_says_how_much_there_is_and_how_much_there_may_be():
    (found,) = [
        d
        for d in schemaguard.check(objects(12), profile="openai-strict").diagnostics
        if d.code == "SG521"
    ]
    assert re.search(r"\b11\b.*\b10\b", found.message)


@pytest.mark.parametrize(
    ("pattern", "used"),
    [
        ("^[a-z]{1,3}$", {"anchor"}),
        ("[a-z]+", set()),
        (r"a(?=b)", {"lookaround"}),
        (r"a(?<!b)", {"lookaround"}),
        (r"(?:a)(?<name>b)(?P<other>c)", set()),
        (r"(a)\1", {"backreference"}),
        (r"(?P<a>x)(?P=a)", {"backreference"}),
        (r"\k<a>", {"backreference"}),
        (r"\bword\B", {"word-boundary"}),
        (r"[\b]", set()),  # a backspace
        (r"[\p{L}]", {"property"}),
        (r"\\b", set()),  # a backslash, then a letter
        (r"\(?=", set()),  # an optional parenthesis
        (r"[(?=^$]", set()),
        (r"[\]^]\^", set()),
        ("(?i)a", {"modifier"}),
        ("(?i:a)", {"modifier"}),
        (r"\A.\z", {"anchor"}),
        ("(?", {"modifier"}),
        ("\\", set()),
        ("[", set()),
    ],
)
def test_the_features_of_a_pattern_are_those_that_it_uses(pattern, used):
    assert dialects.features(pattern) == used


# ------------------------------------------------------------------------------------------ format


def own(**more):
    """The table of a small profile."""
    return {
        "name": "own",
        "date": "2026-12-01",
        "title": "own",
        "subject": "own",
        "basis": "observed",
        "source": "a test of this repository",
        **more,
    }


def test_a_profile_of_ones_own_extends_one_that_ships():
    table = own(
        extends="anthropic-strict-2026-12-01",
        rules={"SG422": "off", "SG524": {"severity": "error", "limit": 3}},
        refused={"maximum": "accepted", "title": {}},
    )
    profile = from_table(table, "own", load)
    schema = {
        **closed(**{"a b": {"type": "integer", "maximum": 3}, "c": {**STRING, "title": "x"}}),
    }
    said = {(d.code, d.pointer) for d in schemaguard.check(schema, profile=profile).diagnostics}
    assert said == {("SG231", "/properties/c/title")}
    four = {**closed(**{f"p{i}": STRING for i in range(4)}), "required": []}
    assert "SG524" in {d.code for d in schemaguard.check(four, profile=profile).diagnostics}
    assert schemaguard.check(four, profile="anthropic-strict").ok


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"severity": "error", "readings": ["levels"], "limit": 1}, "readings"),
        ({"severity": "error", "readings": ["properties"], "limit": -1}, "limit"),
        ({"severity": "error", "readings": ["properties"]}, "limit"),
        ([{"severity": "error", "readings": ["properties"], "limit": 1}, {"severity": "note"}], "severity"),
    ],
)  # fmt: skip
def test_settings_of_the_wrong_kind_are_refused(rule, said):
    with pytest.raises(ProfileError, match=said):
        from_table(own(rules={"SG522": rule}), "own", load)


def test_a_rule_with_several_settings_speaks_for_each_with_its_own_grounds():
    observed = schemaguard.check(
        closed(a={"type": "array", "items": {}}), profile="openai-strict"
    ).diagnostics
    inferred = schemaguard.check(closed(a={}), profile="openai-strict").diagnostics
    assert [(d.code, d.grounds.basis) for d in observed] == [("SG244", "observed")]
    assert [(d.code, d.grounds.basis) for d in inferred] == [("SG244", "inferred")]


def test_what_is_known_less_firmly_can_be_left_out():
    firm = load("openai-strict").at_least("observed")
    assert not schemaguard.check(closed(a={"type": "array", "items": {}}), profile=firm).ok
    assert schemaguard.check(closed(a={}), profile=firm).ok
    assert "SG540" not in firm.severities
    documented = load("openai-strict").at_least("documented")
    assert schemaguard.check(closed(a={"type": "array", "items": {}}), profile=documented).ok
    assert not schemaguard.check(closed(a={"not": {}}), profile=documented).ok


# --------------------------------------------------------------------------------- bounded, and sure


DEEP = 3_000


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("xgrammar")])
def test_a_deep_document_is_an_ordinary_one(name):
    made = {"type": "string"}
    for _ in range(DEEP):
        made = {"anyOf": [made, {"properties": {"a": {"$ref": "#"}}, "$defs": {"b": True}}]}
    report = schemaguard.check(made, profile=name)
    assert report.total >= len(report.diagnostics)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(strategies.near_border())
def test_the_quick_answer_passes_nothing_that_the_full_one_speaks_of(schema):
    for name in names():
        plans = COMPILED.setdefault(name, Plans(load(name)))
        if walk.is_clean(schema, plans, 1_000_000):
            found = walk.Findings(plans)
            walk.collect(schema, plans, found, 1_000_000)
            assert found.diagnostics == [], name


COMPILED: dict[str, Plans] = {}


ANYTHING = [
    None, True, False, 0, -1, 1.5, 10**30, "", "#", "#/$defs/a", "(?", "object", "array", [], [[]],
    [1, {}], ["a", "a"], ["object", "null"], {}, {"": 1}, {"a": {"a": []}}, [{"type": "string"}, 3],
]  # fmt: skip
LOOKED_AT = [
    *KEYWORDS, "default", "uniqueItems", "dependentRequired", "$anchor", "$schema", "nullable", "x",
]  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_whatever_stands_at_a_keyword_the_answer_is_a_report(name):
    for keyword in LOOKED_AT:
        for value in ANYTHING:
            for beside in ({}, {"type": "array"}, {"type": ["string", "object"], "$ref": "#"}):
                part = {**beside, keyword: value}
                for schema in (part, closed(a=part, b={"anyOf": [part, True]})):
                    # As text: a failure over text is not caught.
                    report = schemaguard.check(json.dumps(schema), profile=name)
                    assert report.complete
                    assert all(d.message and d.pointer[:1] in ("", "/") for d in report.diagnostics)


# -------------------------------------------------------------------------------------- llguidance

TRIED = [
    {"type": "string", "not": {"const": "a"}},
    {"type": "string", "if": {"const": "a"}, "then": {"maxLength": 3}},
    {"type": "object", "dependentRequired": {"a": ["b"]}},
    {"type": "object", "dependentSchemas": {"a": {}}},
    {"type": "array", "uniqueItems": True},
    {"type": "array", "contains": {}},
    {"type": "object", "propertyNames": {"pattern": "a"}},
    {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
    {"type": "object", "minProperties": 1},
    {"type": "object", "unevaluatedProperties": False},
    {"type": "array", "unevaluatedItems": False},
    {"allOf": [{"type": "string"}, {"maxLength": 3}]},
    {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    {"type": "number", "multipleOf": 0.5},
    {"type": "string", "format": "uri"},
    {"type": "string", "format": "uri-reference"},
    {"type": "string", "format": "email"},
    {"type": "integer", "format": "int32"},
    {"type": "string", "pattern": "^(?=a)b"},
    {"type": "string", "pattern": r"(a)\1"},
    {"type": "string", "pattern": r"\ba"},
    {"type": "string", "pattern": r"\p{L}+"},
    {"type": "string", "pattern": "(?i)a"},
    {"type": "array", "items": [{"type": "string"}]},
    {"$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}},
    {"$ref": "#/$defs/b", "$defs": {"a": {"type": "string"}}},
    {"$dynamicRef": "#a"},
    {"enum": []},
    {"enum": [{"a": 1}, [1]]},
    {"anyOf": []},
    {"type": "strng"},
    {"type": "integer", "minimum": 5, "maximum": 3},
    {"type": "string", "minLength": 2, "pattern": "^a"},
    {"type": "string", "x-order": 1, "nullable": True, "examples": ["a"]},
]


@pytest.mark.parametrize("schema", TRIED, ids=json.dumps)
def test_the_profile_llguidance_refuses_what_llguidance_refuses(schema):
    llguidance = pytest.importorskip("llguidance")
    matcher = llguidance.LLMatcher
    refusal = matcher.validate_grammar(matcher.grammar_from_json_schema(json.dumps(schema)))
    assert schemaguard.check(schema, profile="llguidance").ok == (not refusal), refusal


# ------------------------------------------------------------------- sums, and what nobody settled


def test_a_sum_of_cohere_is_an_error_only_when_definitions_do_not_matter():
    # 150 names at the root and 100 in a definition: 250 in all, at most 150 in one part.
    def tool(root, defined):
        properties = {f"p{i}": {"type": "string"} for i in range(root)}
        inner = {f"q{i}": {"type": "string"} for i in range(defined)}
        schema = {
            "type": "object",
            "properties": properties,
            "required": ["p0"],
            "$defs": {"d": {"type": "object", "properties": inner, "required": ["q0"]}},
        }
        return {"name": "t", "inputSchema": schema}

    def severities(*tools):
        found = lint.check_value("x", {"tools": list(tools)}, "cohere-strict").findings
        return [f.severity for f in found if f.code == "SG629"]

    assert severities(tool(150, 50)) == []
    assert severities(tool(150, 51)) == ["warning"]
    assert severities(tool(201, 0)) == ["error"]
    assert severities(tool(100, 1), tool(101, 1)) == ["error"]


def test_branches_without_a_type_are_a_matter_of_reports_for_moonshot():
    schema = closed(a={"anyOf": [{"description": "x"}, STRING]}, b={"description": "y"})
    known = {
        d.pointer: d.grounds.basis
        for d in schemaguard.check(schema, "moonshot").diagnostics
        if d.code == "SG244"
    }
    assert known == {"/properties/a/anyOf/0": "observed", "/properties/b": "documented"}


def test_what_depends_on_another_property_is_not_enforced_by_xai():
    schema = closed(a=STRING) | {"dependentRequired": {"a": []}, "dependentSchemas": {}}
    report = schemaguard.check(schema, "xai")
    assert report.ok
    assert [d.pointer for d in report.diagnostics if d.code == "SG232"] == [
        "/dependentRequired",
        "/dependentSchemas",
    ]
