"""Workflow commands, read back as GitHub's runner reads them."""

from __future__ import annotations

import pytest
from file_reports import (
    FUZZ,
    REPORTS,
    TINY_FIX,
    TINY_MESSAGE,
    TINY_POINTER,
    clean,
    flooded,
    rows,
    tiny,
)
from hypothesis import given
from hypothesis import strategies as st

from schemaguard.errors import cut
from schemaguard.lint import FileReport, Finding
from schemaguard.render.common import safe
from schemaguard.render.github import _data, _property, render
from schemaguard.report import Diagnostic
from schemaguard.rules import RULES

DATA = [("%0D", "\r"), ("%0A", "\n"), ("%25", "%")]
PROPERTY = [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")]


def unescape(text, pairs):
    for escaped, char in pairs:
        text = text.replace(escaped, char)
    return text


def read(line):
    """A line as actions/runner takes it apart: (command, properties, data)."""
    line = line.lstrip()
    assert line.startswith("::")
    end = line.index("::", 2)
    name, _, listed = line[2:end].partition(" ")
    properties = {}
    for part in listed.strip().split(","):
        key, _, value = part.partition("=")
        assert key not in properties
        properties[key] = unescape(value, PROPERTY)
    return name, properties, unescape(line[end + 2 :], DATA)


def one(severity="error", start=(3, 5), end=(3, 9), path="a.json"):
    finding = Finding(Diagnostic(RULES["SG109"], severity, {}), "", start, end)
    (line,) = render([FileReport(path, None, (), (finding,))]).splitlines()
    return read(line)


def test_the_tiny_example():
    assert render(tiny()) == (
        "::error title=schemaguard (SG301),file=tools.json,line=4,endLine=4,col=34,endColumn=62"
        f"::remote-ref  tool 'search' > #{TINY_POINTER}: {TINY_MESSAGE}%0A{TINY_FIX}\n"
    )


def test_nothing_is_said_of_clean_files():
    assert render(clean()) == ""


@pytest.mark.parametrize(
    ("severity", "command"), [("error", "error"), ("warning", "warning"), ("note", "notice")]
)
def test_each_severity_has_its_command(severity, command):
    assert one(severity)[0] == command


def test_columns_are_dropped_when_the_value_covers_lines():
    properties = one(end=(4, 2))[1]
    assert properties == {
        "title": "schemaguard (SG109)",
        "file": "a.json",
        "line": "3",
        "endLine": "4",
    }


def test_without_a_place_there_is_a_file_alone_and_without_an_end_a_line():
    assert one(start=None, end=None)[1] == {"title": "schemaguard (SG109)", "file": "a.json"}
    assert one(end=None)[1] == {
        "title": "schemaguard (SG109)",
        "file": "a.json",
        "line": "3",
        "endLine": "3",
        "col": "5",
    }


@pytest.mark.parametrize("path", ["a,b.json", "a::b.json", "50%.json", "a%2Cb.json", "a=b.json"])
def test_a_path_reads_back_as_it_is(path):
    assert one(path=path)[1]["file"] == path


def test_hidden_findings_are_counted_in_a_notice():
    command, properties, data = read(render(flooded(20, 5)).splitlines()[-1])
    assert (command, properties["file"]) == ("notice", "many.json")
    assert data == "15 more findings are not shown"


@given(st.text())
def test_escapes_read_back(text):
    assert unescape(_data(text), DATA) == text
    assert unescape(_property(text), PROPERTY) == text
    assert not set(_property(text)) & set("\r\n:,")


@FUZZ
@given(REPORTS)
def test_each_line_reads_back_as_one_command(files):
    lines = render(files).split("\n")
    assert lines.pop() == ""
    commands = [read(line) for line in lines]
    found = [c for c in commands if not c[2].endswith("not shown") or "(SG" in c[1]["title"]]
    assert [c for c in commands if "\r" in c[2]] == []
    for (command, properties, data), (file, finding, tool) in zip(found, rows(files), strict=True):
        assert (
            command == {"error": "error", "warning": "warning", "note": "notice"}[finding.severity]
        )
        path = file.path
        while path.startswith("./"):
            path = path[2:].lstrip("/")
        assert properties["file"].strip() == safe(path).strip()
        assert properties.get("line") == (None if finding.line is None else str(finding.line))
        assert properties["title"] == f"schemaguard ({finding.code})"
        named = "" if tool is None else f"tool '{cut(tool, 200)}' > "
        place = safe(f"{named}#{cut(finding.pointer, 200)}")
        first, second = data.split("\n")
        assert first == f"{finding.name}  {place}: {safe(finding.message)}"
        assert second == safe(finding.fix)
