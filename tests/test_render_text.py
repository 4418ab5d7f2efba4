"""The text format: one line a finding whatever it quotes, excerpts, budgets."""

from __future__ import annotations

import json
import re
import time
import unicodedata

import pytest
from file_reports import (
    FUZZ,
    REPORTS,
    TINY,
    TINY_FIX,
    TINY_MESSAGE,
    clean,
    empty,
    flooded,
    rows,
    tiny,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from schemaguard.lint import CheckedTool, FileReport, Finding, check_text
from schemaguard.render.common import safe, safe_path
from schemaguard.render.source import Source
from schemaguard.render.text import render, summary
from schemaguard.report import BudgetUse, Contributor, Diagnostic
from schemaguard.rules import RULES

ANSI = re.compile(r"\x1b\[[0-9;]*m")
TINY_LINE = (
    "tools.json:4:34: SG301 remote-ref  tool 'search' > "
    f"#/tools/0/inputSchema/properties/q/$ref: {TINY_MESSAGE}\n"
)


def moves_the_cursor_or_turns_text_round(char):
    return (
        unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(char)
        in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        or char in "\u061c\u200e\u200f"
    )


def at(line, column, end=None, end_line=None):
    """A finding with a place alone."""
    stop = None if end is None else (end_line or line, end)
    return Finding(
        Diagnostic(RULES["SG201"], "error", {"keyword": "not"}), "", (line, column), stop
    )


def columns(text):
    """Columns of a terminal that a text takes."""
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me")
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


# -------------------------------------------------------------------------------------------- lines


def test_a_finding_is_one_line_that_an_editor_can_jump_to():
    assert render(tiny()) == TINY_LINE


def test_nothing_is_said_of_clean_files():
    assert render(clean()) == ""
    assert render([]) == ""


def test_a_finding_without_a_place_names_the_file_alone():
    assert render(empty()).startswith("latin.json: SG108 not-utf-8  #: not UTF-8: byte 0xE9")


def test_a_severity_that_does_not_fail_is_named():
    found = Finding(Diagnostic(RULES["SG201"], "warning", {"keyword": "not"}), "/not", (2, 3), None)
    assert render([FileReport("a.json", "schema", (), (found,))]) == (
        "a.json:2:3: SG201 unsupported-keyword (warning)  #/not: "
        "keyword is not supported in strict schemas\n"
    )


def test_findings_come_by_position_and_those_of_one_place_in_the_profiles_order():
    text = '{"type": "object",\n "properties": {"a": {"not": {}}, "b": {}},\n "required": ["c"]}'
    shown = [line.split(" ")[:2] for line in render([check_text("x", text)]).splitlines()]
    assert shown == [
        ["x:1:1:", "SG401"],
        ["x:2:30:", "SG201"],
        ["x:3:14:", "SG402"],
        ["x:3:14:", "SG402"],
        ["x:3:14:", "SG403"],
    ]


def test_hidden_findings_are_counted():
    lines = render(flooded(1_300, 3)).splitlines()
    assert len(lines) == 4
    assert lines[3] == "many.json: 1,297 more findings are not shown"
    assert render(flooded(4, 3)).endswith("many.json: 1 more finding is not shown\n")


def test_hidden_faults_of_the_text_itself_are_counted():
    title = '"title": "a"'
    repeated = ", ".join([title] * 1_502)
    text = f'{{"type": "object", "additionalProperties": false, {repeated}}}'
    lines = render([check_text("x", text)]).splitlines()
    assert len(lines) == 1_001
    assert lines[0] == 'x:1:65: SG102 duplicate-key  #/title: duplicate key "title"'
    assert lines[-1] == "x: 501 more findings are not shown"


@FUZZ
@given(REPORTS)
def test_each_line_starts_with_its_path_and_nothing_in_it_moves_the_cursor(files):
    shown = render(files)
    assert not [c for c in shown.replace("\n", "") if moves_the_cursor_or_turns_text_round(c)]
    hidden = [
        file
        for file in files
        if sum(tool.report.total - len(tool.findings) for tool in file.tools)
        or (file.document and file.document.fault_count > len(file.document.faults))
    ]
    lines = shown.split("\n")[:-1]
    assert len(lines) == len(rows(files)) + len(hidden)
    said = [line for line in lines if not line.endswith("not shown")]
    for line, (file, finding, _) in zip(said, rows(files), strict=True):
        where = safe_path(file.path)
        if finding.line is not None:
            where += f":{finding.line}:{finding.column}"
        assert line.startswith(f"{where}: {finding.code} {finding.name}")


@FUZZ
@given(REPORTS, st.booleans())
def test_colours_and_extras_add_lines_and_change_none(files, color):
    everything = render(files, color=color, show_source=True, show_fixes=True, budgets=True)
    plain = ANSI.sub("", everything)
    assert not [c for c in plain.replace("\n", "") if moves_the_cursor_or_turns_text_round(c)]
    assert (plain != everything) is (color and bool(plain))
    rest = iter(plain.split("\n"))
    for line in render(files).split("\n")[:-1]:
        assert line in rest  # and in this order: `in` uses the iterator up
    assert plain == render(files, show_source=True, show_fixes=True, budgets=True)


def test_a_name_cannot_colour_a_line():
    name = "\x1b[32mfine\x1b[0m"
    text = json.dumps({"type": "object", "properties": {name: {"not": {}}}})
    shown = render([check_text("x", text)], color=True)
    assert "\x1b[32m" not in shown
    assert "\\u001b[32mfine\\u001b[0m" in shown


def test_a_path_cannot_be_a_workflow_command():
    assert render([check_text("::error::x", "[")]).startswith("./::error::x:1:2: SG101 ")
    assert render([check_text("  ::a", "[")]).startswith("./  ::a:1:2: SG101 ")


def test_the_second_of_two_hashes_is_escaped():
    assert safe("a##[group]#") == "a#\\u0023[group]#"
    assert safe("#####") == "#\\u0023#\\u0023#"
    assert safe("#/a#") == "#/a#"


# ---------------------------------------------------------------------------------- fixes, excerpts


def test_a_fix_follows_when_asked_for():
    assert render(tiny(), show_fixes=True) == (
        f"{TINY_LINE}      fix: {TINY_FIX}\n"
        "      why: documented 2026-11-30: NVIDIA Dynamo, Structural Tag documentation (dev), "
        "Request Validation; ai-dynamo/dynamo#15153\n"
    )


def test_an_excerpt_marks_the_value():
    assert render(tiny(), show_source=True) == (
        f"{TINY_LINE}"
        '    4 |     "properties": {"q": {"$ref": "https://example.com/q.json"}},\n'
        "      |                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    )


def test_a_value_of_several_lines_is_marked_to_the_end_of_its_first():
    assert Source('{"a":\n  {"b": 1,\n  "c": 2}}').excerpt(at(2, 3, 10, end_line=3)) == (
        '  {"b": 1,',
        "  ^^^^^^^^",
    )


def test_a_place_without_extent_gets_one_mark():
    assert Source("[1,\n").excerpt(at(1, 4, 4)) == ("[1,", "   ^")
    assert Source("[1,\n").excerpt(at(2, 1, 1)) == ("", "^")
    assert Source("").excerpt(at(1, 1, 1)) == ("", "^")
    assert Source("[1]").excerpt(at(1, 2)) == ("[1]", " ^^")


def test_a_carriage_return_before_the_line_end_is_not_shown():
    assert Source("[1,\r\n2]\r\n").excerpt(at(1, 4, 4)) == ("[1,", "   ^")
    assert Source("[1,\r\n2]\r\n").excerpt(at(2, 1, 2)) == ("2]", "^")
    assert Source("[1,\r2]").excerpt(at(1, 5, 6)) == ("[1,\\u000d2]", "         ^")


def test_a_long_line_is_cut_around_the_place():
    text = "[" + ",".join(["1234567890"] * 50_000) + "]"
    shown, marks = Source(text).excerpt(at(1, 300_000, 300_010))
    assert shown.startswith("...")
    assert shown.endswith("...")
    assert len(shown) == 36 + 60 + 6
    assert marks == " " * 39 + "^" * 10
    place = marks.index("^")
    assert shown[place : place + 10] == text[299_999:300_009]


def test_wide_combining_and_tabbed_characters_are_counted_in_columns():
    assert Source('\t{"日本": 1}').excerpt(at(1, 9, 10)) == ('    {"日本": 1}', " " * 13 + "^")
    assert Source('{"e\u0301": 1}').excerpt(at(1, 8, 9)) == ('{"e\u0301": 1}', " " * 6 + "^")
    assert Source('{"a": "日本"}').excerpt(at(1, 7, 11)) == ('{"a": "日本"}', " " * 6 + "^" * 6)
    assert Source('"\u200b\x9b" 1').excerpt(at(1, 6, 7)) == (
        '"\\u200b\\u009b" 1',
        " " * 15 + "^",
    )


def test_characters_without_width_are_cut_too():
    text = '"' + "\u0301" * 150 + '" 1' + "\u0301" * 150
    shown, marks = Source(text).excerpt(at(1, 152, 153))
    assert shown == "..." + "\u0301" * 100 + '" 1' + "\u0301" * 97 + "..."
    assert marks == "   ^"


def test_two_hashes_in_a_line_are_escaped_and_counted():
    assert Source('"##[x]" 1').excerpt(at(1, 9, 10)) == ('"#\\u0023[x]" 1', " " * 13 + "^")


def test_a_place_that_is_not_in_the_text_has_no_excerpt_or_one_at_its_end():
    assert Source("a\nb").excerpt(at(9, 1, 2)) is None
    assert Source("a\nb").excerpt(at(1, 1, 2)) == ("a", "^")
    assert Source("ab").excerpt(at(1, 50, 60)) == ("ab", "  ^")
    nowhere = Finding(Diagnostic(RULES["SG109"], "error", {}), "", None, None)
    assert Source("a").excerpt(nowhere) is None


LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=300))


