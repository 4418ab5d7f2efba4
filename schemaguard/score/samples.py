"""Requests of a verifier's `samples.jsonl`, for results from which they were left out."""

from __future__ import annotations

import tempfile
from array import array

from schemaguard._closing import Closing
from schemaguard.score.lines import MAX_LINE, LineError, Lines, value_of
from schemaguard.score.records import MAX_INDEX, body_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO


class Samples(Closing):
    """Tools by `data_index`, the number of the line from 1, as a context manager.

    Memory is eight bytes a line; what gzip holds is unpacked to a temporary file.

    Args:
        path: of the samples.
    """

    def __init__(self, path: str) -> None:
        self._offsets = array("Q")
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (closed in __exit__)
        try:
            self._copy(path)
        except BaseException:
            self._file.close()
            raise

    def _copy(self, path: str) -> None:
        """Line by line, since faulty and overlong lines are left out."""
        offset = 0
        with Lines(path) as lines:
            for number, line in lines:
                if number > MAX_INDEX:
                    return
                while len(self._offsets) < number:  # lines that were blank
                    self._offsets.append(offset)
                self._offsets[number - 1] = offset
                read = b"" if isinstance(line, LineError) else line.removesuffix(b"\n")
                offset += self._file.write(read + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def tools(self, index: int) -> tuple[bool, Any]:
        """Whether there is such a request, and its tools."""
        if index > len(self._offsets):
            return False, None
        self._file.seek(self._offsets[index - 1])
        try:
            request = body_of(value_of(self._file.readline(MAX_LINE + 1)))
        except LineError:
            return False, None
        return request is not None, None if request is None else request.get("tools")
