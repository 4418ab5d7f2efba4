"""Reading: every fault by name and offset, the limits, and the two readers against each other."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator  # noqa: TC003  # fixtures are annotated with it
from contextlib import contextmanager
from typing import Any, NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemaguard import document
from schemaguard.document import DEFAULT_LIMITS, Document, Fault, Limits, read
from schemaguard.reader import MAX_FAULTS, ExactReader

MILLION = 1_000_000


def names_and_offsets(source: Any, limits: Limits = DEFAULT_LIMITS) -> list[tuple[str, int]]:
    return [(fault.name, fault.offset) for fault in read(source, limits).faults]


def only_fault(source: Any, limits: Limits = DEFAULT_LIMITS) -> Fault:
    (fault,) = read(source, limits).faults
    return fault


@contextmanager
def integer_digits(setting: int) -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(setting)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def stack_depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


@contextmanager
def frames_left(number: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(stack_depth() + number)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# Clean text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("-0.0", -0.0),
        ("1e5", 100000.0),
        ("1E+5", 100000.0),
        ("12.5e-1", 1.25),
        ("1e-999", 0.0),
        ("1e308", 1e308),
        ("-1.7976931348623157e308", -1.7976931348623157e308),
        ('""', ""),
        ('"\\u0061\\/\\b\\f\\n\\r\\t\\"\\\\"', 'a/\b\f\n\r\t"\\'),
        ('"\x7f\u2028é"', "\x7f\u2028é"),
        ("[]", []),
        ("{}", {}),
        (" \t\r\n[ 1 , [ ] , { } ]\n", [1, [], {}]),
        ('{"a": {"b": [true, "x"]}, "": null}', {"a": {"b": [True, "x"]}, "": None}),
    ],
)
def test_json_text_is_read_without_fault(text: str, value: object) -> None:
    for source in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        found = read(source)
        assert found.faults == ()
        assert found.fault_count == 0
        assert found.readable
        assert repr(found.value) == repr(value)
        assert found.text == text
        assert found.nbytes == len(text.encode())


def test_an_integer_a_float_and_a_boolean_keep_their_types() -> None:
    assert repr(read("[1, 1.0, true, 0, -0.0, false]").value) == "[1, 1.0, True, 0, -0.0, False]"


def test_the_order_of_members_is_kept() -> None:
    assert list(read('{"b": 1, "a": 2, "c": 3}').value) == ["b", "a", "c"]


def test_a_str_is_always_text_and_never_a_value() -> None:
    assert read("object").faults
    assert read('"object"').value == "object"


class Shout(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "loud"


def test_a_subclass_of_str_is_read_for_its_characters() -> None:
    found = read(Shout("[1]"))
    assert found.value == [1]
    assert type(found.text) is str


@pytest.mark.parametrize("value", [None, {}, {"a": math.nan}, [1], 1, True, object(), ("a",)])
def test_anything_else_is_a_parsed_value_and_is_not_looked_into(value: object) -> None:
    found = read(value)
    assert found.value is value
    assert found.readable
    assert found.faults == ()
    assert found.text is None
    assert found.nbytes is None
    assert found.nodes is None
    assert found.position("") is None
    assert found.span("") is None
    assert found.line_column(0) is None


def test_a_part_of_a_buffer_is_read_in_place_of_the_whole() -> None:
    assert read(memoryview(b"--[1]--")[2:-2]).value == [1]
    assert read(memoryview(b"[x1x]x")[::2]).value == [1]


# Syntax


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, "a value"),
        ("   \n", 4, "a value"),
        ("[", 1, "a value"),
        ("[1", 2, "',' or ']'"),
        ("[1 2]", 3, "',' or ']'"),
        ("[1,", 3, "a value"),
        ("[1,]", 3, "a value"),
        ("[,1]", 1, "a value"),
        ("[1}", 2, "',' or ']'"),
        ("{", 1, "a member name or '}'"),
        ("{1: 2}", 1, "a member name or '}'"),
        ("{'a': 1}", 1, "a member name or '}'"),
        ("{,}", 1, "a member name or '}'"),
        ('{"a"}', 4, "':'"),
        ('{"a" 1}', 5, "':'"),
        ('{"a":', 5, "a value"),
        ('{"a":}', 5, "a value"),
        ('{"a": 1', 7, "',' or '}'"),
        ('{"a": 1]', 7, "',' or '}'"),
        ('{"a": 1,}', 8, "a member name"),
        ('{"a": 1 "b": 2}', 8, "',' or '}'"),
        ("]", 0, "a value"),
        (",", 0, "a value"),
        ("nul", 0, "a value"),
        ("True", 0, "a value"),
        ("None", 0, "a value"),
        ("nan", 0, "a value"),
        ("Inf", 0, "a value"),
        ("-Inf", 1, "a digit"),
        ("// x\n1", 0, "a value"),
        ("-", 1, "a digit"),
        ("[-]", 2, "a digit"),
        ("-a", 1, "a digit"),
        ("1.", 2, "a digit"),
        ("[1.]", 3, "a digit"),
        ("1.e5", 2, "a digit"),
        (".5", 0, "a value"),
        ("+1", 0, "a value"),
        ("1e", 2, "a digit"),
        ("1e+", 3, "a digit"),
        ("1.5E-", 5, "a digit"),
        ("[1e5, 2e]", 8, "a digit"),
        ("\x00", 0, "a value"),
        ("\xa0" + "1", 0, "a value"),
        ("[1\x0b]", 2, "',' or ']'"),
    ],
)
def test_broken_syntax_says_where_and_what_was_expected(
    text: str, offset: int, expected: Any
) -> None:
    fault = only_fault(text)
    assert (fault.name, fault.offset) == ("invalid-json", offset)
    assert fault.detail.startswith(f"expected {expected}, found ")
    found = read(text)
    assert not found.readable
    assert found.value is None
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "offset", "detail"),
    [
        ("01", 1, "a number has no leading zeros"),
        ("[-012]", 3, "a number has no leading zeros"),
        ("1.5.2", 3, "found '.' in a number"),
        ("1e5e5", 3, "found 'e' in a number"),
        ('"abc', 0, "the string that starts here has no end"),
        ('["a\\', 1, "the string that starts here has no end"),
        ('{"a', 1, "the string that starts here has no end"),
        ('"a\nb"', 2, "control character U+000A in a string"),
        ('{"a\tb": 1}', 3, "control character U+0009 in a string"),
        ('"\x00"', 1, "control character U+0000 in a string"),
        ('"\x1f', 1, "control character U+001F in a string"),
        ('"\\x"', 1, "no such escape: \\ before 'x'"),
        ('"\\\\\\n\\\x01"', 5, "no such escape: \\ before U+0001"),
        ('"\\u12G4"', 1, "expected four hexadecimal digits after \\u"),
        ('"ab\\u+123"', 3, "expected four hexadecimal digits after \\u"),
        ('"\\u12', 1, "expected four hexadecimal digits after \\u"),
        ('"\\U0041"', 1, "no such escape: \\ before 'U'"),
    ],
)
def test_broken_numbers_and_strings_are_named(text: str, offset: int, detail: str) -> None:
    assert only_fault(text) == Fault("invalid-json", offset, detail)


def test_the_end_of_the_text_and_a_nul_are_told_apart() -> None:
    assert only_fault("[").detail.endswith("found the end of the text")
    assert only_fault("[\x00").detail.endswith("found U+0000")


def test_what_was_found_is_spelled_in_ascii() -> None:
    assert only_fault("é").detail == "expected a value, found U+00E9"
    assert only_fault("[1 😀]").detail == "expected ',' or ']', found U+1F600"
    assert only_fault("[1 x]").detail == "expected ',' or ']', found 'x'"


@pytest.mark.parametrize(
    ("text", "offset"),
    [("{} x", 3), ("1 2", 2), ("[]]", 2), ('""""', 2), ("null\n,", 5), ("nullnull", 4), ("1\0", 1)],
)
def test_anything_after_the_value_is_trailing_data(text: str, offset: int) -> None:
    fault = only_fault(text)
    assert (fault.name, fault.offset) == ("trailing-data", offset)
    assert not read(text).readable


