"""Profiles in files of one's own, and the schema of their format."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from command import run
from jsonschema import Draft202012Validator

from schemaguard import check, lint, profiles
from schemaguard.errors import ProfileError
from schemaguard.profiles import Grounds
from schemaguard.profiles.files import load_file
from schemaguard.profiles.schema import profile_schema
from schemaguard.profiles.settings import is_day

FOLDER = Path(profiles.__file__).parent
WHOLE = """\
name = "own"
date = 2026-10-02
title = "Ours"
subject = "Gateway"
basis = "observed"
source = "a test of ours"
"""
SCHEMA = json.loads((FOLDER / "profile.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def written(tmp_path, text, name="own.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def plain(text):
    return json.loads(json.dumps(tomllib.loads(text), default=str))


def test_a_file_of_ones_own_is_a_profile(tmp_path):
    path = written(tmp_path, WHOLE + '[refused]\nformat = { unless = ["date"], why = "why not" }\n')
    profile = load_file(path)
    assert profile.id == "own-2026-10-02"
    (said,) = check({"format": "uri"}, profile).diagnostics
    assert (said.code, said.severity, said.pointer) == ("SG231", "error", "/format")
    assert said.message == "Gateway refuses `format` here: why not"
    assert (said.grounds.basis, said.grounds.source) == ("observed", "a test of ours")
    assert check({"format": "date"}, profile).ok


def test_a_file_can_add_to_a_profile_that_ships_and_take_away_from_it(tmp_path):
    text = """\
name = "ours"
extends = "dynamo"
[rules]
SG401 = "off"
optional-property = { severity = "note", basis = "inferred", source = "ours" }
[refused]
title = {}
"""
    profile = load_file(written(tmp_path, text))
    report = check({"type": "object", "properties": {"a": {"type": "null"}}, "title": ""}, profile)
    assert sorted((d.code, d.severity, d.grounds.basis) for d in report.diagnostics) == [
        ("SG231", "error", "documented"),
        ("SG402", "note", "inferred"),
    ]
    assert profile.budgets == profiles.load("dynamo").budgets


def test_a_budget_that_no_rule_of_the_whole_profile_enforces_is_refused(tmp_path):
    text = 'name = "x"\nextends = "openai-strict"\n[budgets]\nproperties = 1\n'
    path = written(tmp_path, text)
    with pytest.raises(ProfileError) as caught:
        load_file(path)
    assert str(caught.value) == (
        f'{path}:4:14: budgets: no rule of this profile holds schemas to "properties": '
        'add SG502 = "error" to [rules]'
    )
    # With the rule, which may have any severity, it is held to; so it is where the other has it.
    two = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}}
    for more in (text + '[rules]\nSG502 = "note"\n', text.replace("openai-strict", "dynamo")):
        report = check(two, load_file(written(tmp_path, more)))
        assert "SG502" in {d.code for d in report.diagnostics}
    off = text.replace("openai-strict", "dynamo") + '[rules]\nSG502 = "off"\n'
    with pytest.raises(ProfileError, match=r":4:14: .*add SG502"):
        load_file(written(tmp_path, off))


def grounds_of(profile, schema):
    return {d.code: d.grounds for d in check(schema, profile).diagnostics}


def test_what_a_file_sets_has_the_grounds_of_the_file_and_not_those_of_what_it_extends(tmp_path):
    text = """\
name = "gateway"
extends = "openai-strict"
subject = "our gateway"
[rules]
SG402 = "error"
SG401 = "warning"
SG523 = { severity = "error", limit = 0 }
SG503 = { severity = "error", basis = "observed", source = "a ticket", date = 2026-10-01 }
SG502 = "error"
[budgets]
characters = 0
properties = 0
enum-entries = 0
[refused]
minLength = {}
maxLength = { source = "a mail" }
"""
    profile = load_file(written(tmp_path, text))
    said = grounds_of(
        profile,
        {
            "type": "object",
            "properties": {"a": {"type": "string", "minLength": 1, "enum": ["x"]}},
            "required": [],
        },
    )
    own = Grounds("documented", "the profile gateway", "2026-12-01")
    assert said["SG231"] == own
    assert said["SG402"] == own
    assert said["SG502"] == own
    assert said["SG504"] == own  # the rule is OpenAI's, and the limit is not
    assert said["SG523"] == own
    assert said["SG503"] == Grounds("observed", "a ticket", "2026-10-01")
    # Another severity is no other fact.
    assert said["SG401"].source == "OpenAI, Structured model outputs: supported schemas"
    said = grounds_of(profile, {"maxLength": 3})["SG231"]
    assert (said.basis, said.source) == ("documented", "a mail")
    # What the file does not speak of is known as before.
    said = grounds_of(profile, {"allOf": []})["SG231"]
    assert said.source == "OpenAI, Structured model outputs: supported schemas"


def test_a_file_with_grounds_has_them_for_all_that_it_sets(tmp_path):
    text = """\
