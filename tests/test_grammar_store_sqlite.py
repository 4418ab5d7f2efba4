"""The store in a file: whose file it takes, and what is left of it when things go wrong."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_grammar_store import BAD, GOOD, KEY, OTHER, key_of
from verdict_store import kill_rounds, verdict_of

from schemaguard.grammar.store import SqliteStore, Verdict, database
from schemaguard.grammar.store.database import APPLICATION_ID, ASIDE, default_path

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "verdicts.sqlite3"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The default path, in a folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(database.sys, "platform", "linux")
    return tmp_path / "cache" / "schemaguard" / "verdicts-1.sqlite3"


def filled(path, count=200, **options):
    with SqliteStore(path, **options) as store:
        for number in range(count):
            store.put(key_of(number), verdict_of(key_of(number)))
        assert store.stats.errors == 0


def entries(path):
    with contextlib.closing(sqlite3.connect(path)) as sql:
        return sql.execute("SELECT count(*) FROM verdicts").fetchone()[0]


# Where it is ------------------------------------------------------------------------------------


def test_verdicts_outlive_the_store(path):
    with SqliteStore(path) as store:
        store.put(KEY, BAD)
    with SqliteStore(path) as store:
        assert store.get(KEY) == BAD
        assert store.get(OTHER) is None


def test_without_a_path_the_file_is_in_the_cache_folder_and_private(cache):
    old = os.umask(0)
    try:
        with SqliteStore() as store:
            store.put(KEY, GOOD)
            assert store.stats.errors == 0
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in cache.parent.iterdir()}
    finally:
        os.umask(old)
    assert modes.pop(cache.name) == 0o600
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(cache.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("home", ["", "relative/folder"])
def test_a_cache_folder_that_is_not_absolute_is_passed_over(home, tmp_path, monkeypatch):
    monkeypatch.setattr(database.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == f"{tmp_path}/.cache/schemaguard/verdicts-1.sqlite3"


def test_names_that_mean_something_to_sqlite_are_names(tmp_path):
    for name in (":memory:", "a?mode=memory", "file:x", "50%25 #1", "\udcff", "é"):
        path = os.path.join(tmp_path, name)
        filled(path, 1)
        assert os.path.getsize(path) > 0


def test_a_path_that_cannot_be_one_is_an_error_of_the_store():
    with SqliteStore("/nowhere\x00") as store:
        assert store.get(KEY) is None
        assert store.stats.errors == 1


# Whose it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o772, 0o1777, 0o770])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, mode):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    with SqliteStore(folder / "a.sqlite3") as store:
        store.put(KEY, GOOD)
        assert "other users can write to the folder" in store.stats.last_error
    assert list(folder.iterdir()) == []
    filled(folder / "own" / "a.sqlite3", 1)  # as the message says


def test_a_file_that_others_can_write_to_is_refused(path):
    filled(path)
    path.chmod(0o666)
    with SqliteStore(path) as store:
        assert store.get(key_of(0)) is None
        assert "other users can write to the file" in store.stats.last_error


@pytest.mark.skipif(not IS_ROOT, reason="needs root, to give a file away")
def test_a_file_of_another_user_is_refused(path):
    filled(path)
    os.chown(path, 12345, 12345)
    with SqliteStore(path) as store:
        assert store.get(key_of(0)) is None
        assert "another user's file" in store.stats.last_error


def foreign_database(path):
    with contextlib.closing(sqlite3.connect(path)) as sql:
        sql.execute("CREATE TABLE verdicts (key, entry)")
        sql.execute("PRAGMA user_version = 1")
        sql.commit()


def other_layout(path):
    with contextlib.closing(sqlite3.connect(path)) as sql:
        sql.execute("CREATE TABLE something (a)")
        sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        sql.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("my notes\n" * 1000), "is not a verdict store"),
        (lambda path: path.write_bytes(bytes(8192)), "is not a verdict store"),
        (lambda path: path.write_bytes(b"\xff"), "is not a verdict store"),
        (foreign_database, "is not a verdict store"),
        (other_layout, "has layout 99, not 1"),
    ],
)
def test_a_file_that_is_something_else_stays_as_it_is(path, make, words):
    make(path)
    path.chmod(0o600)
    before = path.read_bytes()
    with SqliteStore(path) as store:
        store.put(KEY, GOOD)
        assert words in store.stats.last_error
        assert store.get(KEY) is None
    assert path.read_bytes() == before
    assert not os.path.exists(str(path) + ASIDE)


def test_a_folder_in_the_place_is_an_error_of_the_store(path):
    path.mkdir(mode=0o700)
    with SqliteStore(path) as store:
        store.put(KEY, GOOD)
        assert store.get(KEY) is None
        assert store.stats.errors >= 1
    assert path.is_dir()


def test_an_empty_file_is_taken(path):
    path.touch(0o600)
    filled(path, 1)
    assert entries(path) == 1


# How much it is -----------------------------------------------------------------------------------


def test_the_oldest_go_when_there_are_too_many(path):
    filled(path, 300, max_entries=100)
    assert entries(path) == 100
    with SqliteStore(path) as store:
        found = [n for n in range(300) if store.get(key_of(n)) is not None]
    assert found == list(range(200, 300))


def test_a_lower_bound_is_reached_a_few_entries_at_a_time(path):
    filled(path, 300)
    with SqliteStore(path, max_entries=10) as store:
        store.put(KEY, GOOD)
        assert 10 < entries(path) < 300
        for number in range(1000, 1030):
            store.put(key_of(number), GOOD)
    assert entries(path) == 10


def test_a_verdict_that_is_put_again_takes_no_more_room(path):
    with SqliteStore(path, max_entries=10) as store:
        store.put(OTHER, BAD)
        for number in range(100):
            store.put(KEY, Verdict("compiles", bytes=number))
        assert store.get(KEY).bytes == 99
        assert store.get(OTHER) == BAD
    assert entries(path) == 2


def test_the_log_is_cut_while_somebody_reads(path, monkeypatch):
    from schemaguard.grammar.store import sqlite

    monkeypatch.setattr(sqlite, "_MAX_LOG_BYTES", 200_000)
    sizes = []
    with SqliteStore(path) as store:
        for number in range(400):
            store.put(key_of(number), GOOD)
            sizes.append(os.path.getsize(f"{path}-wal"))
        assert store.stats.errors == 0
    assert max(sizes) < 300_000
    assert sizes.count(0) >= 2


# When things go wrong -------------------------------------------------------------------------------


def test_a_database_that_is_locked_costs_a_short_wait(path):
    filled(path, 1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with SqliteStore(path, timeout=0.1) as store:
            began = time.monotonic()
            store.put(KEY, GOOD)
            assert time.monotonic() - began < 5
            assert "locked" in store.stats.last_error
            assert store.get(key_of(0)) is not None  # reading goes on
            other.execute("ROLLBACK")
            store.put(KEY, GOOD)
            assert store.get(KEY) == GOOD
            assert store.stats.errors == 1


@pytest.mark.skipif(database.fcntl is None, reason="needs flock")
def test_a_lock_that_is_held_costs_a_short_wait(path):
    import fcntl

    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with SqliteStore(path, timeout=0.1) as store:
            began = time.monotonic()
            for _ in range(100):
                assert store.get(KEY) is None
            assert time.monotonic() - began < 5
            assert store.stats.errors == 1  # and left alone from then on


@pytest.mark.skipif(IS_ROOT, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_tried_once(tmp_path):
    tmp_path.chmod(0o500)
    store_is_out_of_service(tmp_path / "a.sqlite3", "denied")


def test_a_file_system_that_cannot_be_written_to_is_tried_once():
    if not os.path.isdir("/proc/self"):
        pytest.skip("needs /proc, where nobody can make a file")
    store_is_out_of_service("/proc/self/a.sqlite3", "")


def store_is_out_of_service(path, words):
    with SqliteStore(path) as store:
        for number in range(100):
            store.put(key_of(number), GOOD)
            assert store.get(key_of(number)) is None
        assert store.stats.errors == 1
        assert store.stats.misses == 100
        assert words in store.stats.last_error


def test_a_full_database_costs_only_what_is_put(path):
    filled(path, 50)
    with SqliteStore(path) as store:
        assert store.get(key_of(0)) is not None
        store._idle[0].sql.execute("PRAGMA max_page_count = 1")
        for number in range(1000, 1400):
            store.put(key_of(number), BAD)
        assert "full" in store.stats.last_error
        assert store.get(key_of(0)) == verdict_of(key_of(0))
    filled(path, 400)


FILE_LIMIT = """
import resource, signal, sys
sys.path[:0] = [{benchmarks!r}, {tests!r}]
from verdict_store import key_of, verdict_of
from schemaguard.grammar.store import SqliteStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteStore({path!r})
store.put(key_of(0), verdict_of(key_of(0)))
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
for number in range(1, 2000):
    store.put(key_of(number), verdict_of(key_of(number)))
