"""A changed schema as edits of the YAML text that it was read from.

What is not touched stays as it is, comments included. New members of a block go on lines of their
own with the block's indentation, those of a flow collection into its brackets. Aliases are left
alone: what is changed at the anchor is changed for all. Whether the text then says what it should
is found out by reading it again.
"""

from __future__ import annotations

import re
from json import dumps

from schemaguard.fix.difference import slots
from schemaguard.fix.jsonedits import applied
from schemaguard.fix.yamlnodes import ALIAS, MAP, SCALAR, SEQUENCE, Node, documents, start_of_key
from schemaguard.report import tokens_of
from schemaguard.sources import yamltext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.fix.difference import Slot
    from schemaguard.fix.draft import History
    from schemaguard.fix.engine import Fixed
    from schemaguard.fix.jsonedits import Piece

_rest_of_line = re.compile(r"[ \t]*(?:#[^\n\r]*)?(?=\r?\n|\Z)").match
_to_colon = re.compile(r"(?:\s|(?<=\s)#[^\n]*)*:").match
_is_plain = re.compile(r"[$A-Za-z_][$A-Za-z0-9_./ -]*(?<! )").fullmatch
_in_quotes = re.compile(r'\s*(?:\[\s*)*\{\s*"').match
_WIDTH = 80
_STR = "tag:yaml.org,2002:str"


class YamlWriteError(Exception):
    """The change cannot be written into this text; the message says why."""


