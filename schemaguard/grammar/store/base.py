"""What every store promises: a verdict or nothing, soon, and never an exception.

A store saves work. Whatever happens to it (damage, a full disk, a server that is gone or slow,
another version) costs a compilation, so it is counted and the request goes on.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Protocol, Self

from schemaguard._closing import Closing
from schemaguard._frozen import Frozen
from schemaguard.errors import cut, printable
from schemaguard.grammar.store.verdict import KEY_BYTES, Verdict

if TYPE_CHECKING:
    from types import TracebackType

#: Longest text of an error, in code points.
MAX_ERROR_CHARS = 300


class StoreError(Exception):
    """A store cannot be used; the text, for the operator, says why. It never leaves the store."""


class StoreStats(Frozen):
    """What a store did since it was made, in this process.

    Attributes:
        hits: look-ups that found a verdict.
        misses: look-ups that did not, for whatever reason.
        errors: what failed: a look-up, a write, an entry that is damaged. Attempts that were not
            made, because the store waits after an error, are not counted.
        last_error: the last of them in one printable line, "" when there was none.
    """

    __slots__ = ("errors", "hits", "last_error", "misses")

    hits: int
    misses: int
    errors: int
    last_error: str

    def __init__(self, hits: int, misses: int, errors: int, last_error: str) -> None:
        self._fill(hits=hits, misses=misses, errors=errors, last_error=last_error)


class VerdictStore(Protocol):
    """Verdicts by key, a SHA-256 digest of everything that a verdict depends on.

    `get` and `put` never raise and end in bounded time. Stores are safe to use from several
    threads, and in a process that was forked from one that used them.
    """

    def get(self, key: bytes) -> Verdict | None:
        """The verdict of a key, or None."""

    def put(self, key: bytes, verdict: Verdict) -> None:
        """Keep a verdict, if that can be done; `stats.errors` counts when not."""

    def close(self) -> None:
        """Let go of files and connections. A closed store misses everything."""

    @property
    def stats(self) -> StoreStats:
        """What the store did so far."""

    def __enter__(self) -> Self:
        """The store itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""


class Store(Closing):
    """The part that all stores share: keeps the promise of `VerdictStore`, and counts.

    A subclass has `_find` and `_keep`, which may raise.
    """

    __slots__ = ("__weakref__", "_errors", "_hits", "_last_error", "_lock", "_misses")

    def __init__(self) -> None:
        self._lock = threading.Lock()  # of the counters, held for an addition
        self._hits = 0
        self._misses = 0
        self._errors = 0
        self._last_error = ""
        _STORES.add(self)

    def get(self, key: bytes) -> Verdict | None:
        """The verdict of a key, or None."""
        verdict = None
        try:
            verdict = self._find(_checked(key))
        except Exception as error:  # noqa: BLE001 - whatever it is, it costs a compilation
            self._count_error(error)
        with self._lock:
            if verdict is None:
                self._misses += 1
            else:
                self._hits += 1
        return verdict

    def put(self, key: bytes, verdict: Verdict) -> None:
        """Keep a verdict, if that can be done; `stats.errors` counts when not."""
        try:
            self._keep(_checked(key), _verdict(verdict))
        except Exception as error:  # noqa: BLE001 - whatever it is, it costs a compilation
            self._count_error(error)

    def close(self) -> None:
        """Let go of files and connections. A closed store misses everything."""

    @property
    def stats(self) -> StoreStats:
        """What the store did so far."""
        with self._lock:
            return StoreStats(self._hits, self._misses, self._errors, self._last_error)

    def _find(self, key: bytes) -> Verdict | None:
        raise NotImplementedError

    def _keep(self, key: bytes, verdict: Verdict) -> None:
        raise NotImplementedError

    def _count_error(self, error: Exception) -> None:
        text = str(error)
        if not isinstance(error, StoreError):
            text = f"{type(error).__name__}: {text}"
        line = cut(printable(" ".join(text[: 4 * MAX_ERROR_CHARS].split())), MAX_ERROR_CHARS)
        with self._lock:
            self._errors += 1
            self._last_error = line

    def _after_fork(self) -> None:
        """In a child: nothing that threads or connections of the parent held is of use."""
        self._lock = threading.Lock()


def decoded(data: object, key: bytes, secret: bytes = b"") -> Verdict | None:
    """The verdict of what was found under a key, None when that was nothing.

    Raises:
        StoreError: something was found, and it is no verdict.
    """
    if data is None:
        return None
    verdict = Verdict.from_bytes(data, key, secret)
    if verdict is None:
        raise StoreError("an entry is damaged, forged or of another version")
    return verdict


class Breaker:
    """Leaves alone for a while what has just failed: 1 s at first, then twice as long each time.

    Without a lock: at worst two threads make the attempt that one was to make.

    Args:
        most: longest pause, in seconds.
    """

    __slots__ = ("_most", "_pause", "_trying", "_until")

    def __init__(self, most: float = 60.0) -> None:
        self._most = most
        self._pause = 0.0
        self._until = 0.0
        self._trying = False

    def allows(self) -> bool:
        """Whether to make an attempt now; after a pause one caller is to, and the others wait."""
        if not self._pause:
            return True
        now = time.monotonic()
        if now < self._until:
            return False
        self._until = now + self._pause
        self._trying = True
        return True

    def failed(self) -> None:
        """The attempt failed."""
        if self._pause and not self._trying:
            return  # it was under way when another one failed
        self._trying = False
        self._pause = min(2 * self._pause or 1.0, self._most)
        self._until = time.monotonic() + self._pause

    def succeeded(self) -> None:
        """The attempt did not fail."""
        if self._pause:
            self._trying = False
            self._pause = 0.0


def _checked(key: bytes) -> bytes:
    if type(key) is not bytes or len(key) != KEY_BYTES:
        raise TypeError(f"a key is a SHA-256 digest, {KEY_BYTES} bytes")
    return key


def _verdict(given: object) -> Verdict:
    if type(given) is not Verdict:
        raise TypeError(f"a store keeps a Verdict, not {type(given).__name__}")
    return given


_STORES: weakref.WeakSet[Store] = weakref.WeakSet()


def _renew_all() -> None:
    for store in _STORES:
        store._after_fork()  # noqa: SLF001 - of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