# Bytes


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        ('"é"'.encode("latin-1"), 1),
        (b'["ok", "\xff"]', 8),
        ('["é", "'.encode() + b'\x80"]', 8),  # in bytes: the é takes two
        (b'"\xc0\xaf"', 1),  # overlong
        (b'"\xed\xa0\x80"', 1),  # a surrogate
        (b'"\xf4\x90\x80\x80"', 1),  # past U+10FFFF
        (b'"\xe2\x82', 1),  # cut short
    ],
)
def test_bytes_that_are_not_utf_8_are_refused_at_the_first_bad_byte(
    source: Any, offset: int
) -> None:
    found = read(source)
    assert names_and_offsets(source) == [("not-utf-8", offset)]
    assert found.faults[0].detail.startswith(f"byte 0x{source[offset]:02X}: ")
    assert found.text is None
    assert found.nbytes == len(source)
    assert not found.readable
    assert found.nodes is None
    assert found.line_column(offset) is None
    assert found.position("") is None


@pytest.mark.parametrize("source", [b"\xef\xbb\xbf{}", "\ufeff{}", b"\xef\xbb\xbf", "\ufeff"])
def test_a_byte_order_mark_is_a_fault_of_its_own(source: Any) -> None:
    assert only_fault(source) == Fault("byte-order-mark", 0, "")
    found = read(source)
    assert not found.readable
    assert found.line_column(0) == (1, 1)


