"""Arguments of calls are held to the schema of the tool, in bounded time and without a network."""

from __future__ import annotations

import re
import socket
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import schemaguard
from schemaguard import validate_arguments
from schemaguard.formats import FORMATS, is_of_format
from schemaguard.searching import Budget, UndecidedError, search

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "units": {"enum": ["metric", "imperial"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def found(schema, arguments, **options):
    report = validate_arguments(schema, arguments, **options)
    return [(f.kind, f.keyword, f.pointer) for f in report.findings]


def of(schema):
    """The schema of an object with one member."""
    return {"type": "object", "properties": {"v": schema}}


def test_good_arguments_are_ok():
    report = validate_arguments(WEATHER, '{"city": "Oslo", "days": 3, "units": "metric"}')
    assert report.ok
    assert report.complete
    assert report.findings == ()


@pytest.mark.parametrize(
    ("arguments", "keyword", "pointer"),
    [
        ('{"days": 3}', "required", ""),
        ('{"city": 3}', "type", "/city"),
        ('{"city": ""}', "minLength", "/city"),
        ('{"city": "Oslo", "days": 8}', "maximum", "/days"),
        ('{"city": "Oslo", "days": 1.5}', "type", "/days"),
        ('{"city": "Oslo", "days": true}', "type", "/days"),
        ('{"city": "Oslo", "units": "kelvin"}', "enum", "/units"),
        ('{"city": "Oslo", "hour": 1}', "additionalProperties", ""),
        ("[]", "type", ""),
    ],
)
def test_what_is_wrong_is_named_with_its_place(arguments, keyword, pointer):
    assert found(WEATHER, arguments) == [("constraint", keyword, pointer)]


def test_all_that_is_wrong_is_found_and_pointers_are_escaped():
    schema = of(
        {"type": "object", "properties": {"a/b": {"type": "string"}, "~": {"type": "null"}}}
    )
    assert set(found(schema, {"v": {"a/b": 1, "~": 1}})) == {
        ("constraint", "type", "/v/a~1b"),
        ("constraint", "type", "/v/~0"),
    }


def test_a_report_and_its_pass_stand_for_their_schema():
    report = schemaguard.check(
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
            "additionalProperties": False,
        }
    )
    for source in (report, report.accepted):
        assert validate_arguments(source, '{"a": 1}').ok
        assert found(source, '{"a": "1"}') == [("constraint", "type", "/a")]


@pytest.mark.parametrize(
    "arguments", ["", "{", '{"a": NaN}', '{"a": 1, "a": 2}', b"\xff", "[" * 200 + "]" * 200]
)
def test_arguments_that_are_no_strict_json_are_a_finding(arguments):
    report = validate_arguments(WEATHER, arguments)
    assert [f.kind for f in report.findings] == ["not-json"]
    assert not report.complete


def itself():
    value = {}
    value["v"] = value
    return value


@pytest.mark.parametrize("arguments", [itself(), {1: 2}, {"a": object()}, {"a": float("nan")}])
def test_parsed_arguments_that_are_no_json_are_a_finding(arguments):
    assert [f.kind for f in validate_arguments(WEATHER, arguments).findings] == ["not-json"]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        3,
        "{",
        "[]",
        {"type": "strng"},
        {"required": 3},
        of({"$ref": "#/nowhere"}),
        {"$schema": ["x"], "type": 3},
        of({"pattern": 3}),
        itself(),
        {"properties": 3},
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_used_is_a_finding(schema):
    kinds = {f.kind for f in validate_arguments(schema, '{"v": "x"}').findings}
    assert kinds == {"schema"}


# ------------------------------------------------------------------------------------- the network


@pytest.mark.parametrize(
    "reference",
    ["http://127.0.0.1:9/s.json", "https://example.invalid/s", "file:///etc/passwd", "other.json"],
)
def test_no_reference_is_ever_fetched(reference, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("urllib.request.urlopen", refuse)
    assert found(of({"$ref": reference}), '{"v": 1}') == [("schema", None, "")]


# --------------------------------------------------------------------------------------- patterns

EXPLODING = [
    r"^(a+)+$",
    r"^(a|aa)+$",
    r"^(a|a)*$",
    r"^([a-z]+)*\.$",
    r"^(.*)(.*)(.*)(.*)(.*)(.*)(.*)x$",
    r"(x+x+)+y",
    r"^((a?){20}){20}$",
    r"^(?=(a+)+$)a",
    r"(a+)+\1$",
]


@pytest.mark.parametrize("pattern", EXPLODING)
def test_a_pattern_that_explodes_is_answered_in_bounded_time(pattern):
    for text in ("a" * 40 + "!", "x" * 5_000 + "!", "a" * 100_000 + "!"):
        began = time.thread_time()
        report = validate_arguments(of({"pattern": pattern}), {"v": text})
        assert time.thread_time() - began < 3
        assert not report.ok
        assert {f.kind for f in report.findings} <= {"constraint", "undecided"}


@pytest.mark.parametrize(
    "keyword", ["patternProperties", "additionalProperties", "unevaluatedProperties"]
)
def test_patterns_of_names_are_bounded_too(keyword):
    schema = {"patternProperties": {r"^(a+)+$": {"type": "null"}}}
    if keyword != "patternProperties":
        schema[keyword] = False
    began = time.thread_time()
    validate_arguments(schema, {"a" * 60 + "!": 1})
    assert time.thread_time() - began < 3


def test_an_exploding_pattern_behind_another_dialect_is_bounded_too():
    inner = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": r"^(a+)+$"}
    for schema in (of(inner), {**inner, "properties": {"v": {"$ref": "#"}}}):
        began = time.thread_time()
        assert not validate_arguments(schema, {"v": "a" * 60 + "!"}).ok
        assert time.thread_time() - began < 3


def test_an_exponential_pattern_is_still_decided_where_an_automaton_can():
    assert found(of({"pattern": r"^(a+)+$"}), {"v": "a" * 1_000}) == []
    assert found(of({"pattern": r"^(a+)+$"}), {"v": "a" * 1_000 + "!"}) == [
        ("constraint", "pattern", "/v")
    ]


ATOMS = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "[ab]",
        "[^a]",
        r"\d",
        r"\w",
        r"\s",
        r"\b",
        "^",
        "$",
        "(?:a|b)",
        "(?:ab|)",
        "x",
        r"\.",
    ]
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("(?:{})".format),
        st.tuples(
            inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "{2,}"])
        ).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("ab1 .x\n", max_size=8))
