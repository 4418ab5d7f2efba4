"""Compiling in worker processes: what ends a job, what it leaves behind, who else notices."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import schemaguard
from schemaguard.errors import CompileError, CompileRefused
from schemaguard.grammar import Compiler, Tokenizer, frames
from schemaguard.grammar.store import MemoryStore
from schemaguard.grammar.worker import Limits, Workers

pytest.importorskip("xgrammar")

if not sys.platform.startswith("linux"):
    pytest.skip("the limits are those of Linux", allow_module_level=True)

OPTIONS = {"any_whitespace": True, "strict_mode": True, "max_whitespace_cnt": 2}
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}

# Each passes no profile; they are handed to the workers directly.
CRASHES = json.dumps({"type": "string", "pattern": "(" * 40_000 + "a" + ")" * 40_000})
HANGS = json.dumps({"type": "string", "pattern": "^.{0,5000}$"})
EATS = json.dumps({"enum": [f"{i:06}" for i in range(200_000)]})


@pytest.fixture
def workers():
    with Workers(Tokenizer.byte_level(), OPTIONS, limits=Limits(seconds=20.0)) as made:
        yield made


def descendants(root: int | None = None) -> set[int]:
    """All processes below one, by default this one; zombies included."""
    root = root or os.getpid()
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found - {root}
        found |= more


def wait_until(condition, seconds=10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# How a job ends ---------------------------------------------------------------------------------


def test_a_schema_that_compiles_comes_back_with_what_it_cost(workers):
    outcome = workers.run(json.dumps(POINT))

    assert outcome.reason is None
    assert outcome.message == ""
    assert 0 < outcome.seconds < 20
    assert 0 <= outcome.cpu_seconds < 20
    in_process = Compiler(Tokenizer.byte_level(), isolation="none").compile(accept(POINT))
    assert outcome.bytes == in_process.stats.bytes
    assert outcome.mask_seconds is None


def test_masks_are_measured_along_outputs_when_asked_for(workers):
    outcome = workers.run(json.dumps(POINT), masks=20, outputs=['{"x": 123}'])

    assert outcome.masks > 10
    assert 0 < outcome.mask_seconds < 5
    assert 0 < outcome.accept_seconds < 5


def test_a_dead_end_under_measurement_is_no_crash(workers):
    outcome = workers.run(json.dumps({"type": "string", "pattern": r"[^\s\S]"}), masks=20)

    assert outcome.reason is None


@pytest.mark.parametrize("kind", ["schema", "grammar"])
def test_what_the_engine_refuses_is_said_in_its_words(workers, kind):
    outcome = workers.run('{"type": "array", "items": [{}]}', kind)

    assert outcome.reason == "unsupported"
    assert "items" in outcome.message
    assert "/project/" not in outcome.message
    assert outcome.lasting


def test_a_crash_is_a_verdict_and_the_next_job_finds_a_new_worker(workers):
    outcome = workers.run(CRASHES)

    assert outcome.reason == "crash"
    assert "SIGSEGV" in outcome.message
    assert outcome.lasting
    assert workers.run(json.dumps(POINT)).reason is None


def test_a_job_that_hangs_is_ended_at_its_limit(workers):
    workers.start()
    began = time.perf_counter()

    outcome = workers.run(HANGS, limits=Limits(seconds=0.5))

    # The bar is limit + 0.1 s (benchmarks/isolation.py); a machine under test may be busy.
    assert 0.4 < time.perf_counter() - began < 2.5
    assert outcome.reason == "timeout"
    assert workers.run(json.dumps(POINT)).reason is None


def test_processor_time_is_a_limit_of_its_own(workers):
    outcome = workers.run(HANGS, limits=Limits(seconds=30.0, cpu_seconds=0.3))

    assert outcome.reason == "timeout"
    assert "processor time" in outcome.message
    assert outcome.seconds < 25


def test_a_job_that_outgrows_its_memory_is_ended(workers):
    outcome = workers.run(EATS, limits=Limits(seconds=60.0, memory_bytes=32 << 20))

    assert outcome.reason == "memory"
    assert "32 MiB" in outcome.message
    assert workers.run(json.dumps(POINT)).reason is None


def test_a_schema_that_needs_more_stack_than_a_small_thread_has_is_caught(workers):
    """The main thread of this process could take it; another thread of it could not."""
    groups = json.dumps({"type": "string", "pattern": "(" * 8_000 + "a" + ")" * 8_000})

    assert workers.run(groups).reason == "crash"
    assert workers.run(groups, limits=Limits(seconds=20.0, stack_bytes=8 << 20)).reason is None


def test_the_text_of_a_schema_may_hold_anything(workers):
    for text in ("", "{", "\x00", '{"enum": ["\ud800"]}', '"\\ud800"', "[" * 1_000):
        assert workers.run(text).reason in {"unsupported", "engine", None}
    assert workers.run("[" * 100_000).reason == "crash"  # a reader that recurses, a small stack


NONSENSE = [
    [],
    {},
    7,
    None,
    "x",
    True,
    {"end": 1},
    {"refused": 1},
    {"seconds": "x", "cpu": 0, "peak": 0, "size": 0},
    *(
        {"seconds": value, "cpu": 0.1, "peak": 0, "size": 0}
        for value in (float("nan"), float("inf"), -1, 10**400, True, None)
    ),
    {"seconds": 0.1, "cpu": 0.1, "peak": -5, "size": 0},
    {"seconds": 0.1, "cpu": 0.1, "peak": 0.5, "size": 0},
    {"seconds": 0.1, "cpu": 0.1, "peak": 0, "size": 1 << 80},
]


@pytest.mark.parametrize("answer", NONSENSE)
def test_an_answer_that_makes_no_sense_counts_as_a_crash_and_costs_the_worker(
    workers, monkeypatch, answer
):
    workers.start()
    place = workers._places.get()
    workers._places.put(place)
    receive = frames.receive
    monkeypatch.setattr(
        frames,
        "receive",
        lambda end, **kept: (answer, b"") if end is place.socket else receive(end, **kept),
    )

    assert workers.run(json.dumps(POINT)).reason == "crash"
    assert workers.run(json.dumps(POINT)).reason is None


# Others -----------------------------------------------------------------------------------------


def test_other_jobs_go_on_while_one_hangs():
    with Workers(Tokenizer.byte_level(), OPTIONS, count=2) as pair:
        pair.start()
        hung = []
        thread = threading.Thread(
            target=lambda: hung.append(pair.run(HANGS, limits=Limits(seconds=3.0)))
        )
        thread.start()
        done = 0
        while thread.is_alive():
            assert pair.run(json.dumps(POINT), limits=Limits(seconds=20.0)).reason is None
            done += 1
        thread.join()

        assert hung[0].reason == "timeout"
        assert done > 20


def test_who_finds_no_worker_free_is_told_so(workers):
    workers.start()
    thread = threading.Thread(target=workers.run, args=(HANGS,), kwargs={"limits": Limits()})
    thread.start()
    try:
        assert wait_until(workers._places.empty)
        assert workers.run(json.dumps(POINT), wait_seconds=0.01) is None
    finally:
        thread.join()


def test_a_worker_that_somebody_ended_while_idle_is_replaced(workers):
    workers.start()
    place = workers._places.get()
    os.kill(place.pid, signal.SIGKILL)
    workers._places.put(place)
    assert wait_until(lambda: not is_alive(place.pid))

    assert workers.run(json.dumps(POINT)).reason is None


def test_a_server_that_somebody_ended_is_replaced(workers):
    workers.start()
    server = workers._server.process.pid
    os.kill(server, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(server))
    time.sleep(0.1)  # its worker dies with it

    assert workers.run(json.dumps(POINT)).reason is None
    assert workers._server.process.pid != server


def test_a_fork_of_the_caller_starts_workers_of_its_own(workers):
    workers.start()
    pid = os.fork()
    if pid == 0:
        try:
            outcome = workers.run(json.dumps(POINT))
            workers.close()
            os._exit(0 if outcome.reason is None else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert workers.run(json.dumps(POINT)).reason is None


class Interrupted(BaseException):
    """What a signal handler raises, as Ctrl-C does."""


def test_a_job_that_is_interrupted_does_not_answer_for_the_next_one(workers):
    workers.start()

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupted):
            workers.run(HANGS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert workers.run('{"type": "array", "items": [{}]}').reason == "unsupported"
    assert workers.run(json.dumps(POINT)).reason is None


def test_a_handler_that_raises_timeouts_is_not_taken_for_a_limit(workers):
    workers.start()

    def late(*_):
        raise TimeoutError("the caller's own")

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError, match="own"):
            workers.run(HANGS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert workers.run(json.dumps(POINT)).reason is None


@pytest.mark.parametrize("what", ["close", "server", "term", "all"])
def test_a_schema_is_not_blamed_for_what_others_do_to_its_worker(workers, what):
    workers.start()
    place = workers._places.get()
    workers._places.put(place)
    server = workers._server.process.pid
    ended = []
    thread = threading.Thread(target=lambda: ended.append(workers.run(HANGS)))
    thread.start()
    assert wait_until(workers._places.empty)
    time.sleep(0.2)
    if what == "close":
        workers.close()
    if what in {"term", "all"}:
        os.kill(place.pid, signal.SIGTERM)
    if what in {"server", "all"}:
        os.kill(server, signal.SIGKILL)
    thread.join(15)

    assert ended[0].reason == "engine"
    assert not ended[0].lasting


CALLER = f"""
import os, signal, sys, pathlib, threading, time
from schemaguard.grammar import Tokenizer
from schemaguard.grammar.worker import Limits, Workers
SETUP
SHORT = Limits(seconds=25.0, cpu_seconds=0.2)
workers = Workers(Tokenizer.byte_level(), {OPTIONS!r}, limits=Limits(seconds=30.0))
def good():
    outcome = workers.run({json.dumps(POINT)!r})
    if outcome.reason is not None:
        os._exit(3)
