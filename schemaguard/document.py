"""Bytes, text or a parsed value in, a `Document` out; positions on demand.

Reading is strict: what `json.loads` lets through in silence is named here. Reading never raises for
bad input; it returns a document with faults:

| fault | offset | the reading |
| --- | --- | --- |
| `too-many-bytes` | the first byte over the limit | does not start |
| `not-utf-8` | the first bad byte | does not start |
| `byte-order-mark` | 0; for UTF-16 and UTF-32 there is no text either | ends |
| `invalid-json` | where something else was expected; an endless string at its start | ends |
| `trailing-data` | the first character after the value | ends |
| `text-too-deep` | the bracket that opens one level too many | ends |
| `too-many-nodes` | the first value over the limit | ends |
| `duplicate-key` | the repeated name; the last value counts, as in `json.loads` | goes on |
| `non-finite-number` | `NaN`, `Infinity` or `-Infinity` | goes on |
| `overflowing-number` | a number that a double can only hold as infinity, like `1e999` | goes on |
| `overlong-integer` | an integer of more than 4,300 digits | goes on |
| `lone-surrogate` | the escape (or the character of a `str`) that is half of a pair | goes on |

Two readers make one promise. The fast path is the C scanner of `json` with hooks, allowed to run
only after cheap counts have shown that the text keeps to the limits, so that nothing is built from
a text that does not. It answers for clean text alone. At the least doubt `schemaguard.reader` reads
the text again, exactly, and its answer is the answer.
"""

from __future__ import annotations

import re
import sys
from itertools import accumulate
from json.decoder import JSONDecoder

from schemaguard.positions import Lines, spans, tokens_at
from schemaguard.reader import DEFAULT_LIMITS, MAX_INTEGER_DIGITS, ExactReader, Fault, Limits

TYPE_CHECKING = False  # as in typing, without the time that importing typing takes
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["DEFAULT_LIMITS", "Document", "Fault", "Limits", "read"]

# The C scanner recurses. It gets only text that nests at most this deep, which is safe on any stack
# and under any recursion limit that an application may have set; deeper text is read exactly.
_C_DEPTH = 500
_INFINITY = float("inf")
_SAFE_DIGITS = 640  # `sys.set_int_max_str_digits` cannot forbid integers of this length
_BOMS = (  # the longer first: the UTF-32 mark starts with the UTF-16 one
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

# Faults of one value or name; the reading goes on after them.
IN_VALUES = frozenset(
    {
        "duplicate-key",
        "lone-surrogate",
        "non-finite-number",
        "overflowing-number",
        "overlong-integer",
    }
)

# Matches everywhere.
_blank: Callable[[str, int], re.Match[str]] = re.compile(r"[ \t\n\r]*").match  # type: ignore[assignment]
_pair = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}").sub
_surrogate = re.compile(r"\\u[dD][89a-fA-F]").search
_escape = re.compile(r"\\.").sub
_string = re.compile(r'"[^"]*"?').sub
_ALL_BUT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
_SQUARE = bytes.maketrans(b"{}", b"[]")
_PEELED = 4
_step = {ord("["): 1, ord("]"): -1}.__getitem__


