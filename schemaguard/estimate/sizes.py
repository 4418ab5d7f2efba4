"""Sizes of what a grammar is made of: literals, names not to be taken, counted properties."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: Bytes of one value that are counted at the most.
MOST_TEXT = 1 << 22


def literal(value: object) -> int:
    """Bytes of a value as compact JSON text, about: of numbers the length is a guess."""
    total = 0
    stack = [value]
    while stack and total < MOST_TEXT:
        item = stack.pop()
        if isinstance(item, str):
            total += 2 + _bytes(item)
        elif item.__class__ is dict:
            total += 2 + 2 * len(item)
            stack.extend(item)
            stack.extend(item.values())
        elif item.__class__ is list:
            total += 2 + len(item)
            stack.extend(item)
        elif item.__class__ is int:
            total += 1 + int(item.bit_length() * 0.302)
        else:
            total += 4
    return total


def _bytes(text: str) -> int:
    """Bytes of a string between the quotes of JSON text; the engine escapes the slash, too."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    size += text.count('"') + text.count("\\") + text.count("/")
    if not text.isprintable():
        size += sum(1 if c in "\b\f\n\r\t" else 5 for c in text if c < " ")
    return size


def distinct_characters(members: list[Any]) -> int:
    """Characters of the members of an `enum`, beginnings that several share counted once."""
    strings = sorted({m for m in members if isinstance(m, str)})
    others = [m for m in members if not isinstance(m, str)]
    total = literal(others) if others else 0  # nothing of them is shared
    before = ""
    for text in strings:
        shared = 0
        for one, other in zip(before, text, strict=False):
            if one != other:
                break
            shared += 1
        total += _bytes(text[shared:]) + 1
        before = text
    return total


def name_tree(names: Iterable[str], known: dict[tuple[Any, ...], int]) -> int:
    """How many inner nodes the tree of some names has.

    Args:
        names: the names.
        known: node → number; filled with the nodes that are new. Equal subtrees are one node, also
            when they belong to different trees.
    """
    ordered = sorted({name.encode("utf-8", "surrogatepass") for name in names if name})
    # The path to the name before: (a name ends here, [(byte, number of the node below), …]).
    path: list[tuple[bool, list[tuple[int, int]]]] = [(False, [])]
    count = 0
    before = b""
    for name in (*ordered, b""):
        shared = 0
        while shared < min(len(before), len(name)) and before[shared] == name[shared]:
            shared += 1
        while len(path) > shared + 1:
            ends, below = path.pop()
            number = known.setdefault((ends, *below), len(known))
            count += bool(below)
            path[-1][1].append((before[len(path) - 1], number))
        path.extend((False, []) for _ in range(shared, len(name) - 1))
        if len(name) > shared:
            path.append((True, []))
        before = name
    ends, below = path[0]
    known.setdefault((ends, *below), len(known))
    return count + 1


def counted_cells(
    names: list[str], needed: frozenset[str], least: int, most: int, is_open: bool
) -> int:
    """Rules for "so many properties so far" of an object whose properties are counted.

    Args:
        names: the declared properties, in order.
        needed: those that are required.
        least: `minProperties`.
        most: `maxProperties`; -1 for none.
        is_open: other properties may follow.
    """
    count = len(names)
    low = [1] * count
    seen_needed = bool(names) and names[0] in needed
    for index in range(1, count):
        is_needed = names[index] in needed
        low[index] = low[index - 1] + is_needed if seen_needed else 1
        seen_needed = seen_needed or is_needed
    high = list(range(1, count + 1))
    low[-1] = max(1, low[-1]) if is_open else max(least, low[-1])
    if most >= 0:
        high[-1] = min(most, high[-1])
    for index in range(count - 2, -1, -1):
        low[index] = max(low[index], low[index + 1] - 1)
        if most >= 0:
            fewer = high[index + 1] - (names[index + 1] in needed)
            high[index] = min(high[index], fewer)
    cells = [max(0, top - bottom + 1) for top, bottom in zip(high, low, strict=True)]
    return sum(cells if is_open else cells[:-1])