@pytest.mark.parametrize(
    ("encoding", "shown"), [("utf-16", " of UTF-16"), ("utf-32", " of UTF-32")]
)
@pytest.mark.parametrize("order", ["le", "be"])
def test_the_marks_of_utf_16_and_utf_32_are_recognised(
    encoding: str, shown: str, order: str
) -> None:
    source = "\ufeff{}".encode(f"{encoding}-{order}")
    assert only_fault(source) == Fault("byte-order-mark", 0, shown)
    assert read(source).text is None


def test_utf_16_without_a_mark_is_not_guessed_at() -> None:
    assert names_and_offsets("{}".encode("utf-16-le")) == [("invalid-json", 1)]


def test_a_byte_order_mark_inside_the_text_is_ordinary_bad_or_good_text() -> None:
    assert names_and_offsets("[\ufeff1]") == [("invalid-json", 1)]
    assert read('"\ufeff"').value == "\ufeff"


# Faults that leave the structure intact


@pytest.mark.parametrize(
    ("text", "offsets", "value"),
    [
        ('{"a": 1, "a": 2}', [9], {"a": 2}),
        ('{"a": 1, "\\u0061": 2}', [9], {"a": 2}),
        ('{"x": [{"a": 1, "b": 0, "a": {}}]}', [24], {"x": [{"a": {}, "b": 0}]}),
        ('{"a": 1, "a": 2, "a": 3}', [9, 17], {"a": 3}),
        ('{"": 1, "": {"": 2, "": 3}}', [8, 20], {"": {"": 3}}),
        ('{"é": 1, "\\u00e9": 2}', [9], {"é": 2}),
        ('{"😀": 1, "\\ud83d\\ude00": 2}', [9], {"😀": 2}),
    ],
)
def test_a_name_given_twice_is_found_and_the_last_value_counts(
    text: str, offsets: list[int], value: object
) -> None:
    found = read(text)
    assert names_and_offsets(text) == [("duplicate-key", offset) for offset in offsets]
    assert found.readable
    assert repr(found.value) == repr(value)
    assert repr(found.value) == repr(json.loads(text))


def test_equal_names_in_different_objects_are_not_duplicates() -> None:
    assert read('[{"a": 1}, {"a": {"a": [{"a": 2}]}}]').faults == ()


def test_the_detail_of_a_duplicate_is_its_name_as_json_of_bounded_length() -> None:
    assert only_fault('{"a\\n\\u001b": 1, "a\\n\\u001b": 2}').detail == '"a\\n\\u001b"'
    long = "é" * 1000
    assert only_fault(f'{{"{long}": 1, "{long}": 2}}').detail == '"' + "\\u00e9" * 60 + '"...'


@pytest.mark.parametrize(
    ("text", "offset", "detail"),
    [
        ("NaN", 0, "NaN"),
        ("Infinity", 0, "Infinity"),
        ("-Infinity", 0, "-Infinity"),
        ('{"a": [1, NaN]}', 10, "NaN"),
    ],
)
def test_numbers_that_are_not_finite_are_refused(text: str, offset: int, detail: str) -> None:
    assert only_fault(text) == Fault("non-finite-number", offset, detail)
    assert not read(text).readable
    assert read(text).value is None


@pytest.mark.parametrize(
    ("text", "offset"),
    [("1e309", 0), ("-1e309", 0), ("[1, 1e999]", 4), ("-1e999", 0), ("1" + "0" * 309 + ".0", 0)],
)
def test_numbers_that_only_infinity_can_hold_are_refused(text: str, offset: int) -> None:
    fault = only_fault(text)
    assert (fault.name, fault.offset) == ("overflowing-number", offset)
    assert len(fault.detail) < 70
    assert fault.detail[:5] in text
    assert not read(text).readable


