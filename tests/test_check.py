"""`check`: what a report says, and that it never raises, whatever it is given."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import threading
from collections import OrderedDict
from decimal import Decimal

import pytest
from documents import closed
from hypothesis import given
from hypothesis import strategies as st

import schemaguard
from schemaguard import Limits, lint

GOOD = closed({"a": {"type": "string"}})
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}


def codes(report):
    return [d.code for d in report.diagnostics]


# ------------------------------------------------------------------------------------------ reports


def test_an_accepted_schema_has_no_diagnostics_and_an_accepted():
    report = schemaguard.check(GOOD)
    assert report.ok
    assert report.complete
    assert report.total == 0
    assert report.diagnostics == ()
    assert report.accepted is not None
    assert report.profile == "dynamo-2026-11-30"
    report.raise_if_rejected()


def test_all_findings_are_collected_in_contract_order():
    report = schemaguard.check(
        {
            "type": "object",
            "properties": {"b": {"not": {}}, "a": {"type": "object", "allOf": []}},
            "required": ["c"],
        }
    )
    assert [(d.code, d.name, d.pointer) for d in report.diagnostics] == [
        ("SG401", "open-object", ""),
        ("SG402", "optional-property", "/required"),
        ("SG402", "optional-property", "/required"),
        ("SG403", "undeclared-required", "/required"),
        ("SG201", "unsupported-keyword", "/properties/a/allOf"),
        ("SG401", "open-object", "/properties/a"),
        ("SG201", "unsupported-keyword", "/properties/b/not"),
    ]
    assert [d.message for d in report.diagnostics[1:4]] == [
        "must include property 'a'",
        "must include property 'b'",
        "unknown property 'c' in a closed object",
    ]
    assert all(d.severity == "error" and d.fix for d in report.diagnostics)


def test_a_rejected_schema_raises_on_request_with_its_report():
    report = schemaguard.check(OPEN)
    assert report.accepted is None
    with pytest.raises(schemaguard.SchemaRejected) as caught:
        report.raise_if_rejected()
    assert caught.value.report is report
    assert "SG401 open-object at the root" in str(caught.value)
    assert "and 1 more" in str(caught.value)


def test_findings_are_capped_and_counted():
    many = closed({f"p{i}": {"type": "object"} for i in range(50)})
    report = schemaguard.check(many, max_diagnostics=10)
    assert len(report.diagnostics) == 10
    assert report.total == 50
    assert report.truncated
    assert report.complete
    assert not report.ok
    assert not schemaguard.check(many, max_diagnostics=0).ok


def test_reports_and_diagnostics_cannot_be_changed():
    report = schemaguard.check(OPEN)
    with pytest.raises(AttributeError):
        report.ok = True
    with pytest.raises(AttributeError):
        del report.ok
    with pytest.raises(AttributeError):
        report.diagnostics[0].severity = "note"
    with pytest.raises(AttributeError):
        report.accepted = GOOD


def test_diagnostics_are_equal_by_value_and_survive_pickling():
    first = schemaguard.check(OPEN).diagnostics
    assert first == schemaguard.check(copy.deepcopy(OPEN)).diagnostics
    assert len({*first, *schemaguard.check(OPEN).diagnostics}) == len(first)
    assert pickle.loads(pickle.dumps(first)) == first  # noqa: S301


def test_an_accepted_comes_from_a_report_alone():
    with pytest.raises(TypeError, match=r"report\.accepted"):
        schemaguard.Accepted("{}", "dynamo")


def test_a_schema_that_was_changed_after_the_check_is_not_handed_on():
    schema = copy.deepcopy(GOOD)
    report = schemaguard.check(schema)
    schema["additionalProperties"] = True
    with pytest.raises(schemaguard.SchemaChanged):
        _ = report.accepted


def test_accepted_keeps_the_order_of_keys_and_the_text_as_given():
    text = '{ "type":"object", "additionalProperties": false }'
    assert schemaguard.check(text).accepted.text == text
    schema = closed({"z": {"type": "string"}, "a": {"type": "string"}})
    assert schemaguard.check(schema).accepted.text.index('"z"') < schemaguard.check(
        schema
    ).accepted.text.index('"a"')


def test_unknown_profiles_are_an_error_that_says_which_there_are():
    with pytest.raises(schemaguard.ProfileError, match="dynamo"):
        schemaguard.check(GOOD, profile="dinamo")
    with pytest.raises(schemaguard.ProfileError):
        schemaguard.check(GOOD, profile="../../etc/passwd")


def test_a_dated_profile_name_is_the_same_profile():
    assert schemaguard.check(GOOD, profile="dynamo-2026-11-30").ok


# --------------------------------------------------------------------------------------- line, column


def test_text_gives_line_and_column_of_a_pointer():
    text = '{\r\n  "type": "object",\r\n  "properties": {"a~/\\u00e9": {"type": "object"}}\r\n}'
    report = schemaguard.check(text)
    pointer = report.diagnostics[-1].pointer
    assert pointer == "/properties/a~0~1é"
    assert report.document.position(pointer) == (3, 31)
    assert report.document.position(pointer, key=True) == (3, 18)
    assert schemaguard.check(OPEN).document.position("/properties/a") is None


# ------------------------------------------------------------------------------------------ documents

READING = [
    ('{"type": "object"', "SG101"),
    ("", "SG101"),
    ('{"type": "object", "type": "object", "additionalProperties": false}', "SG102"),
    ('{"type": "object", "additionalProperties": false, "default": NaN}', "SG103"),
    ('{"type": "object", "additionalProperties": false, "default": -1e999}', "SG104"),
    ('{"type": "object", "additionalProperties": false, "default": ' + "9" * 4301 + "}", "SG105"),
    ('{"type": "object", "additionalProperties": false, "title": "\\udc00"}', "SG106"),
    ('\ufeff{"type": "object", "additionalProperties": false}', "SG107"),
    ('{"type": "object", "additionalProperties": false}'.encode("utf-16"), "SG107"),
    (b'{"type": "object", "additionalProperties": false, "title": "\xe9"}', "SG108"),
    ('{"type": "object", "additionalProperties": false} {}', "SG109"),
    ('{"a": ' * 1001, "SG111"),
]


@pytest.mark.parametrize(("text", "code"), READING)
def test_each_reading_fault_has_its_own_code(text, code):
    report = schemaguard.check(text)
    assert codes(report) == [code]
    assert not report.ok
    assert report.accepted is None


def test_a_fault_of_a_value_has_the_pointer_of_the_value():
    text = '{"type": "object", "properties": {"a": {"maximum": NaN}, "a": {}}}'
    report = schemaguard.check(text)
    assert [(d.code, d.pointer, d.offset) for d in report.diagnostics[:2]] == [
        ("SG103", "/properties/a/maximum", text.index("NaN")),
        ("SG102", "/properties/a", text.rindex('"a"')),
    ]
    found = lint.check_text("x.json", text).findings
    assert [(f.pointer, f.line, f.column) for f in found] == [
        ("/properties/a/maximum", 1, text.index("NaN") + 1),
        ("/properties/a", 1, text.rindex('"a"') + 1),
    ]


def test_a_duplicate_key_does_not_hide_the_other_findings():
    report = schemaguard.check(
        '{"type": "object", "additionalProperties": false, "not": 1, "not": 2}'
    )
    assert codes(report) == ["SG102", "SG201"]


def test_hard_stops_are_diagnostics():
    assert codes(schemaguard.check(b" " * 65, limits=Limits(max_bytes=64))) == ["SG110"]
    assert codes(schemaguard.check("[[[]]]", limits=Limits(max_depth=2))) == ["SG111"]
    assert codes(schemaguard.check("[1,2,3]", limits=Limits(max_nodes=3))) == ["SG112"]
    stopped = schemaguard.check(GOOD, limits=Limits(max_nodes=5))
    assert codes(stopped) == ["SG112"]
    assert not stopped.complete


# ------------------------------------------------------------------------------------- parsed values


class Stranger:
    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


STRANGE = [
    ("default", (1, 2), "SG115", "/default"),
    ("default", b"x", "SG115", "/default"),
    ("default", Decimal(1), "SG115", "/default"),
    ("default", {1, 2}, "SG115", "/default"),
    ("default", Stranger(), "SG115", "/default"),
    ("default", OrderedDict(a=1), "SG115", "/default"),
    ("default", [1, {"a": (2,)}], "SG115", "/default/1/a"),
    ("default", {1: 2}, "SG114", "/default"),
    ("default", float("nan"), "SG103", "/default"),
    ("default", [float("inf")], "SG103", "/default/0"),
    ("default", 10**4300, "SG105", "/default"),
    ("title", "\ud800", "SG106", "/title"),
    ("title", ["ok", "\udfff"], "SG106", "/title/1"),
    ("minProperties", float("nan"), "SG103", "/minProperties"),
    ("minProperties", Decimal(1), "SG115", "/minProperties"),
    ("$defs", {"\ud800": True}, "SG106", "/$defs/\ud800"),
    ("$defs", {1: True}, "SG114", "/$defs"),
    ("$defs", {"a": (1,)}, "SG115", "/$defs/a"),
    ("enum", [b"x"], "SG115", "/enum/0"),
    ("type", ("object",), "SG115", "/type"),
    (3, 3, "SG114", ""),
    ("\ud800", 3, "SG106", "/\ud800"),
]


@pytest.mark.parametrize(("keyword", "value", "code", "pointer"), STRANGE, ids=range(len(STRANGE)))
def test_what_is_no_json_in_a_parsed_value_is_named(keyword, value, code, pointer):
    report = schemaguard.check({"type": "object", "additionalProperties": False, keyword: value})
    assert (code, pointer) in [(d.code, d.pointer) for d in report.diagnostics]
    assert not report.ok
    assert all(str(d) and d.message for d in report.diagnostics)


@pytest.mark.parametrize(
    "value", [None, 3, 1.5, [], (), b"", "x", object(), float("nan"), Stranger()]
)
def test_a_root_of_any_type_is_a_finding(value):
    report = schemaguard.check(value)
    assert not report.ok
    assert report.total >= 1


class Liar:
    __class__ = dict


class Raising:
    @property
    def __class__(self):
        raise RuntimeError


class Text(str):
    __slots__ = ()


class Names(enum.StrEnum):
    RED = "red"


def released():
    view = memoryview(b"{}")
    view.release()
    return view


@pytest.mark.parametrize("make", [Liar, Raising, Stranger])
@pytest.mark.parametrize("profile", ["dynamo", "xgrammar"])
def test_objects_that_lie_about_themselves_end_in_a_diagnostic(make, profile):
    for keyword in ("type", "properties", "required", "enum", "const", "default", "$ref", "items"):
        schema = {"type": "object", "additionalProperties": False, keyword: make()}
        report = schemaguard.check(schema, profile=profile)
        assert not report.ok
        assert report.diagnostics
        assert report.budgets is not None
    assert not schemaguard.check(make(), profile=profile).ok
    assert not schemaguard.check(released(), profile=profile).ok


def test_arrays_of_other_libraries_end_in_a_diagnostic():
    numpy = pytest.importorskip("numpy")
    for value in (numpy.array([1, 2]), numpy.float64(1.5), [numpy.array([1, 2]), "object"]):
        for keyword in ("type", "required", "enum", "minimum"):
            schema = {"type": "object", "additionalProperties": False, keyword: value}
            assert not schemaguard.check(schema).ok


def test_subclasses_of_str_are_strings_whatever_was_checked_before():
    plain = closed({"a": {"type": "string", "enum": ["red"]}})
    odd = {
        Text("type"): Text("object"),
        Text("properties"): {Text("a"): {"type": Text("string"), "enum": [Names.RED]}},
        Text("required"): [Text("a")],
        Text("additionalProperties"): False,
    }
    from schemaguard import plan

    plan.compiled("dynamo").cache.clear()
    assert schemaguard.check(odd).ok
    assert schemaguard.check(plain).ok
    assert schemaguard.check(odd).ok
    assert json.loads(schemaguard.check(odd).accepted.text) == plain


def test_keeping_no_diagnostics_does_not_change_the_verdict():
    for value in ([float("nan")], {1: 2}, [object()]):
        schema = {"type": "object", "additionalProperties": False, "default": value}
        assert not schemaguard.check(schema, max_diagnostics=0).ok
        assert not schemaguard.check(schema, max_diagnostics=-1).ok


def test_a_schema_that_changes_under_the_check_raises_nothing():
    schema = closed({f"p{i}": {"type": "object"} for i in range(200)})
    stop = threading.Event()

    def change():
        number = 0
        while not stop.is_set():
            number += 1
            schema["properties"][f"q{number % 50}"] = {}
            schema["properties"].pop(f"q{(number + 25) % 50}", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            schemaguard.check(schema)
    finally:
        stop.set()
        thread.join()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "enum", "$ref", "anyOf", "items"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_any_python_value_ends_in_a_report(value):
    report = schemaguard.check(value)
    assert report.budgets
    for diagnostic in report.diagnostics:
        assert diagnostic.message
        assert diagnostic.pointer == "" or diagnostic.pointer.startswith("/")
    if report.ok:
        assert report.accepted is not None


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_text_ends_in_a_report(text):
    schemaguard.check(text)
