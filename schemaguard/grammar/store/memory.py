"""Verdicts in this process, and one store in front of another."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from schemaguard.grammar.store.base import Store, StoreStats

if TYPE_CHECKING:
    from schemaguard.grammar.store.base import VerdictStore
    from schemaguard.grammar.store.verdict import Verdict


class MemoryStore(Store):
    """Verdicts in this process, the ones used last.

    Args:
        max_entries: how many. One takes about half a kilobyte, and three with a long message.

    Raises:
        ValueError: `max_entries` is no positive integer.
    """

    __slots__ = ("_entries", "_max_entries")

    def __init__(self, max_entries: int = 10_000) -> None:
        self._max_entries = positive("max_entries", max_entries)
        # Without a lock: each operation of this dict on keys of bytes is one step for threads.
        self._entries: OrderedDict[bytes, Verdict] = OrderedDict()
        super().__init__()

    def close(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def _find(self, key: bytes) -> Verdict | None:
        verdict = self._entries.get(key)
        if verdict is not None:
            self._use(key)
        return verdict

    def _keep(self, key: bytes, verdict: Verdict) -> None:
        self._entries[key] = verdict
        self._use(key)
        with contextlib.suppress(KeyError):  # another thread emptied it
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def _use(self, key: bytes) -> None:
        with contextlib.suppress(KeyError):  # another thread put it out
            self._entries.move_to_end(key)


class TieredStore(Store):
    """A fast store in front of one that is shared: what the second knows, the first learns.

    Args:
        first: is asked first; a hit there ends the look-up.
        second: is asked then.
    """

    __slots__ = ("_first", "_second")

    def __init__(self, first: VerdictStore, second: VerdictStore) -> None:
        self._first = first
        self._second = second
        super().__init__()

    def close(self) -> None:
        """Close both stores."""
        try:
            self._first.close()
        finally:
            self._second.close()

    @property
    def stats(self) -> StoreStats:
        """Hits and misses of the pair; errors of each, and the last one of the second if any."""
        own, first, second = super().stats, self._first.stats, self._second.stats
        return StoreStats(
            own.hits,
            own.misses,
            own.errors + first.errors + second.errors,
            own.last_error or second.last_error or first.last_error,
        )

    def _find(self, key: bytes) -> Verdict | None:
        verdict = self._first.get(key)
        if verdict is None:
            verdict = self._second.get(key)
            if verdict is not None:
                self._first.put(key, verdict)
        return verdict

    def _keep(self, key: bytes, verdict: Verdict) -> None:
        self._first.put(key, verdict)
        self._second.put(key, verdict)


def positive(name: str, value: int) -> int:
    """The value.

    Raises:
        ValueError: it is no integer from 1.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 1 << 53:
        raise ValueError(f"{name} must be an integer from 1, not {value!r}")
    return value
