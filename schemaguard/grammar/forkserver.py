"""The process behind `worker.Workers`: it loads the compiler once and forks a worker when told.

::

    caller ──control──► fork server ──fork──► worker ◄──jobs── caller

The server has one thread and compiles nothing, so a fork of it is safe and takes milliseconds,
where a new process would import and read the vocabulary first. Each worker talks to the caller over
a socket of its own, which the caller made and the server passed on. A worker may crash, hang or eat
memory: the caller notices and tells the server to end it; the server says what it died of.

Both end when the caller does: the server at the end of its control socket, a worker with the server
(Linux) or at the latest when its time is up.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from schemaguard.grammar import frames, slim
from schemaguard.grammar.outcome import OUT_OF_MEMORY

#: Characters of an engine's error text that are sent back.
MAX_TEXT = 8_000

#: Open files of a worker: three and its socket, and room for what /proc needs.
MAX_FILES = 16

#: Seconds between two looks at a killed worker that is not gone yet.
REAP_SECONDS = 0.02

#: A schema with what most schemas have. Compiled before the first fork, it fills the cache of rules
#: that every worker starts with: a new schema then takes a tenth of the time.
WARM_UP = (
    '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},'
    '"c":{"type":"number"},"d":{"type":"boolean"},"e":{"type":"null"},'
    '"f":{"type":"array","items":{"type":"string"}},"g":{}},'
    '"required":["a"],"additionalProperties":false}'
)

# What xgrammar raises on schemas it cannot compile. RecursionError is a RuntimeError.
_ENGINE_ERRORS = (RuntimeError, ValueError, TypeError, OverflowError)


class Compilers:
    """The engine with a vocabulary, and its two ways to compile."""

    def __init__(self, setup: dict[str, Any], vocabulary: bytes) -> None:
        self.module, self.is_slim = slim.xgrammar()
        self._setup = setup
        self._vocabulary: bytes | None = vocabulary
        self._by_mode: dict[bool, Any] = {}
        self.vocab_size: int = setup["vocab_size"]
        if self.is_slim and threads() == 1:
            # The children share it. With another thread it would not be safe to fork afterwards:
            # then each of them loads it for itself.
            self.load()

    def load(self) -> None:
        """Read the vocabulary and make the compilers, unless that is done."""
        if self._vocabulary is None:
            return
        setup = self._setup
        info = self.module.TokenizerInfo(
            unpacked(self._vocabulary, setup["lengths"]),
            self.module.VocabType.RAW,
            vocab_size=setup["vocab_size"],
            stop_token_ids=setup["stop_token_ids"],
            add_prefix_space=setup["add_prefix_space"],
        )
        self._vocabulary = None
        for dynamic in (False, True):
            self._by_mode[dynamic] = self.module.GrammarCompiler(
                info,
                max_threads=1,
                cache_limit_bytes=setup["cache_bytes"],
                enable_dynamic_compilation=dynamic,
            )
        self.compile("schema", WARM_UP, dynamic=False)

    def compile(self, kind: str, text: str, *, dynamic: bool) -> Any:
        """A compiled grammar, or only a grammar when the kind is "grammar"."""
        options = self._setup["options"]
        if kind == "grammar":
            return self.module.Grammar.from_json_schema(text, **options)
        compiler = self._by_mode[dynamic]
        if kind == "tag":
            return compiler.compile_structural_tag(text)
        return compiler.compile_json_schema(text, **options)


def unpacked(vocabulary: bytes, lengths: list[int]) -> list[bytes]:
    """The tokens, which were sent in one piece."""
    tokens = []
    at = 0
    for length in lengths:
        tokens.append(vocabulary[at : at + length])
        at += length
    return tokens


def threads() -> int:
    """The threads of this process; 2 where nobody knows, which is too many to fork."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 2


# ------------------------------------------------------------------------------------------------
# The server
# ------------------------------------------------------------------------------------------------


