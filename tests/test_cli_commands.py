"""The subcommands beside `check`, and what all of them have in common."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from string import Formatter

import pytest
from command import ENVIRONMENT, GOOD, OPEN, PROGRAM, call, is_one_clear_line, run

from schemaguard import profiles
from schemaguard.cli import COMMANDS, parser
from schemaguard.profiles.needs import looking_at
from schemaguard.rules import RULES


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "good.json").write_text(GOOD, encoding="utf-8")
    (tmp_path / "open.json").write_text(OPEN, encoding="utf-8")
    for name in ("NO_COLOR", "FORCE_COLOR", "SCHEMAGUARD_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_has_a_page_by_code_and_by_name(capfd, code):
    rule = RULES[code]
    status, page, err = call(capfd, "rule", code)
    assert (status, err) == (0, "")
    assert page.startswith(f"{code} {rule.name}\n")
    for part in ("\nWhy\n", "\nBad\n", "\nGood\n", "\nFix\n", "\nProfiles\n"):
        assert part in page
    for text, field, _, _ in Formatter().parse(rule.fix):
        assert text in page
        assert (field or "").upper() in page
    shown = page.split("\nBad\n")[1].split("\nFix\n")[0]  # markers are replaced
    assert not any(line.strip().startswith("@") for line in shown.splitlines())
    assert call(capfd, "rule", rule.name) == (0, page, "")
    assert call(capfd, "rule", code.lower())[1] == page


def test_a_rule_as_json_has_all_fields(capfd):
    table = json.loads(call(capfd, "rule", "SG301", "--output", "json")[1])
    assert table["code"] == "SG301"
    assert table["profiles"]["dynamo-2026-11-30"] == "error"
    assert {"name", "message", "why", "fix", "bad", "good", "since"} < table.keys()


def test_an_unknown_rule_is_2_with_a_suggestion(capfd):
    status, out, err = call(capfd, "rule", "remote-rev")
    assert (status, out) == (2, "")
    assert 'did you mean "remote-ref"?' in err
    assert "\x1b" not in call(capfd, "rule", "\x1b[2J")[2]


def test_the_list_of_rules_is_complete_and_in_order(capfd):
    lines = call(capfd, "rules")[1].splitlines()
    assert [line.split()[0] for line in lines] == sorted(RULES)
    tables = json.loads(call(capfd, "rules", "--output", "json")[1])
    assert [table["code"] for table in tables] == sorted(RULES)


# ------------------------------------------------------------------------------------------- profiles


def test_the_profiles_are_listed_with_those_of_the_configuration(folder, capfd):
    assert [line.split("-20")[0] for line in call(capfd, "profiles")[1].splitlines()] == list(
        profiles.names()
    )
    (folder / "schemaguard.toml").write_text(
        '[profiles.own]\nextends = "dynamo"\nbudgets = { properties = 7 }', encoding="utf-8"
    )
    assert "\nown " in call(capfd, "profiles")[1]
    assert "\nown " not in call(capfd, "profiles", "--isolated")[1]
    assert re.search(r"properties +7 ", call(capfd, "profiles", "show", "own")[1])


@pytest.mark.parametrize("name", profiles.names())
def test_a_profile_is_shown_with_basis_source_and_date_of_its_numbers(capfd, name):
    profile = profiles.load(name)
    status, page, _ = call(capfd, "profiles", "show", name)
    assert status == 0
    assert profile.source in page
    for budget, limit in profile.budgets.items():
        line = next(line for line in page.splitlines() if line.split()[:1] == [budget])
        assert f"{limit:,}" in line
        rules = looking_at(budget, "budgets")
        if not profile.severities.keys() & rules:
            assert "without effect" in line
            continue
        assert profile.date[:4] in line
        assert any(basis in line for basis in profiles.BASES)
    for code in profile.severities:
        assert code in page
    table = json.loads(call(capfd, "profiles", "show", name, "--output", "json")[1])
    assert table["budgets"] == dict(profile.budgets)
    assert table["source"] == profile.source


def test_a_profile_says_whose_words_its_findings_are_in_and_which_limit_is_without_effect(capfd):
    page = call(capfd, "profiles", "show", "azure-openai-strict")[1]
    assert "words:  of findings, schemaguard's; rules that the profile dynamo has" in page
    # Azure does not say how many characters it takes: SG504 is off.
    (line,) = (line for line in page.splitlines() if line.startswith("  characters "))
    assert line.endswith("120,000  without effect: no rule of this profile looks at it")


def test_an_unknown_profile_or_half_a_command_is_2(capfd):
    assert 'did you mean "dynamo"' in call(capfd, "profiles", "show", "dinamo")[2]
    assert call(capfd, "profiles", "show")[0] == 2
    assert call(capfd, "profiles", "list", "dynamo")[0] == 2


# -------------------------------------------------------------------------------------------- budgets


def test_budgets_are_shown_whether_a_schema_passes_or_not(capfd):
    status, out, err = call(capfd, "budgets", "good.json", "open.json")
    assert (status, err) == (0, "")
    assert out.count("budgets of dynamo-2026-11-30") == 2
    assert re.search(r"properties +0 of +5,000", out)


def test_budgets_as_json(folder, capfd):
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2, 3]}}}
    (folder / "x.json").write_text(json.dumps(schema), encoding="utf-8")
    rows = json.loads(call(capfd, "budgets", "x.json", "--output", "json")[1])["schemas"]
    budgets = {use["name"]: use for use in rows[0]["budgets"]}
    assert (budgets["enum-entries"]["used"], budgets["enum-entries"]["limit"]) == (3, 1000)
    assert budgets["enum-entries"]["top"] == [{"pointer": "/properties/a/enum", "amount": 3}]


def test_budgets_of_nothing_are_1_and_of_a_missing_file_2(folder, capfd):
    (folder / "x.json").write_text('{"hello": 1}', encoding="utf-8")
    status, out, err = call(capfd, "budgets", "x.json")
    assert (status, out) == (1, "")
    assert "SG116" in err
    assert call(capfd, "budgets", "missing.json")[0] == 2


# --------------------------------------------------------------------------------------- all commands


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capfd, command):
    status, out, _ = call(capfd, command, "--help")
    assert status == 0
    assert out.startswith(f"usage: schemaguard {command} ")


def test_the_help_names_every_command(capfd):
    out = call(capfd, "--help")[1]
    assert all(re.search(rf"^ +{command}\b", out, re.MULTILINE) for command in COMMANDS)
    assert call(capfd, "--version")[1].startswith("schemaguard ")


def test_the_parser_of_one_command_and_that_of_all_say_the_same():
    for command in COMMANDS:
        whole, one = parser(), parser(command)
        choices = [next(a for a in p._actions if a.choices).choices for p in (whole, one)]
        assert choices[0][command].format_help() == choices[1][command].format_help()


def test_checking_one_file_loads_nothing_that_it_does_not_need(folder):
    script = (
        "import sys; from schemaguard.cli import main; main(['check', 'good.json']); "
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, check=True
    )
    loaded = set(done.stdout.decode().split())
    assert "schemaguard.cli.check" in loaded
    # tomllib is there: profiles are TOML, and one is read.
    heavy = {
        "asyncio",
        "concurrent.futures",
        "dataclasses",
        "difflib",
        "importlib.metadata",
        "inspect",
        "jsonschema",
        "multiprocessing",
        "pathlib",
        "referencing",
        "subprocess",
        "tempfile",
        "urllib.parse",
        "xml",
        "yaml",
    }
    before = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True
    )
    assert loaded & heavy <= set(before.stdout.decode().split())
    ours = {name for name in loaded if name.startswith("schemaguard.cli.")}
    assert ours.isdisjoint(
        {f"schemaguard.cli.{name}" for name in COMMANDS} - {"schemaguard.cli.check"}
    )
    assert loaded.isdisjoint(
        {"schemaguard.select", "schemaguard.baseline", "schemaguard.render.sarif"}
    )


def test_python_objects_are_checked_by_name(folder):
    pytest.importorskip("pydantic")
    (folder / "tools.py").write_text(
        "from pydantic import BaseModel\nclass A(BaseModel):\n    x: int\n", encoding="utf-8"
    )
    done = run("check", "tools.py:A", "tools:A", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.count("SG401") == 2
    done = run("check", "-q", "tools.py:B", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_clear_line(done.stderr)


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"tools": [{"name": "open", "inputSchema": {"type": "object"}}]}
    if asked["method"] == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def test_a_server_is_asked_for_its_tools_and_has_a_place_in_a_baseline(folder):
    pytest.importorskip("mcp")
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    command = f"{sys.executable} server.py"
    done = run("check", "--mcp", command, "good.json", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.endswith(
        " > #/tools/0/inputSchema: object schemas require additionalProperties: false\n"
    )
    assert "1 of 2 schemas in 2 files accepted by dynamo-2026-11-30" in done.stderr
    assert run("baseline", "--mcp", command, "-o", "known", cwd=folder).returncode == 0
    known = ("--baseline", "known", "-q")
    done = run("check", "--mcp", command, *known, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run("check", "good.json", *known, cwd=folder).stderr == ""


def test_a_server_that_does_not_answer_is_2_in_one_line(folder):
    pytest.importorskip("mcp")
    for arguments in (
        ("--mcp", f"{sys.executable} -c 0"),
        ("--mcp", "'"),
        ("--mcp-url", "ftp://x"),
    ):
        done = run("check", "-q", *arguments, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert is_one_clear_line(done.stderr)


def test_excludes_hold_for_named_files_on_request(folder, capfd):
    (folder / "schemaguard.toml").write_text('exclude = ["open.json"]', encoding="utf-8")
    assert call(capfd, "check", "open.json")[0] == 1
    assert call(capfd, "check", ".")[0] == 0  # the configuration is passed over: it holds no tool
    assert "open.json" not in call(capfd, "check", ".")[1]
    assert call(capfd, "check", "open.json", "--force-exclude")[0] == 0
    assert call(capfd, "check", "good.json", "open.json", "--force-exclude")[2].startswith("1 of 1")


# ------------------------------------------------------------------------------------------- progress


def on_a_terminal(folder, *arguments):
    """Standard error of a run that takes more than a second, on a terminal."""
    pty = pytest.importorskip("pty")
    os.mkfifo(folder / "slow.json")
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [*PROGRAM, "check", "slow.json", "open.json", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**ENVIRONMENT, "TERM": "xterm"},
    )
    os.close(theirs)
    with open(folder / "slow.json", "w", encoding="utf-8") as slow:
        time.sleep(1.3)
        slow.write(GOOD)
    out = started.communicate(timeout=30)[0].decode()
    seen = b""
    try:
        while more := os.read(ours, 4096):
            seen += more
    except OSError:  # the end, on Linux
        pass
    os.close(ours)
    return out, seen.decode()


def test_a_long_run_shows_progress_on_a_terminal_and_removes_it(folder):
    out, err = on_a_terminal(folder)
    assert "\r\x1b[K1 file, 1 schema, 0 findings" in err
    assert err.rstrip().endswith(
        "1 of 2 schemas in 2 files accepted by dynamo-2026-11-30; 1 finding"
    )
    assert err.rindex("\r\x1b[K") < err.index("1 SG401")
    assert "\x1b" not in out


def test_a_quiet_run_shows_none(folder):
    assert on_a_terminal(folder, "--quiet")[1] == ""


# ---------------------------------------------------------------------------------------- misspelt


MISSPELT = [
    (("chek", "x.json"), "check"),
    (("check", "--selct", "SG4", "x.json"), "--select"),
    (("check", "--outputformat=json", "x.json"), "--output-format"),
    (("check", "--output-format", "githb", "x.json"), "github"),
    (("check", "--profile", "dynmo", "x.json"), "dynamo"),
    (("profiles", "show", "dynmo"), "dynamo"),
    (("profiles", "shw"), "show"),
    (("rule", "open-objct"), "open-object"),
    (("completion", "fsh"), "fish"),
]


@pytest.mark.parametrize(("line", "meant"), MISSPELT)
def test_what_was_perhaps_meant_is_said(capfd, line, meant):
    status, out, err = call(capfd, *line)
    assert (status, out) == (2, "")
    assert err.endswith(f'; did you mean "{meant}"?\n')


def test_nothing_is_guessed_where_nothing_is_like_it(capfd):
    for line in (("check", "--zzzzzz", "x.json"), ("rules", "open.json"), ("qqqqqq",)):
        status, out, err = call(capfd, *line)
        assert (status, out) == (2, "")
        assert "did you mean" not in err


def test_the_list_of_rules_has_words_where_a_finding_has_its_data(capfd):
    _, out, _ = call(capfd, "rules")
    assert "SG402  optional-property" in out
    assert "must include property 'PROPERTY'" in out
    assert not re.search(r"\{\w*\}", out)
