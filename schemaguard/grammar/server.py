"""The caller's end of a fork server: the process, the socket to it, and those to its workers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemaguard.errors import CompileError
from schemaguard.grammar import engine, frames

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemaguard.grammar.tokenizers import Tokenizer

#: Seconds that a server may take to load the compiler and the vocabulary.
START_SECONDS = 60.0

#: Seconds that a server may take to fork or to end a worker; it does nothing else.
ORDER_SECONDS = 3.0

#: Bytes of cached grammars in a worker; nobody asks for the same one twice.
CACHE_BYTES = 16 * 1024 * 1024

# Run by `python -c`: the caller's import path, so that the server finds the very same packages.
_PROGRAM = """\
import json, sys
sys.path[:] = json.loads(sys.argv.pop())
from schemaguard.grammar import forkserver
forkserver.main()
"""

# Variables that a worker needs, besides those of interpreter and loader.
_ENVIRONMENT = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV"})

# Descriptors of standard input, output and error.
_STANDARD = 3


class Worker:
    """One worker: its process id, the socket to it, and what it has done.

    Attributes:
        pid: of the process; not given to another one before the server has been told to wait.
        socket: for jobs.
        server: whose fork it is.
        ready: it has said that it is.
        jobs: how many it has done.
        rss: bytes of resident memory after its first job.
        clock: processor seconds of all its jobs.
    """

    __slots__ = ("clock", "jobs", "pid", "ready", "rss", "server", "socket")

    def __init__(self, pid: int, end: socket.socket, server: Server) -> None:
        self.pid = pid
        self.socket = end
        self.server = server
        self.ready = False
        self.jobs = 0
        self.rss = 0
        self.clock = 0.0

    def processor_seconds(self) -> float | None:
        """What it has computed since its last job ended; None where nobody knows."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            return max(0.0, ticks / os.sysconf("SC_CLK_TCK") - self.clock)
        return None


class Server:
    """The server's process and the socket to it.

    Attributes:
        is_broken: an order was cut short, so that the next answer would be another order's.

    Raises:
        CompileError: reason "engine": it does not start.
    """

    __slots__ = ("_control", "is_broken", "process")

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        if not sys.executable:
            raise CompileError("no Python interpreter to start workers with", reason="engine")
        self.is_broken = False
        try:
            self._control, theirs = _pair()
        except OSError as error:
            raise _no_start(error.strerror) from error
        try:
            self.process = self._start(theirs)
        except OSError as error:
            self._control.close()
            raise _no_start(error.strerror) from error
        finally:
            theirs.close()
        try:
            self._greet(tokenizer, options)
        except BaseException:
            self.close()
            raise

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        path = [str(entry) for entry in sys.path]
        return subprocess.Popen(  # noqa: S603 - our own program, this interpreter
            [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), json.dumps(path)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in a terminal is the caller's to handle
            env=_environment(),
        )

    def _greet(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        lengths, vocabulary = tokenizer.packed()
        setup = {
            "lengths": lengths,
            "vocab_size": tokenizer.vocab_size,
            "stop_token_ids": list(tokenizer.stop_token_ids),
            "add_prefix_space": tokenizer.add_prefix_space,
            "options": dict(options),
            "cache_bytes": CACHE_BYTES,
        }
        try:
            frames.send(self._control, setup, vocabulary, seconds=START_SECONDS)
            answer, _ = frames.receive(self._control, seconds=START_SECONDS)
        except (frames.Gone, frames.Late) as error:
            raise _no_start(None) from error
        if not isinstance(answer, dict) or "failed" in answer:
            raise _no_start(engine.one_line(str(answer)))

    def fork(self) -> Worker:
        """A new worker, which is not ready yet.

        Raises:
            Gone, Late: the server does not answer.
            CompileError: reason "engine": this process has no descriptor left.
        """
        try:
            ours, theirs = _pair()
        except OSError as error:
            raise _no_start(error.strerror) from error
        try:
            answer = self.order({"op": "fork"}, theirs)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        if not isinstance(answer.get("pid"), int):
            ours.close()
            raise frames.Gone
        return Worker(answer["pid"], ours, self)

    def order(self, order: dict[str, Any], passed: socket.socket | None = None) -> dict[str, Any]:
        """Give an order and wait for the answer.

        Raises:
            Gone, Late: there is none.
        """
        done = False
        try:
            try:
                self._control.settimeout(ORDER_SECONDS)
                if passed is None:
                    self._control.sendall(b"!", frames.NO_SIGNAL)
                else:
                    socket.send_fds(
                        self._control, [b"!"], [passed.fileno()], flags=frames.NO_SIGNAL
                    )
            except OSError as error:
                raise frames.Gone from error
            frames.send(self._control, order, seconds=ORDER_SECONDS)
            answer, _ = frames.receive(self._control, seconds=ORDER_SECONDS)
            if not isinstance(answer, dict) or "failed" in answer:
                raise frames.Gone
            done = True
            return answer
        finally:
            self.is_broken = self.is_broken or not done

    def close(self) -> None:
        """End the server, and its workers with it."""
        self._control.close()
        try:
            self.process.wait(timeout=ORDER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def close_inherited() -> None:
    """In a fork of this process: let go of sockets that belong to the parent."""
    for end in list(_OURS):
        end.close()


# Every socket of this side, so that a fork can let go of all of them.
_OURS: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a stream.

    Neither takes the number of a standard stream that is closed: whoever writes to that would write
    to the other end.
    """
    ours, theirs = (_above_standard(end) for end in socket.socketpair())
    _OURS.add(ours)
    return ours, theirs


def _above_standard(end: socket.socket) -> socket.socket:
    if end.fileno() >= _STANDARD:
        return end
    with end:
        return socket.socket(fileno=fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _STANDARD))


def _environment() -> dict[str, str]:
    """What an interpreter needs to find its packages; the caller's secrets are not among it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _ENVIRONMENT or name.startswith(("PYTHON", "LD_", "DYLD_", "LC_", "XGRAMMAR_"))
    }
    # numpy starts threads as it loads; with more than one a fork would not be safe.
    return kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _no_start(why: str | None) -> CompileError:
    message = "the worker process did not start"
    return CompileError(f"{message}: {why}" if why else message, reason="engine")
