"""File reports for the tests of the output formats: a small one, and hostile ones by the thousand."""

from __future__ import annotations

import json
from string import Formatter

from hypothesis import settings
from hypothesis import strategies as st

import schemaguard
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.lint import CheckedTool, FileReport, Finding, check_text
from schemaguard.profiles import load
from schemaguard.report import Diagnostic, Report
from schemaguard.rules import RULES

#: One remote reference. Its value starts at line 4, column 34, and ends before column 62.
TINY = """\
{"tools": [
  {"name": "search", "inputSchema": {
    "type": "object",
    "properties": {"q": {"$ref": "https://example.com/q.json"}},
    "required": ["q"],
    "additionalProperties": false}}
]}
"""
TINY_POINTER = "/tools/0/inputSchema/properties/q/$ref"
TINY_MESSAGE = "Dynamo supports only document-local references"
TINY_FIX = "Copy the target under `$defs` and refer to it as `#/$defs/NAME`."

CLEAN = '{"name": "ping", "inputSchema": {"type": "object", "additionalProperties": false}}'

#: What breaks some format, some terminal or some CI runner.
HOSTILE = [
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\0",
    "\x1b[2J\x1b[1;1H",
    "\x9b31m",
    "\x85",
    "\u2028",
    "\u202eevil",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\ufffe",
    "\uffff",
    "\n::error::forged",
    "::stop-commands::x",
    "##[add-mask]x",
    "##vso[task.setvariable]x",
    "###",
    "%0A",
    "%25",
    ",",
    ":",
    "=",
    "|",
    "`",
    "```",
    "<script>",
    "</failure>",
    "]]>",
    "<!--",
    "&amp;",
    "&#124;",
    "[x](https://x.example)",
    "{0}",
    "{name}",
    "$x$",
    "\\",
    "'",
    '"',
    "../..",
    "~1",
    " ",
    "",
    "日本語",
    "e\u0301",
    "😀",
    "שלום",
    "www.x.example",
    "@everyone",
    "n" * 5_000,
]
NAMES = st.lists(
    st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8"), max_size=8), max_size=4
).map("".join)
#: Only a parsed value or the name of a file has these.
HALVES = st.sampled_from(["\ud800", "\udfff", "\udcff"])
ANY_NAMES = NAMES | st.tuples(NAMES, HALVES, NAMES).map("".join)
PATHS = st.tuples(st.sampled_from(["", "./", "/", "a/", "::"]), ANY_NAMES, st.just("x.json")).map(
    "".join
)
SEVERITIES = st.sampled_from(["error", "warning", "note"])

_SCHEMAS = [
    lambda name: {"type": "object", "properties": {name: {"type": name}}, "required": [name]},
    lambda name: {"type": "object", "properties": {name: {"not": {}, "$ref": f"#{name}"}}},
    lambda name: {"type": "object", "$defs": {name: {"allOf": [], "$id": name}}, "required": 1},
    lambda name: {"enum": [name], "const": name, "type": name},
    lambda name: [name],
    lambda name: {"type": "object", "additionalProperties": False, "title": name},
]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Tool lists full of hostile names; some are not even JSON."""
    tools = draw(st.lists(st.tuples(NAMES, st.sampled_from(_SCHEMAS), NAMES), max_size=3))
    value = {"tools": [{"name": name, "inputSchema": make(inner)} for name, make, inner in tools]}
    indent = draw(st.sampled_from([None, 2, "\t"]))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent)
    return text + draw(st.sampled_from(["", "", "", "\n", "\r\n", "x", "\x1b[2J"]))


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding that says anything about anywhere."""
    rule = draw(st.sampled_from(list(RULES.values())))
    fields = {
        field: form
        for text in (rule.message, rule.fix)
        for _, field, form, _ in Formatter().parse(text)
        if field
    }
    # What is written like a number is one.
    data = {f: draw(st.integers(0) if form else ANY_NAMES) for f, form in sorted(fields.items())}
    diagnostic = Diagnostic(rule, draw(SEVERITIES), data)
    pointer = draw(st.just("") | ANY_NAMES.map("/".__add__))
    start = draw(st.none() | st.tuples(st.integers(1, 9), st.integers(1, 99)))
    if start is None:
        return Finding(diagnostic, pointer, None, None)
    more = draw(st.integers(0, 2))
    end = (start[0] + more, draw(st.integers(1, 99)) + (0 if more else start[1] - 1))
    return Finding(diagnostic, pointer, start, draw(st.just(end) | st.none()))


@st.composite
def made(draw: st.DrawFn) -> FileReport:
    """A file report put together by hand."""
    tools = []
    for _ in range(draw(st.integers(0, 2))):
        found = tuple(draw(st.lists(findings(), max_size=3)))
        total = len(found) + draw(st.sampled_from([0, 0, 1, 1_234]))
        ok = not any(finding.severity == "error" for finding in found)
        report = Report({}, load("dynamo"), DEFAULT_LIMITS, (), total, ok, draw(st.booleans()))
        tools.append(CheckedTool(draw(st.none() | ANY_NAMES), "/tools/0", found, report))
    about = tuple(draw(st.lists(findings(), max_size=2)))
    return FileReport(draw(PATHS), draw(st.sampled_from([None, "mcp"])), tuple(tools), about)


def read() -> st.SearchStrategy[FileReport]:
    """A file report of a hostile text."""
    return st.builds(check_text, PATHS, texts())


#: Time is no subject of these tests, and the first example pays for late imports.
FUZZ = settings(deadline=None)

#: What any format may be given.
REPORTS = st.lists(read() | made(), max_size=2)


def tiny() -> list[FileReport]:
    """The small example."""
    return [check_text("tools.json", TINY)]


def clean() -> list[FileReport]:
    """A file without a finding."""
    return [check_text("clean.json", CLEAN)]


def empty() -> list[FileReport]:
    """A file that is not text: a finding without a place."""
    return [check_text("latin.json", b'{"\xe9": 1}')]


def flooded(count: int, kept: int) -> list[FileReport]:
    """A file with more findings than its reports keep."""
    schema = {
        "type": "object",
        "properties": {f"p{i}": {"type": "object"} for i in range(count)},
        "required": [f"p{i}" for i in range(count)],
        "additionalProperties": False,
    }
    report = schemaguard.check(schema, max_diagnostics=kept)
    found = tuple(Finding(d, d.pointer, None, None) for d in report.diagnostics)
    return [FileReport("many.json", "schema", (CheckedTool(None, "", found, report),), ())]


def huge() -> list[FileReport]:
    """Names of a megabyte, in the tool, in a property and in what is not there."""
    name = "n" * (1 << 20)
    schema = {"type": "object", "properties": {name: {"type": "object"}}}
    return [check_text("huge.json", json.dumps({"tools": [{"name": name, "inputSchema": schema}]}))]


def rows(files: list[FileReport]) -> list[tuple[FileReport, Finding, str | None]]:
    """Each finding with its file and the name of its tool, by position within the file."""
    found = []
    for file in files:
        of_file = [(file, finding, None) for finding in file.findings]
        of_file += [(file, finding, tool.name) for tool in file.tools for finding in tool.findings]
        found += sorted(of_file, key=lambda row: (row[1].line or 0, row[1].column or 0))
    return found
