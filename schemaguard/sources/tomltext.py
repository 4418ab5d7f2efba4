"""TOML, by the reader of the standard library, which has no places: headers and keys are looked up.

A finding stands at the value of the closest key that has a line of its own, or at the header of its
table; what is inside an inline table or array stands at that. Dates are no JSON: in a schema they
are a finding, elsewhere they do no harm.
"""

from __future__ import annotations

import re
import tomllib
from json.encoder import encode_basestring_ascii

from schemaguard import data as values
from schemaguard.errors import cut
from schemaguard.reader import Fault, Limits
from schemaguard.report import escape, pointer_of
from schemaguard.sources.base import Part, Source
from schemaguard.sources.jsontext import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from schemaguard.sources.base import Span

#: Keys that may stand in a row with dots between, and lists in lists: the reader recurses.
MAX_DEPTH = 256
#: Code points of a file. The reader is Python: a megabyte takes it about a second.
MAX_LENGTH = 1 << 20

#: Keys in a row, with dots between, that the reader is given: it takes quadratic time for them.
MAX_KEYS = 1_000

_where = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$").search
_dotted = re.compile(
    r"""(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)++"""
).finditer
_brackets = re.compile(r"""[\[\]{}"'#\n]""").search


class TomlSource(Source):
    """A TOML file."""

    __slots__ = ("_places", "_tokens")

    def __init__(
        self,
        path: str,
        text: str,
        part: Part,
        faults: tuple[Fault, ...],
        tokens: tuple[str | int, ...] | None = None,
    ) -> None:
        super().__init__(path, "toml", text, (part,), faults)
        self._places: dict[str, Span] | None = None
        self._tokens = tokens

    def tokens_of_faults(self) -> dict[int, tuple[str | int, ...]]:
        """See `Source.tokens_of_faults`."""
        return {} if self._tokens is None else {self.faults[0].offset: self._tokens}

    def spans(self, pointers: Iterable[str]) -> dict[str, Span | None]:
        """See `Source.spans`; of what has no line of its own, the place of what it is in."""
        if self.text is None or not self.readable:
            return dict.fromkeys(pointers)
        if self._places is None:
            self._places = places(self.text)
        return {pointer: _closest(self._places, pointer) for pointer in pointers}


def _closest(places: dict[str, Span], pointer: str) -> Span | None:
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return places.get(pointer)


def read_toml(path: str, data: bytes | str, limits: Limits) -> Source:
    """Read a TOML file."""
    text = decoded(data, limits)
    if isinstance(text, Fault):
        return Source(path, "toml", None, (), (text,))
    fault: Fault | None = None
    tokens: tuple[str | int, ...] | None = None
    value: Any = None
    if len(text) > MAX_LENGTH:
        fault = Fault("too-many-bytes", 0, f"more than {MAX_LENGTH} characters of TOML")
    elif any(len(m[0]) > MAX_KEYS and m[0].count(".") > MAX_KEYS for m in _dotted(text)):
        fault = Fault("text-too-deep", 0, str(MAX_DEPTH))
    else:
        try:
            value = tomllib.loads(text)
        except RecursionError:
            fault = Fault("text-too-deep", 0, str(MAX_DEPTH))
        except ValueError as error:  # of dates and numbers, too
            fault = _syntax(text, str(error))
        else:
            fault, tokens = _measured(text, value, limits)
    faults = () if fault is None else (fault,)
    return TomlSource(path, text, Part("", value, readable=fault is None), faults, tokens)


def _syntax(text: str, message: str) -> Fault:
    match = _where(message)
    offset = len(text)
    if match is None:
        offset = 0
    elif match[1]:
        offset = 0
        for _ in range(int(match[1]) - 1):
            offset = text.find("\n", offset) + 1
        offset += int(match[2]) - 1
    said = message[: match.start()] if match else message
    shown = encode_basestring_ascii(cut(said, 120))[1:-1].replace('\\"', '"')
    return Fault("invalid-json", min(offset, len(text)), f"the TOML cannot be read: {shown}")


