"""JSON Lines from a file, plain or gzip, within limits: a bad line is counted, never an end."""

from __future__ import annotations

import gzip
import json
import os
import stat
import zlib

from schemaguard._closing import Closing
from schemaguard.errors import SchemaguardError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

#: Bytes of a line; a request with a long conversation and its answer has a hundredth of it.
MAX_LINE = 8 << 20
#: Values in a line: parsed, each takes some fifty bytes.
MAX_VALUES = 1_000_000
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class ScoreError(SchemaguardError):
    """A file cannot be scored at all; the message says why."""


class LineError(Exception):
    """A line that cannot be read.

    Attributes:
        kind: "too-long", "not-utf-8", "not-json", "too-deep", "too-many-values" or "broken-gzip".
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


class Lines(Closing):
    """The lines of a file, as a context manager. Blank lines are passed over.

    Args:
        path: of a regular file. It may have to be read twice, so a pipe will not do.

    Raises:
        ScoreError: it is something else.
        OSError: it cannot be read.
    """

    def __init__(self, path: str) -> None:
        status = os.stat(path)  # before it is opened: to open a pipe waits for its writer
        if not stat.S_ISREG(status.st_mode):
            raise ScoreError(f"{printable(path)}: only regular files can be scored")
        self._raw: BinaryIO = open(path, "rb")  # noqa: SIM115  (closed in close)
        self.size = status.st_size
        self._file: BinaryIO = self._raw
        start = self._raw.read(len(_GZIP))
        self._raw.seek(0)
        if start == _GZIP:
            self._file = gzip.GzipFile(fileobj=self._raw)  # type: ignore[assignment]

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    @property
    def position(self) -> int:
        """Bytes of the file that were read; of `size`."""
        return self._raw.tell()

    @property
    def compressed(self) -> bool:
        """Whether the file is gzip, so that it cannot be read from the middle."""
        return self._file is not self._raw

    def __iter__(self) -> Iterator[tuple[int, bytes | LineError]]:
        """Number, from 1, and bytes of each line that is not blank; or what is wrong with it."""
        number = 0
        while True:
            number += 1
            try:
                line = self._file.readline(MAX_LINE + 1)
                whole = len(line) <= MAX_LINE or line.endswith(b"\n") or self._skip()
            except (EOFError, gzip.BadGzipFile, zlib.error):
                yield number, LineError("broken-gzip")
                return
            if not line:
                return
            if not whole:
                yield number, LineError("too-long")
            elif not line.isspace():
                yield number, line.removeprefix(_BOM) if number == 1 else line

    def _skip(self) -> bool:
        """Pass over the rest of a line in bounded memory."""
        while True:
            part = self._file.readline(_CHUNK)
            if not part or part.endswith(b"\n"):
                return False


def value_of(line: bytes) -> Any:
    """The value of a line, as the verifier reads it: `json.loads`, within limits.

    Raises:
        LineError: there is none.
    """
    if len(line) > MAX_VALUES and sum(map(line.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise LineError("too-many-values")
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError:
        raise LineError("not-utf-8") from None
    except ValueError:
        raise LineError("not-json") from None
    except RecursionError:
        raise LineError("too-deep") from None
