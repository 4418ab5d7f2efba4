"""`schemaguard check --compile`: the engine's own word on what was accepted."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from schemaguard.grammar.compiler import ENGINE_PROFILE
from schemaguard.rules import RULES

pytest.importorskip("xgrammar")


def check(folder, schema, *options):
    (folder / "s.json").write_text(
        schema if isinstance(schema, str) else json.dumps(schema), encoding="utf-8"
    )
    command = (sys.executable, "-m", "schemaguard", "check", "--output-format", "json")
    done = subprocess.run(
        [*command, *options, "s.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    (file,) = json.loads(done.stdout)["files"]
    found = [(d["code"], d["pointer"]) for d in file["tools"][0]["diagnostics"]]
    assert done.returncode == (1 if found else 0)
    return found


def closed(schema):
    return {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_what_the_engine_compiles_has_no_finding(tmp_path):
    assert check(tmp_path, closed({"type": "string"}), "--compile") == []


def test_what_the_engine_refuses_is_a_finding_at_its_place(tmp_path):
    tuple_of_old = closed({"type": "array", "items": [{"type": "string"}]})
    assert check(tmp_path, tuple_of_old) == []
    assert check(tmp_path, tuple_of_old, "--compile") == [("SG808", "/properties/a")]


def test_what_is_kept_from_the_engine_is_found_by_its_own_rule(tmp_path):
    found = check(tmp_path, closed({"type": "string", "pattern": "^.{1,129}$"}), "--compile")
    assert ("SG804", "/properties/a/pattern") in found


def test_the_examples_of_the_rule_hold(tmp_path):
    rule = RULES["SG808"]
    # A newer profile of xgrammar knows that it is refused without asking.
    bad = check(tmp_path, rule.bad, "--compile", "--profile", ENGINE_PROFILE)
    assert [code for code, _ in bad] == ["SG808"]
    assert check(tmp_path, rule.good, "--compile", "--profile", ENGINE_PROFILE) == []
