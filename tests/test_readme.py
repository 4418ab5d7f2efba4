"""The README is a promise: its code blocks run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

import pytest
from conftest import ROOT
from pages import blocks, run_python

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = blocks(README, "python")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONSOLE = re.findall(r"^\$ (.+?)(?:  +#.*)?$", README, re.MULTILINE)


@pytest.mark.parametrize("block", PYTHON, ids=range(len(PYTHON)))
def test_python_blocks_run(block):
    run_python(block)


def test_console_blocks_name_targets_and_commands_that_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [c for c in CONSOLE if c.startswith("make ")]
    for command in CONSOLE:
        words = command.split()
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE)
        elif words[0] == "pip":
            extras = re.findall(r"\[([a-z,]+)\]", command)
            assert {e for some in extras for e in some.split(",")} <= set(EXTRAS), command
            assert all((ROOT / file).is_file() for file in re.findall(r"-c (\S+)", command))
            assert words[:2] == ["pip", "install"]
        else:
            assert words[0] == "schemaguard"


def test_the_printed_line_of_the_check_is_what_it_prints(tmp_path):
    expected = re.search(r"^tools\.json:.*$", README, re.MULTILINE)[0]
    tools = {"tools": [{"name": "weather", "inputSchema": {"type": "object", "properties": {}}}]}
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "schemaguard", "check", "tools.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.rstrip("\n") == expected
    ran_json = subprocess.run(
        [sys.executable, "-m", "schemaguard", "check", "--output-format", "json", "tools.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(ran_json.stdout)["version"] == 1


def test_the_readme_fits_a_screen_or_two():
    assert len(README.splitlines()) <= 110
