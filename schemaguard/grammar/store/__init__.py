"""Verdicts that outlive a process: whether a schema compiles, and what it costs.

A store maps a key, the SHA-256 digest of everything that matters (text of the schema, tokenizer,
options, versions, limits), to a `Verdict`. Grammars are not kept: reading one back takes longer
than compiling it again.

* `MemoryStore`: in this process.
* `SqliteStore`: a file that the processes of one user on one machine share.
* `RedisStore`: a fleet (extra `redis`).
* `TieredStore`: one in front of another.

No store ever fails a request or answers with a verdict that was not put under that very key: what
is damaged, forged, late or out of reach is a miss. Importing this package loads neither `sqlite3`
nor `redis`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.grammar.store.base import StoreStats, VerdictStore
from schemaguard.grammar.store.memory import MemoryStore, TieredStore
from schemaguard.grammar.store.verdict import REASONS, Verdict

if TYPE_CHECKING:
    from schemaguard.grammar.store.redis import RedisStore
    from schemaguard.grammar.store.sqlite import SqliteStore

__all__ = [
    "REASONS",
    "MemoryStore",
    "RedisStore",
    "SqliteStore",
    "StoreStats",
    "TieredStore",
    "Verdict",
    "VerdictStore",
    "named",
]

_SERVERS = ("redis://", "rediss://", "unix://")


def named(place: str | None, *, timeout: float | None = None) -> VerdictStore:
    """The store that a word of a command line or of a configuration stands for.

    Args:
        place: a URL of Redis, or the path of a file; None for the file in the user's cache folder.
        timeout: seconds for one call; None for what the store has by default.

    Raises:
        ValueError: a URL that is none.
        MissingExtra: a URL, and `redis` is not installed.
    """
    options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    if place is not None and place.startswith(_SERVERS):
        from schemaguard.grammar.store.redis import RedisStore  # noqa: PLC0415  (an extra)

        return RedisStore(place, **options)
    from schemaguard.grammar.store.sqlite import SqliteStore  # noqa: PLC0415  (loads sqlite3)

    return SqliteStore(place, **options)


def __getattr__(name: str) -> Any:
    if name == "SqliteStore":
        from schemaguard.grammar.store.sqlite import SqliteStore  # noqa: PLC0415  (loads sqlite3)

        return SqliteStore
    if name == "RedisStore":
        from schemaguard.grammar.store.redis import RedisStore  # noqa: PLC0415  (an extra)

        return RedisStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
