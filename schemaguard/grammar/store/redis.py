"""A verdict store for a fleet, in Redis (extra `redis`).

Whoever can write to this Redis decides which schemas are compiled without a trial, by every process
that reads from it. Where others can write to it, give all processes a `secret`: an entry that was
not made with it is a miss. (An entry can still be deleted, or an older one put back; both are no
worse than what this process said itself at some time, under exactly this key.)
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from schemaguard.errors import MissingExtra
from schemaguard.grammar.store.base import Breaker, Store, decoded
from schemaguard.grammar.store.deadline import Deadline
from schemaguard.grammar.store.memory import positive
from schemaguard.grammar.store.verdict import MAX_BYTES

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError as error:
    raise MissingExtra(
        "verdicts in Redis need the package redis: pip install 'schemaguard-preflight[redis]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.grammar.store.verdict import Verdict

#: Seconds that an entry lives: what is in use is in the caches of processes, or made again.
TTL = 30 * 24 * 3600


class RedisStore(Store):
    """Verdicts in Redis, under `prefix` and the key in hexadecimal digits.

    A call takes `timeout` at most, whatever the server, the network or the resolver of names does.
    After an error the server is left alone for a second, then two, up to a minute; look-ups are
    misses at once meanwhile.

    Args:
        server: `redis://…`, `rediss://…` or `unix://…`; or a `redis.Redis`, which stays open when
            the store is closed.
        prefix: of the names in the server.
        ttl: seconds until the server forgets an entry; None leaves that to its eviction.
        timeout: seconds for one call, connecting included.
        secret: shared by those who trust each other's verdicts; None trusts everybody who can
            write to the server.

    Raises:
        ValueError: an argument is out of its range; a URL that is none.
        TypeError: `server` is neither; `secret` is not of bytes.
    """

    __slots__ = (
        "_breaker",
        "_client",
        "_deadline",
        "_is_ours",
        "_prefix",
        "_secret",
        "_timeout",
        "_ttl",
    )

    def __init__(
        self,
        server: str | redis.Redis,
        *,
        prefix: str = "schemaguard:verdict:",
        ttl: int | None = TTL,
        timeout: float = 0.05,
        secret: bytes | None = None,
    ) -> None:
        if not 0 < timeout <= 60:
            raise ValueError(f"timeout must be over 0 and at most 60 seconds, not {timeout!r}")
        if secret is not None and not isinstance(secret, bytes):
            raise TypeError(f"secret must be bytes, not {type(secret).__name__}")
        if secret == b"":
            raise ValueError("secret is empty: None is for a store without one")
        self._is_ours = isinstance(server, str)
        self._client = _client(server, timeout) if isinstance(server, str) else _checked(server)
        self._prefix = prefix.encode()
        self._ttl = None if ttl is None else positive("ttl", ttl)
        self._timeout = timeout
        self._secret = secret or b""
        self._deadline: Deadline | None = Deadline()
        self._breaker = Breaker()
        super().__init__()

    def close(self) -> None:
        """Close the connections that the store opened."""
        self._deadline = None
        if self._is_ours:
            self._client.close()

    def _find(self, key: bytes) -> Verdict | None:
        # A part, for who knows what is there under this name. Nothing has the length 0.
        data = self._ask(lambda: self._client.getrange(self._name(key), 0, MAX_BYTES))
        return decoded(data or None, key, self._secret)

    def _keep(self, key: bytes, verdict: Verdict) -> None:
        entry = verdict.to_bytes(key, self._secret)
        self._ask(lambda: self._client.set(self._name(key), entry, ex=self._ttl))

    def _name(self, key: bytes) -> bytes:
        return self._prefix + key.hex().encode()

    def _ask(self, command: Callable[[], Any]) -> Any:
        """The server's answer; None while it is left alone."""
        deadline = self._deadline
        if deadline is None or not self._breaker.allows():
            return None
        try:
            answer = deadline.call(command, self._timeout)
        except redis.ResponseError:
            self._breaker.succeeded()  # it is there, and says no to this (full, another type)
            raise
        except Exception:
            self._breaker.failed()
            self._hang_up()
            raise
        self._breaker.succeeded()
        return answer

    def _hang_up(self) -> None:
        """A call that was given up goes on reading, as long and as much as the server sends."""
        if self._is_ours:
            with contextlib.suppress(Exception):
                self._client.connection_pool.disconnect()

    def _after_fork(self) -> None:
        if self._deadline is not None:
            self._deadline = Deadline()  # the thread stayed in the parent
        super()._after_fork()


def _client(url: str, timeout: float) -> redis.Redis:
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),  # the time for that is up
        )
    except (ValueError, TypeError):
        # Not its text: that may have the password in it.
        raise ValueError(
            "no URL of Redis: redis://HOST:PORT/DB, rediss://… or unix://PATH"
        ) from None


def _checked(client: redis.Redis) -> redis.Redis:
    if not callable(getattr(client, "getrange", None)):
        raise TypeError(f"server must be a URL or a redis.Redis, not {type(client).__name__}")
    if client.get_connection_kwargs().get("decode_responses"):
        raise ValueError("entries are bytes: the client must not have decode_responses=True")
    return client
