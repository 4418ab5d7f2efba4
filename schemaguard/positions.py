r"""Where the values of a JSON text are: spans by pointer, lines and columns by offset.

Positions are worked out only when someone asks, from the text alone. One scan serves any number of
pointers: they become a trie, the scan reads names only where the trie branches, and the C scanner
of `json` leaps over every value that the trie does not enter. The whole costs about as much as
parsing the text once.

A line ends at "\n" and nowhere else; in "\r\n" the "\r" is the last column of its line. That is
how git, grep, compilers, CI annotations and Python's own `json.JSONDecodeError` count. A lone "\r"
ends no line: editors disagree about it, and no tool has written such files for decades.
"""

from __future__ import annotations

import re
from itertools import count
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]  # missing in stubs

TYPE_CHECKING = False  # as in typing, without the time that importing typing takes
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Span = tuple[int, int]

__all__ = ["Lines", "skip", "spans"]

_BLOCK = 4_096  # code points between two entries of the line table

# Matches everywhere.
_blank: Callable[[str, int], re.Match[str]] = re.compile(r"[ \t\n\r]*").match  # type: ignore[assignment]
_comma: Callable[[str, int], re.Match[str]] = re.compile(r"[ \t\n\r]*,?[ \t\n\r]*").match  # type: ignore[assignment]
_colon: Callable[[str, int], re.Match[str]] = re.compile(r"[ \t\n\r]*:?[ \t\n\r]*").match  # type: ignore[assignment]
_scalar: Callable[[str, int], re.Match[str]] = re.compile(r"[^ \t\n\r,\]}]*").match  # type: ignore[assignment]
_structure = re.compile(r'["\[\]{}]').search
_bad_escape = re.compile(r"~(?![01])").search

# The C scanner with every value made as cheap as it gets: `len` of a literal or of a list of
# members is a small integer, costs no conversion, and knows no limit on digits.
_scan_over = JSONDecoder(
    object_pairs_hook=len, parse_float=len, parse_int=len, parse_constant=len
).scan_once  # type: ignore[attr-defined]  # missing in the stubs


