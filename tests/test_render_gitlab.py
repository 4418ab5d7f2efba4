"""GitLab's Code Quality report."""

from __future__ import annotations

import json
from hashlib import sha256

import orjson
import pytest
from file_reports import FUZZ, REPORTS, TINY, TINY_MESSAGE, TINY_POINTER, clean, empty, rows, tiny
from hypothesis import given

from schemaguard.lint import FileReport, Finding, check_text
from schemaguard.render.gitlab import render
from schemaguard.report import Diagnostic
from schemaguard.rules import RULES

SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def test_the_tiny_example():
    assert json.loads(render(tiny())) == [
        {
            "description": f"SG301 remote-ref  tool 'search' > #{TINY_POINTER}: {TINY_MESSAGE}",
            "check_name": "SG301",
            "fingerprint": sha256(f"tools.json\0SG301\0{TINY_POINTER}".encode()).hexdigest(),
            "severity": "major",
            "location": {"path": "tools.json", "lines": {"begin": 4}},
        }
    ]


def test_a_clean_run_is_an_empty_list():
    assert render(clean()) == "[]\n"
    assert render([]) == "[]\n"


def test_a_finding_without_a_place_is_on_the_first_line():
    (issue,) = json.loads(render(empty()))
    assert issue["location"] == {"path": "latin.json", "lines": {"begin": 1}}


@pytest.mark.parametrize(
    ("severity", "word"), [("error", "major"), ("warning", "minor"), ("note", "info")]
)
def test_each_severity_has_its_word(severity, word):
    found = Finding(Diagnostic(RULES["SG109"], severity, {}), "", None, None)
    (issue,) = json.loads(render([FileReport("./a.json", None, (), (found,))]))
    assert issue["severity"] == word
    assert issue["location"]["path"] == "a.json"


def test_a_fingerprint_does_not_change_when_lines_move():
    def fingerprints(text):
        return [issue["fingerprint"] for issue in json.loads(render([check_text("a", text)]))]

    assert fingerprints("\n\n" + TINY) == fingerprints(TINY)


def test_findings_with_the_same_code_and_pointer_have_fingerprints_of_their_own():
    text = '{"type": "object", "properties": {"a": {}, "b": {}}, "required": []}'
    issues = json.loads(render([check_text("x", text), check_text("x", text)]))
    assert [issue["check_name"] for issue in issues] == ["SG401", "SG402", "SG402"] * 2
    assert len({issue["fingerprint"] for issue in issues}) == 6


def test_pointers_that_differ_after_the_cut_have_fingerprints_of_their_own():
    found = [
        Finding(Diagnostic(RULES["SG109"], "error", {}), "/" + "n" * 5_000 + end, None, None)
        for end in "ab"
    ]
    issues = json.loads(render([FileReport("a", None, (), tuple(found))]))
    assert issues[0]["description"] == issues[1]["description"]
    assert issues[0]["fingerprint"] != issues[1]["fingerprint"]


@FUZZ
@given(REPORTS)
def test_a_strict_reader_gets_one_whole_issue_a_finding(files):
    text = render(files)
    assert text.isascii()
    issues = orjson.loads(text)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    for issue, (file, finding, _) in zip(issues, rows(files), strict=True):
        assert issue["description"].startswith(f"{finding.code} {finding.name}  ")
        assert issue["description"].isprintable() or not issue["description"].isascii()
        assert issue["severity"] in SEVERITIES
        assert issue["location"]["lines"]["begin"] == (finding.line or 1)
        path = file.path.encode("utf-8", "replace").decode()
        assert path.endswith(issue["location"]["path"])
