"""The demonstration runs, on the real servers and the real vocabulary."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import ROOT


def test_the_demo_decodes_nothing_but_valid_arguments():
    if not (ROOT / ".venv" / "servers" / "bin" / "mcp-server-time").exists():
        pytest.skip("needs the MCP servers that `make test` sets up")
    if not (ROOT / ".venv" / "vocab" / "qwen.tiktoken").exists():
        pytest.skip("needs the vocabulary that `make test` sets up")
    done = subprocess.run(
        [sys.executable, str(ROOT / "demo" / "demo.py"), "--generations", "10"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^mcp-server-git: \d+ tools$", done.stdout, re.MULTILINE)
    assert re.search(r"^0 of 15 accepted as they are, 15 when closed$", done.stdout, re.MULTILINE)
    valid = re.search(r"^valid under masks: 10/10, without: (\d+)/10$", done.stdout, re.MULTILINE)
    assert valid
    assert int(valid[1]) < 10
