"""Which rules speak where."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_rules import example

from schemaguard import check
from schemaguard.config import ConfigError
from schemaguard.lint import check_text
from schemaguard.profiles import load
from schemaguard.rules import READING, RULES
from schemaguard.select import Ignores, Layer, adjusted, glob

DYNAMO = load("dynamo")
SHIPPED = frozenset(DYNAMO.severities)


def on(*layers, severity=()):
    return frozenset(adjusted(DYNAMO, layers, dict(severity)).severities)


def of(start):
    return {code for code in SHIPPED if code.startswith(start)}


def test_nothing_chosen_is_the_profile_itself():
    assert adjusted(DYNAMO, [Layer("x"), Layer("y")], {}) is DYNAMO


def test_select_narrows_and_the_longer_selector_wins():
    assert on(Layer("x", ["SG4"])) == of("SG4")
    assert on(Layer("x", ["SG4"], ["SG402"])) == of("SG4") - {"SG402"}
    assert on(Layer("x", ["SG402"], ["SG4"])) == {"SG402"}
    assert on(Layer("x", ["ALL"], ["SG4"])) == SHIPPED - of("SG4")
    assert on(Layer("x", ["sg4"], ["optional-property"])) == of("SG4") - {"SG402"}


def test_at_the_same_length_ignoring_wins():
    assert on(Layer("x", ["SG3", "SG4"], ["SG4"])) == of("SG3")


def test_the_later_layer_wins():
    assert on(Layer("low", None, ["SG402"]), Layer("high", ["SG402"])) == {"SG402"}
    assert on(Layer("low", ["SG402"]), Layer("high", None, ["SG402"], ["SG301"])) == {"SG301"}
    assert on(Layer("low", ["SG4"]), Layer("high", ["SG3"])) == of("SG3")


def test_extending_adds_to_the_profile():
    severities = adjusted(load("xgrammar"), [Layer("x", None, (), ["SG401"])], {}).severities
    assert severities["SG401"] == "error"
    assert severities.keys() == {*load("xgrammar").severities, "SG401"}


def test_severities_change_and_switch_off():
    profile = adjusted(DYNAMO, [], {"SG401": "warning", "optional-property": "off", "SG5": "note"})
    assert profile.severities["SG401"] == "warning"
    assert "SG402" not in profile.severities
    assert {profile.severities[code] for code in of("SG5")} == {"note"}
    assert check({"type": "object"}, profile).ok


@pytest.mark.parametrize(
    ("layer", "what"),
    [
        (lambda: Layer("x", ["SG9"]), 'x: no rule "SG9"'),
        (lambda: Layer("x", [""]), "no rule"),
        (lambda: Layer("x", ["S"]), "no rule"),
        (lambda: Layer("x", None, ["remote-refs"]), 'did you mean "remote-ref"'),
        (lambda: Layer("x", None, ["SG101"]), "cannot be switched off"),
        (lambda: Layer("x", None, ["nothing-to-check"]), "cannot be switched off"),
        (lambda: Layer("x", ["SG8"]), "no rule of profile dynamo-2026-11-30 is left"),
        (lambda: Layer("x", ["SG801"]), "needs the budget 'nesting'"),
        (lambda: Layer("x", None, ["ALL"]), "no rule of profile"),
    ],
)
def test_what_makes_no_sense_is_refused(layer, what):
    with pytest.raises(ConfigError) as caught:
        adjusted(DYNAMO, [layer()], {})
    assert what in str(caught.value)


def test_reading_rules_cannot_be_turned_down():
    with pytest.raises(ConfigError, match="cannot be switched off"):
        adjusted(DYNAMO, [], {"invalid-json": "note"})


@pytest.mark.parametrize("code", sorted(SHIPPED))
def test_a_rule_that_is_switched_off_says_nothing(code):
    profile = adjusted(DYNAMO, [Layer("x", None, [code])], {})
    assert code in {d.code for d in check(example(RULES[code].bad), DYNAMO).diagnostics}
    assert code not in {d.code for d in check(example(RULES[code].bad), profile).diagnostics}


@pytest.mark.parametrize("code", sorted(SHIPPED))
def test_a_rule_that_is_turned_down_does_not_reject(code):
    profile = adjusted(DYNAMO, [Layer("x", [code])], {code: "warning"})
    report = check(example(RULES[code].bad), profile)
    assert report.ok
    assert {(d.code, d.severity) for d in report.diagnostics} == {(code, "warning")}


# ---------------------------------------------------------------------------------------------- globs

GLOBS = [
    ("a.json", "a.json", True),
    ("a.json", "x/y/a.json", True),
    ("a.json", "x/ba.json", False),
    ("*.json", "x/a.json", True),
    ("x/*.json", "x/a.json", True),
    ("x/*.json", "x/y/a.json", False),
    ("x/*.json", "y/x/a.json", False),
    ("/a.json", "a.json", True),
    ("/a.json", "x/a.json", False),
    ("./a.json", "a.json", True),
    ("x/**/a.json", "x/a.json", True),
    ("x/**/y/**/a.json", "x/y/a.json", True),
    ("x/**/y/**/a.json", "x/b/y/y/c/a.json", True),
    ("x/**/y/z/**/a.json", "x/y/y/z/a.json", True),
    ("x/**/y/**/a.json", "x/b/z/a.json", False),
    ("**/**/a.json", "x/a.json", True),
    ("x**y", "xay", True),
    ("x**y", "xa/y", False),
    ("x/**/a.json", "x/y/z/a.json", True),
    ("x/**", "x/y/z", True),
    ("x", "x/y/z.json", True),
    ("x/", "x/y/z.json", True),
    ("x/", "y/x/z.json", True),
    ("**/x/*.json", "y/x/z.json", True),
    ("?.json", "a.json", True),
    ("?.json", "ab.json", False),
    ("x?a.json", "x/a.json", False),
    ("[ab].json", "b.json", True),
    ("[!ab].json", "b.json", False),
    ("[!ab].json", "c.json", True),
    ("[^a].json", "^.json", True),
    ("a*b*c", "aXbYbZc", True),
    ("a*b*c", "aXbYbZcd", False),
    ("a.b", "axb", False),
    ("a\n.json", "a\n.json", True),
    ("[.json", "[.json", True),
    ("[z-a].json", "[z-a].json", True),
    ("[&&~~||].json", "&.json", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), GLOBS)
def test_globs_are_those_of_gitignore(pattern, path, expected):
    assert bool(glob(pattern).match(path)) is expected


def test_a_glob_full_of_stars_takes_no_time():
    began = time.process_time()
    assert not glob("*a" * 30 + "*b").match("a" * 5_000)
    assert not glob("**/a/" * 30 + "**/b").match("a/" * 2_500)
    assert time.process_time() - began < 1


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_text_is_a_glob(pattern, path):
    glob(pattern).match(path)


# -------------------------------------------------------------------------------------------- ignores

TOOLS = """{"tools": [
  {"name": "a", "inputSchema": {"type": "object", "properties": {"q": {"not": {}}}}},
  {"name": "b", "inputSchema": {"type": "object"}}
]}"""


def ignoring(table, path="t/x.json", text=TOOLS):
    ignores = Ignores(table, ".", "here")
    report = ignores.apply(check_text(path, text))
    left = [f.code for f in report.findings]
    left += [f"{tool.name} {f.code}" for tool in report.tools for f in tool.findings]
    return sorted(left), report, ignores


def test_without_a_matching_glob_the_report_is_the_same():
    left, report, ignores = ignoring({"u/*.json": ["ALL"]})
    assert left == ["a SG201", "a SG401", "a SG402", "b SG401"]
    assert not report.ok
    assert ignores.unused() == []


def test_a_file_is_ignored_by_code_start_or_name():
    left, report, _ = ignoring({"x.json": ["SG4", "unsupported-keyword"]})
    assert left == []
    assert report.ok
    assert [tool.report.total for tool in report.tools] == [0, 0]


def test_a_pointer_is_ignored_with_what_is_below_it_and_nothing_beside_it():
    left, report, _ = ignoring({"x.json#/tools/0/inputSchema": ["SG401", "SG201"]})
    assert left == ["a SG402", "b SG401"]
    assert [tool.ok for tool in report.tools] == [False, False]
    assert ignoring({"x.json#/tools/1": ["SG401"]})[0] == ["a SG201", "a SG401", "a SG402"]
    assert len(ignoring({"x.json#/tool": ["ALL"]})[0]) == 4


def test_an_ignore_that_ignores_nothing_is_reported_when_its_file_was_checked():
    _, _, ignores = ignoring({"x.json": ["SG401", "SG5"], "y.json": ["SG401"]})
    assert ignores.unused() == [("x.json", "SG5")]


def test_what_could_not_be_understood_cannot_be_ignored():
    assert ignoring({"x.json": ["ALL"]}, text="{")[0] == ["SG101"]
    assert ignoring({"x.json": ["SG1"]}, text="{}x")[0] == ["SG109"]
    with pytest.raises(ConfigError, match="cannot be switched off"):
        Ignores({"x.json": ["SG116"]}, ".", "here")
    with pytest.raises(ConfigError, match="starts with"):
        Ignores({"x.json#tools": ["SG401"]}, ".", "here")


def test_a_duplicate_key_can_be_ignored():
    text = '{"type": "object", "type": "object", "additionalProperties": false}'
    left, report, _ = ignoring({"x.json": ["SG102"]}, text=text)
    assert left == []
    assert report.ok


def test_every_reading_rule_is_an_error_everywhere():
    assert all(code not in DYNAMO.severities for code, r in RULES.items() if r.on[0] == READING)
