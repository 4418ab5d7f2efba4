"""`lint`: what a file's report says of the file, of its tools, and of where they are."""

from __future__ import annotations

import json
import re
import time

import pytest
from conftest import corpus, shared

from schemaguard import envelopes, lint, profiles
from schemaguard.document import Limits
from schemaguard.report import escape

STRICT = {"type": "object", "additionalProperties": False}
REMOTE = {
    "type": "object",
    "properties": {"q": {"$ref": "https://x.example/"}},
    "required": ["q"],
    "additionalProperties": False,
}


def tool(name: str, schema: object) -> dict:
    return {"name": name, "inputSchema": schema}


def test_a_report_has_one_entry_for_each_tool_and_the_kind_of_the_file():
    text = json.dumps({"tools": [tool("a", STRICT), tool("b", REMOTE)]})
    report = lint.check_text("tools.json", text)
    assert (report.path, report.kind, report.ok) == ("tools.json", "mcp", False)
    assert [(t.name, t.pointer, t.ok) for t in report.tools] == [
        ("a", "/tools/0", True),
        ("b", "/tools/1", False),
    ]
    assert not report.findings


def test_a_parsed_value_is_checked_without_lines():
    report = lint.check_value("server", [tool("a", REMOTE)])
    (found,) = report.tools[0].findings
    assert found.pointer == "/0/inputSchema/properties/q/$ref"
    assert (found.line, found.column, found.end_line, found.end_column) == (None,) * 4
    assert report.path == "server"


def test_a_value_that_is_no_json_is_no_crash():
    deep: list = []
    for _ in range(50_000):
        deep = [deep]
    for value in (None, 3, object(), {1: 2}, deep, {"name": "t", "inputSchema": {"x": object()}}):
        assert not lint.check_value("x", value).ok


@pytest.mark.parametrize("text", ["null", "3", "[]", "{}", '{"note": "x"}', '"x"', "[1, 2]"])
def test_a_file_with_nothing_to_check_is_an_error(text):
    report = lint.check_text("x.json", text)
    assert not report.ok
    assert "SG116" in {f.code for f in report.findings}


def test_output_schemas_are_not_held_to_the_rules_for_parameters():
    value = {"name": "t", "inputSchema": STRICT, "outputSchema": REMOTE}
    report = lint.check_value("x", value)
    assert [t.ok for t in report.tools] == [True]


def test_a_profile_can_be_a_name_or_an_object():
    text = json.dumps(REMOTE)
    by_name = lint.check_text("x.json", text, "dynamo")
    by_object = lint.check_text("x.json", text, profiles.load("dynamo"))
    assert by_name.tools[0].findings == by_object.tools[0].findings


def test_limits_hold_for_the_file():
    report = lint.check_text("x.json", json.dumps(STRICT), limits=Limits(max_bytes=10))
    assert [f.code for f in report.findings] == ["SG110"]


FAULTY = [
    ("a.json", '{"x": [1, {"y": NaN}], "z": 1, "z": 2}', ["/x/1/y", "/z"]),
    ("a.jsonl", '{"x": 1}\n\n{"x": [1, {"y": NaN}], "z": 1, "z": 2}\n', ["/1/x/1/y", "/1/z"]),
    ("a.yaml", "x:\n- 1\n- {y: .nan}\nz: 1\nz: 2\n", ["/x/1/y", "/z"]),
    ("a.yaml", "--- {x: 1}\n--- {x: [1, {y: .nan}], z: 1, z: 2}\n", ["/1/x/1/y", "/1/z"]),
    ("a.yaml", "x: !strange 1\n", ["/x"]),
    ("a.toml", "[x]\ny = 1\n[[x.z]]\n[[x.z]]\nw = nan\n", ["/x/z/1/w"]),
]


@pytest.mark.parametrize(("path", "text", "pointers"), FAULTY)
def test_a_fault_of_the_text_has_the_pointer_and_the_place_of_what_is_at_fault(
    path, text, pointers
):
    found = [f for f in lint.check_text(path, text).findings if f.name != "nothing-to-check"]
    assert [finding.pointer for finding in found] == pointers
    lines = text.split("\n")
    for finding in found:
        rest = lines[finding.line - 1][finding.column - 1 :].lstrip('"').lower()
        assert rest.startswith(("nan", ".nan", "z", "!strange"))


def test_a_fault_that_ends_the_reading_has_no_pointer():
    for path, text in (("a.json", '{"x": [1, }'), ("a.yaml", "x:\n  - [1\n"), ("a.toml", "x = [")):
        (finding,) = lint.check_text(path, text).findings
        assert finding.pointer == ""
        assert finding.line is not None


def test_a_flood_of_findings_about_the_file_is_cut_and_said():
    text = json.dumps([{"name": f"t{i}", "inputSchema": "none"} for i in range(5_000)])
    report = lint.check_text("x.jsonl", "\n".join([text] * 3))
    assert len(report.findings) <= lint.MAX_ABOUT + 1
    assert not report.ok


