"""Configuration: where it is found, what it may say, and what is said when it is wrong."""

from __future__ import annotations

import pytest

from schemaguard import check
from schemaguard.config import Config, ConfigError, discover, load, profile_of
from schemaguard.errors import ProfileError
from schemaguard.profiles import load as load_profile


def toml(folder, text, name="schemaguard.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def fault(path):
    with pytest.raises(ConfigError) as caught:
        load(path)
    return str(caught.value)


# ------------------------------------------------------------------------------------------ discovery


def test_the_nearest_file_above_the_inputs_counts(tmp_path):
    toml(tmp_path, 'profile = "far"')
    toml(tmp_path / "a", 'profile = "near"')
    (tmp_path / "a" / "b").mkdir()
    config = discover([str(tmp_path / "a" / "b" / "x.json")])
    assert config.profile == "near"
    assert config.root == str(tmp_path / "a")


def test_the_search_starts_from_the_common_parent_of_the_inputs(tmp_path):
    toml(tmp_path, 'profile = "top"')
    toml(tmp_path / "a", 'profile = "a"')
    inputs = [tmp_path / "a" / "x.json", tmp_path / "b" / "y.json"]
    assert discover([str(path) for path in inputs]).profile == "top"


def test_a_folder_given_as_input_is_searched_itself(tmp_path):
    toml(tmp_path, 'profile = "here"')
    assert discover([str(tmp_path)]).profile == "here"


def test_the_search_ends_at_a_folder_with_git(tmp_path):
    toml(tmp_path, 'profile = "outside"')
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    config = discover([str(tmp_path / "repo" / "x.json")])
    assert config.profile is None
    assert config.path is None
    assert config.root == str(tmp_path / "repo")


def test_a_pyproject_without_our_table_is_passed_over(tmp_path):
    toml(tmp_path, '[tool.schemaguard]\nprofile = "up"', "pyproject.toml")
    toml(tmp_path / "a", '[project]\nname = "schemaguard-user"', "pyproject.toml")
    assert discover([str(tmp_path / "a" / "x.json")]).profile == "up"


def test_a_pyproject_of_other_tools_need_not_even_be_toml(tmp_path):
    (tmp_path / ".git").mkdir()
    toml(tmp_path, "= broken", "pyproject.toml")
    assert discover([str(tmp_path / "x.json")]).path is None


def test_schemaguard_toml_comes_before_pyproject(tmp_path):
    toml(tmp_path, 'profile = "own"')
    toml(tmp_path, '[tool.schemaguard]\nprofile = "shared"', "pyproject.toml")
    assert discover([str(tmp_path / "x.json")]).profile == "own"


# ------------------------------------------------------------------------------------------- contents


def test_every_key_is_read(tmp_path):
    path = toml(
        tmp_path,
        """
        profile = "strict"
        include = ["*.json"]
        exclude = ["old/"]
        respect-gitignore = false
        select = ["SG4"]
        ignore = ["SG402"]
        extend-select = ["SG301"]
        extend-ignore = ["remote-ref"]
        baseline = "known.json"
        output-format = "github"
        fail-on = "note"
        [severity]
        SG401 = "warning"
        [per-file-ignores]
        "a.json#/x" = ["SG401"]
        [profiles.strict]
        extends = "dynamo"
        """,
    )
    config = load(path)
    assert (config.profile, config.fail_on, config.output_format) == ("strict", "note", "github")
    assert (config.include, config.exclude) == (("*.json",), ("old/",))
    assert config.respect_gitignore is False
    assert (config.select, config.ignore) == (("SG4",), ("SG402",))
    assert (config.extend_select, config.extend_ignore) == (("SG301",), ("remote-ref",))
    assert config.severity == {"SG401": "warning"}
    assert config.per_file_ignores == {"a.json#/x": ("SG401",)}
    assert config.baseline.endswith("known.json")


def test_an_empty_configuration_says_nothing(tmp_path):
    config = load(toml(tmp_path, ""))
    assert config.select is None
    assert config.ignore is None
    assert config.respect_gitignore is True
    assert config.profiles == {}


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_known_one(tmp_path):
    said = fault(toml(tmp_path, '# a comment\n\nprofil = "dynamo"\n'))
    assert 'schemaguard.toml:3: unknown key "profil"; did you mean "profile"?' in said


WRONG = [
    ("profile = 3", "is a string"),
    ('select = "SG4"', "is an array of strings"),
    ("select = [3]", "is an array of strings"),
    ('respect-gitignore = "yes"', "is true or false"),
    ("severity = 3", "is a table"),
    ('severity = { SG401 = "fatal" }', "is one of error, warning, note, off"),
    ("severity = { SG401 = [] }", "is one of error, warning, note, off"),
    ('fail-on = "errors"', 'did you mean "error"'),
    ("fail-on = []", "is one of"),
    ('output-format = "jason"', 'did you mean "json"'),
    ('per-file-ignores = { "a" = "SG401" }', "is an array of strings"),
    ("profiles = []", "is a table"),
    ("[profiles.x]", 'has no "extends"'),
    ("[profiles]\nx = 3", "is a table"),
    ('[profiles."../x"]\nextends = "dynamo"', "lower case words"),
    ('[profiles.x]\nextends = "dynamo"\nbudget = {}', 'did you mean "budgets"'),
    ('[profiles.x]\nextends = "dynamo"\nbudgets = { properties = -1 }', "integer of 0 or more"),
    ('[profiles.x]\nextends = "dynamo"\nbudgets = { properties = true }', "integer of 0 or more"),
    ('[profiles.x]\nextends = "dynamo"\nrules = { SG401 = 1 }', "is one of"),
    ('[profiles.x]\nextends = "dynamo"\nkeywords = { unsupported = "x" }', "array of strings"),
    ("= 3", ":1:1:"),
    ("a = " + "[" * 5000, "too deep"),
    ("a = " + "9" * 5000, "schemaguard.toml"),
]


# What a value of another type should have been is said whole: of what, with an example, and what it
# is instead.
TYPES = [
    ("profile = 3", '"profile" is a string, not an integer'),
    ('tool-prefix = ""', '"tool-prefix" is a string, not an empty string'),
    ("baseline = 2026-12-01", '"baseline" is a string, not a date or time'),
    ('include = "*.json"', '"include" is an array of strings, not a string'),
    ('select = ["SG4", 5]', '"select" is an array of strings, and an integer is in it'),
    ("ignore = [[]]", '"ignore" is an array of strings, and an array is in it'),
    ("exclude = {}", '"exclude" is an array of strings, not a table'),
    ("respect-gitignore = 1.0", '"respect-gitignore" is true or false, not a float'),
    (
        'profiles = "x"',
        (
            '"profiles" is a table of profiles, such as [profiles.own] with extends = "dynamo", '
            "not a string"
        ),
    ),
    (
        "severity = true",
        '"severity" is a table of rules and severities, such as SG401 = "warning", not a boolean',
    ),
    (
        "per-file-ignores = []",
        (
            '"per-file-ignores" is a table of globs and the rules to ignore there, '
            'such as "old/**" = ["SG401"], not an array'
        ),
    ),
    (
        '[per-file-ignores]\n"old/*.json" = "SG401"',
        '.toml:2: "per-file-ignores.old/*.json" is an array of strings, not a string',
    ),
    (
        "[profiles]\nown = 3",
        ".toml:2: profiles.own is a table with what it extends and changes, not an integer",
    ),
    (
        "[profiles.own]",
        'profiles.own has no "extends", the name of the profile that it starts from',
    ),
]


@pytest.mark.parametrize(("text", "what"), TYPES, ids=range(len(TYPES)))
def test_a_value_of_the_wrong_type_is_told_of_what_it_should_be(tmp_path, text, what):
    assert what in fault(toml(tmp_path, text))


def test_a_pyproject_whose_table_is_none_is_told_what_it_should_be(tmp_path):
    said = fault(toml(tmp_path, "tool.schemaguard = 3", "pyproject.toml"))
    assert said.endswith("tool.schemaguard is a table of settings, not an integer")


@pytest.mark.parametrize(("text", "what"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said(tmp_path, text, what):
    assert what in fault(toml(tmp_path, text))


def test_a_file_that_is_not_utf_8_too_large_or_missing_is_said(tmp_path):
    path = tmp_path / "schemaguard.toml"
    path.write_bytes(b'profile = "\xff"')
    assert "not UTF-8" in fault(str(path))
    path.write_bytes(b"#" * (1 << 20) + b"\n")
    assert "larger than" in fault(str(path))
    assert "no such file" in fault(str(tmp_path / "none.toml"))
    assert "has no table" in fault(toml(tmp_path, "", "pyproject.toml"))


def test_a_hostile_key_cannot_move_the_cursor(tmp_path):
    said = fault(toml(tmp_path, '"\\u001b[2J" = 3'))
    assert "\x1b" not in said
    assert "\\u001b[2J" in said


# ------------------------------------------------------------------------------------------- profiles

TWO = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def configured(tmp_path, text):
    return load(toml(tmp_path, text))


def test_a_profile_with_another_number_holds_schemas_to_that_number(tmp_path):
    config = configured(
        tmp_path, '[profiles.tiny]\nextends = "dynamo"\n[profiles.tiny.budgets]\nproperties = 1'
    )
    profile = profile_of("tiny", config)
    assert [d.code for d in check(TWO, profile).diagnostics] == ["SG502"]
    assert check(TWO, "dynamo").ok
    assert profile.id == "tiny"
    assert "dynamo-2026-11-30" in profile.source


def test_a_profile_with_other_rules_and_lists(tmp_path):
    config = configured(
        tmp_path,
        """
        [profiles.own]
        extends = "dynamo"
        rules = { SG401 = "off", optional-property = "note" }
        keywords = { unsupported = ["title"] }
        """,
    )
    profile = profile_of("own", config)
    report = check({"type": "object", "properties": {"a": {"not": {}}}, "title": "x"}, profile)
    assert sorted((d.code, d.severity) for d in report.diagnostics) == [
        ("SG201", "error"),
        ("SG402", "note"),
    ]


def test_profiles_extend_each_other_but_not_in_a_circle(tmp_path):
    config = configured(
        tmp_path,
        """
        [profiles]
        a = { extends = "b", budgets = { properties = 7 } }
        b = { extends = "dynamo", budgets = { properties = 9, enum-entries = 3 } }
        """,
    )
    assert profile_of("a", config).budgets["properties"] == 7
    assert profile_of("a", config).budgets["enum-entries"] == 3
    with pytest.raises(ConfigError, match="extends itself: c -> d -> c"):
        configured(tmp_path, 'profiles.c = { extends = "d" }\nprofiles.d = { extends = "c" }')


def test_a_profile_cannot_take_the_name_of_one_that_ships(tmp_path):
    with pytest.raises(ConfigError, match="ships"):
        configured(tmp_path, '[profiles.dynamo]\nextends = "xgrammar"')


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("budgets = { propertys = 7 }", 'unknown budget "propertys"; did you mean "properties"?'),
        ("keywords = { unsuported = [] }", 'unknown list "unsuported"; did you mean "unsupported"'),
        ('rules = { open-objects = "off" }', 'no rule "open-objects"; did you mean "open-object"?'),
        ('rules = { SG801 = "error" }', "needs the budget 'nesting'"),
        ('refused = { oneOf = { sauce = "x" } }', 'unknown key "sauce"; did you mean "source"?'),
        ('rules = { SG623 = "error" }', "needs the setting 'limit'"),
        ('rules = { SG623 = { severity = "error", limit = -1 } }', "limit is an integer of 0 or"),
        ('rules = { SG118 = "off" }', "cannot be switched"),
        ('extends = "dinamo"', 'did you mean "dynamo"'),
    ],
)
def test_what_is_wrong_in_a_profile_has_a_line_and_a_suggestion(tmp_path, table, what):
    base = "" if "extends" in table else 'extends = "dynamo"\n'
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, f"[profiles.own]\n{base}{table}\n")
    assert what in str(caught.value)
    assert "schemaguard.toml:" in str(caught.value)


def test_an_unknown_profile_has_a_suggestion():
    with pytest.raises(ProfileError, match='did you mean "dynamo"'):
        profile_of("dinamo", Config(None, "."))


def test_without_a_table_a_profile_is_the_one_that_ships():
    assert profile_of("dynamo", Config(None, ".")) is load_profile("dynamo")