wrong = [n for n in range(2000) if store.get(key_of(n)) not in (None, verdict_of(key_of(n)))]
print(store.stats.hits, len(wrong), store.stats.errors > 0)
"""


@pytest.mark.parametrize("limit", [1, 10_000, 100_000, 300_000])
def test_a_disk_that_is_full_costs_only_what_is_put(path, limit):
    folder = os.path.dirname(__file__)
    code = FILE_LIMIT.format(
        path=str(path), limit=limit, tests=folder, benchmarks=f"{folder}/../benchmarks"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""
    hits, wrong, failed = done.stdout.split()
    assert int(hits) >= 1
    assert (wrong, failed) == ("0", "True")
    filled(path, 100)  # when there is room again


@pytest.mark.skipif(not IS_ROOT, reason="needs root, to mount a small file system")
def test_a_real_disk_that_is_full_costs_only_what_is_put(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k,mode=700", "tmpfs", disk],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        with SqliteStore(disk / "a.sqlite3") as store:
            for number in range(1000):
                store.put(key_of(number), verdict_of(key_of(number)))
            assert store.stats.errors > 0
            found = [n for n in range(1000) if store.get(key_of(n)) is not None]
            assert all(store.get(key_of(n)) == verdict_of(key_of(n)) for n in found)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_file_that_is_deleted_is_made_again(path):
    with SqliteStore(path) as store:
        store.put(KEY, GOOD)
        for part in ("", "-wal", "-shm"):
            os.unlink(f"{path}{part}")
        assert store.get(KEY) is None
        store.put(OTHER, BAD)
        with SqliteStore(path) as second:
            assert second.get(OTHER) == BAD
        assert store.stats.errors == 0


# Damage -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A good file, and one with its last entries in the log."""
    folder = tmp_path_factory.mktemp("sound")
    store = SqliteStore(folder / "a.sqlite3")
    for number in range(120):
        store.put(key_of(number), verdict_of(key_of(number)))
    store._idle[0].sql.execute("PRAGMA wal_checkpoint(PASSIVE)")
    for number in range(120, 200):
        store.put(key_of(number), verdict_of(key_of(number)))
    copies = {name: (folder / name).read_bytes() for name in ("a.sqlite3", "a.sqlite3-wal")}
    store.close()
    return copies


