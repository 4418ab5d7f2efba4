"""How walks and random outputs go on from a place in a text: which of the allowed bytes they take.

What a state allows is taken whole where there is a choice of few (names, listed values, numbers,
punctuation), and by representatives where there are many (the inside of a string: a letter, an
escape, a control character, a character of two bytes, what ends it). White space is taken only
where nothing else is possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    import random

SPACE = frozenset(b" \n\r\t")
QUOTE, BACKSLASH = b'"\\'

#: A choice of more bytes than this is met by representatives: in a value, and in a name.
FEW = 8
FEW_IN_NAMES = 64

#: Stands in a path for a name that the schema does not know.
FREE = "*"

#: Items from this one on are one and the same.
LAST_INDEX = 2

#: Containers within each other that a walk enters.
MAX_DEPTH = 12

#: Of these, arrays.
MAX_ARRAYS = 2

#: Of these, those under names that the schema does not know, and items after the third.
MAX_FREE = 1

#: Characters of a string that a walk writes.
MAX_RUN = 64

#: What a cursor allows where the text may end.
END = 256

_DIGITS = frozenset(b"0123456789")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_HEX_DIGIT = b"6"[0]


class Stepper(Protocol):
    """A place in a text, followed byte by byte.

    Attributes:
        run: characters of the string, number or word so far.
        sound: nothing so far is against the style.
    """

    run: int
    sound: bool

    @property
    def path(self) -> tuple[Any, ...]:
        """Names and indices from the root to here; None where a name is about to come."""

    def fork(self) -> Self:
        """The same place."""

    def feed(self, byte: int) -> None:
        """Go on by a byte."""

    def state(self, allowed: list[int]) -> tuple[Any, ...]:
        """What tells this place from others."""

    def place(self, refused: int, allowed: list[int]) -> tuple[Any, ...]:
        """The path to the value that a refused byte belongs to."""

    def choices(self, allowed: list[int]) -> list[int]:
        """The bytes that a walk goes on with."""

    def closing(self, allowed: list[int], turn: int) -> int:
        """The byte that brings the end nearest; in turn, where that cannot be told."""

    def chance(self, allowed: list[int], rng: random.Random) -> int:
        """A byte at random, such that texts come to an end."""


def is_beyond(place: Stepper) -> bool:
    """Whether a walk goes no further from here."""
    path = place.path
    free = path.count(FREE) + path.count(LAST_INDEX)
    items = sum(step.__class__ is int for step in path)
    return len(path) > MAX_DEPTH or free > MAX_FREE or items > MAX_ARRAYS or place.run > MAX_RUN


def between(allowed: list[int]) -> list[int]:
    """What a walk takes outside of strings."""
    usual = [byte for byte in allowed if byte != END]
    if _DIGITS.issubset(usual):
        usual = [byte for byte in usual if byte not in _DIGITS or byte in b"019"]
    return [byte for byte in usual if byte not in SPACE] or usual[:1]


def within(
    allowed: list[int], text: bytes, run: int, *, few: int, ends: int, groups: tuple[bytes, ...]
) -> list[int]:
    """What a walk takes inside of a string.

    Args:
        allowed: the bytes that may come.
        text: the string so far, or its end.
        run: how long it is.
        few: a choice of so many is taken whole.
        ends: the byte that ends the string, or begins to.
        groups: the first of each that is allowed represents the others.
    """
    usual = [byte for byte in allowed if byte != END]
    if set(usual) == _HEX:
        return [_HEX_DIGIT]
    if text and text[-1] >= 0xC0:
        return [byte for byte in usual if byte >= 0x80][:1]
    if len(usual) <= few:
        plain = [byte for byte in usual if byte < 0x80]
        return plain + [byte for byte in usual if byte >= 0x80][:1]
    chosen = [ends] if ends in usual else []
    if chosen and run >= 2:
        return chosen
    for group in groups:
        chosen.extend([byte for byte in group if byte in usual][:1])
    return chosen or usual[:1]


def first_of(order: bytes, allowed: list[int], turn: int) -> int:
    """The first of some bytes that is allowed; else one of the others, in turn."""
    for byte in order:
        if byte in allowed:
            return byte
    # Plain ASCII, so that no character is left in pieces.
    usual = [byte for byte in allowed if 0x20 < byte < 0x7F and byte != BACKSLASH] or allowed
    return usual[turn * 7 % len(usual)]


def any_of(allowed: list[int], rng: random.Random) -> int:
    """One at random, mostly of ASCII, and so that what follows can be UTF-8."""
    ascii_only = [byte for byte in allowed if byte < 0x80]
    if ascii_only and rng.random() < 0.97:
        return rng.choice(ascii_only)
    # UTF-8 of two bytes: the others would have to be kept from surrogates.
    pairs = [byte for byte in allowed if 0x80 <= byte < 0xC0 or byte == 0xC3]
    return rng.choice(pairs or ascii_only or allowed)


def of_text(allowed: list[int], text: bytes) -> list[int]:
    """What keeps a text UTF-8 with characters of one or two bytes, where any byte is allowed."""
    if text[-1:] == b"\xc3":
        return [byte for byte in allowed if 0x80 <= byte < 0xC0] or allowed
    return [byte for byte in allowed if byte < 0x80 or byte == 0xC3] or allowed


def not_space(allowed: list[int], rng: random.Random) -> list[int]:
    """Without white space, mostly."""
    if rng.random() < 0.9:
        return [byte for byte in allowed if byte not in SPACE] or allowed
    return allowed
