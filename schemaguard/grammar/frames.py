"""Messages between a caller and its workers: a length and JSON, over a socket.

JSON because a worker reads what strangers wrote and may have lost its mind: nothing that it sends
can be more than data, and no message is larger than `MAX_FRAME`.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

#: Largest message in bytes; a vocabulary of four million tokens fits.
MAX_FRAME = 256 * 1024 * 1024

#: The caller may have kept the default of SIGPIPE, which would end it when a worker is gone.
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)

_HEAD = struct.Struct("<I")


class Gone(Exception):  # noqa: N818 - it names a state
    """The other end is closed, or what it sent is no message."""


class Late(Exception):  # noqa: N818 - it names a state
    """The other end did not answer in time."""


def send(
    end: socket.socket, message: Any, raw: bytes = b"", *, seconds: float | None = None
) -> None:
    """Send a value that JSON can say, followed by bytes.

    Raises:
        Gone: the other end is closed.
        Late: it did not read all of it within `seconds`.
    """
    # Half a surrogate pair is data too: escaped, it survives.
    text = json.dumps(message).encode("ascii")
    began = time.monotonic()
    end.settimeout(seconds)
    try:
        end.sendall(_HEAD.pack(len(text)) + _HEAD.pack(len(raw)) + text + raw, NO_SIGNAL)
    except TimeoutError as error:
        _check_ours(None if seconds is None else began + seconds)
        raise Late from error
    except OSError as error:
        raise Gone from error


def receive(end: socket.socket, *, seconds: float | None = None) -> tuple[Any, bytes]:
    """The next message: its value and the bytes that follow.

    Args:
        end: a stream socket.
        seconds: how long the whole message may take; None waits for ever.

    Raises:
        Gone: the other end is closed, or sent what is no message.
        Late: the time is over.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    head = _exactly(end, 2 * _HEAD.size, deadline)
    length, extra = (_HEAD.unpack_from(head, at)[0] for at in (0, _HEAD.size))
    if length + extra > MAX_FRAME:
        raise Gone
    text = _exactly(end, length, deadline)
    raw = _exactly(end, extra, deadline)
    try:
        return json.loads(text), raw
    except (ValueError, RecursionError) as error:
        raise Gone from error


def _check_ours(deadline: float | None) -> None:
    """In a handler of TimeoutError: raise it again when the time is not up.

    Then it is from somebody else, a signal handler of the caller.
    """
    if deadline is None or time.monotonic() < deadline - 0.01:
        raise  # noqa: PLE0704 - called where one is being handled


def _exactly(end: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = []
    while size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late
            end.settimeout(left)
        else:
            end.settimeout(None)
        try:
            part = end.recv(min(size, 1 << 20))
        except TimeoutError as error:
            _check_ours(deadline)
            raise Late from error
        except OSError as error:
            raise Gone from error
        if not part:
            raise Gone
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
