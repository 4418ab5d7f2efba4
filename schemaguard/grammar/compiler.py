"""Accepted schema → compiled grammar: the only way to xgrammar, behind a second preflight.

The profile that accepted a schema says what a server takes. What the engine can bear is another
question: a few bytes of pattern or nesting keep xgrammar busy for minutes or crash the process,
and no call of it can be interrupted. So every schema passes the profile `xgrammar` (nesting,
patterns, sizes) before xgrammar sees it, whichever profile accepted it.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard._frozen import Frozen
from schemaguard.errors import CompileError
from schemaguard.grammar import engine
from schemaguard.grammar.locate import locate
from schemaguard.grammar.masks import Masks
from schemaguard.grammar.matcher import Matcher
from schemaguard.grammar.tokenizers import Tokenizer
from schemaguard.report import Accepted

if TYPE_CHECKING:
    from schemaguard.report import Report

#: The profile that every schema has to pass before it is compiled.
ENGINE_PROFILE = "xgrammar"

#: White space characters that a model may put between two tokens of JSON. Without a bound, a model
#: may write white space for ever. `{"a": 1, "b": 2}` needs one; each more costs memory: with
#: 152,064 tokens a typical tool takes 0.18 MB without a bound, 0.57 MB with 2, 1.9 MB with 8 and
#: 7 MB with 32, and 20, 21, 27 and 58 ms to compile.
MAX_WHITESPACE = 2

#: Threads of one compilation. More gain nothing on typical tools (measured: 1.0x with 2 to 8).
MAX_THREADS = 1

#: Bytes of memory for grammars that are kept: 500 typical tools with 152,064 tokens.
CACHE_BYTES = 256 * 1024 * 1024

# The engine starts its threads for every compilation; 100,000 of them never come back.
_MOST_THREADS = 64

# Verdicts that are remembered, by digest of the schema. A refusal keeps its report, and that the
# document; the check of a larger one costs milliseconds and is done again.
_VERDICTS = 256
_KEPT_CHARS = 64 * 1024

# What xgrammar raises on schemas it cannot compile. RecursionError is a RuntimeError.
_ENGINE_ERRORS = (RuntimeError, ValueError, TypeError, MemoryError, OverflowError)


class CompileStats(Frozen):
    """What one compilation cost.

    Attributes:
        seconds: wall time of making the grammar, or of finding it.
        cached: the grammar was there already.
        preflight_seconds: wall time of the check under the profile `xgrammar`, or of recalling it.
        bytes: size of the compiled grammar in memory, as xgrammar estimates it.
    """

    __slots__ = ("bytes", "cached", "preflight_seconds", "seconds")

    seconds: float
    preflight_seconds: float
    bytes: int
    cached: bool

    def __init__(
        self,
        *,
        seconds: float,
        preflight_seconds: float,
        bytes: int,  # noqa: A002 - the unit is the name
        cached: bool,
    ) -> None:
        self._fill(seconds=seconds, preflight_seconds=preflight_seconds, bytes=bytes, cached=cached)


class CompiledSchema:
    """A schema as a grammar over the tokens of one tokenizer. Made by `Compiler.compile`.

    Attributes:
        accepted: the schema.
        stats: what compiling it cost.
        tokenizer: whose tokens its matchers take.
        engine: the `xgrammar.CompiledGrammar`.
    """

    __slots__ = ("_matcher_class", "accepted", "engine", "stats", "tokenizer")

    def __init__(
        self, accepted: Accepted, grammar: Any, stats: CompileStats, tokenizer: Tokenizer
    ) -> None:
        self.accepted = accepted
        self.engine = grammar
        self.stats = stats
        self.tokenizer = tokenizer
        self._matcher_class = engine.xgrammar().GrammarMatcher

    def matcher(self) -> Matcher:
        """A matcher at the start of an output."""
        return Matcher(self._matcher_class(self.engine), self.tokenizer)

    def accepts(self, text: str | bytes) -> bool:
        """Whether the engine lets a model write exactly this text.

        That is narrower than valid, and sometimes wider: xgrammar fixes the order of properties,
        bounds white space, and drops constraints that it does not know. Text that is not UTF-8
        is never accepted.
        """
        if isinstance(text, bytes):
            try:
                text = text.decode()
            except UnicodeDecodeError:
                return False  # the masks of xgrammar alone would let surrogates through
        matcher = self.matcher()
        return matcher.accept_string(text) and matcher.is_completed

    def __repr__(self) -> str:
        return f"<CompiledSchema {self.stats.bytes} bytes in {self.stats.seconds:.4f} s>"


class _Refusal:
    """Why a schema was not compiled, so that asking again costs a look-up."""

    __slots__ = ("message", "pointer", "reason", "report")

    def __init__(
        self, message: str, reason: str, pointer: str | None, report: Report | None = None
    ) -> None:
        self.message = message
        self.reason = reason
        self.pointer = pointer
        self.report = report

    def error(self) -> CompileError:
        return CompileError(
            self.message, reason=self.reason, pointer=self.pointer, report=self.report
        )


class Compiler:
    """Compiles accepted schemas for one tokenizer. Safe to use from several threads.

    A compilation holds a core and cannot be interrupted; the preflight keeps it short. Grammars are
    kept by the text of the schema, the ones used last within half of `cache_bytes`. The other half
    is for the engine's caches of parts of grammars, without which compiling takes up to ten times
    as long. Their own limit counts a fraction of what they hold (measured: 34 MB for 160 MB, and
    33 MB for 840 MB with a vocabulary of bytes), and nothing empties them, so an engine that has
    made that much is replaced by a new one.

    Args:
        tokenizer: whose tokens the grammars are made of.
        strict_mode: refuse properties and items that a schema does not mention. Without it a
            typical tool takes 20 to 70 times as long to compile.
        any_whitespace: allow white space between tokens of JSON; without it the output is spelt
            `{"a": 1, "b": 2}`.
        max_whitespace: most white space characters in one place; None for no bound. Without
            `any_whitespace` it has no effect.
        max_threads: threads of one compilation, 1 to 64.
        cache_bytes: memory for what is kept; grammars in use elsewhere do not count.

    Raises:
        MissingExtra: xgrammar is not installed.
        TypeError: `tokenizer` is no `Tokenizer`.
        ValueError: an option is out of its range.
        TokenizerError: the engine does not take the vocabulary.
    """

    __slots__ = (
        "_cache_bytes",
        "_grammars",
        "_kept_bytes",
        "_lock",
        "_made_bytes",
        "_max_threads",
        "_options",
        "_verdicts",
        "_xgrammar",
        "engine",
        "tokenizer",
    )

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        strict_mode: bool = True,
        any_whitespace: bool = True,
        max_whitespace: int | None = MAX_WHITESPACE,
        max_threads: int = MAX_THREADS,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"a compiler takes a schemaguard.grammar.Tokenizer, not {type(tokenizer).__name__}"
            )
        _check_range("max_threads", max_threads, 1, _MOST_THREADS)
        _check_range("cache_bytes", cache_bytes, 0, 1 << 62)
        if max_whitespace is not None:
            _check_range("max_whitespace", max_whitespace, 1, 1000)
        self._xgrammar = engine.xgrammar()
        self.tokenizer = tokenizer
        self._max_threads = max_threads
        self._cache_bytes = cache_bytes
        self._options = {
            "any_whitespace": bool(any_whitespace),
            "strict_mode": bool(strict_mode),
            "max_whitespace_cnt": max_whitespace if any_whitespace else None,
        }
        self._lock = threading.Lock()
        self._verdicts: OrderedDict[bytes, _Refusal | None] = OrderedDict()
        self._grammars: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()
        self._kept_bytes = 0
        self._renew_engine()

    def compile(self, accepted: Accepted) -> CompiledSchema:
        """Compile an accepted schema.

        Args:
            accepted: `report.accepted` of `schemaguard.check`, under any profile.

        Raises:
            TypeError: anything but an `Accepted`.
            CompileError: reason "cost" when the profile `xgrammar` rejects the schema,
                "unsupported" when the engine refuses it, "engine" when the engine fails.
        """
        if type(accepted) is not Accepted or type(accepted.text) is not str:
            why = " (it is None when the schema was rejected)" if accepted is None else ""
            raise TypeError(
                f"compile takes an Accepted, not {type(accepted).__name__}: "
                f"pass report.accepted of schemaguard.check{why}"
            )
        start = time.perf_counter()
        text = accepted.text
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        refusal = self._verdict(key, text)
        if refusal is not None:
            raise refusal.error()
        checked = time.perf_counter()
        grammar, size = self._kept(key)
        cached = grammar is not None
        if not cached:
            try:
                grammar = self.engine.compile_json_schema(text, **self._options)
            except _ENGINE_ERRORS as error:
                refusal = self._explain(text, error)
                self._remember(key, refusal)
                raise refusal.error() from error
            size = int(grammar.memory_size_bytes)
            self._keep(key, grammar, size)
        stats = CompileStats(
            seconds=time.perf_counter() - checked,
            preflight_seconds=checked - start,
            bytes=size,
            cached=cached,
        )
        return CompiledSchema(accepted, grammar, stats, self.tokenizer)

    def masks(self, batch_size: int) -> Masks:
        """Token masks for a batch of outputs, each row without a constraint at first."""
        return Masks(self.tokenizer, batch_size)

    # Inside -------------------------------------------------------------------------------------

    def _verdict(self, key: bytes, text: str) -> _Refusal | None:
        with self._lock:
            if key in self._verdicts:
                self._verdicts.move_to_end(key)
                return self._verdicts[key]
        report = schemaguard.check(text, profile=ENGINE_PROFILE)
        refusal = None
        if not report.ok:
            first = report.errors[0]
            message = engine.one_line(f"{first.code} {first.name}: {first.message}")
            refusal = _Refusal(message, "cost", first.pointer, report)
        if refusal is None or len(text) <= _KEPT_CHARS:
            self._remember(key, refusal)
        return refusal

    def _remember(self, key: bytes, refusal: _Refusal | None) -> None:
        with self._lock:
            self._verdicts[key] = refusal
            self._verdicts.move_to_end(key)
            while len(self._verdicts) > _VERDICTS:
                self._verdicts.popitem(last=False)

    def _kept(self, key: bytes) -> tuple[Any, int]:
        with self._lock:
            if key not in self._grammars:
                return None, 0
            self._grammars.move_to_end(key)
            return self._grammars[key]

    def _keep(self, key: bytes, grammar: Any, size: int) -> None:
        half = self._cache_bytes // 2
        with self._lock:
            # What the engine's caches hold is at most about what it has made.
            self._made_bytes += size
            if self._made_bytes > half:
                self._renew_engine()
            if key not in self._grammars:
                self._grammars[key] = (grammar, size)
                self._kept_bytes += size
            while self._kept_bytes > half:
                _, (_, dropped) = self._grammars.popitem(last=False)
                self._kept_bytes -= dropped

    def _renew_engine(self) -> None:
        self.engine = self._xgrammar.GrammarCompiler(
            self.tokenizer.info,
            max_threads=self._max_threads,
            cache_limit_bytes=self._cache_bytes // 2,
        )
        self._made_bytes = 0

    def _explain(self, text: str, error: Exception) -> _Refusal:
        message, about_schema = engine.explain(error)
        if not about_schema:
            return _Refusal(
                message, "engine", None
            )  # asking again may cost what it just ran out of
        return _Refusal(message, "unsupported", locate(text, self._refusal_of))

    def _refusal_of(self, text: str) -> str | None:
        """What the engine says against a schema when it makes the grammar alone, or None."""
        try:
            self._xgrammar.Grammar.from_json_schema(text, **self._options)
        except _ENGINE_ERRORS as error:
            return engine.explain(error)[0]
        return None


def _check_range(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} must be an integer in {least}..{most}, not {value!r}")
