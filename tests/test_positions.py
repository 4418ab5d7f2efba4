"""Positions: spans by pointer against a slow, plain map of the text; lines and columns."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemaguard.document import Limits, read
from schemaguard.positions import Lines, spans, tokens_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{}:,"]+|[\[\]{}:,]', re.DOTALL)


def escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


class SlowMap:
    """Spans of all values of a JSON text by pointer, by tokenising it all and recursing.

    A repeated name forgets all that was found under it before.
    """

    def __init__(self, text: str) -> None:
        self.tokens = [(match[0], match.start(), match.end()) for match in TOKEN.finditer(text)]
        self.at = 0
        self.values: dict[str, Span] = {}
        self.names: dict[str, Span] = {}
        self.value("")
        assert self.at == len(self.tokens)

    def next(self) -> tuple[str, int, int]:
        self.at += 1
        return self.tokens[self.at - 1]

    def value(self, pointer: str) -> None:
        for known in (self.values, self.names):
            for old in [key for key in known if key.startswith(pointer + "/")]:
                del known[old]
        lexeme, start, end = self.next()
        if lexeme in "[{":
            index = 0
            while self.tokens[self.at][0] not in "]}":
                if lexeme == "{":
                    spelled, *name = self.next()
                    child = f"{pointer}/{escape(json.loads(spelled))}"
                    assert self.next()[0] == ":"
                    self.value(child)
                    self.names[child] = (name[0], name[1])
                else:
                    self.value(f"{pointer}/{index}")
                    index += 1
                if self.tokens[self.at][0] == ",":
                    self.at += 1
            end = self.next()[2]
        self.values[pointer] = (start, end)


# JSON text with repeated names, escapes that nobody needs, and blanks everywhere

NAMES = st.sampled_from(["a", "b", "", "0", "1", "/", "~", "~1", "é", "😀", '"', "\\", "\n", "]"])
BLANKS = st.sampled_from(["", "", "", " ", "\n", "\r\n", "\t", " \n\r\n  ", "\r"])
SCALARS = st.sampled_from(
    [
        "null",
        "true",
        "0",
        "-1.5e+3",
        "12345678901234567890",
        '""',
        '"]"',
        '"\\"{"',
        '"\\\\"',
        '"😀"',
    ]
)
SHAPES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(st.tuples(NAMES, inner), max_size=4).map(tuple)
    ),
    max_leaves=25,
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    def string(content: str) -> str:
        return '"' + "".join(spell(char) for char in content) + '"'

    def spell(char: str) -> str:
        if draw(st.booleans()):
            units = char.encode("utf-16-be").hex()
            return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
        return json.dumps(char, ensure_ascii=False)[1:-1]

    def render(shape: Any) -> str:
        blank = draw(BLANKS)
        if isinstance(shape, str):
            return blank + shape + blank
        if isinstance(shape, list):
            return f"{blank}[{blank}{','.join(map(render, shape))}]{blank}"
        members = [f"{blank}{string(name)}{draw(BLANKS)}:{render(item)}" for name, item in shape]
        return f"{{{','.join(members)}{blank}}}{draw(BLANKS)}"

    return render(draw(SHAPES))


@settings(max_examples=500, deadline=None)
@given(json_texts())
@example('{"a": {"b": 1, "c": 2}, "a": {"b": 3}}')
@example('{"a": [1, [2]], "b": 0, "a": 5}')
@example('{"a": {"a": {"a": 1}, "a": {}}, "a": {"a": {"a": 2}}}')
@example('[{"/": 1, "~1": 2, "~0": 3, "\\u002f": 4}]')
def test_every_value_and_name_is_where_a_slow_map_says(text: str) -> None:
    slow = SlowMap(text)
    found = read(text)
    assert found.readable
    assert found.spans(slow.values) == slow.values
    assert found.spans(slow.values, key=True) == {**slow.values, **slow.names}
    assert spans(text, slow.values, shallow=False) == spans(text, slow.values, shallow=True)
    for pointer, (start, end) in slow.values.items():
        assert found.span(pointer) == (start, end)
        assert found.position(pointer) == found.line_column(start)
        assert repr(json.loads(text[start:end])) == repr(resolve(found.value, pointer))


def resolve(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@settings(max_examples=300, deadline=None)
@given(json_texts(), st.lists(st.lists(NAMES, max_size=4), max_size=6), st.data())
def test_pointers_that_name_nothing_have_no_span(
    text: str, paths: list[list[str]], data: st.DataObject
) -> None:
    slow = SlowMap(text)
    some = data.draw(st.lists(st.sampled_from(sorted(slow.values)), max_size=4))
    pointers = ["".join("/" + escape(name) for name in path) for path in paths] + some
    found = read(text).spans(pointers)
    assert found == {pointer: slow.values.get(pointer) for pointer in pointers}


@pytest.mark.parametrize(
    "pointer",
    [
        "a",
        "#",
        "#/a",
        "/a/",
        "/a/00",
        "/a/-",
        "/a/+1",
        "/a/2",
        "/a/٠",
        "/~",
        "/a~2",
        "/s/0",
        "/n/x",
        " ",
    ],
)
def test_malformed_and_dangling_pointers_have_no_span(pointer: str) -> None:
    found = read('{"a": [1, 2], "s": "text", "n": null, "~": 1, "a~2": 2}')
    assert found.span(pointer) is None
    assert found.span(pointer, key=True) is None
    assert found.position(pointer) is None
    assert found.spans(["/a/1", pointer]) == {"/a/1": (10, 11), pointer: None}


def test_positions_of_hand_counted_places() -> None:
    text = '{\n  "type": "object",\r\n  "properties": {"né😀": {"enum": [1, "x"]}}\n}\n'
    found = read(text)
    assert found.position("") == (1, 1)
    assert found.position("/type", key=True) == (2, 3)
    assert found.position("/type") == (2, 11)
    assert found.position("/properties", key=True) == (3, 3)
    assert found.position("/properties/né😀", key=True) == (3, 18)
    assert found.position("/properties/né😀") == (3, 25)  # an astral character is one column
    assert found.position("/properties/né😀/enum/0") == (3, 35)
    assert found.position("/properties/né😀/enum/1") == (3, 38)
    assert found.line_column(len(text)) == (5, 1)
    assert found.span("") == (0, len(text) - 1)
    start, end = found.span("/properties/né😀", key=True) or (0, 0)
    assert text[start:end] == '"né😀"'


def test_an_item_and_the_whole_value_stand_for_the_name_that_they_lack() -> None:
    found = read(' [1, {"a": 2}]')
    assert found.span("", key=True) == found.span("") == (1, 14)
    assert found.span("/1", key=True) == found.span("/1") == (5, 13)
    assert found.span("/1/a", key=True) == (6, 9)
    both = spans(found.text or "", ["", "/1", "/1/a"], shallow=True)
    assert both == {
        "": ((1, 14), (1, 14)),
        "/1": ((5, 13), (5, 13)),
        "/1/a": ((11, 12), (6, 9)),
    }


def test_a_pointer_names_the_decoded_member_name() -> None:
    found = read('{"\\u0061\\/\\u007e": 1, "\\ud83d\\ude00": 2, "": {"": 3}}')
    assert found.span("/a~1~0") == (19, 20)
    assert found.span("/😀") == (38, 39)
    assert found.span("/") == (45, 52)
    assert found.span("//") == (50, 51)


def test_under_a_repeated_name_only_the_last_value_exists() -> None:
    text = '{"a": {"x": 1, "y": 2}, "b": 3, "a": {"x": 4}}'
    found = read(text)
    assert found.span("/a", key=True) == (32, 35)
    assert found.span("/a/x") == (43, 44)
    assert found.spans(["/a/y", "/b", "/a/x"]) == {"/a/y": None, "/b": (29, 30), "/a/x": (43, 44)}


def test_a_leading_blank_is_not_part_of_the_value() -> None:
    assert read("\r\n\t 5 \n").span("") == (4, 5)
    assert read("\r\n\t 5 \n").position("") == (2, 3)


@pytest.mark.parametrize(
    ("text", "pointer", "span"),
    [
        ("[NaN, -Infinity, 1]", "/2", (17, 18)),
        ("[1e999, 1]", "/1", (8, 9)),
        ("[" + "1" * 5_000 + ", 1]", "/1", (5_003, 5_004)),
        ('["\\ud800", {"\\udc00": [1]}]', "/1/\udc00/0", (23, 24)),
        ("[NaN]", "/0", (1, 4)),
    ],
)
def test_positions_exist_also_in_text_whose_values_are_unreliable(
    text: str, pointer: str, span: tuple[int, int]
) -> None:
    found = read(text)
    assert not found.readable
    assert found.span(pointer) == span


@pytest.mark.parametrize("source", ["[1, 2", "[1] x", b"\xff", "", b"\xef\xbb\xbf[1]", "[" * 1_001])
def test_a_text_that_was_not_read_to_its_end_has_no_positions(source: Any) -> None:
    found = read(source)
    assert found.span("") is None
    assert found.spans(["", "/0"]) == {"": None, "/0": None}
    assert found.position("/0") is None


def test_no_pointers_give_no_spans() -> None:
    assert read("[1]").spans([]) == {}
    assert read("[1]").spans(iter(["/0", "/0"])) == {"/0": (1, 2)}


# Lines


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab\n\r😀"), max_size=60), st.integers(1, 9))
def test_lines_and_columns_agree_with_splitting_the_text(text: str, block: int) -> None:
    with smaller_blocks(block):
        lines = Lines(text)
        for offset in range(len(text) + 1):
            before = text[:offset].split("\n")
            assert lines.locate(offset) == (len(before), len(before[-1]) + 1)
        assert lines.locate(-1) is None
        assert lines.locate(len(text) + 1) is None


class smaller_blocks:  # noqa: N801  # used like a function
    def __init__(self, size: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.size = size

    def __enter__(self) -> None:
        self.patch.setattr("schemaguard.positions._BLOCK", self.size)

    def __exit__(self, *_: object) -> None:
        self.patch.undo()


def test_lines_end_at_a_line_feed_and_nowhere_else() -> None:
    found = read('["a",\r\n"b",\r"c", "\u2028", "\x85"\n]')
    assert found.position("/0") == (1, 2)
    assert found.position("/1") == (2, 1)
    assert found.position("/2") == (2, 6)  # a lone carriage return is a column
    assert found.position("/4") == (2, 16)
    assert found.line_column(len(found.text or "")) == (3, 2)


def test_the_lines_agree_with_the_errors_of_json() -> None:
    text = '{\n "a": [1,\r\n\r2 3]}'
    (fault,) = read(text).faults
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert read(text).line_column(fault.offset) == (caught.value.lineno, caught.value.colno)


@pytest.mark.parametrize("length", [4_095, 4_096, 4_097, 8_192, 20_000])
def test_lines_longer_than_a_block_are_counted_right(length: int) -> None:
    text = "\n" + "x" * length + "\n" + "y" * length
    lines = Lines(text)
    assert lines.locate(length) == (2, length)
    assert lines.locate(length + 1) == (2, length + 1)
    assert lines.locate(length + 2) == (3, 1)
    assert lines.locate(len(text)) == (3, length + 1)


# Depth and hostile text


def test_deep_text_is_walked_without_recursion() -> None:
    levels = 50_000
    text = "[0, " * levels + "7" + ", [1]]" * levels
    found = read(text, Limits(max_depth=100_000))
    deepest = "/1" * levels
    assert found.span(deepest) == (4 * levels, 4 * levels + 1)
    assert found.spans(["/2", "/2/0", deepest]) == {
        "/2": (len(text) - 4, len(text) - 1),
        "/2/0": (len(text) - 3, len(text) - 2),
        deepest: (4 * levels, 4 * levels + 1),
    }
    assert found.span("/1") == (4, len(text) - 6)


def test_a_caller_with_a_nearly_exhausted_stack_gets_the_same_spans() -> None:
    text = '{"a": ' + "[" * 400 + '"]"' + "]" * 400 + ', "b": 1}'
    found = read(text)
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 120)
    try:
        if sys.version_info < (3, 12):  # later ones count C frames apart
            with pytest.raises(RecursionError):
                json.loads(text)
        assert found.span("/b") == (len(text) - 2, len(text) - 1)
    finally:
        sys.setrecursionlimit(before)


def hostile() -> Iterator[tuple[str, str, str]]:
    million = 1_000_000
    yield "repeated names", '{"a":{"b":1},' + '"a":0,' * (million - 10) + '"a":{"b":2}}', "/a/b"
    yield "a long array", "[" + "1," * (million - 2) + "7]", f"/{million - 2}"
    yield "a long name", '{"' + "\\n" * 2_000_000 + '": 1}', "/" + "\n" * 2_000_000
    yield "strings", "[" + '"\\"[{",' * 700_000 + "1]", "/700000"
    yield "blanks", "[" + " " * 5_000_000 + "1" + "\n" * 5_000_000 + "]", "/0"


@pytest.mark.parametrize(
    ("text", "pointer"), [pytest.param(*rest, id=name) for name, *rest in hostile()]
)
def test_hostile_text_is_scanned_in_bounded_time(text: str, pointer: str) -> None:
    found = read(text)
    start = time.process_time()
    span = found.span(pointer)
    assert span is not None
    assert found.line_column(span[0]) is not None
    assert time.process_time() - start < 10


def test_repeated_names_cost_the_same_however_much_is_looked_for_below_them() -> None:
    members = ",".join(f'"k{i}":{i}' for i in range(2_000))
    text = f'{{"a":{{{members}}},' + '"a":[],' * 300_000 + f'"a":{{{members}}}}}'
    pointers = [f"/a/k{i}" for i in range(2_000)]
    found = read(text)
    start = time.process_time()
    located = found.spans(pointers)
    assert time.process_time() - start < 10
    for i, pointer in enumerate(pointers):
        begin, end = located[pointer] or (0, 0)
        assert begin > len(text) // 2
        assert text[begin:end] == str(i)


def test_many_lookups_on_one_endless_line_do_not_reread_it() -> None:
    text = "[" + "1," * 4_000_000 + "1]"
    lines = Lines(text)
    start = time.process_time()
    for offset in range(0, len(text), 800):
        assert lines.locate(offset) == (1, offset + 1)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "mark", "steps"),
    [
        ('{"a": {"b": [1, @NaN]}}', "@", ("a", "b", 1)),
        ('{"a": 1, @"a": 2}', "@", ("a",)),
        ('{"x": [[], {}, {"y~/": [0, {"z": @1e999}]}]}', "@", ("x", 2, "y~/", 1, "z")),
        ("@NaN", "@", ()),
        ('[{"a": [], "b": {}}, {"\\u00e9": "x@\\ud800"}]', "@", (1, "é")),
        ('{"a": {}, "b": {"c": []}, "d": @-Infinity}', "@", ("d",)),
        ('{"a":[{"k":1},{"k":1,\r\n@"k":[2]}]}', "@", ("a", 1, "k")),
    ],
)
def test_the_steps_to_an_offset_are_those_to_the_value_or_name_there(text, mark, steps):
    offset = text.index(mark)
    assert tokens_at(text.replace(mark, ""), [offset]) == {offset: steps}


def test_steps_to_many_offsets_are_found_in_one_scan_and_what_is_no_value_is_left_out():
    text = '[NaN, {"a": NaN}, NaN]'
    offsets = [1, 12, 18, 4, 21]
    assert tokens_at(text, offsets) == {1: (0,), 12: (1, "a"), 18: (2,)}
