"""Real tool schemas: what the engine takes is valid, and what is valid it takes.

"Up to what xgrammar can write": `instances.py` makes instances in its key order and spelling.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from instances import dumps_for_engine, is_valid, valid_instances, validator
from instances import wrong_type_at_random_leaf as wrong_type

import schemaguard
from schemaguard.errors import CompileError
from schemaguard.grammar import Compiler, Tokenizer

pytest.importorskip("xgrammar")

TOOLS = Path(__file__).resolve().parents[1].parent / "shared" / "corpora" / "tools.jsonl.gz"

# A node that has one of these is read by xgrammar as if nothing else were there, the first in this
# order. A wrong type that gets through has to be valid once the rest is gone: that is the one way
# in which the engine may be wider than a schema here.
PRECEDENCE = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf")


def corpus() -> list[dict[str, Any]]:
    if not TOOLS.exists():
        pytest.skip("the corpora are not here: ../shared/corpora/tools.jsonl.gz")
    with gzip.open(TOOLS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def without_siblings(schema: Any) -> Any:
    """The schema as xgrammar reads it: whoever has precedence, alone."""
    copy = json.loads(json.dumps(schema))
    queue = [copy]
    for node in queue:
        if isinstance(node, dict):
            winner = next((keyword for keyword in PRECEDENCE if keyword in node), None)
            if winner is not None and not isinstance(node[winner], dict):
                for keyword in set(node) - {winner, "$defs", "definitions"}:
                    del node[keyword]
        queue.extend(
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        )
    return copy


def judge(profile: str, each: int) -> tuple[Counter[str], list[str]]:
    """Counts by outcome, and what nothing explains."""
    compiler = Compiler(Tokenizer.byte_level())
    counts: Counter[str] = Counter()
    unexplained: list[str] = []
    for seed, tool in enumerate(corpus()):
        schema = tool["schema"]
        accepted = schemaguard.check(schema, profile=profile).accepted
        if accepted is None:
            continue
        counts["tools accepted"] += 1
        try:
            compiled = compiler.compile(accepted)
        except CompileError as error:
            counts[f"tools refused: {error.reason}: {error.message[:60]}"] += 1
            continue
        counts["tools compiled"] += 1
        loose = validator(without_siblings(schema))
        found = valid_instances(schema, each, seed)
        counts["tools without an instance"] += not found
        for number, instance in enumerate(found):
            counts["valid instances"] += 1
            text = dumps_for_engine(instance)
            if not compiled.accepts(text):
                unexplained.append(f"{tool['id']}: valid and refused: {text[:300]}")
            changed = wrong_type(schema, instance, seed + number)
            if changed is None:
                counts["no leaf whose type matters"] += 1
                continue
            counts["wrong types"] += 1
            text = dumps_for_engine(changed[0])
            if not compiled.accepts(text):
                counts["wrong types refused"] += 1
            elif is_valid(loose, changed[0]):
                counts["wrong types accepted: siblings of a combiner are ignored"] += 1
            else:
                unexplained.append(f"{tool['id']}: invalid and accepted: {text[:300]}")
    print()
    for name, count in sorted(counts.items()):
        print(f"{profile}: {count:7,} {name}")
    return counts, unexplained


BY_HAND = {
    "recursion": {
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "v": {"type": "integer"},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                },
                "required": ["v", "kids"],
                "additionalProperties": False,
            }
        },
    },
    "recursion that has to end": {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["next"],
    },
    "tuple": {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "number", "minimum": 0, "maximum": 1}],
        "items": {"type": "boolean"},
        "minItems": 2,
        "maxItems": 5,
    },
    "numbers": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": -3, "exclusiveMaximum": 12, "multipleOf": 5},
            "b": {"type": "number", "exclusiveMinimum": -1.5, "maximum": 2},
            "c": {"type": "integer", "minimum": 9_007_199_254_740_993},
            "d": {"type": "number"},
        },
        "required": ["a", "b", "c", "d"],
    },
    "strings": {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "^[a-f]{2}(-[^x]\\d+)?|z\\w*$"},
            "b": {"type": "string", "minLength": 3, "maxLength": 3},
            "c": {"type": ["string", "null"], "format": "date-time"},
            "d": {"type": "string"},
        },
        "required": ["a", "b", "c", "d"],
    },
    "open objects": {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
        "minProperties": 2,
    },
    "names by pattern": {
        "type": "object",
        "patternProperties": {"^x_[a-z]+$": {"type": "integer"}},
        "additionalProperties": False,
    },
    "values": {"type": "array", "items": {"enum": [1, "1", None, True, [0], {"a": 2.5}]}},
}


@pytest.mark.parametrize("name", BY_HAND)
def test_grammars_take_every_way_of_writing_a_schema_down(name: str) -> None:
    schema = BY_HAND[name]
    accepted = schemaguard.check(schema, profile="xgrammar").accepted
    assert accepted is not None
    compiled = Compiler(Tokenizer.byte_level()).compile(accepted)

    found = valid_instances(schema, 40, seed=7)

    assert len({dumps_for_engine(instance) for instance in found}) >= 3
    assert found == valid_instances(schema, 40, seed=7)
    for seed, instance in enumerate(found):
        assert validator(schema).is_valid(instance)
        assert compiled.accepts(dumps_for_engine(instance)), instance
        changed = wrong_type(schema, instance, seed)
        if changed is not None:
            assert not compiled.accepts(dumps_for_engine(changed[0])), changed


def test_an_untyped_leaf_has_no_wrong_type() -> None:
    assert wrong_type({"type": "object"}, {"a": 1}, seed=1) is None
    assert wrong_type(True, 5, seed=1) is None
    assert wrong_type({"type": "integer"}, 5, seed=1) is not None


def test_grammars_of_tools_that_dynamo_takes_tell_valid_instances_from_wrong_types() -> None:
    counts, unexplained = judge("dynamo", each=20)

    assert unexplained == []
    assert counts["tools compiled"] == counts["tools accepted"] > 100
    assert counts["tools without an instance"] == 0
    assert counts["valid instances"] > 19 * counts["tools compiled"]
    assert counts["wrong types refused"] > 0.98 * counts["wrong types"]


@pytest.mark.slow
def test_grammars_of_all_tools_that_the_engine_bears_do_so_too() -> None:
    counts, unexplained = judge("xgrammar", each=2)

    assert unexplained == []
    assert counts["tools compiled"] > 0.99 * counts["tools accepted"] > 5000
    assert counts["valid instances"] > 1.9 * counts["tools compiled"]
    assert counts["wrong types refused"] > 0.99 * counts["wrong types"]
