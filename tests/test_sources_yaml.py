"""YAML: values as PyYAML makes them, places as its marks have them, and nothing that can hang."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

yaml = pytest.importorskip("yaml")

from conftest import ROOT  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from schemaguard import lint, sources  # noqa: E402
from schemaguard.reader import Limits  # noqa: E402
from schemaguard.report import escape  # noqa: E402

TOOLS = """\
# tools of the shop
common: &common
  type: object
  additionalProperties: false
tools:
  - name: search
    inputSchema:
      <<: *common
      properties:
        q: {$ref: "https://example.com/q.json"}   # remote
      required: [q]
  - name: ping
    inputSchema: *common
"""


def read(text: str | bytes, limits: Limits | None = None) -> sources.Source:
    return sources.read("x.yaml", text, limits or Limits())


def fault(text: str | bytes) -> tuple[str, tuple[int, int] | None]:
    source = read(text)
    assert not source.readable
    return source.faults[0].name, source.line_column(source.faults[0].offset)


def test_a_finding_in_yaml_stands_at_the_value_with_merge_keys_and_aliases_followed():
    report = lint.check_text("tools.yaml", TOOLS)
    assert [tool.name for tool in report.tools] == ["search", "ping"]
    assert report.kind == "mcp"
    remote = report.tools[0].findings[0]
    assert remote.code == "SG301"
    assert remote.pointer == "/tools/0/inputSchema/properties/q/$ref"
    assert (remote.line, remote.column) == (10, 19)
    assert (remote.end_line, remote.end_column) == (10, 47)
    assert report.tools[1].ok


def test_a_finding_under_an_alias_stands_at_the_anchor():
    text = (
        "a: &s {type: object, additionalProperties: true}\ntools:\n- {name: t, inputSchema: *s}\n"
    )
    found = lint.check_text("t.yml", text).tools[0].findings
    assert found
    assert all(f.pointer.startswith("/tools/0/inputSchema") and f.line == 1 for f in found)


def test_several_documents_are_told_apart_by_the_first_step_of_the_pointer():
    text = (
        "---\nname: a\ninputSchema: {type: object, additionalProperties: false}\n---\n---\n"
        "name: b\ninputSchema: {type: object}\n"
    )
    report = lint.check_text("x.yaml", text)
    assert [(t.name, t.pointer, t.ok) for t in report.tools] == [
        ("a", "/0", True),
        ("b", "/2", False),
    ]
    assert {f.line for f in report.tools[1].findings} == {7}


def test_dates_stay_text_and_the_norway_problem_is_what_the_safe_loader_makes_of_it():
    assert read("d: 2024-01-01\nn: no\nz: ~\nf: .5\no: 017\n=: x").parts[0].value == {
        "d": "2024-01-01",
        "n": False,
        "z": None,
        "f": 0.5,
        "o": 15,
        "=": "x",
    }


def test_a_key_that_is_no_string_is_a_finding_in_a_schema_and_none_outside():
    text = "200: unrelated\nname: t\ninputSchema:\n  type: object\n  additionalProperties: false\n  properties:\n    on: {type: string}\n"
    found = lint.check_text("x.yaml", text).tools[0].findings
    assert "SG114" in {f.code for f in found}
    assert {f.line for f in found if f.code == "SG114"} == {7}


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ("a: [", "invalid-json", (1, 5)),
        ("a: b: c", "invalid-json", (1, 5)),
        ("a: 1\nb: *u", "invalid-json", (2, 4)),
        ("a: !Ref x", "invalid-json", (1, 4)),
        ("a: !!python/object:os.system x", "invalid-json", (1, 4)),
        ("a: !!set {x}", "invalid-json", (1, 4)),
        ("é: \x07", "invalid-json", (1, 4)),
        ("\t- x", "invalid-json", (1, 1)),
        ("a: .nan", "non-finite-number", (1, 4)),
        ("a: 1.0e+999", "overflowing-number", (1, 4)),
        ("a: 1" + "0" * 5_000, "overlong-integer", (1, 4)),
        ("a: 1" + ":30" * 5_000, "overlong-integer", (1, 4)),
        ("? [a]\n: 1", "non-string-key", (1, 3)),
        ("&a [*a]", "cyclic-value", (1, 1)),
        ("a: &x\n  <<: *x", "invalid-json", None),
        ("<<: 3", "invalid-json", (1, 5)),
        ("[" * 100_000, "text-too-deep", None),
        ("[" + "[x, " * 256, "text-too-deep", (1, 257 * 4 - 6)),
        ("- " * 100_000, "text-too-deep", None),
        (b"a: \xff", "not-utf-8", None),
        ("a: 1\n".encode("utf-16"), "byte-order-mark", None),
        ("\ud800", "lone-surrogate", (1, 1)),
    ],
)
def test_what_is_no_json_is_a_fault_with_a_place(text, name, place):
    found, at = fault(text)
    assert found == name
    assert place is None or at == place
    report = lint.check_text("x.yaml", text)
    assert not report.ok
    assert not report.tools


def test_a_repeated_key_is_a_finding_and_the_last_one_counts():
    source = read("a: 1\nb: 2\na: 3\n")
    assert source.parts[0].value == {"a": 3, "b": 2}
    assert [(f.name, source.line_column(f.offset)) for f in source.faults] == [
        ("duplicate-key", (3, 1))
    ]
    assert source.line_column(source.spans(["/a"])["/a"][0]) == (3, 4)
    assert source.line_column(source.spans(["/b"])["/b"][0]) == (2, 4)


def test_a_byte_order_mark_moves_no_column():
    source = read(b"\xef\xbb\xbfa: {b: 1}\r\nc: [x]\r\n")
    assert source.line_column(source.spans(["/a/b"])["/a/b"][0]) == (1, 8)
    assert source.line_column(source.spans(["/c/0"])["/c/0"][0]) == (2, 5)


BOMBS = {
    "lists": "a0: &a0 [x, x]\n"
    + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 80)),
    "tools": "a: &a {name: t, inputSchema: {type: object}}\nb: &b ["
    + "*a," * 1_500
    + "]\nc: &c ["
    + "*b," * 1_500
    + "]\ntools: ["
    + "*c," * 1_500
    + "]",
    "merges": "a: &a {"
    + ",".join(f"k{i}: 1" for i in range(2_000))
    + "}\n"
    + "".join(f"m{i}: {{<<: [{'*a,' * 100}]}}\n" for i in range(100)),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_aliases_that_multiply_are_stopped(kind):
    start = time.process_time()
    report = lint.check_text("x.yaml", BOMBS[kind])
    assert [f.code for f in report.findings] == ["SG112"]
    assert time.process_time() - start < 5


def test_nodes_are_bounded():
    assert read("- x\n" * 50, Limits(max_nodes=51)).readable
    assert not read("- x\n" * 50, Limits(max_nodes=50)).readable


SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(-1e9, 1e9)
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=9
)
JSON = st.recursive(
    SCALARS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def places(node, pointer, text, out):
    """Start of each value, by PyYAML's composed nodes."""
    out[pointer] = node.start_mark.index
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            places(value, f"{pointer}/{escape(key.value)}", text, out)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            places(value, f"{pointer}/{index}", text, out)


