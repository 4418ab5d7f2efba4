"""The error of a row that allows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.errors import SchemaguardError, cut, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

# Characters of a request's name in the message.
_MOST_NAME = 100


class DeadEnd(SchemaguardError):  # noqa: N818 - it names a state, not a mistake of the caller
    """No token can follow in a row: neither part of an instance nor a stop token.

    A mask without any bit would turn a row of logits into minus infinity and the sample into NaN.
    It is raised when all rows that were asked for are filled; those at a dead end now allow the
    stop tokens alone, so the step may go on for the others.

    Attributes:
        row: the first such row of the batch.
        request: what its matcher is called, see `CompiledSchema.matcher`; None without a name.
        rows: all such rows, ascending.
        requests: their names.
    """

    def __init__(self, ends: Mapping[int, str | None]) -> None:
        self.rows = tuple(sorted(ends))
        self.requests = tuple(ends[row] for row in self.rows)
        self.row = self.rows[0]
        self.request = self.requests[0]
        where = f"row {self.row}"
        if self.request is not None:
            where += f" (request {printable(cut(self.request, _MOST_NAME))})"
        if len(self.rows) > 1:
            where += f" and {len(self.rows) - 1} more"
        super().__init__(f"{where}: no token can follow, the grammar is at a dead end")

    def __reduce__(self) -> tuple[Any, ...]:
        # Engines pass errors between processes.
        return type(self), (dict(zip(self.rows, self.requests, strict=True)),)
