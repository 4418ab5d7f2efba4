"""`schemaguard tag`: output, status, and what it says on bad input."""

from __future__ import annotations

import json

import pytest
from command import call, is_one_clear_line, run

pytest.importorskip("xgrammar")

CLOSED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
          "additionalProperties": False}  # fmt: skip


def body(parameters=CLOSED, **more):
    function = {"name": "weather", "parameters": parameters, **more}
    return json.dumps(
        {"model": "m", "messages": [], "tools": [{"type": "function", "function": function}]}
    )


@pytest.fixture
def request_file(tmp_path):
    def write(text):
        path = tmp_path / "request.json"
        path.write_text(text)
        return path

    return write


def test_the_plan_and_the_tag_are_printed(capfd, request_file) -> None:
    path = request_file(body())
    status, out, _ = call(capfd, "tag", path, "--parser", "hermes")
    lines = out.splitlines()

    assert status == 0
    assert lines[0].startswith("tag: ")
    assert any("pinned" in line and "weather" in line for line in lines)
    assert json.loads(lines[-1])["type"] == "structural_tag"


def test_json_has_everything_that_the_plan_has(capfd, request_file) -> None:
    path = request_file(body())
    status, out, _ = call(
        capfd, "tag", path, "--parser", "hermes", "--policy", "vllm:2", "--output-format", "json"
    )
    said = json.loads(out)

    assert status == 0
    assert said["version"] == 1
    assert said["ok"] is True
    assert said["tools"][0]["state"] == "pinned"
    assert said["tag"]["type"] == "structural_tag"
    assert said["needs_tokens"] == ["<tool_call>", "</tool_call>"]
    assert {"refusal", "reason", "unenforced", "warnings", "parser", "style", "policy"} <= set(said)


@pytest.mark.parametrize(
    ("text", "arguments", "status"),
    [
        (body(), ["--policy", 'dynamo:{"scope": "auto"}'], 0),  # nobody wants a tag
        (body(strict=False), [], 0),
        (body(strict=True), ["--policy", "vllm"], 0),
        (body({"type": "array"}), [], 1),  # relaxed though wanted
        (body({"type": "array"}), ["--policy", "vllm:parameter"], 1),  # refused
        (body({"type": "object"}, strict=True), [], 1),  # fails the preflight
        ("{", [], 1),
        ("[]", [], 1),
        ("", [], 1),
    ],
)
def test_the_status_says_whether_all_is_as_the_policy_wants_it(
    capfd, request_file, text, arguments, status
) -> None:
    got, out, err = call(capfd, "tag", request_file(text), "--parser", "hermes", *arguments)

    assert got == status, (out, err)
    assert out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--parser", "hermez"],
        ["--parser", "hermes", "--policy", "trt"],
        ["--parser", "hermes", "--policy", "dynamo:{"],
        ["--parser", "hermes", "--policy", "vllm:9"],
        ["--parser", "llama", "--token-markers"],
        ["--parser", "hermes", "--policy", 'dynamo:{"reasoning_boundary": "structural_tag"}',
         "--reasoning", "backend"],
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_setting_is_one_clear_line_and_status_2(capfd, request_file, arguments) -> None:
    status, out, err = call(capfd, "tag", request_file(body()), *arguments)

    assert status == 2
    assert out == ""
    assert is_one_clear_line(err)


def test_a_parser_that_was_nearly_right_is_guessed(capfd, request_file) -> None:
    _, _, err = call(capfd, "tag", request_file(body()), "--parser", "hermez")

    assert "hermes" in err


def test_a_missing_file_is_status_2(capfd, tmp_path) -> None:
    status, _, err = call(capfd, "tag", tmp_path / "none.json", "--parser", "hermes")

    assert status == 2
    assert is_one_clear_line(err)


def test_the_request_can_come_from_stdin_and_settings_from_the_environment(tmp_path) -> None:
    plain = run("tag", "-", "--parser", "hermes", cwd=tmp_path, stdin=body().encode())
    off = run("tag", "-", "--parser", "hermes", "--from-env", cwd=tmp_path, stdin=body().encode(),
              env={"DYN_STRUCTURAL_TAG": "false"})  # fmt: skip

    assert plain.returncode == 0
    assert plain.stdout.startswith("tag: ")
    assert off.returncode == 0
    assert off.stdout.startswith("no tag: ")


def test_reasoning_and_ban_are_options(capfd, request_file) -> None:
    banned = body()[:-1] + ', "tool_choice": "none"}'
    _, on, _ = call(capfd, "tag", request_file(body()), "--parser", "hermes", "--reasoning", "on")
    _, ban, _ = call(
        capfd, "tag", request_file(banned), "--parser", "hermes", "--tools-in-prompt", "yes"
    )

    assert '"type":"sequence"' in on
    assert "tools-in-prompt" in ban


def test_the_output_goes_to_a_file(capfd, request_file, tmp_path) -> None:
    target = tmp_path / "plan.json"
    status, out, _ = call(capfd, "tag", request_file(body()), "--parser", "hermes",
                          "--output-format", "json", "-o", target)  # fmt: skip

    assert status == 0
    assert out == ""
    assert json.loads(target.read_text())["ok"] is True


def test_names_cannot_move_the_cursor(capfd, request_file) -> None:
    text = body().replace("weather", "\\u001b[2J\\u202e")
    _, out, _ = call(capfd, "tag", request_file(text), "--parser", "hermes", "--policy", "vllm:2")

    assert "\x1b" not in out
    assert "\u202e" not in out