def test_an_integer_beyond_a_double_is_an_integer() -> None:
    assert read("1" + "0" * 400).value == 10**400


@pytest.mark.parametrize("setting", [0, 640, 4_300, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_4300_digits_are_read_and_4301_are_not_whatever_the_interpreter_allows(
    setting: int, sign: str
) -> None:
    longest = sign + "9" * 4_300
    with integer_digits(0):
        value = int(longest)
    with integer_digits(setting):
        found = read(f"[{longest}]")
        assert found.faults == ()
        assert found.value == [value]
        text = f'{{"a": {longest}9}}'
        assert only_fault(text) == Fault("overlong-integer", 6, "4301")
        assert not read(text).readable
        assert read(text).value is None


def test_digits_are_limited_for_integers_only() -> None:
    text = "1." + "3" * 10_000
    assert read(text).value == float(text)
    assert read("0." + "0" * 10_000 + "1").value == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"\\ud800"', [(1, "\\ud800")]),
        ('"\\uDC00"', [(1, "\\udc00")]),
        ('"a\\ud83d"', [(2, "\\ud83d")]),
        ('"\\ud83dx\\ude00"', [(1, "\\ud83d"), (8, "\\ude00")]),
        ('"\\ude00\\ud83d"', [(1, "\\ude00"), (7, "\\ud83d")]),
        ('"\\ud83d\\ud83d\\ude00"', [(1, "\\ud83d")]),
        ('"\\ud83d\\ude00\\ude00"', [(13, "\\ude00")]),
        ('"\\\\ud83d\\ude00"', [(8, "\\ude00")]),
        ('"\\ud83d\\\\ude00"', [(1, "\\ud83d")]),
        ('"\\ud83d\\n\\ude00"', [(1, "\\ud83d"), (9, "\\ude00")]),
        ('{"\\ud800": 1}', [(2, "\\ud800")]),
        ('["\\ud83d\\ude00", "\\udbff"]', [(18, "\\udbff")]),
        ('"\ud800"', [(1, "\\ud800")]),
        ('"\ud83d\ude00"', [(1, "\\ud83d"), (2, "\\ude00")]),  # raw halves are no pair
        ('"\ud83d\\ude00"', [(1, "\\ud83d"), (2, "\\ude00")]),
        ('"\\ud83d\ude00"', [(1, "\\ud83d"), (7, "\\ude00")]),
        ('{"a\ud800": {"\udc00": 1}}', [(3, "\\ud800"), (9, "\\udc00")]),
    ],
)
def test_half_of_a_surrogate_pair_is_found_in_names_and_values(text: str, expected: Any) -> None:
    found = read(text)
    assert [(f.name, f.offset, f.detail) for f in found.faults] == [
        ("lone-surrogate", offset, detail) for offset, detail in expected
    ]
    assert not found.readable
    assert found.value is None


@pytest.mark.parametrize(
    "text", ['"\\ud83d\\ude00"', '"\\uD83D\\uDE00\\uDBFF\\uDFFF"', '"\\\\ud83d"', '"\\\\\\\\udc00"']
)
def test_whole_pairs_and_escaped_backslashes_are_fine(text: str) -> None:
    found = read(text)
    assert found.faults == ()
    assert found.value == json.loads(text)


def test_a_raw_surrogate_outside_a_string_is_broken_syntax() -> None:
    assert names_and_offsets("[\ud800]") == [("invalid-json", 1)]


def test_several_faults_are_reported_in_reading_order() -> None:
    text = '{"a": NaN, "a": 1e999, "b": ["\\ud800", -Infinity], "a": ' + "1" * 5_000 + "}"
    assert names_and_offsets(text) == [
        ("non-finite-number", 6),
        ("duplicate-key", 11),
        ("overflowing-number", 16),
        ("lone-surrogate", 30),
        ("non-finite-number", 39),
        ("duplicate-key", 51),
        ("overlong-integer", 56),
    ]


def test_a_fatal_fault_ends_the_reading_and_keeps_what_was_found_before() -> None:
    assert names_and_offsets("[NaN, NaN, x, NaN]") == [
        ("non-finite-number", 1),
        ("non-finite-number", 6),
        ("invalid-json", 11),
    ]
    assert names_and_offsets('{"a": 1, "a": 2} {') == [("duplicate-key", 9), ("trailing-data", 17)]
    assert not read('{"a": 1, "a": 2} {').readable


