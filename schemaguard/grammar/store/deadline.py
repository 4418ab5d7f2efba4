"""Calls that end in time, whatever they wait for.

A socket's timeout bounds one wait for bytes. Looking up a name, a handshake, or a server that sends
one byte after the other are many, so a call is made in a thread, and only its result waited for.
"""

from __future__ import annotations

import queue
import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class _Call:
    """A call, and what came of it."""

    __slots__ = ("abandoned", "done", "error", "function", "result")

    def __init__(self, function: Callable[[], object]) -> None:
        self.function = function
        self.result: object = None
        self.error: Exception | None = None
        self.abandoned = False
        self.done = threading.Event()


class Deadline:
    """Makes calls one after the other in a thread of its own, which is started with the first."""

    __slots__ = ("__weakref__", "_calls", "_lock", "_started")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._started = False

    def call(self, function: Callable[[], object], seconds: float) -> object:
        """What the function returns.

        Raises:
            TimeoutError: it took longer; it goes on, and what it returns is lost.
            Exception: the function's own.
        """
        if not self._started:
            self._start()
        call = _Call(function)
        self._calls.put(call)
        if not call.done.wait(seconds):
            call.abandoned = True
            raise TimeoutError(f"no answer within {seconds:g} s")
        if call.error is not None:
            raise call.error
        return call.result

    def _start(self) -> None:
        with self._lock:
            if not self._started:
                self._started = True
                # The thread has the queue alone, so that it ends with this object.
                weakref.finalize(self, self._calls.put, None)
                threading.Thread(
                    target=_work, args=(self._calls,), name="schemaguard-store", daemon=True
                ).start()


def _work(calls: queue.SimpleQueue[_Call | None]) -> None:
    while (call := calls.get()) is not None:
        if call.abandoned:
            continue
        try:
            call.result = call.function()
        except Exception as error:  # noqa: BLE001 - raised where it was called
            call.error = error
        call.done.set()
        del call
