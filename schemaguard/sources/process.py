"""Child processes that cannot outlive whoever started them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: For `Popen`: the child leads a group of its own, so that what it starts can be ended with it.
OWN_GROUP: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}

#: Seconds that the system may take to bury a child that was killed.
_BURIAL = 5.0


def kill(pid: int) -> None:
    """Kill a child that was started with `OWN_GROUP`, and what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)


def run(command: list[str], *, timeout: float, env: dict[str, str]) -> int | None:
    """Run a command without input and output; its exit status, or None when time was up.

    Whatever it has started in its own group has ended, too, when this returns or raises.

    Raises:
        OSError: it cannot be started.
    """
    child = subprocess.Popen(  # noqa: S603  (no shell)
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=env,
        **OWN_GROUP,
    )
    try:
        return child.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        kill(child.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_BURIAL)
