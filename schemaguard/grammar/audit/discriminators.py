"""Which of many alternatives an instance may be for, told by one look at one of its members.

Hundreds of alternatives are nearly always told apart by a constant. Where many of them are objects
with constant texts under one name, they are looked up by the text; all others are asked as ever.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Alternatives that are worth an index.
LEAST = 8


class Discriminator:
    """An index of alternatives, made before a keyword of them is taken out.

    Args:
        branches: the alternatives.
        target: the schema that a local reference leads to, or None.
        constants: whether the draft has `const`.
    """

    __slots__ = ("_by_text", "_name", "_others", "_relied", "_without")

    def __init__(
        self, branches: list[Any], target: Callable[[Any], Any], *, constants: bool
    ) -> None:
        rows: list[tuple[int, dict[str, Any], dict[str, dict[str, Any]]]] = []
        for index, branch in enumerate(branches):
            if isinstance(branch, dict) and "$ref" in branch:
                branch = target(branch["$ref"])  # noqa: PLW2901 - which has to hold, too
            if isinstance(branch, dict) and "$ref" not in branch and branch.get("type") == "object":
                rows.append((index, branch, dict(_constant(branch, constants=constants))))
        counts = Counter(name for _, _, held in rows for name in held)
        #: The name that tells most of them apart; None where too few are.
        self._name = max(counts, key=lambda name: counts[name], default=None)
        if self._name is not None and counts[self._name] < LEAST:
            self._name = None
        self._by_text: dict[str, list[int]] = {}
        self._without: list[int] = []
        #: Identity of a schema whose keywords an entry goes by → alternatives.
        self._relied: dict[int, list[int]] = {}
        indexed = set()
        for index, branch, held in rows if self._name is not None else ():
            if self._name not in held:
                continue
            indexed.add(index)
            for text in _texts(held[self._name]):
                self._by_text.setdefault(text, []).append(index)
            required = branch.get("required")
            if not isinstance(required, list) or self._name not in required:
                self._without.append(index)
            for part in (branch, branch["properties"], held[self._name]):
                self._relied.setdefault(id(part), []).append(index)
        self._others = [index for index in range(len(branches)) if index not in indexed]

    def candidates(self, instance: Any, changed: int | None) -> Iterable[int]:
        """The alternatives that may hold, in their order.

        Args:
            instance: an instance.
            changed: the identity of a schema of which a keyword was taken out since.
        """
        found: list[int] = []
        if self._name is not None and isinstance(instance, dict):
            if self._name not in instance:
                found = self._without
            elif isinstance(instance[self._name], str):
                found = self._by_text.get(instance[self._name], [])
        again = [] if changed is None else self._relied.get(changed, [])
        if not found and not again:
            return self._others
        return sorted({*self._others, *found, *again})


def _constant(branch: dict[str, Any], *, constants: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    properties = branch.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        if isinstance(schema, dict) and "$ref" not in schema:
            texts = _texts(schema) if constants or "const" not in schema else []
            if texts and all(isinstance(text, str) for text in texts):
                yield name, schema


def _texts(schema: dict[str, Any]) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else []
