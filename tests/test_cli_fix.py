"""`schemaguard fix`: files in, changed files out; what is said, and the status."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys

import pytest
from command import call

OPEN = (
    '{"name": "open", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}\n'
)
FIXED = (
    '{"name": "open", "inputSchema": {"type": "object", "properties": {"a": {"type": ["string", '
    '"null"]}}, "required": ["a"], "additionalProperties": false}}\n'
)
STUCK = (
    '{"name": "m", "inputSchema": {"type": "object", "additionalProperties": {"type": "string"}}}\n'
)


@pytest.fixture
def tools(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tools.json"
    path.write_text(OPEN)
    return path


def test_a_file_is_changed_in_place_and_the_second_time_left_alone(tools, capfd):
    os.chmod(tools, 0o640)

    status, out, err = call(capfd, "fix", tools, "--for", "dynamo")

    assert status == 0
    assert tools.read_text() == FIXED
    assert stat.S_IMODE(os.stat(tools).st_mode) == 0o640
    assert os.listdir(tools.parent) == ["tools.json"]
    assert "SG401" in out
    assert "1 file, 1 changed" in err
    before = os.stat(tools)
    assert call(capfd, "fix", tools, "--for", "dynamo")[:2] == (0, "")
    assert os.stat(tools).st_ino == before.st_ino


def test_diff_shows_and_check_fails_and_neither_writes(tools, capfd):
    status, out, _ = call(capfd, "fix", tools, "--diff")
    assert status == 1
    assert f"-{OPEN}+{FIXED}" in out

    assert call(capfd, "fix", tools, "--check")[0] == 1
    assert tools.read_text() == OPEN
    tools.write_text(FIXED)
    assert call(capfd, "fix", tools, "--check")[0] == 0
    assert call(capfd, "fix", tools, "--diff")[:2] == (0, "")


def test_what_cannot_be_fixed_is_said_with_pointer_and_reason(tools, capfd):
    tools.write_text(STUCK)

    status, _, err = call(capfd, "fix", tools, "--for", "dynamo,openai-strict")

    assert status == 1
    assert tools.read_text() == STUCK
    assert "#/inputSchema: dynamo-" in err
    assert "#/inputSchema: openai-strict-" in err
    assert "not fixed: it is a map" in err


def test_lossy_steps_are_taken_only_when_asked_for_and_listed_even_when_quiet(tools, capfd):
    schema = {"type": "array", "uniqueItems": True}
    root = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    tools.write_text(json.dumps({**root, "additionalProperties": False}))

    assert call(capfd, "fix", tools, "--for", "dynamo")[0] == 1
    status, _, err = call(capfd, "fix", tools, "--for", "dynamo", "--lossy", "-q")

    assert status == 0
    assert "(lossy) drop `uniqueItems`; the description says it" in err
    assert "Items must be unique." in tools.read_text()


def test_what_is_said_of_an_edit_is_right_before_and_after_it_is_made(tools, capfd):
    _, told, err = call(capfd, "fix", tools, "--check")
    assert "1 would be changed" in err
    assert tools.read_text() == OPEN
    _, done, err = call(capfd, "fix", tools)
    assert "1 changed" in err

    assert told == done
    assert "SG401 close the object: refuse names that it does not declare\n" in done
    assert "SG402 require `a`, and let null stand for leaving it out\n" in done


def test_errors_about_tools_are_left_and_count_as_the_check_counts_them(tools, capfd):
    tools.write_text(OPEN.replace('"open"', '"get weather!"'))

    status, _, err = call(capfd, "fix", tools, "--for", "openai-strict")

    assert status == 1
    assert "1 file, 1 changed: 2 edits, 1 left" in err
    assert "tools.json: #/name: openai-strict-" in err
    assert "SG622" in err
    assert "not fixed: only schemas are edited" in err
    assert call(capfd, "check", tools, "--profile", "openai-strict")[0] == 1
    tools.write_text(tools.read_text().replace("get weather!", "get_weather"))
    assert call(capfd, "fix", tools, "--for", "openai-strict")[0] == 0
    assert call(capfd, "check", tools, "--profile", "openai-strict")[0] == 0


def test_the_prefix_of_the_configuration_counts_as_it_does_for_the_check(tools, capfd):
    (tools.parent / "pyproject.toml").write_text(
        '[tool.schemaguard]\nprofile = "openai-strict"\ntool-prefix = "mcp__server__"\n'
    )
    tools.write_text(OPEN.replace('"open"', f'"{"a" * 60}"'))

    assert call(capfd, "fix", tools)[0] == 1
    assert call(capfd, "check", tools)[0] == 1


def test_python_objects_are_read_and_not_edited_and_what_to_do_is_said(tools, capfd):
    source = tools.parent / "mytools.py"
    text = f"BAD = {OPEN}GOOD = {FIXED}".replace("false", "False")
    source.write_text(text)

    status, out, err = call(capfd, "fix", "mytools.py:BAD")
    assert (status, out) == (1, "")
    assert "mytools.py:BAD: #/inputSchema: not fixed: Python sources are not edited" in err
    assert "schemaguard.fix.to_profile" in err
    assert "1 file, 0 changed: 0 edits, 1 left" in err

    assert call(capfd, "fix", "--diff", "mytools.py:GOOD")[:2] == (0, "")
    status, _, err = call(capfd, "fix", "mytools.py")
    assert status == 1
    assert "schemaguard.fix.to_profile" in err
    assert "FILE.py:NAME" not in err
    status, _, err = call(capfd, "fix", "mytools.py:NONE", "none.py:X", tools)
    assert status == 2
    assert "has no attribute 'NONE'" in err
    assert "there is no file none.py" in err
    assert tools.read_text() == FIXED
    assert source.read_text() == text


def test_of_a_folder_files_without_schemas_are_passed_over(tools, capfd):
    other = tools.parent / "package.json"
    other.write_text('{"name": "p", "version": "1.0"}')

    status, _, err = call(capfd, "fix", ".")
    assert status == 0
    assert "package.json" not in err
    assert "1 file, 1 changed" in err
    assert call(capfd, "check", ".")[0] == 0

    status, _, err = call(capfd, "fix", ".", "package.json")
    assert status == 1
    assert "package.json: #: not fixed" in err
    tools.unlink()
    status, _, err = call(capfd, "fix", ".")
    assert status == 2
    assert "no tool and no schema in the files of this folder" in err


def test_rules_that_the_configuration_ignores_are_neither_fixed_nor_left(tools, capfd):
    config = tools.parent / "pyproject.toml"
    tools.write_text(FIXED.replace('"open"', '"get weather!"'))
    config.write_text('[tool.schemaguard]\nprofile = "openai-strict"\nignore = ["SG622"]\n')

    assert call(capfd, "fix", tools)[0] == 0
    assert call(capfd, "check", tools)[0] == 0
    assert call(capfd, "fix", tools, "--isolated", "--for", "openai-strict")[0] == 1
    config.write_text('[tool.schemaguard]\nextend-ignore = ["SG402"]\n')
    tools.write_text(OPEN)
    assert call(capfd, "fix", tools)[0] == 0
    assert tools.read_text() == OPEN.replace(
        '"string"}}}', '"string"}}, "additionalProperties": false}'
    )


def test_symbolic_links_are_followed_and_stay_links(tools, capfd):
    link = tools.parent / "link.json"
    link.symlink_to(tools)

    assert call(capfd, "fix", link)[0] == 0
    assert link.is_symlink()
    assert tools.read_text() == FIXED


def test_standard_input_is_fixed_on_standard_output(tools, capfd, monkeypatch):
    with open(tools) as file:
        monkeypatch.setattr(sys, "stdin", file)
        status, out, err = call(capfd, "fix", "-", "--for", "dynamo")

    assert (status, out) == (0, FIXED)
    assert "SG401" in err
    assert tools.read_text() == OPEN


def test_references_are_brought_in_from_files_that_are_named(tools, capfd):
    (tools.parent / "common.json").write_text('{"$defs": {"id": {"type": "integer"}}}')
    root = {"type": "object", "properties": {"a": {"$ref": "common.json#/$defs/id"}}}
    tools.write_text(json.dumps({**root, "required": ["a"], "additionalProperties": False}))

    assert call(capfd, "fix", tools)[0] == 1
    assert call(capfd, "fix", "--bundle", "common.json", tools)[0] == 0
    assert json.loads(tools.read_text())["$defs"] == {"id": {"type": "integer"}}


def test_each_document_to_bring_in_is_named_by_an_option_of_its_own(tools, capfd):
    (tools.parent / "a.json").write_text('{"$defs": {"x": {"$ref": "b.json#/$defs/y"}}}')
    (tools.parent / "b.json").write_text('{"$defs": {"y": {"type": "integer"}}}')
    root = {"type": "object", "properties": {"a": {"$ref": "a.json#/$defs/x"}}}
    tools.write_text(json.dumps({**root, "required": ["a"], "additionalProperties": False}))

    assert call(capfd, "fix", "--bundle", "a.json", "--bundle", "b.json", tools)[0] == 0
    fixed = json.loads(tools.read_text())
    assert fixed["$defs"] == {"x": {"$ref": "#/$defs/y"}, "y": {"type": "integer"}}


def test_what_is_no_file_is_not_read_for_references(tools, capfd):
    os.mkfifo(tools.parent / "pipe.json")

    for name in ("pipe.json", "none.json", "."):
        status, _, err = call(capfd, "fix", "--bundle", name, tools)
        assert status == 2
        assert name in err
    assert tools.read_text() == OPEN


def test_a_byte_order_mark_of_yaml_stays(tools, capfd):
    path = tools.parent / "t.yaml"
    path.write_bytes(b"\xef\xbb\xbftype: object\r\nproperties: {}\r\n")

    assert call(capfd, "fix", path)[0] == 0
    content = path.read_bytes()
    assert content == (
        b"\xef\xbb\xbftype: object\r\nproperties: {}\r\nadditionalProperties: false\r\n"
    )


def test_what_cannot_be_read_is_status_2_and_the_rest_is_fixed(tools, capfd):
    status, _, err = call(capfd, "fix", tools.parent / "none.json", tools)

    assert status == 2
    assert "none.json" in err
    assert tools.read_text() == FIXED


def test_an_unknown_profile_is_status_2(tools, capfd):
    status, _, err = call(capfd, "fix", tools, "--for", "nobody")

    assert status == 2
    assert "nobody" in err
    assert tools.read_text() == OPEN


def test_the_profile_of_the_configuration_counts_when_none_is_named(tools, capfd):
    (tools.parent / "pyproject.toml").write_text('[tool.schemaguard]\nprofile = "openai"\n')

    assert call(capfd, "fix", tools)[0] == 0
    assert tools.read_text() == OPEN  # fine for calls that are not strict


def test_what_is_no_regular_file_is_not_waited_for(tools, capfd):
    os.mkfifo(tools.parent / "pipe.json")

    status, _, err = call(capfd, "fix", "pipe.json", os.devnull, tools)

    assert status == 2
    assert "pipe.json: no regular file" in err
    assert f"{os.devnull}: no regular file" in err
    assert tools.read_text() == FIXED


def test_a_file_that_is_named_twice_is_in_the_patch_once(tools, capfd):
    (tools.parent / "link.json").symlink_to(tools)

    _, out, err = call(capfd, "fix", "--diff", "tools.json", "./tools.json", "link.json")

    assert out.count("--- ") == 1
    assert "1 file, 1 would be changed" in err


def test_a_file_that_cannot_be_written_stays_and_the_others_are_fixed(tools, capfd, monkeypatch):
    other = tools.parent / "a.json"
    other.write_text(OPEN)
    replace = os.replace

    def fails_once(source, target):
        if str(target).endswith("a.json"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails_once)
    status, out, err = call(capfd, "fix", "a.json", "tools.json")

    assert status == 2
    assert "cannot write a.json: No space left on device" in err
    assert "a.json: " not in out  # nothing was done to it
    assert "2 files, 1 changed" in err
    assert (other.read_text(), tools.read_text()) == (OPEN, FIXED)
    assert sorted(os.listdir(tools.parent)) == ["a.json", "tools.json"]


def test_a_file_that_changes_meanwhile_is_left_as_it_is(tools, capfd, monkeypatch):
    from schemaguard.cli import fix as command

    contents = [OPEN.encode(), OPEN.replace("open", "other").encode()]
    monkeypatch.setattr(command, "content_of", lambda _: contents.pop(0))

    status, _, err = call(capfd, "fix", "tools.json")

    assert status == 2
    assert "it was changed while it was fixed" in err
    assert tools.read_text() == OPEN
    assert os.listdir(tools.parent) == ["tools.json"]


def test_a_run_that_is_ended_leaves_no_half_of_a_file(tools):
    program = (
        "import os, signal, sys\n"
        "from schemaguard import cli\n"
        "from schemaguard.cli import fix\n"
        "seen = []\n"
        "def content_of(path):\n"
        "    seen.append(path)\n"
        "    if len(seen) == 2:  # the new text is written, and not yet in place\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return open(path, 'rb').read()\n"
        "fix.content_of = content_of\n"
        "sys.exit(cli.main(['fix', 'tools.json']))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )

    assert done.returncode == 128 + signal.SIGTERM
    assert tools.read_text() == OPEN
    assert os.listdir(tools.parent) == ["tools.json"]
