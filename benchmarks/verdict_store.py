"""Claim: kill -9 costs the SQLite verdict store no acknowledged verdict, and makes none wrong.

Kill: in each of 100 rounds 4 processes put verdicts that their keys determine, and say so after
each put that was kept; all are killed at a random moment, opening and making the file included.
Then every acknowledged key must be there, and every key that may be there must have its own
verdict or none. This process keeps its store, and the connection in it, open across the forks.

Look-up: 1,000,000 entries put by 4 processes, and look-ups of random keys while the 4 go on
putting new ones, with the oldest going out.

Redis, where redis-server is installed: look-ups of a running, a dead and a stopped server.

`--entries N` and `--rounds N` make it smaller.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sqlite3
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from measure import report

from schemaguard.grammar.store import SqliteStore, Verdict

WRITERS = 4
LOOKUPS = 20_000

#: Seconds after which all writers of a round are killed, at the latest.
LATEST_KILL = 0.12

#: Rounds that go on with one file, before a new one is begun.
ROUNDS_ON_ONE_FILE = 10

_NUMBER = struct.Struct("<q")


def key_of(*numbers: int) -> bytes:
    """The key of an entry."""
    return hashlib.sha256(repr(numbers).encode()).digest()


def verdict_of(key: bytes) -> Verdict:
    """The only right verdict of a key; one in four has a long message."""
    number = int.from_bytes(key[:6], "big")
    if key[6] % 4:
        return Verdict("compiles", seconds=number / 1e9, peak_bytes=number, bytes=number // 7)
    return Verdict("refused", reason="cost", message=key.hex() * 4, pointer=f"/{key.hex()}")


def kill_rounds(folder: str, rounds: int, seed: int) -> dict[str, int]:
    """Rounds of writing and killing; all that was acknowledged is looked up after each round.

    Returns:
        How many verdicts were acknowledged, of these how many were not there, how many look-ups
        gave a wrong one, how many verdicts were there without an acknowledgement, and how many
        files passed SQLite's own check.
    """
    chance = random.Random(seed)
    counts = dict.fromkeys(("acknowledged", "lost", "wrong", "not_acknowledged", "sound_files"), 0)
    for first in range(0, rounds, ROUNDS_ON_ONE_FILE):
        path = f"{folder}/kill-{first}.sqlite3"
        acknowledged: list[list[int]] = []
        with SqliteStore(path, max_entries=1 << 40) as store:
            for number in range(first, min(rounds, first + ROUNDS_ON_ONE_FILE)):
                acknowledged += _kill_round(path, number, chance.random() * LATEST_KILL)
                found = _look(store, first, acknowledged)
                counts["lost"] += found["lost"]
                counts["wrong"] += found["wrong"]
        with SqliteStore(path) as store:
            for name, count in _look(store, first, acknowledged).items():
                counts[name] += count
        sql = sqlite3.connect(path)
        counts["sound_files"] += sql.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        sql.close()
    return counts


def _kill_round(path: str, number: int, seconds: float) -> list[list[int]]:
    """What each writer said that it had put before it was killed."""
    children = []
    for writer in range(WRITERS):
        said, say = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(said)
            _write_for_ever(path, number, writer, say)
        os.close(say)
        children.append((child, said))
    time.sleep(seconds)
    for child, _ in children:
        os.kill(child, signal.SIGKILL)
    acknowledged = []
    for child, said in children:
        os.waitpid(child, 0)
        with open(said, "rb") as pipe:
            data = pipe.read()
        acknowledged.append([n for (n,) in _NUMBER.iter_unpack(data)])
    return acknowledged


def _write_for_ever(path: str, number: int, writer: int, say: int) -> None:
    """Put and say so, until killed (or for a while, should the parent be gone)."""
    try:
        store = SqliteStore(path, max_entries=1 << 40)
        for entry in range(8000):  # what a pipe holds
            key = key_of(number, writer, entry)
            before = store.stats.errors
            store.put(key, verdict_of(key))
            if store.stats.errors == before:
                os.write(say, _NUMBER.pack(entry))
        time.sleep(10)
    finally:
        os._exit(0)


def _look(store: SqliteStore, first: int, acknowledged: list[list[int]]) -> dict[str, int]:
    counts = dict.fromkeys(("acknowledged", "lost", "wrong", "not_acknowledged"), 0)
    for index, entries in enumerate(acknowledged):
        number, writer = first + index // WRITERS, index % WRITERS
        known = set(entries)
        for entry in range(max(known, default=-1) + 20):
            key = key_of(number, writer, entry)
            verdict = store.get(key)
            counts["acknowledged"] += entry in known
            counts["lost"] += entry in known and verdict is None
            counts["not_acknowledged"] += entry not in known and verdict is not None
            counts["wrong"] += verdict is not None and verdict != verdict_of(key)
    return counts


def lookups(folder: str, entries: int) -> dict[str, object]:
    """Look-ups of random keys while processes write."""
    path = f"{folder}/large.sqlite3"
    each = entries // WRITERS
    began = time.perf_counter()
    fillers = [_start(path, entries, range(n * each, (n + 1) * each)) for n in range(WRITERS)]
    failed = sum(map(_finish, fillers))
    filled = time.perf_counter() - began
    size = os.path.getsize(path)
    chance = random.Random(1)
    with SqliteStore(path, max_entries=entries) as store:
        keys = [key_of(chance.randrange(entries)) for _ in range(2 * LOOKUPS)]
        alone = _timed(store, keys[:LOOKUPS])
        far = 10 * entries
        writers = [
            _start(path, entries, range(far * n, far * (n + 1))) for n in range(1, WRITERS + 1)
        ]
        time.sleep(0.3)
        busy = _timed(store, keys[LOOKUPS:])
        for child, _ in writers:
            os.kill(child, signal.SIGKILL)
        for writer in writers:
            _finish(writer)
        log = os.path.getsize(path + "-wal")
        stats = store.stats
    return {
        "entries": entries,
        "seconds_to_fill": round(filled, 1),
        "puts_not_kept": failed,
        "file_bytes_per_entry": round(size / entries),
        "log_mib": round(log / 2**20, 1),
        "alone_us": alone,
        "while_4_write_us": busy,
        "found": stats.hits,
        "not_found": stats.misses,
        "errors": stats.errors,
    }


def _start(path: str, max_entries: int, numbers: range) -> tuple[int, int]:
    """A process that puts these; its number, and where it says how many were not kept."""
    said, say = os.pipe()
    child = os.fork()
    if child:
        os.close(say)
        return child, said
    try:
        store = SqliteStore(path, max_entries=max_entries)
        for number in numbers:
            key = key_of(number)
            store.put(key, verdict_of(key))
        os.write(say, _NUMBER.pack(store.stats.errors))
        store.close()
    finally:
        os._exit(0)


def _finish(writer: tuple[int, int]) -> int:
    child, said = writer
    os.waitpid(child, 0)
    with open(said, "rb") as pipe:
        data = pipe.read()
    return int(_NUMBER.unpack(data)[0]) if data else 0


def _timed(store: object, keys: list[bytes]) -> dict[str, float]:
    spent = []
    for key in keys:
        began = time.perf_counter_ns()
        store.get(key)  # type: ignore[attr-defined]
        spent.append((time.perf_counter_ns() - began) / 1000)
    cuts = statistics.quantiles(spent, n=1000)
    values = {"p50": cuts[499], "p99": cuts[989], "p99.9": cuts[998], "worst": max(spent)}
    return {name: round(value, 1) for name, value in values.items()}


def redis(folder: str) -> dict[str, object] | None:
    """Look-ups of a server that runs, one that is stopped, and one that is gone."""
    from redis_server import BINARY, RedisServer

    if BINARY is None:
        return None
    from schemaguard.grammar.store import RedisStore

    keys = [key_of(number) for number in range(5000)]
    with RedisServer(folder) as server, RedisStore(server.url, timeout=1.0) as store:
        for key in keys:
            store.put(key, verdict_of(key))
        running = _timed(store, keys)
        right = sum(store.get(key) == verdict_of(key) for key in keys)
        with RedisStore(server.url) as waiting:
            waiting.get(keys[0])
            server.pause()
            stopped = _timed(waiting, keys[:1000])
            server.resume()
    with RedisStore(server.url) as store:
        gone = _timed(store, keys[:1000])
    return {
        "right": right,
        "of": len(keys),
        "running_us": running,
        "stopped_us": stopped,
        "gone_us": gone,
    }


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser()
    options.add_argument("--entries", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=100)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kills = kill_rounds(folder, given.rounds, seed=20261130)
        large = lookups(folder, given.entries)
        server = redis(folder)
    holds = (
        kills["lost"] == kills["wrong"] == 0
        and kills["acknowledged"] > 0
        and kills["sound_files"] == -(-given.rounds // ROUNDS_ON_ONE_FILE)
        and (server is None or server["right"] == server["of"])
    )
    numbers = {"rounds": given.rounds, "writers": WRITERS, "kill": kills, "lookup": large}
    report(__doc__.split("\n")[0], holds, {**numbers, "redis": server})


if __name__ == "__main__":
    main()
