"""The pages are what the code says, and their blocks run."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from urllib.parse import unquote

import pytest
from command import ENVIRONMENT, PROGRAM
from conftest import ROOT
from pages import blocks, run_python

from schemaguard import config
from schemaguard.cli import COMMANDS, parser
from schemaguard.config_keys import KEYS as KEYS_READ
from schemaguard.envelopes import KINDS
from schemaguard.profiles.parts import BASES
from schemaguard.render import FORMATS
from schemaguard.rules import RULES
from schemaguard.sources import FORMATS as FILES
from schemaguard.sources.files import EXCLUDE, INCLUDE

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def section(name, heading):
    """The part of a page below a heading of the second level."""
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text_of(name), re.DOTALL | re.MULTILINE)[
        1
    ]


def rows(text):
    """The rows of the tables in a text, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    ruled = [i for i, row in enumerate(cells) if set("".join(row)) <= set("-:| ")]
    return [row for i, row in enumerate(cells) if i not in ruled and i + 1 not in ruled]


def code(text):
    return re.findall(r"`([^`]+)`", text)


# Rules ----------------------------------------------------------------------------------------------


def make_rules():
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_the_rules_are_not_stale():
    made = make_rules().pages()
    there = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "docs" / "rules").glob("*.md")
    }
    assert there == made, "run `make docs`"


def test_every_rule_has_a_page_with_all_its_parts():
    made = make_rules()
    pages, index = made.pages(), made.index()
    for name, rule in RULES.items():
        page = pages[f"{name}.md"]
        for heading in ("## Why", "## Bad", "## Good", "## Fix", "## Profiles"):
            assert heading in page
        assert rule.name in index


# Blocks ---------------------------------------------------------------------------------------------

WITH_PYTHON = [page for page in PAGES if blocks(page.read_text(encoding="utf-8"), "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_the_python_blocks_of_a_page_run_one_after_the_other(page, tmp_path):
    run_python("\n".join(blocks(page.read_text(encoding="utf-8"), "python")), tmp_path)


def test_python_is_on_the_pages_that_are_about_it():
    assert {"audit", "fix", "handlers", "score", "serving", "tags"} <= {
        page.stem for page in WITH_PYTHON
    }


def test_what_admits_for_vllm_and_sglang_takes_what_they_take(tmp_path):
    """An open object with an optional property, which Dynamo's contract refuses."""
    page = "\n".join(blocks(text_of("serving.md"), "python"))
    open_ = {"type": "object", "properties": {"m": {"type": "integer"}}}
    done = run_python(f"{page}\nimport json\nprint(json.loads(admit({open_!r})))", tmp_path)
    assert done.stdout.splitlines()[-1] == repr(open_)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page):
    prose = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose)):
        if re.match(r"\w+:", target):
            continue
        path, _, fragment = target.partition("#")
        there = (page.parent / unquote(path)) if path else page
        assert there.exists(), target
        if fragment and there.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
            assert fragment in slugs, target


# Commands -------------------------------------------------------------------------------------------

#: Which need an engine: their numbers are of the machine.
MEASURED = {"cost", "warm"}


def told(output, command):
    """Output as it is compared: of what was measured, the words."""
    return re.sub(r"\s+[\d.,]+", " N", output) if command in MEASURED else output


