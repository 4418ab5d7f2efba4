"""`--jobs`: other processes that read and check files, and how this one talks to them.

Each is started from nothing, with a pipe in and a pipe out. It gets the settings of the run, then
paths, some at a time, and answers with what it found in each: reports without their documents
(`tally.slim`), or why a file cannot be read. All that depends on more than one file, and all
writing, is done here, in the order of the files: what comes out is the same, however many there
are. A process that loses its pipe ends.
"""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import threading
from collections import deque
from io import BytesIO
from queue import SimpleQueue

from schemaguard.cli.tally import slim
from schemaguard.errors import SchemaguardError, printable
from schemaguard.sources import process
from schemaguard.sources.process import OWN_GROUP

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from schemaguard.cli.run import Run
    from schemaguard.config import Config
    from schemaguard.lint import FileReport

    #: What was found in a file, or why it cannot be read.
    Answer = FileReport | str

#: The modules are looked for where this process has found them.
_START = (
    "import sys; sys.path[:] = sys.argv[1:]; from schemaguard.cli import workers as w; w.main()"
)

#: Files in one message, and bytes of files: enough to make the message cheap, few enough to share
#: the work out evenly and to keep the answers small.
FILES = 32
BYTES = 1 << 20
#: Messages a process that are under way or wait to be read.
_AHEAD = 2
_SIZE = 8
#: Seconds for a process to end when it is told to.
_PATIENCE = 10.0


class WorkerError(SchemaguardError):
    """A process ended too early, or met a fault of ours."""


class _Task:
    """Some paths, and what becomes of them."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        self.done = threading.Event()
        self.answers: list[Answer] = []
        self.error: SchemaguardError | None = None

    def result(self) -> Iterator[tuple[str, Answer]]:
        self.done.wait()
        if self.error is not None:
            raise self.error
        return zip(self.paths, self.answers, strict=True)


class Workers:
    """Some processes, started when there is something for them to do.

    Args:
        count: at most so many.
        options: of the command line.
        config: the configuration.
    """

    def __init__(self, count: int, options: argparse.Namespace, config: Config) -> None:
        given = {**vars(options), "run": None, "jobs": 1}
        self._settings = pickle.dumps((given, config), pickle.HIGHEST_PROTOCOL)
        self._count = count
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._children: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []

    def answers(
        self, pieces: Iterable[list[str] | str], here: Callable[[str], Answer]
    ) -> Iterator[tuple[str, Answer]]:
        """What was found in each of some files, in their order.

        Args:
            pieces: paths for one message, or one that only this process can read.
            here: reads such a one.

        Raises:
            WorkerError: a process has failed.
            OSError: a process cannot be started.
        """
        ahead: deque[_Task | str] = deque()
        for piece in pieces:
            if isinstance(piece, str):
                ahead.append(piece)
            else:
                if len(self._children) < self._count:
                    self._start()
                task = _Task(piece)
                self._tasks.put(task)
                ahead.append(task)
            if len(ahead) > _AHEAD * self._count:
                yield from _next(ahead, here)
        while ahead:
            yield from _next(ahead, here)

    def _start(self) -> None:
        child = subprocess.Popen(  # noqa: S603  (no shell)
            [sys.executable, "-P", "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SCHEMAGUARD_TRACEBACK") else subprocess.DEVNULL,
            **OWN_GROUP,  # Ctrl-C is for this process, which ends the others
        )
        self._children.append(child)
        # A daemon: it must not keep alive a process that has done its work.
        thread = threading.Thread(target=self._serve, args=(child,), daemon=True)
        thread.start()
        self._threads.append(thread)

    def _serve(self, child: subprocess.Popen[bytes]) -> None:
        """Give a process one task after the other; in the one thread that talks to it."""
        lost: SchemaguardError | None = None
        message = self._settings
        while (task := self._tasks.get()) is not None:
            if lost is None:
                try:
                    _send(child.stdin, message + pickle.dumps(task.paths))
                    answer = pickle.loads(_receive(child.stdout))  # noqa: S301  (of our own process)
                    message = b""
                    if isinstance(answer, str):
                        lost = WorkerError(answer)
                    else:
                        task.answers = answer
                except Exception:  # noqa: BLE001  (whatever it is, somebody waits for the task)
                    lost = WorkerError(_obituary(child, task.paths))
            task.error = lost
            task.done.set()

    def end(self, *, killed: bool) -> None:
        """End the processes: at once, or once they have nothing left to do."""
        for child in self._children:
            self._tasks.put(None)
            if killed:
                process.kill(child.pid)
        for thread in self._threads:
            thread.join(_PATIENCE)
        for child in self._children:
            for pipe in (child.stdin, child.stdout):
                try:  # noqa: SIM105  (contextlib is an import)
                    pipe.close()  # type: ignore[union-attr]
                except OSError:  # it was to carry something more
                    pass
            try:
                child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill(child.pid)
        self._children.clear()


def _next(ahead: deque[_Task | str], here: Callable[[str], Answer]) -> Iterator[tuple[str, Answer]]:
    first = ahead.popleft()
    return iter([(first, here(first))]) if isinstance(first, str) else first.result()


def in_messages(paths: Iterable[str]) -> Iterator[list[str] | str]:
    """Paths, some at a time; those of what is no regular file of the disk by themselves."""
    held: list[str] = []
    size = 0
    for path in paths:
        length = _length(path)
        if length is None:
            if held:
                yield held
                held, size = [], 0
            yield path
            continue
        held.append(path)
        size += length
        if len(held) >= FILES or size >= BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


def _length(path: str) -> int | None:
    """Bytes of a file; None for what another process would not find, or not the same."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    # /dev/fd/3 and /proc/self/fd/3 are a regular file for the process that has it open.
    if not stat.S_ISREG(status.st_mode) or path.startswith(("/dev/", "/proc/")):
        return None
    return status.st_size