def test_the_document_of_a_report_has_the_text_and_whether_it_was_read():
    for name, text in [
        ("x.json", "{}"),
        ("x.jsonl", "{}\n"),
        ("x.jsonc", "{} //"),
        ("x.toml", "a=1"),
    ]:
        document = lint.check_text(name, text).document
        assert document.text == text
        assert document.readable
        assert document.fault_count == len(document.faults) == 0
    assert not lint.check_text("x.json", "{").document.readable
    assert not lint.check_text("x.json5", "{}").document.readable


@pytest.mark.slow
def test_requests_of_the_corpus_are_read_alike_as_files_lines_and_yaml():
    yaml = pytest.importorskip("yaml")
    records = corpus("requests.jsonl.gz")[:60]
    bodies = [record.get("body", record.get("request", record)) for record in records]
    lines = lint.check_text("x.jsonl", "\n".join(map(json.dumps, bodies)))
    documents = lint.check_text(
        "x.yaml", yaml.dump_all(bodies, Dumper=yaml.CSafeDumper, sort_keys=False)
    )
    alone = [lint.check_text("x.json", json.dumps(body)) for body in bodies]
    expected = [
        (f"/{i}{t.pointer}", t.name, [(f.code, f"/{i}{f.pointer}") for f in t.findings])
        for i, report in enumerate(alone)
        for t in report.tools
    ]
    assert expected
    for report in (lines, documents):
        got = [(t.pointer, t.name, [(f.code, f.pointer) for f in t.findings]) for t in report.tools]
        assert got == expected


def independent_places(text: str) -> dict[str, int]:
    """Start of each value of a JSON text, by a scanner of its own."""
    token = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)')
    places: dict[str, int] = {}
    stack: list[list] = []
    pos = 0

    def pointer() -> str:
        return "".join(f"/{escape(frame[1])}" for frame in stack)

    expects_key = False
    while match := token.match(text, pos):
        pos, word, start = match.end(), match[1], match.start(1)
        if word in "]}":
            stack.pop()
            expects_key = False
        elif word == ",":
            if stack[-1][0] == "[":
                stack[-1][1] += 1
            else:
                expects_key = True
        elif word == ":":
            pass
        elif expects_key:
            stack[-1][1] = json.loads(word)
            expects_key = False
        else:
            places[pointer()] = start
            if word in "[{":
                stack.append([word, 0])
                expects_key = word == "{"
    return places


def test_lines_and_columns_of_the_corpus_are_those_of_an_independent_map():
    checked = 0
    for path in sorted(shared("corpora", "mcp-tools-list").glob("*.json"))[:20]:
        text = json.dumps(json.loads(path.read_bytes()), indent=1, ensure_ascii=False)
        places = independent_places(text)
        report = lint.check_text(path.name, text)
        for found in [f for t in report.tools for f in t.findings]:
            at = places.get(found.pointer, places.get(found.pointer.rpartition("/")[0]))
            assert at is not None, found.pointer
            before = text[:at]
            assert found.line == before.count("\n") + 1
            assert found.column == at - (before.rfind("\n") + 1) + 1
            checked += 1
    assert checked > 50


def test_a_thousand_tools_in_a_file_are_quick():
    text = "\n".join(json.dumps(tool(f"t{i}", REMOTE)) for i in range(1_000))
    start = time.process_time()
    report = lint.check_text("x.jsonl", text)
    assert len(report.tools) == 1_000
    assert time.process_time() - start < 3


def test_all_kinds_can_be_forced():
    for kind in envelopes.KINDS:
        lint.check_value("x", tool("a", STRICT), as_=kind)


def test_places_in_yaml_of_the_corpus_are_the_marks_of_pyyaml():
    yaml = pytest.importorskip("yaml")
    checked = 0
    for path in sorted(shared("corpora", "mcp-tools-list").glob("*.json")):
        value = json.loads(path.read_bytes())
        text = yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
        marks: dict[str, tuple[int, int]] = {}
        stack = [("", yaml.compose(text, yaml.CSafeLoader))]
        while stack:
            pointer, node = stack.pop()
            marks[pointer] = (node.start_mark.line + 1, node.start_mark.column + 1)
            if isinstance(node, yaml.MappingNode):
                stack += [(f"{pointer}/{escape(key.value)}", value) for key, value in node.value]
            elif isinstance(node, yaml.SequenceNode):
                stack += [(f"{pointer}/{index}", item) for index, item in enumerate(node.value)]
        report = lint.check_text("x.yaml", text)
        same = lint.check_text("x.json", json.dumps(value))
        found = [f for t in report.tools for f in t.findings]
        assert [(f.code, f.pointer) for f in found] == [
            (f.code, f.pointer) for t in same.tools for f in t.findings
        ]
        for finding in found:
            place = marks.get(finding.pointer, marks.get(finding.pointer.rpartition("/")[0]))
            assert (finding.line, finding.column) == place
            checked += 1
    assert checked > 50
