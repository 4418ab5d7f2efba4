"""JSON, JSON Lines, and JSON with comments.

JSON Lines are read as if the file were an array of its records, with blank lines left out: the
pointer of what is in the third record starts with `/2`.
"""

from __future__ import annotations

import re

from schemaguard.document import Document, read
from schemaguard.reader import MAX_FAULTS, Fault, Limits
from schemaguard.sources.base import Part, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemaguard.sources.base import Span


class JsonSource(Source):
    """One JSON text."""

    __slots__ = ("_document",)

    def __init__(
        self,
        path: str,
        document: Document,
        format: str = "json",  # noqa: A002  (the word for it)
        text: str | None = None,
    ) -> None:
        part = Part("", document.value, document.faults, readable=document.readable)
        super().__init__(
            path,
            format,
            document.text if text is None else text,
            (part,),
            document.faults,
            document.fault_count,
        )
        self._document = document

    def spans(self, pointers: Iterable[str]) -> dict[str, Span | None]:
        """See `Source.spans`."""
        return self._document.spans(pointers)

    def tokens_of_faults(self) -> dict[int, tuple[str | int, ...]]:
        """See `Source.tokens_of_faults`."""
        return self._document.tokens_of_faults()


def read_json(path: str, data: bytes | str, limits: Limits) -> Source:
    """Read one JSON text."""
    return JsonSource(path, read(data, limits))


# ------------------------------------------------------------------------------------------------
# JSON Lines
# ------------------------------------------------------------------------------------------------


class LinesSource(Source):
    """JSON Lines."""

    __slots__ = ("_documents",)

    def __init__(
        self,
        path: str,
        text: str,
        parts: list[Part],
        documents: list[tuple[int, Document]],
        faults: tuple[Fault, ...],
        count: int,
    ) -> None:
        super().__init__(path, "jsonl", text, parts, faults, count)
        self._documents = documents  # with where each record starts

    def spans(self, pointers: Iterable[str]) -> dict[str, Span | None]:
        """See `Source.spans`."""
        found: dict[str, Span | None] = {}
        by_record: dict[str, list[str]] = {}
        for pointer in pointers:
            found[pointer] = None
            _, _, rest = pointer.partition("/")
            by_record.setdefault(rest.partition("/")[0], []).append(pointer)
        for token, wanted in by_record.items():
            if not token.isdecimal() or int(token) >= len(self._documents):
                continue
            start, document = self._documents[int(token)]
            drop = 1 + len(token)
            spans = document.spans({pointer[drop:] for pointer in wanted})
            for pointer in wanted:
                span = spans[pointer[drop:]]
                found[pointer] = span and (start + span[0], start + span[1])
        return found

    def tokens_of_faults(self) -> dict[int, tuple[str | int, ...]]:
        """See `Source.tokens_of_faults`."""
        return {
            start + offset: (index, *tokens)
            for index, (start, document) in enumerate(self._documents)
            if document.faults
            for offset, tokens in document.tokens_of_faults().items()
        }


def read_lines(path: str, data: bytes | str, limits: Limits) -> Source:
    """Read JSON Lines; the limits hold for the file, the depth for each record.

    Reading stops after `MAX_FAULTS` faults: such a file is no JSON Lines.
    """
    whole = decoded(data, limits)
    if isinstance(whole, Fault):
        return Source(path, "jsonl", None, (), (whole,))
    parts: list[Part] = []
    documents: list[tuple[int, Document]] = []
    faults: list[Fault] = []
    count = 0
    # No text has more values than this; counting them record by record is seldom worth it.
    most = sum(map(whole.count, ",[{\n")) + 1
    room = limits.max_nodes
    for start, line in _records(whole):
        bounds = limits
        if most > limits.max_nodes:
            if room < 1:
                faults.append(Fault("too-many-nodes", start, str(limits.max_nodes)))
                count += 1
                break
            bounds = Limits(max_bytes=limits.max_bytes, max_depth=limits.max_depth, max_nodes=room)
        document = read(line, bounds)
        if bounds is not limits:
            room -= document.nodes or 1
        own = tuple(Fault(f.name, f.offset + start, f.detail) for f in document.faults)
        parts.append(Part(f"/{len(parts)}", document.value, own, readable=document.readable))
        documents.append((start, document))
        faults += own
        count += document.fault_count
        if len(faults) >= MAX_FAULTS:
            break
    return LinesSource(path, whole, parts, documents, tuple(faults), count)


def _records(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        if line.strip(" \t\r"):
            yield start, line
        start = end + 1


def decoded(data: bytes | str, limits: Limits) -> str | Fault:
    """The text of a file, or why there is none. A UTF-8 byte order mark stays in the text."""
    size = len(data)
    if size <= limits.max_bytes and isinstance(data, str) and not data.isascii():
        size = len(data.encode("utf-8", "surrogatepass"))
    if size > limits.max_bytes:
        fault = f"more than {limits.max_bytes} bytes"
        return Fault("too-many-bytes", limits.max_bytes, fault)
    if isinstance(data, str):
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        return read(data, limits).faults[0]


# ------------------------------------------------------------------------------------------------
# JSON with comments
# ------------------------------------------------------------------------------------------------

# A string (perhaps without an end), blanks, or a run of what means nothing here.
_piece = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[ \t\n\r]++|[^"/ \t\n\r,]++|.', re.DOTALL).match
_NO_VALUE_BEFORE = ("", "[", "{", ":", ",")


def read_jsonc(path: str, data: bytes | str, limits: Limits) -> Source:
    """Read JSON with `//` and `/* */` comments and commas before a closing bracket.

    These are blanked out, offset by offset; what is left is held to the letter of JSON.
    """
    text = decoded(data, limits)
    if isinstance(text, Fault):
        return Source(path, "jsonc", None, (), (text,))
    return JsonSource(path, read(blanked(text), limits), "jsonc", text)


def blanked(text: str) -> str:
    """JSON with comments, with blanks for what JSON does not have; offsets stay what they are."""
    out: list[str] = []
    pos = 0
    before = ""  # the last character that was neither blank nor comment
    comma = -1  # where in `out` a comma stands that a closing bracket would make superfluous
    endless = False  # a comment without an end: the reader will name it
    while pos < len(text):
        comment = text[pos : pos + 2]
        end = -1
        if comment == "//":
            end = text.find("\n", pos)
            end = len(text) if end < 0 else end
        elif comment == "/*" and not endless:
            end = text.find("*/", pos + 2) + 2
            endless = end < 2
        if end > pos:
            out.append(_spaces(text[pos:end]))
            pos = end
            continue
        match = _piece(text, pos)
        piece = match[0] if match else text[pos]
        pos += len(piece)
        if not piece.isspace():
            if piece[0] in "]}" and comma >= 0:
                out[comma] = " "
            comma = len(out) if piece == "," and before not in _NO_VALUE_BEFORE else -1
            before = piece[-1]
        out.append(piece)
    return "".join(out)


_not_line_end = re.compile(r"[^\n]").sub


def _spaces(comment: str) -> str:
    return _not_line_end(" ", comment)
