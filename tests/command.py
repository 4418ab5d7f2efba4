"""The command line under test: in this process, and as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from schemaguard import cli

GOOD = '{"name": "good", "inputSchema": {"type": "object", "additionalProperties": false}}'
#: One finding, SG401, at the value of `inputSchema`: line 1, column 32.
OPEN = '{"name": "open", "inputSchema": {"type": "object"}}'

ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("NO_COLOR", "FORCE_COLOR", "SCHEMAGUARD_OUTPUT_FORMAT", "PYTHONUTF8")
}
PROGRAM = [sys.executable, "-m", "schemaguard"]


def call(capfd, *arguments):
    """(exit status, standard output, standard error) of a call in this process."""
    capfd.readouterr()
    try:
        status = cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = stop.code
    out, err = capfd.readouterr()
    return status, out, err


def run(*arguments, cwd, stdin=b"", env=(), timeout=60):
    """The same of a process of its own, as a `CompletedProcess` with text."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        env={**ENVIRONMENT, **dict(env)},
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def is_one_clear_line(stderr):
    """Whether standard error is one line of ours, and no traceback."""
    lines = stderr.splitlines()
    return len(lines) == 1 and lines[0].startswith("schemaguard: ")
