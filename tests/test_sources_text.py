"""JSON Lines, JSON with comments, TOML and refused files: what is found, and where."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tomllib

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from schemaguard import lint, sources
from schemaguard.reader import Limits

GOOD = {"name": "ok", "inputSchema": {"type": "object", "additionalProperties": False}}
BAD = {
    "name": "bad",
    "inputSchema": {
        "type": "object",
        "properties": {"q": {"$ref": "https://x.example/"}},
        "required": ["q"],
        "additionalProperties": False,
    },
}


def starts(source: sources.Source, *pointers: str) -> list[tuple[int, int] | None]:
    spans = source.spans(pointers)
    return [span and source.line_column(span[0]) for span in map(spans.get, pointers)]


# JSON Lines


def test_a_record_is_found_by_its_number_and_its_line():
    text = "\n".join(
        [json.dumps(GOOD), "", json.dumps(BAD), '  {"tools": [' + json.dumps(BAD) + "]}"]
    )
    report = lint.check_text("x.jsonl", text)
    assert [(t.name, t.pointer, t.ok) for t in report.tools] == [
        ("ok", "/0", True),
        ("bad", "/1", False),
        ("bad", "/2/tools/0", False),
    ]
    second, third = (tool.findings[0] for tool in report.tools[1:])
    assert second.pointer == "/1/inputSchema/properties/q/$ref"
    column = json.dumps(BAD).index('"https') + 1
    assert (second.line, second.column) == (3, column)
    assert (third.line, third.column) == (4, column + len('  {"tools": ['))


def test_a_broken_record_leaves_the_others_checked():
    text = json.dumps(GOOD) + "\n{]\n" + json.dumps(BAD) + "\n"
    report = lint.check_text("x.ndjson", text)
    assert [(f.code, f.pointer, f.line, f.column) for f in report.findings] == [
        ("SG101", "/1", 2, 2)
    ]
    assert [t.ok for t in report.tools] == [True, False]


def test_a_record_that_is_no_tool_is_not_passed_over():
    report = lint.check_text("x.jsonl", json.dumps(GOOD) + '\n{"note": 1}\n')
    assert not report.ok
    assert [(f.code, f.pointer, f.line) for f in report.findings] == [("SG116", "/1", 2)]


def test_records_of_several_kinds_make_a_mixed_file():
    other = {"name": "a", "input_schema": {"type": "object", "additionalProperties": False}}
    assert lint.check_text("x.jsonl", f"{json.dumps(GOOD)}\n{json.dumps(other)}").kind == "mixed"


@pytest.mark.parametrize("text", ["", "\n \n\t\r\n"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.yaml"])
def test_an_empty_file_is_no_success(name, text):
    if name == "x.yaml":
        pytest.importorskip("yaml")
        text = text.replace("\t", "")
    report = lint.check_text(name, text)
    assert [f.code for f in report.findings] == ["SG116"]


def test_the_limit_on_values_holds_for_the_file():
    lines = '[1, 2]\n{"a": 3}\n'  # 5 values
    assert sources.read("x.jsonl", lines, Limits(max_nodes=5)).readable
    tight = sources.read("x.jsonl", lines, Limits(max_nodes=4))
    assert [f.name for f in tight.faults] == ["too-many-nodes"]


def test_a_million_broken_records_end_soon_with_bounded_findings():
    start = time.process_time()
    report = lint.check_text("x.jsonl", "{\n" * 1_000_000)
    assert 1 <= len(report.findings) <= lint.MAX_ABOUT
    scalars = lint.check_text("x.jsonl", "1\n" * 500_000)
    assert 1 <= len(scalars.findings) <= lint.MAX_ABOUT + 1
    assert not scalars.ok
    assert time.process_time() - start < 20


# JSON with comments


JSONC = """\
// a tool
{
  /* the "name" // */ "name": "t", // {
  "inputSchema": {"type": "object", "title": "// no /* comment", "$ref": "https://x.example/",},
}
"""


def test_comments_and_last_commas_are_read_over_without_moving_anything():
    report = lint.check_text("x.jsonc", JSONC)
    (tool,) = report.tools
    assert tool.name == "t"
    (found,) = [f for f in tool.findings if f.code == "SG301"]
    assert (found.line, found.column) == (4, JSONC.splitlines()[3].index('"https') + 1)
    assert report.document.text == JSONC


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[1,,]", 1, 4),
        ("[,]", 1, 2),
        ('{"a":,}', 1, 6),
        ("{,}", 1, 2),
        ("[1] /* no end", 1, 5),
        ("[1, /* no end", 1, 5),
        ("/", 1, 1),
        ("[1 // ]\n", 2, 1),
        ('["a\n//"]', 1, 4),
        ("# no\n[]", 1, 1),
    ],
)
def test_what_is_neither_json_nor_comment_stays_an_error(text, line, column):
    source = sources.read("x.jsonc", text)
    assert not source.readable
    assert source.line_column(source.faults[0].offset) == (line, column)


def test_comments_are_for_jsonc_alone():
    assert not sources.read("x.json", "[1] // one").readable


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        st.integers() | st.text(max_size=6),
        lambda s: st.lists(s, max_size=3) | st.dictionaries(st.text(max_size=4), s, max_size=3),
        max_leaves=9,
    ),
    st.data(),
)
def test_jsonc_is_json_with_things_between(value, data):
    text = json.dumps(value, indent=1)
    lines = text.split("\n")
    fill = st.sampled_from(["", " // x \"'{,", " /* y ] */", " /**/ // z", "\t//"])
    noisy = "\n".join(line + data.draw(fill) for line in lines)
    source = sources.read("x.jsonc", noisy)
    assert source.readable
    assert source.parts[0].value == value


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 500_000,
        '"' * 500_000,
        '"\\' * 500_000,
        "/" * 500_000,
        "," * 500_000,
        "[" + " ,\n" * 300_000,
        "//\n" * 300_000,
    ],
)
def test_hostile_comments_take_linear_time(text):
    start = time.process_time()
    assert not sources.read("x.jsonc", text).readable
    assert time.process_time() - start < 3


# JSON5


def test_json5_is_refused_with_a_hint():
    report = lint.check_text("x.json5", json.dumps(GOOD))
    (found,) = report.findings
    assert found.code == "SG116"
    assert ".jsonc" in found.message
    assert not report.ok


# TOML

TOML = '''\
# tools
title = "shop"   # a "comment
[[tools]]
name = "search"
text = """
[not.a.table]
"quoted" """
[tools.inputSchema]
type = "object"
required = ["q",
  "x"]
additionalProperties = true
"properties".q.type = 'string'
properties."a.b" = { type = "object" , additionalProperties = true } # inline
[[tools]]
name = "ping"
inputSchema = {type = "object", additionalProperties = false}
'''


def test_findings_in_toml_stand_at_the_value_or_at_what_it_is_in():
    report = lint.check_text("x.toml", TOML)
    assert [(t.name, t.ok) for t in report.tools] == [("search", False), ("ping", True)]
    source = report.document
    assert starts(
        source,
        "/tools",
        "/tools/0/inputSchema",
        "/tools/0/inputSchema/additionalProperties",
        "/tools/0/inputSchema/properties/q/type",
        "/tools/0/inputSchema/properties/a.b/additionalProperties",
        "/tools/0/inputSchema/required/1",
        "/tools/1/inputSchema/type",
        "/tools/1",
    ) == [(3, 1), (8, 1), (12, 24), (13, 23), (14, 20), (10, 12), (17, 15), (15, 1)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a = ", "invalid-json"),
        ("a = 1\na = 2", "invalid-json"),
        ("a = " + "[" * 100_000, "text-too-deep"),
        ("a." * 300 + "b = 1", "text-too-deep"),
        ("a." * 500_000 + "b = 1", "text-too-deep"),
        ("a = nan", "non-finite-number"),
        ("a = " + "1" * 5_000, "invalid-json"),
        ("a = 0x" + "f" * 5_000, "overlong-integer"),
        ("a = 2024-99-99", "invalid-json"),
        ("a = \x00", "invalid-json"),
        ("#" * (1 << 21), "too-many-bytes"),
        (b"a = '\xff'", "not-utf-8"),
    ],
)
def test_bad_toml_is_a_fault(text, name):
    source = sources.read("x.toml", text)
    assert [f.name for f in source.faults] == [name]
    assert not lint.check_text("x.toml", text).ok


def test_a_syntax_error_in_toml_has_its_place():
    source = sources.read("x.toml", "a = 1\nb = = 2\n")
    assert source.line_column(source.faults[0].offset) == (2, 5)


def test_a_date_in_a_schema_is_a_finding_and_elsewhere_none():
    text = "made = 2024-01-01\nname = 't'\n[inputSchema]\ntype = 'object'\nadditionalProperties = false\ndefault = 2024-01-01\n"
    report = lint.check_text("x.toml", text)
    assert "SG115" in {f.code for f in report.tools[0].findings}
    assert {f.line for f in report.tools[0].findings if f.code == "SG115"} == {6}
    assert lint.check_text("x.toml", text.replace("default = 2024-01-01\n", "")).ok


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from("ab.=[]{}\"'#, \n1-\\"), max_size=40))
def test_toml_is_accepted_exactly_when_the_standard_library_does(text):
    source = sources.read("x.toml", text)
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert not source.readable
        return
    assert source.readable
    found = source.spans([f"/{key.replace('~', '~0').replace('/', '~1')}" for key in value])
    assert all(span is not None for span in found.values())
    # A key stands on the line of its place.
    for key, (start, _) in zip(value, found.values(), strict=True):
        head = text[: text.find("\n", start) if "\n" in text[start:] else len(text)]
        assert key in head


# All of them


@pytest.mark.parametrize(
    "name", ["x.json", "x.jsonl", "x.jsonc", "x.yaml", "x.toml", "x", "x.JSON"]
)
@pytest.mark.parametrize(
    "content",
    [
        b"\x00\x01\x02\xff\xfe",
        b"\xff\xfe{\x00}\x00",
        b"\x89PNG\r\n\x1a\n",
        b"\xef\xbb\xbf",
        b"[" * 90_000,
        b" " * (17 << 20),
    ],
)
def test_binary_files_and_floods_are_findings(name, content):
    if name == "x.yaml":
        pytest.importorskip("yaml")
    report = lint.check_text(name, content)
    assert not report.ok
    assert report.findings


ENDINGS = ["x.json", "x.jsonl", "x.jsonc", "x.yaml", "x.toml"]
PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"',
        "\n",
        " ",
        "a",
        "1",
        "- ",
        "name",
        "inputSchema",
        "type",
        "=",
        "#",
        "//",
        "/*",
        "*/",
        "&a",
        "*a",
        "<<: ",
        "é",
        "\0",
        "\ud800",
        '"""',
        "'",
        "\\",
        "...\n",
        "---\n",
    ]
)


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(ENDINGS), st.binary(max_size=40) | st.lists(PIECES, max_size=25).map("".join)
)
def test_no_content_raises_and_none_that_is_unreadable_passes(name, content):
    if name == "x.yaml":
        pytest.importorskip("yaml")
    report = lint.check_text(name, content)
    assert report.findings or report.tools
    assert report.ok <= report.document.readable
    for found in report.findings:
        assert (found.line is None) == (found.column is None)


