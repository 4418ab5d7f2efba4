"""Whether a schema compiles, asked of somebody who may not survive the question.

A trial compiles in a worker process with limits, with the same text, vocabulary and options that
will be used here afterwards. How it ended is a verdict, and a store remembers those.
"""

from __future__ import annotations

import hashlib
import json
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard.errors import CompileError, CompileRefused
from schemaguard.grammar.locate import locate
from schemaguard.grammar.outcome import Outcome
from schemaguard.grammar.store import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemaguard.grammar.store import VerdictStore
    from schemaguard.grammar.tokenizers import Tokenizer
    from schemaguard.grammar.worker import Workers
    from schemaguard.report import Report

#: Seconds that a trial waits for a worker when all are busy.
WAIT_SECONDS = 10.0

#: The longest (seconds) that one mask may take: each request of a batch waits for it.
MASK_SECONDS = 0.02

#: How many masks are filled where that is asked for.
MASKS = 128

# Why the compiler is kept away from a schema; the other reasons are the engine's own.
_KEPT_AWAY = ("cost", "timeout", "memory", "crash", "busy")


class Refusal:
    """Why a schema was not compiled, so that asking again costs a look-up.

    Attributes:
        message: one printable line.
        reason: as in `CompileError`.
        pointer: into the schema, where it can be known.
        report: of the engine's profile, when that is the reason.
        lasting: whether asking again would end so again.
    """

    __slots__ = ("lasting", "message", "pointer", "reason", "report")

    def __init__(
        self,
        message: str,
        reason: str,
        pointer: str | None = None,
        report: Report | None = None,
        *,
        lasting: bool = True,
    ) -> None:
        self.message = message
        self.reason = reason
        self.pointer = pointer
        self.report = report
        self.lasting = lasting

    def error(self) -> CompileError:
        """The exception that says it."""
        made = CompileRefused if self.reason in _KEPT_AWAY else CompileError
        return made(self.message, reason=self.reason, pointer=self.pointer, report=self.report)


class Trials:
    """Trials for one tokenizer and one set of options.

    Args:
        tokenizer: whose tokens the grammars are made of.
        options: how xgrammar reads a schema.
        workers: who compiles.
        store: who remembers.
    """

    __slots__ = ("_context", "_store", "workers")

    def __init__(
        self,
        tokenizer: Tokenizer,
        options: Mapping[str, Any],
        workers: Workers,
        store: VerdictStore,
    ) -> None:
        self.workers = workers
        self._store = store
        # What a verdict depends on besides the text: all that could make it end otherwise.
        self._context = json.dumps(
            [
                schemaguard.__version__,
                version("xgrammar"),
                tokenizer.fingerprint,
                sorted(options.items()),
                repr(workers.limits),
            ]
        ).encode()

    def run(
        self, name: bytes, kind: str, text: str, *, dynamic: bool, fill: bool = False
    ) -> tuple[float | None, Refusal | None]:
        """Have a worker compile a text, unless how that ends is known.

        Args:
            name: the digest of kind and text.
            kind: "schema" or "tag".
            text: of the schema, or of the structural tag.
            dynamic: compile on demand.
            fill: fill masks along a random output, too; one that takes over `MASK_SECONDS` refuses
                the way to compile, reason "cost".

        Returns:
            The seconds it took, None when nobody had to be asked; and the refusal, if any.

        Raises:
            CompileError: reason "engine", no worker can be started.
        """
        began = time.perf_counter()
        key = hashlib.sha256(b"%s%d%d%s" % (self._context, dynamic, fill, name)).digest()
        verdict = self._store.get(key)
        if verdict is not None:
            if verdict.reason is None:
                return None, None
            return None, Refusal(verdict.message, verdict.reason, verdict.pointer)
        outcome = self.workers.run(
            text, kind, dynamic=dynamic, masks=MASKS if fill else 0, wait_seconds=WAIT_SECONDS
        )
        if outcome is None:
            message = f"no worker was free for {WAIT_SECONDS:g} s: ask again later"
            return time.perf_counter() - began, Refusal(message, "busy", lasting=False)
        if outcome.mask_seconds is not None and outcome.mask_seconds > MASK_SECONDS:
            outcome = Outcome(
                reason="cost", message=f"a mask takes {outcome.mask_seconds * 1e3:.0f} ms"
            )
        pointer = None
        if outcome.reason == "unsupported" and kind == "schema":
            pointer = locate(text, self.says)
        if outcome.lasting:
            self._store.put(key, _verdict(outcome, pointer))
        spent = time.perf_counter() - began
        if outcome.reason is None:
            return spent, None
        return spent, Refusal(outcome.message, outcome.reason, pointer, lasting=outcome.lasting)

    def says(self, text: str) -> str | None:
        """What the engine says against a schema when it makes the grammar alone, or None."""
        outcome = self.workers.run(text, "grammar", wait_seconds=WAIT_SECONDS)
        return outcome.message if outcome is not None and outcome.reason else None


def _verdict(outcome: Outcome, pointer: str | None) -> Verdict:
    return Verdict(
        outcome="compiles" if outcome.reason is None else "refused",
        reason=outcome.reason,
        message=outcome.message,
        pointer=pointer,
        seconds=outcome.seconds,
        peak_bytes=outcome.peak_bytes,
        bytes=outcome.bytes,
    )
