"""What `plan` says: `TagPlan`, `ToolPlan`, `Note`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen
from schemaguard.errors import MAX_FUNCTION_NAME, SchemaguardError, counted, cut, printable

if TYPE_CHECKING:
    from typing import Self

    from schemaguard.grammar.tags.policy import Policy
    from schemaguard.grammar.tokenizers import Tokenizer
    from schemaguard.report import Report

PINNED = "pinned"
RELAXED = "relaxed"
ABSENT = "absent"

# What only `plan` puts into a plan: one that was put together elsewhere has no tag to give.
_SEAL = object()


class TagRefused(SchemaguardError):  # noqa: N818 - it says what happened
    """A request that is not to be served as it is: `raise_if_refused()` of its plan.

    Attributes:
        plan: the whole `TagPlan`.
    """

    def __init__(self, plan: TagPlan) -> None:
        self.plan = plan
        super().__init__(plan.refusal)


class Note(Frozen):
    """One thing that a plan has to say.

    Attributes:
        code: kebab-case name.
        message: one sentence, printable.
        tool: name of the tool that it is about, as the request has it; None for the whole request.
        pointer: JSON Pointer, in the body, of what it is about; None where there is no such place.
    """

    __slots__ = ("code", "message", "pointer", "tool")

    code: str
    message: str
    tool: str | None
    pointer: str | None

    def __init__(
        self, code: str, message: str, tool: str | None = None, pointer: str | None = None
    ) -> None:
        self._fill(code=code, message=message, tool=tool, pointer=pointer)

    def __str__(self) -> str:
        where = f" ({printable(cut(self.pointer, 256))})" if self.pointer else ""
        return f"{self.message}{where}"


class ToolPlan(Frozen):
    """What becomes of one tool.

    Attributes:
        name: as the request has it.
        pointer: JSON Pointer, in the body, of its schema.
        state: "pinned" (its arguments follow the schema), "relaxed" (they need not; with a tag
            they are at least an object) or "absent" (it cannot be called).
        wanted: the policy wants it pinned.
        why: for a person who can change it.
        loosened: JSON Pointers, in the body, of constraints that a pinned schema is without.
        report: of the check that decided; None when no schema was checked.
    """

    __slots__ = ("loosened", "name", "pointer", "report", "state", "wanted", "why")

    name: str
    pointer: str
    state: str
    wanted: bool
    why: str
    loosened: tuple[str, ...]
    report: Report | None

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def as_wanted(self) -> bool:
        """Whether it is pinned, wholly, if the policy wants it pinned."""
        return not self.wanted or (self.state == PINNED and not self.loosened)

    def __repr__(self) -> str:
        return f"<ToolPlan {cut(self.name, MAX_FUNCTION_NAME)!r}: {self.state}, {self.why}>"


class TagPlan(Frozen):
    """What constrains the answer to a request. Only `plan` makes one.

    Attributes:
        parser: as it was given.
        style: xgrammar's name of the markup; None for a parser without a tag.
        policy: who decided.
        tools: each tool of the request, in its order.
        reason: why there is a tag, or none.
        refusal: why the request should not be served; None when it may be.
        needs_tokens: the strings of the markup that are single tokens in the family's vocabularies.
            A tokenizer that has them as special tokens must take them for text (`allow_special`);
            none may be a stop token. See `missing_tokens`.
        unenforced: what the tag does not hold the model to, though the request says it.
        warnings: what else one should know.
    """

    __slots__ = (
        "_seal",
        "_text",
        "needs_tokens",
        "parser",
        "policy",
        "reason",
        "refusal",
        "style",
        "tools",
        "unenforced",
        "warnings",
    )

    _seal: object
    _text: str | None
    parser: str
    style: str | None
    policy: Policy
    tools: tuple[ToolPlan, ...]
    reason: str
    refusal: str | None
    needs_tokens: tuple[str, ...]
    unenforced: tuple[Note, ...]
    warnings: tuple[Note, ...]

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("a TagPlan comes from schemaguard.grammar.tags.plan")

    @classmethod
    def _make(cls, *, text: str | None, **fields: object) -> Self:
        """The way in for `plan`, and for nothing else."""
        made = object.__new__(cls)
        made._fill(_seal=_SEAL, _text=text, **fields)
        return made

    @property
    def text(self) -> str | None:
        """The tag as JSON text; None when there is none.

        Raises:
            TypeError: the plan does not come from `plan`.
        """
        if getattr(self, "_seal", None) is not _SEAL:
            raise TypeError("a TagPlan comes from schemaguard.grammar.tags.plan")
        return self._text

    @property
    def tag(self) -> dict[str, Any] | None:
        """The tag as a value, a new one each time; None when there is none."""
        return None if self.text is None else json.loads(self.text)

    @property
    def ok(self) -> bool:
        """Whether the request may be served, and every tool is pinned as the policy wants it."""
        return self.refusal is None and all(tool.as_wanted for tool in self.tools)

    def raise_if_refused(self) -> None:
        """Raise `TagRefused` when the request should not be served."""
        if self.refusal is not None:
            raise TagRefused(self)

    def missing_tokens(self, tokenizer: Tokenizer) -> tuple[str, ...]:
        """Those of `needs_tokens` that are no token with this text in a tokenizer.

        A model of the family writes them as one token. Where the tokenizer does not have it, the
        masks would make the model spell it.
        """
        texts = set(map(tokenizer.token_bytes, range(tokenizer.vocab_size)))
        return tuple(name for name in self.needs_tokens if name.encode() not in texts)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a TagPlan is not pickled: send the request, and plan there")

    def __copy__(self) -> TagPlan:
        return self

    def __deepcopy__(self, _memo: object) -> TagPlan:
        return self

    def __repr__(self) -> str:
        if getattr(self, "_seal", None) is not _SEAL:
            return "<TagPlan that no plan made>"
        what = "refused" if self.refusal else "a tag" if self.text else "no tag"
        tools = counted(len(self.tools), "tool")
        return f"<TagPlan {self.parser}, {self.policy.name}: {what}, {tools}>"
