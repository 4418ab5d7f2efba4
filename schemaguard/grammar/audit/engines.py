"""Engines behind one interface: a schema in, a grammar that says what may be written.

An engine is asked for two things: whether a whole text may be written, and, byte by byte, what may
come next. xgrammar is here, llguidance and outlines-core in modules of their own; the texts are
bytes, one token a byte, so that what is found holds for every vocabulary.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

from schemaguard.errors import CompileError
from schemaguard.grammar.audit import stepping
from schemaguard.grammar.audit.calls import CALLS, TOOL
from schemaguard.grammar.compiler import MAX_WHITESPACE, Compiler
from schemaguard.grammar.masks import DeadEnd
from schemaguard.grammar.tags.styles import PARSERS
from schemaguard.grammar.tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.grammar import CompiledSchema
    from schemaguard.grammar.audit.calls import Call
    from schemaguard.grammar.compiled import CompiledTag
    from schemaguard.grammar.masks import Masks
    from schemaguard.grammar.matcher import Matcher
    from schemaguard.grammar.tags.plans import TagPlan
    from schemaguard.report import Accepted

# An audit asks for a grammar once. With bytes for a vocabulary the engine's own caches hold some 25
# times what they count.
_CACHE_BYTES = 8 << 20

#: What `Cursor.allowed` returns for the end of the text.
END = stepping.END


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


def bits(mask: bytes) -> list[int]:
    """The set bits of a mask up to `END`, lowest first, as cursors return them."""
    found: list[int] = []
    for values, byte in zip(_BITS, mask, strict=False):
        if byte:
            found += values[byte]
    if mask[END // 8] & 1:
        found.append(END)
    return found


# For each byte of a mask, and each of its values: the bits that are set.
_BITS = [
    [tuple(8 * place + bit for bit in range(8) if value >> bit & 1) for value in range(256)]
    for place in range(END // 8)
]


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

    def compile_call(self, accepted: Accepted, call: Call) -> Grammar:
        """The grammar of a call, from its arguments on.

        The schema goes into xgrammar's own tag as it is: what `plan` would take out of it because
        the style bears it badly is what an audit is to find.

        Raises:
            CompileError: as `Engine.compile`.
        """
        plan = _plan(accepted.text, call)
        made = _XGrammarGrammar(
            self._compiler.compile_tag(plan), self._compiler.masks(1), call.before
        )
        if not made.begins():
            raise CompileError(f"the engine writes {call.style} in another way", reason="engine")
        return made


def _plan(schema: str, call: Call) -> TagPlan:
    """The tag of a request that asks for one call of one tool, without reasoning."""
    from schemaguard.grammar.tags import building, plans, policies, styles  # noqa: PLC0415

    style = styles.STYLES[call.style]
    shape = building.Shape(
        choice={"type": "function", "function": {"name": TOOL}},
        reasoning="off",
        parallel=False,
        any_order=False,
        exclude=None,
        max_whitespace=MAX_WHITESPACE,
        token_markers=False,
        answer=None,
    )
    built = building.build(style, [building.Tool(TOOL, schema)], shape)
    return plans.TagPlan._make(
        text=built.text,
        parser=call.style,
        style=call.style,
        policy=policies.policy_of("dynamo"),
        tools=(),
        reason="an audit",
        refusal=None,
        needs_tokens=built.tokens,
        unenforced=(),
        warnings=(),
    )


class _XGrammarGrammar:
    """What may be written behind a text that is there already."""

    def __init__(
        self, compiled: CompiledSchema | CompiledTag, masks: Masks, before: str = ""
    ) -> None:
        self._compiled = compiled
        self._matcher = compiled.matcher()
        self._before = before
        self._read = _Reader(masks)

    def begins(self) -> bool:
        """Whether the text that is there already may be written."""
        self._matcher.reset()
        return self._matcher.accept_string(self._before)

    def accepts(self, text: str) -> bool:
        self._matcher.reset()
        return self._matcher.accept_string(self._before + text) and self._matcher.is_completed

    def start(self) -> Cursor:
        matcher = self._compiled.matcher()
        if self._before:
            matcher.accept_string(self._before)
        return _XGrammarCursor(matcher, self._read)


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


def _llguidance() -> Engine:
    from schemaguard.grammar.audit.guidance import LLGuidance  # noqa: PLC0415 - needs this module

    return LLGuidance()


def _outlines_core() -> Engine:
    from schemaguard.grammar.audit.outlines import OutlinesCore  # noqa: PLC0415 - needs this module

    return OutlinesCore()


_ENGINES: dict[str, Callable[[], Engine]] = {
    "xgrammar": XGrammar,
    "llguidance": _llguidance,
    "outlines-core": _outlines_core,
}

#: The engines that `audit` knows, by the names that it takes.
NAMES = tuple(_ENGINES)

#: The styles that can be audited: plain JSON, and calls by style or by a server's parser.
STYLES = ("json", *sorted(PARSERS))


def call_of(style: str) -> Call | None:
    """The call of a style or of a server's parser; None for plain JSON."""
    return None if style == "json" else CALLS[PARSERS[style]]


def grammar_of(engine: Engine, accepted: Accepted, call: Call | None) -> Grammar:
    """The grammar of an accepted schema, alone or in a call.

    Raises:
        CompileError: as `Engine.compile`; or the engine has no calls.
    """
    if call is None:
        return engine.compile(accepted)
    compile_call = getattr(engine, "compile_call", None)
    if compile_call is None:
        raise CompileError(f"{engine.name} writes no calls: only json", reason="unsupported")
    grammar: Grammar = compile_call(accepted, call)
    return grammar


@cache
def engine(name: str) -> Engine:
    """The engine of a name, made on first use.

    Raises:
        ValueError: there is no such engine.
        MissingExtra: it is not installed.
    """
    if name not in _ENGINES:
        raise ValueError(f"no engine {name!r}; there are: {', '.join(NAMES)}")
    return _ENGINES[name]()