def test_faults_are_capped_and_counted() -> None:
    found = read("[" + "NaN," * 4_999 + "NaN]")
    assert len(found.faults) == MAX_FAULTS
    assert found.fault_count == 5_000


def test_a_flood_of_one_fault_does_not_hide_another() -> None:
    text = "{" + '"a":1,' * 3_000 + '"b":[NaN,NaN],"c":1e999}'
    found = read(text)
    assert found.fault_count == 2_999 + 3
    assert [fault.name for fault in found.faults[MAX_FAULTS:]] == [
        "non-finite-number",
        "overflowing-number",
    ]
    assert not found.readable
    assert [f.name for f in read(text + "x").faults[MAX_FAULTS + 2 :]] == ["trailing-data"]


# Limits


def test_the_default_limits_are_documented_values() -> None:
    assert Limits(max_bytes=16 * 1024 * 1024, max_depth=1_000, max_nodes=MILLION) == DEFAULT_LIMITS


@pytest.mark.parametrize("name", ["max_bytes", "max_depth", "max_nodes"])
def test_a_limit_goes_from_1_to_its_ceiling(name: str) -> None:
    ceiling = Limits.CEILINGS[name]
    assert getattr(Limits(**{name: 1}), name) == 1
    assert getattr(Limits(**{name: ceiling}), name) == ceiling
    for bad in (0, -1, ceiling + 1):
        with pytest.raises(ValueError, match=name):
            Limits(**{name: bad})
    for bad in (1.5, True, "9", None):
        with pytest.raises(TypeError, match=name):
            Limits(**{name: bad})


def test_the_ceilings_are_hard() -> None:
    assert Limits.CEILINGS == {
        "max_bytes": 256 * 1024 * 1024,
        "max_depth": 100_000,
        "max_nodes": 10_000_000,
    }


def test_limits_and_faults_cannot_be_changed() -> None:
    for frozen, field in ((Limits(), "max_depth"), (Fault("invalid-json", 0, ""), "name")):
        with pytest.raises(AttributeError):
            setattr(frozen, field, 5)
        with pytest.raises(AttributeError):
            delattr(frozen, field)


def test_limits_and_faults_compare_and_hash_by_value() -> None:
    assert Limits(max_depth=5) == Limits(max_depth=5) != Limits(max_depth=6)
    assert len({Fault("a", 1, "x"), Fault("a", 1, "x"), Fault("a", 2, "x")}) == 2


@pytest.mark.parametrize(
    "source", [b'"12345678"', '"12345678"', '"éééé"', bytearray(b'"12345678"')]
)
def test_the_size_is_counted_in_utf_8_bytes(source: Any) -> None:
    assert read(source, Limits(max_bytes=10)).faults == ()
    found = read(source, Limits(max_bytes=9))
    assert found.faults == (Fault("too-many-bytes", 9, "more than 9 bytes"),)
    assert not found.readable
    assert found.text is None
    assert found.nodes is None


def test_the_size_of_a_str_with_half_pairs_is_counted_too() -> None:
    assert names_and_offsets('"\ud800"', Limits(max_bytes=5)) == [("lone-surrogate", 1)]
    assert names_and_offsets('"\ud800"', Limits(max_bytes=4)) == [("too-many-bytes", 4)]


def test_a_str_with_too_many_characters_is_not_encoded_to_be_measured() -> None:
    assert read("[" * 11, Limits(max_bytes=10)).nbytes is None
    assert read("éééééé", Limits(max_bytes=10)).nbytes == 12
    assert read(b"[" * 11, Limits(max_bytes=10)).nbytes == 11


def test_a_memoryview_is_measured_in_bytes_not_items() -> None:
    view = memoryview(b'"12345678901234"').cast("I")
    assert names_and_offsets(view, Limits(max_bytes=15)) == [("too-many-bytes", 15)]
    assert read(view, Limits(max_bytes=16)).value == "12345678901234"


@pytest.mark.parametrize(
    ("opening", "closing", "width"), [("[", "]", 1), ('{"a":', "}", 5), ('[{"a":', "}]", 6)]
)
def test_1000_levels_are_read_and_1001_are_not(opening: str, closing: str, width: int) -> None:
    levels = 1_000 // (opening.count("[") + opening.count("{"))
    deep = opening * levels + "0" + closing * levels
    assert read(deep).faults == ()
    assert names_and_offsets(f"[{deep}]") == [
        ("text-too-deep", 1 + opening.rindex(max(opening, key="[{".find)) + width * (levels - 1))
    ]
    assert only_fault(f"[{deep}]").detail == "1000"
    assert not read(f"[{deep}]").readable


