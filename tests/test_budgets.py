"""`report.budgets`: what a document uses of each budget, and where."""

from __future__ import annotations

import json

import documents
import pytest
from documents import closed

import schemaguard


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
