"""`schemaguard check`: exit status, formats, selection, configuration."""

from __future__ import annotations

import json

import pytest
from command import GOOD, OPEN, call, run

from schemaguard.render import FORMATS


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "good.json").write_text(GOOD, encoding="utf-8")
    (tmp_path / "open.json").write_text(OPEN, encoding="utf-8")
    for name in ("NO_COLOR", "FORCE_COLOR", "SCHEMAGUARD_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(folder, text):
    (folder / "schemaguard.toml").write_text(text, encoding="utf-8")


# ---------------------------------------------------------------------------------------- exit status


def test_a_clean_file_is_0_and_says_nothing_on_standard_output(capfd):
    assert call(capfd, "check", "good.json") == (
        0,
        "",
        "1 of 1 schema in 1 file accepted by dynamo-2026-11-30; 0 findings\n",
    )


def test_findings_are_1_and_a_line_each(capfd):
    status, out, err = call(capfd, "check", "good.json", "open.json")
    assert status == 1
    assert out.startswith("open.json:1:33: SG401 open-object  tool 'open' > #/inputSchema: ")
    assert out.count("\n") == 1
    assert (
        err
        == "1 SG401 open-object\n1 of 2 schemas in 2 files accepted by dynamo-2026-11-30; 1 finding\n"
    )


def test_a_file_that_is_no_json_is_a_finding(folder, capfd):
    (folder / "x.json").write_text("{", encoding="utf-8")
    status, out, _ = call(capfd, "check", "x.json")
    assert status == 1
    assert "SG101" in out


def test_a_file_without_anything_to_check_is_a_finding(folder, capfd):
    (folder / "x.json").write_text('{"hello": 1}', encoding="utf-8")
    status, out, _ = call(capfd, "check", "x.json")
    assert status == 1
    assert "SG116" in out


def test_exit_zero_forgives_findings_but_not_a_failed_run(capfd):
    assert call(capfd, "check", "open.json", "--exit-zero")[0] == 0
    assert call(capfd, "check", "open.json", "missing.json", "--exit-zero")[0] == 2


def test_fail_on_sets_the_least_severity_that_fails(folder, capfd):
    configure(folder, 'severity = { SG401 = "warning" }')
    assert call(capfd, "check", "open.json")[0] == 0
    assert call(capfd, "check", "open.json", "--fail-on", "warning")[0] == 1
    configure(folder, 'severity = { SG401 = "note" }\nfail-on = "note"')
    assert call(capfd, "check", "open.json")[0] == 1
    assert call(capfd, "check", "open.json", "--fail-on", "warning")[0] == 0


def test_a_missing_file_is_2_and_the_others_are_checked(capfd):
    status, out, err = call(capfd, "check", "missing.json", "open.json")
    assert status == 2
    assert "SG401" in out
    assert "schemaguard: missing.json: No such file or directory\n" in err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "required: COMMAND"),
        (["chek"], "invalid choice"),
        (["check"], "nothing to check"),
        (["check", "--prof", "dynamo", "good.json"], "unrecognized arguments: --prof"),
        (["check", "good.json", "--profile", "dinamo"], 'did you mean "dynamo"?'),
        (["check", "good.json", "--output-format", "xml"], "invalid choice"),
        (["check", "good.json", "--select", "SG9"], 'command line: no rule "SG9"'),
        (["check", "good.json", "--as", "anthropics"], "invalid choice"),
        (["check", "-", "-"], "can be read once"),
        (["check", "good.json", "--stdin-filename", "x.json"], "is for standard input"),
        (["check", "good.json", "--config", "none.toml"], "none.toml: no such file"),
        (["check", "good.json", "--config", "x", "--isolated"], "exclude each other"),
        (["check", "good.json", "--baseline", "none.json"], "baseline none.json: No such file"),
        (["check", "good.json", "\x1b[2J"], "\\u001b[2J"),
        (["check", "good.json", "--\x1b[2J"], "\\u001b[2J"),
    ],
)
def test_a_wrong_command_line_is_2_with_a_reason(capfd, arguments, what):
    status, out, err = call(capfd, *arguments)
    assert status == 2
    assert out == ""
    assert what in err
    assert "\x1b" not in err
    assert "Traceback" not in err


def test_an_internal_error_is_2_in_one_line_and_a_traceback_when_asked_for(capfd, monkeypatch):
    def broken(*_, **__):
        raise KeyError("\x1b[2J")

    monkeypatch.setattr("schemaguard.lint.check_text", broken)
    status, out, err = call(capfd, "check", "good.json")
    assert (status, out) == (2, "")
    assert err.startswith("schemaguard: internal error: KeyError: ")
    assert "\x1b" not in err
    monkeypatch.setenv("SCHEMAGUARD_TRACEBACK", "1")
    with pytest.raises(KeyError):
        call(capfd, "check", "good.json")


