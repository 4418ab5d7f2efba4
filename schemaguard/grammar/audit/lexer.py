"""Where in a JSON value a text is, followed byte by byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Self

from schemaguard.grammar.audit import stepping
from schemaguard.grammar.audit.stepping import (
    BACKSLASH,
    FEW,
    FEW_IN_NAMES,
    FREE,
    LAST_INDEX,
    QUOTE,
    SPACE,
)

if TYPE_CHECKING:
    import random

# Characters at the end of a string that tell states apart.
_TAIL = 4

# What stands for the characters of a string.
_GROUPS = (b"aZ0-", b"\\", b"\x01\t", b"\xc3")


class Lexer:
    """Where in a JSON value a text is, and whether it can still be JSON, byte by byte.

    Attributes:
        path: names and indices from the root to here; None where a name is about to come.
        in_string: whether a string or a name is being written.
        run: characters of the string, number or word so far.
        text: that string, number or word.
        sound: nothing so far is against JSON.
    """

    __slots__ = ("_before", "_escape", "_free", "_key", "in_string", "path", "run", "sound", "text")

    def __init__(self) -> None:
        self.path: tuple[Any, ...] = ()
        self.in_string = False
        self.run = 0
        self.text = b""
        self.sound = True
        self._before = _START  # the last punctuation mark, or `_VALUE`
        self._escape = False
        self._key = False
        self._free = False

    def fork(self) -> Self:
        """The same place."""
        copy = object.__new__(type(self))
        for name in Lexer.__slots__:
            setattr(copy, name, getattr(self, name))
        return copy

    def feed(self, byte: int) -> None:
        """Go on by a byte."""
        if self.in_string:
            self._in_string(byte)
        elif byte in SPACE or byte in _MARKS:
            if self._before == _WORD:
                self.sound = self.sound and _is_word(self.text) is not None
                self._before = _VALUE
            self.run, self.text = 0, bytes((byte,))
            if byte in _MARKS:
                self._mark(byte)
        elif self._before == _WORD:
            self.run += 1
            self.text += bytes((byte,))
        else:
            self.sound = self.sound and self._before in _BEFORE_VALUES
            self._before, self.run, self.text = _WORD, 1, bytes((byte,))

    def _in_string(self, byte: int) -> None:
        self.run += 1
        self.text += bytes((byte,))
        if byte < 0x20:
            self.sound = False
        elif self._escape:
            self._escape = False
            self.sound = self.sound and byte in b'"\\/bfnrtu'
        elif byte == BACKSLASH:
            self._escape = True
        elif byte == QUOTE:
            self.in_string = False
            self._before = _VALUE
            if self._key:
                self.path = (*self.path[:-1], FREE if self._free else self.text)
                self._free = self._key = False
                self._before = _NAME

    def _mark(self, byte: int) -> None:
        before, inside = self._before, self.path[-1] if self.path else ()
        self._before = byte
        if byte == QUOTE:
            self._key = before == _BRACE or (before == _COMMA and not isinstance(inside, int))
            self.sound = self.sound and (self._key or before in _BEFORE_VALUES)
            self.in_string, self.run, self.text = True, 0, b""
        elif byte in (_BRACE, _BRACKET):
            self.sound = self.sound and before in _BEFORE_VALUES
            self.path = (*self.path, None if byte == _BRACE else 0)
        elif byte in b"}]":
            self.sound = self.sound and before in (_VALUE, _BRACE if byte == b"}"[0] else _BRACKET)
            self.path = self.path[:-1]
            self._before = _VALUE
        elif byte == _COMMA:
            self.sound = self.sound and before == _VALUE and bool(self.path)
            if isinstance(inside, int):
                self.path = (*self.path[:-1], min(inside + 1, LAST_INDEX))
        else:
            self.sound = self.sound and before == _NAME

    def place(self, refused: int, allowed: list[int]) -> tuple[Any, ...]:
        """The path to the value that a refused byte belongs to.

        That is the value in progress, or the container that the byte would go on with or close.

        Args:
            refused: the byte.
            allowed: the bytes that may come instead.
        """
        path = self.path
        inside = path[-1] if path else ()
        between = self.in_name or self._before in (_BRACE, _VALUE)
        if not isinstance(inside, int):
            between = between or self._before == _COMMA
        elif refused in _ENDS_ITEM:
            between = between or self._before in (_BRACKET, _COMMA)
        if self._before == _WORD and refused in _ENDS:
            # The number or word is as it should be if anything may follow it.
            between = not {*b"]},", *SPACE}.isdisjoint(allowed)
        if between and not (self.in_string and not self._key):
            path = path[:-1]
        return tuple(_decoded(step) for step in path)

    @property
    def in_word(self) -> bool:
        """Whether a number or one of `true`, `false` and `null` is being written."""
        return self._before == _WORD

    @property
    def in_name(self) -> bool:
        """Whether a name is being written."""
        return self.in_string and self._key

    @property
    def before_name(self) -> bool:
        """Whether a name may come next."""
        inside = self.path[-1] if self.path else 0
        return self._before == _BRACE or (self._before == _COMMA and not isinstance(inside, int))

    @property
    def is_complete(self) -> bool:
        """Whether the value has an end that was written: a number has none."""
        return self._before == _VALUE and not self.path

    def choices(self, allowed: list[int]) -> list[int]:
        """The bytes that a walk goes on with."""
        if not self.in_string:
            return stepping.between(allowed)
        few = FEW
        if self._key:
            few = FEW_IN_NAMES
            # More: nearly any name will do.
            self._free = self._free or len(allowed) > few
        return stepping.within(allowed, self.text, self.run, few=few, ends=QUOTE, groups=_GROUPS)

    def closing(self, allowed: list[int], turn: int) -> int:
        """The byte that brings the end nearest; in turn, where that cannot be told."""
        order = b'"' if self.in_string else b"}]," if self.in_word else b'}]n0tf1"[{,:'
        return stepping.first_of(order, allowed, turn)

    def chance(self, allowed: list[int], rng: random.Random) -> int:
        """A byte at random, such that texts come to an end."""
        if not self.in_string:
            allowed = stepping.not_space(allowed, rng)
        elif QUOTE in allowed and rng.random() < 0.15:
            return QUOTE
        return stepping.any_of(allowed, rng)

    def state(self, allowed: list[int]) -> tuple[Any, ...]:
        """What tells this place from others."""
        run, text = self.run, self.text
        if not self._key:
            if len(allowed) > FEW:
                text = text[-1:]
                run = run if self.in_string else min(run, 3)
            elif self.in_string:
                text = text[-_TAIL:]
        return (self.path, self.in_string, self._escape, self._before, self.sound, run, text,
                *allowed)  # fmt: skip


class EnclosedLexer(Lexer):
    """JSON with a text behind it that is always the same.

    Args:
        after: that text. No value goes on with its first byte.
    """

    __slots__ = ("_after", "_rest")

    def __init__(self, after: bytes) -> None:
        super().__init__()
        self._after = after
        self._rest: int | None = None  # how much of it is there

    def fork(self) -> Self:
        """The same place."""
        copy = super().fork()
        copy._after, copy._rest = self._after, self._rest  # noqa: SLF001 - one of its own
        return copy

    def feed(self, byte: int) -> None:
        """Go on by a byte."""
        if self._rest is None:
            at_end = self.is_complete or (self.in_word and not self.path)
            if at_end and byte == self._after[0]:
                if self.in_word:
                    super().feed(_SPACE)  # ends it
                self._rest, self.run = 1, 0
            else:
                super().feed(byte)
        else:
            self.sound = self.sound and self._after[self._rest : self._rest + 1] == bytes((byte,))
            self._rest += 1

    def state(self, allowed: list[int]) -> tuple[Any, ...]:
        """What tells this place from others."""
        return super().state(allowed) if self._rest is None else (self._rest, self.sound, *allowed)


def _decoded(step: Any) -> Any:
    """A name as a string; an index as it is."""
    if not isinstance(step, bytes):
        return step
    try:
        return json.loads(b'"' + step)
    except ValueError:
        return step.decode(errors="replace")


_BRACE, _BRACKET, _COMMA, _COLON = b"{[,:"
_MARKS = frozenset(b'{}[],:"')
_ENDS, _ENDS_ITEM = frozenset(b"]},"), frozenset(b"],")  # what is refused may be no byte, the end
_SPACE = b" "[0]
# What a value, a name, a word in progress and the beginning are to the mark after them.
_VALUE, _NAME, _WORD, _START = -1, -2, -3, -4
_BEFORE_VALUES = (_START, _COLON, _BRACKET, _COMMA)
_is_word = re.compile(rb"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|true|false|null").fullmatch