good()
BODY
os._exit(0)
"""


@pytest.mark.parametrize(
    ("setup", "body"),
    [
        (
            "signal.signal(signal.SIGPIPE, signal.SIG_DFL)",
            "os.kill(workers._server.process.pid, signal.SIGKILL); time.sleep(0.3); good()",
        ),
        (
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
            f"assert 'SIGSEGV' in workers.run({CRASHES!r}).message; good()",
        ),
        ("os.close(0); os.close(1); os.close(2)", "good()"),
        ("os.close(1); os.close(2)", "good()"),
        ("os.close(0); os.close(2)", "good()"),
        ("sys.path.append(pathlib.Path('/nowhere'))", "good()"),
        (
            "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
            f"assert 'processor' in workers.run({HANGS!r}, limits=SHORT).message",
        ),
    ],
)
def test_workers_do_not_inherit_the_oddities_of_their_caller(setup, body):
    code = CALLER.replace("SETUP", setup).replace("BODY", body)

    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)

    assert done.returncode == 0


def test_a_caller_without_descriptors_gets_a_compile_error():
    setup = "import resource; from schemaguard.errors import CompileError"
    body = """
import schemaguard
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), 4096))
try:
    Workers(Tokenizer.byte_level(), {}).run("{}")
except CompileError as error:
    os._exit(0 if error.reason == "engine" else 4)