def _measured(
    text: str, value: Any, limits: Limits
) -> tuple[Fault | None, tuple[str | int, ...] | None]:
    """What is wrong with a value that was read, and the steps to it."""
    inside, nesting, found = values.faults(value, limits.max_nodes, 100)
    if inside > limits.max_nodes:
        return Fault("too-many-nodes", 0, str(limits.max_nodes)), None
    depth = min(limits.max_depth, MAX_DEPTH)
    if nesting > depth:
        return Fault("text-too-deep", 0, str(depth)), None
    for name, tokens, detail in found:
        if name != "not-json":
            span = _closest(places(text), pointer_of(None, tokens))
            return Fault(name, span[0] if span else 0, detail), tokens
    return None, None


# ------------------------------------------------------------------------------------------------
# Places, in a text that the reader has accepted
# ------------------------------------------------------------------------------------------------

_key = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*+)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""").match
_blank = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+").match
_STRINGS = {
    '"""': re.compile(r'"""(?:[^"\\]++|\\.|"(?!""(?!")))*+"""', re.DOTALL).match,
    "'''": re.compile(r"'''(?:[^']++|'(?!''(?!')))*+'''").match,
    '"': re.compile(r'"(?:[^"\\]++|\\.)*+"').match,
    "'": re.compile(r"'[^']*+'").match,
}


def places(text: str) -> dict[str, Span]:
    """Spans of all values that have a key of their own, and of headers, by pointer."""
    places: dict[str, Span] = {"": (0, len(text))}
    lists: dict[str, int] = {}  # tables so far in each array of tables
    table = ""
    pos = _end_of_blank(text, 0)
    while pos < len(text):
        start = pos
        if text[pos] == "[":
            double = text.startswith("[[", pos)
            keys, pos = _keys(text, pos + 1 + double)
            pos += 1 + double
            table = ""
            for index, key in enumerate(keys):
                table += f"/{escape(key)}"
                if index == len(keys) - 1 and double:
                    lists[table] = lists.get(table, -1) + 1
                    places.setdefault(table, (start, pos))
                if table in lists:
                    table += f"/{lists[table]}"
                places.setdefault(table, (start, pos))
        else:
            keys, pos = _keys(text, pos)
            pos = _end_of_blank(text, pos + 1)  # past the equals sign
            end = _end_of_value(text, pos)
            pointer = table
            for key in keys:
                pointer += f"/{escape(key)}"
                places.setdefault(pointer, (pos, end))
            pos = end
        pos = _end_of_blank(text, max(pos, start + 1))
    return places


def _end_of_blank(text: str, pos: int) -> int:
    match = _blank(text, pos)
    return match.end() if match else pos


def _keys(text: str, pos: int) -> tuple[list[str], int]:
    keys: list[str] = []
    while match := _key(text, pos):
        pos = match.end()
        if match[1] is not None:
            keys.append(next(iter(tomllib.loads(f'"{match[1]}" = 0'))))
        else:
            keys.append(match[3] if match[2] is None else match[2])
        if not text.startswith(".", pos):
            break
        pos += 1
    return keys, pos


def _end_of_value(text: str, pos: int) -> int:
    """The offset past the value at `pos`."""
    if text[pos] not in "[{\"'":
        match = _end_of_scalar(text, pos)
        return pos + len(match[0].rstrip()) if match else pos
    depth = 0
    while match := _brackets(text, pos):
        char = match[0]
        pos = match.start()
        if char in "\"'":
            string = _STRINGS[char * 3 if text.startswith(char * 3, pos) else char](text, pos)
            pos = string.end() if string else len(text)
        elif char == "#":
            end = text.find("\n", pos)
            pos = end if end >= 0 else len(text)
        else:
            depth += (char in "[{") - (char in "]}")
            pos += 1
        if not depth:
            break
    return pos


_end_of_scalar = re.compile(r"[^\n#,\]}]*").match
