"""Verdicts and their encoding; the stores in memory; what all stores promise."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemaguard.grammar.store import (
    REASONS,
    MemoryStore,
    SqliteStore,
    TieredStore,
    Verdict,
    base,
    named,
)
from schemaguard.grammar.store import verdict as encoding
from schemaguard.grammar.store.base import Breaker
from schemaguard.grammar.store.deadline import Deadline

SIZES = st.integers(0, (1 << 63) - 1)
SECONDS = st.floats(0, 1e12, allow_nan=False)
KEYS = st.binary(min_size=32, max_size=32)
REFUSED = st.builds(
    Verdict,
    st.just("refused"),
    reason=st.sampled_from(REASONS),
    message=st.text(),
    pointer=st.none() | st.text(st.characters(exclude_categories=())),
    seconds=SECONDS,
    peak_bytes=SIZES,
    bytes=SIZES,
)
COMPILES = st.builds(Verdict, st.just("compiles"), seconds=SECONDS, peak_bytes=SIZES, bytes=SIZES)
VERDICTS = REFUSED | COMPILES

GOOD = Verdict("compiles", seconds=0.25, peak_bytes=1 << 20, bytes=4096)
BAD = Verdict("refused", reason="timeout", message="took over 1 s", pointer="/properties/a")


def key_of(number):
    return hashlib.sha256(str(number).encode()).digest()


KEY, OTHER = key_of("a"), key_of("b")


# Verdict --------------------------------------------------------------------------------------


@given(VERDICTS, KEYS, st.binary(max_size=100))
def test_a_verdict_comes_back_from_its_bytes(verdict, key, secret):
    data = verdict.to_bytes(key, secret)
    assert len(data) <= encoding.MAX_BYTES
    assert Verdict.from_bytes(data, key, secret) == verdict


@given(VERDICTS, st.data())
def test_changed_bytes_are_no_verdict(verdict, data):
    entry = verdict.to_bytes(KEY)
    at = data.draw(st.integers(0, len(entry) - 1))
    changed = bytearray(entry)
    changed[at] ^= data.draw(st.integers(1, 255))
    assert Verdict.from_bytes(bytes(changed), KEY) is None
    assert Verdict.from_bytes(entry[:at], KEY) is None
    assert Verdict.from_bytes(entry + entry[at:], KEY) is None


@given(st.binary(max_size=2000) | st.none() | st.integers() | st.text())
def test_anything_else_is_no_verdict(data):
    assert Verdict.from_bytes(data, KEY) is None


def test_bytes_under_another_key_are_no_verdict():
    assert Verdict.from_bytes(GOOD.to_bytes(KEY), OTHER) is None


def test_bytes_made_with_another_secret_are_no_verdict():
    data = GOOD.to_bytes(KEY, b"ours")
    assert Verdict.from_bytes(data, KEY) is None
    assert Verdict.from_bytes(data, KEY, b"theirs") is None
    assert Verdict.from_bytes(GOOD.to_bytes(KEY), KEY, b"ours") is None
    assert Verdict.from_bytes(data, KEY, b"ours") == GOOD


def test_bytes_of_another_version_are_no_verdict(monkeypatch):
    monkeypatch.setattr(encoding, "VERSION", encoding.VERSION + 1)
    data = GOOD.to_bytes(KEY)
    monkeypatch.undo()
    assert Verdict.from_bytes(data, KEY) is None


@pytest.mark.parametrize(
    ("code", "seconds", "message", "lengths"),
    [
        (6, 0.0, b"", (0, 0xFFFF)),
        (1, -1.0, b"", (0, 0xFFFF)),
        (1, float("nan"), b"", (0, 0xFFFF)),
        (1, 0.0, b"\x1b[2J", (4, 0xFFFF)),
        (1, 0.0, b"\xff", (1, 0xFFFF)),
        (1, 0.0, b"abc", (2, 0xFFFF)),
        (1, 0.0, b"abc", (2, 2)),
        (1, 0.0, b"abc", (4, 0)),
    ],
)
def test_nonsense_with_a_good_tag_is_no_verdict(code, seconds, message, lengths):
    body = struct.pack("<BBdQQHH", 1, code, seconds, 0, 0, *lengths) + message
    assert Verdict.from_bytes(body + encoding._tag(KEY, body, b""), KEY) is None


def test_a_message_is_one_printable_line_of_bounded_length():
    message = Verdict("refused", reason="cost", message="a\n\x1b[0m" * 1_000_000).message
    assert message.isprintable()
    assert message.startswith("a\\u000a\\u001b[0m")
    assert len(message) == encoding.MAX_MESSAGE_CHARS + len("...")


def test_a_pointer_that_is_too_long_is_left_out():
    longest = "/" + "a" * (encoding.MAX_POINTER_BYTES - 1)
    assert Verdict("refused", reason="cost", pointer=longest).pointer == longest
    assert Verdict("refused", reason="cost", pointer=longest + "a").pointer is None


def test_the_root_and_no_pointer_are_different():
    for pointer in ("", None):
        verdict = Verdict("refused", reason="cost", pointer=pointer)
        assert Verdict.from_bytes(verdict.to_bytes(KEY), KEY).pointer == pointer


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": "compiles", "reason": "cost"},
        {"outcome": "refused"},
        {"outcome": "refused", "reason": "taste"},
        {"outcome": "perhaps"},
        {"outcome": "compiles", "seconds": -0.1},
        {"outcome": "compiles", "seconds": float("inf")},
        {"outcome": "compiles", "bytes": -1},
        {"outcome": "compiles", "peak_bytes": 1 << 63},
    ],
)
def test_a_contradiction_is_no_verdict(fields):
    with pytest.raises(ValueError):
        Verdict(**fields)


# What all stores promise ------------------------------------------------------------------------


@pytest.fixture(params=["memory", "sqlite", "tiered"])
def store(request, tmp_path):
    file = SqliteStore(tmp_path / "verdicts.sqlite3", timeout=30)  # however busy the machine is
    made = {
        "memory": MemoryStore,
        "sqlite": lambda: file,
        "tiered": lambda: TieredStore(MemoryStore(), file),
    }[request.param]()
    with made:
        yield made


def test_what_was_put_is_found_and_counted(store):
    assert store.get(KEY) is None
    store.put(KEY, GOOD)
    store.put(OTHER, BAD)
    assert store.get(KEY) == GOOD
    assert store.get(OTHER) == BAD
    stats = store.stats
    assert (stats.hits, stats.misses, stats.errors, stats.last_error) == (2, 1, 0, "")


def test_the_last_put_counts(store):
    store.put(KEY, GOOD)
    store.put(KEY, BAD)
    assert store.get(KEY) == BAD


@pytest.mark.parametrize("key", [b"", b"a" * 31, b"a" * 33, "a" * 32, None, 7, bytearray(32), []])
def test_what_is_no_key_is_a_miss_and_an_error(store, key):
    store.put(key, GOOD)
    assert store.get(key) is None
    assert store.stats.errors == 2
    assert "SHA-256" in store.stats.last_error


@pytest.mark.parametrize("value", [None, b"", "compiles", True, object()])
def test_what_is_no_verdict_is_not_kept(store, value):
    store.put(KEY, value)
    assert store.get(KEY) is None
    assert store.stats.errors == 1


def test_many_threads_find_what_they_put(store):
    wrong = []

    def work(thread):
        for number in range(60):
            key, verdict = (
                key_of((thread, number)),
                Verdict("compiles", bytes=thread * 100 + number),
            )
            store.put(key, verdict)
            if store.get(key) != verdict:
                wrong.append((thread, number))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert store.stats.hits == 8 * 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_its_own_connection_and_locks(store):
    store.put(KEY, GOOD)
    with store._lock:  # as if another thread were just counting
        child = os.fork()
        if child == 0:
            ok = False
            try:
                ok = store.get(KEY) == GOOD
                store.put(OTHER, BAD)
                ok = ok and store.get(OTHER) == BAD and store.stats.errors == 0
                store.close()
            finally:
                os._exit(0 if ok else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert store.get(KEY) == GOOD
    assert store.stats.errors == 0


# In memory --------------------------------------------------------------------------------------


def test_memory_keeps_what_was_used_last():
    store = MemoryStore(max_entries=2)
    store.put(key_of(1), GOOD)
    store.put(key_of(2), GOOD)
    assert store.get(key_of(1)) == GOOD
    store.put(key_of(3), GOOD)
    assert store.get(key_of(2)) is None
    assert store.get(key_of(1)) == store.get(key_of(3)) == GOOD


@pytest.mark.parametrize("entries", [0, -1, True, 1.5, "10", None])
def test_a_bound_that_is_none_is_refused(entries, tmp_path):
    with pytest.raises(ValueError, match="max_entries"):
        MemoryStore(entries)
    with pytest.raises(ValueError, match="max_entries"):
        SqliteStore(tmp_path / "a", max_entries=entries)


# One in front of another --------------------------------------------------------------------------


def test_the_first_store_learns_what_the_second_knows():
    first, second = MemoryStore(), MemoryStore()
    second.put(KEY, GOOD)
    store = TieredStore(first, second)
    assert store.get(KEY) == GOOD
    assert first.get(KEY) == GOOD
    assert store.get(KEY) == GOOD
    assert second.stats.hits == 1


def test_both_stores_are_written_to():
    first, second = MemoryStore(), MemoryStore()
    TieredStore(first, second).put(KEY, BAD)
    assert first.get(KEY) == second.get(KEY) == BAD


def test_errors_of_both_stores_are_summed():
    class Broken(MemoryStore):
        def _find(self, _key):
            raise OSError("no disk")

    store = TieredStore(Broken(), Broken())
    assert store.get(KEY) is None
    assert store.stats.errors == 2
    assert store.stats.last_error == "OSError: no disk"


def test_a_store_that_breaks_its_promise_is_an_error_and_a_miss():
    class Rude:
        stats = base.StoreStats(0, 0, 0, "")

        def get(self, *_):
            raise RuntimeError("rude\x1b[2J" * 1000)

        put = get

    store = TieredStore(MemoryStore(), Rude())
    assert store.get(KEY) is None
    store.put(KEY, GOOD)
    stats = store.stats
    assert stats.errors == 2
    assert stats.last_error.startswith("RuntimeError: rude")
    assert stats.last_error.isprintable()
    assert len(stats.last_error) < 400


# What they are made of --------------------------------------------------------------------------


def test_a_breaker_waits_longer_after_each_failed_attempt(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(base.time, "monotonic", lambda: now[0])
    breaker = Breaker(most=4)
    pauses = []
    assert breaker.allows()
    for _ in range(4):
        breaker.failed()
        breaker.failed()  # was under way, too: says nothing new
        began = now[0]
        while not breaker.allows():
            now[0] += 0.25
        pauses.append(now[0] - began)
        assert not breaker.allows()  # the one attempt is under way
    assert pauses == [1, 2, 4, 4]
    breaker.succeeded()
    assert breaker.allows()
    assert breaker.allows()


def test_a_call_that_is_late_is_not_waited_for():
    deadline, go = Deadline(), threading.Event()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        deadline.call(lambda: go.wait(30), 0.05)
    ran = []
    with pytest.raises(TimeoutError):  # the thread is still at the first one
        deadline.call(lambda: ran.append(1), 0.05)
    assert time.monotonic() - began < 5
    go.set()
    assert deadline.call(lambda: 7, 10) == 7
    assert not ran  # nobody waits for it any more


def test_an_error_of_a_call_is_raised_where_it_was_made():
    with pytest.raises(ZeroDivisionError):
        Deadline().call(lambda: 1 // 0, 10)


def test_the_thread_for_calls_ends_with_its_owner():
    before = threading.active_count()
    deadline = Deadline()
    deadline.call(lambda: None, 10)
    assert threading.active_count() == before + 1
    del deadline
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before


# Names ------------------------------------------------------------------------------------------


def test_a_place_names_a_store(tmp_path):
    with named(str(tmp_path / "a.sqlite3")) as store:
        assert isinstance(store, SqliteStore)


def test_a_url_names_a_store_in_redis():
    pytest.importorskip("redis", reason="needs the extra `redis`")
    from schemaguard.grammar.store import RedisStore

    with named("redis://localhost:1/0") as store:
        assert isinstance(store, RedisStore)


def test_importing_the_stores_loads_no_database():
    code = (
        "import sys, json, schemaguard.grammar.store as s; s.MemoryStore().get(b'');"
        "print(json.dumps([m for m in sys.modules if m in ('sqlite3', 'redis', 'xgrammar')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout) == []
