"""Schemas that cannot end, and those that no value satisfies: two least fixed points.

Every schema that the engine reads is a node. An object waits for the properties that it needs, an
array for its first items, a choice for any one of its alternatives. What ends is found from the
leaves upwards, each node once: linear in the document, and nothing recurses.

* A node that never comes to an end is a dead end of the grammar: it can be entered (an optional
  property, an alternative, an item), and from then on every way leads back to it.
* With the schemas that nothing satisfies as leaves that do not end, the same walk says whether the
  root is one of them.
"""

from __future__ import annotations

from collections import deque

from schemaguard.reads import resolve
from schemaguard.unenforced.leaves import kinds_of, winner_of
from schemaguard.unenforced.members import declared, least_items, needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from schemaguard.unenforced.facts import Facts

_EVER: dict[str, Any] = {}


class Graph:
    """The schemas that the engine reads of a document, and what each waits for.

    Attributes:
        schemas: identity → schema, in the order in which they were met.
        waits: identity → (identities of what it waits for, whether one of them is enough).
    """

    def __init__(self, root: Any, facts: Facts) -> None:
        self.root = root
        self.facts = facts
        self.schemas: dict[int, Any] = {}
        self.waits: dict[int, tuple[list[int], bool]] = {}
        waiting = deque([root])
        while waiting:
            schema = waiting.popleft()
            if schema.__class__ is not dict or id(schema) in self.schemas:
                continue
            self.schemas[id(schema)] = schema
            wanted, any_of_them, others = self._read(schema)
            self.waits[id(schema)] = ([id(part) for part in wanted], any_of_them)
            waiting.extend(wanted)
            waiting.extend(others)

    def _read(self, schema: dict[str, Any]) -> tuple[list[Any], bool, Iterable[Any]]:
        """What a schema waits for, whether any one of it will do, and what else it holds."""
        winner = winner_of(schema, self.facts)
        if winner == "$ref":
            found = resolve(self.root, schema["$ref"])
            return ([found[0]] if found is not None else []), False, ()
        if winner in ("anyOf", "oneOf"):
            return _schemas(schema[winner]), True, ()
        if winner == "allOf" and len(schema["allOf"]) == 1:
            return _schemas(schema["allOf"]), False, ()
        if winner is not None:
            return [], False, ()
        kinds = kinds_of(schema)
        wanted: list[Any] = []
        others: list[Any] = []
        if "object" in kinds:
            names = declared(schema)
            if kinds == {"object"}:
                wanted = [names[name] for name in needed(schema)]
            others.extend(names.values())
            others.append(schema.get("additionalProperties", schema.get("unevaluatedProperties")))
            named = schema.get("patternProperties")
            others.extend(named.values() if named.__class__ is dict else ())
        if "array" in kinds:
            prefix = schema.get("prefixItems")
            prefix = prefix if prefix.__class__ is list else []
            items = schema.get("items", schema.get("unevaluatedItems"))
            least = least_items(schema)
            if kinds == {"array"} and least:
                wanted = prefix[: int(least)] + ([items] if least > len(prefix) else [])
            others += [*prefix, items]
        return _schemas(wanted), False, others

    def endless(self) -> list[int]:
        """A schema with a reference for each circle of schemas that wait for each other."""
        unending = self.unending()
        return [
            next((node for node in circle if "$ref" in self.schemas[node]), circle[0])
            for circle in (self.circles(unending) if unending else ())
        ]

    def unending(self, impossible: frozenset[int] = frozenset()) -> set[int]:
        """The nodes that do not come to an end.

        Args:
            impossible: nodes that are taken to have none.
        """
        left: dict[int, int] = {}
        dependants: dict[int, list[int]] = {}
        done: set[int] = set()
        ready: deque[int] = deque()
        for node, (parts, any_of_them) in self.waits.items():
            if node in impossible:
                continue
            left[node] = min(1, len(parts)) if any_of_them else len(parts)
            for part in parts:
                dependants.setdefault(part, []).append(node)
            if not parts:
                ready.append(node)
        while ready:
            node = ready.popleft()
            if node in done:
                continue
            done.add(node)
            for dependant in dependants.get(node, ()):
                if dependant in left and dependant not in done:
                    left[dependant] -= 1
                    if left[dependant] <= 0:
                        ready.append(dependant)
        return self.waits.keys() - done

    def circles(self, unending: set[int]) -> Iterator[list[int]]:
        """For the nodes that do not end: the circles that they wait in, each once."""
        settled: set[int] = set()
        for first in self.waits:
            path: list[int] = []
            at: dict[int, int] = {}
            node: int | None = first
            while node is not None and node in unending and node not in settled:
                if node in at:
                    yield path[at[node] :]
                    break
                at[node] = len(path)
                path.append(node)
                parts = self.waits[node][0]
                node = next((part for part in parts if part in unending), None)
            settled.update(path)

    def causes(self, impossible: frozenset[int]) -> set[int]:
        """Which impossible nodes keep the root from ending."""
        unending = self.unending(impossible) if impossible else set()
        found: set[int] = set()
        waiting = [id(self.root)]
        seen: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node in seen or node not in unending:
                continue
            seen.add(node)
            if node in impossible:
                found.add(node)
            else:
                waiting.extend(self.waits[node][0])
        return found


def _schemas(members: Iterable[Any]) -> list[Any]:
    """Schemas that are objects; all others are there, too, as ones that always end."""
    return [member if member.__class__ is dict else _EVER for member in members]
