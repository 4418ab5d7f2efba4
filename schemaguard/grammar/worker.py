"""Compiling where it may crash, hang or eat memory: worker processes with limits.

No call of xgrammar can be interrupted, and a thread with a timeout only stops waiting. A process
can be ended. The workers are forks of a server (`schemaguard.grammar.forkserver`), a new process
that has one thread and the compiler loaded, so a worker that was killed is replaced in
milliseconds, and this process is never forked: it may have threads and CUDA.

What comes back is a verdict and what it cost, never a grammar: sending one costs more than making
it again (630 MB and a minute for 500 properties, xgrammar 0.2.9).
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from schemaguard._closing import Closing
from schemaguard.errors import CompileError
from schemaguard.grammar import frames, outcome, server
from schemaguard.grammar.outcome import Limits, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schemaguard.grammar.server import Worker
    from schemaguard.grammar.tokenizers import Tokenizer

__all__ = ["Limits", "Outcome", "Workers"]

#: Jobs after which a worker is replaced, whatever it has grown to.
MAX_JOBS = 2_000


class Workers(Closing):
    """Worker processes for one tokenizer. Safe to use from several threads.

    The server starts with the first job, or with `start`. Closed by `close`, by leaving a `with`
    block, or when the object is collected; a server whose caller is gone ends by itself.

    Args:
        tokenizer: whose tokens the grammars are made of.
        options: how xgrammar reads a schema: `any_whitespace`, `strict_mode`, `max_whitespace_cnt`.
        limits: of a job that does not bring its own.
        count: workers, and so jobs at the same time.

    Raises:
        ValueError: `count` is no integer in 1..64.
        NotImplementedError: the system cannot fork.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        options: Mapping[str, Any],
        *,
        limits: Limits | None = None,
        count: int = 1,
    ) -> None:
        if not hasattr(os, "fork"):
            raise NotImplementedError("worker processes need a system that can fork")
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 64:
            raise ValueError(f"the number of workers must be an integer in 1..64, not {count!r}")
        self.limits = limits if limits is not None else Limits()
        self._tokenizer = tokenizer
        self._options = dict(options)
        self._count = count
        self._reset()
        _ALL.add(self)

    def _reset(self) -> None:
        self._order_lock = threading.Lock()
        self._server: server.Server | None = None
        self._closed = False
        # A place for each worker; None where there is none at the moment.
        self._places: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(self._count):
            self._places.put(None)

    # What a caller does -------------------------------------------------------------------------

    def start(self) -> float:
        """Start the server and one worker, if there is none; returns the seconds it took.

        Raises:
            CompileError: the server does not start.
        """
        began = time.perf_counter()
        worker = self._places.get()
        try:
            worker = self._living(worker)
        finally:
            self._places.put(worker)
        return time.perf_counter() - began

    def run(
        self,
        text: str,
        kind: str = "schema",
        *,
        dynamic: bool = False,
        limits: Limits | None = None,
        masks: int = 0,
        seed: int = 0,
        outputs: Sequence[str] = (),
        wait_seconds: float | None = None,
    ) -> Outcome | None:
        """Compile in a worker.

        Args:
            text: of the schema, or of the structural tag.
            kind: "schema", "tag", or "grammar" (read the schema, compile nothing).
            dynamic: compile on demand while masks are filled.
            limits: of this job.
            masks: when not 0, the most states in which masks are measured, along each output.
            seed: of the random output that is always among them.
            outputs: texts to follow while masks are measured.
            wait_seconds: how long to wait for a worker when all are busy; None waits for ever.

        Returns:
            How it ended, at most 100 ms after the limit; None when no worker was free in time.

        Raises:
            CompileError: reason "engine", when no worker can be started.
        """
        try:
            worker = self._places.get(timeout=wait_seconds)
        except queue.Empty:
            return None
        limits = limits or self.limits
        job = {
            "kind": kind,
            "text": text,
            "dynamic": dynamic,
            "cpu": limits.cpu_seconds,
            "memory": limits.memory_bytes,
            "stack": limits.stack_bytes,
            "masks": masks,
            "seed": seed,
            "outputs": list(outputs),
        }
        # A worker goes back only when nothing is outstanding: whatever ends this early, a signal
        # handler that raises included, the next job must not get this one's answer.
        back: Worker | None = None
        try:
            worker = self._living(worker)
            ended, answer = self._ask(worker, job, limits)
            if answer is not None and not self._is_spent(worker, answer):
                back = worker
            return ended
        finally:
            if worker is not None and back is None:
                self._discard(worker)
            self._places.put(back)

    def close(self) -> None:
        """End the server and all workers; jobs that run are cut short. Twice is once."""
        with self._order_lock:
            self._closed = True
            ending, self._server = self._server, None
        if ending is not None:
            ending.close()
        for place in list(self._places.queue):
            if place is not None:
                place.socket.close()

    def __del__(self) -> None:
        # The processes would end anyway, for their sockets close; this one also takes leave.
        with contextlib.suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        return f"<Workers {self._count} for {self._tokenizer!r}>"

    # Inside -------------------------------------------------------------------------------------

    def _ask(
        self, worker: Worker, job: dict[str, Any], limits: Limits
    ) -> tuple[Outcome, dict[str, Any] | None]:
        """Have a job done: how it ended, and the answer when the worker lives on."""
        began = time.perf_counter()
        try:
            frames.send(worker.socket, job, seconds=limits.seconds)
            left = limits.seconds - (time.perf_counter() - began)
            answer, _ = frames.receive(worker.socket, seconds=max(0.001, left))
        except frames.Late:
            spent = time.perf_counter() - began
            return outcome.of_lateness(limits, spent, worker.processor_seconds()), None
        except frames.Gone:
            spent = time.perf_counter() - began
            return outcome.of_death(self._exit_code(worker), limits, spent), None
        ended = outcome.of_answer(answer, limits, time.perf_counter() - began)
        return ended, answer if isinstance(answer, dict) and ended.reason != "crash" else None

    def _living(self, worker: Worker | None) -> Worker:
        """The worker, or a new one; waits until it is ready."""
        if self._closed:
            raise CompileError("the workers are closed", reason="engine")
        if worker is not None and worker.ready and _has_something(worker.socket):
            # It has nothing to say unasked: somebody ended it while it was idle.
            self._discard(worker)
            worker = None
        if worker is None:
            worker = self._fork()
        if not worker.ready:
            try:
                frames.receive(worker.socket, seconds=server.START_SECONDS)
                worker.ready = True
            except (frames.Gone, frames.Late) as error:
                raise CompileError("a worker process did not start", reason="engine") from error
            finally:
                if not worker.ready:
                    self._discard(worker)
        return worker

    def _fork(self) -> Worker:
        with self._order_lock:
            if self._closed:
                raise CompileError("the workers are closed", reason="engine")
            for _ in range(2):  # somebody killed the server: once is an accident
                self._drop_broken()
                if self._server is None:
                    self._server = server.Server(self._tokenizer, self._options)
                with contextlib.suppress(frames.Gone, frames.Late):
                    return self._server.fork()
            self._drop_broken()
        raise CompileError("the server of the worker processes ended", reason="engine")

    def _discard(self, worker: Worker) -> None:
        worker.socket.close()
        self._order(worker, "kill")

    def _exit_code(self, worker: Worker) -> int | None:
        code = self._order(worker, "wait").get("exit")
        return code if isinstance(code, int) else None

    def _order(self, worker: Worker, what: str) -> dict[str, Any]:
        """Tell the server of a worker; nothing when that one is gone, and the worker with it."""
        with self._order_lock:
            if self._server is not worker.server or worker.server.is_broken:
                return {}
            try:
                return worker.server.order({"op": what, "pid": worker.pid})
            except (frames.Gone, frames.Late):
                self._drop_broken()
                return {}

    def _drop_broken(self) -> None:
        """Let go of a server that does not answer, or would answer another order."""
        if self._server is not None and self._server.is_broken:
            ending, self._server = self._server, None
            ending.close()

    def _is_spent(self, worker: Worker, answer: dict[str, Any]) -> bool:
        """Whether the worker has become too large, or has done enough, to be kept."""
        if "end" in answer:
            return True  # out of memory: what is left of it is fragments
        worker.jobs += 1
        rss, clock = answer.get("rss"), answer.get("clock")
        if isinstance(clock, float):
            worker.clock = clock
        if isinstance(rss, int):
            worker.rss = worker.rss or rss
            if rss - worker.rss > self.limits.memory_bytes // 4:
                return True
        return worker.jobs >= MAX_JOBS


def _has_something(end: Any) -> bool:
    poll = select.poll()  # select knows no descriptor above 1,023
    poll.register(end, select.POLLIN)
    return bool(poll.poll(0))


_ALL: weakref.WeakSet[Workers] = weakref.WeakSet()


def _forget_all() -> None:
    """In a fork of this process: servers and sockets belong to the parent."""
    server.close_inherited()
    for workers in list(_ALL):
        workers._reset()  # noqa: SLF001 - of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