os._exit(5)
"""
    code = CALLER.replace("SETUP", setup).replace("BODY", body)

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


# What is left behind ----------------------------------------------------------------------------


def test_hostile_jobs_in_a_row_leave_nothing_behind():
    before = descendants()
    files = len(os.listdir("/proc/self/fd"))
    limits = Limits(seconds=0.1, memory_bytes=24 << 20)
    with Workers(Tokenizer.byte_level(), OPTIONS, limits=limits) as made:
        made.start()
        reasons = set()
        for number in range(45):
            text = (CRASHES, HANGS, EATS)[number % 3]
            reasons.add(made.run(text).reason)
        assert reasons <= {"crash", "timeout", "memory"}
        assert {"crash", "timeout"} <= reasons
        assert wait_until(lambda: len(descendants() - before) <= 2)  # the server and a worker
        assert len(os.listdir("/proc/self/fd")) <= files + 2

    assert wait_until(lambda: descendants() == before)
    assert len(os.listdir("/proc/self/fd")) == files


def test_workers_end_with_a_caller_that_is_killed_in_the_middle_of_a_job():
    code = f"""
import threading, time
from schemaguard.grammar import Tokenizer
from schemaguard.grammar.worker import Limits, Workers
workers = Workers(Tokenizer.byte_level(), {OPTIONS!r}, limits=Limits(seconds=600.0))
workers.start()
threading.Thread(target=workers.run, args=({HANGS!r},), daemon=True).start()
time.sleep(0.3)
print("busy", flush=True)
time.sleep(600)
"""
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    assert caller.stdout.readline() == "busy\n"
    ours = descendants(caller.pid)
    assert len(ours) >= 2

    caller.kill()
    caller.wait()
    caller.stdout.close()

    assert wait_until(lambda: not any(map(is_alive, ours)))


def test_closing_twice_is_closing_once_and_a_closed_one_takes_no_jobs():
    made = Workers(Tokenizer.byte_level(), OPTIONS)
    made.start()
    made.close()
    made.close()

    with pytest.raises(CompileError, match="closed"):
        made.run(json.dumps(POINT))


def test_workers_that_nobody_holds_any_more_are_gone():
    before = descendants()
    made = Workers(Tokenizer.byte_level(), OPTIONS)
    made.start()
    assert descendants() > before
    del made

    assert wait_until(lambda: descendants() == before)


def test_a_worker_does_not_see_the_secrets_of_its_caller(monkeypatch):
    monkeypatch.setenv("API_KEY", "hush")
    with Workers(Tokenizer.byte_level(), OPTIONS) as made:
        made.start()
        place = made._places.get()
        environment = Path(f"/proc/{place.pid}/environ").read_bytes()
        made._places.put(place)

    assert b"PATH=" in environment
    assert b"hush" not in environment


def test_the_worker_imports_neither_torch_nor_transformers(workers):
    workers.start()
    place = workers._places.get()
    maps = Path(f"/proc/{place.pid}/maps").read_text()
    workers._places.put(place)

    assert "libxgrammar" in maps
    assert "libtorch" not in maps


@pytest.mark.parametrize(
    "bad", [{"seconds": 0}, {"cpu_seconds": -1}, {"memory_bytes": 10}, {"seconds": 1e9}]
)
def test_limits_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match="must be"):
        Limits(**bad)


# The compiler in front of them ------------------------------------------------------------------


def accept(schema: Any, profile: str = "xgrammar-2026-11-30"):
    report = schemaguard.check(schema, profile=profile)
    assert report.accepted is not None, report.diagnostics
    return report.accepted


def without_cost_rules(monkeypatch):
    """Let everything pass the engine's profile, as if a rule were missing."""
    clean = schemaguard.check({}, profile="xgrammar")
    monkeypatch.setattr(schemaguard, "check", lambda *_, **__: clean)


