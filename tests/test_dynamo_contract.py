"""The `dynamo` profile against the handed vectors, and against an independent slow checker."""

from __future__ import annotations

import importlib.util
import json

import oracle_dynamo
import pytest
import strategies
from conftest import corpus, shared
from hypothesis import HealthCheck, given, settings

import schemaguard

BORDER = settings(
    max_examples=1500,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(schema):
    """A string that is a value, not a text, has to be passed as text."""
    return schemaguard.check(json.dumps(schema) if isinstance(schema, str) else schema)


def assert_agrees(schema):
    report = check(schema)
    finding = oracle_dynamo.first_finding(schema)
    if finding is None:
        assert report.ok, report.diagnostics
        assert report.diagnostics == ()
        return
    assert not report.ok, finding
    first = report.diagnostics[0]
    assert "#" + first.pointer == finding.pointer
    if finding.words_fixed:
        assert first.message == finding.detail


def load_vectors():
    path = shared("cases", "dynamo_vectors.py")
    spec = importlib.util.spec_from_file_location("dynamo_vectors", path)
    recipes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipes)
    lines = shared("cases", "dynamo_vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        vector = json.loads(line)
        yield vector, recipes.schema_of(vector)


def test_every_vector_has_the_stated_verdict_pointer_and_detail(capsys):
    wrong = []
    count = 0
    for vector, schema in load_vectors():
        count += 1
        report = check(schema)
        if report.ok != vector["ok"]:
            wrong.append((vector["id"], report))
        elif not report.ok:
            first = report.diagnostics[0]
            same_words = vector["detail"] is None or first.message == vector["detail"]
            if "#" + first.pointer != vector["pointer"] or not same_words:
                wrong.append((vector["id"], first))
    with capsys.disabled():
        print(f"\n{count} vectors, {len(wrong)} wrong")
    assert count >= 638
    assert wrong == []


def test_text_and_parsed_value_get_the_same_report():
    for vector, schema in load_vectors():
        text = json.dumps(schema) if "generate" not in vector else None
        if text is None or isinstance(schema, str):
            continue
        assert schemaguard.check(text).diagnostics == schemaguard.check(schema).diagnostics
        assert schemaguard.check(text.encode()).diagnostics == schemaguard.check(schema).diagnostics


@BORDER
@given(strategies.near_border())
def test_near_the_border_the_engine_agrees_with_the_slow_checker(schema):
    assert_agrees(schema)


@settings(BORDER, max_examples=200)
@given(strategies.schemas())
def test_schemas_made_to_be_accepted_are_accepted(schema):
    assert oracle_dynamo.first_error(schema) is None
    assert check(schema).ok


@settings(BORDER, max_examples=60)
@given(strategies.at_budget_border())
def test_at_each_budget_the_engine_agrees_with_the_slow_checker(schema):
    assert_agrees(schema)


@settings(BORDER, max_examples=300)
@given(strategies.near_border())
def test_the_quick_driver_never_passes_what_the_ordered_one_refuses(schema):
    from schemaguard import plan, walk

    plans = plan.compiled("dynamo")
    found = walk.Findings(plans)
    walk.collect(schema, plans, found, 1_000_000)
    if walk.is_clean(schema, plans, 1_000_000):
        assert found.total == 0


# Counterexamples that a differential run found and shrank; the right answer is the contract's.
SHRUNK = [
    # An empty reference, where another reference leads to the root (rule 34a).
    {
        "type": "object",
        "properties": {"a": {"anyOf": [True], "$ref": ""}},
        "required": ["a", "named nowhere"],
        "additionalProperties": False,
        "patternProperties": {"": {"$ref": "#"}},
    },
]


@pytest.mark.parametrize("schema", SHRUNK)
def test_shrunk_counterexamples(schema):
    assert_agrees(schema)


def test_all_corpus_tools_are_walked_and_agree_with_the_slow_checker(capsys):
    tools = corpus("tools.jsonl.gz")
    assert len(tools) == 10_665
    accepted = 0
    for number, tool in enumerate(tools):
        report = check(tool["schema"])
        accepted += report.ok
        assert report.complete
        if number % 5 == 0:
            assert_agrees(tool["schema"])
    share = accepted / len(tools)
    with capsys.disabled():
        print(f"\n{accepted:,} of {len(tools):,} tools accepted by dynamo ({share:.1%})")
    assert 0 < accepted < len(tools)


def test_all_corpus_schemas_are_walked():
    for record in corpus("schemas.jsonl.gz"):
        report = check(record["schema"])
        assert report.complete
        assert_agrees(record["schema"])
