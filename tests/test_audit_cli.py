"""`schemaguard audit`: what it prints, and how it ends."""

from __future__ import annotations

import json

import pytest
from command import call

pytest.importorskip("xgrammar")

LEAKY = {
    "type": "object",
    "properties": {"price": {"type": "number", "multipleOf": 0.25}},
    "required": ["price"],
    "additionalProperties": False,
}
SOUND = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
EVIL = "\x1b[31m##[error]"


def request(*schemas):
    tools = [
        {"type": "function", "function": {"name": f"t{i}", "parameters": schema}}
        for i, schema in enumerate(schemas)
    ]
    return json.dumps({"model": "m", "messages": [], "tools": tools})


def write(folder, text):
    path = folder / "f.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def test_the_schema_is_printed_with_a_mark_at_each_constraint(tmp_path, capfd):
    status, out, _err = call(capfd, "audit", write(tmp_path, LEAKY))

    assert status == 0
    lines = out.splitlines()
    assert "leaks: 1 of 5 constraints are dropped" in lines[0]
    at = next(i for i, line in enumerate(lines) if '"multipleOf"' in line)
    assert lines[at].startswith(" DROPPED ")
    assert lines[at + 1].strip() == '^ {"price":0.1}'
    assert all(
        line.startswith("      ok ") for line in lines if '"type"' in line or '"required"' in line
    )


def test_every_tool_of_a_request_is_audited(tmp_path, capfd):
    path = write(tmp_path, request(LEAKY, SOUND))

    status, out, _err = call(capfd, "audit", path, "--output-format", "json")

    assert status == 0
    rows = json.loads(out)["schemas"]
    assert [(row["tool"], row["verdict"]) for row in rows] == [("t0", "leaks"), ("t1", "exact")]
    assert rows[0]["pointer"] == "/tools/0"
    (dropped,) = [row for row in rows[0]["constraints"] if row["verdict"] == "dropped"]
    assert dropped == {
        "pointer": "/properties/price",
        "keyword": "multipleOf",
        "verdict": "dropped",
        "witness": '{"price":0.1}',
        "reason": dropped["reason"],
        "path": dropped["path"],
        "output": None,
    }
    assert dropped["path"]["tokens"] == [*'{"price":0.1}', ""]


@pytest.mark.parametrize(
    ("schema", "what", "expected"),
    [
        (LEAKY, "dropped", 1),
        (LEAKY, "over-constrained,dropped", 1),
        (LEAKY, "over-constrained", 0),
        (SOUND, "dropped,over-constrained,untested,dead-end,broken-json,refused", 0),
        ({"$ref": "http://x/y"}, "refused", 1),
        ({"$ref": "http://x/y"}, "dropped", 1),  # nobody has looked at it
        ({"$ref": "http://x/y"}, None, 0),
    ],
)
def test_what_fails_is_asked_for(tmp_path, capfd, schema, what, expected):
    path = write(tmp_path, schema)
    gate = [] if what is None else ["--fail-on", what]

    status, _out, err = call(capfd, "audit", path, *gate)

    assert status == expected
    unseen = "1 schema was refused and not audited" in err
    assert unseen == (what is not None and "$ref" in schema)


@pytest.mark.parametrize("form", ["json", "html", "sarif"])
def test_what_was_refused_fails_in_every_format(tmp_path, capfd, form):
    path = write(tmp_path, request(SOUND, {"$ref": "http://x/y"}, {"type": "strnig"}))
    options = ("audit", path, "--output-format", form)

    status, _out, err = call(capfd, *options, "--fail-on", "dropped")

    assert status == 1
    assert "2 schemas were refused and not audited" in err
    assert call(capfd, *options)[0] == 0


def test_marks_are_the_words_of_the_verdicts_and_are_explained(tmp_path, capfd):
    narrow = {**SOUND, "properties": {"n": {"type": "string", "pattern": "bar"}}}
    out = call(capfd, "audit", write(tmp_path, request(narrow, LEAKY)))[1]

    line = next(line for line in out.splitlines() if '"pattern"' in line)
    assert line.startswith("OVER-CONSTRAINED  ")
    assert out.splitlines()[-1] == (
        "DROPPED: an invalid instance gets through; "
        "OVER-CONSTRAINED: a valid instance cannot be written"
    )
    sound = call(capfd, "audit", write(tmp_path, SOUND))[1]
    assert "gets through" not in sound


def test_the_profile_is_that_of_check_and_its_price_is_not_for_other_engines(tmp_path, capfd):
    pytest.importorskip("llguidance")
    address = {"type": "string", "format": "email"}
    path = write(tmp_path, {**SOUND, "properties": {"n": address}})

    def verdict(*options):
        out = call(capfd, "audit", path, "--output-format", "json", *options)[1]
        return json.loads(out)["schemas"][0]["verdict"]

    assert verdict() != "refused"
    assert verdict("--engine", "llguidance") != "refused"
    dear = {"type": "string", "format": "uri-template"}  # llguidance does not know it, and says so
    path = write(tmp_path, {**SOUND, "properties": {"n": dear}})
    for options, said in (((), "SG819"), (("--engine", "llguidance"), "format: uri-template")):
        out = call(capfd, "audit", path, *options)[1]
        assert said in out
    out = call(capfd, "audit", path, "--output-format", "sarif")[1]
    assert '"xgrammar-2026-12-01"' in out


def test_a_file_without_a_schema_is_no_success(tmp_path, capfd):
    assert call(capfd, "audit", write(tmp_path, "[1, 2]"))[0] == 1
    assert call(capfd, "audit", tmp_path / "none.json")[0] == 2
    assert call(capfd, "audit", write(tmp_path, SOUND), "--fail-on", "nothing")[0] == 2
    assert call(capfd, "audit", write(tmp_path, SOUND), "--seed", "x")[0] == 2


def test_names_from_outside_cannot_write_to_the_terminal_or_the_log(tmp_path, capfd):
    schema = {"type": "object", "properties": {EVIL: {"enum": [EVIL], "title": EVIL}}}
    body = json.loads(request(schema))
    body["tools"][0]["function"]["name"] = EVIL
    path = write(tmp_path, body)

    for form in ("text", "json"):
        _status, out, err = call(capfd, "audit", path, "--output-format", form, "--color", "never")
        assert "\x1b" not in out + err
        assert "##" not in out + err
        assert "[31m" in out


def test_marks_are_words_whatever_the_colour(tmp_path, capfd):
    path = write(tmp_path, LEAKY)
    plain = call(capfd, "audit", path, "--color", "never")[1]
    colored = call(capfd, "audit", path, "--color", "always")[1]

    assert "\x1b" not in plain
    assert "\x1b" in colored
    assert "DROPPED" in plain


def test_the_same_seed_prints_the_same(tmp_path, capfd):
    path = write(tmp_path, request(LEAKY, SOUND))
    arguments = ("audit", path, "--output-format", "json", "--seed", "7", "--samples", "4")

    first = call(capfd, *arguments)[1]

    assert call(capfd, *arguments)[1] == first
    assert json.loads(first)["schemas"][0]["sampled"] == 4


def test_recursive_schemas_are_printed_once(tmp_path, capfd):
    schema = {"type": "object", "properties": {"n": {"$ref": "#"}}, "additionalProperties": False}

    status, out, _err = call(capfd, "audit", write(tmp_path, schema))

    assert status == 0
    assert out.count('"additionalProperties"') == 1
