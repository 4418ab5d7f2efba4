"""The body of a request, received whole: within a size, a time, and the memory at hand."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping
    from typing import Any, Self

    from schemaguard.handlers.settings import Settings

    Headers = Iterable[tuple[bytes, bytes]]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

TIMED_OUT = 408
TOO_LARGE = 413
UNSUPPORTED_MEDIA = 415
OVERLOADED = 503

#: Seconds for which the rest of a refused body is thrown away before the connection ends.
DRAIN_SECONDS = 5.0


class BodyError(Exception):
    """A body that is not looked at.

    Attributes:
        status: HTTP status of the answer.
        code: short and constant.
        words: for the client.
    """

    def __init__(self, status: int, code: str, words: str) -> None:
        self.status = status
        self.code = code
        self.words = words
        super().__init__(words)


class ClientGoneError(Exception):
    """The client went away before its body was complete."""


class Room:
    """Memory for the bodies of all requests at one time. For one event loop.

    Args:
        size: bytes.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.used = 0

    def hold(self) -> Hold:
        """A part of the room, empty yet."""
        return Hold(self)


class Hold:
    """What one request takes of the room."""

    __slots__ = ("_room", "_taken")

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def take(self, count: int) -> None:
        """Take more of the room.

        Raises:
            BodyError: there is no more.
        """
        if self._room.used + count > self._room.size:
            words = "too many large requests at once; try again"
            raise BodyError(OVERLOADED, "out-of-room", words)
        self._room.used += count
        self._taken += count

    def release(self) -> None:
        """Give everything back."""
        self._room.used -= self._taken
        self._taken = 0


def is_checked(headers: Headers, settings: Settings) -> bool:
    """Whether a body is JSON that can be read, by its headers; False to let it through.

    Raises:
        BodyError: it is neither checked nor let through.
    """
    types: list[bytes] = []
    encoded = False
    for name, value in headers:
        key = name.lower()
        if key == b"content-type":
            types.append(value)
        elif key == b"content-encoding":
            encoded = encoded or value.strip().lower() not in (b"", b"identity")
    if types and not any(map(_is_json, types)):
        if settings.other_types == "pass":
            return False
        raise BodyError(UNSUPPORTED_MEDIA, "not-json-type", "the content type is not JSON")
    if encoded:
        if settings.encodings == "pass":
            return False
        words = "compressed request bodies are not accepted; send the body as it is"
        raise BodyError(UNSUPPORTED_MEDIA, "encoded-body", words)
    return True


def _is_json(value: bytes) -> bool:
    kind = value.split(b";", 1)[0].strip().lower()
    return kind in (b"application/json", b"text/json") or kind.endswith(b"+json")


async def read_whole(headers: Headers, receive: Receive, settings: Settings, hold: Hold) -> bytes:
    """The whole body.

    What the client says about its length can only refuse the body early; what counts is what comes.

    Raises:
        BodyError: it is too large, takes too long, or there is no room for it.
        ClientGoneError: the client went away.
    """
    limit = settings.max_body_bytes
    for name, value in headers:
        if name.lower() == b"content-length" and _exceeds(value, limit):
            raise _too_large(limit)
    try:
        async with asyncio.timeout(settings.receive_timeout):
            return await _read(receive, limit, hold)
    except TimeoutError:
        words = f"the body did not arrive within {settings.receive_timeout:g} seconds"
        raise BodyError(TIMED_OUT, "slow-body", words) from None


async def _read(receive: Receive, limit: int, hold: Hold) -> bytes:
    whole: bytes | None = None
    gathered = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        chunk: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        if len(gathered) + len(chunk) > limit:
            raise _too_large(limit)
        hold.take(len(chunk))
        if not more and not gathered:
            whole = chunk  # the usual case: nothing to copy
        else:
            gathered += chunk
    return bytes(gathered) if whole is None else bytes(whole)


async def throw_away(receive: Receive) -> None:
    """Receive what is left of a body and keep nothing of it, for a few seconds."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            more = True
            while more:
                message = await receive()
                more = message["type"] == "http.request" and message.get("more_body", False)
    except TimeoutError:
        pass


def _exceeds(value: bytes, limit: int) -> bool:
    """Whether a Content-Length is larger than a limit; a malformed one is the server's affair."""
    digits = value.strip().lstrip(b"0")
    return digits.isdigit() and (len(digits) > len(str(limit)) or int(digits) > limit)


def _too_large(limit: int) -> BodyError:
    return BodyError(TOO_LARGE, "body-too-large", f"the body has more than {limit} bytes")