def test_reading_can_be_forced():
    value = {"name": "t", "parameters": {"type": "object"}}
    report = lint.check_text("x.json", json.dumps(value), as_="mcp")
    assert report.kind == "mcp"
    assert not report.ok
    with pytest.raises(ValueError, match="as_"):
        lint.check_text("x.json", "{}", as_="word")


def test_checking_json_loads_nothing_that_only_others_need():
    program = (
        "import sys\nfrom schemaguard import lint\n"
        "lint.check_text('x.json', '{\"type\": \"object\"}')\n"
        "lint.check_text('x.jsonl', '{\"type\": \"object\"}')\n"
        "print(*sorted(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "schemaguard.sources" in loaded
    assert not loaded & {"yaml", "mcp", "asyncio", "subprocess", "pydantic", "inspect"}
    assert "schemaguard.sources.tomltext" not in loaded


FLOODS = {
    "same keys": ("x.yaml", "a: 1\n" * 200_000),
    "documents": ("x.yaml", "--- 1\n" * 200_000),
    "flow": ("x.yaml", "[" * 200 + "1," * 200_000 + "1" + "]" * 200),
    "comments": ("x.yaml", "#\n" * 2_000_000),
    "tables": ("x.toml", "".join(f"[a{i}]\n" for i in range(50_000))),
    "inline tables": ("x.toml", "a=[" + "{b=1}," * 70_000 + "]"),
    "deep tables": ("x.toml", "".join(f"[{'a.' * 250}b{i}]\n" for i in range(1_000))),
    "requests": ("x.jsonl", '{"messages": [], "model": "x"}\n' * 50_000),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_floods_end_in_seconds(kind):
    name, text = FLOODS[kind]
    if name == "x.yaml":
        pytest.importorskip("yaml")
    start = time.process_time()
    report = lint.check_text(name, text)
    assert not report.ok
    assert time.process_time() - start < 10


def test_a_python_file_is_refused_with_the_way_to_name_an_object():
    report = lint.check_text("tools.py", "TOOLS = []")
    assert [f.code for f in report.findings] == ["SG116"]
    assert "FILE.py:NAME" in report.findings[0].message
