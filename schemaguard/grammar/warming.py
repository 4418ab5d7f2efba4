"""Compiling a fleet's known tools before they are asked for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from schemaguard._frozen import Frozen
from schemaguard.errors import CompileError
from schemaguard.report import Accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schemaguard.grammar.compiled import CompileStats
    from schemaguard.grammar.compiler import Compiler
    from schemaguard.grammar.tags import TagPlan


class Warmed(Frozen):
    """How one item went.

    Attributes:
        item: the accepted schema, or the plan.
        stats: what compiling it cost; None when it was not compiled.
        error: why it was not; None when it was.
        seconds: wall time of it all.
    """

    __slots__ = ("error", "item", "seconds", "stats")

    item: Accepted | TagPlan
    stats: CompileStats | None
    error: CompileError | None
    seconds: float

    def __init__(
        self,
        *,
        item: Accepted | TagPlan,
        stats: CompileStats | None,
        error: CompileError | None,
        seconds: float,
    ) -> None:
        self._fill(item=item, stats=stats, error=error, seconds=seconds)


class Warming:
    """A run of `Compiler.warm`, finished or in the background."""

    def __init__(
        self,
        compiler: Compiler,
        items: Iterable[Accepted | TagPlan],
        *,
        background: bool,
        on_done: Callable[[Warmed], None] | None,
    ) -> None:
        self._compiler = compiler
        self._items = items
        self._on_done = on_done
        self._results: list[Warmed] = []
        self._cancelled = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        if background:
            # A daemon: the end of the program does not wait for schemas that nobody asked for.
            self._thread = threading.Thread(
                target=self._in_background, name="schemaguard-warm", daemon=True
            )
            self._thread.start()
        else:
            self._run()

    @property
    def results(self) -> tuple[Warmed, ...]:
        """What is done so far, in the order of the items."""
        return tuple(self._results)

    @property
    def is_done(self) -> bool:
        """Whether nothing more will come."""
        return self._thread is None or not self._thread.is_alive()

    def cancel(self) -> None:
        """Start no further item. The one that is being compiled is finished: nothing stops it."""
        self._cancelled.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done; False when the seconds passed first.

        Raises:
            Exception: what the items or `on_done` raised, once.
        """
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                return False
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return True

    def _in_background(self) -> None:
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 - kept for the one who waits
            self._failure = error

    def _run(self) -> None:
        for item in self._items:
            if self._cancelled.is_set():
                return
            if not isinstance(item, Accepted) and item.text is None:
                continue  # a plan without a tag: nothing is constrained
            began = time.perf_counter()
            stats, error = None, None
            try:
                if isinstance(item, Accepted):
                    stats = self._compiler.compile(item).stats
                else:
                    stats = self._compiler.compile_tag(item).stats
            except CompileError as refused:
                error = refused
            done = Warmed(item=item, stats=stats, error=error, seconds=time.perf_counter() - began)
            self._results.append(done)
            if self._on_done is not None:
                self._on_done(done)
