"""The exact reader: JSON text in, the value and every fault with its offset out.

One loop with an explicit stack, so nesting costs memory and never the interpreter's own stack. It
stops at the first place where the text has no meaning as JSON (RFC 8259) or passes a limit, and
reads on past the faults that leave the structure intact: a name given twice, a number or a string
that JSON can spell but no receiver can rely on. `schemaguard.document` calls it only for text that
its fast path will not vouch for.

No regular expression here can be made to go back over what it has read, so that time is linear in
the text, whatever the text.
"""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing in the stubs
from json.encoder import encode_basestring_ascii

from schemaguard._frozen import Frozen

TYPE_CHECKING = False  # as in typing, without the time that importing typing takes
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = ["DEFAULT_LIMITS", "MAX_FAULTS", "MAX_INTEGER_DIGITS", "ExactReader", "Fault", "Limits"]

MAX_INTEGER_DIGITS = 4_300
"""Longest integer literal, in digits without the sign: Python's own default, held whatever
`sys.set_int_max_str_digits` says."""

MAX_FAULTS = 1_000
"""Faults kept per document; beyond it only the first of each further name."""

_SHOWN = 60  # characters of the text that a fault's detail quotes
_INFINITY = float("inf")

# Matches everywhere.
_blank: Callable[[str, int], re.Match[str]] = re.compile(r"[ \t\n\r]*").match  # type: ignore[assignment]
_number = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)").match
_non_finite = re.compile(r"NaN|-?Infinity").match
# Bounded, because the engine keeps a record of every round; the caller goes on where it stops.
_string_run = re.compile(r'(?:[^"\\\x00-\x1f]+|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){1,1000}').match
_surrogate = re.compile("[\ud800-\udfff]").search
_surrogate_spelled = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]").search
# In reading order: a pair (fine); half of one, spelled (group 1) or raw (2); another escape (fine).
_surrogates_and_escapes = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u([dD][89a-fA-F][0-9a-fA-F]{2})"
    "|([\ud800-\udfff])"
    r"|\\."
).finditer

_BLANK = " \t\n\r"
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


class Limits(Frozen):
    """What a text may cost before reading it stops. Frozen; keyword arguments only.

    Args:
        max_bytes: size of the text in UTF-8 bytes; at most `CEILINGS["max_bytes"]` (256 MiB).
        max_depth: arrays and objects open at once; a scalar text has depth 0, `[]` depth 1; at most
            `CEILINGS["max_depth"]` (100,000).
        max_nodes: JSON values in the text, that is every object, array, string, number, boolean
            and null, but not member names; a value under a name given twice counts as well; at most
            `CEILINGS["max_nodes"]` (10,000,000).

    Raises:
        TypeError: a limit is not an `int`.
        ValueError: a limit is below 1 or above its ceiling.
    """

    __slots__ = ("max_bytes", "max_depth", "max_nodes")

    max_bytes: int
    max_depth: int
    max_nodes: int

    CEILINGS = {  # noqa: RUF012  # ClassVar would need typing; nothing writes to it
        "max_bytes": 256 * 1024 * 1024,
        "max_depth": 100_000,
        "max_nodes": 10_000_000,
    }
    """The most that each limit can be raised to."""

    def __init__(
        self,
        *,
        max_bytes: int = 16 * 1024 * 1024,
        max_depth: int = 1_000,
        max_nodes: int = 1_000_000,
    ) -> None:
        given = {"max_bytes": max_bytes, "max_depth": max_depth, "max_nodes": max_nodes}
        for name, value in given.items():
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} must be an int, not {type(value).__name__}")
            ceiling = self.CEILINGS[name]
            if not 1 <= value <= ceiling:
                raise ValueError(f"{name} must be from 1 to {ceiling}, not {value}")
        self._fill(**given)


DEFAULT_LIMITS = Limits()


class Fault(Frozen):
    """One thing wrong with a text, before any rule has looked at the value.

    Attributes:
        name: which fault, in kebab case; `schemaguard.document` lists them.
        offset: where, in code points from the start of the text; for `not-utf-8` and
            `too-many-bytes` in bytes, since there is no text.
        detail: what a message about the fault needs; printable ASCII of bounded length. For
            `invalid-json`, `trailing-data` and `not-utf-8` a phrase ("expected ':', found '}'"),
            for `duplicate-key` the name as a JSON string, for the other numbers and strings at
            fault a piece of them (for `overlong-integer` how many digits), for limits the limit,
            for `byte-order-mark` " of UTF-16" or the like, nothing for UTF-8.
    """

    __slots__ = ("detail", "name", "offset")

    name: str
    offset: int
    detail: str

    def __init__(self, name: str, offset: int, detail: str) -> None:
        self._fill(name=name, offset=offset, detail=detail)

    def __repr__(self) -> str:
        return f"Fault({self.name!r}, {self.offset!r}, {self.detail!r})"


