"""Each rule's own declaration, held to its word: the bad example speaks, the good one is silent."""

from __future__ import annotations

import json
import re

import pytest

import schemaguard
from schemaguard import lint
from schemaguard.profiles import load, names
from schemaguard.rules import ADVICE, AUDIT, READING, REQUEST, RULES, TOOL, TOOLSET, VALUE, find
from schemaguard.select import reduced


def nested(levels, wrap):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def closed(properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def itself():
    value = {"type": "object", "additionalProperties": False, "default": []}
    value["default"].append(value["default"])
    return value


# Examples that are too large or of no text; a declaration names them with "@".
MADE = {
    "@deep-objects": lambda: nested(12, lambda s: closed({"a": s})),
    "@too-many-properties": lambda: closed({f"p{i}": True for i in range(5001)}),
    "@too-many-enum-entries": lambda: closed({"a": {"enum": list(range(1001))}}),
    "@too-many-characters": lambda: closed({"a": {"const": "x" * 120_000}}),
    "@long-enum": lambda: closed({"a": {"enum": [f"{i:061}" for i in range(251)]}}),
    "@overlong-integer": lambda: (
        '{"type": "object", "additionalProperties": false, "default": %s}' % ("9" * 4301)
    ),
    "@not-utf-8": lambda: b'{"type": "object", "additionalProperties": false, "title": "\xff"}',
    "@too-many-bytes": lambda: " " * (16 * 1024 * 1024 + 1),
    "@text-too-deep": lambda: "[" * 1001 + "]" * 1001,
    "@too-many-nodes": lambda: closed({"a": {"enum": ["x"] * 1_000_001}}),
    "@cyclic-value": itself,
    "@non-string-key": lambda: {"type": "object", "additionalProperties": False, "x": {1: 2}},
    "@not-json": lambda: {"type": "object", "additionalProperties": False, "x": (1,)},
    "@long-pattern": lambda: {"type": "string", "pattern": "a" * 1537},
    "@many-alternatives": lambda: {"anyOf": [{"type": "string"}] * 501},
    "@long-data": lambda: {"const": [["x" * 40_000], {"y": "z" * 40_000}]},
    "@deep-references": lambda: {
        "$ref": "#/$defs/d0",
        "$defs": {
            f"d{i}": {"type": "array", "items": {"$ref": f"#/$defs/d{i + 1}"}} for i in range(128)
        }
        | {"d128": {"type": "string"}},
    },
    "@dear-schema": lambda: closed({f"property_{i}": {"type": "string"} for i in range(3_000)}),
    "@large-grammar": lambda: closed(
        {f"p{i}": {"type": "string", "format": "uri-reference"} for i in range(620)}
    ),
    "@many-optional-properties": lambda: {
        **closed({f"p{i}": {"type": "string"} for i in range(301)}),
        "required": [],
    },
    "@counted-properties": lambda: {
        **closed({f"p{i}": {"type": "integer"} for i in range(80)}),
        "required": [],
        "minProperties": 10,
    },
    "@many-name-patterns": lambda: {
        "type": "object",
        "patternProperties": {f"^p{i}$": {"type": "integer"} for i in range(1_001)},
        "additionalProperties": False,
    },
    "@large-divisors": lambda: closed(
        {f"p{i}": {"type": "integer", "multipleOf": 1_001} for i in range(6)}
    ),
    "@ambiguous-alternatives": lambda: {
        "anyOf": [{"type": "array", "items": {"type": "string"}, "minItems": i} for i in range(51)]
    },
    "@long-property-name": lambda: closed({"x" * 16_385: {"type": "integer"}}),
    "@much-data": lambda: closed({f"p{i}": {"enum": ["x" * 45_000]} for i in range(2)}),
    "@many-grammar-rules": lambda: closed(
        {f"p{i}": {"type": "array", "items": {"type": "integer"}} for i in range(2_100)}
    ),
    "@linked-alternatives": lambda: {
        "$ref": "#/$defs/d0",
        "$defs": {
            f"d{i}": {
                "anyOf": [
                    {"type": "null"},
                    *({"$ref": f"#/$defs/d{j}"} for j in range(51) if j != i),
                ]
            }
            for i in range(51)
        },
    },
    "@deep-nesting": lambda: closed({"a": nested(64, lambda s: {"anyOf": [s]})}),
    "@many-branches": lambda: closed({"a": {"anyOf": [{"type": "string"}] * 101}}),
    "@long-list-of-values": lambda: closed({"a": {"enum": [f"{i:061}" for i in range(251)]}}),
    "@too-many-levels": lambda: nested(12, lambda s: closed({"a": s})),
    "@too-many-declared-names": lambda: closed({f"p{i}": {"type": "null"} for i in range(5001)}),
    "@too-many-values": lambda: closed({"a": {"enum": [f"v{i}" for i in range(1001)]}}),
    "@too-many-optional-parameters": lambda: {
        **closed({f"p{i}": {"type": "string"} for i in range(25)}),
        "required": [],
    },
    "@too-many-union-parameters": lambda: closed(
        {f"p{i}": {"type": ["string", "null"]} for i in range(17)}
    ),
    "@large-sum-of-max-items": lambda: closed(
        {f"p{i}": {"type": "array", "items": {"type": "string"}, "maxItems": 97} for i in range(10)}
    ),
    "@long-schema": lambda: closed({"a": {"type": "string", "description": "d" * 15_001}}),
    "@long-values": lambda: closed({"a": {"enum": [f"{i:061}" for i in range(251)]}}),
    "@unsettled-budget": lambda: {
        **closed({"a": {"$ref": "#/$defs/d"}}),
        "$defs": {
            "d": {
                "type": "object",
                "properties": {f"p{i}": {"type": "string"} for i in range(25)},
                "additionalProperties": False,
            }
        },
    },
}
# What the bad example of a rule cannot help saying too.
ALSO = {
    "SG752": {"SG725"},
    "SG753": {"SG722"},
    "SG762": {"SG701"},
    "SG763": {"SG701"},
    "SG804": {"SG805", "SG806", "SG811"},
    "SG805": {"SG806", "SG811"},
    "SG806": {"SG811"},
    "SG817": {"SG811"},
    "SG824": {"SG726"},
}
# Rules that say what a profile's table has: the profile that the examples are about.
SHOWN_IN = {"SG231": "openai-strict", "SG232": "gemini-json", "SG233": "openai-strict"}
# Said of files, not of schemas.
OF_FILES = {"SG116", "SG117", "SG118", "SG808"}
OF_TOOLS = [code for code, rule in RULES.items() if rule.on[0] in (TOOL, TOOLSET)]
IN_PROFILE = [
    code
    for code, rule in RULES.items()
    if rule.on[0] not in (REQUEST, ADVICE, AUDIT) and code not in {*OF_FILES, *OF_TOOLS}
]


def profile_of(code):
    """The profile that the rule is on in; reading rules are on in all of them."""
    if RULES[code].on[0] == READING:
        return "dynamo"
    # The newest one has remarks on most schemas, which are no business of an older rule.
    for name in ("dynamo", "xgrammar-2026-11-30", "xgrammar"):
        if code in load(name).severities:
            return name
    # What a provider wants besides is not this rule's example to satisfy.
    shown = SHOWN_IN.get(code)
    profile = next(
        load(name) for name in names() if shown in (None, name) and code in load(name).severities
    )
    return reduced(profile, profile.severities.keys() - {code})


def example(text):
    return MADE[text]() if text.startswith("@") else text


@pytest.mark.parametrize("code", sorted(IN_PROFILE))
def test_the_bad_example_of_a_rule_makes_it_speak(code):
    report = schemaguard.check(example(RULES[code].bad), profile=profile_of(code))
    assert code in {d.code for d in report.diagnostics}
    related = {d.code for d in report.diagnostics} - {code}
    # Hard stops and budgets of a huge example may say more; all others say one thing.
    if not RULES[code].bad.startswith("@"):
        assert related <= ALSO.get(code, set())


@pytest.mark.parametrize("code", sorted(IN_PROFILE))
def test_the_good_example_of_a_rule_is_silent(code):
    report = schemaguard.check(example(RULES[code].good), profile=profile_of(code))
    assert report.diagnostics == ()


def offered(count, schema):
    """A request with so many tools of one schema."""
    function = {"parameters": schema}
    return {
        "tools": [
            {"type": "function", "function": {"name": f"t{i}", **function}} for i in range(count)
        ]
    }


OFFERED = {
    "@tools-over-limit": lambda: offered(129, closed({})),
    "@optional-parameters-over-limit": lambda: offered(
        5, {**closed({f"p{i}": {"type": "string"} for i in range(5)}), "required": []}
    ),
    "@union-parameters-over-limit": lambda: offered(
        5, closed({f"p{i}": {"type": ["string", "null"]} for i in range(4)})
    ),
    "@properties-over-limit": lambda: offered(
        3, closed({f"p{i}": {"type": "string"} for i in range(67)})
    ),
}


@pytest.mark.parametrize("code", OF_TOOLS)
def test_the_examples_of_rules_about_tools_keep_their_word(code):
    bad, good = (
        OFFERED[text]() if text in OFFERED else json.loads(text)
        for text in (RULES[code].bad, RULES[code].good)
    )
    said = lint.check_value("x", bad, profile_of(code))
    assert {f.code for f in said.findings} == {code}
    assert all(not tool.findings for tool in said.tools)
    said = lint.check_value("x", good, profile_of(code))
    assert said.findings == ()
    assert said.tools


@pytest.mark.parametrize("code", ["SG116", "SG118"])
def test_rules_about_files_speak_for_their_bad_example(code):
    report = lint.check_text("x.json", RULES[code].bad)
    assert code in {f.code for f in report.findings}
    assert lint.check_text("x.json", RULES[code].good).ok


@pytest.mark.parametrize("code", sorted(RULES))
def test_declarations_are_complete_and_in_form(code):
    rule = RULES[code]
    assert re.fullmatch(r"SG[1-9]\d\d", code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert not rule.name.startswith(("no-", "disallow-"))
    for text in (rule.message, rule.fix, rule.bad, rule.good, rule.why, rule.since):
        assert text
    assert rule.fix.endswith(".")
    assert rule.why.endswith(".")
    assert find(code) is find(rule.name) is rule


def test_profiles_name_only_what_is_there():
    for name in names():
        profile = load(name)
        assert profile.severities.keys() <= RULES.keys()
        for code in profile.severities:
            rule = RULES[code]
            if rule.on[0] == VALUE:
                assert rule.on[1] in profile.budgets
