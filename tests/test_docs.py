"""Generated pages are what the rules say."""

from __future__ import annotations

import importlib.util

from conftest import ROOT

from schemaguard.rules import RULES


def make_rules():
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_the_rules_are_not_stale():
    made = make_rules().pages()
    there = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "docs" / "rules").glob("*.md")
    }
    assert there == made, "run `make docs`"


def test_every_rule_has_a_page_with_all_its_parts():
    made = make_rules()
    for code, rule in RULES.items():
        page = made.pages()[f"{code}.md"]
        for heading in ("## Why", "## Bad", "## Good", "## Fix", "## Profiles"):
            assert heading in page
        assert rule.name in made.index()