class Document:
    """What was read, and where it stands in the text. Made by `read`; not to be changed.

    Attributes:
        value: the JSON value; `None` when the document is not readable (and for the text `null`).
        text: the text, or `None` when a parsed value was passed or the bytes are no text.
        faults: what is wrong with the text, in reading order: at most 1,000, plus the first of each
            further name.
        fault_count: how many faults there were in all.
        readable: the value has one definite meaning as JSON, so every fault is a `duplicate-key`.
        nbytes: size of the text in UTF-8, or of the bytes that were passed; `None` for a parsed
            value and for a `str` with more characters than `max_bytes`.
    """

    __slots__ = (
        "_complete",
        "_lines",
        "_nodes",
        "_shallow",
        "fault_count",
        "faults",
        "nbytes",
        "readable",
        "text",
        "value",
    )

    def __init__(
        self,
        value: Any,
        *,
        text: str | None = None,
        nbytes: int | None = None,
        faults: tuple[Fault, ...] = (),
        reader: ExactReader | None = None,
    ) -> None:
        self.value = value
        self.text = text
        self.nbytes = nbytes
        self._lines: Lines | None = None
        if reader is None:
            self.faults = faults
            self.fault_count = len(faults)
            self.readable = self._complete = self._shallow = not faults
            self._nodes: int | None = None
        else:
            self.faults = tuple(reader.faults)
            self.fault_count = reader.fault_count
            self.readable = reader.readable
            self._complete = reader.complete
            self._shallow = reader.depth <= _C_DEPTH
            self._nodes = reader.nodes if reader.complete else None

    def __repr__(self) -> str:
        size = "parsed value" if self.text is None else f"{self.nbytes} bytes"
        return f"<Document: {size}, {self.fault_count} faults>"

    @property
    def nodes(self) -> int | None:
        """Number of JSON values in the text, as `Limits` counts them.

        `None` when there is no text or it was not read to its end.
        """
        if self._nodes is None and self._complete and self.text is not None:
            self._nodes = _count_nodes(self.text)
        return self._nodes

    def tokens_of_faults(self) -> dict[int, tuple[str | int, ...]]:
        """Offset of a fault → the steps from the root to the value or name that is at fault.

        Faults that end the reading have no place in a value, and none here.
        """
        if self.text is None:
            return {}
        return tokens_at(self.text, (f.offset for f in self.faults if f.name in IN_VALUES))

    def span(self, pointer: str, *, key: bool = False) -> tuple[int, int] | None:
        """Where a JSON pointer's value is; `spans` for one pointer."""
        return self.spans((pointer,), key=key)[pointer]

    def spans(
        self, pointers: Iterable[str], *, key: bool = False
    ) -> dict[str, tuple[int, int] | None]:
        """Find the values of many JSON pointers in one scan of the text.

        Args:
            pointers: RFC 6901, not percent-encoded; `""` is the whole value.
            key: find the member name that the pointer's last token names, quotes included, instead
                of the value. Array items and the whole value have no name: it is the value again.

        Returns:
            For each pointer (start, end) in code points, end exclusive; `None` when it names
            nothing, when a parsed value was passed, and when the text was not read to its end.
        """
        if self.text is None or not self._complete:
            return dict.fromkeys(pointers)
        found = spans(self.text, pointers, shallow=self._shallow)
        return {pointer: both and both[key] for pointer, both in found.items()}

    def position(self, pointer: str, *, key: bool = False) -> tuple[int, int] | None:
        """Line and column where a pointer's value or name starts; see `spans`, `line_column`.

        Each call scans the text; for many pointers use `spans` once.
        """
        span = self.span(pointer, key=key)
        return span and self.line_column(span[0])

    def line_column(self, offset: int) -> tuple[int, int] | None:
        r"""Line and column of an offset in the text, both from 1, columns in code points.

        Lines end at "\n" only (so at "\r\n" too). `None` without a text, or outside it.
        """
        if self.text is None:
            return None
        if self._lines is None:
            self._lines = Lines(self.text)
        return self._lines.locate(offset)


