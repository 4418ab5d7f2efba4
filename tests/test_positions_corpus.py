"""Lines and columns of findings against maps that share nothing with the linter.

The map of a JSON text is made here, by a tokeniser of one regular expression; that of a YAML text
from the marks of PyYAML's composer. A finding is where its pointer's value is in the map or, when
the file has no such value (a missing `required`), where the nearest value above it is.
"""

from __future__ import annotations

import collections
import functools
import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from conftest import corpus, shared

from schemaguard import lint

if TYPE_CHECKING:
    from collections.abc import Iterable

    Place = tuple[int, int]

#: The keyword whose absence can be a finding: the only thing a pointer may name that is not there.
ABSENT = "required"

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+')


def step(pointer: str, key: str | int) -> str:
    return pointer + "/" + str(key).replace("~", "~0").replace("/", "~1")


class JsonMap:
    """Where each value of a JSON text starts and ends, and each key; a repeated key's last value."""

    def __init__(self, text: str) -> None:
        self.values: dict[str, Place] = {}
        self.ends: dict[str, Place] = {}
        self.keys: dict[str, Place] = {}
        # (pointer of a container, what its next value is called)
        stack: list[tuple[str, Any]] = []
        key: str | None = None
        for line, content in enumerate(text.split("\n"), 1):
            for match in TOKEN.finditer(content):  # no JSON token spans lines
                word, place = match[0], (line, match.start() + 1)
                end = (line, match.end() + 1)
                if word in ":,":
                    continue
                if word in "]}":
                    self.ends[stack.pop()[0]] = end
                    continue
                pointer = ""
                if stack:
                    outer, counter = stack[-1]
                    if counter is None and key is None:
                        key = step(outer, json.loads(word))
                        self.keys[key] = place
                        continue
                    pointer = (key or "") if counter is None else step(outer, next(counter))
                    key = None
                self.values[pointer] = place
                self.ends[pointer] = end
                if word == "[":
                    stack.append((pointer, iter(range(len(text)))))
                elif word == "{":
                    stack.append((pointer, None))


class YamlMap:
    """Where each value and key of a YAML text starts, by PyYAML; an alias is where its anchor is."""

    def __init__(self, text: str) -> None:
        import yaml

        self.values: dict[str, Place] = {}
        self.keys: dict[str, Place] = {}
        stack = [("", yaml.compose(text, yaml.CSafeLoader))]
        while stack:
            pointer, node = stack.pop()
            self.values[pointer] = self.place(node)
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    self.keys[step(pointer, key.value)] = self.place(key)
                    stack.append((step(pointer, key.value), value))
            elif isinstance(node, yaml.SequenceNode):
                stack += [(step(pointer, index), item) for index, item in enumerate(node.value)]

    @staticmethod
    def place(node: Any) -> Place:
        return node.start_mark.line + 1, node.start_mark.column + 1


class Tally:
    """Compares findings with maps, and counts.

    Attributes:
        counts: "there": at the value; "above": the value is not in the file, at the one above it.
        codes: findings by code.
        wrong: what is elsewhere, as messages.
    """

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.codes: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []

    def check(
        self,
        what: str,
        findings: Iterable[lint.Finding],
        known: JsonMap | YamlMap,
        prefix: str = "",
    ) -> None:
        for found in findings:
            assert found.pointer.startswith(prefix), (what, found.pointer)
            pointer = found.pointer[len(prefix) :]
            there = pointer in known.values
            if not there:
                pointer, _, token = pointer.rpartition("/")
                if pointer not in known.values or token != ABSENT:
                    self.wrong.append(f"{what}: {found.code} {found.pointer} is not in the file")
                    continue
            self.counts["there" if there else "above"] += 1
            self.codes[found.code] += 1
            self.compare(what, found, known.values[pointer], (found.line, found.column))
            if isinstance(known, JsonMap):
                self.compare(what, found, known.ends[pointer], (found.end_line, found.end_column))

    def compare(self, what: str, found: lint.Finding, expected: Place, got: Any) -> None:
        if expected != got:
            self.wrong.append(f"{what}: {found.code} {found.pointer} is at {expected}, not {got}")

    def done(self, what: str, least: int) -> None:
        print(what, dict(self.counts), dict(self.codes))
        assert not self.wrong, "\n".join(self.wrong[:20])
        assert self.counts["there"] + self.counts["above"] >= least