FLIPS = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=40)


@settings(max_examples=120, deadline=None)
@given(
    flips=FLIPS,
    cut=st.none() | st.floats(0, 1),
    which=st.sampled_from(["a.sqlite3", "a.sqlite3-wal"]),
    is_open=st.booleans(),
)
def test_damage_costs_verdicts_and_makes_none_wrong(
    sound, tmp_path_factory, flips, cut, which, is_open
):
    folder = tmp_path_factory.mktemp("damaged")
    for name, content in sound.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    with SqliteStore(folder / "a.sqlite3") as store:
        if is_open:
            store.get(key_of(0))
        damaged = bytearray((folder / which).read_bytes())
        for place, change in flips:
            damaged[int(place * len(damaged))] ^= change
        with open(folder / which, "r+b") as file:  # in place, under an open connection
            file.write(damaged)
            if cut is not None:
                file.truncate(int(cut * len(damaged)))
        for number in range(0, 200, 7):
            assert store.get(key_of(number)) in (None, verdict_of(key_of(number)))
        for number in range(1000, 1010):
            store.put(key_of(number), verdict_of(key_of(number)))
        for number in (*range(200), *range(1000, 1010)):
            assert store.get(key_of(number)) in (None, verdict_of(key_of(number)))
    shutil.rmtree(folder)


def damage(path):
    """Damage every page but the first, under whoever has the file open."""
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xaa" * (size - 4096))


def test_a_damaged_file_is_moved_aside_and_begun_anew(path):
    filled(path)
    damage(path)
    with SqliteStore(path) as store:
        store.put(KEY, GOOD)  # meets the damage
        assert store.stats.errors == 1
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD
        assert store.stats.errors == 1
    assert os.path.exists(str(path) + ASIDE)
    filled(path)


def test_a_file_of_ours_with_a_broken_header_is_moved_aside(path):
    filled(path)
    with open(path, "r+b") as file:
        file.write(b"no database")
    with SqliteStore(path) as store:
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


def test_anything_in_the_place_in_the_cache_folder_is_moved_aside(cache):
    cache.parent.mkdir(parents=True, mode=0o700)
    for make in (lambda: cache.write_bytes(bytes(5000)), lambda: foreign_database(cache)):
        cache.unlink(missing_ok=True)
        make()
        cache.chmod(0o600)
        with SqliteStore() as store:
            store.put(KEY, GOOD)
            assert store.get(KEY) == GOOD


