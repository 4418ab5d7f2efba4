"""Tools that are written in Python: `path.py:object` and `package.module:object`.

The object is a pydantic model or `TypeAdapter`; a dataclass, a `TypedDict` or a function with type
hints, all by way of pydantic; a dict; or a list of these. To have it, the module is imported, which
runs it: in a process of its own, which is ended after a while, and which may do to itself what it
likes. It is the user's code and is not kept from doing harm.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile

from schemaguard.document import DEFAULT_LIMITS, Limits, read
from schemaguard.sources import process
from schemaguard.sources.base import SourceError, ValueSource

#: Seconds that an import may take: pydantic and what comes with it, from a cold disk.
TIMEOUT = 60.0

_target = re.compile(
    r"(?:.+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*(?:\.[^\W\d]\w*)*"
).fullmatch


def is_target(text: str) -> bool:
    """Whether a command line argument names a Python object."""
    return _target(text) is not None


def load(
    target: str,
    *,
    timeout: float = TIMEOUT,
    python: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ValueSource:
    """Import a module in another process and get the tools that an object stands for.

    Args:
        target: `path.py:object` or `package.module:object`; dots in the object lead into it.
            Modules are looked for in the current folder first.
        timeout: seconds until the process is ended.
        python: the interpreter; this one when None.
        limits: hard stops for what comes back.

    Returns:
        A source with the target for a path; a function is an MCP tool in it, all other a schema.

    Raises:
        SourceError: the import failed or did not end, or the object has no schema.
        ValueError: the target is none.
    """
    if not is_target(target):
        raise ValueError("a Python object is named path.py:object or package.module:object")
    where, _, name = target.rpartition(":")
    if where.endswith(".py") and not os.path.isfile(where):
        raise SourceError(f"{target}: there is no file {where}")
    script = os.path.join(os.path.dirname(__file__), "evaluate.py")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="schemaguard-") as folder:
        answer = os.path.join(folder, "answer")
        # -P: the folder of the script must not be searched for modules.
        command = [python or sys.executable, "-P", script, answer, where, name]
        try:
            status = process.run(command, timeout=timeout, env=environment)
        except OSError as error:
            raise SourceError(f"{target}: {command[0]}: {error.strerror}") from None
        if status is None:
            raise SourceError(f"{target}: the import did not end within {timeout:g} s")
        text = _answer(answer, limits)
    if text is None:
        raise SourceError(f"{target}: Python {_ending(status)} before it had an answer")
    document = read(text, limits)
    if not document.readable or document.value.__class__ is not dict:
        fault = document.faults[0] if document.faults else None
        why = f"{fault.name}: {fault.detail}" if fault else "it is no answer"
        raise SourceError(f"{target}: its schema is no JSON that can be checked ({why})")
    if "error" in document.value:
        raise SourceError(f"{target}: {document.value['error']}")
    return ValueSource(target, "python", document.value.get("value"))


def _answer(path: str, limits: Limits) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(limits.max_bytes + 1)
    except OSError:
        return None


def _ending(status: int) -> str:
    return f"was ended by signal {-status}" if status < 0 else f"exited with status {status}"


__all__ = ["TIMEOUT", "is_target", "load"]
