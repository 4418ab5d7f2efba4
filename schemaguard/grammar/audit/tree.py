"""The schema as a tree, in the order of its keys, with what was found at each node.

What all outputs for people are made of. Nodes come one after the other, each before what is in it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard.keywords import DATA, DEPENDENCIES, ITEMS, KEYWORDS, SCHEMA, SCHEMAS
from schemaguard.report import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult


class Node:
    """A member of the schema, down to data: what holds no schema is one node, whatever is in it.

    Attributes:
        value: the parsed JSON value.
        key: its name, or its index in a list; None for the root.
        holds: what kind of value it is, by `schemaguard.keywords`.
        pointer: JSON Pointer of it.
        level: how many values it is in.
        inside: how many nodes are directly in it; 0 for data.
        last: nothing comes after it in the value that it is in.
        rows: what was found about it. A constraint whose keyword the schema does not have (the
            engine makes a restriction of what is left out) is a row of the schema itself.
    """

    __slots__ = ("holds", "inside", "key", "last", "level", "pointer", "rows", "value")

    def __init__(
        self, value: Any, holds: str, key: str | int | None, pointer: str, level: int
    ) -> None:
        self.value = value
        self.holds = holds
        self.key = key
        self.pointer = pointer
        self.level = level
        self.inside = 0
        self.last = True
        self.rows: list[AuditedConstraint] = []

    @property
    def data(self) -> str:
        """The JSON text of its value, for a node with nothing in it."""
        return json.dumps(self.value, ensure_ascii=False)

    @property
    def is_list(self) -> bool:
        """Whether it is a list of schemas, and not a map or a schema."""
        return isinstance(self.value, list)


def nodes(schema: Any, audited: AuditResult) -> Iterator[Node]:
    """The nodes of a schema, with what was found about each.

    Args:
        schema: parsed JSON, the one that was audited.
        audited: its audit.
    """
    found: dict[str, dict[str, AuditedConstraint]] = {}
    for row in audited.constraints:
        found.setdefault(row.pointer, {})[row.keyword] = row
    stack = [Node(schema, SCHEMA, None, "", 0)]
    while stack:
        node = stack.pop()
        members = _members(node)
        if node.holds == SCHEMA:
            about = dict(found.get(node.pointer, {}))
            for member in members:
                if member.key in about:
                    member.rows.append(about.pop(str(member.key)))
            node.rows.extend(about.values())
        node.inside = len(members)
        yield node
        if members:
            for member in members[:-1]:
                member.last = False
            stack.extend(reversed(members))


def _members(node: Node) -> list[Node]:
    value, level = node.value, node.level + 1
    if isinstance(value, dict) and node.holds != DATA:
        return [
            Node(member, _holds(node, key, member), key, f"{node.pointer}/{escape(key)}", level)
            for key, member in value.items()
        ]
    if isinstance(value, list) and node.holds == SCHEMAS:
        return [
            Node(member, SCHEMA, index, f"{node.pointer}/{index}", level)
            for index, member in enumerate(value)
        ]
    return []


def _holds(node: Node, key: str, member: Any) -> str:
    """What a member of a map or of a schema holds."""
    if node.holds == SCHEMA:
        holds = KEYWORDS[key].holds if key in KEYWORDS else DATA
        if holds == ITEMS:
            return SCHEMAS if isinstance(member, list) else SCHEMA
        return holds
    is_names = node.holds == DEPENDENCIES and isinstance(member, list)
    return DATA if is_names else SCHEMA


__all__ = ["Node", "nodes"]