@pytest.mark.parametrize(
    ("text", "reason"), [(CRASHES, "crash"), (HANGS, "timeout"), (EATS, "memory")]
)
def test_what_ends_a_worker_is_refused_and_then_refused_at_once(monkeypatch, text, reason):
    accepted = schemaguard.check(text, profile="dynamo").accepted or forged(text)
    store = MemoryStore()
    memory = (32 << 20) if reason == "memory" else (1 << 30)
    limits = Limits(
        seconds=60.0, cpu_seconds=0.5 if reason == "timeout" else 50.0, memory_bytes=memory
    )
    without_cost_rules(monkeypatch)
    for fresh in (True, False):  # the second compiler knows it from the store alone
        with Compiler(Tokenizer.byte_level(), limits=limits, store=store) as compiler:
            if not fresh:
                monkeypatch.setattr(Workers, "run", None)
            for _ in range(2):
                with pytest.raises(CompileRefused) as caught:
                    compiler.compile(accepted)
                assert caught.value.reason == reason
                monkeypatch.setattr(Workers, "run", None)
        monkeypatch.undo()
        without_cost_rules(monkeypatch)


def forged(text: str):
    """An `Accepted` for a schema that no profile lets through."""
    accepted = accept({})
    object.__setattr__(accepted, "text", text)
    return accepted