@settings(max_examples=300, deadline=None)
@given(JSON, st.booleans(), st.sampled_from([None, True, False]))
def test_values_and_places_are_those_of_pyyaml(value, unicode_, flow):
    text = yaml.dump(
        {"k": value},
        allow_unicode=unicode_,
        default_flow_style=flow,
        sort_keys=False,
        Dumper=yaml.SafeDumper,
    )
    source = read(text)
    assert source.parts[0].value == yaml.safe_load(text)
    # Aliases of the dumper (for the same object twice) have the place of the anchor in both.
    expected: dict[str, int] = {}
    places(yaml.compose(text), "", text, expected)
    found = source.spans(expected)
    assert {p: span and span[0] for p, span in found.items()} == expected
    assert all(start <= end <= len(text) for start, end in found.values())


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab:-<[]{}?&*!|>'\"#%@,\n \t<~.1\r\ufeffé"), max_size=60))
def test_any_text_is_read_or_refused_and_agrees_with_pyyaml(text):
    source = read(text)
    lint.check_text("x.yaml", text)
    if source.readable and not source.faults:
        try:
            plain = [v for v in yaml.load_all(text, yaml.CSafeLoader) if v is not None]
        except yaml.constructor.ConstructorError:  # `<<` as a value: text here
            assert "<<" in text
            return
        assert json.dumps([p.value for p in source.parts]) == json.dumps(plain)


def test_without_pyyaml_the_message_says_what_to_install():
    program = (
        "import sys; sys.modules['yaml'] = None\n"
        "from schemaguard import lint\nfrom schemaguard.errors import MissingExtra\n"
        "try: lint.check_text('x.yaml', 'a: 1')\n"
        "except MissingExtra as e: print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert "schemaguard-preflight[yaml]" in done.stdout, done.stderr
