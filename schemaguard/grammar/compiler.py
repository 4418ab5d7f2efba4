"""Accepted schema → compiled grammar: the only way to xgrammar, behind a preflight and a trial.

The profile that accepted a schema says what a server takes. What the engine can bear is another
question: a few bytes of pattern or nesting keep xgrammar busy for minutes or crash the process,
and no call of it can be interrupted. So every schema passes

1. the profile `xgrammar` (nesting, patterns, sizes), whichever profile accepted it;
2. a trial in a worker process with limits (`schemaguard.grammar.worker`), unless a verdict store
   knows how that ends or `isolation="none"` says that the schemas are trusted;

and only then is it compiled in this process.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import weakref
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard import estimate
from schemaguard._closing import Closing
from schemaguard.grammar import engine
from schemaguard.grammar.cache import Grammars, Kept
from schemaguard.grammar.compiled import CompiledSchema, CompiledTag, CompileStats
from schemaguard.grammar.engine import MIN_STACK_BYTES
from schemaguard.grammar.locate import locate
from schemaguard.grammar.masks import Masks
from schemaguard.grammar.store import MemoryStore
from schemaguard.grammar.tokenizers import Tokenizer
from schemaguard.grammar.trials import Refusal, Trials
from schemaguard.grammar.warming import Warming
from schemaguard.report import Accepted

__all__ = ["ENGINE_PROFILE", "MAX_WHITESPACE", "MIN_STACK_BYTES", "Compiler"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from schemaguard.grammar.store import VerdictStore
    from schemaguard.grammar.tags import TagPlan
    from schemaguard.grammar.warming import Warmed
    from schemaguard.grammar.worker import Limits
    from schemaguard.report import Report

#: The profile that every schema has to pass before it is compiled: what keeps the engine alive.
#: Newer ones say besides what the engine will not enforce, and refuse what it refuses itself; here
#: that would be paid for and read by nobody.
ENGINE_PROFILE = "xgrammar-2026-11-30"

#: White space characters that a model may put between two tokens of JSON. Without a bound, a model
#: may write white space for ever. `{"a": 1, "b": 2}` needs one; each more costs memory: with
#: 152,064 tokens a typical tool takes 0.18 MB without a bound, 0.57 MB with 2, 1.9 MB with 8 and
#: 7 MB with 32, and 20, 21, 27 and 58 ms to compile.
MAX_WHITESPACE = 2

#: Threads of one compilation. More gain nothing on typical tools (measured: 1.0x with 2 to 8).
MAX_THREADS = 1

#: Bytes of memory for grammars that are kept: 500 typical tools with 152,064 tokens.
CACHE_BYTES = 256 * 1024 * 1024

#: Where a grammar is made whole at once, and where on demand while masks are filled.
MODES = ("auto", "eager", "dynamic")

#: "process": what nobody has compiled before is tried in a worker. "none": trusted schemas.
ISOLATIONS = ("process", "none")

# The engine starts its threads for every compilation; 100,000 of them never come back.
_MOST_THREADS = 64

# Verdicts that are remembered, by digest of the schema. A refusal keeps its report, and that the
# document; the check of a larger one costs milliseconds and is done again.
_VERDICTS = 256
_KEPT_CHARS = 64 * 1024

# What xgrammar raises on schemas it cannot compile. RecursionError is a RuntimeError.
_ENGINE_ERRORS = (RuntimeError, ValueError, TypeError, MemoryError, OverflowError)


class Compiler(Closing):
    """Compiles accepted schemas for one tokenizer. Safe to use from several threads.

    A compilation holds a core and cannot be interrupted; the preflight and the trial keep it short.
    A thread that compiles needs a stack of `MIN_STACK_BYTES`.

    Args:
        tokenizer: whose tokens the grammars are made of.
        isolation: "process" tries what nobody has compiled before in a worker process first, with
            `limits`; "none" is for schemas that are trusted.
        limits: of a trial.
        workers: worker processes, and so trials at the same time.
        store: remembers verdicts: a schema that is known to compile needs no trial, one that killed
            a worker anywhere is refused at once. By default in this object alone; one that is given
            is not closed by it.
        mode: "eager" makes the whole grammar at once; "dynamic" makes the first mask of a large
            schema available sooner and steps dearer; "auto" compiles on demand what is estimated to
            take long, if no mask takes over 20 ms in its trial.
        strict_mode: refuse properties and items that a schema does not mention. Without it a
            typical tool takes 20 to 70 times as long to compile.
        any_whitespace: allow white space between tokens of JSON; without it the output is spelt
            `{"a": 1, "b": 2}`.
        max_whitespace: most white space characters in one place; None for no bound. Without
            `any_whitespace` it has no effect.
        max_threads: threads of one compilation, 1 to 64.
        cache_bytes: memory for the grammars that are kept, by the text of their schemas, and for
            the engine's caches; grammars in use elsewhere do not count.

    Raises:
        MissingExtra: xgrammar is not installed.
        TypeError: `tokenizer` is no `Tokenizer`.
        ValueError: an option is out of its range.
        NotImplementedError: this system cannot isolate; pass `isolation="none"`.
        TokenizerError: the engine does not take the vocabulary.
    """

    __slots__ = (
        "__weakref__",
        "_flights",
        "_grammars",
        "_lock",
        "_max_threads",
        "_mode",
        "_options",
        "_trials",
        "_verdicts",
        "_xgrammar",
        "tokenizer",
    )

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        isolation: str = "process",
        limits: Limits | None = None,
        workers: int = 1,
        store: VerdictStore | None = None,
        mode: str = "auto",
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
        _check_choice("isolation", isolation, ISOLATIONS)
        _check_choice("mode", mode, MODES)
        _check_range("max_threads", max_threads, 1, _MOST_THREADS)
        _check_range("cache_bytes", cache_bytes, 0, 1 << 62)
        if max_whitespace is not None:
            _check_range("max_whitespace", max_whitespace, 1, 1000)
        self._xgrammar = engine.xgrammar()
        self.tokenizer = tokenizer
        self._mode = mode
        self._max_threads = max_threads
        self._options = {
            "any_whitespace": bool(any_whitespace),
            "strict_mode": bool(strict_mode),
            "max_whitespace_cnt": max_whitespace if any_whitespace else None,
        }
        self._trials = None
        if isolation == "process":
            from schemaguard.grammar.worker import Workers  # noqa: PLC0415 - POSIX only

            pool = Workers(tokenizer, self._options, limits=limits, count=workers)
            self._trials = Trials(
                tokenizer, self._options, pool, MemoryStore() if store is None else store
            )
        self._lock = threading.Lock()
        self._flights: dict[bytes, list[Any]] = {}
        self._verdicts: OrderedDict[bytes, Refusal | None] = OrderedDict()
        self._grammars = Grammars(self._make_engine, cache_bytes)
        _ALL.add(self)

    # What a caller does -------------------------------------------------------------------------

    def compile(self, accepted: Accepted) -> CompiledSchema:
        """Compile an accepted schema.

        Args:
            accepted: `report.accepted` of `schemaguard.check`, under any profile.

        Raises:
            TypeError: anything but an `Accepted`.
            CompileRefused: the compiler was not let near it: reason "cost" when the profile
                `xgrammar` rejects the schema, "timeout", "memory" or "crash" when a worker ended
                so, "busy" when no worker was free for 10 s.
            CompileError: reason "unsupported" when the engine refuses it, "engine" when the engine
                fails.
        """
        if type(accepted) is not Accepted or type(accepted.text) is not str:
            why = " (it is None when the schema was rejected)" if accepted is None else ""
            raise TypeError(
                f"compile takes an Accepted, not {type(accepted).__name__}: "
                f"pass report.accepted of schemaguard.check{why}"
            )
        grammar, stats = self._compile("schema", accepted.text)
        return CompiledSchema(accepted, grammar, stats, self.tokenizer)

    def compile_tag(self, plan: TagPlan) -> CompiledTag:
        """Compile the structural tag of a request.

        Args:
            plan: of `schemaguard.grammar.tags.plan`, with a tag.

        Raises:
            TypeError: anything but a `TagPlan`.
            ValueError: the plan has no tag, so the output is not constrained.
            CompileRefused: as `compile`.
            CompileError: as `compile`.
        """
        from schemaguard.grammar.tags import TagPlan  # noqa: PLC0415 - only who has tags

        if type(plan) is not TagPlan:
            raise TypeError(
                f"compile_tag takes a TagPlan, not {type(plan).__name__}: "
                "pass what schemaguard.grammar.tags.plan returns"
            )
        if plan.text is None:
            raise ValueError("the plan has no tag: the output of this request is not constrained")
        grammar, stats = self._compile("tag", plan.text)
        return CompiledTag(plan, grammar, stats, self.tokenizer)

    def masks(self, batch_size: int, threads: int | None = None) -> Masks:
        """Token masks for a batch of outputs, each row without a constraint at first."""
        return Masks(self.tokenizer, batch_size, threads)

    def warm(
        self,
        items: Iterable[Accepted | TagPlan],
        *,
        background: bool = False,
        on_done: Callable[[Warmed], None] | None = None,
    ) -> Warming:
        """Compile what will be asked for, before it is.

        Args:
            items: accepted schemas and plans, taken one at a time; plans without a tag are passed
                over.
            background: return at once and compile in a thread of low ambition: one at a time.
            on_done: called with each result, in the thread that compiles.

        Returns:
            The results, as they come: `Warming.results`, `Warming.wait`, `Warming.cancel`.
        """
        return Warming(self, items, background=background, on_done=on_done)

    def start(self) -> float:
        """Start the worker processes now; returns the seconds it took (0 without isolation).

        Raises:
            CompileError: they do not start.
        """
        return 0.0 if self._trials is None else self._trials.workers.start()

    def close(self) -> None:
        """End the worker processes. What was compiled stays usable; new trials are refused."""
        if self._trials is not None:
            self._trials.workers.close()

    @property
    def engine(self) -> Any:
        """The `xgrammar.GrammarCompiler` of eager compilations, as it is now."""
        return self._grammars.engine(dynamic=False)

    # Inside -------------------------------------------------------------------------------------

    def _compile(self, kind: str, text: str) -> tuple[Any, CompileStats]:
        start = time.perf_counter()
        name = _digest(kind, text)
        refusal, report = self._preflight(name, kind, text)
        if refusal is not None:
            raise refusal.error()
        checked = time.perf_counter()
        trial: float | None = None
        kept = self._grammars.find(name)
        cached = kept is not None
        if kept is None:
            with self._alone(name):
                kept = self._grammars.find(name)
                cached = kept is not None
                if kept is None:
                    dynamic = self._is_dynamic(kind, text if report is None else report)
                    if self._trials is not None:
                        trial, dynamic = self._try(self._trials, name, kind, text, dynamic)
                    kept = self._make(name, kind, text, dynamic=dynamic)
        stats = CompileStats(
            seconds=time.perf_counter() - checked - (trial or 0.0),
            preflight_seconds=checked - start,
            trial_seconds=trial,
            bytes=kept.bytes,
            cached=cached,
            dynamic=kept.dynamic,
        )
        return kept.grammar, stats

    def _preflight(self, name: bytes, kind: str, text: str) -> tuple[Refusal | None, Report | None]:
        """What is remembered, or what the profile says; a plan was checked when it was made.

        Returns:
            The refusal, if any, and the report when there was a check.
        """
        with self._lock:
            if name in self._verdicts:
                self._verdicts.move_to_end(name)
                return self._verdicts[name], None
        if kind == "tag":
            return None, None
        report = schemaguard.check(text, profile=ENGINE_PROFILE)
        refusal = None
        if not report.ok:
            first = report.errors[0]
            message = engine.one_line(f"{first.code} {first.name}: {first.message}")
            refusal = Refusal(message, "cost", first.pointer, report)
        if refusal is None or len(text) <= _KEPT_CHARS:
            self._remember(name, refusal)
        return refusal, report

    def _remember(self, name: bytes, refusal: Refusal | None) -> None:
        with self._lock:
            self._verdicts[name] = refusal
            self._verdicts.move_to_end(name)
            while len(self._verdicts) > _VERDICTS:
                self._verdicts.popitem(last=False)

    def _try(
        self, trials: Trials, name: bytes, kind: str, text: str, dynamic: bool
    ) -> tuple[float | None, bool]:
        """Run a trial; the seconds it took, and whether to compile on demand."""
        choose = dynamic and self._mode == "auto"
        spent, refusal = trials.run(name, kind, text, dynamic=dynamic, fill=choose)
        if refusal is not None and choose:
            # Masks on demand would be too dear, for the whole batch: then at once, if at all.
            dynamic = False
            more, refusal = trials.run(name, kind, text, dynamic=False)
            spent = (spent or 0.0) + (more or 0.0) or None
        if refusal is not None:
            if refusal.lasting:
                self._remember(name, refusal)
            raise refusal.error()
        return spent, dynamic

    @contextmanager
    def _alone(self, name: bytes) -> Iterator[None]:
        """Let one thread at a time make a grammar; the others find it made."""
        with self._lock:
            flight = self._flights.setdefault(name, [threading.Lock(), 0])
            flight[1] += 1
        try:
            with flight[0]:
                yield
        finally:
            with self._lock:
                flight[1] -= 1
                if not flight[1]:
                    self._flights.pop(name, None)

    # The engine ---------------------------------------------------------------------------------

    def _is_dynamic(self, kind: str, schema: str | Report) -> bool:
        if self._mode != "auto" or kind == "tag" or self._trials is None:
            return self._mode == "dynamic"  # only a trial can say what masks on demand cost
        return estimate.prefers_dynamic(estimate.estimate(schema))

    def _make(self, name: bytes, kind: str, text: str, *, dynamic: bool) -> Kept:
        with engine.long_call():  # also what follows: to measure and to let go are calls, too
            compiler = self._grammars.engine(dynamic=dynamic)
            try:
                if kind == "tag":
                    grammar = compiler.compile_structural_tag(text)
                else:
                    grammar = compiler.compile_json_schema(text, **self._options)
            except _ENGINE_ERRORS as error:
                message, about_schema = engine.explain(error)
                pointer = locate(text, self._says) if about_schema and kind == "schema" else None
                # Asking again may cost what it just ran out of; so it is remembered, too.
                refusal = Refusal(message, "unsupported" if about_schema else "engine", pointer)
                self._remember(name, refusal)
                raise refusal.error() from error
            made = Kept(grammar, int(grammar.memory_size_bytes), dynamic)
            self._grammars.keep(name, made)
            return made

    def _says(self, text: str) -> str | None:
        """What the engine says against a schema when it makes the grammar alone, or None."""
        if self._trials is not None:
            return self._trials.says(text)
        try:
            self._xgrammar.Grammar.from_json_schema(text, **self._options)
        except _ENGINE_ERRORS as error:
            return engine.explain(error)[0]
        return None

    def _make_engine(self, dynamic: bool, most_bytes: int) -> Any:
        return self._xgrammar.GrammarCompiler(
            self.tokenizer.info,
            max_threads=self._max_threads,
            cache_limit_bytes=most_bytes,
            enable_dynamic_compilation=dynamic,
        )

    def _after_fork(self) -> None:
        """In a fork: threads that held a lock or made a grammar stayed in the parent."""
        self._lock = threading.Lock()
        self._flights = {}
        self._grammars.after_fork()


_ALL: weakref.WeakSet[Compiler] = weakref.WeakSet()


def _renew_all() -> None:
    for compiler in list(_ALL):
        compiler._after_fork()  # noqa: SLF001 - of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


def _digest(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}:{text}".encode("utf-8", "surrogatepass")).digest()


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def _check_range(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} must be an integer in {least}..{most}, not {value!r}")
