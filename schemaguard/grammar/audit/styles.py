"""The styles in which instances are written: see `writing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import calls, marking, spelling, unmarking
from schemaguard.grammar.audit.declared import Declared
from schemaguard.grammar.audit.gemma_lexer import GemmaLexer
from schemaguard.grammar.audit.markup_lexer import MarkupLexer
from schemaguard.grammar.audit.writing import PLAIN, JsonWriting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.calls import Call
    from schemaguard.grammar.audit.stepping import Stepper
    from schemaguard.grammar.audit.writing import Writing


def writing_of(call: Call | None, root: Any) -> Writing:
    """How instances are written in a call.

    Args:
        call: None for plain JSON.
        root: the schema, which is also what a tool declares for its parameters.
    """
    if call is None:
        return PLAIN
    return JsonWriting(call) if call.content == calls.JSON else MarkupWriting(call, root)


class MarkupWriting:
    """Arguments as markup; see `Writing`.

    Args:
        call: around them.
        root: what the tool declares.
    """

    def __init__(self, call: Call, root: Any) -> None:
        self._call = call
        self._declared = Declared(root, [root])
        self._names: frozenset[bytes] | None = None
        self.unreadable = f"this can be written, and a parser of {call.style} cannot read it"

    def texts(self, value: Any, *, all_of_them: bool) -> Iterator[str]:
        """See `Writing`."""
        members = self._members(value)
        yield self._text(members, spelling.compact)
        yield self._text(members, spelling.compact, tight=True)
        for dumps in spelling.writers(members, all_of_them=all_of_them):
            yield self._text(members, dumps)

    def variants(self, value: Any) -> Iterator[tuple[str, str]]:
        """See `Writing`."""
        try:
            members = self._members(value)
            plain = self._text(members, spelling.compact)
            made = [
                (spelling.KEY_ORDER, self._text(members, spelling.compact, backwards=True)),
                *(
                    (freedom, self._text(members, dumps))
                    for freedom, dumps in spelling.FREE_WRITERS
                ),
                (spelling.WHITE_SPACE, self._text(members, spelling.compact, tight=True)),
            ]
        except spelling.Unspeakable:
            return
        for freedom, text in made:
            if text != plain:
                yield freedom, text

    def smuggled(self, value: Any, path: tuple[Any, ...], good: Any) -> Iterator[str]:
        """See `Writing`: a parameter twice, the good value first, or a name hidden in JSON."""
        names = [index for index, key in enumerate(path) if isinstance(key, str)]
        if not isinstance(value, dict) or not names or not isinstance(path[0], str):
            return
        try:
            if names[-1] == 0:
                members = [(name, member) for name, member in value.items() if name != path[0]]
                first, last = (path[0], good), (path[0], value[path[0]])
                for order in ([first, *members, last], [*members, first, last]):
                    yield self._joined(order)
            elif self._call.content in _FLAT:
                for text in spelling.smuggled(value[path[0]], path[1:], good):
                    dumps = _once(value[path[0]], text)
                    yield self._text(value, dumps)
        except spelling.Unspeakable:
            return

    def readings(self, text: str) -> tuple[Any, ...]:
        """See `Writing`."""
        if not text.endswith(self._call.after):
            return ()
        return unmarking.readings(self._call.content, self.inside(text), self._declared)

    def lexer(self) -> Stepper:
        """See `Writing`."""
        if self._names is None:
            self._names = frozenset(
                name.encode("utf-8", "replace") for name in self._declared.names()
            )
        if self._call.content == calls.GEMMA:
            return GemmaLexer(self._names)
        return MarkupLexer(self._call.content, self._call.after, self._names)

    def witness(self, text: str) -> str:
        """See `Writing`."""
        found = self.readings(text)
        try:
            return spelling.compact(found[0]) if found else text
        except spelling.Unspeakable:
            return text

    def inside(self, text: str) -> str:
        """See `Writing`."""
        return text.removesuffix(self._call.after)

    def output(self, text: str) -> str | None:
        """See `Writing`."""
        return self._call.before + text

    def _members(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise spelling.Unspeakable  # arguments have names
        spelling.compact(value)  # which has no end in half a surrogate pair, or too deep
        return value

    def _text(
        self,
        members: dict[str, Any],
        dumps: marking.Dumps,
        *,
        tight: bool = False,
        backwards: bool = False,
    ) -> str:
        text = marking.arguments(
            self._call.content, members, self._declared, dumps, tight=tight, backwards=backwards
        )
        return text + self._call.after

    def _joined(self, members: list[tuple[str, Any]]) -> str:
        content = self._call.content
        written = marking.elements(content, members, self._declared, spelling.compact)
        return marking.joined(content, written) + self._call.after


_FLAT = frozenset({calls.QWEN, calls.MINIMAX, calls.DSML, calls.DSML_GAP, calls.GLM, calls.KIMI_K3})


def _once(value: Any, text: str) -> marking.Dumps:
    """JSON as it is, but for one value."""
    return lambda other: text if other is value else spelling.compact(other)
