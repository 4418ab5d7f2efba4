"""Edits on the text: what is not touched stays, and the text says what the fixed schema says."""

from __future__ import annotations

import json
import re

import fixed_schemas as fs
import pytest
import yaml
from conftest import shared
from hypothesis import given, settings
from hypothesis import strategies as st

from schemaguard import fix, sources
from schemaguard.fix.files import fix_text
from schemaguard.fix.yamlnodes import cannot_keep

SEEDS = st.integers(0, 2**32 - 1)


def test_json_keeps_indentation_order_and_the_way_numbers_are_spelt():
    before = """{
    "name": "t",
    "inputSchema": {
        "type": "object",
        "properties": {
            "a": { "type": "number", "minimum": 1.50 },
            "b": { "type": "string", "enum": ["x"] }
        },
        "required": ["a"]
    },
    "note":   1e2
}
"""

    made = fix_text("t.json", before, "dynamo")

    assert made.ok
    assert made.after == before.replace(
        '{ "type": "string", "enum": ["x"] }',
        '{ "type": ["string", "null"], "enum": ["x", null] }',
    ).replace('["a"]\n', '["a", "b"],\n        "additionalProperties": false\n')


def test_compact_json_and_line_endings_stay_as_they_are():
    compact = '{"type":"object","properties":{"a":{"type":"string"}}}'
    lines = '{\r\n\t"type": "object",\r\n\t"properties": {}\r\n}\r\n'

    assert fix_text("t.json", compact, "dynamo").after == (
        '{"type":"object","properties":{"a":{"type":["string","null"]}},'
        '"required":["a"],"additionalProperties":false}'
    )
    assert fix_text("t.json", lines, "dynamo").after == lines.replace(
        "{}\r\n", '{},\r\n\t"additionalProperties": false\r\n'
    )


def test_jsonc_keeps_comments_and_commas_before_brackets():
    before = """{
  // about the tool
  "type": "object", // always
  "properties": {
    "a": {"type": "string"}, // first
    /* second */
    "b": {"type": "integer"},
  }, // the last
}
"""

    after = fix_text("t.jsonc", before, "dynamo").after

    assert (
        after
        == """{
  // about the tool
  "type": "object", // always
  "properties": {
    "a": {"type": ["string", "null"]}, // first
    /* second */
    "b": {"type": ["integer", "null"]},
  }, // the last
  "required": ["a", "b"],
  "additionalProperties": false,
}
"""
    )


def test_a_comment_is_not_taken_for_the_space_between_members():
    before = '{"type":"object",/*a*/"properties":/*b*/{"a":/*c*/{"type":/*d*/"string"/*e*/}/*f*/}}'

    assert fix_text("t.jsonc", before, "dynamo").after == (
        '{"type":"object",/*a*/"properties":/*b*/{"a":/*c*/{"type":/*d*/["string","null"]/*e*/}'
        '/*f*/},"required":["a"],"additionalProperties":false}'
    )


def test_json_in_a_yaml_file_stays_json():
    before = '{"type": "object", "properties": {"a": {"type": "string"}}}'

    after = fix_text("t.yaml", before, "dynamo").after

    assert after == fix_text("t.json", before, "dynamo").after
    assert json.loads(after)["required"] == ["a"]


def test_yaml_keeps_comments_styles_and_block_scalars():
    before = """# tools
- name: t   # its name
  description: |
    Two
    lines
  inputSchema:
    type: object
    properties:
      # the first
      a:
        type: string  # text
      b: {$ref: '#/$defs/d', description: see}
    required:
      - a
    $defs:
      d:
        oneOf:
        - type: string
        - type: integer
    # the end
"""

    made = fix_text("t.yaml", before, "dynamo")

    assert made.ok
    assert made.after == before.replace(
        "{$ref: '#/$defs/d', description: see}",
        "{anyOf: [{$ref: '#/$defs/d'}, {type: \"null\"}], description: see}",
    ).replace("      - a\n", "      - a\n      - b\n    additionalProperties: false\n").replace(
        "oneOf", "anyOf"
    )


