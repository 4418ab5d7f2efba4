"""What `to_profile` says: `FixResult`, `Edit`, `Remaining`."""

from __future__ import annotations

from schemaguard._frozen import Frozen
from schemaguard.errors import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SHOWN = 80


class Edit(Frozen):
    """One change of a schema.

    Attributes:
        pointer: JSON Pointer (RFC 6901) into the schema as it was when the change was made.
        code: of the rule whose finding it answers.
        what: what is done, as one tells somebody to do it: "require `days`", which is right before
            it is done and after; without a full stop. Names in it are as the schema has them, cut.
        lossy: it drops something that the schema said.
    """

    __slots__ = ("code", "lossy", "pointer", "what")

    pointer: str
    code: str
    what: str
    lossy: bool

    def __init__(self, pointer: str, code: str, what: str, *, lossy: bool = False) -> None:
        self._fill(pointer=pointer, code=code, what=what, lossy=lossy)

    def __repr__(self) -> str:
        return f"<Edit {self.code} at {cut(self.pointer, _SHOWN)!r}: {cut(self.what, _SHOWN)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _edit, (self.pointer, self.code, self.what, self.lossy)


def _edit(pointer: str, code: str, what: str, lossy: bool) -> Edit:
    return Edit(pointer, code, what, lossy=lossy)


class Remaining(Frozen):
    """One error that is left.

    Attributes:
        profile: dated name of the profile that has it.
        code: of the rule.
        pointer: JSON Pointer into the fixed schema.
        message: what the rule says.
        reason: why it was not fixed; one sentence without a full stop.
        needs_lossy: a lossy step would fix it.
    """

    __slots__ = ("code", "message", "needs_lossy", "pointer", "profile", "reason")

    profile: str
    code: str
    pointer: str
    message: str
    reason: str
    needs_lossy: bool

    def __init__(
        self,
        profile: str,
        code: str,
        pointer: str,
        message: str,
        reason: str,
        needs_lossy: bool = False,
    ) -> None:
        self._fill(
            profile=profile,
            code=code,
            pointer=pointer,
            message=message,
            reason=reason,
            needs_lossy=needs_lossy,
        )

    def __repr__(self) -> str:
        where = cut(self.pointer, _SHOWN)
        return f"<Remaining {self.code} at {where!r}: {cut(self.reason, _SHOWN)}>"


class FixResult(Frozen):
    """A schema that was fixed as far as it can be.

    Attributes:
        schema: the fixed schema; a copy, whose members are in the order of the original.
        edits: the changes that keep the meaning, in the order in which they were made.
        lossy: the changes that drop something; empty unless they were asked for.
        remaining: the errors that are left, with the reason.
        optional: JSON Pointer of an object schema in `schema` → its properties that had been
            optional, could not be null, and are null now where they had been absent.
    """

    __slots__ = ("edits", "lossy", "optional", "remaining", "schema")

    schema: Any
    edits: tuple[Edit, ...]
    lossy: tuple[Edit, ...]
    remaining: tuple[Remaining, ...]
    optional: Mapping[str, tuple[str, ...]]

    def __init__(
        self,
        schema: Any,
        edits: tuple[Edit, ...] = (),
        lossy: tuple[Edit, ...] = (),
        remaining: tuple[Remaining, ...] = (),
        optional: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._fill(
            schema=schema, edits=edits, lossy=lossy, remaining=remaining, optional=optional or {}
        )

    __hash__ = None  # type: ignore[assignment]  # it holds a schema, which has none

    @property
    def ok(self) -> bool:
        """Whether every profile accepts the fixed schema."""
        return not self.remaining

    @property
    def changed(self) -> bool:
        """Whether anything was changed."""
        return bool(self.edits or self.lossy)

    def adapt_arguments(self, arguments: Any) -> dict[str, Any]:
        """What the tool expects, of what a model sends for the fixed schema.

        Nulls of properties that had been optional are left out, at every depth. A null that the
        tool's own schema allows stays: the tool may tell it from an absent one.

        Args:
            arguments: those of one call: the text of a JSON object (`str` or `bytes`), as APIs
                deliver it, or the parsed object, which is not changed.

        Returns:
            Arguments for the original schema: a dict, and a copy. Where they do not keep to the
            fixed schema, so that it cannot be told what a null stands for, nulls stay.

        Raises:
            ValueError: they are no JSON object, or no text of one; or they nest too deep, or are
                too large, to be arguments.
        """
        from schemaguard.fix.adapt import adapted  # noqa: PLC0415  (few results are used so)

        return adapted(self.schema, self.optional, arguments)

    def __repr__(self) -> str:
        return (
            f"<FixResult: {len(self.edits)} edits, {len(self.lossy)} lossy, "
            f"{len(self.remaining)} remaining>"
        )
