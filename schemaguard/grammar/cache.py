"""The grammars that a compiler keeps, and the engines that made them.

Grammars are kept by the digest of their text, the ones used last within half of the bytes. The
other half is for the engines' caches of parts of grammars, without which compiling takes up to ten
times as long. Their own limit counts a fraction of what they hold (measured: 34 MB for 160 MB, and
33 MB for 840 MB with a vocabulary of bytes) and nothing empties them, so engines that have made
that much are replaced by new ones.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


# Engines of a parent process: never used again, never ended.
_LEFT_BEHIND: list[Any] = []


class Kept(NamedTuple):
    """A grammar, its bytes as the engine estimates them, and whether it is compiled on demand."""

    grammar: Any
    bytes: int
    dynamic: bool


class Grammars:
    """Compiled grammars by name. Safe to use from several threads.

    Args:
        make: makes an engine that keeps at most so many bytes; the flag says whether it compiles on
            demand.
        most_bytes: for all that is kept; grammars in use elsewhere do not count.
    """

    __slots__ = ("_engines", "_half", "_kept", "_kept_bytes", "_lock", "_made_bytes", "_make")

    def __init__(self, make: Callable[[bool, int], Any], most_bytes: int) -> None:
        self._make = make
        self._half = most_bytes // 2
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._kept_bytes = 0
        self._renew()

    def engine(self, *, dynamic: bool) -> Any:
        """The engine that compiles at once, or the one that compiles on demand."""
        return self._engines[dynamic]

    def find(self, name: bytes) -> Kept | None:
        """What is kept under a name."""
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def keep(self, name: bytes, made: Kept) -> None:
        """Keep a grammar, and let go of the ones not used for longest."""
        with self._lock:
            # What the engines' caches hold is at most about what they have made.
            self._made_bytes += made.bytes
            if self._made_bytes > self._half:
                self._renew()
            if name not in self._kept:
                self._kept[name] = made
                self._kept_bytes += made.bytes
            while self._kept_bytes > self._half:
                _, dropped = self._kept.popitem(last=False)
                self._kept_bytes -= dropped.bytes

    def after_fork(self) -> None:
        """In a fork: another thread may have held the lock, or been inside an engine.

        The grammars are whole; the engines are let go of without a word, since ending one may wait
        for its own lock.
        """
        _LEFT_BEHIND.append(self._engines)
        self._lock = threading.Lock()
        self._renew()

    @property
    def kept_bytes(self) -> int:
        """Bytes of all grammars that are kept, as the engine estimates them."""
        return self._kept_bytes

    def _renew(self) -> None:
        self._engines = {dynamic: self._make(dynamic, self._half) for dynamic in (False, True)}
        self._made_bytes = 0