def test_a_schema_that_the_store_knows_needs_no_trial():
    store = MemoryStore()
    with Compiler(Tokenizer.byte_level(), store=store) as first:
        assert first.compile(accept(POINT)).stats.trial_seconds > 0
        assert first.compile(accept(POINT)).stats.trial_seconds is None  # it is there
    with Compiler(Tokenizer.byte_level(), store=store) as second:
        stats = second.compile(accept(POINT)).stats
        assert stats.trial_seconds is None
        assert not stats.cached
    with Compiler(Tokenizer.byte_level(), store=store, strict_mode=False) as other:
        assert other.compile(accept(POINT)).stats.trial_seconds > 0  # another question


def test_a_trusting_compiler_starts_no_process():
    before = descendants()
    compiler = Compiler(Tokenizer.byte_level(), isolation="none")

    assert compiler.compile(accept(POINT)).stats.trial_seconds is None
    assert compiler.start() == 0.0
    assert descendants() == before


def test_threads_that_ask_for_the_same_schema_share_one_trial(monkeypatch):
    asked = []
    run = Workers.run

    def counting(self, *arguments, **options):
        asked.append(arguments)
        return run(self, *arguments, **options)

    monkeypatch.setattr(Workers, "run", counting)
    with Compiler(Tokenizer.byte_level()) as compiler:
        accepted = accept({"type": "object", "properties": {f"p{i}": {} for i in range(50)}})
        threads = [threading.Thread(target=compiler.compile, args=(accepted,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(asked) == 1


def test_warming_compiles_in_the_background_and_says_what_failed():
    with Compiler(Tokenizer.byte_level()) as compiler:
        items = [accept(POINT), accept({"type": "array", "minItems": 1})]
        warming = compiler.warm(items, background=True)
        assert warming.wait(60)

        good, bad = warming.results
        assert good.stats is not None
        assert good.error is None
        assert bad.stats is None
        assert bad.error.reason == "unsupported"
        assert compiler.compile(items[0]).stats.cached


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_the_end_of_the_program_during_warming_is_an_ordinary_end(isolation):
    """An interpreter that ends while a thread is inside the engine aborts."""
    code = f"""
import schemaguard, time
from schemaguard.grammar import Compiler, Tokenizer
def items():
    for i in range(10_000):
        names = {{f"n{{i}}_{{j}}": {{"type": "string"}} for j in range(800)}}
        schema = {{"type": "object", "properties": names, "required": list(names)}}
        yield schemaguard.check(schema, profile="xgrammar").accepted
compiler = Compiler(Tokenizer.byte_level(), isolation={isolation!r}, mode="eager")
compiler.warm(items(), background=True)
time.sleep(1.0)
"""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr[-500:]
        assert "terminate" not in done.stderr


def test_a_fork_in_the_middle_of_a_compilation_can_compile():
    accepted = accept(POINT)
    with Compiler(Tokenizer.byte_level(), isolation="none") as compiler:
        inside, leave = threading.Event(), threading.Event()

        class Slow:
            def compile_json_schema(self, *_: object, **__: object) -> None:
                inside.set()
                leave.wait(30)
                raise RuntimeError("std::bad_alloc")

        compiler._grammars._engines = {False: Slow(), True: Slow()}

        def compile_slowly():
            with pytest.raises(CompileError):
                compiler.compile(accepted)

        thread = threading.Thread(target=compile_slowly)
        thread.start()
        assert inside.wait(30)
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            try:
                os._exit(0 if compiler.compile(accepted).accepts('{"x":1}') else 1)
            finally:
                os._exit(2)
        leave.set()
        thread.join()
        _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def test_warming_can_be_cancelled_and_raises_what_its_items_raise():
    def items():
        yield accept(POINT)
        raise ZeroDivisionError

    with Compiler(Tokenizer.byte_level(), isolation="none") as compiler:
        warming = compiler.warm(items(), background=True)
        with pytest.raises(ZeroDivisionError):
            warming.wait(60)
        assert len(warming.results) == 1

        endless = iter(lambda: accept(POINT), None)
        warming = compiler.warm(endless, background=True)
        warming.cancel()
        assert warming.wait(60)
        assert warming.is_done
