"""A line on the terminal while a long run goes on; nothing anywhere else."""

from __future__ import annotations

import os
import sys
import time

from schemaguard.errors import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.cli.tally import Tally

#: Seconds before there is anything to see, and between two changes of it.
_PATIENCE = 1.0
_INTERVAL = 0.1
#: Columns of a whole bar.
_BAR = 30
_ERASE = "\r\x1b[K"


class _Line:
    """One line on standard error when that is a terminal, written over as things go on."""

    def __init__(self, *, wanted: bool) -> None:
        self._shown = False
        self._next = float("inf")
        if wanted and _is_terminal():
            self._next = time.monotonic() + _PATIENCE

    def step(self) -> None:
        """After each thing that is done."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        self._shown = True
        print(_ERASE + self._line(), end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        raise NotImplementedError

    def clear(self) -> None:
        """Before anything else is written to the terminal."""
        if self._shown:
            self._shown = False
            print(_ERASE, end="", file=sys.stderr, flush=True)


class Progress(_Line):
    """How far a run over files is.

    Args:
        tally: what to show.
        wanted: False keeps it quiet.
    """

    def __init__(self, tally: Tally, *, wanted: bool) -> None:
        super().__init__(wanted=wanted)
        self._tally = tally

    def _line(self) -> str:
        tally = self._tally
        parts = ((tally.files, "file"), (tally.tools, "schema"), (tally.findings, "finding"))
        return ", ".join(counted(number, noun) for number, noun in parts)


class Bar(_Line):
    """How many of a known number of things are done.

    Args:
        total: how many there are.
        wanted: False keeps it quiet.
    """

    def __init__(self, total: int, *, wanted: bool) -> None:
        super().__init__(wanted=wanted)
        self._total = total
        self._done = 0

    def step(self) -> None:
        """After each one."""
        self._done += 1
        super().step()

    def _line(self) -> str:
        filled = _BAR * self._done // max(self._total, 1)
        return f"[{'=' * filled}{'.' * (_BAR - filled)}] {self._done:,} of {self._total:,}"


def _is_terminal() -> bool:
    try:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
    return is_terminal and os.environ.get("TERM") != "dumb"
