"""Blocks of the pages, as a reader pastes them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

_fence = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

#: What a block may import that is not always installed → the extra or the package that has it.
NEEDED = {
    "schemaguard.grammar": ("xgrammar", "the extra `xgrammar`"),
    "torch": ("torch", "the extra `xgrammar`"),
    "transformers": ("transformers", "the extra `xgrammar`"),
    "fastapi": ("fastapi", "fastapi"),
    "msgspec": ("msgspec", "msgspec"),
}


def blocks(text, language):
    """The texts of the blocks in a language, in order."""
    return [body for found, body in _fence.findall(text) if found == language]


def run_python(code, folder=None):
    """Run code as a program of its own, or skip the test with what it needs."""
    for name, (module, what) in NEEDED.items():
        if re.search(rf"^(?:from|import) {re.escape(name)}\b", code, re.MULTILINE):
            pytest.importorskip(module, reason=f"needs {what}")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done