@example("(?:(?:(?:a)*){1,3})*", "")  # more ways than a float can count
@example("(?:(?:(?:(?:a)*)*)*)*", "aaa")
@settings(max_examples=500, deadline=None)
def test_the_automaton_finds_what_re_finds(pattern, text):
    from schemaguard import searching

    compiled = searching._compile(pattern)
    expected = re.search(pattern.replace("$", r"\Z"), text) is not None
    assert not isinstance(compiled, str)
    assert compiled.automaton.search(text, Budget(10**6)) is expected
    assert search(pattern, text, Budget(10**6)) is expected


def test_dollar_is_the_end_of_the_text_alone():
    assert not search("^a$", "a\n", Budget(1_000))
    assert search(r"^a\$$", "a$", Budget(1_000))
    assert search("^[$]$", "$", Budget(1_000))
    assert search("(?<name>a)b", "ab", Budget(1_000))
    assert not search("(?<!a)b", "ab", Budget(1_000))


@pytest.mark.parametrize(
    "pattern", [r"\p{L}", "(", "a" * 5_000, "(" * 60 + ")" * 60, "(?i:a)(a+)+"]
)
def test_what_cannot_be_decided_is_said_and_not_guessed(pattern):
    if pattern.startswith("(?i"):
        with pytest.raises(UndecidedError):
            search(pattern, "b" * 100_000, Budget(10**6))
        return
    with pytest.raises(UndecidedError):
        search(pattern, "a", Budget(1_000))


# ------------------------------------------------------------------------------------------- work


def bomb(levels):
    """Each level refers to the next one twice."""
    definitions = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    definitions[f"d{levels}"] = {"type": "string"}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