@given(LINES, st.data())
def test_the_marks_stand_under_the_place(lines, data):
    text = "\n".join(lines)
    assume(text)
    number = data.draw(st.integers(1, max(len(lines), 1)))
    line = lines[number - 1]
    assume(line)
    column = data.draw(st.integers(1, len(line)))
    assume(line[column - 1] not in "\r\t#")
    source = Source(text)
    source.excerpt(at(data.draw(st.integers(1, 5)), 1, 1))  # lines may be asked for in any order
    shown, marks = source.excerpt(at(number, column, column + 1))
    before = len(marks) - len(marks.lstrip(" "))
    assert columns(shown) <= 36 + 60 + 6
    wanted = safe(line[column - 1])
    # The characters before the place are as wide as the blanks, and then it comes.
    ends = [i for i in range(len(shown) + 1) if columns(shown[:i]) == before]
    assert any(shown.startswith(wanted, i) for i in ends)


def test_excerpts_of_a_large_file_take_one_pass():
    lines = 200_000
    text = "{\n" * lines
    source = Source(text)
    began = time.process_time()
    for line in range(1, lines, 50):
        assert source.excerpt(at(line, 1, 2)) == ("{", "^")
    assert time.process_time() - began < 5


# ------------------------------------------------------------------------------------------ budgets


