"""JUnit XML, read back with a parser of XML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from file_reports import (
    FUZZ,
    REPORTS,
    TINY_FIX,
    TINY_MESSAGE,
    TINY_POINTER,
    clean,
    empty,
    flooded,
    rows,
    tiny,
)
from hypothesis import given
from hypothesis import strategies as st

from schemaguard.errors import printable
from schemaguard.lint import FileReport, Finding, check_text
from schemaguard.render.junit import _xml, render
from schemaguard.report import Diagnostic
from schemaguard.rules import RULES


def parsed(files):
    return ET.fromstring(render(files))  # noqa: S314  (what this package wrote)


def shown(text):
    return printable(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def test_the_tiny_example():
    assert render(tiny()) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="schemaguard" tests="1" failures="1" errors="0">\n'
        '  <testsuite name="tools.json" tests="1" failures="1" errors="0">\n'
        f'    <testcase name="SG301 #{TINY_POINTER}" classname="tools" line="4" column="34">\n'
        f'      <failure message="{TINY_MESSAGE}" type="remote-ref">'
        f"tools.json:4:34: SG301 remote-ref  tool 'search' &gt; #{TINY_POINTER}: {TINY_MESSAGE}\n"
        f"fix: {TINY_FIX}</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_a_clean_file_is_one_passed_case():
    assert render(clean()) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="schemaguard" tests="1" failures="0" errors="0">\n'
        '  <testsuite name="clean.json" tests="1" failures="0" errors="0">\n'
        '    <testcase name="schemaguard" classname="clean"/>\n'
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_no_file_is_no_case():
    assert parsed([]).get("tests") == "0"


def test_a_finding_without_a_place_has_neither_line_nor_column():
    (case,) = parsed(empty()).iter("testcase")
    assert case.attrib == {"name": "SG108 #", "classname": "latin"}


def test_a_warning_is_a_passed_case_that_says_something():
    found = Finding(Diagnostic(RULES["SG109"], "warning", {}), "", (1, 2), None)
    root = parsed([FileReport("a/b.json", None, (), (found,))])
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    (case,) = root.iter("testcase")
    assert case.get("classname") == "a/b"
    assert [child.tag for child in case] == ["system-out"]
    assert case[0].text.startswith("warning: a/b.json:1:2: SG109 trailing-data  #: ")


def test_no_two_cases_of_a_file_have_one_name():
    text = '{"type": "object", "properties": {"a": {}, "b": {}}, "required": []}'
    names = [case.get("name") for case in parsed([check_text("x", text)]).iter("testcase")]
    assert names == ["SG401 #", "SG402 #/required", "SG402 #/required (2)"]


def test_hidden_findings_are_counted():
    (suite,) = parsed(flooded(20, 5))
    assert suite[-1].tag == "system-out"
    assert suite[-1].text == "15 more findings are not shown"


@given(st.text(st.characters()))
def test_any_string_reads_back_as_what_is_shown_of_it(text):
    escaped = _xml(text)
    assert escaped.isascii()
    element = ET.fromstring(f'<a b="{escaped}">{escaped}</a>')  # noqa: S314  (same)
    assert element.get("b") == shown(text)
    assert (element.text or "") == shown(text)


@FUZZ
@given(REPORTS)
def test_any_report_reads_back_case_by_case(files):
    root = parsed(files)
    cases = list(root.iter("testcase"))
    assert root.get("tests") == str(len(cases))
    assert root.get("failures") == str(len(list(root.iter("failure"))))
    found = [case for case in cases if case.get("name") != "schemaguard"]
    for case, (_, finding, _) in zip(found, rows(files), strict=True):
        assert case.get("name").startswith(f"{finding.code} #{shown(finding.pointer[:1_024])}")
        assert case.get("line") == (None if finding.line is None else str(finding.line))
        if finding.severity == "error":
            (failure,) = case
            assert failure.tag == "failure"
            message = shown(finding.message).replace("##", "#\\u0023")
            assert failure.get("message") == message
            assert message in failure.text
            assert failure.text.count("\n") == 1
    for suite, file in zip(root, files, strict=True):
        inside = list(suite.iter("testcase"))
        assert len(inside) >= 1
        assert len({case.get("name") for case in inside}) == len(inside)
        assert suite.get("tests") == str(len(inside))
        assert shown(file.path).endswith(suite.get("name"))
