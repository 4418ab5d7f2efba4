"""`report.budgets`: what a document uses of each budget, and where."""

from __future__ import annotations

import json

import documents
import pytest
from command import run
from documents import closed

import schemaguard
from schemaguard.measured import READINGS
from schemaguard.profiles import load
from schemaguard.rules.measures import COUNTED


def uses(schema, **options):
    return {use.name: use for use in schemaguard.check(schema, **options).budgets}


def test_every_budget_is_there_for_a_schema_that_passes():
    found = uses(documents.medium())
    assert list(found) == [
        "object-depth",
        "properties",
        "enum-entries",
        "characters",
        "largest-enum",
        "nesting",
        "bytes",
        "nodes",
    ]
    assert (found["properties"].used, found["properties"].limit) == (28, 5000)
    assert (found["object-depth"].used, found["object-depth"].limit) == (2, 10)
    assert found["nodes"].limit == 1_000_000


def test_the_huge_document_is_exactly_at_two_limits():
    found = uses(documents.huge())
    assert found["properties"].used == found["properties"].limit == 5000
    assert found["enum-entries"].used == found["enum-entries"].limit == 1000


def test_contributors_are_the_largest_places_first():
    schema = closed(
        {
            "many": closed({f"p{i}": {"type": "string"} for i in range(7)}),
            "few": closed({"p": {"enum": ["a", "bb", "ccc"]}}),
            "some": {"enum": ["x", 1]},
        }
    )
    found = uses(schema)
    assert [(c.pointer, c.amount) for c in found["properties"].top] == [
        ("/properties/many", 7),
        ("", 3),
        ("/properties/few", 1),
    ]
    assert [(c.pointer, c.amount) for c in found["enum-entries"].top] == [
        ("/properties/few/properties/p/enum", 3),
        ("/properties/some/enum", 2),
    ]
    assert found["largest-enum"].used == 3
    assert found["characters"].used == len("manyfewsome") + 14 + 1 + 6 + 1
    assert found["object-depth"].used == 1


def test_characters_count_definitions_constants_and_astral_characters_once():
    schema = closed(
        {"é😀": {"const": "😀😀"}}, **{"$defs": {"abc": True}, "definitions": {"d": True}}
    )
    assert uses(schema)["characters"].used == 2 + 2 + 3 + 1


def test_nodes_and_bytes_are_the_same_for_text_and_value():
    value = documents.small()
    text = json.dumps(value, separators=(",", ":"))
    assert uses(value)["bytes"].used == len(text) == uses(text)["bytes"].used
    assert uses(value)["nodes"].used == uses(text)["nodes"].used
    assert uses(text)["nodes"].used == schemaguard.check(text).document.nodes


def test_a_document_that_cannot_be_read_uses_bytes_alone():
    found = uses(b'{"a":')
    assert found["bytes"].used == 5
    assert found["properties"].used == 0


def test_budgets_of_a_rejected_schema_are_counted_too():
    assert uses({"type": "object", "properties": {"a": {}, "b": {}}})["properties"].used == 2


@pytest.mark.parametrize("levels", [1, 9])
def test_nesting_counts_subschemas_and_data(levels):
    schema = True
    for _ in range(levels):
        schema = {"items": schema}
    assert uses(closed({"a": schema}))["nesting"].used == levels + 1
    assert uses(closed({}, default=[[[]]]))["nesting"].used == 4


# ------------------------------------------------------------ what the rules of a provider count

#: Three levels of objects, the root included; five names, of which two in a definition.
NESTED = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": {}}}}},
    },
    "$defs": {"d": {"type": "object", "properties": {"e": {}, "f": {"enum": ["x", "yy"]}}}},
}


def test_the_readings_of_a_provider_are_budgets_with_its_limits():
    found = uses(NESTED, profile="openai-strict")
    assert {name: (found[name].used, found[name].limit) for name in list(found)[8:]} == {
        "levels-below-root": (2, 10),
        "levels-of-parts": (3, 10),
        "properties-of-part": (3, 5000),
        "enum-values": (2, 1000),
    }
    # The same count by the same name is one budget; it knows the places.
    assert (found["properties"].used, found["properties"].limit) == (5, 5000)
    assert found["properties"].top[0].pointer == "/$defs/d"
    assert found["characters"].limit == 120_000
    assert found["object-depth"].limit is None


def test_a_warning_that_comes_earlier_than_the_error_is_a_row_of_its_own():
    found = uses(NESTED, profile="moonshot")
    assert (found["levels-below-root"].limit, found["levels-below-root (warning)"].limit) == (10, 5)
    assert (found["properties"].limit, found["properties (warning)"].limit) == (1000, 100)
    assert found["any-of-branches (warning)"].limit == 10
    # The length of the text is limited, too.
    text = json.dumps(NESTED, separators=(",", ":"))
    assert found["schema-characters"].used == len(text)
    assert found["schema-characters"].limit == 15_000
    assert uses({}, profile="gemini-json")["max-items (warning)"].limit == 960


def test_characters_of_values_are_limited_where_there_are_many():
    few, many = ({"enum": [f"v{i}" for i in range(count)]} for count in (250, 251))
    assert "enum-characters" not in uses(few, profile="cerebras-strict")
    found = uses(many, profile="cerebras-strict")["enum-characters"]
    # v0 to v9 are two characters each, v10 to v99 three, v100 to v250 four.
    assert (found.used, found.limit) == (10 * 2 + 90 * 3 + 151 * 4, 7500)


def test_a_limit_that_no_rule_looks_at_is_none():
    assert load("azure-openai-strict").budgets["characters"] == 120_000
    assert uses(NESTED, profile="azure-openai-strict")["characters"].limit is None


def test_readings_of_what_cannot_be_read_are_not_known():
    assert uses(b'{"a":', profile="openai-strict")["levels-of-parts"].used is None


def test_tables_name_the_readings_and_what_they_count(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(NESTED))
    command = ("budgets", "x.json", "--profile", "openai-strict")
    lines = run(*command, cwd=tmp_path).stdout.splitlines()
    at = lines.index(
        "      objects with `properties` on one path, the root and each definition alone"
    )
    assert lines[at - 1].split()[:4] == ["levels-of-parts", "3", "of", "10"]
    # What is counted by a name of the provider's has no second row without a limit.
    names = {line.split()[0] for line in lines}
    assert {"properties", "levels-below-root", "enum-values"} <= names
    assert not {"object-depth", "enum-entries"} & names
    (schema,) = json.loads(run(*command, "--output", "json", cwd=tmp_path).stdout)["schemas"]
    rows = {row["name"]: row for row in schema["budgets"]}
    assert rows["levels-of-parts"] == {
        "name": "levels-of-parts",
        "counts": "objects with `properties` on one path, the root and each definition alone",
        "used": 3,
        "limit": 10,
        "top": [],
    }
    assert rows["nodes"]["counts"] is None


def test_every_reading_has_words_for_messages_and_no_message_has_its_name():
    assert COUNTED.keys() == READINGS.keys()
    deep = {"type": "object", "properties": {"a": {"type": "null"}}}
    for _ in range(10):
        deep = {"type": "object", "properties": {"a": deep}}
    (said,) = (
        d.message
        for d in schemaguard.check(deep, profile="openai-strict").diagnostics
        if d.code == "SG540"
    )
    assert said == (
        "11 levels of objects in the root or in one definition; whether OpenAI takes over 10, or "
        "counts otherwise, is not settled"
    )
