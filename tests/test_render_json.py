"""The JSON format: version 1, to which keys are only added."""

from __future__ import annotations

import json
from importlib.metadata import version

import orjson
from file_reports import (
    FUZZ,
    REPORTS,
    TINY_FIX,
    TINY_MESSAGE,
    TINY_POINTER,
    clean,
    empty,
    huge,
    tiny,
)
from hypothesis import given

from schemaguard.lint import check_text
from schemaguard.render.json import render


def whole(text):
    """A string as a strict reader of JSON can have it."""
    return text.encode("utf-8", "replace").decode()


def cut(text):
    return whole(text if len(text) <= 1_024 else text[:1_024] + "...")


def test_the_tiny_example():
    assert json.loads(render(tiny())) == {
        "version": 1,
        "tool": {"name": "schemaguard", "version": version("schemaguard-preflight")},
        "profile": "dynamo-2026-11-30",
        "files": [
            {
                "path": "tools.json",
                "kind": "mcp",
                "ok": False,
                "complete": True,
                "total": 0,
                "tools": [
                    {
                        "name": "search",
                        "pointer": "/tools/0",
                        "ok": False,
                        "total": 1,
                        "complete": True,
                        "profile": "dynamo-2026-11-30",
                        "diagnostics": [
                            {
                                "code": "SG301",
                                "name": "remote-ref",
                                "severity": "error",
                                "pointer": TINY_POINTER,
                                "message": TINY_MESSAGE,
                                "fix": TINY_FIX,
                                "grounds": {
                                    "basis": "documented",
                                    "source": "NVIDIA Dynamo, Structural Tag documentation (dev), "
                                    "Request Validation; ai-dynamo/dynamo#15153",
                                    "date": "2026-11-30",
                                },
                                "line": 4,
                                "column": 34,
                                "end_line": 4,
                                "end_column": 62,
                            }
                        ],
                    }
                ],
                "diagnostics": [],
            }
        ],
    }


def test_version_1_keeps_its_keys():
    value = json.loads(render([*tiny(), *empty()]))
    assert {"version", "files"} <= value.keys()
    first, second = value["files"]
    assert {"path", "tools", "diagnostics"} <= first.keys()
    assert {"name", "pointer", "ok", "diagnostics"} <= first["tools"][0].keys()
    finding = {"code", "name", "severity", "pointer", "message", "line", "column"}
    assert finding <= first["tools"][0]["diagnostics"][0].keys()
    assert finding <= second["diagnostics"][0].keys()


def test_what_was_not_read_is_not_complete_and_has_no_place():
    value = json.loads(render(empty()))
    (file,) = value["files"]
    assert (file["ok"], file["complete"], file["total"], file["tools"]) == (False, False, 1, [])
    assert file["diagnostics"][0]["line"] is None
    assert file["diagnostics"][0]["end_column"] is None
    assert value["profile"] is None


def test_a_clean_file_is_a_file_without_diagnostics():
    (file,) = json.loads(render(clean()))["files"]
    assert file["ok"]
    assert file["complete"]
    assert [tool["diagnostics"] for tool in file["tools"]] == [[]]


def test_diagnostics_of_a_tool_are_in_the_profiles_order():
    text = '{"properties": {"a": {"not": {}}}, "required": ["a"], "type": "object"}'
    (file,) = json.loads(render([check_text("x", text)]))["files"]
    (tool,) = file["tools"]
    assert [d["code"] for d in tool["diagnostics"]] == ["SG401", "SG201"]
    assert [d["column"] for d in tool["diagnostics"]] == [1, 30]


@FUZZ
@given(REPORTS)
def test_a_strict_reader_gets_back_what_went_in(files):
    text = render(files)
    assert text.isascii()
    value = orjson.loads(text)
    assert value == json.loads(text)
    assert len(value["files"]) == len(files)
    for shown, file in zip(value["files"], files, strict=True):
        assert shown["path"] == whole(file.path)
        assert shown["ok"] is file.ok
        pairs = [(shown["diagnostics"], file.findings)]
        for tool, checked in zip(shown["tools"], file.tools, strict=True):
            assert tool["name"] == (None if checked.name is None else cut(checked.name))
            assert tool["total"] == checked.report.total
            pairs.append((tool["diagnostics"], checked.findings))
        for found, findings in pairs:
            assert [
                (d["code"], d["pointer"], d["message"], d["line"], d["end_column"]) for d in found
            ] == [(f.code, cut(f.pointer), cut(f.message), f.line, f.end_column) for f in findings]


def test_a_cut_pointer_says_so():
    text = json.dumps({"type": "object", "properties": {"n" * 2_000: {"type": "object"}}})
    (file,) = json.loads(render([check_text("x.json", text)]))["files"]
    pointers = [d["pointer"] for d in file["tools"][0]["diagnostics"]]
    assert max(map(len, pointers)) == 1_024 + len("...")
    assert sum(pointer.endswith("nnn...") for pointer in pointers) == 1


def test_a_pointer_of_a_megabyte_gives_way_to_the_place_above_it():
    pointers = [
        d["pointer"] for d in json.loads(render(huge()))["files"][0]["tools"][0]["diagnostics"]
    ]
    assert pointers
    assert all("nnn" not in pointer for pointer in pointers)