def serve(control: socket.socket) -> None:
    """Fork workers and end them, as the caller says, until it is gone."""
    children = Children()
    try:
        setup, vocabulary = frames.receive(control)
        compilers = Compilers(setup, vocabulary)
        del setup, vocabulary
        gc.freeze()  # a collection in a worker would copy every page that it touches
        frames.send(control, {"ready": True, "slim": compilers.is_slim, "threads": threads()})
        while True:
            order, passed = _next_order(control, children)
            if order["op"] == "fork":
                pid = _fork(control, compilers, passed[0])
                children.running.add(pid)
                frames.send(control, {"pid": pid})
            elif order["op"] == "kill":
                children.kill(order["pid"])
                frames.send(control, {})
            else:
                frames.send(control, {"exit": children.exit_code(order["pid"])})
    except frames.Gone:
        pass  # the caller is gone
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller has to be told
        with contextlib.suppress(frames.Gone):
            frames.send(control, {"failed": f"{type(error).__name__}: {error}"[:MAX_TEXT]})
    finally:
        children.end()


class Children:
    """The workers: those that run, and those that were killed and are not gone yet."""

    def __init__(self) -> None:
        self.running: set[int] = set()
        self.dying: set[int] = set()

    def kill(self, pid: int) -> None:
        """Kill a worker without waiting: a gigabyte takes its time to be given back."""
        if pid in self.running:
            os.kill(pid, signal.SIGKILL)  # nobody else waits for it: the number is still its own
            self.running.discard(pid)
            self.dying.add(pid)

    def exit_code(self, pid: int) -> int:
        """Of a worker whose socket has closed: its exit status, or the negative of a signal."""
        if pid not in self.running:
            return 0
        os.kill(pid, signal.SIGKILL)  # changes nothing for one that has ended
        _, status = os.waitpid(pid, 0)
        self.running.discard(pid)
        return os.waitstatus_to_exitcode(status)

    def reap(self) -> None:
        """Take leave of the killed ones that are gone by now."""
        for pid in list(self.dying):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.dying.discard(pid)

    def end(self) -> None:
        """Kill all and wait for them."""
        for pid in list(self.running):
            self.kill(pid)
        for pid in self.dying:
            os.waitpid(pid, 0)


def _next_order(control: socket.socket, children: Children) -> tuple[dict[str, Any], list[int]]:
    """The next order and the descriptors that came with its first byte."""
    try:
        orders = select.poll()
        orders.register(control, select.POLLIN)
        while children.dying:
            children.reap()
            if orders.poll(REAP_SECONDS * 1000):
                break
        control.settimeout(None)
        mark, passed, _, _ = socket.recv_fds(control, 1, 1)
    except OSError as error:
        raise frames.Gone from error
    if not mark:
        raise frames.Gone
    return frames.receive(control)[0], passed


def _fork(control: socket.socket, compilers: Compilers, descriptor: int) -> int:
    server = os.getpid()
    pid = os.fork()
    if pid:
        os.close(descriptor)
        return pid
    # Nothing may unwind the stack into the server's loop.
    status = 1
    try:
        control.close()
        _die_with(server)
        with socket.socket(fileno=descriptor) as jobs:
            status = work(jobs, compilers)
    finally:
        os._exit(status)


def _die_with(server: int) -> None:
    """Ask the kernel to end this process when its parent ends; only Linux knows how."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - in a worker alone

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != server:  # it ended before
        os._exit(0)


# ------------------------------------------------------------------------------------------------
# A worker
# ------------------------------------------------------------------------------------------------


def work(jobs: socket.socket, compilers: Compilers) -> int:
    """Do one job after the other until the caller closes the socket; returns the exit status."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, MAX_FILES)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    try:
        compilers.load()
        frames.send(jobs, {"ready": True})
        while True:
            job, _ = frames.receive(jobs)
            _forget_peak()
            before = _resident("VmHWM")
            # What is there already (code, vocabulary, caches) is not the job's.
            memory = _address_space() + job["memory"]
            if most != resource.RLIM_INFINITY:
                memory = min(memory, most)
            resource.setrlimit(resource.RLIMIT_AS, (memory, most))
            # The engine recurses. What passes here passes on any thread with such a stack.
            _limit(resource.RLIMIT_STACK, job["stack"], soft=True)
            signal.setitimer(signal.ITIMER_PROF, job["cpu"])  # SIGPROF ends the process
            try:
                answer = _do(job, compilers)
            except MemoryError:
                answer = {"end": "memory"}
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
            answer["peak"] = max(0, _resident("VmHWM") - before)
            answer["rss"] = _resident("VmRSS")
            answer["clock"] = time.process_time()
            frames.send(jobs, answer)
    except MemoryError:
        return OUT_OF_MEMORY
    except frames.Gone:
        return 0


