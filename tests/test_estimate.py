"""The cost that is estimated without an engine: what counts, what does not, and hostile documents."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from documents import closed

import schemaguard
from schemaguard import estimate
from schemaguard.estimate import alternatives, reach, sizes, work
from schemaguard.plan import compiled
from schemaguard.refs import Resolver

STRING = {"type": "string"}
INTEGER = {"type": "integer"}


def seconds(schema):
    return estimate.estimate(schema).seconds


def codes(schema):
    return {error.code for error in schemaguard.check(schema, profile="xgrammar").errors}


def many(count, schema=None):
    return {f"p{i}": schema or INTEGER for i in range(count)}


# What it takes and gives --------------------------------------------------------------------------


def test_a_report_a_text_and_a_parsed_value_have_the_same_estimate():
    schema = closed({"a": STRING, "b": {"enum": ["x", "y"]}})
    found = estimate.estimate(schema)
    assert found == estimate.estimate(json.dumps(schema))
    assert found == estimate.estimate(json.dumps(schema).encode())
    assert found == estimate.estimate(schemaguard.check(schema))
    assert found.complete
    assert 0 < found.seconds < 0.1
    assert found.bytes > 0


def test_estimating_loads_no_engine():
    code = (
        "import sys, schemaguard.estimate as e; e.estimate({'type': 'object'});"
        "print([m for m in ('xgrammar', 'torch', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_check_with_a_profile_that_counts_no_work_does_not_load_the_counting():
    code = (
        "import sys, schemaguard; schemaguard.check({'type': 'object', 'properties': {'a': {}}});"
        "print([m for m in sys.modules if m in ('schemaguard.estimate', 'schemaguard.estimate.work')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("broken", ["{", b"\xff", "", None, 3, [], object()])
def test_what_is_no_schema_has_an_estimate_too(broken):
    assert estimate.estimate(broken).seconds > 0


class Liar:
    __class__ = dict


def test_a_value_that_lies_about_itself_is_counted_in_part():
    assert not estimate.estimate({"properties": Liar(), "const": Liar()}).complete


def test_contributors_name_the_dear_part_first():
    dear = closed({f"name_{i}": {"enum": [f"value{i}{j}" for j in range(20)]} for i in range(200)})
    found = estimate.estimate(closed({"small": INTEGER, "large": dear})).contributors
    assert found[0][0] == "/properties/large"
    assert found[0][1] > 0.8
    assert [share for _, share in found] == sorted((share for _, share in found), reverse=True)
    assert len(found) <= estimate.TOP


def test_contributors_in_definitions_are_named_where_they_stand():
    dear = {"enum": ["x" * 90 + str(i) for i in range(300)]}
    schema = {**closed({"a": {"$ref": "#/$defs/d"}, "b": INTEGER}), "$defs": {"d": dear}}
    assert estimate.estimate(schema).contributors[0][0] == "/$defs/d"


def test_compiling_on_demand_is_preferred_from_a_measured_cost_on():
    assert not estimate.prefers_dynamic(estimate.estimate(closed({"a": STRING})))
    assert estimate.prefers_dynamic(estimate.estimate(closed(many(2_000))))


# What counts --------------------------------------------------------------------------------------


def test_a_definition_counts_once_and_only_when_something_refers_to_it():
    dear = closed(many(300))
    once = {**closed({"a": {"$ref": "#/$defs/d"}}), "$defs": {"d": dear}}
    twice = {
        **closed({"a": {"$ref": "#/$defs/d"}, "b": {"$ref": "#/$defs/d"}}),
        "$defs": {"d": dear},
    }
    never = {**closed({"a": INTEGER}), "$defs": {"d": dear}}
    written_twice = closed({"a": dear, "b": dear})
    assert seconds(twice) < 1.1 * seconds(once)
    assert seconds(written_twice) > 1.8 * seconds(once)
    assert seconds(never) < 0.2 * seconds(once)


@pytest.mark.parametrize(
    "winner",
    [
        {"$ref": "#/$defs/a"},
        {"const": 1},
        {"enum": [1]},
        {"anyOf": [INTEGER]},
        {"oneOf": [INTEGER]},
        {"allOf": [INTEGER]},
    ],
)
def test_siblings_of_the_keyword_that_the_engine_reads_are_not_compiled(winner):
    loser = {"type": "object", "properties": many(100), "additionalProperties": True}
    definitions = {"$defs": {"a": INTEGER}}
    assert work.measure({**winner, **definitions}).rules == pytest.approx(
        work.measure({**loser, **winner, **definitions}).rules
    )


def test_annotations_cost_nothing_and_unknown_keywords_next_to_nothing():
    plain = seconds(closed({"a": STRING}))
    assert seconds(closed({"a": {**STRING, "description": "x" * 100_000}})) == plain
    assert seconds(closed({"a": {**STRING, "x-note": "x" * 1_000}})) < plain + 0.005


@pytest.mark.parametrize(
    "wrap",
    [
        lambda s: closed({"a": s}),
        lambda s: {"type": "array", "items": s},
        lambda s: {"anyOf": [s, {"type": "null"}]},
        lambda s: {"type": "object", "additionalProperties": s},
        lambda s: {"type": "array", "prefixItems": [s], "items": False},
        lambda s: {"$ref": "#/$defs/a", "$defs": {"a": s}},
    ],
)
@pytest.mark.parametrize(
    "inner",
    [
        STRING,
        {"type": "integer", "multipleOf": 97},
        {"type": "string", "format": "uri"},
        {"type": "string", "pattern": "^[a-z]{1,9}$"},
        {"enum": ["abc", "abd", 3]},
        {"type": "number", "minimum": -1.5},
    ],
)
def test_a_schema_around_another_costs_more_than_it(wrap, inner):
    inside, around = estimate.estimate(inner), estimate.estimate(wrap(inner))
    assert around.rules > inside.rules
    assert around.seconds > inside.seconds


def test_names_of_an_open_object_cost_by_their_different_characters():
    def names(*declared):
        counted = work.measure(
            {
                "type": "object",
                "properties": dict.fromkeys(declared, STRING),
                "additionalProperties": True,
            }
        )
        return counted.extra["open names"]

    assert names("abcdef") == 7  # six characters to follow, and the end
    assert names("abcd", "abce") < names("abcd", "wxyz")
    assert names("read_file", "send_file") < names("read_file", "send_mail")


@pytest.mark.parametrize(
    ("names", "inner"),
    [([], 1), (["a"], 1), (["ab"], 2), (["ab", "ac"], 2), (["ab", "cb"], 3), (["a", "ab"], 2)],
)
def test_the_tree_of_names_has_a_node_for_each_beginning(names, inner):
    assert sizes.name_tree(names, {}) == inner


def test_equal_trees_are_one():
    known = {}
    sizes.name_tree(["alpha", "beta"], known)
    before = len(known)
    assert sizes.name_tree(["alpha", "beta"], known) > 1
    assert len(known) == before


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("", 2),
        ("ab", 4),
        ('"', 4),
        ("\n", 4),
        ("\x01", 8),
        ("é", 4),
        ("a/b", 6),
        ([], 2),
        ({"a": 1}, 8),
    ],
)
def test_a_literal_is_as_long_as_its_json_text(value, size):
    assert sizes.literal(value) == pytest.approx(size, abs=1)


def test_members_of_an_enum_share_their_beginnings():
    assert sizes.distinct_characters(["abc", "abd"]) == len("abc") + 1 + len("d") + 1
    assert sizes.distinct_characters(["abc", "abc"]) == sizes.distinct_characters(["abc"])


@pytest.mark.parametrize(
    "reference", ["#/a/1", "#/a~1b", "#/c~0d", "#/e%25", "#/a/01", "#/x", "x", "#/a/9"]
)
def test_references_are_followed_as_json_pointers(reference):
    root = {"a": [1, 2], "a/b": 3, "c~d": 4, "e%": 5}
    found = {"#/a/1": 2, "#/a~1b": 3, "#/c~0d": 4, "#/e%25": 5, "#/a/01": 2}
    pair = work.find(root, reference)
    assert (pair and pair[0]) == found.get(reference)


# Held against the engine --------------------------------------------------------------------------

GRAMMARS = {
    "strings": closed({"a": STRING, "b": STRING}),
    "optional": {**closed({"a": STRING, "b": INTEGER, "c": {}}), "required": ["b"]},
    "nested": closed({"a": closed({"b": closed({"c": STRING})})}),
    "arrays": closed({"a": {"type": "array", "items": {"type": "array", "items": INTEGER}}}),
    "alternatives": closed({"a": {"anyOf": [STRING, {"const": 3}, closed({"b": STRING})]}}),
    "types": closed({"a": {"type": ["string", "null"]}}),
    "references": {
        **closed({"a": {"$ref": "#/$defs/d"}, "b": {"$ref": "#/$defs/d"}}),
        "$defs": {"d": closed({"x": STRING}), "unused": closed(many(50))},
    },
    "divisors": closed({"a": {"type": "integer", "multipleOf": 7}}),
    "open": {"type": "object", "properties": {"ab": STRING}, "additionalProperties": True},
    "maps": closed({"a": {"type": "object", "additionalProperties": INTEGER}}),
    "counted": {**closed(many(12)), "required": [], "minProperties": 3, "maxProperties": 9},
    "at least": {**closed(many(12)), "required": ["p3"], "minProperties": 5},
    "at most": {**closed(many(12)), "required": ["p0"], "maxProperties": 4},
    "names by pattern": {
        "type": "object",
        "patternProperties": {"^a$": STRING, "^b[a-z]$": INTEGER},
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_number_of_rules_is_about_that_of_the_grammar(name):
    xgrammar = pytest.importorskip("xgrammar")
    text = json.dumps(GRAMMARS[name])
    grammar = xgrammar.Grammar.from_json_schema(text, any_whitespace=True, max_whitespace_cnt=2)
    rules = str(grammar).count("::=")
    assert estimate.estimate(text).rules == pytest.approx(rules, rel=0.15, abs=3)


# What an output can leave open --------------------------------------------------------------------


def alive(schema):
    return alternatives.alive(schema, work.measure(schema), 0)[0]


ARRAYS = [{"type": "array", "items": STRING, "minItems": i} for i in range(3)]


@pytest.mark.parametrize(
    ("schema", "weight"),
    [
        ({"anyOf": ARRAYS}, 3 * alternatives.ARRAY),
        ({"anyOf": [ARRAYS[0], STRING, closed({"a": STRING})]}, 0),
        ({"anyOf": [{"const": "a"}, {"enum": ["b"]}, INTEGER, {"type": "null"}]}, 0),
        # Told apart by the first property, or by its constant.
        ({"anyOf": [closed({"a": STRING}), closed({"b": STRING})]}, 0),
        ({"anyOf": [closed({"k": {"const": "a"}}), closed({"k": {"const": "b"}})]}, 0),
        ({"anyOf": [closed({"k": STRING, "a": STRING}), closed({"k": STRING})]}, 2),
        # Each optional property may follow in every alternative.
        (
            {
                "anyOf": [
                    {**closed({"k": STRING, "a": STRING}), "required": ["k"]},
                    closed({"k": STRING}),
                ]
            },
            3,
        ),
        # What follows on alternatives is looked at under each name, and for itself.
        ({"anyOf": [{"type": "array", "items": {"anyOf": ARRAYS}}, *ARRAYS[:1]]}, 15),
        ({"anyOf": [closed({"a": ARRAYS[0]}), closed({"a": {"anyOf": ARRAYS[1:]}})]}, 15),
        ({"anyOf": [closed({"a": ARRAYS[0]}), closed({"b": {"anyOf": ARRAYS[1:]}})]}, 10),
        (closed({"a": {"anyOf": ARRAYS}, "b": {"anyOf": ARRAYS}}), 15),
        # By reference, and through a choice of its own.
        ({"anyOf": [{"$ref": "#/$defs/a"}, ARRAYS[1]], "$defs": {"a": {"anyOf": [ARRAYS[0]]}}}, 10),
    ],
)
def test_alternatives_that_begin_alike_are_alive_together(schema, weight):
    assert alive(schema) == weight


def test_alternatives_that_lead_back_to_themselves_are_followed_once():
    here = {"$ref": "#/$defs/a"}
    arrays = [{"type": "array", "items": here, "minItems": i} for i in range(4)]
    assert alive({**here, "$defs": {"a": {"anyOf": arrays}}}) == 4 * alternatives.ARRAY
    objects = [closed({"x": here}) for _ in range(4)]
    schema = {**here, "$defs": {"a": {"anyOf": objects}}}
    assert alive(schema) == 4 * alternatives.OBJECT * alternatives.RECURSIVE


def test_definitions_that_hold_each_other_are_alive_together():
    references = [{"$ref": f"#/$defs/d{i}"} for i in range(5)]
    arrays = [{"type": "array", "items": reference} for reference in references]
    definitions = {f"d{i}": {"anyOf": [dict(array) for array in arrays]} for i in range(5)}
    assert alive({"$ref": "#/$defs/d0", "$defs": definitions}) == 25 * alternatives.ARRAY


# How deep references reach ------------------------------------------------------------------------


def deepest(schema):
    plans = compiled("xgrammar")
    return reach.deepest(schema, Resolver(schema, plans), plans, 10**6)


def test_the_deepest_path_through_references_adds_their_levels_up():
    assert deepest(STRING) == 1
    assert deepest(closed({"a": STRING})) == 2
    one = {**closed({"a": {"$ref": "#/$defs/d"}}), "$defs": {"d": closed({"b": STRING})}}
    assert deepest(one) == 2 + 2
    beside = {
        **closed({"a": {"$ref": "#/$defs/d"}, "b": {"$ref": "#/$defs/e"}}),
        "$defs": {"d": closed({"b": STRING}), "e": closed({"c": closed({"d": STRING})})},
    }
    assert deepest(beside) == 2 + 3


def test_definitions_that_refer_to_each_other_count_with_all_their_levels():
    around = {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": closed({"x": {"$ref": "#/$defs/b"}}),
            "b": closed({"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/c"}}),
            "c": closed({"z": STRING}),
        },
    }
    assert deepest(around) == 1 + (2 + 2) + 2


def test_many_references_to_small_definitions_are_not_deep():
    definitions = {f"d{i}": closed({"a": STRING}) for i in range(500)}
    schema = {
        **closed({f"p{i}": {"$ref": f"#/$defs/d{i}"} for i in range(500)}),
        "$defs": definitions,
    }
    assert deepest(schema) == 4
    assert "SG807" not in codes(schema)


# Hostile documents --------------------------------------------------------------------------------


def nested(levels, wrap):
    schema = STRING
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def shared(levels):
    schema = closed({"x": STRING})
    for _ in range(levels):
        schema = closed({"a": schema, "b": schema})
    return schema


def itself():
    schema = closed({})
    schema["properties"]["a"] = schema
    return schema


def clique(count):
    references = [{"$ref": f"#/$defs/d{i}"} for i in range(count)]
    return {"$ref": "#/$defs/d0", "$defs": {f"d{i}": {"anyOf": references} for i in range(count)}}


HOSTILE = {
    "100,000 levels of arrays": lambda: nested(100_000, lambda s: {"type": "array", "items": s}),
    "100,000 levels of anyOf": lambda: nested(100_000, lambda s: {"anyOf": [s]}),
    "2^60 paths": lambda: shared(60),
    "itself": itself,
    "300 definitions that are all of them": lambda: clique(300),
    "a constant of lists": lambda: {"const": nested(100_000, lambda s: [s])},
    "a chain of 20,000 references": lambda: {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(20_000)},
    },
    "a million properties": lambda: closed(many(1_000_000)),
    "a million names": lambda: {**closed({"a" * 1_000_000: STRING}), "additionalProperties": True},
    "an enum of a million": lambda: {"enum": list(range(1_000_000))},
    "odd values": lambda: {
        "type": ["object", 3, "object", "array", "string", "integer", "strng"],
        "properties": {"a": 3, 3: {}, ("b",): STRING},
        "additionalProperties": True,
        "required": 5,
        "minProperties": -1,
        "maxProperties": 1e300,
        "maxItems": float("nan"),
        "multipleOf": 0,
        "minimum": 10**4000,
        "format": [],
        "pattern": {},
        "patternProperties": {3: 4},
        "prefixItems": 3,
        "items": [STRING],
        "anyOf": [],
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_estimating_a_hostile_document_takes_bounded_time(name):
    schema = HOSTILE[name]()
    began = time.process_time()
    found = estimate.estimate(schema)
    assert time.process_time() - began < 5
    assert found.seconds > 0
    for pointer, share in found.contributors:
        assert isinstance(pointer, str)
        assert 0 < share <= 1.01