def _obituary(child: subprocess.Popen[bytes], paths: list[str]) -> str:
    try:
        status = child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return "a process of --jobs closed its pipe"
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    among = f"{paths[0]!r}" if len(paths) == 1 else f"{paths[0]!r} and {len(paths) - 1} more files"
    return f"a process of --jobs {how} while it was at {among}; --jobs 1 does without"


def _send(pipe: Any, message: bytes) -> None:
    pipe.write(len(message).to_bytes(_SIZE, "little") + message)
    pipe.flush()


def _receive(pipe: Any) -> bytes:
    size = int.from_bytes(_exactly(pipe, _SIZE), "little")
    return _exactly(pipe, size)


def _exactly(pipe: Any, size: int) -> bytes:
    content: bytes = pipe.read(size)
    if len(content) < size:
        raise EOFError
    return content


# ------------------------------------------------------------------------------------------------
# In the other process
# ------------------------------------------------------------------------------------------------


def main() -> None:
    """Answer until the pipe closes. The first message starts with the settings of the run."""
    from_parent = os.fdopen(os.dup(0), "rb")
    to_parent = os.fdopen(os.dup(1), "wb")
    # What is read or printed by mistake must not be a part of the talk.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    work: Run | None = None
    try:
        while True:
            message = BytesIO(_receive(from_parent))
            said: list[Answer] | str
            try:
                work = work or _run(message)
                said = [_looked(work, path) for path in pickle.load(message)]  # noqa: S301  (ours)
            except SchemaguardError as error:
                said = str(error)
            except Exception as error:
                if os.environ.get("SCHEMAGUARD_TRACEBACK"):
                    raise
                what = printable(f"{type(error).__name__}: {error}")[:300]
                said = f"internal error: {what} (this is a bug; --jobs 1 shows where)"
            _send(to_parent, pickle.dumps(said, pickle.HIGHEST_PROTOCOL))
    except (EOFError, BrokenPipeError):
        # Nobody listens any more. What an engine has left behind is not waited for.
        os._exit(0)


def _run(message: BytesIO) -> Run:
    from argparse import Namespace  # noqa: PLC0415  (this and the next are here for the other side)

    from schemaguard.cli.run import Run  # noqa: PLC0415

    options, config = pickle.load(message)  # noqa: S301  (ours)
    return Run(Namespace(**options), config)


def _looked(work: Run, path: str) -> Answer:
    found = work.look(path)
    if isinstance(found, str):
        return found
    return slim(found, text=work.wants_text, budgets=work.wants_budgets)
