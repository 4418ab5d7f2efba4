"""The store in Redis, with a server of its own that is killed, stopped, filled and lied to."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time

import pytest
import redis_server
from redis_server import RedisServer
from test_grammar_store import BAD, GOOD, KEY, OTHER, key_of
from verdict_store import verdict_of

from schemaguard.errors import MissingExtra
from schemaguard.grammar.store import MemoryStore, TieredStore

redis = pytest.importorskip("redis", reason="needs the extra `redis`")

from schemaguard.grammar.store import RedisStore  # noqa: E402
from schemaguard.grammar.store import redis as redis_store  # noqa: E402

#: Enough for a busy machine; what is to be quick is measured against it.
PATIENT = 10.0

NAME = b"schemaguard:verdict:" + KEY.hex().encode()


@pytest.fixture(scope="module")
def shared_server():
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    with tempfile.TemporaryDirectory() as folder, RedisServer(folder) as running:
        yield running


@pytest.fixture
def server(shared_server):
    """A running server with nothing in it."""
    with redis.Redis.from_url(shared_server.url) as client:
        client.flushall()
    return shared_server


@pytest.fixture
def client(server):
    with redis.Redis.from_url(server.url) as made:
        yield made


@pytest.fixture
def own_server():
    """Starts servers with settings of their own."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    with tempfile.TemporaryDirectory() as folder:
        started = []

        def start(*settings):
            made = RedisServer(folder, *settings)
            started.append(made)
            made.start()
            return made

        yield start
        for made in started:
            made.kill()


def patient(server, **options):
    return RedisStore(server.url, timeout=PATIENT, **options)


def is_quick(store, times=200):
    """Whether look-ups end at once, and are misses."""
    began = time.monotonic()
    missed = all(store.get(key_of(n)) is None for n in range(times))
    return missed and time.monotonic() - began < times * 0.05


# As it should be ----------------------------------------------------------------------------------


def test_verdicts_are_shared_by_all_who_use_the_server(server):
    with patient(server) as first, patient(server) as second:
        assert first.get(KEY) is None
        first.put(KEY, GOOD)
        first.put(OTHER, BAD)
        assert second.get(KEY) == GOOD
        assert second.get(OTHER) == BAD
        assert (second.stats.hits, second.stats.misses, second.stats.errors) == (2, 0, 0)


def test_entries_are_forgotten_after_their_time(server, client):
    with patient(server, ttl=7) as store:
        store.put(KEY, GOOD)
    assert 0 < client.ttl(NAME) <= 7
    with patient(server, ttl=None) as store:
        store.put(KEY, GOOD)
    assert client.ttl(NAME) == -1


def test_prefixes_keep_stores_apart(server):
    with patient(server, prefix="a:") as first, patient(server, prefix="b:") as second:
        first.put(KEY, GOOD)
        assert second.get(KEY) is None


def test_a_client_of_ones_own_stays_open(client):
    with RedisStore(client, timeout=PATIENT) as store:
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD
    assert client.ping()
    assert store.get(KEY) is None  # closed


def test_many_threads_and_a_store_in_front(server):
    store = TieredStore(MemoryStore(10), patient(server))
    wrong = []

    def work(thread):
        for number in range(40):
            key = key_of((thread, number))
            store.put(key, verdict_of(key))
        for number in range(40):
            key = key_of((thread, number))
            if store.get(key) != verdict_of(key):
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_asks_for_itself(server):
    with patient(server) as store:
        store.put(KEY, GOOD)
        child = os.fork()
        if child == 0:
            ok = False
            try:
                ok = store.get(KEY) == GOOD
            finally:
                os._exit(0 if ok else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert store.get(KEY) == GOOD


# A server in trouble --------------------------------------------------------------------------------


def test_a_server_that_never_was_costs_one_attempt(tmp_path):
    with RedisStore(f"unix://{tmp_path}/none.sock") as store:
        assert is_quick(store)
        assert store.stats.errors <= 3
        store.put(KEY, GOOD)


def test_a_server_that_dies_is_left_alone_and_found_again(own_server, monkeypatch):
    server = own_server()
    with patient(server) as store:
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD
        server.kill()
        assert is_quick(store)
        assert 1 <= store.stats.errors <= 4
        server.start()
        pause(store, monkeypatch)
        assert store.get(KEY) is None  # it had no disk
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


def pause(store, monkeypatch):
    """As if the store had left the server alone for long enough."""
    later = time.monotonic() + 120
    with monkeypatch.context() as context:
        context.setattr("schemaguard.grammar.store.base.time.monotonic", lambda: later)
        assert store._breaker.allows()
    store._breaker.succeeded()


def test_a_server_that_does_not_answer_costs_the_timeout_once(own_server, monkeypatch):
    server = own_server()
    with RedisStore(server.url, timeout=0.1) as store:
        server.pause()
        began = time.monotonic()
        assert store.get(KEY) is None
        assert time.monotonic() - began < 2
        assert store.stats.errors == 1
        assert is_quick(store)
        server.resume()
        pause(store, monkeypatch)
        store._timeout = PATIENT
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


def test_a_late_answer_is_not_taken_for_the_next_one(own_server, monkeypatch):
    server = own_server()
    with RedisStore(server.url, timeout=0.1) as store:
        store._timeout = PATIENT
        store.put(KEY, GOOD)
        store.put(OTHER, BAD)
        store._timeout = 0.1
        server.pause()
        assert store.get(KEY) is None
        server.resume()
        pause(store, monkeypatch)
        store._timeout = PATIENT
        assert store.get(OTHER) == BAD
        assert store.get(KEY) == GOOD


def test_a_server_that_sends_a_byte_now_and_then_costs_the_timeout(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "drip"))
        listening.listen()
        stop = threading.Event()

        def drip():
            connection, _ = listening.accept()
            with connection:
                for _ in range(300):
                    if stop.wait(0.02):
                        return
                    try:
                        connection.sendall(b"$")
                    except OSError:
                        return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with RedisStore(f"unix://{tmp_path}/drip", timeout=0.1) as store:
            began = time.monotonic()
            assert store.get(KEY) is None
            assert time.monotonic() - began < 2
            assert "no answer" in store.stats.last_error
        stop.set()
        thread.join(10)