def all_findings(report: lint.FileReport) -> list[lint.Finding]:
    return [*report.findings, *(f for tool in report.tools for f in tool.findings)]


@functools.cache
def bodies() -> list[Any]:
    return [record["body"] for record in corpus("requests.jsonl.gz")]


def lists() -> list[Any]:
    paths = sorted(shared("corpora", "mcp-tools-list").glob("*.json"))
    assert len(paths) == 20
    return paths


def check_json(tally: Tally, what: str, text: str) -> None:
    known = None
    for profile in ("dynamo", "xgrammar"):
        findings = all_findings(lint.check_text(f"{what}.json", text.encode(), profile))
        if findings:
            known = known or JsonMap(text)
            tally.check(f"{what} ({profile})", findings, known)


def test_places_in_the_tool_lists_as_they_are() -> None:
    tally = Tally()
    for path in lists():
        text = path.read_bytes().decode()
        check_json(tally, path.stem, text)
    tally.done("tools/list, as they are:", 500)


@pytest.mark.parametrize("form", ["compact", "indented", "crlf"])
def test_places_in_the_requests(form: str) -> None:
    tally = Tally()
    for number, body in enumerate(bodies()):
        if form == "compact":
            text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        else:
            text = json.dumps(body, indent=2, ensure_ascii=number % 2 == 0)
        if form == "crlf":
            if number % 4:
                continue
            text = text.replace("\n", "\r\n")
        check_json(tally, f"request {number}", text)
    tally.done(f"requests, {form}:", 100)


def test_places_in_the_requests_as_one_file_of_lines() -> None:
    tally = Tally()
    texts = [json.dumps(body, ensure_ascii=False) for body in bodies()]
    report = lint.check_text("requests.jsonl", "\n".join(texts).encode())
    by_record = collections.defaultdict(list)
    for found in all_findings(report):
        by_record[int(found.pointer.split("/")[1])].append(found)
    for number, findings in by_record.items():
        known = JsonMap(texts[number])
        for places in (known.values, known.ends):
            for pointer, (line, column) in places.items():
                places[pointer] = (line + number, column)
        tally.check(f"record {number}", findings, known, f"/{number}")
    tally.done("requests, as lines:", 200)


@pytest.mark.parametrize("style", [{}, {"default_flow_style": True}, {"indent": 4, "width": 40}])
def test_places_in_yaml_are_the_marks_of_pyyaml(style: dict[str, Any]) -> None:
    yaml = pytest.importorskip("yaml")
    tally = Tally()
    values = {path.stem: json.loads(path.read_bytes()) for path in lists()}
    values |= {f"request {n}": body for n, body in enumerate(bodies()) if n % 10 == 0}
    for what, value in values.items():
        text = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True, **style)
        findings = all_findings(lint.check_text("x.yaml", text.encode()))
        if findings:
            tally.check(what, findings, YamlMap(text))
    tally.done(f"YAML, {style}:", 200)


