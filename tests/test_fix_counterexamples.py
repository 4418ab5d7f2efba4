"""Schemas for which a change that looks safe is none: the fix leaves it undone, or does it right."""

from __future__ import annotations

import json
import time

import fixed_schemas as fs
import pytest

import schemaguard
from schemaguard import fix

TEXT = {"type": "string"}
STRICT = "openai-strict"


def closed(properties, *, required=(), **more):
    """An object schema that refuses other names."""
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**made, "required": list(required), **more} if required else {**made, **more}


def tool(member, **more):
    """A tool with one parameter `o`, which is required."""
    return closed({"o": member}, required=["o"], **more)


def opened(**properties):
    """An object schema that says nothing of other names."""
    return {"type": "object", "properties": properties}


# ------------------------------------------------------------------ what must not become required

WHOLE_VALUES = [
    {"enum": [{}, {"a": "x"}]},
    {"const": {}},
    {"not": {"const": {}}},
    {"anyOf": [{"enum": [{}]}, {"enum": [{"a": "x"}]}]},
]


@pytest.mark.parametrize("more", WHOLE_VALUES)
def test_an_object_whose_values_are_listed_gets_no_nulls(more):
    result = fix.to_profile(tool(closed({"a": TEXT}, **more)), "dynamo")

    assert result.schema["properties"]["o"]["properties"] == {"a": TEXT}
    assert not result.optional
    assert not result.ok


@pytest.mark.parametrize("more", [{"enum": [{}, {"a": {}}]}, {"not": {"const": {"a": {}}}}])
def test_nor_does_an_object_inside_a_value_that_is_listed(more):
    inner = closed({"b": TEXT})

    result = fix.to_profile(tool(closed({"a": inner}, required=["a"], **more)), "dynamo")

    assert result.schema["properties"]["o"]["properties"] == {"a": inner}


def test_an_object_whose_listed_values_have_other_names_is_not_closed():
    member = {**opened(a=TEXT), "required": ["a"], "enum": [{"a": "x", "b": 1}]}

    result = fix.to_profile(tool(member), "cerebras-strict")

    assert "additionalProperties" not in result.schema["properties"]["o"]


@pytest.mark.parametrize("keyword", ["own", "allOf"])
def test_names_that_others_ask_for_count_as_much_as_those_that_ask(keyword):
    asked = {"dependentRequired": {"a": ["b"]}}
    more = asked if keyword == "own" else {"allOf": [asked]}
    both = closed({"a": TEXT, "b": TEXT}, **more)
    one = {**opened(a=TEXT), **more}

    kept = fix.to_profile(tool(both), "groq-strict")
    left_open = fix.to_profile(tool(one), "groq-strict")

    assert kept.schema["properties"]["o"].get("required") is None
    assert "additionalProperties" not in left_open.schema["properties"]["o"]


def test_alternatives_of_one_of_that_only_null_would_make_overlap_stay():
    null = closed({"a": {"type": "null"}}, required=["a"])
    other = closed({"a": {"const": "y"}})

    result = fix.to_profile(tool({"oneOf": [null, other]}), "groq-strict")

    assert result.schema["properties"]["o"]["oneOf"][1] == other


def test_items_that_differ_only_by_a_null_stay_as_they_are():
    # Without its null, {"a": null} would be {} as well.
    items = {"anyOf": [closed({"a": TEXT}), {"type": "object", "maxProperties": 0}]}
    member = {"type": "array", "uniqueItems": True, "items": items}

    result = fix.to_profile(tool(member), "groq-strict")

    assert result.schema["properties"]["o"]["items"]["anyOf"][0] == closed({"a": TEXT})


# ------------------------------------------------------------------------ what references lead to


