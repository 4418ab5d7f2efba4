"""The examples run as they are, and do what they say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
from instances import validator

pytest.importorskip("xgrammar")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_engine_loop_serves_refuses_and_fails_its_requests(seed: str) -> None:
    requests = run_path(str(EXAMPLES / "engine_loop.py"))["REQUESTS"]

    lines = run("engine_loop.py", "--seed", seed).stdout.splitlines()

    answers = dict(line.split(": ", 1) for line in lines)
    assert len(answers) == len(lines)
    assert set(answers) == set(requests)  # whoever joins also leaves
    assert "refused" in answers.pop("code-1")
    assert "dead end" in answers.pop("id-1")
    assert "bytes of anything" in answers.pop("chat")
    for name, answer in answers.items():
        call, forced, tokens = re.fullmatch(
            r"(.*), (\d+) of (\d+) tokens were forced", answer
        ).groups()  # type: ignore[union-attr]
        assert validator(requests[name]).is_valid(json.loads(call))
        assert 10 < int(forced) < int(tokens)


def test_the_generate_example_writes_instances_of_its_schema() -> None:
    pytest.importorskip("transformers")
    schema = run_path(str(EXAMPLES / "generate.py"))["BOOKING"]

    lines = run("generate.py").stdout.splitlines()

    assert len(lines) == 3
    for line in lines:
        assert validator(schema).is_valid(json.loads(line))
