"""Equality of JSON values: as instances, and as texts."""

from __future__ import annotations

import pytest

from schemaguard.data import equal, same


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [{"a": value}]
    return value


@pytest.mark.parametrize(
    ("one", "other", "as_values", "as_texts"),
    [
        (1, 1.0, True, False),
        (1, True, False, False),
        (0, False, False, False),
        (None, False, False, False),
        ("1", 1, False, False),
        ([], {}, False, False),
        ([1], [1, 2], False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, False),
        ({"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2}]}, True, False),
        ({"a": 1}, {"b": 1}, False, False),
        ({"a": [True]}, {"a": [1]}, False, False),
        ({"a": [None, "x", 0.5]}, {"a": [None, "x", 0.5]}, True, True),
        (nested(50_000), nested(50_000), True, True),
    ],
    ids=range(13),
)
def test_values_are_equal_as_json_schema_has_it_and_the_same_as_text_is(
    one, other, as_values, as_texts
):
    assert equal(one, other) is equal(other, one) is as_values
    assert same(one, other) is same(other, one) is as_texts