@pytest.mark.parametrize("profile", ["dynamo", "openai-strict"])
def test_a_property_that_references_lead_to_gets_a_null_of_its_own(profile):
    schema = closed({"a": TEXT, "b": {"$ref": "#/properties/a"}}, required=["b"])

    result = fix.to_profile(schema, profile)

    assert result.ok
    assert result.schema["$defs"] == {"a": TEXT}
    assert result.schema["properties"] == {
        "a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
        "b": {"$ref": "#/$defs/a"},
    }
    assert result.adapt_arguments({"a": None, "b": "x"}) == {"b": "x"}


@pytest.mark.parametrize("kind", [{"type": ["object", "null"]}, {}])
def test_a_root_that_a_reference_leads_to_keeps_its_types(kind):
    schema = {**kind, "properties": {"a": {"$ref": "#"}}, "required": ["a"]}

    result = fix.to_profile(schema, "mcp")

    assert result.schema == schema
    assert "a reference leads to the root" in result.remaining[0].reason


def test_alternatives_that_a_reference_counts_stay_where_they_are():
    union = {"anyOf": [{"not": {}}, TEXT, {"type": "integer"}]}
    schema = closed({"a": union, "b": {"$ref": "#/properties/a/anyOf/1"}}, required=["a", "b"])

    result = fix.to_profile(schema, "dynamo")

    assert result.schema["properties"]["a"] == union


@pytest.mark.parametrize("name", ["$anchor", "$dynamicAnchor"])
def test_what_is_referred_to_by_a_name_is_not_narrowed(name):
    reference = "$ref" if name == "$anchor" else "$dynamicRef"
    definition = {name: "n", **opened(a=TEXT)}

    schema = tool({"not": {reference: "#n"}}, **{"$defs": {"d": definition}})

    result = fix.to_profile(schema, "groq-strict")

    assert result.schema["$defs"]["d"] == definition


def test_no_reference_is_left_that_leads_to_nothing():
    member = {"minLength": 2, "allOf": [{"$anchor": "x", **TEXT}]}
    schema = closed({"o": member, "p": {"$ref": "#x"}}, required=["o", "p"])
    for profile in ("openai-strict", "dynamo", "gemini-openapi"):
        result = fix.to_profile(schema, profile)
        assert fs.is_valid(result.schema, {"o": "xx", "p": "x"})
        assert not fs.is_valid(result.schema, {"o": "x", "p": "x"})


def test_an_integer_beside_a_reference_to_a_number_is_still_one():
    definitions = {"$defs": {"n": {"type": "number"}}}
    schema = tool({"$ref": "#/$defs/n", "type": "integer"}, **definitions)

    result = fix.to_profile(schema, STRICT)

    assert fs.is_valid(result.schema, {"o": 1})
    assert not fs.is_valid(result.schema, {"o": 1.5})


# ----------------------------------------------------------------------------------- `allOf`


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ({**opened(a=TEXT), "allOf": [{"unevaluatedProperties": False}]}, "asks what it has"),
        ({"allOf": [opened(a=TEXT), {"unevaluatedProperties": False}]}, "asks what it has"),
        ({"items": [TEXT], "allOf": [{"additionalItems": False}]}, "what the items are"),
        ({"type": "string", "allOf": [{"nullable": True, "maxLength": 3}]}, "is `nullable`"),
    ],
)
def test_members_of_all_of_that_mean_less_elsewhere_are_not_merged(member, why):
    member = {**member, "allOf": [*member["allOf"], {"description": "d"}]}

    result = fix.to_profile(tool(member), "gemini-openapi")

    assert "allOf" in result.schema["properties"]["o"]
    assert any(why in left.reason for left in result.remaining)


def test_a_bound_of_draft_4_belongs_to_its_own_minimum():
    member = {
        "type": "integer",
        "minimum": 3,
        "allOf": [{"minimum": 1, "exclusiveMinimum": True}, {"description": "d"}],
    }

    result = fix.to_profile(tool(member), STRICT)

    assert fs.is_valid(result.schema, {"o": 3})


