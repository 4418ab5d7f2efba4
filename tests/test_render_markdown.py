"""Markdown for the summary page of a CI step."""

from __future__ import annotations

import html
import re

from file_reports import FUZZ, REPORTS, TINY_MESSAGE, clean, flooded, rows, tiny
from hypothesis import given

from schemaguard.errors import printable
from schemaguard.lint import FileReport, Finding
from schemaguard.render.markdown import render
from schemaguard.report import Diagnostic
from schemaguard.rules import RULES

TAGS = re.compile(r"</?code>|<br>")
ENTITY = re.compile(r"&#[0-9]+;")
# What means more than itself to Markdown, to HTML or to GitHub; a row's own bars are taken off.
MEANING = set("<>|`*_~[]\\$@&#:")


def table_rows(text):
    """The cells of all rows but the heads."""
    found = []
    for line in text.split("\n"):
        if line.startswith("|"):
            first, *cells, last = line.split("|")
            assert first == last == ""
            found.append([cell.strip(" ") for cell in cells])
    return [cells for cells in found if cells[0] not in ("Place", "---:")]


def plain(cell):
    return html.unescape(TAGS.sub("", cell))


def cut(text):
    return text if len(text) <= 200 else text[:200] + "..."


def test_the_tiny_example():
    assert render(tiny()) == (
        "## schemaguard: 0 of 1 schema in 1 file accepted by dynamo-2026-11-30; 1 finding\n"
        "\n"
        "Profile: `dynamo-2026-11-30`\n"
        "\n"
        "### <code>tools.json</code>\n"
        "\n"
        "| Place | Severity | Rule | Tool | Pointer | Finding |\n"
        "| ---: | :--- | :--- | :--- | :--- | :--- |\n"
        "| 4:34 | error | SG301 remote-ref | <code>search</code> "
        "| <code>&#35;/tools/0/inputSchema/properties/q/&#36;ref</code> "
        f"| {TINY_MESSAGE}<br>Copy the target under &#96;&#36;defs&#96; and refer to it as "
        "&#96;&#35;/&#36;defs/NAME&#96;. |\n"
    )


def test_a_clean_run_is_its_heading():
    assert render(clean()) == (
        "## schemaguard: 1 of 1 schema in 1 file accepted by dynamo-2026-11-30; 0 findings\n"
        "\n"
        "Profile: `dynamo-2026-11-30`\n"
    )


def test_a_page_ends_before_github_would_drop_it_and_says_so():
    pointer = "/" + "|" * 300
    found = tuple(
        Finding(Diagnostic(RULES["SG109"], "error", {}), pointer, None, None) for _ in range(2_000)
    )
    files = [FileReport(name, None, (), found) for name in ("a", "b")]
    text = render(files)
    assert 900_000 < len(text.encode()) < 1 << 20
    shown = len(table_rows(text))
    assert 500 < shown < 2_000
    assert text.endswith(f"\n\n{4_000 - shown:,} more findings are not shown\n")
    assert "<code>b</code>" not in text


def test_hidden_findings_are_counted():
    assert render(flooded(20, 5)).endswith(" |\n\n15 more findings are not shown\n")


@FUZZ
@given(REPORTS)
def test_no_name_breaks_a_table_or_means_more_than_itself(files):
    text = render(files)
    found = table_rows(text)
    for cells, (_, finding, tool) in zip(found, rows(files), strict=True):
        place, severity, rule, name, pointer, said = cells
        assert place == ("" if finding.line is None else f"{finding.line}:{finding.column}")
        assert severity == finding.severity
        assert rule == f"{finding.code} {finding.name}"
        assert plain(name) == ("" if tool is None else printable(cut(tool)))
        assert plain(pointer) == "#" + printable(cut(finding.pointer))
        message, fix = said.split("<br>")
        assert plain(message).strip() == printable(finding.message).strip()
        assert plain(fix).strip() == printable(finding.fix).strip()
        for cell in (name, pointer, said):
            assert not MEANING & set(ENTITY.sub("", TAGS.sub("", cell)))


@FUZZ
@given(REPORTS)
def test_each_line_is_a_heading_a_row_or_ours(files):
    for line in render(files).split("\n"):
        assert (
            line == ""
            or line.startswith(("| ", "## ", "### <code>", "Profile: "))
            or (re.fullmatch(r"[0-9,]+ more findings? (is|are) not shown", line))
        )
