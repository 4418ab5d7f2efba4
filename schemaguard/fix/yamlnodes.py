"""What stands where in a YAML text, as far as an edit needs to know: from events, iteratively."""

from __future__ import annotations

from schemaguard.sources import yamltext  # it says what to install where PyYAML is missing

import yaml  # isort: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCALAR = "scalar"
MAP = "map"
SEQUENCE = "sequence"
ALIAS = "alias"


class Node:
    """One node; offsets in code points, ends exclusive.

    Attributes:
        kind: one of the constants above.
        start, end: of its text; of a block collection, up to the end of its last member.
        flow: it is written in brackets.
        text: of a scalar, the text that it means.
        keys: of a map, the nodes of its keys.
        values: of a map or a sequence, the nodes in it.
    """

    __slots__ = ("end", "flow", "keys", "kind", "start", "text", "values")

    def __init__(self, kind: str, start: int, end: int, *, flow: bool, text: str = "") -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.flow = flow
        self.text = text
        self.keys: list[Node] = []
        self.values: list[Node] = []


def documents(text: str) -> list[Node]:
    """The root nodes of the documents of a text that was read before, so that it is well formed."""
    found: list[Node] = []
    open_: list[Node] = []
    last_end = 0
    loader = yamltext._Loader(text)  # noqa: SLF001  (of this package: events, without values)
    try:
        while (event := loader.get_event()).__class__ is not yaml.StreamEndEvent:
            kind = event.__class__
            start, end = event.start_mark.index, event.end_mark.index
            if kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
                node = open_.pop()
                node.end = max(end if node.flow else last_end, node.start)
                last_end = node.end
                _add(open_, found, node)
                continue
            made = _made(event, start, end, text)
            if made is None:
                continue
            last_end = max(last_end, made.end if made.kind in (SCALAR, ALIAS) else start)
            if made.kind in (MAP, SEQUENCE):
                open_.append(made)
            else:
                _add(open_, found, made)
    finally:
        loader.dispose()
    return found


def _made(event: Any, start: int, end: int, text: str) -> Node | None:
    kind = event.__class__
    if kind is yaml.ScalarEvent:
        if event.style in ("|", ">"):  # it ends where the next token starts
            end = start + len(text[start:end].rstrip())
        return Node(SCALAR, start, end, flow=False, text=event.value)
    if kind is yaml.AliasEvent:
        return Node(ALIAS, start, end, flow=False)
    if kind is yaml.MappingStartEvent:
        return Node(MAP, start, start, flow=bool(event.flow_style))
    if kind is yaml.SequenceStartEvent:
        return Node(SEQUENCE, start, start, flow=bool(event.flow_style))
    return None


def _add(open_: list[Node], found: list[Node], node: Node) -> None:
    if not open_:
        found.append(node)
        return
    holder = open_[-1]
    if holder.kind == MAP and len(holder.keys) == len(holder.values):
        holder.keys.append(node)
    else:
        holder.values.append(node)