def test_listed_numbers_are_compared_as_numbers():
    result = fix.to_profile(tool({"enum": [1, 2], "allOf": [{"enum": [1.0, 2, "x"]}]}), "dynamo")

    assert result.schema["properties"]["o"]["enum"] == [1, 2]


# ------------------------------------------------------------------- keywords that say nothing


@pytest.mark.parametrize("profile", ["openai-strict", "dynamo", "gemini-openapi"])
def test_a_count_is_of_what_its_own_schema_contains(profile):
    schema = tool({"type": "array", "contains": TEXT, "allOf": [{"minContains": 2}]})

    assert fs.is_valid(fix.to_profile(schema, profile).schema, {"o": ["x"]})


@pytest.mark.parametrize(
    ("member", "value", "wrong"),
    [
        (
            {"allOf": [{"additionalProperties": True}], "unevaluatedProperties": False},
            {"a": 1},
            None,
        ),
        ({"if": opened(a=TEXT), "unevaluatedProperties": False}, {"a": "x"}, {"a": 1}),
        (
            {"type": "array", "prefixItems": [TEXT], "unevaluatedItems": {"type": "null"}},
            ["x", None],
            ["x", "y"],
        ),
    ],
)
def test_what_accepts_anything_counts_where_others_ask_what_was_looked_at(member, value, wrong):
    schema = tool(member)
    assert fs.is_valid(schema, {"o": value})
    assert wrong is None or not fs.is_valid(schema, {"o": wrong})
    for profile in ("openai-strict", "anthropic-strict", "gemini-openapi", "xai"):
        result = fix.to_profile(schema, profile)
        assert fs.is_valid(result.schema, {"o": value})
        assert wrong is None or not fs.is_valid(result.schema, {"o": wrong})


@pytest.mark.parametrize(
    "profiles", [("openai-strict", "anthropic-strict"), ("anthropic-strict", "openai-strict")]
)
def test_an_object_that_welcomes_other_names_is_not_closed_by_way_of_another_profile(profiles):
    schema = {**opened(a=TEXT), "required": ["a"], "additionalProperties": True}

    safe = fix.to_profile(schema, profiles)
    lossy = fix.to_profile(schema, profiles, lossy=True)

    assert safe.schema == schema
    assert all("lossy" in left.reason for left in safe.remaining)
    assert lossy.ok
    assert lossy.schema == {**schema, "additionalProperties": False}
    assert len(lossy.lossy) == 1


def test_null_among_types_is_no_null_where_the_rest_refuses_it():
    member = {"type": ["string", "null"], "anyOf": [TEXT, {"type": "integer"}]}

    result = fix.to_profile(tool(member), "gemini-openapi")

    assert result.schema["properties"]["o"] == {**member, "type": "string"}


# ------------------------------------------------------------------------------- the way back


@pytest.mark.parametrize(
    ("member", "sent", "meant"),
    [
        (
            {"type": "object", "patternProperties": {"^x": closed({"a": TEXT})}},
            {"x1": {"a": None}, "y": {"a": None}},
            {"x1": {}, "y": {"a": None}},
        ),
        (
            {
                "type": "object",
                "patternProperties": {"^y": TEXT},
                "additionalProperties": closed({"a": TEXT}),
            },
            {"k": {"a": None}},
            {"k": {}},
        ),
        (
            {**opened(k=TEXT), "required": ["k"], "unevaluatedProperties": closed({"a": TEXT})},
            {"k": "x", "m": {"a": None}},
            {"k": "x", "m": {}},
        ),
        (
            {
                "type": "array",
                "prefixItems": [TEXT],
                "unevaluatedItems": closed({"a": TEXT}),
            },
            ["x", {"a": None}],
            ["x", {}],
        ),
    ],
)
def test_nulls_are_left_out_wherever_an_object_was_fixed(member, sent, meant):
    schema = tool(member)

    result = fix.to_profile(schema, "groq-strict")

    assert result.optional
    assert result.adapt_arguments({"o": sent}) == {"o": meant}
    assert fs.is_valid(schema, {"o": meant})


