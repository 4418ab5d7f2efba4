"""Input that wants to hurt: each ends in a bounded report.

The bound on time is the guard against quadratic work, not a benchmark: `benchmarks/hostile.py` has
the numbers.
"""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest
from documents import closed, flood

import schemaguard

MIB = "x" * (1 << 20)
SECONDS = 10


def arrays(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return closed({"a": schema})


def objects(levels):
    schema = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def data(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return closed({}, default=value)


def references(count, *, ring=False):
    names = [f"c{i:05d}" for i in range(count)]
    definitions = {n: {"$ref": f"#/$defs/{names[(i + 1) % count]}"} for i, n in enumerate(names)}
    if not ring:
        definitions[names[-1]] = {"type": "string"}
    return closed({}, **{"$defs": definitions})


def shared(levels, wrap):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = wrap(schema)
    return closed({"a": schema})


def shared_data(levels):
    value = [1]
    for _ in range(levels):
        value = [value, value]
    return closed({}, default=value)


def cyclic(*, open_=False):
    schema = {"type": "object", "properties": {}}
    schema["properties"].update(a=schema, b=schema)
    if not open_:
        schema.update(required=["a", "b"], additionalProperties=False)
    return schema


def cyclic_data():
    value = []
    value.append(value)
    return closed({}, default=value)


CASES = {
    "arrays 100,000 deep": (lambda: arrays(100_000), None),
    "objects 100,000 deep": (lambda: objects(100_000), "SG401"),
    "data 100,000 deep": (lambda: data(100_000), None),
    "bytes 100,000 deep": (lambda: b'{"items":' * 100_000 + b"{}" + b"}" * 100_000, "SG111"),
    "unclosed bytes": (lambda: b"[" * 5_000_000, "SG111"),
    "chain of 16,000 references": (lambda: references(16_000), None),
    "circle of 10,000 references": (lambda: references(10_000, ring=True), "SG310"),
    "names of 1 MiB": (lambda: {"type": "object", "properties": {MIB: {"not": 1}}}, "SG401"),
    "300,000 violations": (lambda: flood(300_000), "SG502"),
    "2^20 paths through anyOf": (lambda: shared(20, lambda s: {"anyOf": [s, s]}), "SG112"),
    "2^20 paths through objects": (lambda: shared(20, lambda s: closed({"a": s, "b": s})), "SG501"),
    "2^60 paths": (lambda: shared(60, lambda s: {"anyOf": [s, s]}), "SG112"),
    "2^40 paths through data": (lambda: shared_data(40), "SG112"),
    "a schema that contains itself": (cyclic, "SG501"),
    "an open schema that contains itself": (lambda: cyclic(open_=True), "SG401"),
    "data that contains itself": (cyclic_data, "SG113"),
    "2,000,000 alternatives": (lambda: closed({"a": {"anyOf": [{}] * 2_000_000}}), "SG112"),
    "names that all hash alike": (
        lambda: closed({"a": {"enum": [i * (2**61 - 1) for i in range(20_000)]}}),
        "SG503",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hostile_input_ends_in_a_bounded_report(name):
    make, first = CASES[name]
    schema = make()
    began = time.process_time()
    report = schemaguard.check(schema)
    spent = time.process_time() - began
    assert spent < SECONDS
    assert len(report.diagnostics) <= 1000
    assert report.ok is (first is None)
    if first is not None:
        assert report.diagnostics[0].code == first
    assert all(len(d.message) < 1000 and len(repr(d)) < 400 for d in report.diagnostics)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("name", CASES)
def test_budgets_of_hostile_input_are_bounded_too(name):
    report = schemaguard.check(CASES[name][0]())
    began = time.process_time()
    uses = report.budgets
    assert time.process_time() - began < SECONDS
    assert all(len(use.top) <= 5 for use in uses)


def test_cycles_and_shared_parts_are_told_apart_and_said_even_when_the_cap_is_reached():
    for schema, code in [
        (cyclic(), "SG113"),
        (cyclic(open_=True), "SG113"),
        (shared(20, lambda s: closed({"a": s, "b": s})), "SG112"),
    ]:
        report = schemaguard.check(schema)
        assert not report.complete
        assert len(report.diagnostics) == 1000 < report.total
        assert report.diagnostics[-1].code == code


def test_a_deep_value_that_was_accepted_has_a_text():
    report = schemaguard.check(data(50_000))
    assert report.accepted.text.count("[") == 50_001 + 1  # and `required`


def test_patterns_that_are_dear_to_measure_are_measured_no_further_than_their_budget():
    classes = {f"p{i}": {"pattern": "[" + "ab" * 700 + f"{i:05d}]"} for i in range(10_000)}
    long = {f"q{i}": {"pattern": "(" * 4096 + f"{i}"} for i in range(2_000)}
    for properties in (classes, long):
        began = time.process_time()
        report = schemaguard.check(closed(properties), profile="xgrammar")
        assert time.process_time() - began < SECONDS
        assert not report.ok


SLOW = {
    "dependencies near the limit of values": lambda: json.dumps(
        {"dependencies": {f"p{i}": ["a", "a"] for i in range(300_000)}}
    ),
    "references below a long name": lambda: json.dumps(
        {"properties": {MIB * 8: {"properties": {f"p{i}": {"$ref": "#"} for i in range(2_000)}}}}
    ),
    "percent escapes": lambda: closed({}, **{"$ref": "#/" + "%41" * (5 << 20)}),
    "a shared list": lambda: closed({"a": {"anyOf": [{"default": [1] * 900_000}] * 1_000}}),
    "NaN 50,000 levels deep": lambda: closed({}, default=deep_faults(50_000, 1_000)),
}


def deep_faults(levels, count):
    value = [float("nan")] * count
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("name", SLOW)
def test_nothing_is_quadratic_in_what_a_stranger_sends(name):
    schema = SLOW[name]()
    began = time.process_time()
    report = schemaguard.check(schema)
    assert not report.ok
    assert time.process_time() - began < SECONDS


def test_a_thousand_findings_below_a_long_name_are_not_a_thousand_long_pointers():
    members = {f"p{i}": {"not": 1} for i in range(1_000)}
    report = schemaguard.check({"properties": {MIB * 8: {"properties": members}}})
    tracemalloc.start()
    began = time.process_time()
    assert all(len(repr(d)) < 400 for d in report.diagnostics)
    assert all(len(d.pointer_within(1_000)) <= 1_000 for d in report.diagnostics)
    assert time.process_time() - began < SECONDS
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
    assert report.diagnostics[-1].pointer.startswith("/properties/xxx")


def test_many_odd_key_sequences_do_not_fill_the_memory():
    from schemaguard import plan

    plans = plan.compiled("dynamo")
    for i in range(10_000):
        schemaguard.check(closed({}, **{f"x-{i}": 1}))
    assert len(plans.cache) <= 4096
    before = len(plans.cache)
    schemaguard.check(closed({}, **{MIB: 1}))
    assert len(plans.cache) == before
