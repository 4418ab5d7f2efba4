"""What holds for every output format."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from file_reports import FUZZ, REPORTS, clean, empty, flooded, huge, tiny
from hypothesis import given, settings

from schemaguard.render import FORMATS, renderer

SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from file_reports import empty, flooded, tiny
from schemaguard.render import FORMATS, renderer
for name in FORMATS:
    print(renderer(name)([*tiny(), *empty(), *flooded(20, 5)]))
"""


def python(code, **environ):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environ},
    )
    return done.stdout


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_loads_its_own_module_and_no_other(name):
    code = (
        "import sys, json, schemaguard.render\n"
        "before = [m for m in sys.modules if m.startswith('schemaguard.render.')]\n"
        f"schemaguard.render.renderer({name!r})\n"
        "print(json.dumps([before, sorted(sys.modules)]))"
    )
    before, after = json.loads(python(code))
    others = {module for other, module in FORMATS.items() if other != name}
    assert before == []
    assert FORMATS[name] in after
    assert not others & set(after)
    assert "importlib.metadata" not in after
    assert not [module for module in after if module.startswith("xml")]


def test_an_unknown_format_is_a_key_error():
    with pytest.raises(KeyError):
        renderer("yaml")


@pytest.mark.parametrize("name", FORMATS)
@given(files=REPORTS)
@settings(FUZZ, max_examples=30)
def test_the_same_reports_give_the_same_characters_and_a_whole_last_line(name, files):
    render = renderer(name)
    text = render(files)
    assert text == render(files)
    assert text == "" or text.endswith("\n")
    text.encode()


def test_two_processes_write_the_same_bytes():
    code = SCRIPT.format(tests=os.path.dirname(__file__))
    first = python(code, PYTHONHASHSEED="1")
    assert first == python(code, PYTHONHASHSEED="2")
    assert first.count(b"SG301") >= len(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
@given(files=REPORTS)
@settings(FUZZ, max_examples=60)
def test_no_line_is_a_command_to_a_runner_that_the_format_did_not_write(name, files):
    for line in renderer(name)(files).split("\n"):
        assert "##[" not in line
        assert "##vso[" not in line
        if name != "github":
            assert not line.lstrip().startswith("::")


@pytest.mark.parametrize("name", FORMATS)
def test_a_megabyte_of_name_is_cut(name):
    files = huge()
    assert sum(len(tool.findings) for tool in files[0].tools) >= 3
    assert len(renderer(name)(files)) < 40_000


def test_a_megabyte_of_name_is_cut_in_excerpts_and_budgets_too():
    shown = renderer("text")(huge(), show_source=True, show_fixes=True, budgets=True)
    assert len(shown) < 20_000
    assert max(map(len, shown.split("\n"))) < 2_000


@pytest.mark.parametrize("name", FORMATS)
def test_findings_that_are_not_kept_are_not_passed_over_in_silence(name):
    shown = renderer(name)(flooded(20, 5))
    if name == "json":
        assert json.loads(shown)["files"][0]["tools"][0]["total"] == 20
    elif name != "gitlab":  # a Code Quality report has no place to say it
        assert "15 more findings are not shown" in shown


@pytest.mark.parametrize("name", FORMATS)
def test_no_files_and_files_without_a_place_are_written_too(name):
    render = renderer(name)
    render([])
    assert "SG108" in render(empty())
    assert "SG" not in render(clean())
    assert "SG301" in render(tiny())