def test_two_patterns_that_may_meet_in_one_name_close_nothing():
    patterns = {"^x": opened(a=TEXT), "y$": opened(b=TEXT)}
    schema = tool({"type": "object", "patternProperties": patterns, "additionalProperties": False})

    result = fix.to_profile(schema, "groq-strict")

    assert result.schema == schema


# ----------------------------------------------------------------------------- definitions


def test_a_definition_is_renamed_with_all_that_refers_to_it():
    schema = tool(
        {"$ref": "#/$defs/x~1y"},
        **{
            "$defs": {
                "x/y": closed({"n": {"$ref": "#/$defs/x~1y"}, "m": {"$ref": "#/$defs/x_y"}}),
                "x_y": TEXT,
            }
        },
    )

    result = fix.to_profile(schema, "moonshot")

    assert result.ok
    assert result.schema["properties"]["o"] == {"$ref": "#/$defs/x_y_2"}
    assert list(result.schema["$defs"]) == ["x_y_2", "x_y"]
    assert result.schema["$defs"]["x_y_2"]["properties"] == {
        "n": {"$ref": "#/$defs/x_y_2"},
        "m": {"$ref": "#/$defs/x_y"},
    }


def test_definitions_of_a_subschema_move_to_the_root_under_a_free_name():
    inner = {
        "$defs": {"q": {"type": "array", "items": {"$ref": "#/properties/o/$defs/q"}}, "r": TEXT}
    }
    member = closed(
        {"z": {"$ref": "#/properties/o/$defs/q"}, "y": {"$ref": "#/properties/o/$defs/r"}}, **inner
    )
    schema = tool(member, **{"$defs": {"r": {"type": "integer"}}})

    result = fix.to_profile(schema, "moonshot")

    assert result.ok
    assert result.schema["$defs"] == {
        "r": {"type": "integer"},
        "q": {"type": "array", "items": {"$ref": "#/$defs/q"}},
        "r_2": TEXT,
    }
    assert result.schema["properties"]["o"]["properties"] == {
        "z": {"$ref": "#/$defs/q"},
        "y": {"$ref": "#/$defs/r_2"},
    }


@pytest.mark.parametrize("profile", ["dynamo", "openai-strict", "moonshot"])
def test_a_property_that_can_never_be_there_is_not_declared_any_more(profile):
    schema = closed({"a": TEXT, "b": False}, required=["a"])

    assert fix.to_profile(schema, profile).schema == closed({"a": TEXT}, required=["a"])


@pytest.mark.parametrize(
    "schema",
    [
        {**opened(a=TEXT, b=False), "required": ["a"]},
        closed({"a": TEXT, "b": False}, required=["a"], patternProperties={"^b": {}}),
        closed({"a": TEXT, "b": False}, required=["a", "b"]),
    ],
)
def test_it_stays_where_it_says_something(schema):
    assert fix.to_profile(schema, "moonshot").schema["properties"]["b"] is False


def test_a_tuple_that_cannot_go_on_says_so():
    member = {"type": "array", "prefixItems": [TEXT, TEXT], "maxItems": 2}
    result = fix.to_profile(tool(member), "cerebras-strict")
    assert result.schema["properties"]["o"]["items"] is False

    longer = {**member, "maxItems": 3}
    assert fix.to_profile(tool(longer), "cerebras-strict").schema["properties"]["o"] == longer


# ------------------------------------------------------------------------------- older drafts


