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


#: What is to be done with a body, by its headers.
CHECK = "check"
PEEK = "peek"
PASS = "pass"  # noqa: S105  (to let pass)

#: Bytes that are looked through for the beginning of a body.
MAX_BLANK = 1 << 16
#: What may stand in front of an object in any encoding that a JSON reader knows by itself.
_BEFORE_OBJECT = b" \t\n\r\0\xef\xbb\xbf\xff\xfe"


def plan_of(headers: Headers, settings: Settings) -> str:
    """What to do with a body, by its headers: check it, let it through, or look how it begins.

    Frameworks read a content type in different ways, and some not at all. So each type that speaks
    of JSON is JSON here, an empty one is none, and of others it counts how the body begins.

    Raises:
        BodyError: it is neither checked nor let through.
    """
    types: list[bytes] = []
    encoded = False
    for name, value in headers:
        key = name.lower()
        if key == b"content-type":
            types.append(value.lower())
        elif key == b"content-encoding":
            encoded = encoded or value.strip().lower() not in (b"", b"identity")
    is_other = any(map(_is_said, types)) and not any(b"json" in value for value in types)
    if is_other and settings.other_types != "pass":
        raise BodyError(UNSUPPORTED_MEDIA, "not-json-type", "the content type is not JSON")
    if encoded:
        if settings.encodings == "pass":
            return PASS
        words = "compressed request bodies are not accepted; send the body as it is"
        raise BodyError(UNSUPPORTED_MEDIA, "encoded-body", words)
    return PEEK if is_other else CHECK


def _is_said(value: bytes) -> bool:
    return value.decode("latin-1").strip() != ""  # the spaces that `str` knows, as frameworks do


async def peek(receive: Receive, settings: Settings) -> tuple[bool, Receive]:
    """Whether a body begins like a JSON object, and what receives it from its first byte on.

    Raises:
        BodyError: nothing comes.
    """
    taken: list[MutableMapping[str, Any]] = []
    blank = 0
    is_object = False
    try:
        async with asyncio.timeout(settings.receive_timeout):
            more = True
            while more:
                message = await receive()
                taken.append(message)
                chunk: bytes = message.get("body", b"")
                rest = chunk.lstrip(_BEFORE_OBJECT)
                blank += len(chunk) - len(rest)
                # What is blank for so long is read as a whole, within the limits.
                is_object = rest[:1] == b"{" or blank > MAX_BLANK
                more = message.get("more_body", False) and not (rest or is_object)
    except TimeoutError:
        raise _too_slow(settings) from None
    taken.reverse()

    async def receive_again() -> MutableMapping[str, Any]:
        return taken.pop() if taken else await receive()

    return is_object, receive_again


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
        raise _too_slow(settings) from None


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


def _too_slow(settings: Settings) -> BodyError:
    words = f"the body did not arrive within {settings.receive_timeout:g} seconds"
    return BodyError(TIMED_OUT, "slow-body", words)
