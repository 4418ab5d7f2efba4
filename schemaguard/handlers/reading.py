"""The body of a request, read strictly, fast, and without holding the interpreter for long.

What `schemaguard.document.read` takes three times as long as `json.loads` for, clean bodies get
here for less than twice: the C scanner with a hook that finds repeated names. Whatever raises the
least doubt is read by the exact reader, and its answer is the answer.

A body of megabytes is read in a thread beside an event loop, so no single call into C may take
long: where limits have to be measured first, that is done a piece at a time.
"""

from __future__ import annotations

import re
import sys
from itertools import accumulate
from json.decoder import JSONDecoder

from schemaguard.document import Document, read
from schemaguard.reader import MAX_INTEGER_DIGITS, ExactReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.document import Limits

# The C scanner recurses. Python's own limit ends it before it does harm, but from Python 3.12 on
# that limit does not count what C code does, and it may have been raised: then depth is measured.
_SAFE_RECURSION = 1_000
_COUNTS_C = sys.version_info < (3, 12)
_C_DEPTH = 500
_PIECE = 1 << 16

_INFINITY = float("inf")
_blank = re.compile(r"[ \t\n\r]*").match
_string = re.compile(r'"[^"]*"?').sub
_surrogate = re.compile(rb"\\u[dD][89a-fA-F]").search
_ALL_BUT_STRUCTURE = bytes(set(range(256)) - set(b"[]{},"))
_SQUARE = bytes.maketrans(b"{}", b"[]")
_step = {ord("["): 1, ord("]"): -1, ord(","): 0}.__getitem__


class _DoubtError(Exception):
    """Let the exact reader say."""


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) == len(members):
        return value
    raise _DoubtError


def _float(literal: str) -> float:
    value = float(literal)
    if -_INFINITY < value < _INFINITY:
        return value
    raise _DoubtError


def _constant(literal: str) -> float:
    raise _DoubtError(literal)


_scan = JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_constant=_constant
).scan_once  # type: ignore[attr-defined]  # missing in the stubs


def read_body(source: Any, limits: Limits) -> Document:
    """Read a body: JSON as `bytes` or `str`, or a parsed value.

    Returns:
        The same as `schemaguard.document.read`.
    """
    if (
        source.__class__ is not bytes
        or len(source) > limits.max_bytes
        or sys.get_int_max_str_digits() != MAX_INTEGER_DIGITS
    ):
        return read(source, limits)
    try:
        text: str = source.decode()
    except UnicodeDecodeError:
        return read(source, limits)
    try:
        value = _read_quickly(text, source, limits)
    except Exception:  # noqa: BLE001  # whatever stopped the C scanner, the exact reader can tell
        reader = ExactReader(text, limits)
        return Document(reader.read(), text=text, nbytes=len(source), reader=reader)
    return Document(value, text=text, nbytes=len(source))


def _read_quickly(text: str, source: bytes, limits: Limits) -> Any:
    """The value of a clean text within the limits; raises anything for others."""
    counted = _COUNTS_C and sys.getrecursionlimit() <= _SAFE_RECURSION <= limits.max_depth
    if not (counted and len(text) <= limits.max_nodes):
        values, depth = measure(text)
        if values > limits.max_nodes or depth > min(limits.max_depth, _C_DEPTH):
            raise _DoubtError
    if b"\\" in source and _surrogate(source):
        raise _DoubtError
    value, end = _scan(text, _blank(text, 0).end())  # type: ignore[union-attr]  # matches everywhere
    if end != len(text) and _blank(text, end).end() != len(text):  # type: ignore[union-attr]
        raise _DoubtError
    return value


def measure(text: str) -> tuple[int, int]:
    """How many values a JSON text has at the most, and how deep it nests.

    Exact for the depth of JSON, and too large by no more than one value for every 64 Ki characters
    and one for every empty container. What is no JSON is measured up to where it stops being some.
    """
    values = 1
    depth = deepest = start = 0
    inside = False  # a string goes on from the piece before
    while start < len(text):
        end = start + _PIECE
        while end < len(text) and text[end - 1] == "\\":  # keep what is escaped with its backslash
            end += 1
        bare = text[start:end].replace("\\\\", "").replace('\\"', "")
        if inside:
            bare = '"' + bare
        inside = bare.count('"') % 2 == 1
        skeleton = _string("", bare).encode("utf-8", "replace")
        skeleton = skeleton.translate(_SQUARE, _ALL_BUT_STRUCTURE)
        values += len(skeleton) - skeleton.count(b"]")
        levels = list(accumulate(map(_step, skeleton), initial=depth))
        deepest = max(deepest, *levels)
        depth = levels[-1]
        start = end
    return values, deepest