HOSTILE = {
    "references that multiply": (bomb(40), {}),
    "a cycle of references": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, {}),
    "a cycle through allOf": ({"allOf": [{"$ref": "#"}]}, {}),
    "unique items": (of({"uniqueItems": True}), {"v": [{"a": i} for i in range(20_000)]}),
    "unique items of two kinds": (
        of({"uniqueItems": True}),
        {"v": [x for i in range(49_990) for x in (i, str(i))]},
    ),
    "unique items that are lists of two kinds": (
        of({"uniqueItems": True}),
        {"v": [[x] for i in range(20_000) for x in (i, str(i))]},
    ),
    "containers in a large enum": (
        {"items": {"enum": [[*range(200), i] for i in range(400)]}},
        [[*range(200), -1]] * 400,
    ),
    "a large constant": ({"items": {"const": [*range(9_000), 0]}}, [[*range(9_000), 1]] * 10),
    "a large table of properties on many": (
        {"items": {"properties": {f"p{i}": {} for i in range(9_000)}}},
        [{}] * 90_000,
    ),
    "names in many empty schemas": (
        {"allOf": [{"propertyNames": {}}] * 300},
        {str(i): 1 for i in range(50_000)},
    ),
    "many properties that may be left": (
        {"unevaluatedProperties": False, "additionalProperties": {}},
        {str(i): 1 for i in range(50_000)},
    ),
    "many items that may be left": ({"unevaluatedItems": False, "items": {}}, [1] * 90_000),
    "a large enum on many": (
        of({"items": {"enum": [str(i) for i in range(50_000)]}}),
        {"v": ["x"] * 20_000},
    ),
    "large values in many messages": (
        {"anyOf": [{"type": "null"}] * 5_000},
        {"v": "x" * 1_000_000},
    ),
    "many faults": (of({"items": {"type": "null"}}), {"v": [1] * 90_000}),
    "contains on contains": (
        of({"items": {"contains": {"contains": {"const": 1}}}}),
        {"v": [[[0] * 300] * 300]},
    ),
    "large numbers": (of({"multipleOf": 1e-300}), '{"v": 1' + "0" * 4_000 + "}"),
    "deep data": (
        {"properties": {"v": {"$ref": "#"}}, "items": {"$ref": "#"}},
        "[" * 99 + "]" * 99,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_and_arguments_end_in_bounded_time(name):
    schema, arguments = HOSTILE[name]
    began = time.thread_time()
    report = validate_arguments(schema, arguments)
    assert time.thread_time() - began < 4
    assert len(report.findings) <= 101
    for finding in report.findings:
        assert len(finding.message) <= 210
        assert finding.message.isprintable()


def test_schemas_that_multiply_while_properties_are_left_are_counted():
    both = {
        f"d{i}": {"dependentSchemas": {name: {"$ref": f"#/$defs/d{i + 1}"} for name in "ab"}}
        for i in range(40)
    }
    schema = {"unevaluatedProperties": False, "$ref": "#/$defs/d0", "$defs": {**both, "d40": True}}
    began = time.thread_time()
    got = found(schema, {"a": 1, "b": 1}, max_steps=100_000)
    assert time.thread_time() - began < 3
    assert got == [("undecided", None, "")]


def test_a_hundred_thousand_mixed_items_are_undecided_in_bounded_time():
    mixed = [x for i in range(50_000) for x in (i, str(i))]
    limits = schemaguard.Limits(max_nodes=1_000_000)
    began = time.thread_time()
    got = found({"uniqueItems": True}, mixed, limits=limits)
    assert time.thread_time() - began < 3
    assert got == [("undecided", None, "")]


@pytest.mark.parametrize(
    "items",
    [
        [x for i in range(400) for x in (i, str(i))],
        [str(i) for i in range(90_000)],
        [[i, -i] for i in range(20_000)],
        [{"a": i, "b": 1} for i in range(500)],
    ],
    ids=["mixed", "text", "pairs", "objects"],
)
def test_unique_items_of_the_size_of_a_call_are_decided(items):
    unique = of({"uniqueItems": True})
    assert found(unique, {"v": items}) == []
    assert found(unique, {"v": [*items, items[0]]}) == [("constraint", "uniqueItems", "/v")]
    assert found(of({"uniqueItems": False}), {"v": [1, "1"] * 40_000}) == []


CYCLES = {
    "of references": {"$ref": "#"},
    "through properties that are left": {"$ref": "#", "unevaluatedProperties": False},
    "through items that are left": {"allOf": [{"$ref": "#"}], "unevaluatedItems": False},
    "of dynamic references": {"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]},
    "of resources": {"not": {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#"}},
    "of drafts": {"anyOf": [{"$schema": "urn:x", "$ref": "#"}]},
    "of an older draft": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "anyOf": [{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#"}],
    },
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_no_panic_however_deep_the_caller_is(name, capfd):
    def deeper(levels):
        return deeper(levels - 1) if levels else found(CYCLES[name], '{"a": [1]}')

    for levels in [*range(60), *range(60, 700, 20)]:
        assert deeper(levels) == [("undecided", None, "")]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", CYCLES)
def test_a_caller_at_the_end_of_the_stack_meets_no_panic(name, capfd):
    def deeper(levels):
        return deeper(levels - 1) if levels else found(CYCLES[name], '{"a": [1]}')

    for levels in range(700, 1_000):
        try:
            got = deeper(levels)
        except RecursionError:
            continue
        assert got == [("undecided", None, "")]
    assert capfd.readouterr().err == ""


def test_an_integer_beyond_what_division_takes_is_not_decided():
    report = validate_arguments({"multipleOf": 0.5}, "1" + "0" * 400)
    assert [finding.kind for finding in report.findings] == ["undecided"]
    assert not report.complete


def test_at_most_so_many_findings_are_kept():
    report = validate_arguments(of({"items": {"type": "null"}}), {"v": [1] * 50}, max_findings=7)
    assert len(report.findings) == 7
    assert not report.complete


def test_names_from_outside_cannot_write_to_a_terminal():
    report = validate_arguments(WEATHER, {"city": "x", "\x1b[2J\n": 1})
    assert "\x1b" not in report.findings[0].message
    assert "\n" not in report.findings[0].message


# ---------------------------------------------------------------------------------------- formats

# Good and bad values, from the RFCs that the formats name.
VALUES = {
    "date": (
        ["2024-02-29", "1999-12-31"],
        ["2023-02-29", "2024-1-1", "2024-13-01", "", "2024-01-01x"],
    ),
    "time": (
        ["12:00:00Z", "23:59:60Z", "08:30:06.28+01:00", "00:59:60+01:00"],
        ["12:00:00", "24:00:00Z", "12:60:00Z", "12:00:60Z", "22:59:60Z"],
    ),
    "date-time": (
        ["1985-04-12T23:20:50.52Z", "1990-12-31T15:59:60-08:00"],
        ["1985-04-12 23:20:50Z", "1985-04-12T23:20:50", "x"],
    ),
    "duration": (
        ["P1Y2M3DT4H5M6S", "P4W", "PT0S", "P1D"],
        ["P", "PT", "1D", "P1", "P1WT1H", "P1S"],
    ),
    "email": (
        ["joe@example.com", "a.b+c@d-e.org", '"j b"@x.y', "a@[127.0.0.1]"],
        ["joe", "@x", "a@", "a..b@c.d", "a b@c.d", "a@-x.com"],
    ),
    "hostname": (
        ["example.com", "localhost", "xn--4gbwdl.xn--wgbh1c"],
        ["-a.com", "a-.com", "a..b", "a_b", "a" * 64, ""],
    ),
    "ipv4": (["127.0.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]),
    "ipv6": (
        ["::1", "2001:db8::8:800:200c:417a", "::ffff:1.2.3.4"],
        ["12345::", ":::", "1::2::3", "fe80::1%eth0"],
    ),
    "uuid": (
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "x", "2eb8aa08-aa98-11ea-b4aa-73b441d1638"],
    ),
    "uri": (
        ["http://foo.bar/?q=a%20b#f", "urn:oasis:names", "mailto:a@b.c"],
        ["//foo", "/abc", "foo", "http:// x", "http://a/%zz", "a:b#c#d"],
    ),
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats_are_asserted(name):
    good, bad = VALUES[name]
    for value in good:
        assert found(of({"format": name}), {"v": value}) == [], value
    for value in bad:
        assert found(of({"format": name}), {"v": value}) == [("constraint", "format", "/v")], value


def test_unknown_formats_are_not_asserted_and_none_is_slow():
    assert found(of({"format": "int32"}), {"v": "x"}) == []
    for name in FORMATS:
        for text in (
            "1" * 1_000_000,
            "a." * 4_000 + "!",
            "P" + "1" * 8_000,
            '"' + "\\\\" * 4_000,
            ":" * 8_000,
        ):
            began = time.thread_time()
            is_of_format(text, name)
            assert time.thread_time() - began < 0.5