class YamlText:
    """A YAML text in which values are to be changed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._documents = documents(text)
        # JSON in a file of that name stays JSON.
        self._quotes = all(node.flow for node in self._documents) and _in_quotes(text)
        self._origins: dict[int, Node] = {}
        self._unit, self._dash, self._lists_in_flow = self._usual()

    def _usual(self) -> tuple[int, int, bool]:
        """Columns that maps in maps, and lists in maps, are moved by; whether lists are in flow."""
        unit = dash = -1
        flow = block = 0
        pending = list(self._documents)
        while pending:
            node = pending.pop()
            pending += node.values
            if node.kind == SEQUENCE and node.values:
                flow += node.flow
                block += not node.flow
            if node.kind != MAP or node.flow:
                continue
            for value in node.values:
                if value.flow or self._line(value.start) == self._line(node.start):
                    continue
                if value.kind == MAP and unit < 0:
                    unit = self._column(value.start) - self._column(node.keys[0].start)
                if value.kind == SEQUENCE and dash < 0:
                    dash = self._column(value.start) - self._column(node.keys[0].start)
        unit = unit if unit > 0 else 2
        return unit, dash if dash >= 0 else unit, flow > 0 or not block

    def pieces(self, changes: list[tuple[str, Any, Fixed]]) -> list[Piece]:
        """The pieces for some changes: (pointer, schema as it was, what became of it).

        Raises:
            YamlWriteError: a change cannot be written.
        """
        found: list[Piece] = []
        for pointer, schema, done in changes:
            node = self._at(pointer)
            self._locate(node, schema)
            found += self._edits(node, schema, done.root, done.history)
        return list(dict.fromkeys(found))  # what is shared is changed once

    def _at(self, pointer: str) -> Node:
        tokens = list(tokens_of(pointer))
        which = int(tokens.pop(0)) if len(self._documents) > 1 else 0
        node = self._documents[which]
        for token in tokens:
            index = -1
            if node.kind == MAP:
                names = [key.text for key in node.keys]
                index = names.index(token) if names.count(token) == 1 else -1
            elif node.kind == SEQUENCE:
                index = int(token)
            if index < 0:
                raise YamlWriteError("the schema stands behind an alias or a merge key")
            node = node.values[index]
        return node

    def _locate(self, node: Node, value: Any) -> None:
        """Note where the containers of a value stand."""
        pending = [(node, value)]
        while pending:
            there, container = pending.pop()
            if container.__class__ not in (dict, list) or there.kind == ALIAS:
                continue
            self._origins.setdefault(id(container), there)
            inner = list(container.values() if container.__class__ is dict else container)
            if len(inner) == len(there.values):  # otherwise it has a merge key
                pending += zip(there.values, inner, strict=True)

    # ------------------------------------------------------------------------------------ edits

    def _edits(self, node: Node, old: Any, new: Any, history: History) -> list[Piece]:
        # What is inside comes first: both may go to the end of the same line.
        pieces: list[list[Piece]] = []
        pending = [(node, old, new)]
        while pending:
            there, before, after = pending.pop()
            if before is after or there.kind == ALIAS:
                continue
            found = None
            if after.__class__ is before.__class__ and history.origin(after) is before:
                found = slots(history, before, after)
            if found is None or not any(slot.old is not None for slot in found):
                pieces.append([self._whole(there, after, history)])
                continue
            values = list(before.values() if before.__class__ is dict else before)
            if len(values) != len(there.values) or (
                there.kind == MAP and [k.text for k in there.keys] != [str(k) for k in before]
            ):
                raise YamlWriteError("a merge key (`<<`) stands in the way")
            pieces.append(self._of_container(there, found, history))
            pending += [
                (there.values[slot.old], values[slot.old], slot.value)
                for slot in found
                if slot.old is not None and slot.kept
            ]
        return [piece for inner in reversed(pieces) for piece in inner]

    def _whole(self, node: Node, value: Any, history: History) -> Piece:
        """A container written anew: it has nothing of the old one."""
        if value and not node.flow and node.values:
            column = self._column(node.start)
            return node.start, node.end, self._block(value, column, history)
        return node.start, node.end, self._flow(value, history, top=True)

    def _of_container(self, node: Node, found: list[Slot], history: History) -> list[Piece]:
        if node.flow:
            return self._of_flow(node, found, history)
        pieces: list[Piece] = []
        kept = {slot.old for slot in found}
        column = self._column(self._start_of(node, 0) if node.kind == MAP else node.start)
        pieces += [self._removal(node, i) for i in range(len(node.values)) if i not in kept]
        before: list[str] = []  # new members in front of the first that is kept
        where = -1
        for slot in found:
            if slot.old is not None:
                where = self._end_of_line(node.values[slot.old].end)
                if before:
                    start = self._start_of(node, slot.old)
                    pad = self._newline + " " * column
                    pieces.append((start, start, "".join(text + pad for text in before)))
                    before = []
                if slot.renamed and slot.key is not None:
                    key = node.keys[slot.old]
                    pieces.append((key.start, key.end, self._scalar(slot.key)))
                if not slot.kept:
                    pieces += self._replaced(node, slot.old, slot.value, column, history)
                continue
            text = self._member(slot.key, slot.value, column, history)
            if where < 0:
                before.append(text)
            else:
                pieces.append((where, where, self._newline + " " * column + text))
        return pieces

    def _start_of(self, node: Node, index: int) -> int:
        """Where a member starts: its key, or the dash of an item."""
        if node.kind == MAP:
            return start_of_key(self.text, node.keys[index].start)
        return self.text.rindex("-", 0, node.values[index].start)

    def _removal(self, node: Node, index: int) -> Piece:
        start = self._start_of(node, index)
        end = self._end_of_line(node.values[index].end)
        line = self._line(start)
        if line and not self.text[line:start].strip():
            # With the line end before it: something may be added at the end of its own line.
            return line - (2 if self.text[line - 2 : line] == "\r\n" else 1), end, ""
        if index + 1 < len(node.values):  # the first of a map in a list, behind the dash
            return start, self._start_of(node, index + 1), ""
        raise YamlWriteError("a member cannot be taken out of its line")

    def _replaced(
        self, node: Node, index: int, value: Any, column: int, history: History
    ) -> list[Piece]:
        old = node.values[index]
        if old.flow or (old.kind in (SCALAR, ALIAS) and old.end > old.start):
            if value.__class__ not in (dict, list):
                return [(old.start, old.end, self._scalar(value))]
            if node.kind == SEQUENCE or self._goes_in_flow(value, history):
                at = self._column(old.start)
                return [(old.start, old.end, self._value(value, at, history))]
        if node.kind == SEQUENCE:
            return [(old.start, old.end, self._value(value, self._column(old.start), history))]
        colon = self._colon(node.keys[index].end)
        between = self.text[colon + 1 : old.start]
        if not between.strip():
            text = self._member(None, value, column, history, of_key=True)
            return [(colon + 1, max(old.end, colon + 1), text)]
        if not between.lstrip().startswith("#"):
            raise YamlWriteError("an anchor or a tag stands before the value")
        if not self._goes_in_flow(value, history):
            at = self._column(old.start)
            return [(old.start, old.end, self._value(value, at, history))]
        comments_end = colon + 1 + len(between.rstrip())
        text = " " + self._value(value, column, history)
        return [(colon + 1, colon + 1, text), (comments_end, old.end, "")]

    def _of_flow(self, node: Node, found: list[Slot], history: History) -> list[Piece]:
        pieces: list[Piece] = []
        kept = [slot.old for slot in found if slot.old is not None]
        starts = [n.start for n in (node.keys if node.kind == MAP else node.values)]
        previous = -1
        for index, value in enumerate(node.values):
            if index in kept:
                previous = index
            elif previous >= 0:
                pieces.append((node.values[index - 1].end, value.end, ""))
            else:
                pieces.append((starts[index], starts[index + 1], ""))
        where = -1
        for slot in found:
            if slot.old is not None:
                where = node.values[slot.old].end
                if slot.renamed and slot.key is not None:
                    key = node.keys[slot.old]
                    pieces.append((key.start, key.end, self._scalar(slot.key)))
                if not slot.kept:
                    old = node.values[slot.old]
                    pieces.append((old.start, old.end, self._flow(slot.value, history)))
                continue
            key_text = "" if slot.key is None else self._key(slot.key)
            text = key_text + self._flow(slot.value, history)
            if where < 0:
                first = starts[kept[0]]
                pieces.append((first, first, text + ", "))
            else:
                pieces.append((where, where, ", " + text))
        return pieces

    # ---------------------------------------------------------------------------------- new text

    def _member(
        self,
        key: str | None,
        value: Any,
        column: int,
        history: History,
        *,
        of_key: bool = False,
    ) -> str:
        """A member of a block at some column: `key: value` or `- value`; or what follows a key."""
        if key is None and not of_key:
            return "- " + self._value(value, column + 2, history)
        name = "" if of_key else self._scalar(key) + ":"
        if self._goes_in_flow(value, history):
            return f"{name} {self._value(value, column, history)}"
        inner = column + (self._dash if value.__class__ is list else self._unit)
        return f"{name}{self._newline}{' ' * inner}{self._value(value, inner, history)}"

    def _value(self, value: Any, column: int, history: History) -> str:
        """The text of a value whose lines but the first start at a column."""
        if value.__class__ not in (dict, list):
            return self._scalar(value)
        origin = history.origin(value)
        node = self._origins.get(id(origin))
        if node is not None:
            return self._moved(node, origin, value, column, history)
        if self._goes_in_flow(value, history):
            return self._flow(value, history)
        return self._block(value, column, history)

    def _goes_in_flow(self, value: Any, history: History) -> bool:
        """Whether a value is written on the line of its key."""
        if value.__class__ not in (dict, list):
            return True
        node = self._origins.get(id(history.origin(value)))
        if node is not None:
            return node.flow
        if not value:
            return True
        if value.__class__ is dict:
            return False
        scalars = not any(item.__class__ in (dict, list) for item in value)
        return scalars and self._lists_in_flow and len(dumps(value)) < _WIDTH

    def _block(self, value: Any, column: int, history: History) -> str:
        """A block collection; its lines but the first start at a column."""
        members = value.items() if value.__class__ is dict else ((None, item) for item in value)
        texts = [self._member(key, member, column, history) for key, member in members]
        return (self._newline + " " * column).join(texts)

    def _flow(self, value: Any, history: History, *, top: bool = False) -> str:
        """A value in one line."""
        if value.__class__ not in (dict, list):
            return self._scalar(value)
        origin = history.origin(value)
        node = None if top else self._origins.get(id(origin))
        if node is not None and node.flow:
            pieces = self._edits(node, origin, value, history)
            return applied(self.text, pieces, node.start, node.end)
        if value.__class__ is dict:
            parts = [self._key(key) + self._flow(member, history) for key, member in value.items()]
            return "{" + ", ".join(parts) + "}"
        return "[" + ", ".join(self._flow(item, history) for item in value) + "]"

    def _moved(self, node: Node, origin: Any, value: Any, column: int, history: History) -> str:
        """The text of a container that stood elsewhere, with its changes and at a new column."""
        pieces = self._edits(node, origin, value, history)
        text = applied(self.text, pieces, node.start, node.end)
        if node.flow:
            return text
        shift = column - self._column(node.start)
        # Without its first members the text starts with the indentation of the next.
        first, *lines = text.lstrip(" ").split("\n")
        return "\n".join([first, *(self._shifted(line, shift) for line in lines)])

    @staticmethod
    def _shifted(line: str, shift: int) -> str:
        if not line.strip():
            return line
        if shift >= 0:
            return " " * shift + line
        return line[min(-shift, len(line) - len(line.lstrip(" "))) :]

    def _key(self, key: str) -> str:
        return self._scalar(key) + ": "

    def _scalar(self, value: Any) -> str:
        if (
            not self._quotes
            and isinstance(value, str)
            and _is_plain(value)
            and yamltext._meaning(value) == _STR  # noqa: SLF001  (of this package)
        ):
            return value
        return dumps(value, ensure_ascii=self.text.isascii())

    # ------------------------------------------------------------------------------------- places

    def _line(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _column(self, at: int) -> int:
        return at - self._line(at)

    def _colon(self, at: int) -> int:
        """Where the colon behind a key is: a comment before it may have some as well."""
        found = _to_colon(self.text, at)
        if found is None:
            raise YamlWriteError("something stands between a key and its colon")
        return found.end() - 1

    def _end_of_line(self, at: int) -> int:
        """The end of the line on which a member ends, behind its comment."""
        rest = _rest_of_line(self.text, at)
        if rest is None:
            raise YamlWriteError("something stands behind the value on its line")
        return rest.end()