def test_lines_behind_a_block_scalar_that_keeps_them_stay():
    before = """type: object
properties:
  a:
    type: string
    description: |+
      text


# to here
required: [a]
"""

    made = fix_text("t.yaml", before, "dynamo")

    assert made.ok
    assert made.after == before + "additionalProperties: false\n"
    at_the_end = before.partition("# to here")[0]
    after = fix_text("t.yaml", at_the_end, "basic").after
    assert after == at_the_end
    after = fix_text(
        "t.yaml", at_the_end.replace("type: string\n", 'type: [string, "null"]\n'), "dynamo"
    ).after
    assert yaml.safe_load(after)["properties"]["a"]["description"] == "text\n\n\n"
    assert after.endswith("text\n\n\nrequired: [a]\nadditionalProperties: false\n")


def test_keys_behind_question_marks_are_kept_taken_out_and_followed():
    before = """? type
: object
? properties
: ? a
  : type: integer
? required
: [a]
? allOf
: - {}
# the end
"""

    made = fix_text("t.yaml", before, "openai-strict")

    assert made.ok
    assert made.after == before.replace("? allOf\n: - {}\n", "").replace("? allOf\n", "").replace(
        ": [a]\n", ": [a]\nadditionalProperties: false\n"
    )


def test_a_comment_between_a_key_and_its_colon_is_none_of_them():
    before = """type: object
properties:
  ? a # x: y
  :
    $ref: '#/properties/b'
    title: T
  b: {type: integer}
required: [a, b]
additionalProperties: false
"""

    made = fix_text("t.yaml", before, "openai-strict")

    assert made.ok
    assert "? a # x: y\n" in made.after


def explicit(text):
    """Block YAML with each key behind a question mark."""
    return re.sub(
        r"^( *(?:- )*)([$\w]+):(?= |$)",
        lambda m: f"{m[1]}? {m[2]}\n{m[1].replace('-', ' ')}:",
        text,
        flags=re.MULTILINE,
    )


def keeping(text):
    """Block YAML whose descriptions keep an empty line behind them."""
    return re.sub(
        r"^( *(?:- )*)description: (\w[^\n]*)$",
        lambda m: f"{m[1]}description: |+\n{' ' * (len(m[1]) + 2)}{m[2]}\n\n",
        text,
        flags=re.MULTILINE,
    )


@pytest.mark.parametrize("rare", [explicit, keeping])
def test_rare_forms_of_yaml_are_changed_as_others_are(rare):
    changed = left = 0
    for seed in range(60):
        plain = yaml.safe_dump(fs.Tools(seed).tool(), sort_keys=False, default_flow_style=False)
        text = rare(plain)
        schema = yaml.safe_load(text)
        if "description" not in plain or (rare is explicit and schema != yaml.safe_load(plain)):
            continue
        made = fix_text("t.yaml", text, "openai-strict")
        left += bool(made.problems)
        changed += made.changed
        if not made.problems:
            assert yaml.safe_load(made.after) == fix.to_profile(schema, "openai-strict").schema

    assert changed > 30
    assert left <= 1


def test_the_reason_why_a_yaml_text_cannot_be_changed_is_what_is_there():
    odd = "x: &t\n  y: 1\n? z\n: |+\n  text\n\n"
    text = "properties: {a: &s {type: string}, b: *s}\nrequired: [a]"
    made = fix_text(
        "t.yaml",
        f"- {{a: 1}}\n- type: object\n  {text.replace(chr(10), chr(10) + '  ')}\n",
        "dynamo",
    )

    ((_, reason),) = [told for told in made.problems if told[0] == "/1"]
    assert reason == (
        "the changed text would not say what it should: it has anchors (`&`), with which parts "
        "are shared"
    )
    kinds = cannot_keep(odd, None)
    assert "question mark" in kinds
    assert "|+" in kinds
    assert "anchors" not in kinds  # they are elsewhere
    assert cannot_keep("a: 1\n", None) == ""


def test_json_lines_are_changed_record_by_record():
    good = '{"name": "g", "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false}}'
    before = good + '\n\n{"name": "o", "inputSchema": {"type":"object","properties":{}}}\n'

    after = fix_text("t.jsonl", before, "dynamo").after

    assert after == before.replace(
        '"properties":{}}', '"properties":{},"additionalProperties":false}'
    )


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("t.toml", 'type = "object"\n', "TOML"),
        ("t.json", '{"type": "object", "type": "object"}', "duplicate-key"),
        ("t.json", "{", "invalid-json"),
        ("t.json5", "{}", "JSON5"),
        ("t.py", "x = 1", "Python"),
        ("t.json", '{"a": 1}', "no schema"),
    ],
)
def test_what_is_not_written_is_left_alone_and_the_reason_is_said(name, text, why):
    made = fix_text(name, text, "dynamo")

    assert not made.changed
    assert not made.ok
    assert any(why in reason for _, reason in made.problems)


