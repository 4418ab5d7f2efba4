"""What a description says of a keyword that was dropped: English that stands by itself."""

from __future__ import annotations

import pytest

from schemaguard import fix
from schemaguard.fix.rewrites.dropping import noted
from schemaguard.fix.rewrites.wording import SPOKEN, TOGETHER, sentence

STRING = {"type": "string"}
QUOTED = 'must match this JSON Schema: {"type":"string"}.'


@pytest.mark.parametrize(
    ("keyword", "value", "said"),
    [
        ("multipleOf", 5, "Must be a multiple of 5."),
        ("minimum", -1.5, "Must be at least -1.5."),
        ("maximum", 0, "Must be at most 0."),
        ("exclusiveMinimum", 0, "Must be greater than 0."),
        ("exclusiveMaximum", 1, "Must be less than 1."),
        ("exclusiveMinimum", True, "exclusiveMinimum: true."),
        ("minLength", 1, "At least 1 character."),
        ("maxLength", 2000, "At most 2,000 characters."),
        ("minItems", 2, "At least 2 items."),
        ("maxItems", 1, "At most 1 item."),
        ("maxItems", 0, "No items."),
        ("minProperties", 1, "At least 1 member."),
        ("maxProperties", 3, "At most 3 members."),
        ("maxProperties", "3", 'maxProperties: "3".'),
        ("uniqueItems", True, "Items must be unique."),
        ("pattern", r"^\d+$", r"Must match the regular expression `^\d+$`."),
        ("format", "date-time", "Format: date-time."),
        ("title", "Days", "Title: Days."),
        ("contentEncoding", "base64", "Encoded as base64."),
        ("contentMediaType", "image/png", "Of the media type image/png."),
        ("const", "a", 'Must be "a".'),
        ("enum", ["a", 1, None], 'Must be one of: "a",1,null.'),
        ("default", [1], "Default: [1]."),
        ("examples", ["a", "b"], 'Examples: "a","b".'),
        ("example", {"a": 1}, 'Example: {"a":1}.'),
        ("not", STRING, 'Must not match this JSON Schema: {"type":"string"}.'),
        ("anyOf", [STRING], 'Must match at least one of these JSON Schemas: [{"type":"string"}].'),
        ("contains", STRING, f"At least 1 item {QUOTED}"),
        ("propertyNames", {"pattern": "^x"}, "Names of members must match the regular expression `^x`."),
        ("propertyNames", {"minLength": 2}, 'Names of members must match this JSON Schema: {"minLength":2}.'),
        ("additionalProperties", False, "No other members."),
        ("additionalProperties", STRING, f"Other members {QUOTED}"),
        ("additionalProperties", {}, "Other members may be anything."),
        ("unevaluatedProperties", False, "No other members."),
        ("unevaluatedItems", False, "No other items."),
        ("unevaluatedItems", STRING, f"Other items {QUOTED}"),
        ("patternProperties", {"^x": STRING}, f"Members whose names match the regular expression `^x` {QUOTED}"),
        ("patternProperties", {"^x": False}, "No name of a member may match the regular expression `^x`."),
        ("dependentRequired", {"a": ["b", "c"]}, "If `a` is there, so must be `b`, `c`."),
        ("dependentSchemas", {"a": STRING}, f"If `a` is there, the object {QUOTED}"),
        ("dependencies", {"a": ["b"], "c": False}, "If `a` is there, so must be `b`. `c` must not be there."),
        ("x-own", {"a": 1}, 'x-own: {"a":1}.'),
    ],
)  # fmt: skip
def test_each_keyword_has_a_sentence(keyword, value, said):
    assert sentence({keyword: value}, keyword) == said


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            {"if": {"minLength": 2}, "then": STRING},
            f'If it matches this JSON Schema: {{"minLength":2}}, then it {QUOTED}',
        ),
        (
            {"if": {"minLength": 2}, "else": STRING},
            f'If it does not match this JSON Schema: {{"minLength":2}}, it {QUOTED}',
        ),
        (
            {"if": {}, "then": True, "else": STRING},
            (
                "If it matches this JSON Schema: {}, then it must match this JSON Schema: true; otherwise "
                'it must match this JSON Schema: {"type":"string"}.'
            ),
        ),
        (
            {"contains": STRING, "minContains": 2, "maxContains": 3},
            f"At least 2 and at most 3 items {QUOTED}",
        ),
        (
            {"contains": STRING, "minContains": 0, "maxContains": 1},
            f"At most 1 item {QUOTED.replace('must', 'may')}",
        ),
    ],
)
def test_keywords_that_mean_something_only_together_are_said_together(schema, said):
    (keyword, *_) = schema
    assert sentence(schema, keyword) == said


def test_the_members_that_patterns_do_not_speak_of_are_told_apart():
    schema = {"patternProperties": {"^x": {}}, "additionalProperties": STRING}

    said = sentence(schema, "additionalProperties")

    assert said == f"Other members, whose names do not match `^x`, {QUOTED}"


@pytest.mark.parametrize(
    ("member", "gone"),
    [
        (
            {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}},
            ("if", "then"),
        ),
        (
            {"type": "array", "contains": {"const": 1}, "minContains": 2},
            ("contains", "minContains"),
        ),
    ],
)
def test_no_part_of_such_keywords_is_lost_in_silence(member, gone):
    root = {"type": "object", "properties": {"m": member}, "required": ["m"]}

    result = fix.to_profile({**root, "additionalProperties": False}, "dynamo", lossy=True)

    new = result.schema["properties"]["m"]
    assert not new.keys() & {*gone}
    assert new["description"] == sentence(member, gone[0])
    assert [edit.what for edit in result.lossy] == [
        f"drop {', '.join(f'`{name}`' for name in gone)}; the description says it"
    ]


def test_an_object_whose_description_knows_other_names_is_not_closed_afterwards():
    member = {"type": "object", "properties": {"a": STRING}, "required": ["a"]}
    told = sentence({"patternProperties": {"^x": STRING}}, "patternProperties")
    root = {"type": "object", "properties": {"m": {**member, "description": told}}}
    root |= {"required": ["m"], "additionalProperties": False}

    result = fix.to_profile(root, "openai-strict")

    assert "additionalProperties" not in result.schema["properties"]["m"]
    assert "description" in result.remaining[0].reason


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The size", "The size. No items."),
        ("The size (in m)", "The size (in m). No items."),
        ("How many? ", "How many? No items."),
        ("\u5927\u5c0f\u3002", "\u5927\u5c0f\u3002 No items."),
        ("  ", "No items."),
        ("No items. Really.", "No items. Really."),
    ],
)
def test_a_sentence_follows_a_sentence_and_is_said_once(before, after):
    from schemaguard.fix.draft import History

    assert noted(History(), {"description": before}, "No items.")["description"] == after


def test_every_keyword_of_a_group_is_spoken_and_long_values_are_cut():
    assert {name for names in TOGETHER.values() for name in names} <= SPOKEN
    for keyword in SPOKEN:
        held = {"contains": {}, "if": {}, keyword: ["x" * 50] * 100}
        assert 10 < len(sentence(held, keyword)) < 400, keyword
