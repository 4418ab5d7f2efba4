"""What a job in a worker process may use, and how it ended."""

from __future__ import annotations

import math
import signal
from typing import Any

from schemaguard._frozen import Frozen
from schemaguard.grammar import engine

#: Exit status of a worker that ran out of memory where it could not say so.
OUT_OF_MEMORY = 3

#: Which share of its time a job must have spent computing for a timeout to be its own doing.
BUSY_SHARE = 0.8

# Signals that stand for a limit.
_OUT_OF_TIME = (signal.SIGPROF, signal.SIGXCPU)

# Signals that somebody sends to end a process, whatever it does.
_ENDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


class Limits(Frozen):
    """What one job may use.

    Attributes:
        seconds: wall time from the start of the job.
        cpu_seconds: processor time, which also ends a job whose caller is gone.
        memory_bytes: address space beyond what the worker has at rest (Linux; elsewhere it holds
            only as far as the system honours RLIMIT_AS).
        stack_bytes: of the thread that compiles. By default the smallest that a compiler may have,
            so that what passes the trial passes on every thread of the caller.
    """

    __slots__ = ("cpu_seconds", "memory_bytes", "seconds", "stack_bytes")

    seconds: float
    cpu_seconds: float
    memory_bytes: int
    stack_bytes: int

    def __init__(
        self,
        *,
        seconds: float = 2.0,
        cpu_seconds: float | None = None,
        memory_bytes: int = 1 << 30,
        stack_bytes: int = engine.MIN_STACK_BYTES,
    ) -> None:
        cpu = seconds if cpu_seconds is None else cpu_seconds
        for name, value in (("seconds", seconds), ("cpu_seconds", cpu)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"{name} must be a number, not {type(value).__name__}")
            if not 0.001 <= value <= 86_400:
                raise ValueError(f"{name} must be in 0.001..86400, not {value!r}")
        for name, size, least in (
            ("memory_bytes", memory_bytes, 1 << 20),
            ("stack_bytes", stack_bytes, 1 << 18),
        ):
            if isinstance(size, bool) or not isinstance(size, int):
                raise TypeError(f"{name} must be an integer, not {type(size).__name__}")
            if not least <= size <= 1 << 50:
                raise ValueError(f"{name} must be in {least}..{1 << 50}, not {size!r}")
        self._fill(
            seconds=float(seconds),
            cpu_seconds=float(cpu),
            memory_bytes=memory_bytes,
            stack_bytes=stack_bytes,
        )


class Outcome(Frozen):
    """How a job ended.

    Attributes:
        reason: None when it compiled; "unsupported" (the engine refuses the schema), "timeout",
            "memory", "crash", or "engine" (the engine failed for a reason of its own).
        message: one printable line; empty when it compiled.
        lasting: whether the same job would end so again. A timeout on a machine that was busy with
            something else says nothing about the schema.
        seconds: wall time of the compilation, or of the job when it was ended.
        cpu_seconds: processor time of it; 0 when the job was ended and nobody knows.
        peak_bytes: resident memory that the job added at its peak; 0 when nobody knows.
        bytes: size of the compiled grammar, as xgrammar estimates it.
        mask_seconds: the longest fill of a mask that was measured, else None.
        accept_seconds: the longest step that was measured, else None.
        masks: how many states were measured.
    """

    __slots__ = (
        "accept_seconds",
        "bytes",
        "cpu_seconds",
        "lasting",
        "mask_seconds",
        "masks",
        "message",
        "peak_bytes",
        "reason",
        "seconds",
    )

    reason: str | None
    message: str
    lasting: bool
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    bytes: int
    mask_seconds: float | None
    accept_seconds: float | None
    masks: int

    def __init__(
        self,
        *,
        reason: str | None = None,
        message: str = "",
        lasting: bool = True,
        seconds: float = 0.0,
        cpu_seconds: float = 0.0,
        peak_bytes: int = 0,
        bytes: int = 0,  # noqa: A002 - the unit is the name
        mask_seconds: float | None = None,
        accept_seconds: float | None = None,
        masks: int = 0,
    ) -> None:
        self._fill(
            reason=reason,
            message=message,
            lasting=lasting,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            peak_bytes=peak_bytes,
            bytes=bytes,
            mask_seconds=mask_seconds,
            accept_seconds=accept_seconds,
            masks=masks,
        )


def of_answer(answer: Any, limits: Limits, spent: float) -> Outcome:
    """A worker's answer, which is data from a process that may have lost its mind."""
    try:
        if "refused" in answer:
            kind = (
                RuntimeError
                if answer["error"] in {"RuntimeError", "RecursionError"}
                else ValueError
            )
            message, about_schema = engine.explain(kind(str(answer["refused"])))
            return Outcome(
                reason="unsupported" if about_schema else "engine",
                message=message,
                lasting=about_schema,
                seconds=spent,
            )
        if "end" in answer:
            peak = _count(answer["peak"])
            return Outcome(
                reason="memory", message=_over_memory(limits), seconds=spent, peak_bytes=peak
            )
        return Outcome(
            seconds=_seconds(answer["seconds"]),
            cpu_seconds=_seconds(answer["cpu"]),
            peak_bytes=_count(answer["peak"]),
            bytes=_count(answer["size"]),
            mask_seconds=_seconds(answer["mask"]) if "mask" in answer else None,
            accept_seconds=_seconds(answer["accept"]) if "accept" in answer else None,
            masks=_count(answer.get("masks", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return Outcome(
            reason="crash", message="the worker process answered nonsense", seconds=spent
        )


def of_lateness(limits: Limits, spent: float, used: float | None) -> Outcome:
    """A job whose time was up; `used` is its processor time, None where nobody knows."""
    busy = used is None or used >= BUSY_SHARE * limits.seconds
    message = f"compiling takes more than {limits.seconds:g} s"
    if not busy:
        message += f" (the machine was busy: {used:.2f} s of processor time)"
    return Outcome(
        reason="timeout", message=message, lasting=busy, seconds=spent, cpu_seconds=used or 0.0
    )


def of_death(code: int | None, limits: Limits, spent: float) -> Outcome:
    """A worker that died over a job.

    Args:
        code: its exit status, the negative of a signal, or None where nobody knows.
        limits: of the job.
        spent: seconds.
    """
    if code == OUT_OF_MEMORY:
        return Outcome(reason="memory", message=_over_memory(limits), seconds=spent)
    if code is None or code >= 0 or -code in _ENDED:
        message = "the worker process was ended from outside"
        return Outcome(reason="engine", message=message, lasting=False, seconds=spent)
    if -code in _OUT_OF_TIME:
        message = f"compiling takes more than {limits.cpu_seconds:g} s of processor time"
        return Outcome(reason="timeout", message=message, seconds=spent)
    if -code == signal.SIGKILL:
        # It may have been meant for somebody else.
        message = "the system killed the compiler, most likely for its memory"
        return Outcome(reason="memory", message=message, lasting=False, seconds=spent)
    message = f"the compiler crashed ({_signal_name(-code)})"
    if -code == signal.SIGSEGV:
        message += f" on a stack of {limits.stack_bytes >> 10} KiB"
    return Outcome(reason="crash", message=message, seconds=spent)


def _over_memory(limits: Limits) -> str:
    return f"compiling takes more than {limits.memory_bytes / (1 << 20):g} MiB"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    if not 0 <= value <= 1e9 or not math.isfinite(value):
        raise ValueError
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    if not 0 <= value < 1 << 62:
        raise ValueError
    return value