# --------------------------------------------------------------------------------------------- output


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_the_same_on_standard_output_and_in_a_file(folder, capfd, form):
    files = ("good.json", "open.json")
    status, out, _ = call(capfd, "check", *files, "--output-format", form)
    assert status == 1
    assert "SG401" in out
    status, nothing, _ = call(capfd, "check", *files, "--output-format", form, "-o", "out")
    assert (status, nothing) == (1, "")
    assert (folder / "out").read_text(encoding="utf-8") == out
    assert sorted(path.name for path in folder.iterdir()) == [".git", *files, "out"]


def test_the_summary_is_for_text_only_and_not_for_quiet(capfd):
    assert call(capfd, "check", "open.json", "--output-format", "github")[2] == ""
    assert call(capfd, "check", "open.json", "--quiet")[2] == ""


def test_the_format_is_of_the_command_line_then_the_environment_then_the_configuration(
    folder, capfd, monkeypatch
):
    configure(folder, 'output-format = "json"')
    assert call(capfd, "check", "open.json")[1].startswith("{")
    monkeypatch.setenv("SCHEMAGUARD_OUTPUT_FORMAT", "github")
    assert call(capfd, "check", "open.json")[1].startswith("::error ")
    assert call(capfd, "check", "open.json", "--output-format", "gitlab")[1].startswith("[")
    monkeypatch.setenv("SCHEMAGUARD_OUTPUT_FORMAT", "")
    assert call(capfd, "check", "open.json")[1].startswith("{")
    monkeypatch.setenv("SCHEMAGUARD_OUTPUT_FORMAT", "sarf")
    status, out, err = call(capfd, "check", "open.json")
    assert (status, out) == (2, "")
    assert 'did you mean "sarif"?' in err


def test_json_says_that_a_file_was_not_read_to_its_end(folder, capfd):
    (folder / "x.json").write_text('{"a": ', encoding="utf-8")
    out = call(capfd, "check", "x.json", "open.json", "--output-format", "json")[1]
    files = json.loads(out)["files"]
    assert [file["complete"] for file in files] == [False, True]
    assert [file["ok"] for file in files] == [False, False]


def test_color_follows_the_option(folder, capfd):
    assert "\x1b[" in call(capfd, "check", "open.json", "--color", "always")[1]
    assert "\x1b[" not in call(capfd, "check", "open.json")[1]
    assert "\x1b[" in run("check", "open.json", cwd=folder, env={"FORCE_COLOR": "1"}).stdout
    both = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    assert "\x1b[" not in run("check", "open.json", cwd=folder, env=both).stdout


def test_source_fixes_and_budgets_are_shown_on_request(capfd):
    plain = call(capfd, "check", "open.json")[1]
    more = call(capfd, "check", "open.json", "--show-source", "--show-fixes")[1]
    assert more.startswith(plain)
    assert '    1 | {"name": "open", "inputSchema": {"type": "object"}}\n' in more
    assert "^^^" in more
    assert "fix: Add " in more
    assert "budgets of dynamo-2026-11-30" in call(capfd, "check", "good.json", "--budgets")[1]