def test_yaml_that_shares_parts_is_changed_where_all_may_change_and_left_alone_elsewhere():
    same = """a: &t
  name: x
  inputSchema: {type: object, properties: {}}
b: *t
"""
    differs = """- name: x
  inputSchema:
    type: object
    properties: {a: &s {type: string}, b: *s}
    required: [a]
"""

    made = fix_text("t.yaml", differs, "dynamo")

    value = yaml.safe_load(fix_text("t.yaml", same, "dynamo").after)
    assert value["a"] == value["b"]
    if made.changed:  # then it says so for `b` alone
        (tool,) = yaml.safe_load(made.after)
        assert tool["inputSchema"]["properties"]["a"] == {"type": "string"}
    else:
        assert "anchors" in made.problems[0][1]


def forms(schema):
    """A tool's text in many ways: (name, text)."""
    tool = {"name": "t", "inputSchema": schema, "description": "é"}
    yield "t.json", json.dumps(tool)
    yield "t.json", json.dumps(tool, separators=(",", ":"))
    yield "t.json", json.dumps(tool, indent=2)
    yield "t.json", json.dumps(tool, indent="\t", ensure_ascii=False).replace("\n", "\r\n")
    yield "t.jsonc", commented(json.dumps(tool, indent=2), "//")
    yield "t.yaml", yaml.safe_dump(tool, sort_keys=False)
    yield "t.yaml", yaml.safe_dump([tool], sort_keys=False, default_flow_style=True)
    yield "t.yaml", json.dumps(tool, indent=2)
    yield "t.yaml", commented(yaml.safe_dump(tool, sort_keys=False, indent=4), "#")


def commented(text, mark):
    """Comments at the ends of lines and between them."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        if number % 3 == 0:
            lines.append(re.match(" *", line)[0] + f"{mark} c{number}.")
        ends = number % 2 and line and not line.endswith(("'", '\\"'))
        lines.append(f"{line}  {mark} e{number}." if ends else line)
    return "\n".join(lines)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, profile=st.sampled_from(["dynamo", "openai-strict", "moonshot"]))
def test_the_text_says_what_the_fixed_schema_says_in_every_form(seed, profile):
    schema = fs.Tools(seed).tool()
    result = fix.to_profile(schema, profile)
    for name, text in forms(schema):
        made = fix_text(name, text, profile)

        assert made.problems == [], (name, text)
        value = sources.read(name, made.after).parts[0].value
        tool = value[0] if isinstance(value, list) else value
        assert json.dumps(tool["inputSchema"]) == json.dumps(result.schema)
        assert list(tool) == ["name", "inputSchema", "description"]
        assert result.changed or made.after == text
        if "\r\n" in text:
            assert not re.search(r"(?<!\r)\n", made.after)
        again = fix_text(name, made.after, profile)
        assert again.after == made.after


def test_comments_stay_but_those_of_what_is_taken_out():
    kept = total = 0
    for seed in range(60):
        for name, text in forms(fs.Tools(seed).tool()):
            comments = re.findall(r"(?://|#) [ce]\d+\.", text)
            after = fix_text(name, text, "dynamo").after
            kept += sum(comment in after for comment in comments)
            total += len(comments)

    assert total > 1_000
    assert kept > 0.95 * total


def test_files_of_real_servers_are_changed_only_where_a_schema_is():
    for path in sorted(shared("corpora", "mcp-tools-list").glob("*.json")):
        text = path.read_text(encoding="utf-8")
        made = fix_text(path.name, text, "dynamo")
        before, after = json.loads(text), json.loads(made.after)
        changed = {tool.pointer for tool in made.tools if tool.result.changed}
        assert changed or made.after == text
        pending = [("", before, after)]
        while pending:
            pointer, old, new = pending.pop()
            if pointer in changed or old == new:
                continue
            assert type(old) is type(new), pointer
            pairs = old.items() if isinstance(old, dict) else enumerate(old)
            assert len(old) == len(new)
            pending += [(f"{pointer}/{key}", value, new[key]) for key, value in pairs]