def _do(job: dict[str, Any], compilers: Compilers) -> dict[str, Any]:
    began, used = time.perf_counter(), time.process_time()
    try:
        grammar = compilers.compile(job["kind"], job["text"], dynamic=job["dynamic"])
    except _ENGINE_ERRORS as error:
        text = str(error)
        if "std::bad_alloc" in text:
            return {"end": "memory"}
        return {"refused": text[:MAX_TEXT], "error": type(error).__name__}
    answer = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - used,
        "size": 0 if job["kind"] == "grammar" else int(grammar.memory_size_bytes),
    }
    if job["masks"]:
        answer |= probe(compilers, grammar, job)
    return answer


def probe(compilers: Compilers, grammar: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Fill masks along outputs and say what the dearest step took.

    Args:
        compilers: the engine.
        grammar: a compiled grammar.
        job: has `masks`, how many to fill at most along each output; `seed`, of a random output,
            which is always walked; `outputs`, texts to follow as far as the grammar takes them; and
            `dynamic`.

    Returns:
        `mask` and `accept`, the longest fill and the longest step in seconds, and `masks`, how many
        states. A fill is the best of three, so that another process does not count; on demand it
        is the first, for the others find its work done.
    """
    import random  # noqa: PLC0415 - only who measures pays

    import numpy as np  # noqa: PLC0415 - xgrammar has imported it

    repeats = 1 if job["dynamic"] else 3
    count = job["masks"]
    words = np.zeros((1, -(-compilers.vocab_size // 32)), dtype=np.int32)
    rng = random.Random(job["seed"])  # noqa: S311 - not a secret
    worst_fill = worst_accept = 0.0
    states = 0
    for output in (None, *job["outputs"]):
        matcher = compilers.module.GrammarMatcher(grammar)
        steps = count if output is None else len(output)
        stride = 1 if output is None else -(-steps // count)
        for at in range(0, steps, stride):
            fills = []
            for _ in range(repeats):
                began = time.perf_counter()
                matcher.fill_next_token_bitmask(words, 0)
                fills.append(time.perf_counter() - began)
            worst_fill = max(worst_fill, min(fills))
            states += 1
            if output is None:
                bits = np.unpackbits(words[0].view(np.uint8), bitorder="little")
                allowed = np.flatnonzero(bits[: compilers.vocab_size])
                if not len(allowed):
                    break
                choice = int(allowed[rng.randrange(len(allowed))])
                began = time.perf_counter()
                accepted = matcher.accept_token(choice)
            else:
                began = time.perf_counter()
                accepted = matcher.accept_string(output[at : at + stride])
            worst_accept = max(worst_accept, time.perf_counter() - began)
            if not accepted or matcher.is_terminated():
                break
    return {"mask": worst_fill, "accept": worst_accept, "masks": states}


def _limit(kind: int, most: int, *, soft: bool = False) -> None:
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(kind, (most, hard if soft else most))


def _address_space() -> int:
    """Bytes of address space in use; where nobody knows, the limit of a job counts from zero."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _resident(name: str) -> int:
    """`VmHWM` (the peak) or `VmRSS` of this process, in bytes; 0 where nobody knows."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """The program: `forkserver.main()` with the number of the control socket as the argument."""
    # Dispositions and the mask are inherited: a caller that ignores SIGCHLD would hide what a
    # worker died of, one that blocks SIGPROF would take its limit away.
    for number in (signal.SIGCHLD, signal.SIGPROF, signal.SIGXCPU, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    with socket.socket(fileno=int(sys.argv[1])) as control:
        serve(control)
