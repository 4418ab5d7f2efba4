"""The parts of an audit: the judge's limits, patterns, spellings, the lexer, the walk."""

from __future__ import annotations

import json
import random
import re
import socket
import time

import pytest

pytest.importorskip("xgrammar")

from schemaguard.grammar.audit import regexes, spelling
from schemaguard.grammar.audit.constraints import constraints, places
from schemaguard.grammar.audit.judge import Judge
from schemaguard.grammar.audit.lexer import Lexer
from schemaguard.grammar.audit.maker import Maker
from schemaguard.grammar.audit.parts import NoInstance
from schemaguard.grammar.audit.search import finish, refused_at, walk

# Judge --------------------------------------------------------------------------------------------


def owned(schema):
    """A judge and its constraints by (pointer, keyword)."""
    judge = Judge(schema)
    found, complete = places(judge)
    assert complete
    return judge, {(c.place.pointer, c.keyword): c for c in constraints(found, judge)}


def test_an_instance_breaks_a_constraint_alone_when_the_rest_takes_it():
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}
    before = json.dumps(schema)
    judge, found = owned(schema)

    assert judge.is_valid({"a": 1}) is False
    assert judge.is_valid_without(found["/properties/a", "minimum"], {"a": 1}) is True
    assert judge.is_valid_without(found["/properties/a", "type"], {"a": 1}) is False
    assert judge.is_valid_without(found["", "type"], 5) is True
    assert json.dumps(schema) == before


def test_failures_inside_branches_and_behind_references_are_found():
    schema = {
        "$defs": {"n": {"type": "integer", "maximum": 3}},
        "anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}],
    }
    judge, found = owned(schema)

    broken = judge.broken(5)

    assert {key for key, c in found.items() if c.is_in(broken)} == {
        ("", "anyOf"),
        ("/$defs/n", "maximum"),
        ("/anyOf/1", "type"),
    }


UNDECIDABLE = {
    "a reference to itself": ({"$ref": "#"}, 1),
    "alternatives that refer to themselves": (
        {
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}},
            "$ref": "#/$defs/a",
        },
        1,
    ),
    "a reference to nowhere": ({"$ref": "#/$defs/none"}, 1),
    "a remote reference": ({"$ref": "http://127.0.0.1:9/s"}, 1),
    "a pattern that Python does not know": ({"pattern": r"^\p{L}$"}, "a"),
    "a pattern that takes for ever": ({"pattern": "^(a+)+$"}, "a" * 60 + "b"),
    "a name and a pattern that takes for ever": (
        {"patternProperties": {"^(a+)+$": {}}},
        {"a" * 60 + "b": 1},
    ),
    "a malformed keyword": ({"minimum": "x"}, 1),
    "a malformed id": ({"$id": 5, "type": "string"}, 1),
}


@pytest.mark.parametrize("name", UNDECIDABLE)
def test_the_judge_says_when_it_cannot_tell_and_says_so_soon(name, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("no judge opens a connection")

    monkeypatch.setattr(socket, "socket", refuse)
    schema, instance = UNDECIDABLE[name]
    began = time.process_time()

    assert Judge(schema).is_valid(instance) is None
    assert time.process_time() - began < 5


def test_the_judge_gives_up_on_work_that_grows_exponentially():
    node = {"$ref": "#/$defs/n"}
    branches = [{"type": "array", "items": node, "maxItems": 90 + n} for n in range(3)]
    schema = {"$defs": {"n": {"oneOf": [*branches, {"type": "string"}]}}, "$ref": "#/$defs/n"}
    instance = 1
    for _ in range(30):
        instance = [instance]

    assert Judge(schema).is_valid(instance) is None


def test_many_alternatives_are_looked_up_by_what_tells_them_apart():
    def branch(number):
        told = {"const": f"v{number}"} if number % 2 else {"enum": [f"v{number}", f"w{number}"]}
        return {
            "type": "object",
            "properties": {"k": told, "a": {"type": "integer"}},
            "required": ["k"] if number else [],
            "additionalProperties": False,
        }

    for keyword in ("anyOf", "oneOf"):
        schema = {keyword: [*map(branch, range(200)), {"$ref": "#/$defs/d"}, {"type": "null"}]}
        judge, found = owned({**schema, "$defs": {"d": branch(200)}})

        for valid in ({"k": "v7"}, {"k": "w8", "a": 1}, {"k": "w200"}, {"a": 1}, {}, None):
            assert judge.is_valid(valid) is True
        for invalid in ({"k": "w7"}, {"k": 7}, {"k": "v7", "a": "x"}, {"k": "v7", "b": 1}, 5):
            assert judge.is_valid(invalid) is False
        # What is taken out of an alternative counts there, whatever it was looked up by.
        here = f"/{keyword}/7"
        for pointer, taken, instance in (
            (f"{here}/properties/k", "const", {"k": "zz", "a": 1}),
            (f"{here}/properties/a", "type", {"k": "v7", "a": "x"}),
            (here, "additionalProperties", {"k": "v7", "b": 1}),
            (here, "type", "text"),
            ("/$defs/d/properties/k", "enum", {"k": "zz", "a": 1}),
        ):
            assert judge.is_valid(instance) is False
            assert judge.is_valid_without(found[pointer, taken], instance) is True
        assert judge.is_valid_without(found[here, "type"], {"k": "w7"}) is False

        before = judge.spent
        judge.is_valid({"k": "v199", "a": 1})
        assert judge.spent - before < 20


def test_formats_are_asserted_and_dialects_followed():
    assert Judge({"format": "ipv4"}).is_valid("1.2.3.256") is False
    assert Judge({"format": "int32"}).is_valid("anything") is True
    draft_7 = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "prefixItems": [{"type": "null"}],
    }
    assert Judge(draft_7).is_valid([1]) is True
    assert Judge({"prefixItems": [{"type": "null"}]}).is_valid([1]) is False


