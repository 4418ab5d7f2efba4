"""A piece of the line that a finding is about, with marks under the place.

A line may be the whole file: what is shown is cut around the place, and the text is gone through
once for all findings.
"""

from __future__ import annotations

import unicodedata

from schemaguard.errors import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.lint import Finding

#: Columns of a terminal to show before the place, and from it on.
_BEFORE = 36
_AFTER = 60
#: Code points to look at on either side: characters without width take no columns.
_LOOK = 100
#: Code points whose line ends are counted at a time.
_BLOCK = 4_096
_TAB = "    "


class Source:
    """The text of one file."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Somewhere in a line, and that line's number; at its start when `excerpt` is done.
        self._at = 0
        self._line = 1

    def excerpt(self, finding: Finding) -> tuple[str, str] | None:
        """The piece around a finding, and as long a line of blanks and carets to go under it.

        Fastest when the findings come by line. None when the finding has no place in the text.
        """
        if finding.line is None or finding.column is None:
            return None
        start = self._start(finding.line)
        if start is None:
            return None
        text = self._text
        place = min(start + finding.column - 1, len(text))
        before, cut_before = _fit(
            range(place - 1, max(start, place - _LOOK) - 1, -1), text, _BEFORE
        )
        before.reverse()
        cut_before = cut_before or place - start > _LOOK
        end = text.find("\n", place, place + _LOOK)
        if end > place and text[end - 1] == "\r":
            end -= 1
        stop = min(place + _LOOK, len(text)) if end < 0 else end
        after, cut_after = _fit(range(place, stop), text, _AFTER)
        cut_after = cut_after or (end < 0 and stop < len(text))
        marked = len(after)
        if finding.end_line == finding.line and finding.end_column is not None:
            marked = min(marked, max(finding.end_column - finding.column, 0))
        left = "..." * cut_before + "".join(shown for shown, _ in before)
        width = 3 * cut_before + sum(cells for _, cells in before)
        right = "".join(shown for shown, _ in after) + "..." * cut_after
        carets = max(1, sum(cells for _, cells in after[:marked]))
        return left + right, " " * width + "^" * carets

    def _start(self, line: int) -> int | None:
        """Offset of the first character of a line."""
        if line < self._line:
            self._at, self._line = 0, 1
        while self._line < line:
            if self._at >= len(self._text):
                self._at, self._line = 0, 1
                return None
            ends = self._text.count("\n", self._at, self._at + _BLOCK)
            if self._line + ends < line:
                self._at += _BLOCK
                self._line += ends
                continue
            for _ in range(line - self._line):
                self._at = self._text.index("\n", self._at) + 1
            self._line = line
        return self._at


def _fit(places: Iterable[int], text: str, room: int) -> tuple[list[tuple[str, int]], bool]:
    """What to show of the characters at some places, as far as there is room; whether it is cut."""
    cells: list[tuple[str, int]] = []
    for place in places:
        cell = _cell(text[place], text[place - 1] if place else "")
        room -= cell[1]
        if room < 0:
            return cells, True
        cells.append(cell)
    return cells, False


def _cell(char: str, previous: str) -> tuple[str, int]:
    """How a character is shown, and how many columns of a terminal that takes."""
    if char == "#" == previous:
        return "\\u0023", 6  # see `common.safe`
    if " " <= char <= "~":
        return char, 1
    if char == "\t":
        return _TAB, len(_TAB)
    shown = printable(char)
    if len(shown) > 1:
        return shown, len(shown)
    if unicodedata.category(char) in ("Mn", "Me"):
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1