def read(source: Any, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a JSON document strictly.

    Args:
        source: `bytes`, `bytearray` or `memoryview` are JSON in UTF-8; a `str` is JSON text; any
            other object is a value that someone else has parsed, and is taken as it is.
        limits: when to stop.

    Returns:
        The document. Bad input is in its `faults`, never an exception.
    """
    if isinstance(source, str):
        return _read_str(source, limits)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _read_bytes(source, limits)
    return Document(source)


def _read_str(source: str, limits: Limits) -> Document:
    text = source if source.__class__ is str else str.__str__(source)
    if len(text) > limits.max_bytes:  # then its UTF-8 is, too
        return _oversized(None, limits)
    is_unicode = True
    try:
        nbytes = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:  # a surrogate, so some string is at fault, or more than that
        is_unicode = False
        nbytes = len(text.encode("utf-8", "surrogatepass"))
    if nbytes > limits.max_bytes:
        return _oversized(nbytes, limits)
    return (_read_text if is_unicode else _read_exactly)(text, nbytes, limits)


def _read_bytes(source: bytes | bytearray | memoryview, limits: Limits) -> Document:
    nbytes = source.nbytes if isinstance(source, memoryview) else len(source)
    if nbytes > limits.max_bytes:
        return _oversized(nbytes, limits)
    data = bytes(source)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        for mark, encoding in _BOMS:
            if data.startswith(mark):
                fault = Fault("byte-order-mark", 0, f" of {encoding}")
                break
        else:
            byte = data[error.start]
            fault = Fault("not-utf-8", error.start, f"byte 0x{byte:02X}: {error.reason}")
        return Document(None, nbytes=nbytes, faults=(fault,))
    return _read_text(text, nbytes, limits)


def _oversized(nbytes: int | None, limits: Limits) -> Document:
    fault = Fault("too-many-bytes", limits.max_bytes, f"more than {limits.max_bytes} bytes")
    return Document(None, nbytes=nbytes, faults=(fault,))


def _read_text(text: str, nbytes: int, limits: Limits) -> Document:
    try:
        value = _read_clean(text, limits)
    except Exception:  # noqa: BLE001  # whatever stopped the C scanner, the exact reader can tell
        return _read_exactly(text, nbytes, limits)
    return Document(value, text=text, nbytes=nbytes)


def _read_exactly(text: str, nbytes: int, limits: Limits) -> Document:
    reader = ExactReader(text, limits)
    return Document(reader.read(), text=text, nbytes=nbytes, reader=reader)


# The fast path


class _DoubtError(Exception):
    """The text may have a fault; let the exact reader say."""


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) != len(members):
        raise _DoubtError
    return value


def _float(literal: str) -> float:
    value = float(literal)
    if abs(value) == _INFINITY:
        raise _DoubtError
    return value


def _short_int(literal: str) -> int:
    if len(literal) > _SAFE_DIGITS:
        raise _DoubtError
    return int(literal)


def _constant(literal: str) -> float:
    raise _DoubtError(literal)


# With Python's default setting the C scanner itself refuses integers of more than 4,300 digits.
_scan = JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_constant=_constant
).scan_once  # type: ignore[attr-defined]  # missing in the stubs
_scan_any_setting = JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_float,
    parse_int=_short_int,
    parse_constant=_constant,
).scan_once  # type: ignore[attr-defined]  # missing in the stubs


def _read_clean(text: str, limits: Limits) -> Any:
    """Return the value of a text without fault within the limits; raise anything for others."""
    opened = text.count("[") + text.count("{")
    # Each value but the first follows a comma or is the first of its container. Checked before the
    # depth, whose measure takes a step per bracket.
    if (
        len(text) > limits.max_nodes
        and opened + text.count(",") >= limits.max_nodes
        and _count_nodes(text) > limits.max_nodes
    ):
        raise _DoubtError
    max_depth = min(limits.max_depth, _C_DEPTH)
    if opened > max_depth and _measure_depth(text) > max_depth:
        raise _DoubtError
    if "\\u" in text and _surrogate(text) and _has_lone_surrogates(text):
        raise _DoubtError
    standard = sys.get_int_max_str_digits() == MAX_INTEGER_DIGITS
    value, end = (_scan if standard else _scan_any_setting)(text, _blank(text, 0).end())
    if end != len(text) and _blank(text, end).end() != len(text):
        raise _DoubtError
    return value


# The measures below are exact for JSON. In a text that is none they are right up to where it stops
# being JSON, which is as far as any scanner gets. They substitute in `str`: `bytes` would take 80
# bytes of memory for each piece.


def _unescape(text: str) -> str:
    """Drop each backslash with what it escapes, so that each quote left begins or ends a string."""
    return _escape("", text) if "\\" in text else text


def _measure_depth(text: str) -> int:
    """Return the most arrays and objects that are open at once."""
    skeleton = _unescape(text).encode().translate(_SQUARE, _ALL_BUT_STRUCTURE)
    # Two quotes side by side change nothing about what is inside a string and what is not. They are
    # nearly all there is; a regular expression takes the strings that do hold brackets.
    skeleton = _string("", skeleton.replace(b'""', b"").decode()).encode()
    # Peel off what is innermost, a level at a time, while that is cheaper than to count.
    depth = 0
    while skeleton and depth < _PEELED:
        skeleton = skeleton.replace(b"[]", b"")
        depth += 1
    return depth + max(accumulate(map(_step, skeleton), initial=0))


def _count_nodes(text: str) -> int:
    """Return the number of values: one, one more per comma, and one per container with content."""
    skeleton = _string('"', _unescape(text)).encode().translate(None, b" \t\n\r")
    empty = skeleton.count(b"[]") + skeleton.count(b"{}")
    return 1 + skeleton.count(b",") + skeleton.count(b"[") + skeleton.count(b"{") - empty


def _has_lone_surrogates(text: str) -> bool:
    """Whether any escape is half of a surrogate pair."""
    return _surrogate(_pair("_", text.replace("\\\\", "_"))) is not None