name = "gateway"
extends = "gemini-openapi"
basis = "inferred"
source = "our own code"
date = 2026-11-11
[refused]
title = {}
"""
    profile = load_file(written(tmp_path, text))
    said = grounds_of(profile, {"title": "x"})["SG231"]
    assert said == Grounds("inferred", "our own code", "2026-11-11")
    assert profile.at_least("observed").remarks["refused"]
    assert "SG231" not in grounds_of(profile.at_least("observed"), {"title": "x"})


def test_another_severity_keeps_all_settings_of_a_rule_and_off_is_off(tmp_path):
    text = 'name = "x"\nextends = "openai-strict"\n[rules]\nSG540 = "note"\nSG231 = "off"\n'
    profile = load_file(written(tmp_path, text))
    assert profile.settings["SG540"] == profiles.load("openai-strict").settings["SG540"]
    assert len(profile.settings["SG540"]) == 2
    assert "SG231" not in profile.severities
    assert grounds_of(profile, {"type": "object", "allOf": []}).keys().isdisjoint({"SG231"})


def test_a_file_can_extend_another_file_beside_it(tmp_path):
    (tmp_path / "deep").mkdir()
    written(tmp_path, WHOLE + "[refused]\nnot = {}\nif = {}\n", "base.toml")
    path = written(tmp_path, 'name = "x"\nextends = "../base.toml"\n', "deep/mid.toml")
    path = written(
        tmp_path, 'name = "y"\nextends = "mid.toml"\nrefused.if = "accepted"\n', "deep/y.toml"
    )
    profile = load_file(path)
    assert profile.name == "y"
    assert [remark.keyword for remark in profile.remarks["refused"]] == ["not"]


def test_files_that_extend_each_other_in_a_circle_are_refused(tmp_path):
    written(tmp_path, 'name = "b"\nextends = "a.toml"\n', "b.toml")
    path = written(tmp_path, 'name = "a"\nextends = "b.toml"\n', "a.toml")
    with pytest.raises(ProfileError, match="extend another"):
        load_file(path)


WRONG = [
    ("[rules]\nSG999 = 'error'\n", 8, 9, "no rule"),
    ("[rules]\nSG401 = 'fatal'\n", 8, 9, "is one of error, warning, note, off"),
    ("[rules]\nSG401 = { severity = 'error', limit = 3 }\n", 8, 9, 'has no setting "limit"'),
    ("[rules]\nSG502 = 'error'\n", 8, 9, "needs the budget 'properties'"),
    ("[rules]\nSG621 = 'error'\n", 8, 9, "needs the setting 'limit'"),
    ("[rules.SG621]\nseverity = 'error'\nlimit = 'x'\n", 9, 9, "limit is an integer of 0 or more"),
    ("[refused]\na = {}\nb = 3\n", 9, 5, 'is a table, or "accepted"'),
    ("[refused.a]\ntypes = ['strin']\n", 8, 9, "types is an array of types"),
    ("[refused.a]\nbasis = 'observe'\n", 8, 9, 'did you mean "observed"?'),
    ("[budgets]\nproperties = true\n", 8, 14, "a budget is an integer of 0 or more"),
    ("[keywords]\nunsuported = []\n", 8, 14, 'did you mean "unsupported"?'),
    ("extends = 'dinamo'\n", 7, 11, "no profile named 'dinamo'"),
    ("[ignore]\n", 7, 1, 'unknown key "ignore"; did you mean "ignored"?'),
    ("[rules.SG622]\nseverity = 'error'\npattern = '(a'\n", 9, 11, "matched in bounded time"),
    (
        "[rules.SG521]\nseverity = 'error'\nlimit = 1\nreadings = []\n",
        10,
        12,
        "at least one of them",
    ),
    ("[rules.SG253]\nseverity = 'note'\nlimits.maxLength = -5\n", 9, 20, "integers of 0 or more"),
    ("[[rules.SG621]]\nseverity = 'error'\nbasis = 'sure'\n", 7, 1, "is one of documented"),
    ("[refused.a]\nwhy = 'x\\u001b'\n".replace("'", '"'), 8, 7, "why is one line of text"),
    ("[refused.a]\nsource = ['x']\n", 8, 10, '"source" is one line of text'),
    ("[refused.a]\ndate = 2026-12-01T00:00:00\n", 8, 8, '"date" is a day'),
    ("[refused.a]\nunless = [2026-12-01]\n", 8, 10, "an array of JSON values"),
]

#: What the schema of the format, which looks at each value alone, lets through.
WRONG_TOGETHER = [
    (
        "[rules.SG253]\nseverity = 'note'\nlimits.maxLenght = 5\n",
        9,
        20,
        'did you mean "maxLength"?',
    ),
    ("[rules.SG622]\nseverity = 'error'\npattern = '(?=(a+)+b)(a|b)+'\n", 9, 11, "in bounded time"),
    ("[budgets]\nproperties = 1\n", 8, 14, 'add SG502 = "error" to [rules]'),
    (
        "[budgets]\nlong-enum-entries = 1\n",
        8,
        21,
        'no rule of this profile holds schemas to "long-enum-entries": add SG505',
    ),
    (
        "[keywords]\nunsupported = ['not']\n",
        8,
        15,
        'no rule of this profile looks at "unsupported": add SG201 = "error" to [rules]',
    ),
    (
        "[[rules.SG621]]\nseverity = 'error'\nlimit = 3\n[[rules.SG621]]\nseverity = 'error'\n",
        7,
        1,
        "needs the setting 'limit'",
    ),
    ("[refused]\nnot = { unless = [nan] }\n", 8, 7, "nan is not a JSON number"),
    ("[rules]\nSG401 = 'error'\nSG401 = 'off'\n", 9, 14, "Cannot overwrite a value"),
    ("extends = 'none.toml'\n", 7, 11, "none.toml: No such file"),
    ("extends = 'own.toml'\n", 7, 11, "more than 16 profiles extend another"),
    ("x = 1\n" + "a." * 20_000 + "b = 1\n", 1, 1, "nested deeper"),
]


@pytest.mark.parametrize(("text", "line", "column", "what"), WRONG + WRONG_TOGETHER)
def test_what_is_wrong_has_line_and_column(tmp_path, text, line, column, what):
    path = written(tmp_path, WHOLE + text)
    with pytest.raises(ProfileError) as caught:
        load_file(path)
    assert str(caught.value).startswith(f"{path}:{line}:{column}: ")
    assert what in str(caught.value)


WORDS = [
    ("date = 2026-10-02", 'date = "yesterday"', 2, 8, '"date" is a day: YYYY-MM-DD'),
    ("date = 2026-10-02", "date = [1]", 2, 8, '"date" is a day: YYYY-MM-DD'),
    ('name = "own"', 'name = ""', 1, 8, '"name" is one line of text'),
    ('title = "Ours"', 'title = "a\\nb"', 3, 9, '"title" is one line of text'),
    ('subject = "Gateway"', 'subject = "\\u202e"', 4, 11, '"subject" is one line of text'),
    ('basis = "observed"', 'basis = "obsrved"', 5, 9, 'did you mean "observed"?'),
]


@pytest.mark.parametrize(("right", "wrong", "line", "column", "what"), WORDS)
def test_a_word_that_is_wrong_has_line_and_column(tmp_path, right, wrong, line, column, what):
    path = written(tmp_path, WHOLE.replace(right, wrong))
    with pytest.raises(ProfileError) as caught:
        load_file(path)
    assert str(caught.value).startswith(f"{path}:{line}:{column}: ")
    assert what in str(caught.value)


def test_what_is_no_regular_file_is_said_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "own.toml")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    for name in ("own.toml", "folder.toml", "endless.toml", "a\0b.toml"):
        with pytest.raises(ProfileError, match=r"\.toml: "):
            load_file(str(tmp_path / name))
        path = written(tmp_path, f'name = "x"\nextends = {json.dumps(name)}\n', "outer.toml")
        with pytest.raises(ProfileError, match=r"outer\.toml:2:11: "):
            load_file(path)


def test_a_pattern_that_explodes_is_matched_in_bounded_time(tmp_path, recwarn):
    rules = "[rules]\nSG622 = { severity = 'error', pattern = '(a+)+' }\n"
    rules += "SG422 = { severity = 'error', pattern = '^(a+)+$' }\n"
    profile = load_file(written(tmp_path, WHOLE + rules))
    name = "a" * 200 + "!"
    tool = {"name": name, "inputSchema": {"type": "object", "properties": {name: {}}}}
    report = lint.check_value("x", {"tools": [tool, {**tool, "name": "a" * 200}]}, profile)
    assert [(f.code, f.pointer) for f in report.findings] == [("SG622", "/tools/0/name")]
    assert [f.code for f in report.tools[0].findings] == ["SG422"]
    # A set that will mean something else one day: nothing about it on standard error.
    load_file(written(tmp_path, WHOLE + "[rules.SG622]\nseverity = 'note'\npattern = '[[a]'\n"))
    assert list(recwarn) == []


def test_a_name_of_thousands_of_characters_matches_no_pattern(tmp_path):
    rules = "[rules]\nSG622 = { severity = 'error', pattern = '[a-z]+' }\n"
    profile = load_file(written(tmp_path, WHOLE + rules))
    for length, codes in ((4_096, []), (4_097, ["SG622"])):
        tool = {"name": "n" * length, "inputSchema": {"type": "object"}}
        found = lint.check_value("x", {"tools": [tool]}, profile).findings
        assert [f.code for f in found] == codes


@pytest.mark.parametrize(
    "content", [b"name = ", b"\xff", b"a = " + b"[" * 5000, b"x" * (1 << 21), b"name = 3\n"]
)
def test_a_file_that_is_no_profile_is_one_clear_line(tmp_path, content):
    path = tmp_path / "own.toml"
    path.write_bytes(content)
    (tmp_path / "t.json").write_text("{}")
    done = run("check", "--profile", str(path), "t.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "own.toml" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_takes_a_file_and_a_configuration_names_one_beside_itself(tmp_path):
    written(tmp_path, WHOLE + "[refused]\ntitle = {}\n")
    (tmp_path / "t.json").write_text('{"type": "object", "title": "x"}')
    assert "SG231" in run("check", "--profile", "own.toml", "t.json", cwd=tmp_path).stdout
    (tmp_path / "schemaguard.toml").write_text('profile = "own.toml"\n')
    (tmp_path / "below").mkdir()
    assert "SG231" in run("check", "../t.json", cwd=tmp_path / "below").stdout
    (tmp_path / "schemaguard.toml").write_text(
        'profile = "mine"\n[profiles.mine]\nextends = "own.toml"\n'
    )
    assert "SG231" in run("check", "t.json", cwd=tmp_path).stdout


def test_facts_that_are_less_firm_can_be_left_out(tmp_path):
    text = (
        '[refused]\ntitle = {}\ndefault = { basis = "inferred" }\nnot = { basis = "documented" }\n'
    )
    written(tmp_path, WHOLE + text)
    (tmp_path / "t.json").write_text('{"title": "x", "default": 1, "not": {}}')

    def said(*more):
        done = run(
            "check",
            "--profile",
            "own.toml",
            "--output-format",
            "json",
            *more,
            "t.json",
            cwd=tmp_path,
        )
        (tool,) = json.loads(done.stdout)["files"][0]["tools"]
        return {d["pointer"]: d["grounds"]["basis"] for d in tool["diagnostics"]}

    everything = {"/title": "observed", "/default": "inferred", "/not": "documented"}
    assert said() == everything
    assert said("--min-basis", "inferred") == everything
    assert said("--min-basis", "observed") == {"/title": "observed", "/not": "documented"}
    assert said("--min-basis", "documented") == {"/not": "documented"}
    (tmp_path / "schemaguard.toml").write_text('min-basis = "documented"\n')
    assert said() == {"/not": "documented"}


def test_the_schema_of_the_format_is_not_stale_and_is_a_schema():
    assert profile_schema() == SCHEMA, "run `make docs`"
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_the_schema_takes_every_profile_that_ships(path):
    assert list(VALIDATOR.iter_errors(plain(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(("text", "_line", "_column", "what"), WRONG)
def test_the_schema_refuses_what_the_loader_refuses(text, _line, _column, what):
    # What a table lacks, names of rules and profiles, whether an expression is one, and what is
    # printable are not a matter of form; nor are dates, which are text here.
    well_formed = ("needs", "no profile", "no rule", "in bounded time", "one line", "a day", "JSON")
    if any(words in what for words in well_formed) and "source" not in what:
        pytest.skip("is well formed")
    assert not VALIDATOR.is_valid(plain(WHOLE + text))


@pytest.mark.parametrize(
    ("day", "is_one"),
    [
        ("2026-12-01", True),
        ("2026-01-31", True),
        ("2026-04-31", False),
        ("2024-02-29", True),
        ("2026-02-29", False),
        ("1900-02-29", False),
        ("0000-01-01", False),
        ("2026-13-01", False),
        ("2026-00-10", False),
        ("2026-01-00", False),
        ("2026-12-1", False),
        ("2026-12-01\n", False),
    ],
)
def test_the_text_of_a_day_is_one_of_the_calendar(day, is_one):
    assert is_day(day) is is_one
