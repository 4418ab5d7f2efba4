"""Where in the arguments of a call of Gemma a text is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from schemaguard.grammar.audit import stepping
from schemaguard.grammar.audit.lexer import Lexer
from schemaguard.grammar.audit.markup_lexer import ANY_NAME, GROUPS, decoded, leads, names_on
from schemaguard.grammar.audit.stepping import FEW, SPACE

if TYPE_CHECKING:
    import random


class GemmaLexer:
    """A place in arguments of Gemma: JSON with other marks around strings, and none at names.

    Args:
        names: declared for the arguments.
    """

    __slots__ = ("_json", "_mark", "_names", "_text", "run", "sound")

    def __init__(self, names: frozenset[bytes]) -> None:
        self._json = Lexer()
        self._names = names
        self._text: bytes | None = None  # of the string that is being written
        self._mark = b""  # a mark in progress
        self.run = 0
        self.sound = True

    @property
    def path(self) -> tuple[Any, ...]:
        """Names and indices from the root to here."""
        return self._json.path

    def fork(self) -> Self:
        """The same place."""
        copy = object.__new__(type(self))
        for name in GemmaLexer.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._json = self._json.fork()
        return copy

    def feed(self, byte: int) -> None:
        """Go on by a byte."""
        here = bytes((byte,))
        json = self._json
        if self._text is not None:
            self._text += here
            self.run = len(self._text)
            if self._text.endswith(_STRING):
                self._text, self.run = None, 0
                json.feed(_QUOTE)
        elif json.is_complete or self._mark or byte == _STRING[0]:
            self._mark += here
            if self._mark == _STRING:
                self._text, self._mark = b"", b""
                json.feed(_QUOTE)
        elif json.in_name:
            if byte in SPACE or byte == _COLON:
                json.feed(_QUOTE)
            json.feed(byte)
        else:
            if json.before_name and byte not in SPACE and byte != _CLOSE:
                json.feed(_QUOTE)
            json.feed(byte)
            self.run = json.run

    def state(self, allowed: list[int]) -> tuple[Any, ...]:
        """What tells this place from others."""
        if self._text is not None:
            return (self.path, self.run, self._done(), *allowed)
        json = self._json
        if json.in_name and len(allowed) > FEW and not leads(json.text, self._names):
            return (self.path, json.text[-1:], *allowed)
        return (self._mark, *json.state(allowed))

    def place(self, refused: int, allowed: list[int]) -> tuple[Any, ...]:
        """The path to the value that a refused byte belongs to."""
        if self._text is not None or self._mark:
            return decoded(self.path)
        return self._json.place(refused, allowed)

    def choices(self, allowed: list[int]) -> list[int]:
        """The bytes that a walk goes on with."""
        if self._text is not None:
            done = self._done()
            if done and _STRING[done] in allowed:
                return [_STRING[done]]
            return stepping.within(
                allowed, self._text, self.run, few=FEW, ends=_STRING[0], groups=GROUPS
            )
        json = self._json
        if not json.in_name and not (json.before_name and len(allowed) > ANY_NAME):
            return json.choices(allowed)
        usual = stepping.between(allowed)
        return names_on(usual, json.text if json.in_name else b"", self._names)

    def closing(self, allowed: list[int], turn: int) -> int:
        """The byte that brings the end nearest; in turn, where that cannot be told."""
        if self._text is not None:
            return stepping.first_of(_STRING[self._done() :][:1], allowed, turn)
        if self._mark:
            return stepping.first_of(b"", allowed, turn)
        if self._json.in_name:
            return stepping.first_of(b":", allowed, turn)
        if self._json.in_word:
            return self._json.closing(allowed, turn)
        return stepping.first_of(b"}]n0tf<1[{,:", allowed, turn)

    def chance(self, allowed: list[int], rng: random.Random) -> int:
        """A byte at random, such that texts come to an end."""
        if self._text is not None:
            done = self._done()
            chance = 0.97 if done else 0.0 if self._text[-1:] == b"\xc3" else 0.15
            if _STRING[done] in allowed and rng.random() < chance:
                return _STRING[done]
            allowed = stepping.of_text(allowed, self._text)
        elif self._json.in_name:
            if _COLON in allowed and rng.random() < 0.3:
                return _COLON
        else:
            allowed = stepping.not_space(allowed, rng)
        return stepping.any_of(allowed, rng)

    def _done(self) -> int:
        """How much of the mark behind a string is there."""
        text = self._text or b""
        return next((n for n in range(4, 0, -1) if text.endswith(_STRING[:n])), 0)


_STRING = b'<|"|>'
_QUOTE = b'"'[0]
_COLON, _CLOSE = b":}"