class Lines:
    """Line and column of offsets in one text.

    Keeps two numbers for every 4,096 code points, so that a text of nothing but line ends costs no
    more memory than any other, and a lookup reads at most one block.
    """

    __slots__ = ("_before", "_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._before: list[int] = []  # line ends before each block
        self._starts: list[int] = []  # where the line that enters each block starts
        ends = start = 0
        for block in range(0, len(text) + 1, _BLOCK):
            self._before.append(ends)
            self._starts.append(start)
            ends += text.count("\n", block, block + _BLOCK)
            start = text.rfind("\n", block, block + _BLOCK) + 1 or start

    def locate(self, offset: int) -> tuple[int, int] | None:
        """Return the line and column of an offset, both from 1, columns in code points.

        The offset just past the text has a place too; any other outside it has none.
        """
        if not 0 <= offset <= len(self._text):
            return None
        number, within = divmod(offset, _BLOCK)
        block = offset - within
        line = self._before[number] + self._text.count("\n", block, offset) + 1
        start = self._text.rfind("\n", block, offset) + 1 or self._starts[number]
        return line, offset - start + 1


class _Node:
    """A place that some pointer names or passes through.

    A name given twice is entered twice and the last one counts, so what an earlier visit found
    below it has to be forgotten. Nothing is erased for that: each entry has a number, and what a
    node found counts only if `outer` is the number of its parent's last entry.
    """

    __slots__ = ("children", "end", "exists", "name_end", "name_start", "outer", "start", "visit")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.visit = 0
        self.outer = -1
        self.exists = False
        self.start = self.end = self.name_start = self.name_end = -1


def spans(
    text: str, pointers: Iterable[str], *, shallow: bool
) -> dict[str, tuple[Span, Span] | None]:
    """Find the values that JSON pointers (RFC 6901) name.

    Args:
        text: structurally valid JSON.
        pointers: any number of them; `""` is the whole value.
        shallow: the text nests so little that the C scanner, which recurses, can leap over any part
            of it. When false, parts are skipped without recursion, several times slower.

    Returns:
        For each pointer the span of the value and the span of its member name, quotes included;
        where there is no name (array items, the root) the value's span stands for it. `None` for a
        pointer that names nothing. A span is (start, end) in code points, end exclusive. Under a
        name given twice only the last value exists.
    """
    root = _Node()
    nodes = {pointer: _place(root, pointer) for pointer in pointers}
    if any(nodes.values()):
        _scan(text, root, skip if shallow else _skip_iteratively)
        _settle(root)
    return {
        pointer: ((node.start, node.end), (node.name_start, node.name_end))
        if node and node.exists
        else None
        for pointer, node in nodes.items()
    }


def _place(root: _Node, pointer: str) -> _Node | None:
    """Put a pointer in the trie; return its node, `None` for a malformed one."""
    if (pointer and pointer[0] != "/") or _bad_escape(pointer):
        return None
    node = root
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        child = node.children.get(name)
        if child is None:
            child = node.children[name] = _Node()
        node = child
    return node


def _settle(root: _Node) -> None:
    """Mark the nodes that exist: entered during the last visit of all that is around them."""
    pending = [(root, 0)]
    while pending:
        node, outer = pending.pop()
        if node.outer == outer:
            node.exists = True
            pending.extend((child, node.visit) for child in node.children.values())


def _scan(text: str, root: _Node, leap: Callable[[str, int], int]) -> None:
    """Walk the text along the trie and note in each node where its value and name are."""
    open_nodes: list[tuple[_Node, Iterator[int] | None]] = []  # with the index, in an array
    visits = outer = 0
    pos = name_end = _blank(text, 0).end()
    name_start = -1
    node: _Node | None = root
    while node is not None:
        # The value of `node` starts here: enter it if the trie goes on, else leap over it.
        visits += 1
        node.visit, node.outer = visits, outer
        node.start, node.name_start, node.name_end = pos, name_start, name_end
        if node.children and text[pos] in "[{":
            open_nodes.append((node, count() if text[pos] == "[" else None))
            pos += 1
        else:
            pos = node.end = leap(text, pos)
            if name_start < 0:
                node.name_start, node.name_end = node.start, pos
        # Go on to the next value that the trie names.
        node = None
        while open_nodes and node is None:
            container, index = open_nodes[-1]
            pos = _comma(text, pos).end()
            if text[pos] in "]}":
                open_nodes.pop()
                pos = container.end = pos + 1
                if container.name_start < 0:
                    container.name_start, container.name_end = container.start, pos
                continue
            if index is None:
                name_start = pos
                token, name_end = scanstring(text, pos + 1, True)
                pos = _colon(text, name_end).end()
            else:
                name_start = -1
                token = str(next(index))
            node = container.children.get(token)
            if node is None:
                pos = leap(text, pos)
            else:
                outer = container.visit


def skip(text: str, pos: int) -> int:
    """Return the offset past the value that starts at `pos`."""
    try:
        end: int = _scan_over(text, pos)[1]
    except RecursionError:  # the caller has used up most of the stack
        return _skip_iteratively(text, pos)
    return end


def _skip_iteratively(text: str, pos: int) -> int:
    """Do what `skip` does, at any depth."""
    if text[pos] not in '"[{':
        return _scalar(text, pos).end()
    depth = 0
    while match := _structure(text, pos):
        pos = match.end()
        char = match[0]
        if char == '"':
            pos = scanstring(text, pos, True)[1]
        elif char in "[{":
            depth += 1
        else:
            depth -= 1
        if not depth:
            break
    return pos


_token: Callable[[str, int], re.Match[str] | None] = re.compile(
    r'["{}\[\],:]|[^\s{}\[\],:"]+'
).search


def tokens_at(text: str, offsets: Iterable[int]) -> dict[int, tuple[str | int, ...]]:
    """The steps from the root to what stands at some offsets: a value, or a member by its name.

    Args:
        text: JSON text that is well formed up to the last offset.
        offsets: code points into it.

    Returns:
        The steps for each offset at which a value or a name stands, in one scan of the text.
    """
    wanted = sorted(set(offsets), reverse=True)
    found: dict[int, tuple[str | int, ...]] = {}
    # The step into what is being read, one for each open container; None before the first name.
    steps: list[str | int | None] = []
    names_next = False
    end = 0
    while wanted:
        token = _token(text, end)
        if token is None:
            break
        start, end = token.span()
        first = text[start]
        if first == '"':
            try:
                string, end = scanstring(text, end, False)
            except ValueError:
                break
            if names_next:
                steps[-1] = string
                names_next = False
        if first not in "]},:":
            while wanted and wanted[-1] < end:
                offset = wanted.pop()
                if offset >= start:
                    found[offset] = tuple(step for step in steps if step is not None)
        if first in "{[":
            steps.append(None if first == "{" else 0)
            names_next = first == "{"
        elif first in "]}" and steps:
            steps.pop()
            names_next = False
        elif first == "," and steps:
            step = steps[-1]
            names_next = not isinstance(step, int)
            if isinstance(step, int):
                steps[-1] = step + 1
    return found