# Constraints --------------------------------------------------------------------------------------


def test_constraints_are_found_behind_every_applicator_once():
    leaf = {"type": "string"}
    schema = {
        "$defs": {"d": leaf, "unused": {"type": "null"}},
        "properties": {"a": {"$ref": "#/$defs/d"}, "b/~": {"$ref": "#/$defs/d"}},
        "patternProperties": {"^x": leaf},
        "additionalProperties": leaf,
        "allOf": [{"prefixItems": [leaf], "items": {"anyOf": [leaf, {"type": "null"}]}}],
        "if": {"type": "object"},
        "then": {"minProperties": 1},
        "else": {"minimum": 1},
    }

    _judge, found = owned(schema)

    assert set(found) == {
        ("", "if"),
        ("/$defs/d", "type"),
        ("/patternProperties/^x", "type"),
        ("/additionalProperties", "type"),
        ("/allOf/0/prefixItems/0", "type"),
        ("/allOf/0/items", "anyOf"),
        ("/allOf/0/items/anyOf/0", "type"),
        ("/allOf/0/items/anyOf/1", "type"),
        ("/then", "minProperties"),
        ("/else", "minimum"),
    }


def test_deep_and_recursive_schemas_are_walked_without_recursion():
    deep = {"type": "null"}
    for _ in range(3_000):
        deep = {"items": deep}
    assert len(owned(deep)[1]) == 1

    loop = {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert set(owned(loop)[1]) == {("", "required")}


# Instances ----------------------------------------------------------------------------------------

MAKEABLE = {
    "siblings of anyOf": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "additionalProperties": False,
    },
    "allOf": {"allOf": [{"type": "integer", "minimum": 5}, {"maximum": 5}]},
    "a reference and its siblings": {
        "$defs": {"s": {"type": "string", "minLength": 3}},
        "$ref": "#/$defs/s",
        "maxLength": 3,
    },
    "contains": {"type": "array", "contains": {"const": 7}, "minContains": 2, "minItems": 3},
    "dependentRequired": {
        "type": "object",
        "required": ["a"],
        "dependentRequired": {"a": ["b"], "b": ["c"]},
    },
    "names": {
        "type": "object",
        "minProperties": 3,
        "propertyNames": {"pattern": "^[a-z]{2}$"},
        "additionalProperties": {"type": "boolean"},
    },
    "a pattern and a length": {"type": "string", "pattern": "^[ab]+$", "minLength": 9},
    "multiples between bounds": {"type": "integer", "multipleOf": 7, "minimum": 8, "maximum": 20},
    "recursion that has to end": {
        "type": "object",
        "properties": {"n": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["n"],
    },
    "different items": {
        "type": "array",
        "items": {"type": "integer"},
        "uniqueItems": True,
        "minItems": 4,
    },
}


@pytest.mark.parametrize("name", MAKEABLE)
def test_valid_instances_are_made(name):
    judge = Judge(MAKEABLE[name])
    maker = Maker(judge)
    valid = 0
    for seed in range(10):
        try:
            value = maker.value([judge.schema], random.Random(seed), full=seed % 2 == 1)
        except NoInstance:
            continue
        valid += judge.is_valid(value) is True

    assert valid >= 5


def test_an_instance_reaches_the_place_that_it_is_made_for():
    schema = {
        "type": "object",
        "properties": {
            "a": {
                "type": "array",
                "prefixItems": [{"type": "null"}],
                "items": {
                    "oneOf": [
                        {"type": "null"},
                        {"type": "object", "properties": {"deep": {"minimum": 3}}},
                    ]
                },
            }
        },
    }
    judge, found = owned(schema)
    place = next(c.place for c in found.values() if c.keyword == "minimum")

    template = Maker(judge).template(place.route(), random.Random(1), full=False)

    assert template.path == ("a", 1, "deep")
    assert judge.is_valid(template.instance) is True
    assert judge.is_valid(template.filled(1)) is False
    assert judge.is_valid(template.instance) is True


# Patterns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-f]{2}(-[^x]\\d+)?|z\\w*$",
        "^(?:ab|c(d|e)){1,3}$",
        "^\\S+@\\S+\\.\\S{2,}$",
        "[^\\s\\d]",
        "^a{0}b$",
        "^.{3,5}$",
        "(?i)^Ab$",
        "",
    ],
)
def test_strings_are_made_that_a_pattern_matches(pattern):
    for seed in range(20):
        assert re.search(pattern, regexes.match(pattern, random.Random(seed)))


