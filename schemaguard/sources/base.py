"""What every kind of file becomes: a `Source` of one or more parts, with places in its text."""

from __future__ import annotations

from schemaguard.errors import SchemaguardError
from schemaguard.positions import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from schemaguard.reader import Fault

    Span = tuple[int, int]


class SourceError(SchemaguardError):
    """Nothing could be read from a place: a program failed, a server did not answer.

    The message is one line about the place, and not printable as it is: it may quote the program.
    """


class Part:
    """One value of a source.

    Attributes:
        prefix: JSON Pointer to it in the file: "" when the file is this value; "/3" for the fourth
            record or document of a file that is a sequence of them.
        value: the value; meaningless unless `readable`.
        faults: what is wrong with its text; offsets are into the whole text.
        readable: the value has one definite meaning.
    """

    __slots__ = ("faults", "prefix", "readable", "value")

    def __init__(
        self, prefix: str, value: Any, faults: tuple[Fault, ...] = (), *, readable: bool = True
    ) -> None:
        self.prefix = prefix
        self.value = value
        self.faults = faults
        self.readable = readable


class Source:
    """A file (or what stands for one) as it was read. Subclasses know where the values are.

    Attributes:
        path: as it was given; for messages.
        format: "json", "jsonl", "jsonc", "yaml", "toml", "python", "mcp".
        text: the text, None when there is none.
        parts: the values, in the order of the text.
        faults: all faults, those of the parts included, at most as many as a reader keeps.
        fault_count: how many there were.
        refusal: why nothing is read at all, or None.
    """

    __slots__ = ("_lines", "fault_count", "faults", "format", "parts", "path", "refusal", "text")

    def __init__(
        self,
        path: str,
        format: str,  # noqa: A002  (the word for it)
        text: str | None,
        parts: Iterable[Part] = (),
        faults: tuple[Fault, ...] = (),
        fault_count: int | None = None,
        refusal: str | None = None,
    ) -> None:
        self.path = path
        self.format = format
        self.text = text
        self.parts = tuple(parts)
        self.faults = faults
        self.fault_count = len(faults) if fault_count is None else fault_count
        self.refusal = refusal
        self._lines: Lines | None = None

    def __repr__(self) -> str:
        return f"<Source: {self.format}, {len(self.parts)} parts, {self.fault_count} faults>"

    @property
    def readable(self) -> bool:
        """Whether all of it was read."""
        return (
            self.refusal is None
            and all(part.readable for part in self.parts)
            and all(fault.name == "duplicate-key" for fault in self.faults)
        )

    def spans(self, pointers: Iterable[str]) -> dict[str, Span | None]:
        """Where the values of JSON Pointers into the file are.

        Returns:
            For each pointer (start, end) in code points of `text`, end exclusive; None for what is
            not there or cannot be told.
        """
        return dict.fromkeys(pointers)

    def tokens_of_faults(self) -> dict[int, tuple[str | int, ...]]:
        """Offset of a fault → the steps from the root to the value or name that is at fault.

        Faults that have no place in a value have none here.
        """
        return {}

    def line_column(self, offset: int) -> tuple[int, int] | None:
        """Line and column of an offset, both from 1, columns in code points."""
        if self.text is None:
            return None
        if self._lines is None:
            self._lines = Lines(self.text)
        return self._lines.locate(offset)


class ValueSource(Source):
    """A value that has no text: from a program or a server."""

    __slots__ = ()

    def __init__(self, path: str, format: str, value: Any) -> None:  # noqa: A002
        super().__init__(path, format, None, (Part("", value),))
