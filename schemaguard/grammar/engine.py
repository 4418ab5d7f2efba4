"""The door to xgrammar: imported on first use, its error texts made fit to be shown.

xgrammar brings torch and transformers and takes seconds to import, so nothing here imports it at
module level.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schemaguard.errors import CompileError, MissingExtra, cut, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

#: The smallest stack (bytes) of a thread that may compile what the profile `xgrammar` accepts: the
#: engine recurses along references, groups of patterns and nested data. Python's threads have
#: 8 MiB on Linux unless `threading.stack_size` says otherwise; macOS gives them 512 KiB.
MIN_STACK_BYTES = 512 * 1024

#: Seconds that the end of the interpreter waits for a call of the engine; the cost rules keep each
#: to about one.
END_SECONDS = 10.0

#: Characters of an engine's message that are kept; "..." follows what is cut.
MAX_MESSAGE_CHARS = 300

# `[17:44:17] /project/cpp/file.cc:182: ` in front of a message.
_LOCATION = re.compile(r"\[\d\d:\d\d:\d\d\] [^\s:]*:\d+: ")
# `Check failed: (a <= b) is false: ` in front of what is wrong.
_CHECK = re.compile(r"Check failed: \(.{0,200}?\) is false: ")
# What xgrammar appends to a message when it could not read the schema: the whole schema.
_DUMP = "The JSON string is:"
# What it says when a keyword has a value of the wrong type, in terms of its JSON library.
_CAST = "call is<type>() before get<type>()"
# Texts that say something about the engine's inside and nothing about the schema.
_INTERNAL = ("std::", "basic_string", "vector::")


def xgrammar() -> ModuleType:
    """The xgrammar module.

    Raises:
        MissingExtra: xgrammar, or something that it needs, cannot be imported.
    """
    try:
        import xgrammar as module  # noqa: PLC0415 - seconds to import: on first use
    except ImportError as error:
        raise MissingExtra(
            f"xgrammar cannot be imported ({one_line(str(error))}): "
            "pip install 'schemaguard-preflight[xgrammar]'"
        ) from error
    return module


def torch() -> ModuleType:
    """The torch module, which comes with xgrammar.

    Raises:
        MissingExtra: torch cannot be imported.
    """
    xgrammar()  # first, so that a missing extra is named by what one installs
    import torch as module  # noqa: PLC0415 - seconds to import: on first use

    return module


class _Calls:
    """The long calls of the engine that are under way.

    A thread that is inside one when the interpreter ends aborts the process: Python unwinds it, and
    the engine's frames do not allow that. So the end waits, and nothing new begins.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.count = 0
        self.ended = False

    def end(self) -> None:
        """Begin no more, and wait for those that have begun."""
        with self.changed:
            self.ended = True
            self.changed.wait_for(lambda: not self.count, timeout=END_SECONDS)


_calls = _Calls()


@contextmanager
def long_call() -> Iterator[None]:
    """Around a call of the engine that may take long.

    Raises:
        CompileError: reason "engine": the interpreter is ending.
    """
    calls = _calls
    with calls.changed:
        if calls.ended:
            raise CompileError("the interpreter is ending", reason="engine")
        calls.count += 1
    try:
        yield
    finally:
        with calls.changed:
            calls.count -= 1
            calls.changed.notify_all()


def _end() -> None:
    _calls.end()


def _begin_anew() -> None:
    """In a fork: the threads that were inside a call are not here."""
    global _calls  # noqa: PLW0603 - one for the process
    _calls = _Calls()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def one_line(text: str, limit: int = MAX_MESSAGE_CHARS) -> str:
    """The text as one printable line of bounded length.

    Runs of white space become one space, and what could write to a terminal or a log in the name
    of a schema (control and bidirectional characters) becomes an escape.
    """
    # Cut first, so that a message as large as its schema costs nothing.
    return cut(printable(" ".join(text[: 4 * limit].split())), limit)


def explain(error: BaseException) -> tuple[str, bool]:
    """What an error of the engine says, and whether it is about the schema.

    Returns:
        The message without source locations and without the schema, and False when the text is
        about the engine's inside (a failed allocation) rather than about the schema.
    """
    text = str(error).split(_DUMP, maxsplit=1)[0]
    message = one_line(_CHECK.sub("", _LOCATION.sub("", text)))
    if _CAST in message:
        message = "a keyword has a value of a type that the engine does not take"
    about_schema = (
        isinstance(error, RuntimeError)
        and bool(message)
        and not any(part in message for part in _INTERNAL)
    )
    return message or type(error).__name__, about_schema