def test_patterns_that_nothing_can_be_made_for_are_said():
    for pattern in ("(", "[^\\s\\S]", "(a)\\1"):
        with pytest.raises(regexes.NoMatch):
            regexes.match(pattern, random.Random(0))


def test_the_longer_a_match_may_take_the_shorter_are_the_strings():
    linear, square, exponential = map(regexes.longest_text, ("^a+$", "^a+b+$", "^(a+)+$"))

    assert linear > square > exponential
    for pattern in ("^(a+)+$", "^(a|aa)+$", "^((a+)+)+$", "^a*a*a*a*a*b$"):
        text = "a" * regexes.longest_text(pattern) + "!"
        began = time.process_time()
        re.search(pattern, text[-regexes.longest_text(pattern) :])
        assert time.process_time() - began < 2


# Spellings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        0.0000001,
        1e5,
        1.5e300,
        -2.5,
        10**25,
        {"e": 1.0, "é": ["\n", '"']},
        [],
        {},
        "5.0e",
        None,
        [[{}]],
    ],
)
def test_all_spellings_of_a_value_mean_the_value(value):
    texts = list(spelling.texts(value, all_of_them=True))

    assert len(texts) >= 2
    assert all(json.loads(text) == value for text in texts)
    assert all(json.loads(text) == value for _freedom, text in spelling.variants(value))


def test_hidden_names_are_read_as_the_name():
    value = {"a": [{"n": "bad", "m": 1}], "z": 2}

    texts = list(spelling.smuggled(value, ("a", 0, "n"), "good"))

    assert len(texts) == 4
    assert all(json.loads(text) == value for text in texts)
    assert sum("\\u006e" in text for text in texts) == 2


def test_what_has_no_text_is_said():
    for value in (float("inf"), "\ud800", ["x" * 50_000]):
        with pytest.raises(spelling.Unspeakable):
            spelling.compact(value)


# Walking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -0.5e+3, "x\\n", {"b": null}], "c": true}',
        "[]",
        "{}",
        '"\\u00e9"',
        "0",
        "[[], {}]",
    ],
)
def test_the_lexer_takes_json(text):
    lexer = Lexer()
    for byte in text.encode() + b" ":
        lexer.feed(byte)

    assert lexer.sound
    assert lexer.path == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"a":}',
        "[1,]",
        '{"a" 1}',
        "01 ",
        "tru ",
        '"a\x01"',
        '"\\x"',
        "[1 2]",
        "{1:2}",
        '{"a":1,}',
        "1,",
        "[}",
    ],
)
def test_the_lexer_takes_nothing_else(text):
    lexer = Lexer()
    for byte in text.encode():
        lexer.feed(byte)

    assert not lexer.sound


class Words:
    """A grammar of some texts, to walk through."""

    def __init__(self, *texts):
        self.texts = [text.encode() for text in texts]

    def accepts(self, text):
        return text.encode() in self.texts

    def start(self):
        return _Word(self.texts, b"")


class _Word:
    def __init__(self, texts, prefix):
        self.texts, self.prefix = texts, prefix

    def allowed(self):
        size = len(self.prefix)
        rest = [t[size:] for t in self.texts if t.startswith(self.prefix)]
        return sorted({r[0] if r else 256 for r in rest} - {ord("!")})

    def push(self, byte):
        if byte not in self.allowed():
            return False
        self.prefix += bytes((byte,))
        return True

    def fork(self):
        return _Word(self.texts, self.prefix)


def test_a_walk_finds_a_byte_after_which_nothing_follows():
    found = walk(Words('{"a":1}', '{"a":"x!"}', '{"b":"x"}'))

    assert found.dead_end == '{"a":"x'
    assert found.broken is None


def test_a_walk_finds_what_is_not_json_even_where_it_ends_like_json():
    assert walk(Words('{"a":"x"}', '{"a":"\t"}')).broken == '{"a":"\t"}'
    assert walk(Words("{}", '{"a":}')).broken == '{"a":}'
    assert walk(Words('{"a":1}', "[1]")).broken is None


def test_the_place_of_a_refusal_is_the_value_or_the_container_at_fault():
    grammar = Words('{"a":[1,2],"b":"xy"}')

    assert refused_at(grammar, '{"a":[1,3],"b":"xy"}') == ("a", 1)
    assert refused_at(grammar, '{"a":[1],"b":"xy"}') == ("a",)
    assert refused_at(grammar, '{"a":[1,2],"c":1}') == ()
    assert refused_at(grammar, '{"a":[1,2],"b":"xz"}') == ("b",)
    assert refused_at(grammar, '{"a":[1,2]}') == ()


def test_a_text_is_finished_as_soon_as_it_can_be():
    word = Words('{"a":"xxxxx"}', '{"a":"x"}').start()
    lexer = Lexer()
    for byte in b'{"a":"':
        word.push(byte)
        lexer.feed(byte)

    assert finish(word, lexer, 100) == b'x"}'