class _FatalError(Exception):
    """Ends the reading; the fault itself is in the reader's list by then."""


class ExactReader:
    """Reads one text.

    Args:
        text: the JSON text.
        limits: `max_depth` and `max_nodes` apply here.

    Attributes:
        faults: in reading order, at most `MAX_FAULTS` plus the first of each further name.
        fault_count: how many there were in all.
        complete: the text was read to its end, so its structure is JSON.
        readable: complete, and the only faults are names given twice.
        nodes: values read, as `Limits` counts them.
        depth: most arrays and objects open at once so far.
    """

    __slots__ = (
        "_max_depth",
        "_max_nodes",
        "_names",
        "_size",
        "_surrogates",
        "_text",
        "complete",
        "depth",
        "fault_count",
        "faults",
        "nodes",
        "readable",
    )

    def __init__(self, text: str, limits: Limits = DEFAULT_LIMITS) -> None:
        self._text = text + "\0"  # no JSON has a NUL: every look ahead ends there at the latest
        self._size = len(text)
        self._max_depth = limits.max_depth
        self._max_nodes = limits.max_nodes
        self._surrogates = _surrogate_spelled(text) is not None
        self._names: set[str] = set()  # of the faults so far
        self.faults: list[Fault] = []
        self.fault_count = 0
        self.complete = False
        self.readable = True
        self.nodes = 0
        self.depth = 0

    def read(self) -> Any:
        """Read the text and return its value, or `None` when it is not readable."""
        try:
            value = self._read()
        except _FatalError:
            return None
        self.complete = True
        return value if self.readable else None

    def _read(self) -> Any:
        text = self._text
        max_nodes = self._max_nodes
        surrogates = self._surrogates
        enclosing: list[tuple[Any, bool, str]] = []  # what is open around `container`
        container: Any = None  # the innermost open array or object
        is_object = False  # which of the two
        name = ""  # of the member being read, in an object
        nodes = 0
        value: Any
        if text[0] == "\ufeff":
            self._fatal("byte-order-mark", 0, "")
        pos = _blank(text, 0).end()
        while True:
            if is_object:
                if text[pos] != '"':
                    self._expected(pos, "a member name" if container else "a member name or '}'")
                try:
                    name, end = scanstring(text, pos + 1)
                except ValueError:
                    self._bad_string(pos)
                if name in container:
                    self._fault("duplicate-key", pos, name)
                if surrogates and _surrogate(name):
                    self._lone_surrogates(pos, end)
                pos = end
                if text[pos] in _BLANK:
                    pos = _blank(text, pos).end()
                if text[pos] != ":":
                    self._expected(pos, "':'")
                pos += 1
                if text[pos] in _BLANK:
                    pos = _blank(text, pos).end()
            # A value has to start here.
            nodes += 1
            self.nodes = nodes
            if nodes > max_nodes:
                self._fatal("too-many-nodes", pos, str(max_nodes))
            char = text[pos]
            if char == '"':
                try:
                    value, end = scanstring(text, pos + 1)
                except ValueError:
                    self._bad_string(pos)
                if surrogates and _surrogate(value):
                    self._lone_surrogates(pos, end)
                pos = end
            elif char in "[{":
                depth = len(enclosing) + 1
                if depth > self.depth:
                    if depth > self._max_depth:
                        self._fatal("text-too-deep", pos, str(self._max_depth))
                    self.depth = depth
                pos += 1
                if text[pos] in _BLANK:
                    pos = _blank(text, pos).end()
                opens_object = char == "{"
                value = {} if opens_object else []
                if text[pos] != ("}" if opens_object else "]"):
                    enclosing.append((container, is_object, name))
                    container, is_object = value, opens_object
                    continue
                pos += 1
            elif char in _LITERALS and text.startswith(_LITERALS[char][0], pos):
                literal, value = _LITERALS[char]
                pos += len(literal)
            else:
                value, pos = self._number(pos)
            # `value` is whole: store it, and close the containers that end here.
            while True:
                char = text[pos]
                if char in _BLANK:
                    pos = _blank(text, pos).end()
                    char = text[pos]
                if container is None:
                    if pos < self._size:
                        self._fatal("trailing-data", pos, f"found {self._found(pos)}")
                    return value
                if is_object:
                    container[name] = value
                else:
                    container.append(value)
                if char == ",":
                    pos += 1
                    if text[pos] in _BLANK:
                        pos = _blank(text, pos).end()
                    break
                closer = "}" if is_object else "]"
                if char != closer:
                    self._expected(pos, f"',' or '{closer}'")
                pos += 1
                value = container
                container, is_object, name = enclosing.pop()

    def _lone_surrogates(self, start: int, end: int) -> None:
        """Report each half of a surrogate pair in the string from `start` to `end`."""
        for match in _surrogates_and_escapes(self._text, start + 1, end - 1):
            spelled, raw = match.groups()
            if spelled or raw:
                half = raw or chr(int(spelled, 16))
                self._fault("lone-surrogate", match.start(), half)

    def _bad_string(self, pos: int) -> NoReturn:
        """Say why the string at `pos` is none; found here, not taken from the C scanner's words."""
        text = self._text
        at = pos + 1
        while match := _string_run(text, at):
            at = match.end()
        if at + (text[at] == "\\") >= self._size:
            self._fatal("invalid-json", pos, "the string that starts here has no end")
        if text[at] != "\\":
            self._fatal("invalid-json", at, f"control character {self._found(at)} in a string")
        if text[at + 1] == "u":
            self._fatal("invalid-json", at, "expected four hexadecimal digits after \\u")
        self._fatal("invalid-json", at, f"no such escape: \\ before {self._found(at + 1)}")

    def _number(self, pos: int) -> tuple[int | float, int]:
        """Read the number at `pos`, the last thing that a value can be; return it and its end."""
        text = self._text
        match = _number(text, pos)
        if match is None:
            if special := _non_finite(text, pos):
                self._fault("non-finite-number", pos, special[0])
                return 0, special.end()
            if text[pos] == "-":
                self._expected(pos + 1, "a digit")
            self._expected(pos, "a value")
        end = match.end()
        integer, rest = match.groups()
        if text[end] in ".eE0123456789":
            self._bad_number(end, rest)
        if rest:
            value = float(match[0])
            if value in (_INFINITY, -_INFINITY):
                self._fault("overflowing-number", pos, match[0])
            return value, end
        if len(integer) > MAX_INTEGER_DIGITS:
            digits = len(integer) - (integer[0] == "-")
            if digits > MAX_INTEGER_DIGITS:
                self._fault("overlong-integer", pos, str(digits))
                return 0, end
        return _integer(integer), end

    def _bad_number(self, end: int, rest: str) -> NoReturn:
        """Say what is wrong where a number breaks off; `rest` is its fraction and exponent."""
        text = self._text
        if text[end] in "eE" and "e" not in rest and "E" not in rest:
            self._expected(end + 1 + (text[end + 1] in "+-"), "a digit")
        if text[end] == "." and not rest:
            self._expected(end + 1, "a digit")
        if not rest:  # a digit, and only a zero can stand before it
            self._fatal("invalid-json", end, "a number has no leading zeros")
        self._fatal("invalid-json", end, f"found {self._found(end)} in a number")

    def _found(self, pos: int) -> str:
        """The character at `pos` in words that are safe in any output."""
        if pos >= self._size:
            return "the end of the text"
        char = self._text[pos]
        return f"'{char}'" if "!" <= char <= "~" else f"U+{ord(char):04X}"

    def _expected(self, pos: int, what: str) -> NoReturn:
        self._fatal("invalid-json", pos, f"expected {what}, found {self._found(pos)}")

    def _fault(self, name: str, pos: int, found: str) -> None:
        """Note a fault that leaves the structure intact; `found` is the piece of text at fault."""
        self.fault_count += 1
        is_duplicate = name == "duplicate-key"
        if not is_duplicate:
            self.readable = False
        # A flood of one kind must not hide that there was another.
        if len(self.faults) < MAX_FAULTS or name not in self._names:
            self._names.add(name)
            quoted = encode_basestring_ascii(found[:_SHOWN])
            detail = quoted if is_duplicate else quoted[1:-1]
            self.faults.append(Fault(name, pos, detail + "..." * (len(found) > _SHOWN)))

    def _fatal(self, name: str, pos: int, detail: str) -> NoReturn:
        self.readable = False
        self.fault_count += 1
        self.faults.append(Fault(name, pos, detail))
        raise _FatalError


def _integer(literal: str) -> int:
    """Convert an integer literal of any length, whatever `sys.set_int_max_str_digits` allows."""
    try:
        return int(literal)
    except ValueError:
        # The setting cannot be lowered to fewer than 640 digits, so pieces of 600 always convert.
        digits = literal.lstrip("-")
        value = 0
        for start in range(0, len(digits), 600):
            piece = digits[start : start + 600]
            value = value * 10 ** len(piece) + int(piece)
        return -value if literal[0] == "-" else value
