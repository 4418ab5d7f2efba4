"""How a style writes instances, and how its texts are read back.

A text is what the engine is asked about: all that an output has from the arguments on. In plain
JSON that is the instance. In a call of a tool the rest of the call follows; the text in front of
the arguments is written before an engine is asked anything.

Writers propose, readers decide: a text writes an instance when reading it back gives the instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from schemaguard.grammar.audit import spelling
from schemaguard.grammar.audit.lexer import EnclosedLexer, Lexer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.calls import Call
    from schemaguard.grammar.audit.stepping import Stepper


class Writing(Protocol):
    """The texts of a style.

    Attributes:
        unreadable: what is wrong with a text that no reader takes.
    """

    unreadable: str

    def texts(self, value: Any, *, all_of_them: bool) -> Iterator[str]:
        """The spellings that are tried for a value, the likeliest first.

        Args:
            value: an instance.
            all_of_them: also those that engines hardly ever ask for.

        Raises:
            Unspeakable: there is none.
        """

    def variants(self, value: Any) -> Iterator[tuple[str, str]]:
        """Spellings that use one freedom each: (freedom, text)."""

    def smuggled(self, value: Any, path: tuple[Any, ...], good: Any) -> Iterator[str]:
        """Spellings that hide a member from an engine; see `spelling.smuggled`."""

    def readings(self, text: str) -> tuple[Any, ...]:
        """The values that readers of the style make of a text; none when they cannot read it."""

    def lexer(self) -> Stepper:
        """A place at the beginning of a text."""

    def witness(self, text: str) -> str:
        """The JSON text of what a text says; the text where it says nothing."""

    def inside(self, text: str) -> str:
        """The arguments of a text, as the style writes them."""

    def output(self, text: str) -> str | None:
        """The whole output with a text; None where the witness is all of it."""


class JsonWriting:
    """JSON, alone or as the arguments of a call.

    Args:
        call: around it, or None.
    """

    unreadable = "this can be written and is not JSON"

    def __init__(self, call: Call | None = None) -> None:
        self._before = call.before if call else None
        self._after = call.after if call else ""

    def texts(self, value: Any, *, all_of_them: bool) -> Iterator[str]:
        """See `Writing`."""
        for text in spelling.texts(value, all_of_them=all_of_them):
            yield text + self._after

    def variants(self, value: Any) -> Iterator[tuple[str, str]]:
        """See `Writing`."""
        for freedom, text in spelling.variants(value):
            yield freedom, text + self._after

    def smuggled(self, value: Any, path: tuple[Any, ...], good: Any) -> Iterator[str]:
        """See `Writing`."""
        for text in spelling.smuggled(value, path, good):
            yield text + self._after

    def readings(self, text: str) -> tuple[Any, ...]:
        """See `Writing`."""
        if not text.endswith(self._after):
            return ()
        try:
            return (spelling.parse(self.inside(text)),)
        except ValueError:
            return ()

    def lexer(self) -> Stepper:
        """See `Writing`."""
        return EnclosedLexer(self._after.encode()) if self._after else Lexer()

    def witness(self, text: str) -> str:
        """See `Writing`: the text itself, for how it is spelt may be the point."""
        return self.inside(text)

    def inside(self, text: str) -> str:
        """See `Writing`."""
        return text.removesuffix(self._after) if self._after else text

    def output(self, text: str) -> str | None:
        """See `Writing`."""
        return None if self._before is None else self._before + text


#: Instances as plain JSON.
PLAIN = JsonWriting()
