"""A bounded cache of verdicts, keyed by the SHA-256 of raw bytes.

A forged key would turn a good verdict into an admission for a bad schema, so the hash is one that
cannot be forged. Bytes that differ in spaces or in the order of keys are different documents: the
order of properties matters to a grammar.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from threading import Lock

from schemaguard import preflight
from schemaguard._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.handlers.results import Decision

    Key = tuple[str, bytes]


class CacheUse(Frozen):
    """Counters of a cache: `hits`, `misses`, `evictions`, `entries` and their `weight`."""

    __slots__ = ("entries", "evictions", "hits", "misses", "weight")

    hits: int
    misses: int
    evictions: int
    entries: int
    weight: int

    def __init__(self, **fields: int) -> None:
        self._fill(**fields)


class VerdictCache:
    """Verdicts by content, the least recently used ones forgotten first. Safe between threads.

    Args:
        max_entries: how many verdicts to keep.
        max_weight: how much they may weigh together, in about bytes of memory.
    """

    def __init__(self, max_entries: int = 4_096, max_weight: int = 64 << 20) -> None:
        self._max_entries = max_entries
        self._max_weight = max_weight
        self._kept: OrderedDict[Key, tuple[object, int]] = OrderedDict()
        self._lock = Lock()
        self._weight = self._hits = self._misses = self._evictions = 0

    @property
    def use(self) -> CacheUse:
        """The counters as they are now."""
        with self._lock:
            return CacheUse(
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
                entries=len(self._kept),
                weight=self._weight,
            )

    def accepts(self, raw: bytes | bytearray | memoryview, profile: str) -> bool:
        """Whether a profile accepts a schema; one that is known is not even parsed.

        Args:
            raw: JSON text of the schema in UTF-8, such as a `msgspec.Raw`.
            profile: name of the profile.

        Raises:
            ProfileError: there is no such profile.
        """
        key = (profile, sha256(raw).digest())
        known = self._get(key)
        if known is None:
            known = preflight.check(bytes(raw), profile).ok
            self._put(key, known, _ENTRY)
        return known is True

    def remembers(self, raw: bytes, scope: str) -> bool:
        """Whether these bytes were remembered in a scope."""
        return self._get((scope, sha256(raw).digest())) is True

    def remember(self, raw: bytes, scope: str) -> None:
        """Remember these bytes in a scope."""
        self._put((scope, sha256(raw).digest()), True, _ENTRY)

    def decide(self, raw: bytes, scope: str, make: Callable[[], Decision]) -> tuple[Decision, bool]:
        """The decision about a body, made when it is not known, and whether it was known.

        Args:
            raw: the body.
            scope: API and policy.
            make: makes the decision.
        """
        key = (scope, sha256(raw).digest())
        known = self._get(key)
        if known is not None:
            return known, True  # type: ignore[return-value]  # the scope says what it is
        decision = make()
        self._put(key, decision, _weight_of(decision))
        return decision, False

    def clear(self) -> None:
        """Forget all verdicts; the counters go on."""
        with self._lock:
            self._kept.clear()
            self._weight = 0

    def _get(self, key: Key) -> object | None:
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            self._kept.move_to_end(key)
            return entry[0]

    def _put(self, key: Key, verdict: object, weight: int) -> None:
        if weight * 16 > self._max_weight:
            return
        with self._lock:
            old = self._kept.pop(key, None)
            if old is not None:
                self._weight -= old[1]
            self._kept[key] = (verdict, weight)
            self._weight += weight
            while len(self._kept) > self._max_entries or self._weight > self._max_weight:
                _, (_, freed) = self._kept.popitem(last=False)
                self._weight -= freed
                self._evictions += 1


#: What an entry of the cache, a tool and a finding take in memory, in bytes, without their strings.
_ENTRY = 256
_PER_TOOL = 400
_PER_FINDING = 1_500


def _weight_of(decision: Decision) -> int:
    changed = len(decision.body) if isinstance(decision.body, (bytes, str)) else 0
    pointers = sum(len(finding.pointer) for finding in decision.findings)
    tools = _PER_TOOL * len(decision.tools)
    return _ENTRY + tools + _PER_FINDING * len(decision.findings) + pointers + changed