def examples(text):
    """(command, expected lines, whether there are more) of the console blocks in a text."""
    for block in blocks(text, "console"):
        for part in block.split("$ ")[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            cut = lines[-1:] == ["…"]
            yield shlex.split(command), lines[:-1] if cut else lines, cut


def test_every_command_has_a_section_or_a_page():
    linked = set(code(text_of("commands.md").partition("\n## ")[0]))
    assert set(COMMANDS) == linked & set(COMMANDS) | set(
        re.findall(r"^## (\w+)$", text_of("commands.md"), re.MULTILINE)
    )


@pytest.mark.parametrize("command", re.findall(r"^## (\w+)$", text_of("commands.md"), re.MULTILINE))
def test_the_example_of_a_command_prints_what_the_page_shows(command, tmp_path):
    if command in MEASURED:
        pytest.importorskip("xgrammar", reason="needs the extra `xgrammar`")
    tools = blocks(text_of("commands.md"), "json")[0]
    (tmp_path / "tools.json").write_text(tools, encoding="utf-8")
    shown = list(examples(section("commands.md", command)))
    assert shown
    for words, expected, cut in shown:
        program = [*PROGRAM, *words[1:]] if words[0] == "schemaguard" else words
        done = subprocess.run(
            program,
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        printed = done.stdout.splitlines()
        if cut:
            assert len(printed) > len(expected)
            printed = printed[: len(expected)]
        assert [told(line, command) for line in printed] == [
            told(line, command) for line in expected
        ]


def test_the_tokenizer_of_the_example_can_be_typed_as_it_stands(tmp_path):
    pytest.importorskip("xgrammar", reason="needs the extra `xgrammar`")
    from vocabulary import QWEN

    if not QWEN.exists():
        pytest.skip("no .venv/vocab/qwen.tiktoken: `make` sets it up")
    (tmp_path / "qwen.tiktoken").symlink_to(QWEN)
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tool = json.dumps({"name": "clock", "inputSchema": closed})
    (tmp_path / "tools.json").write_text(tool, encoding="utf-8")
    (block,) = blocks(section("commands.md", "warm"), "sh")
    typed = block.replace("schemaguard warm", f"{shlex.join(PROGRAM)} warm --store s.sqlite")
    done = subprocess.run(
        ["sh", "-c", typed],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "clock" in done.stdout


# Configuration --------------------------------------------------------------------------------------

KEYS = {code(row[0])[0]: row for row in rows(section("configuration.md", "Keys"))}
TYPES = {
    "string": ("[1]", ("is a string", "is one of")),
    "boolean": ("[1]", ("is true or false",)),
    "array": ("1", ("is an array of strings",)),
    "table": ("1", ("is a table of",)),
    "integer": ("[1]", ("is a number",)),
}


def test_every_key_that_is_read_is_on_the_page_and_no_other():
    assert set(KEYS) == set(KEYS_READ)


@pytest.mark.parametrize("key", KEYS)
def test_the_type_of_a_key_is_what_the_page_says(key, tmp_path):
    value, messages = TYPES[re.match(r"\w+", KEYS[key][1])[0]]
    path = tmp_path / "schemaguard.toml"
    path.write_text(f"{key} = {value}", encoding="utf-8")
    with pytest.raises(config.ConfigError) as caught:
        config.load(str(path))
    assert any(message in str(caught.value) for message in messages)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_has_an_option_where_the_page_says_so(key):
    options = {
        option
        for command in ("check",)
        for option in re.findall(r"--[\w-]+", parser(command).format_help() + help_of(command))
    }
    said = code(KEYS[key][4])
    assert said == ([f"--{key}"] if f"--{key}" in options else [])


def help_of(command):
    done = subprocess.run([*PROGRAM, command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("key", "choices"),
    [
        ("output-format", FORMATS),
        ("fail-on", config.FAIL_ON),
        ("min-basis", BASES),
        ("include", [glob.removeprefix("*") for glob in INCLUDE]),
        ("exclude", EXCLUDE),
    ],
)
def test_all_choices_of_a_key_are_on_the_page(key, choices):
    assert set(choices) <= set(code(" ".join(KEYS[key][2:4])))


def test_the_whole_examples_say_the_same_and_can_be_used(tmp_path):
    loaded = []
    for name in config.FILES:
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (text,) = blocks(section("configuration.md", f"`{name}`"), "toml")
        (folder / name).write_text(text, encoding="utf-8")
        given = tomllib.loads(text)
        table = given["tool"]["schemaguard"] if "tool" in given else given
        assert set(table) == set(KEYS), "an example of every key"
        found = config.load(str(folder / name))
        loaded.append({n: getattr(found, n) for n in found.__slots__ if n not in ("path", "root")})
        loaded[-1]["baseline"] = found.baseline.rpartition("/")[2]
        (folder / "schemaguard-baseline.json").write_text('{"version": 1, "findings": []}')
        (folder / "s.yaml").write_text("{}", encoding="utf-8")
        (folder / "t.json").write_text('{"type": "string"}', encoding="utf-8")
        done = subprocess.run(
            [*PROGRAM, "check", "t.json"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stderr
        assert "SG412" in done.stdout
    assert loaded[0] == loaded[1]


@pytest.mark.parametrize("heading", ["Ignoring one place", "Profiles of your own"])
def test_the_small_examples_load(heading, tmp_path):
    (text,) = blocks(section("configuration.md", heading), "toml")
    path = tmp_path / "schemaguard.toml"
    path.write_text(text, encoding="utf-8")
    found = config.load(str(path))
    config.profile_of(found.profile or "dynamo", found)


# Inputs ---------------------------------------------------------------------------------------------


def test_every_envelope_and_every_kind_of_file_is_on_the_page():
    assert [code(row[0])[0] for row in rows(section("inputs.md", "Envelopes"))] == list(KINDS)
    assert set(FILES) <= set(code(section("inputs.md", "Files")))


def test_of_an_openapi_document_is_checked_what_the_page_says(tmp_path):
    """Everything is an open object, so that whatever is checked is a finding."""
    schema = {"type": "object"}
    content = {"content": {"application/json": {"schema": schema}}}
    parameter = {"name": "q", "in": "query", "schema": schema}
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {
                "parameters": [parameter],
                "get": {"parameters": [parameter], "responses": {"200": content}},
                "post": {
                    "requestBody": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Used"}},
                            "text/plain": {"schema": schema},
                        }
                    },
                    "callbacks": {"c": {"x": {"post": {"requestBody": content}}}},
                },
            }
        },
        "webhooks": {"w": {"post": {"requestBody": content}}},
        "components": {"schemas": {"Used": schema, "Unused": schema}},
    }

    def checked(document):
        (tmp_path / "api.json").write_text(json.dumps(document), encoding="utf-8")
        command = [*PROGRAM, "check", "--isolated", "--output-format", "json", "api.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        return re.findall(r'"code": "(SG\d+)"', done.stdout), done.stdout

    codes, out = checked(document)
    assert codes == ["SG401", "SG401"]
    assert "/components/schemas/Used" in out
    assert "text~1plain" in out
    del document["paths"]["/a"]["post"]
    assert checked(document)[0] == ["SG116"]
    assert checked({"swagger": "2.0", "paths": {}})[0] == ["SG118"]


# Extras ---------------------------------------------------------------------------------------------


def test_every_extra_is_on_the_page_and_no_other():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = re.search(r"^\| extra .*?\n\n", text_of("install.md"), re.DOTALL | re.MULTILINE)[0]
    assert {code(row[0])[0] for row in rows(table)} == set(project["optional-dependencies"])
    assert (ROOT / "constraints.txt").exists()


def test_what_is_missing_is_said_as_the_page_shows(tmp_path):
    (tmp_path / "yaml.py").write_text("raise ImportError('not here')", encoding="utf-8")
    (tmp_path / "tools.yaml").write_text("type: object", encoding="utf-8")
    (command, expected, _), *_ = [
        e for e in examples(text_of("install.md")) if e[0][0] == "schemaguard"
    ]
    done = subprocess.run(
        [*PROGRAM, *command[1:]],
        cwd=tmp_path,
        env={**ENVIRONMENT, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()) == (2, expected)


def test_the_program_of_the_examples_is_this_one():
    assert PROGRAM[0] == sys.executable