def test_who_comes_late_to_the_damage_leaves_the_new_file_alone(path):
    filled(path)
    with SqliteStore(path) as first, SqliteStore(path) as second:
        assert first.get(key_of(0)) == second.get(key_of(0)) == verdict_of(key_of(0))
        old = second._idle[0]
        damage(path)
        first.put(KEY, GOOD)
        first.put(KEY, GOOD)
        second._database.move_aside(old)  # it met the same damage, before
        second._database.move_aside()
        assert first.get(KEY) == second.get(KEY) == GOOD


def test_damage_met_by_many_at_once_costs_only_what_was_there(path):
    filled(path)
    stores = [SqliteStore(path, timeout=30) for _ in range(4)]
    for store in stores:
        assert store.get(key_of(0)) is not None
    damage(path)

    def work(number):
        for entry in range(20):
            key = key_of((number, entry))
            for _ in range(3):
                stores[number].put(key, verdict_of(key))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for number, store in enumerate(stores):
        for entry in range(20):
            key = key_of((number, entry))
            assert store.get(key) == verdict_of(key)
    for store in stores:
        store.close()


def test_a_disk_that_damages_everything_gets_no_new_file_each_time(path):
    filled(path, 1)
    moved = 0
    with SqliteStore(path) as store:
        for number in range(50):
            if os.path.exists(path):
                damage(path)
            store.put(key_of(number), GOOD)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(str(path) + ASIDE)
                moved += 1
    assert moved == 1


def test_an_entry_that_was_copied_under_another_key_is_a_miss(path):
    filled(path, 2)
    with contextlib.closing(sqlite3.connect(path)) as sql:
        sql.execute(
            "UPDATE verdicts SET entry = (SELECT entry FROM verdicts WHERE key = ?) WHERE key = ?",
            (key_of(0), key_of(1)),
        )
        sql.commit()
    with SqliteStore(path) as store:
        assert store.get(key_of(1)) is None
        assert "damaged" in store.stats.last_error
        assert store.get(key_of(0)) == verdict_of(key_of(0))
        store.put(key_of(1), GOOD)
        assert store.get(key_of(1)) == GOOD


@pytest.mark.parametrize("entry", ["text", 7, None, b"", b"\x00" * 60_000, b"x" * 1_000_000])
def test_a_row_that_is_no_entry_is_a_miss(path, entry):
    filled(path, 1)
    with contextlib.closing(sqlite3.connect(path)) as sql:
        sql.execute("DROP TABLE verdicts")
        sql.execute("CREATE TABLE verdicts (id INTEGER PRIMARY KEY, key UNIQUE, entry)")
        sql.execute("INSERT INTO verdicts (key, entry) VALUES (?, ?)", (KEY, entry))
        sql.commit()
    with SqliteStore(path) as store:
        assert store.get(KEY) is None
        store.put(KEY, GOOD)
        assert store.get(KEY) == GOOD


# Death ------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path):
    counts = kill_rounds(str(tmp_path), rounds=10, seed=7)
    assert counts["acknowledged"] > 100
    assert counts["lost"] == counts["wrong"] == 0
    assert counts["sound_files"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_neither_uses_nor_closes_the_connection_of_its_parent(path):
    with SqliteStore(path) as store:
        store.put(KEY, GOOD)
        inherited = store._idle[0].sql
        references = sys.getrefcount(inherited)
        child = os.fork()
        if child == 0:
            ok = False
            try:
                # One is no longer in the list, and one is for ever.
                ok = not store._idle and sys.getrefcount(inherited) == references
            finally:
                os._exit(0 if ok else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0


FORKED = """
import os, sys
from schemaguard.grammar.store import SqliteStore
from test_grammar_store import GOOD, KEY, OTHER
store = SqliteStore(sys.argv[1])
store.put(KEY, GOOD)
if os.fork() == 0:
    sys.exit(0)  # an ordinary end, with what it has from its parent
os.wait()
store.put(OTHER, GOOD)
print(os.path.exists(sys.argv[1] + "-wal"))
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_ends_takes_nothing_from_its_parent(path):
    folder = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{folder}/../benchmarks"}
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "True\n"
    with SqliteStore(path) as store:
        assert store.get(KEY) == store.get(OTHER) == GOOD


def test_no_descriptor_stays_behind(tmp_path):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    before = len(os.listdir("/proc/self/fd"))
    for number in range(20):
        filled(tmp_path / str(number), 2)
    assert len(os.listdir("/proc/self/fd")) == before
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > before