def test_a_wrong_password_is_an_error_that_does_not_tell_it(own_server):
    server = own_server("--requirepass", "right-secret")
    for url in (f"unix://:wrong-secret@{server.socket}", f"unix://{server.socket}"):
        with RedisStore(url, timeout=PATIENT) as store:
            assert is_quick(store)
            store.put(KEY, GOOD)
            assert 1 <= store.stats.errors <= 3
            assert "secret" not in store.stats.last_error
    with RedisStore(f"unix://:right-secret@{server.socket}", timeout=PATIENT) as store:
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


def test_a_full_server_still_answers(own_server):
    server = own_server("--maxmemory-policy", "noeviction")
    with patient(server) as store:
        store.put(KEY, GOOD)
        with redis.Redis.from_url(server.url) as client:
            client.config_set("maxmemory", 1)
        store.put(OTHER, BAD)
        assert "OutOfMemory" in store.stats.last_error
        assert store.get(OTHER) is None
        assert store.get(KEY) == GOOD
        assert store.stats.errors == 1


def test_a_server_that_may_only_be_read_still_answers(server, client):
    with patient(server) as store:
        store.put(KEY, GOOD)
    client.acl_setuser("reader", enabled=True, nopass=True, keys="*", commands=["+getrange"])
    try:
        with RedisStore(f"unix://reader:x@{server.socket}", timeout=PATIENT) as store:
            store.put(OTHER, BAD)
            assert "NoPermission" in store.stats.last_error
            assert store.get(KEY) == GOOD
    finally:
        client.acl_deluser("reader")


# A server that lies ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [b"garbage", b"\x01" * 60, b"1", GOOD.to_bytes(OTHER), GOOD.to_bytes(KEY)[:-1]]
)
def test_what_is_no_entry_is_a_miss_and_is_put_right(server, client, value):
    client.set(NAME, value)
    with patient(server) as store:
        assert store.get(KEY) is None
        assert "damaged, forged" in store.stats.last_error
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


def test_a_value_of_another_type_is_a_miss(server, client):
    client.rpush(NAME, "a", "b")
    with patient(server) as store:
        assert store.get(KEY) is None
        assert "WRONGTYPE" in store.stats.last_error
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


def test_of_a_huge_value_only_the_beginning_is_read(server, client):
    client.setrange(NAME, 50_000_000, b"x")
    with patient(server) as store:
        commands = client.info("stats")["total_net_output_bytes"]
        assert store.get(KEY) is None
        assert client.info("stats")["total_net_output_bytes"] - commands < 100_000


def test_with_a_secret_a_forged_entry_is_a_miss(server):
    with patient(server) as stranger, patient(server, secret=b"ours") as store:
        stranger.put(KEY, GOOD)
        assert store.get(KEY) is None
        store.put(KEY, BAD)
        assert store.get(KEY) == BAD
        assert stranger.get(KEY) is None
    with patient(server, secret=b"theirs") as other:
        assert other.get(KEY) is None


# Misuse ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["http://host", "", "redis://:pass/word@host:6379", "redis://host:port", "redis://[::1"]
)
def test_a_url_that_is_none_is_refused_without_saying_it(url):
    with pytest.raises(ValueError, match="no URL of Redis") as refused:
        RedisStore(url)
    assert "pass" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"timeout": 0}, ValueError),
        ({"timeout": 61}, ValueError),
        ({"ttl": 0}, ValueError),
        ({"ttl": 1.5}, ValueError),
        ({"secret": b""}, ValueError),
        ({"secret": "text"}, TypeError),
    ],
)
def test_an_option_out_of_its_range_is_refused(options, error):
    with pytest.raises(error):
        RedisStore("redis://localhost", **options)


def test_what_is_no_client_is_refused():
    with pytest.raises(TypeError, match="not object"):
        RedisStore(object())
    with pytest.raises(ValueError, match="decode_responses"):
        RedisStore(redis.Redis(decode_responses=True))


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    import importlib
    import sys

    for name in [n for n in sys.modules if n.split(".")[0] == "redis"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.delitem(sys.modules, redis_store.__name__)
    with pytest.raises(MissingExtra, match=r"schemaguard-preflight\[redis\]"):
        importlib.import_module(redis_store.__name__)