class FakeReport:
    total = 0
    ok = True
    complete = True
    profile = "dynamo-2026-11-30"

    def __init__(self, *budgets):
        self.budgets = budgets


def budgets_of(*uses, name="search"):
    tool = CheckedTool(name, "/tools/0", (), FakeReport(*uses))
    return render([FileReport("a.json", "mcp", (tool,), ())], budgets=True).splitlines()


def test_budgets_are_a_table_with_bars_and_what_uses_most():
    top = (Contributor("/properties/a", 3), Contributor("", 2))
    assert budgets_of(
        BudgetUse("properties", 5, 10, top),
        BudgetUse("enum-entries", 0, 1_000, ()),
        BudgetUse("characters", 1, 120_000, ()),
        BudgetUse("largest-enum", 12, None, ()),
        BudgetUse("bytes", None, 100, ()),
        BudgetUse("nodes", 1_500, 1_000, ()),
    ) == [
        "a.json: tool 'search' > #/tools/0: budgets of dynamo-2026-11-30",
        "  properties             5 of         10  [==========..........]    50.0 %",
        "      3 at #/properties/a, 2 at #",
        "  enum-entries           0 of      1,000  [....................]     0.0 %",
        "  characters             1 of    120,000  [=...................]     0.0 %",
        "  largest-enum          12 of          -",
        "  bytes                  ? of        100",
        "  nodes              1,500 of      1,000  [====================]   150.0 %  over",
    ]


def test_a_budget_of_nothing_is_full_only_when_it_is_passed():
    rows = budgets_of(BudgetUse("properties", 0, 0, ()), BudgetUse("nodes", 1, 0, ()), name=None)
    assert rows == [
        "a.json: #/tools/0: budgets of dynamo-2026-11-30",
        "  properties             0 of          0  [....................]",
        "  nodes                  1 of          0  [====================]  over",
    ]


def test_budgets_come_from_the_report():
    shown = render(tiny(), budgets=True)
    assert shown.startswith(TINY_LINE)
    assert "  properties             1 of      5,000  [=...................]" in shown


# ------------------------------------------------------------------------------------------ summary


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (tiny, "0 of 1 schema in 1 file accepted by dynamo-2026-11-30; 1 finding"),
        (clean, "1 of 1 schema in 1 file accepted by dynamo-2026-11-30; 0 findings"),
        (empty, "0 of 0 schemas in 1 file accepted; 1 finding"),
        (
            lambda: [*tiny(), *clean()],
            "1 of 2 schemas in 2 files accepted by dynamo-2026-11-30; 1 finding",
        ),
        (
            lambda: flooded(1_300, 3),
            "0 of 1 schema in 1 file accepted by dynamo-2026-11-30; 1,300 findings",
        ),
        (list, "0 of 0 schemas in 0 files accepted; 0 findings"),
    ],
)
def test_the_summary_is_one_sentence(files, said):
    assert summary(files()) == said


def test_the_places_of_the_tiny_example_were_counted_right():
    assert TINY.splitlines()[3][33:61] == '"https://example.com/q.json"'
