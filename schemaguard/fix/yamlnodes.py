"""What stands where in a YAML text, as far as an edit needs to know: from events, iteratively."""

from __future__ import annotations

from schemaguard.sources import yamltext  # it says what to install where PyYAML is missing

import yaml  # isort: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
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


def cannot_keep(text: str, span: tuple[int, int] | None) -> str:
    """What there is in a schema that edits may not keep; "" when there is nothing.

    Args:
        text: of the file, which was read before.
        span: where the schema stands; None for anywhere.
    """
    first, last = span or (0, len(text))
    seen: dict[str, None] = {}
    loader = yamltext._Loader(text)  # noqa: SLF001  (of this package: events, without values)
    try:
        while (event := loader.get_event()).__class__ is not yaml.StreamEndEvent:
            at = event.start_mark.index
            if first <= at <= last:
                seen.update(dict.fromkeys(_of_event(event, text)))
            elif getattr(event, "anchor", None):
                seen.setdefault(_ANCHOR)
    finally:
        loader.dispose()
    # An anchor may be of no matter where something else is there.
    told = [what for what in seen if what != _ANCHOR] or list(seen)
    return f": it has {' and '.join(told)}" if told else ""


_ANCHOR = "anchors (`&`), with which parts are shared"
_KEEPS = "a block of text that keeps the empty lines behind it (`|+` or `>+`)"
_EXPLICIT = "a key behind a question mark (`? key`)"


def _of_event(event: Any, text: str) -> Iterator[str]:
    if getattr(event, "anchor", None):
        yield _ANCHOR
    if event.__class__ is not yaml.ScalarEvent:
        return
    start = event.start_mark.index
    if event.style in ("|", ">") and _keeps(text, start):
        yield _KEEPS
    if start_of_key(text, start) < start:
        yield _EXPLICIT


def _keeps(text: str, start: int) -> bool:
    """Whether the line ends behind a block scalar are part of it (`|+`)."""
    return "+" in text[start : text.find("\n", start)].partition("#")[0]


def start_of_key(text: str, start: int) -> int:
    """Where a key starts: at the question mark before it (`? key`), where there is one."""
    at = start
    while at and text[at - 1] in " \t":
        at -= 1
    return at - 1 if 0 < at < start and text[at - 1] == "?" else start


def _made(event: Any, start: int, end: int, text: str) -> Node | None:
    kind = event.__class__
    if kind is yaml.ScalarEvent:
        if event.style in ("|", ">"):  # it ends where the next token starts
            whole = text[start:end]
            # Of `|+` all lines are part of it, but for the last line end another may come.
            end = start + len(
                whole.removesuffix("\n").removesuffix("\r")
                if _keeps(text, start)
                else whole.rstrip()
            )
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
