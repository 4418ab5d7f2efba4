# ruff: noqa: RUF001 - DeepSeek spells its markers with full-width characters
"""Where in the arguments of a call a text is, for the styles whose arguments are markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

from schemaguard.grammar.audit import calls, stepping
from schemaguard.grammar.audit.lexer import Lexer
from schemaguard.grammar.audit.stepping import FEW, FREE, LAST_INDEX

if TYPE_CHECKING:
    import random

#: A value that may begin with more bytes than this is text.
_ANY_TEXT = 100

#: So are names that may go on with more than this.
ANY_NAME = 40

# What stands for the characters of text.
GROUPS = (b"aZ0-", b'"', b"\n", b"\xc3")
_ENDS_NAME = b'>"<:'


class Elements:
    """The elements of a content.

    Attributes:
        naming: what a name follows.
        opened: expression for the beginning of a value, at the end of what was written.
        ends: how the end of a value begins.
        closed: expression for the whole end.
        nested: elements may be inside of elements.
    """

    __slots__ = ("closed", "ends", "naming", "nested", "opened")

    def __init__(
        self, naming: str, opened: str, ends: str, closed: str = "", *, nested: bool = False
    ) -> None:
        self.naming = naming.encode()
        self.opened = re.compile(opened.encode() + rb"\Z", re.DOTALL)
        self.ends = ends.encode()
        self.closed = re.compile((closed or re.escape(ends)).encode() + rb"\Z", re.DOTALL)
        self.nested = nested


def _dsml(gap: str) -> Elements:
    name = f'<｜DSML｜{gap}parameter name="'
    ends = f"</｜DSML｜{gap}parameter>"
    return Elements(name, f'{name}([^"]*)" string="[a-z]+">', ends)


_M3 = "]<]minimax[>["

_ELEMENTS: dict[str, Elements] = {
    calls.QWEN: Elements("<parameter=", "<parameter=([^>]*)>", "</parameter>"),
    calls.MINIMAX: Elements('<parameter name="', '<parameter name="([^"]*)">', "</parameter>"),
    calls.DSML: _dsml(""),
    calls.DSML_GAP: _dsml(" "),
    calls.GLM: Elements("<arg_key>", r"<arg_key>([^<]*)</arg_key>\s*<arg_value>", "</arg_value>"),
    calls.KIMI_K3: Elements(
        '<|open|>argument key="',
        r'<\|open\|>argument key="([^"]*)" type="[a-z]*"<\|sep\|>',
        "<|close|>argument<|sep|>",
    ),
    calls.COHERE: Elements(
        '<cofl:value name="',
        '<cofl:value(?: name="([^"]*)")? type="[a-z]*">',
        "</cofl:value>",
        nested=True,
    ),
    calls.MINIMAX_M3: Elements(
        f"{_M3}<",
        re.escape(_M3) + "<([^/>][^>]*)>",
        f"{_M3}</",
        re.escape(_M3) + "</[^>]*>",
        nested=True,
    ),
}


def decoded(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """A path with names as strings."""
    return tuple(
        step.decode(errors="replace") if isinstance(step, bytes) else step for step in path
    )


class MarkupLexer:
    """A place in arguments of elements; see `stepping.Stepper`.

    Args:
        content: how they are written.
        after: the text behind the arguments.
        names: declared for the arguments.
    """

    __slots__ = (
        "_after",
        "_counts",
        "_elements",
        "_free",
        "_good",
        "_json",
        "_names",
        "_open",
        "_raw",
        "_text",
        "run",
        "sound",
    )

    def __init__(self, content: str, after: str, names: frozenset[bytes]) -> None:
        self._elements = _ELEMENTS[content]
        self._after = after.encode().lstrip()
        self._names = names
        self._text = b""  # since the last tag
        self._json: Lexer | None = None  # in the value, unless that is text
        self._raw = False  # the value is text
        self._free = False  # nearly any name will do
        self._good = True  # the JSON of the value, as far as it goes
        self._counts: tuple[int, ...] = (0,)  # elements so far, of each that is open
        self._open: tuple[Any, ...] = ()  # names and indices of the elements that are open
        self.run = 0
        self.sound = True

    @property
    def path(self) -> tuple[Any, ...]:
        """Names and indices from the root to here."""
        if self._json is None or not self._open:
            return self._open
        return self._open + self._json.path

    def fork(self) -> Self:
        """The same place."""
        copy = object.__new__(type(self))
        for name in MarkupLexer.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._json = self._json and self._json.fork()
        return copy

    def feed(self, byte: int) -> None:
        """Go on by a byte."""
        self._text += bytes((byte,))
        if byte == _TAG_END and self._tag():
            return
        if self._open:
            self.run += 1
            if self._json is not None:
                self._json.feed(byte)
                self.run = self._json.run
                if not self._progress(self._elements.ends):
                    self._good = self._json.sound

    def _tag(self) -> bool:
        """Take notice of a tag that has just ended."""
        elements = self._elements
        if self._open and elements.closed.search(self._text) is not None:
            self._open, self._counts = self._open[:-1], self._counts[:-1]
            self.sound = self.sound and self._good
            self._enter()
            return True
        if self._open and not elements.nested:
            return False
        opened = elements.opened.search(self._text)
        if opened is None:
            return False
        count = self._counts[-1]
        key: Any = FREE if self._free else opened[1]
        if key is None or (key == b"item" and elements.naming == f"{_M3}<".encode()):
            key = min(count, LAST_INDEX)
        self._open = (*self._open, key)
        self._counts = (*self._counts[:-1], count + 1, 0)
        self._enter()
        return True

    def _enter(self) -> None:
        """Start after a tag."""
        self._text, self._json, self._raw, self._free = b"", Lexer(), False, False
        self._good = True
        self.run = 0

    def state(self, allowed: list[int]) -> tuple[Any, ...]:
        """What tells this place from others."""
        self._see(allowed)
        if self._raw:
            return (self._open, self.sound, self.run, self._progress(self._elements.ends), *allowed)
        name = self._name()
        if name is not None and len(allowed) > FEW and not leads(name, self._names):
            return (self._open, self.sound, name[-1:], *allowed)
        if self._json is not None and self._open:
            inner = self._json.state(allowed)
            done = self._progress(self._elements.ends)
            return (self._open, self.sound, self._good, done, *inner)
        return (self._open, self.sound, self._text, *allowed)

    def place(self, refused: int, allowed: list[int]) -> tuple[Any, ...]:
        """The path to the value that a refused byte belongs to."""
        path = decoded(self._open)
        self._see(allowed)
        if self._json is None or not self._open or self._raw or self._name() is not None:
            return path
        return path + self._json.place(refused, allowed)

    def choices(self, allowed: list[int]) -> list[int]:
        """The bytes that a walk goes on with."""
        self._see(allowed)
        if self._raw:
            ends = self._elements.ends
            done = self._progress(ends)
            if done and ends[done] in allowed:
                return [ends[done]]
            return stepping.within(
                allowed, self._text, self.run, few=FEW, ends=ends[0], groups=GROUPS
            )
        name = self._name()
        if name is None:
            if self._in_json_string():
                return self._json.choices(allowed)  # type: ignore[union-attr]
            return stepping.between(allowed)
        usual = stepping.between(allowed)
        if len(usual) <= ANY_NAME:
            return usual
        self._free = not leads(name, self._names)
        return names_on(usual, name, self._names)

    def closing(self, allowed: list[int], turn: int) -> int:
        """The byte that brings the end nearest; in turn, where that cannot be told."""
        self._see(allowed)
        json, name = self._json, self._name()
        if name is not None:
            return stepping.first_of(_ENDS_NAME, allowed, turn)
        target = self._elements.ends if self._open else self._after
        done = self._progress(target)
        order = target[done : done + 1] + b"/"
        if self._open and not self._raw and json is not None and not done:
            # A text with a quote in it looks like JSON that has gone wrong.
            inside = self._in_json_string() or json.path
            if inside and (json.sound or turn % 2 or target[0] not in allowed):
                return json.closing(allowed, turn)
            order += b'0nt"[{'
        return stepping.first_of(order, allowed, turn)

    def chance(self, allowed: list[int], rng: random.Random) -> int:
        """A byte at random, such that texts come to an end."""
        self._see(allowed)
        target = self._elements.ends if self._open else self._after
        done = self._progress(target)
        if self._raw:
            following = target[done]
            # The bytes of a character of a tag belong together, and those of others to them.
            chance = 0.97 if done else 0.15
            if done and self._text[-1] >= 0x80:
                chance = 1.0
            elif self._text[-1:] == b"\xc3":
                chance = 0.0
            if following in allowed and rng.random() < chance:
                return following
            allowed = stepping.of_text(allowed, self._text)
        elif self._in_json_string():
            return self._json.chance(allowed, rng)  # type: ignore[union-attr]
        elif self._name() is not None:
            ends = [byte for byte in allowed if byte in _ENDS_NAME]
            if ends and rng.random() < 0.3:
                return ends[0]
        else:
            allowed = stepping.not_space(allowed, rng)
        return stepping.any_of(allowed, rng)

    def _see(self, allowed: list[int]) -> None:
        """Note that a value is text: only text begins with nearly anything."""
        if self._open and not self._text and len(allowed) > _ANY_TEXT:
            self._raw = self._good = True
            self._json = None

    def _in_json_string(self) -> bool:
        return bool(self._open) and self._json is not None and self._json.in_string

    def _name(self) -> bytes | None:
        """The name so far where one is being written."""
        if self._open and not self._elements.nested:
            return None
        text, naming = self._text, self._elements.naming
        at = text.rfind(naming)
        if at < 0 or self._raw:
            return None
        name = text[at + len(naming) :]
        return None if any(byte in name for byte in _ENDS_NAME) or name[:1] == b"/" else name

    def _progress(self, literal: bytes) -> int:
        """How much of a literal is at the end of the text."""
        text = self._text
        for size in range(min(len(literal) - 1, len(text)), 0, -1):
            if text.endswith(literal[:size]):
                return size
        return 0


def leads(name: bytes, names: frozenset[bytes]) -> bool:
    """Whether one of some names begins like this."""
    return any(known.startswith(name) for known in names)


def names_on(usual: list[int], name: bytes, names: frozenset[bytes]) -> list[int]:
    """Where nearly any name will do: what goes on with a declared one, and what stands for more."""
    chosen = [byte for byte in usual if leads(name + bytes((byte,)), names)]
    for group in (b"aZ0_", _ENDS_NAME):
        chosen.extend([byte for byte in group if byte in usual and byte not in chosen][:1])
    return chosen or usual[:1]


_TAG_END = b">"[0]