def test_depth_is_counted_from_the_outermost_container() -> None:
    assert read("0", Limits(max_depth=1)).faults == ()
    assert read('[1, {}, "[["]'.replace("{}", "2"), Limits(max_depth=1)).faults == ()
    assert names_and_offsets("[1, {}]", Limits(max_depth=1)) == [("text-too-deep", 4)]


def test_brackets_in_strings_do_not_count_as_depth() -> None:
    text = json.dumps(["[[[" * 100, '\\"[{' * 100, {"[{": "]"}] * 10)
    assert read(text, Limits(max_depth=3)).faults == ()


def test_a_node_is_any_value_but_no_name() -> None:
    text = '{"a": [1, "x", null, true], "b": {}, "c": []}'
    assert read(text).nodes == 8
    assert read(text, Limits(max_nodes=8)).faults == ()
    assert names_and_offsets(text, Limits(max_nodes=7)) == [("too-many-nodes", text.index("[]"))]
    assert only_fault(text, Limits(max_nodes=7)).detail == "7"


def test_values_that_a_duplicate_replaces_are_nodes_too() -> None:
    text = '{"a": [1, 2], "a": 3}'
    assert read(text).nodes == 5
    assert names_and_offsets(text, Limits(max_nodes=4))[-1] == ("too-many-nodes", 19)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("0", 1),
        ("[]", 1),
        ("[ ]", 1),
        ("{\n}", 1),
        ("[[]]", 2),
        ('[" "]', 2),
        ('["",""]', 3),
        ('["[]", "{},"]', 3),
        ('{"a,b": "\\",\\"", "\\\\": ","}', 3),
        ("[{},{},{}]", 4),
        ('["\\\\", [], "\\""]', 4),
    ],
)
def test_nodes_are_counted_exactly(text: str, nodes: int) -> None:
    assert read(text).nodes == nodes
    assert read(text, Limits(max_nodes=nodes)).faults == ()
    if nodes > 1:
        assert names_and_offsets(text, Limits(max_nodes=nodes - 1))[0][0] == "too-many-nodes"