def test_an_encoding_without_the_characters_of_a_name_is_no_failure(folder):
    (folder / "x.json").write_text(OPEN.replace("open", "日本"), encoding="utf-8")
    done = run("check", "x.json", cwd=folder, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert "tool '\\u65e5\\u672c'" in done.stdout


# ---------------------------------------------------------------------------------------------- input


def test_standard_input_is_a_file_with_a_name_of_ones_choice(folder):
    done = run("check", "-", cwd=folder, stdin=OPEN.encode())
    assert done.returncode == 1
    assert done.stdout.startswith("-:1:33: SG401")
    named = run("check", "-", "--stdin-filename", "a/b.json", cwd=folder, stdin=OPEN.encode())
    assert named.stdout.startswith("a/b.json:1:33: SG401")


def test_the_name_of_standard_input_counts_for_the_configuration(folder):
    (folder / "a").mkdir()
    configure(folder / "a", 'per-file-ignores = { "legacy.json" = ["SG401"] }')
    arguments = ("check", "-", "--stdin-filename", "a/legacy.json")
    assert run(*arguments, cwd=folder, stdin=OPEN.encode()).returncode == 0


def test_a_file_that_is_named_twice_is_checked_once(capfd):
    assert call(capfd, "check", "open.json", "open.json")[1].count("\n") == 1


def test_as_forces_a_reading(folder, capfd):
    (folder / "x.json").write_text('{"type": "object"}', encoding="utf-8")
    assert "SG401" in call(capfd, "check", "x.json", "--as", "schema")[1]
    status, out, _ = call(capfd, "check", "x.json", "--as", "mcp")
    assert status == 1
    assert "SG118 unreadable-tool" in out


# ------------------------------------------------------------------------------------------ selection


def test_rules_are_chosen_by_start_code_or_name(folder, capfd):
    text = '{"type": "object", "properties": {"a": {"not": {}}}}'
    (folder / "x.json").write_text(text, encoding="utf-8")

    def codes(*arguments):
        out = call(capfd, "check", "x.json", "--output-format", "json", *arguments)[1]
        return [d["code"] for d in json.loads(out)["files"][0]["tools"][0]["diagnostics"]]

    assert codes() == ["SG401", "SG402", "SG201"]
    assert codes("--select", "SG4") == ["SG401", "SG402"]
    assert codes("--select", "SG4,SG201", "--ignore", "open-object") == ["SG402", "SG201"]
    assert codes("--ignore", "SG401", "--ignore", "SG402") == ["SG201"]
    assert codes("--select", "SG4", "--extend-select", "SG201", "--extend-ignore", "SG401") == [
        "SG402",
        "SG201",
    ]
    configure(folder, 'select = ["SG201"]')
    assert codes() == ["SG201"]
    assert codes("--select", "SG402") == ["SG402"]
    assert codes("--isolated") == ["SG401", "SG402", "SG201"]


def test_a_wrong_configuration_is_2_with_its_line(folder, capfd):
    configure(folder, "\nselekt = []")
    status, out, err = call(capfd, "check", "good.json")
    assert (status, out) == (2, "")
    assert 'schemaguard.toml:2: unknown key "selekt"; did you mean "select"?' in err
    configure(folder, 'ignore = ["SG9"]')
    status, _, err = call(capfd, "check", "good.json")
    assert status == 2
    assert 'schemaguard.toml: no rule "SG9"' in err


def test_a_profile_of_the_configuration_is_used(folder, capfd):
    text = '{"type": "object", "properties": {"a": true, "b": true}, "required": ["a", "b"], "additionalProperties": false}'
    (folder / "x.json").write_text(text, encoding="utf-8")
    configure(
        folder, 'profile = "own"\n[profiles.own]\nextends = "dynamo"\nbudgets = { properties = 1 }'
    )
    status, out, _ = call(capfd, "check", "x.json")
    assert status == 1
    assert "SG502" in out
    assert call(capfd, "check", "x.json", "--profile", "dynamo")[0] == 0


def test_unused_ignores_are_said_and_do_not_fail(folder, capfd):
    configure(
        folder,
        '[per-file-ignores]\n"open.json" = ["SG401", "SG301"]\n"elsewhere.json" = ["SG401"]',
    )
    status, out, err = call(capfd, "check", "open.json", "--output-format", "github")
    assert (status, out) == (0, "")
    assert err.endswith('per-file-ignores "open.json": SG301 ignores nothing\n')
    assert err.count("\n") == 1


def test_what_is_ignored_does_not_hide_what_comes_after_a_thousand_findings(folder, capfd):
    many = {f"p{i}": {"type": "object"} for i in range(1500)}
    many["z"] = {"not": {}}
    schema = {"type": "object", "properties": many, "required": list(many)}
    (folder / "x.json").write_text(json.dumps(schema), encoding="utf-8")
    configure(folder, '[per-file-ignores]\n"x.json" = ["SG401"]')
    status, out, _ = call(capfd, "check", "x.json")
    assert status == 1
    assert [line.split()[1] for line in out.splitlines()] == ["SG201"]


def test_files_of_a_folder_that_hold_no_schemas_are_passed_over(folder):
    tools = folder / "tools"
    tools.mkdir()
    (tools / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    (tools / "pyproject.toml").write_text('[project]\nname = "x"\n')
    alone = run("check", "tools", cwd=folder)
    assert alone.returncode == 2
    assert "no tool and no schema" in alone.stderr
    (tools / "tool.json").write_text(GOOD)
    beside = run("check", "tools", cwd=folder)
    assert (beside.returncode, beside.stdout) == (0, "")
    named = run("check", "tools/package.json", "tools/tool.json", cwd=folder)
    assert named.returncode == 1
    assert "SG116" in named.stdout


def test_a_file_that_is_named_counts_for_the_folder_that_holds_it(folder, capfd):
    (folder / "tools").mkdir()
    (folder / "tools" / "one.json").write_text(GOOD)
    (folder / "tools" / "other.json").write_text('{"version": 3}')
    for names in (["tools/one.json", "tools"], ["tools", "./tools/one.json"], ["tools"]):
        status, _, err = call(capfd, "check", *names)
        assert status == 0, err
        assert err == "1 of 1 schema in 1 file accepted by dynamo-2026-11-30; 0 findings\n"


@pytest.mark.parametrize("order", [1, -1])
def test_a_file_that_is_named_is_not_passed_over_as_one_of_a_folder(order, folder, capfd):
    (folder / "tools").mkdir()
    (folder / "tools" / "one.json").write_text(GOOD)
    (folder / "tools" / "other.json").write_text('{"version": 3}')
    status, out, _ = call(capfd, "check", *["tools", "tools/other.json"][::order])
    assert status == 1
    assert "tools/other.json" in out
    assert "nothing-to-check" in out