def spoiled(value: Any, chance: random.Random) -> Any:
    """A copy of a tool list with types that are none, references to elsewhere and keywords."""
    if isinstance(value, list):
        return [spoiled(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: spoiled(item, chance) for key, item in value.items()}
    if isinstance(copy.get("type"), str) and chance.random() < 0.3:
        wrong = [
            ("type", "dict"),
            ("$ref", "https://x.example/"),
            ("not", {}),
            ("minimum", "\u00e9"),
        ]
        copy |= [chance.choice(wrong)]
    return copy


def test_places_in_spoiled_tool_lists() -> None:
    tally = Tally()
    chance = random.Random(3)
    for path in lists():
        value = spoiled(json.loads(path.read_bytes()), chance)
        for form in ({"separators": (",", ":")}, {"indent": 1}, {"indent": "\t"}):
            check_json(tally, path.stem, json.dumps(value, ensure_ascii=False, **form))
    tally.done("tools/list, spoiled:", 2_000)
    assert len(tally.codes) >= 6


# A mark stands before each value (or key) that a finding is expected at; it is no part of the text.

MARK = "\u2316"

JSON_BY_HAND = """\
{ "tools" : [
\t{"name": "\u00e9\U0001f600\\"]", "inputSchema": {"type": "object", "required": \u2316[],
  "additionalProperties":false, "properties": {"a/b~": {"type" :
    \u2316"dict"}}}},
{"name": "t", "inputSchema": \u2316{"additionalProperties": false, "type": "object",
 "properties": {"\U0001f600": {"type": "string"}, "q": {"$ref": \u2316"https://x.example/"}}}}
]}
"""
YAML_BY_HAND = """\
# tools
- name: "\u00e9\U0001f600"
  inputSchema:
    type: object
    required: \u2316[ ]
    additionalProperties: false
    properties: {"a/b~": {'type':   \u2316dict}}
- name: t
  inputSchema:
    \u2316additionalProperties: false
    type: object
    properties:
      \U0001f600: {type: string}
      q:
        $ref: \u2316>-
          https://x.example/
"""
POINTERS = [
    ("SG402", "/0/inputSchema/required"),
    ("SG212", "/0/inputSchema/properties/a~1b~0/type"),
    ("SG402", "/1/inputSchema/required"),  # not there: at the schema
    ("SG301", "/1/inputSchema/properties/q/$ref"),
]


def unmarked(text: str) -> tuple[str, list[Place]]:
    """A text without its marks, and the places right after them."""
    places = []
    for line, content in enumerate(text.split("\n"), 1):
        before = content.split(MARK)[:-1]
        places += [(line, len("".join(before[: n + 1])) + 1) for n in range(len(before))]
    return text.replace(MARK, ""), places


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "marked", "prefix"),
    [("x.json", JSON_BY_HAND, "/tools"), ("x.yaml", YAML_BY_HAND, "")],
    ids=["json", "yaml"],
)
def test_places_in_a_text_by_hand(name: str, marked: str, prefix: str, line_end: str) -> None:
    if name.endswith("yaml"):
        pytest.importorskip("yaml")
    text, places = unmarked(marked)
    expected = {
        (code, prefix + pointer, place)
        for (code, pointer), place in zip(POINTERS, places, strict=True)
    }
    text = text.replace("\n", line_end)
    findings = all_findings(lint.check_text(name, text.encode()))
    got = {(f.code, f.pointer, (f.line, f.column)) for f in findings}
    # The second tool lacks two properties, at one place.
    assert got == expected
    tally = Tally()
    tally.check("by hand", findings, JsonMap(text) if name == "x.json" else YamlMap(text))
    tally.done("by hand:", len(findings))


def test_a_repeated_key_is_where_it_is_repeated() -> None:
    text, places = unmarked(
        '{"type": "object", "additionalProperties": false, "properties": {},\n'
        ' "required": [],\n \u2316"properties": {}}'
    )
    findings = all_findings(lint.check_text("x.json", text))
    assert [(f.code, (f.line, f.column)) for f in findings] == [("SG102", places[0])]
    assert JsonMap(text).keys["/properties"] == places[0]


def test_a_value_behind_an_alias_is_where_its_anchor_is() -> None:
    pytest.importorskip("yaml")
    text, places = unmarked(
        "properties:\n  a: &one {type: \u2316dict}\n  b: *one\n"
        "type: object\nadditionalProperties: false\nrequired: [a, b]\n"
    )
    findings = all_findings(lint.check_text("x.yaml", text))
    assert [(f.pointer, (f.line, f.column)) for f in findings] == [
        ("/properties/a/type", places[0]),
        ("/properties/b/type", places[0]),
    ]
    tally = Tally()
    tally.check("aliases", findings, YamlMap(text))
    tally.done("aliases:", 2)


def test_the_comparison_finds_what_is_misplaced() -> None:
    """What the corpus is held to would fail for a column too many, or another pointer."""
    text = '{"type": "object", "properties": {"a": {"type": "dict"}}, "required": ["a"]}'
    findings = all_findings(lint.check_text("x.json", text))
    for other in (" " + text, text.replace("properties", "propertied")):
        tally = Tally()
        tally.check("moved", findings, JsonMap(other))
        assert tally.wrong
