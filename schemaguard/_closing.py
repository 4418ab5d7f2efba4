"""A base for what is closed by `close` or by leaving a `with` block."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Closing:
    """A context manager of itself."""

    __slots__ = ()

    def close(self) -> None:
        """Let go of what is held. Twice is once."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
