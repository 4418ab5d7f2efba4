"""A line on the terminal while a long run goes on; nothing anywhere else."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.cli.tally import Tally

#: Seconds before there is anything to see, and between two changes of it.
_PATIENCE = 1.0
_INTERVAL = 0.1
_ERASE = "\r\x1b[K"


class Progress:
    """How far a run is, on standard error when that is a terminal.

    Args:
        tally: what to show.
        wanted: False keeps it quiet.
    """

    def __init__(self, tally: Tally, *, wanted: bool) -> None:
        self._tally = tally
        self._shown = False
        self._next = float("inf")
        if wanted and _is_terminal():
            self._next = time.monotonic() + _PATIENCE

    def step(self) -> None:
        """After each file."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        self._shown = True
        tally = self._tally
        line = f"{tally.files:,} files, {tally.tools:,} schemas, {tally.findings:,} findings"
        print(_ERASE + line, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Before anything else is written to the terminal."""
        if self._shown:
            self._shown = False
            print(_ERASE, end="", file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    try:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
    return is_terminal and os.environ.get("TERM") != "dumb"