def test_nodes_are_known_for_complete_texts_only() -> None:
    assert read("[NaN, 1]").nodes == 3
    assert read("[1, 2").nodes is None
    assert read("[1] 2").nodes is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_001,
        '{"a":' * 1_001 + "1" + "}" * 1_001,
        "[" + "1," * MILLION + "1]",
        "[" + "[]," * MILLION + "1]",
    ],
)
def test_the_c_scanner_never_sees_a_text_beyond_the_limits(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    seen = []
    monkeypatch.setattr(document, "_scan", lambda *found: seen.append(found))
    monkeypatch.setattr(document, "_scan_any_setting", lambda *found: seen.append(found))
    assert read(text).faults[0].name in {"text-too-deep", "too-many-nodes"}
    assert seen == []


# Depth and the stack


def test_a_document_of_100000_levels_is_an_ordinary_document() -> None:
    levels = 100_000
    text = "[" * levels + "7" + "]" * levels
    limits = Limits(max_depth=levels)
    found = read(text, limits)
    assert found.faults == ()
    assert found.nodes == levels + 1
    inner = found.value
    for _ in range(levels):
        (inner,) = inner
    assert inner == 7
    assert names_and_offsets(f"[{text}]", limits) == [("text-too-deep", levels)]


def test_a_caller_with_a_nearly_exhausted_stack_gets_the_same_answer() -> None:
    text = "[" * 400 + "7" + "]" * 400
    with frames_left(150):
        if sys.version_info < (3, 12):  # later ones count C frames apart
            with pytest.raises(RecursionError):
                json.loads(text)
        found = read(text)
    assert found.faults == ()
    assert found.nodes == 401


@pytest.mark.parametrize("error", [RecursionError, MemoryError, ValueError, StopIteration])
def test_whatever_stops_the_c_scanner_the_exact_reader_answers(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def stop(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(document, "_scan", stop)
    monkeypatch.setattr(document, "_scan_any_setting", stop)
    found = read('{"a": [1, 2.5, "x", null]}')
    assert found.faults == ()
    assert repr(found.value) == "{'a': [1, 2.5, 'x', None]}"
    assert found.nodes == 6


def test_a_raised_recursion_limit_does_not_let_deep_text_crash_the_interpreter() -> None:
    code = """if True:
        import sys
        sys.setrecursionlimit(10**9)
        from schemaguard.document import Limits, read
        text = "[" * 100_000 + "]" * 100_000
        found = read(text, Limits(max_depth=100_000))
        print(found.nodes, found.span("/0/0"), len(found.faults))
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "100000 (2, 199998) 0\n"), done.stderr


# Hostile text: the same seconds for the same bytes, whatever the bytes

FIVE_MEGABYTES = 5_000_000
HOSTILE = {
    "brackets": "[" * FIVE_MEGABYTES,
    "backslashes without end": '"' + "\\" * FIVE_MEGABYTES,
    "backslashes": '"' + "\\" * FIVE_MEGABYTES + '"',
    "digits": "1" * FIVE_MEGABYTES,
    "zeros": "0" * FIVE_MEGABYTES,
    "fraction": "9007199254740993." + "0" * FIVE_MEGABYTES + "1",
    "exponent": "1e" + "1" * FIVE_MEGABYTES,
    "nested objects": '{"a":' * MILLION,
    "commas": "," * FIVE_MEGABYTES,
    "quotes": '"' * FIVE_MEGABYTES,
    "string without end": '"' + "a" * FIVE_MEGABYTES,
    "escapes and a bad one": '"' + "ab\\n" * MILLION + "\\x",
    "blanks": " " * FIVE_MEGABYTES,
    "line ends": "\n" * FIVE_MEGABYTES + "1",
    "duplicates": "{" + '"a":1,' * (MILLION - 2) + '"a":1}',
    "duplicates, then others": "{" + '"a":1,' * 1_500 + '"b":[' + "NaN," * 800_000 + "1]}",
    "surrogates": '"' + "\\ud800" * 800_000 + '"',
    "empty arrays": "[" + "[]," * 1_600_000 + "1]",
    "brackets in strings": "[" * 501 + '"[",' * 900_000 + "1" + "]" * 501,
    "long integers": "[" + ("1" * 4_300 + ",") * 1_100 + "1]",
    "overlong integers": "[" + ("1" * 4_301 + ",") * 1_100 + "1]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_in_bounded_time(name: str) -> None:
    text = HOSTILE[name]
    start = time.process_time()
    found = read(text)
    for fault in found.faults:
        assert found.line_column(fault.offset) is not None
    _ = found.nodes
    spent = time.process_time() - start
    # About a second at worst on a slow machine; going over the text twice per character takes days.
    assert spent < 10
    assert found.nbytes == len(text)


# The two readers against each other, and against json.loads

KEYS = st.sampled_from(["a", "b", "", "/", "~1", "é", "😀", '"', "\\", "[", "\n"]) | st.text(
    max_size=3
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.floats(allow_nan=True)
    | st.text(st.characters(codec=None), max_size=6)
    | st.sampled_from(["[", "]]", '"', '\\"', "\\", "{,", "\ud83d", "\ud83d\ude00", "\\ud800"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
SPLICES = st.sampled_from(
    [
        *'[]{}:,"\\ \n\t\0eE+-.019xnt',
        '"a":1,',
        '"a":',
        "\\u0061",
        "\\ud83d",
        "\\ude00",
        "\\\\",
        '\\"',
        "NaN",
        "-Infinity",
        "1e999",
        "1" * 4_301,
        "true",
        "null",
        "\ufeff",
        "\ud800",
        "é",
        "😀",
        "[]",
        "{}",
        ",,",
    ]
)


@st.composite
def nearly_json(draw: st.DrawFn) -> str:
    """JSON text with up to three places cut out, repeated or overwritten."""
    text = json.dumps(
        draw(VALUES),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 1])),
        separators=draw(st.sampled_from([None, (",", ":")])),
    )
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + 6)))
        piece = draw(SPLICES | st.just("") | st.just(text[at:to] * 2))
        text = text[:at] + piece + text[to:]
    return text


class Dirty(Exception):  # noqa: N818  # not an error
    pass


def stdlib_verdict(text: str) -> tuple[bool, str]:
    """Whether the text is clean by `json.loads` and what it lets through; and the value's repr."""

    def unique(members: list[tuple[str, object]]) -> dict[str, object]:
        if len({name for name, _ in members}) != len(members):
            raise Dirty
        for name, _ in members:
            encodable(name)
        return dict(members)

    def encodable(text: str) -> None:
        text.encode()

    def refuse(_: str) -> NoReturn:
        raise Dirty

    def finite(literal: str) -> float:
        if math.isinf(float(literal)):
            raise Dirty
        return float(literal)

    def look(value: object) -> None:
        if isinstance(value, str):
            encodable(value)
        elif isinstance(value, list):
            for item in value:
                look(item)
        elif isinstance(value, dict):
            for item in value.values():
                look(item)

    try:
        value = json.loads(
            text, object_pairs_hook=unique, parse_constant=refuse, parse_float=finite
        )
        look(value)
    except (ValueError, Dirty):
        return False, ""
    return True, repr(value)


@settings(max_examples=400, deadline=None)
@given(nearly_json())
@example('"\\\\ud83d\\ude00"')
@example('["\\ud83d\\ude00", "\ud83d"]')
@example("[" * 20)
def test_a_text_is_clean_exactly_when_json_and_the_extra_conditions_say_so(text: str) -> None:
    found = read(text)
    clean, shown = stdlib_verdict(text)
    assert clean == (found.faults == ())
    if clean:
        assert repr(found.value) == shown


@settings(max_examples=400, deadline=None)
@given(nearly_json(), st.integers(1, 12), st.integers(1, 30))
@example("[]", 1, 1)
@example("[1\\[2]", 1, 2)
@example('["a"b"[[[[', 2, 30)
def test_the_fast_path_answers_exactly_when_the_exact_reader_finds_no_fault(
    text: str, depth: int, nodes: int
) -> None:
    limits = Limits(max_depth=depth, max_nodes=nodes)
    exact = ExactReader(text, limits)
    value = exact.read()
    try:
        text.encode()
        fast = document._read_clean(text, limits)
    except Exception:  # noqa: BLE001  # any doubt
        assert exact.faults
    else:
        assert not exact.faults
        assert repr(fast) == repr(value)
        assert document._count_nodes(text) == exact.nodes
        assert document._measure_depth(text) == exact.depth


@settings(max_examples=400, deadline=None)
@given(nearly_json())
def test_the_cheap_measures_are_never_below_what_a_scanner_can_reach(text: str) -> None:
    text = text.replace("\ud800", "").replace("\ud83d", "").replace("\ude00", "")
    text = text.encode("utf-8", "ignore").decode()
    exact = ExactReader(text)
    exact.read()
    assert document._measure_depth(text) >= exact.depth
    # The exact reader counts a value when it tries to read it, the last one in vain.
    assert document._count_nodes(text) >= exact.nodes - (not exact.complete)


def first_bad_byte(source: bytearray) -> int | None:
    try:
        source.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


@settings(max_examples=300, deadline=None)
@given(nearly_json(), st.data())
def test_flipped_bytes_never_raise_and_always_agree_with_the_text(
    text: str, data: st.DataObject
) -> None:
    source = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(data.draw(st.integers(0, 3))):
        if source:
            at = data.draw(st.integers(0, len(source) - 1))
            source[at] ^= 1 << data.draw(st.integers(0, 7))
    found = read(source)
    bad = first_bad_byte(source)
    if bad is not None:
        (fault,) = found.faults
        is_mark = source[:2] in (b"\xff\xfe", b"\xfe\xff")
        assert (fault.name, fault.offset) == (("not-utf-8", bad), ("byte-order-mark", 0))[is_mark]
        assert found.text is None
        return
    decoded = source.decode()
    assert found.text == decoded
    assert found.faults == read(decoded).faults
    assert repr(found.value) == repr(read(decoded).value)


@settings(max_examples=200, deadline=None)
@given(nearly_json())
def test_faults_are_in_the_text_in_order_and_in_plain_ascii(text: str) -> None:
    found = read(text)
    offsets = [fault.offset for fault in found.faults]
    assert offsets == sorted(offsets)
    assert all(0 <= offset <= len(text) for offset in offsets)
    assert found.readable == all(fault.name == "duplicate-key" for fault in found.faults)
    for fault in found.faults:
        assert fault.detail.isascii()
        assert fault.detail.isprintable()
        assert len(fault.detail) < 400
        assert found.line_column(fault.offset) is not None


def test_a_document_prints_without_its_content() -> None:
    assert repr(read('{"secret": 1, "secret": 2}')) == "<Document: 26 bytes, 1 faults>"
    assert repr(read({"secret": 1})) == "<Document: parsed value, 0 faults>"
    assert isinstance(read(b"1"), Document)
