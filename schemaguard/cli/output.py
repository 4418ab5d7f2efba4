"""Where results go: standard output, or a file that is replaced in one step, or not at all."""

from __future__ import annotations

import os
import stat
import sys

from schemaguard.errors import SchemaguardError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import BinaryIO, Self, TextIO


class OutputError(SchemaguardError):
    """The output cannot be written; the message says where and why."""


class Output:
    """A place for text, as a context manager.

    A file appears, whole, when the block ends; after an exception it is as it was before. That it
    can be written is found out at the start, before any work.

    Args:
        path: of the file; None is standard output.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._target: str | None = None
        self._temporary: str | None = None

    def __enter__(self) -> Self:
        if self._path is None:
            if sys.stdout is None:
                raise OutputError("standard output is closed")
            return self
        try:
            self._open(os.path.realpath(self._path))
        except OSError as error:
            self._discard()
            raise self._failed(error) from error
        except BaseException:  # Ctrl-C, just now
            self._discard()
            raise
        return self

    def _open(self, target: str) -> None:
        try:
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            self._file = open(target, "wb")  # noqa: SIM115  (a device or a pipe; closed in __exit__)
            return
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        folder, name = os.path.split(target)
        temporary = os.path.join(folder, f".{name[:100]}.{os.getpid()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self._temporary = temporary  # before it is there: Ctrl-C may come at any time
        self._target = target
        try:
            descriptor = os.open(temporary, flags, 0o666)
        except FileExistsError:  # not ours
            self._temporary = None
            raise
        self._file = os.fdopen(descriptor, "wb")
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))

    def _failed(self, error: OSError) -> OutputError:
        reason = printable(error.strerror or type(error).__name__)
        return OutputError(f"cannot write {printable(self._path or 'standard output')}: {reason}")

    @property
    def stream(self) -> TextIO | None:
        """The terminal, or what stands in for it; None when the text goes to a file."""
        return sys.stdout if self._path is None else None

    def write(self, text: str, *, utf_8: bool = False) -> None:
        r"""Write text.

        Args:
            text: half surrogate pairs in it become `\udXXX`.
            utf_8: the format says that it is UTF-8, whatever the terminal has.

        Raises:
            BrokenPipeError: nobody reads standard output any more.
            OutputError: the disk is full, or the like.
        """
        try:
            if self._file is not None:
                self._file.write(text.encode("utf-8", "backslashreplace"))
                return
            encoding = "utf-8" if utf_8 else sys.stdout.encoding or "utf-8"
            encoded = text.encode(encoding, "backslashreplace")
            buffer = getattr(sys.stdout, "buffer", None)
            if utf_8 and buffer is not None:
                sys.stdout.flush()
                buffer.write(encoded)
            else:
                sys.stdout.write(encoded.decode(encoding))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
            if kind is None and self._temporary is not None and self._target is not None:
                os.replace(self._temporary, self._target)
                self._temporary = None
        except OSError as error:
            if kind is None:
                raise self._failed(error) from error
        finally:
            self._discard()

    def _discard(self) -> None:
        """Remove the temporary file unless it has taken its place."""
        if self._temporary is not None:
            try:  # noqa: SIM105  (contextlib is an import that no start-up needs)
                os.unlink(self._temporary)
            except OSError:  # it is gone already, or was never there
                pass
            self._temporary = None
