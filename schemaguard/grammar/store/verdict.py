"""What a trial compilation came to, and its few bytes in a store.

::

    version  code  seconds  peak_bytes  bytes  lengths of the texts  message  pointer  tag
    1        1     8        8           8      2 + 2                 UTF-8    UTF-8    16 bytes

The tag is a keyed hash over the key of the entry and all bytes before it. So a damaged entry, one
of another version and one that was copied under another key are all the same: not there.
"""

from __future__ import annotations

import builtins
import hashlib
import hmac
import math
import struct

from schemaguard._frozen import Frozen
from schemaguard.errors import cut, printable

#: The version of the encoding; entries of any other are misses.
VERSION = 1

#: Length of a key, a SHA-256 digest.
KEY_BYTES = 32

#: Why a schema is refused: by the engine, by a cost rule, or for what its trial did.
REASONS = ("unsupported", "cost", "timeout", "memory", "crash")

#: Longest message, in code points ("..." follows what is cut).
MAX_MESSAGE_CHARS = 300

#: Longest pointer, in bytes of UTF-8. A longer one is left out: half a pointer points elsewhere.
MAX_POINTER_BYTES = 1024

_HEAD = struct.Struct("<BBdQQHH")
_TAG_BYTES = 16
_CODES = (None, *REASONS)
_NO_POINTER = 0xFFFF
_MOST = (1 << 63) - 1

#: Longest encoding, in bytes: a code point takes four at the most.
MAX_BYTES = _HEAD.size + 4 * (MAX_MESSAGE_CHARS + 3) + MAX_POINTER_BYTES + _TAG_BYTES


class Verdict(Frozen):
    """Whether a schema compiles, and what finding that out cost.

    Attributes:
        outcome: "compiles" or "refused".
        reason: None when it compiles, else one of `REASONS`.
        message: one printable line, "" when there is nothing to say.
        pointer: JSON Pointer (RFC 6901) into the schema, where it is known, else None.
        seconds: wall time of compiling.
        peak_bytes: the most memory that compiling took.
        bytes: size of the grammar in memory.

    Raises:
        ValueError: outcome and reason do not go together, or a number is out of its range.
        TypeError: an argument is of another type.
    """

    __slots__ = ("bytes", "message", "outcome", "peak_bytes", "pointer", "reason", "seconds")

    outcome: str
    reason: str | None
    message: str
    pointer: str | None
    seconds: float
    peak_bytes: int
    bytes: int

    def __init__(
        self,
        outcome: str,
        *,
        reason: str | None = None,
        message: str = "",
        pointer: str | None = None,
        seconds: float = 0.0,
        peak_bytes: int = 0,
        bytes: int = 0,  # noqa: A002 - the unit is the name
    ) -> None:
        if reason not in _CODES or outcome != ("compiles" if reason is None else "refused"):
            raise ValueError(f"no verdict: outcome {outcome!r} with reason {reason!r}")
        if not (math.isfinite(seconds) and seconds >= 0):
            raise ValueError(f"seconds must be a finite number from 0, not {seconds!r}")
        for name, value in (("peak_bytes", peak_bytes), ("bytes", bytes)):
            if not 0 <= value <= _MOST:
                raise ValueError(f"{name} must be in 0..2**63 - 1, not {value!r}")
        if pointer is not None and len(_encoded(pointer)) > MAX_POINTER_BYTES:
            pointer = None
        self._fill(
            outcome=outcome,
            reason=reason,
            # Cut before it is escaped, too, so that a message as large as its schema costs nothing.
            message=cut(printable(message[: 2 * MAX_MESSAGE_CHARS]), MAX_MESSAGE_CHARS),
            pointer=pointer,
            seconds=float(seconds),
            peak_bytes=int(peak_bytes),
            bytes=int(bytes),
        )

    @property
    def compiles(self) -> bool:
        """Whether the schema compiles."""
        return self.reason is None

    def to_bytes(self, key: builtins.bytes, secret: builtins.bytes = b"") -> builtins.bytes:
        """The entry for a store.

        Args:
            key: under which it is kept; the entry is good under no other.
            secret: with one, only who knows it can make an entry.
        """
        message = self.message.encode()
        pointer = b"" if self.pointer is None else _encoded(self.pointer)
        head = _HEAD.pack(
            VERSION,
            _CODES.index(self.reason),
            self.seconds,
            self.peak_bytes,
            self.bytes,
            len(message),
            _NO_POINTER if self.pointer is None else len(pointer),
        )
        body = head + message + pointer
        return body + _tag(key, body, secret)

    @classmethod
    def from_bytes(
        cls, data: object, key: builtins.bytes, secret: builtins.bytes = b""
    ) -> Verdict | None:
        """The verdict of an entry; None for anything that `to_bytes` did not make for this key."""
        if (
            not isinstance(data, builtins.bytes)
            or not _HEAD.size + _TAG_BYTES <= len(data) <= MAX_BYTES
        ):
            return None
        body, tag = data[:-_TAG_BYTES], data[-_TAG_BYTES:]
        if body[0] != VERSION or not hmac.compare_digest(tag, _tag(key, body, secret)):
            return None
        # Without a secret anybody can make a good tag, so what it covers is not trusted either.
        try:
            return cls._decoded(body)
        except (ValueError, IndexError):
            return None

    @classmethod
    def _decoded(cls, body: builtins.bytes) -> Verdict | None:
        _, code, seconds, peak_bytes, size, message_end, pointer_size = _HEAD.unpack_from(body)
        message_end += _HEAD.size
        pointer = None if pointer_size == _NO_POINTER else body[message_end:]
        if message_end + (0 if pointer is None else pointer_size) != len(body):
            return None
        message = body[_HEAD.size : message_end].decode()
        if not message.isprintable():
            return None
        reason = _CODES[code]
        return cls(
            "compiles" if reason is None else "refused",
            reason=reason,
            message=message,
            pointer=None if pointer is None else pointer.decode("utf-8", "surrogatepass"),
            seconds=seconds,
            peak_bytes=peak_bytes,
            bytes=size,
        )


def _encoded(pointer: str) -> bytes:
    """A pointer names what a schema has, half surrogate pairs too."""
    return pointer.encode("utf-8", "surrogatepass")


def _tag(key: bytes, body: bytes, secret: bytes) -> bytes:
    # BLAKE2b with a key is a MAC of its own (RFC 7693); its key has at most 64 bytes.
    kept = hashlib.sha256(secret).digest() if secret else b""
    made = hashlib.blake2b(key, digest_size=_TAG_BYTES, key=kept, person=b"schemaguard")
    made.update(body)
    return made.digest()
