"""Engines behind one interface: a schema in, a grammar that says what may be written.

An engine is asked for two things: whether a whole text may be written, and, byte by byte, what may
come next. xgrammar is the one that is here; the texts are bytes, one token a byte, so that what is
found holds for every vocabulary.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

from schemaguard.grammar.compiler import Compiler
from schemaguard.grammar.masks import DeadEnd
from schemaguard.grammar.tokenizers import Tokenizer

if TYPE_CHECKING:
    from schemaguard.grammar import CompiledSchema
    from schemaguard.grammar.masks import Masks
    from schemaguard.grammar.matcher import Matcher
    from schemaguard.report import Accepted

# An audit asks for a grammar once. With bytes for a vocabulary the engine's own caches hold some 25
# times what they count.
_CACHE_BYTES = 8 << 20

#: What `Cursor.allowed` returns for the end of the text.
END = 256


class Cursor(Protocol):
    """A text in progress."""

    def allowed(self) -> list[int]:
        """The bytes that may come next, and `END` where the text may end; [] at a dead end."""

    def push(self, byte: int) -> bool:
        """Write a byte; False, and no change, where it is not allowed."""

    def fork(self) -> Cursor:
        """Another text that begins like this one."""


class Grammar(Protocol):
    """What may be written for one schema."""

    def accepts(self, text: str) -> bool:
        """Whether the engine lets exactly this text be written."""

    def start(self) -> Cursor:
        """A text with nothing in it yet."""


class Engine(Protocol):
    """Makes grammars.

    Attributes:
        name: with its version, as "xgrammar 0.2.9".
    """

    name: str

    def compile(self, accepted: Accepted) -> Grammar:
        """The grammar of an accepted schema.

        Raises:
            CompileError: the engine refuses the schema, or would take too long.
        """


class XGrammar:
    """xgrammar through `schemaguard.grammar.Compiler`, over bytes, with its default options.

    Raises:
        MissingExtra: xgrammar is not installed.
    """

    def __init__(self) -> None:
        self.name = f"xgrammar {version('xgrammar')}"
        self._compiler = Compiler(Tokenizer.byte_level(), cache_bytes=_CACHE_BYTES)

    def compile(self, accepted: Accepted) -> Grammar:
        """See `Engine`."""
        return _XGrammarGrammar(self._compiler.compile(accepted), self._compiler.masks(1))


class _XGrammarGrammar:
    def __init__(self, compiled: CompiledSchema, masks: Masks) -> None:
        self._compiled = compiled
        self._matcher = compiled.matcher()
        self._read = _Reader(masks)

    def accepts(self, text: str) -> bool:
        self._matcher.reset()
        return self._matcher.accept_string(text) and self._matcher.is_completed

    def start(self) -> Cursor:
        return _XGrammarCursor(self._compiled.matcher(), self._read)


class _Reader:
    """Reads the bits of a mask, all at once."""

    def __init__(self, masks: Masks) -> None:
        import numpy as np  # noqa: PLC0415 - comes with torch, which comes with xgrammar

        self._masks = masks
        self._bytes = masks.bitmask.numpy().view(np.uint8)[0]
        self._unpack = np.unpackbits
        self._nonzero = np.flatnonzero

    def __call__(self, matcher: Matcher) -> list[int]:
        try:
            self._masks.fill(0, matcher)
        except DeadEnd:
            return []
        bits = self._unpack(self._bytes, count=END + 1, bitorder="little")
        found: list[int] = self._nonzero(bits).tolist()
        return found


class _XGrammarCursor:
    __slots__ = ("_matcher", "_read")

    def __init__(self, matcher: Matcher, read: _Reader) -> None:
        self._matcher = matcher
        self._read = read

    def allowed(self) -> list[int]:
        return self._read(self._matcher)

    def push(self, byte: int) -> bool:
        return self._matcher.accept_token(byte)

    def fork(self) -> Cursor:
        return _XGrammarCursor(self._matcher.fork(), self._read)


_ENGINES: dict[str, Any] = {"xgrammar": XGrammar}

#: The engines that `audit` knows, by the names that it takes.
NAMES = tuple(_ENGINES)

#: The styles of output that each can be audited in.
STYLES = ("json",)


@cache
def engine(name: str) -> Engine:
    """The engine of a name, made on first use.

    Raises:
        ValueError: there is no such engine.
        MissingExtra: it is not installed.
    """
    if name not in _ENGINES:
        raise ValueError(f"no engine {name!r}; there are: {', '.join(NAMES)}")
    made: Engine = _ENGINES[name]()
    return made