@pytest.mark.parametrize("draft", ["draft-04", "draft-07"])
def test_a_document_that_names_an_older_draft_names_the_draft_of_its_new_words(draft):
    old = f"http://json-schema.org/{draft}/schema#"
    tuple_ = {"type": "array", "items": [TEXT], "additionalItems": False}
    number = {"minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": False}
    properties = {"o": tuple_, "p": tuple_, **({"n": number} if draft == "draft-04" else {})}
    schema = {"$schema": old, **closed(properties, required=list(properties))}

    result = fix.to_profile(schema, "anthropic")

    new = {"type": "array", "prefixItems": [TEXT], "items": False}
    assert result.ok
    assert result.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert result.schema["properties"]["o"] == result.schema["properties"]["p"] == new
    if draft == "draft-04":
        assert result.schema["properties"]["n"] == {"exclusiveMinimum": 1, "maximum": 3}


def test_it_stays_of_its_draft_where_another_word_would_change_its_meaning():
    member = {"type": "array", "items": [TEXT]}
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **closed({"o": member, "p": {"dependencies": {"a": ["b"]}}}, required=["o", "p"]),
    }

    result = fix.to_profile(schema, "anthropic")

    assert result.schema == schema
    assert any("`dependencies` has another meaning" in left.reason for left in result.remaining)


# ------------------------------------------------------------------------------- the engine


def test_a_schema_that_is_written_in_two_places_is_judged_as_two():
    # `k` of E leads back to E; written in the place of a reference, it stands twice in the draft.
    node = closed({"k": {"$ref": "#/$defs/E", "type": "object"}})
    schema = closed(
        {"a": {"oneOf": [TEXT, {"$ref": "#/$defs/E", "required": ["k"]}]}},
        required=["a"],
        **{"$defs": {"E": node}},
    )
    profiles = ("openai-strict", "anthropic-strict")

    result = fix.to_profile(schema, profiles)

    for profile in profiles:
        said = [left.code for left in result.remaining if left.profile.startswith(profile + "-2")]
        alone = schemaguard.check(json.loads(json.dumps(result.schema)), profile)
        assert said == [diagnostic.code for diagnostic in alone.errors]


@pytest.mark.parametrize("profile", ["openai-strict", "anthropic-strict", "gemini-openapi"])
def test_references_that_double_at_each_level_are_not_all_written_out(profile):
    definitions = {}
    for level in range(24):
        both = {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}, {"minProperties": 1}]}
        definitions[f"d{level}"] = opened(a=both, b=both)
    definitions["d24"] = opened(z=TEXT)
    schema = tool({"$ref": "#/$defs/d0"}, **{"$defs": definitions})
    began = time.process_time()

    result = fix.to_profile(schema, profile)

    assert time.process_time() - began < 30
    assert len(json.dumps(result.schema)) < 1_000_000
    assert all(left.reason for left in result.remaining)


def test_many_findings_of_one_kind_are_answered_together_and_twice_changes_nothing():
    count = 150
    references = {f"p{n}": {"$ref": f"#/$defs/a~1{n}"} for n in range(count)}
    never = {f"q{n}": False for n in range(count)}
    definitions = {f"a/{n}": TEXT for n in range(count)}
    schema = closed({**references, **never}, **{"$defs": definitions})

    result = fix.to_profile(schema, "moonshot")

    assert result.ok
    assert list(result.schema["$defs"]) == [f"a_{n}" for n in range(count)]
    assert list(result.schema["properties"]) == list(references)


def test_many_members_and_conditions_take_no_time():
    names = [f"p{n}" for n in range(2_000)]
    asking = [{"required": [name]} for name in names]
    schema = tool({**opened(**dict.fromkeys(names, TEXT)), "anyOf": asking})
    began = time.process_time()

    fix.to_profile(schema, "dynamo")

    assert time.process_time() - began < 15


def test_the_words_of_a_reference_come_before_those_of_what_it_leads_to():
    definition = {"type": "string", "description": "theirs"}
    branch = {"$ref": "#/$defs/d", "description": "own"}
    schema = tool({"allOf": [branch, {"minLength": 1}]}, **{"$defs": {"d": definition}})

    result = fix.to_profile(schema, "anthropic-strict")

    assert "own" in json.dumps(result.schema["properties"])
