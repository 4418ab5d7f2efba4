"""What a rewrite is: a finding in, changes of the schema out, or the reason why there is none."""

from __future__ import annotations

from schemaguard.errors import cut
from schemaguard.fix.draft import value_at
from schemaguard.fix.result import Edit
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from schemaguard.fix.context import Contexts
    from schemaguard.fix.draft import History, Schema, Tokens

    Outcome = Iterable["Change | Refusal"]
    Rewrite = Callable[["Place"], Outcome]


class Change:
    """A schema that could stand in the place of another.

    Attributes:
        schema: the new one, of the place; or of the whole document.
        edits: what was done.
        whole: it is the whole document.
        exposes: what is inside was not looked at before by who refused the old form, so that there
            may be more findings afterwards.
        leaves_open: pointer of an object that does not say any more that other names are welcome;
            not to be done where it would be closed then.
    """

    __slots__ = ("edits", "exposes", "leaves_open", "schema", "whole")

    def __init__(
        self,
        schema: Any,
        edits: list[Edit],
        *,
        whole: bool = False,
        exposes: bool = False,
        leaves_open: str | None = None,
    ) -> None:
        self.schema = schema
        self.edits = edits
        self.whole = whole
        self.exposes = exposes
        self.leaves_open = leaves_open

    @property
    def lossy(self) -> bool:
        """Whether it drops something."""
        return any(edit.lossy for edit in self.edits)


class Refusal:
    """Why there is no change; one sentence without a full stop."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Place:
    """A finding, and the schema that it is about.

    Attributes:
        root: the document.
        tokens: where the schema stands.
        schema: the schema, an object.
        code: of the rule.
        keyword: that the finding names, or "".
        property: that the finding names, or "".
        history: of the draft.
        contexts: of the document, perhaps as it was before changes below this place.
        library: name → document that references may lead to.
    """

    __slots__ = (
        "code",
        "contexts",
        "history",
        "keyword",
        "library",
        "property",
        "root",
        "schema",
        "tokens",
    )

    def __init__(
        self,
        root: Any,
        tokens: Tokens,
        schema: Schema,
        code: str,
        keyword: str,
        property: str,  # noqa: A002  (the word for it)
        history: History,
        contexts: Contexts,
        library: Mapping[str, Any],
    ) -> None:
        self.root = root
        self.tokens = tokens
        self.schema = schema
        self.code = code
        self.keyword = keyword
        self.property = property
        self.history = history
        self.contexts = contexts
        self.library = library

    def within(self, root: Any, contexts: Contexts) -> Place:
        """The same place of a changed document."""
        return Place(
            root=root,
            tokens=self.tokens,
            schema=value_at(root, self.tokens),
            code=self.code,
            keyword=self.keyword,
            property=self.property,
            history=self.history,
            contexts=contexts,
            library=self.library,
        )

    def edit(self, what: str, *tokens: str | int, lossy: bool = False) -> Edit:
        """An edit at this place, or below it."""
        pointer = pointer_of(None, (*self.tokens, *tokens))
        return Edit(pointer, self.code, what, lossy=lossy)

    def change(self, schema: Any, what: str, *tokens: str | int, exposes: bool = False) -> Change:
        """A change that keeps the meaning."""
        return Change(schema, [self.edit(what, *tokens)], exposes=exposes)


_SHOWN = 60


def quoted(name: object) -> str:
    """A name for a message: cut, in backquotes."""
    return f"`{cut(str(name), _SHOWN)}`"


def listed(names: Iterable[str]) -> str:
    """Some names for a message."""
    found = list(names)
    shown = ", ".join(quoted(name) for name in found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return shown + more


_LISTED = 3
