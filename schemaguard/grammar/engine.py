"""The door to xgrammar: imported on first use, its error texts made fit to be shown.

xgrammar brings torch and transformers and takes seconds to import, so nothing here imports it at
module level.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schemaguard.errors import MissingExtra, cut, printable

if TYPE_CHECKING:
    from types import ModuleType

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
