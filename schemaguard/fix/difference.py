"""What became of the members of a container: kept, renamed, replaced, new, or gone."""

from __future__ import annotations

from schemaguard.data import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.fix.draft import History


class Slot:
    """One member of a changed container.

    Attributes:
        old: index of the member that it was; None for a new one.
        key: its name; None in an array.
        value: its value.
        renamed: it had another name.
        kept: its value is, or was made from, the value that it had: only what differs inside is to
            be written.
    """

    __slots__ = ("kept", "key", "old", "renamed", "value")

    def __init__(
        self, old: int | None, key: str | None, value: Any, *, renamed: bool, kept: bool
    ) -> None:
        self.old = old
        self.key = key
        self.value = value
        self.renamed = renamed
        self.kept = kept


def slots(history: History, old: Any, new: Any) -> list[Slot] | None:
    """The members of a changed container, in their order.

    Args:
        history: of the draft.
        old: the container as it was.
        new: the container as it is, of the same kind.

    Returns:
        The slots, those with an `old` in the order that they had; None when members changed their
        order, so that the container is to be written anew.
    """
    found = _of_object(history, old, new) if new.__class__ is dict else _of_array(history, old, new)
    indices = [slot.old for slot in found if slot.old is not None]
    return found if indices == sorted(indices) else None


def is_kept(history: History, old: Any, new: Any) -> bool:
    """Whether a value is, or was made from, another."""
    if new is old:
        return True
    if new.__class__ is dict or new.__class__ is list:
        return new.__class__ is old.__class__ and history.origin(new) is old
    return same(old, new)


def _of_object(history: History, old: dict[str, Any], new: dict[str, Any]) -> list[Slot]:
    indices = {key: index for index, key in enumerate(old)}
    # A member that is gone may be there under another name.
    gone = {
        id(value): index
        for index, (key, value) in enumerate(old.items())
        if key not in new and value.__class__ in (dict, list)
    }
    found = []
    for key, value in new.items():
        index = indices.get(key)
        renamed = False
        if index is None and value.__class__ in (dict, list):
            index = gone.get(id(history.origin(value)))
            renamed = index is not None
        kept = renamed or (index is not None and is_kept(history, old[key], value))
        found.append(Slot(index, key, value, renamed=renamed, kept=kept))
    return found


def _of_array(history: History, old: list[Any], new: list[Any]) -> list[Slot]:
    found = []
    cursor = 0
    for value in new:
        for index in range(cursor, len(old)):
            if is_kept(history, old[index], value):
                found.append(Slot(index, None, value, renamed=False, kept=True))
                cursor = index + 1
                break
        else:
            found.append(Slot(None, None, value, renamed=False, kept=False))
    return found
