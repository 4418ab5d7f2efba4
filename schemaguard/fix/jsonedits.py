r"""A changed schema as edits of the JSON text that it was read from.

What is not touched stays as it is, byte for byte: key order, indentation, comments, line endings,
the way numbers and strings are spelt. What is new follows the text around it: its indentation, its
separators, whether it writes short lists in one line.

Comments are those of JSONC: the text to scan has blanks where they are, at the same offsets.
"""

from __future__ import annotations

import re
from itertools import pairwise
from json import dumps
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing in stubs

from schemaguard.fix.difference import slots
from schemaguard.positions import skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from schemaguard.fix.difference import Slot
    from schemaguard.fix.draft import History

    #: (start, end, what stands there instead), in code points.
    Piece = tuple[int, int, str]

# These match everywhere.
_blank: Callable[[str, int], re.Match[str]] = re.compile(r"[ \t\n\r]*").match  # type: ignore[assignment]
_filler: Callable[[str, int], re.Match[str]] = re.compile(  # type: ignore[assignment]
    r"(?:[ \t\n\r]|//[^\n]*|/\*.*?\*/)*", re.DOTALL
).match
_rest_of_line = re.compile(r"[ \t]*(?://[^\n\r]*|/\*[^\n]*?\*/[ \t]*)?(?=\r?\n)").match
_indentation: Callable[[str, int, int], re.Match[str]] = re.compile(r"[ \t]*").match  # type: ignore[assignment]
_short_list = re.compile(r"\[[^\[\]{}\n]+\]").search
_long_list = re.compile(r"\[\s*\n").search
_short_object = re.compile(r"\{[^\[\]{}\n]+\}").search
_WIDTH = 100


class Member:
    """A member of a container in the text; offsets in code points, ends exclusive.

    Attributes:
        start: of its key; of the value in an array.
        key_end: of its key.
        value, end: of its value.
        comma: where a comma follows; -1 where none does.
    """

    __slots__ = ("comma", "end", "key_end", "start", "value")

    def __init__(self, start: int, key_end: int, value: int, end: int, comma: int) -> None:
        self.start = start
        self.key_end = key_end
        self.value = value
        self.end = end
        self.comma = comma


class JsonText:
    """A JSON text in which values are to be changed.

    Args:
        text: the text.
        scanned: the same with blanks for comments and superfluous commas; None for plain JSON.
    """

    def __init__(self, text: str, scanned: str | None = None) -> None:
        self.text = text
        self._scanned = text if scanned is None else scanned
        self._ascii = text.isascii()
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._objects_inline = _short_object(self._scanned) is not None
        self._lists_inline = _short_list(self._scanned) is not None or (
            self._objects_inline and _long_list(self._scanned) is None
        )
        self._colon, self._comma, self._unit = self._usual()
        self._origins: dict[int, int] = {}

    def _usual(self) -> tuple[str, str, str]:
        """How the text separates names from values and members in a line, and indents."""
        colon = self._first(r'"[ \t]*:[ \t]*(?=\S)')
        comma = self._first(r",([ \t]*)(?=[^\s])")
        unit = self._first(r"\n([ \t]+)\S")
        between = colon[0][1:] if colon else ": "
        after = comma[1] if comma else between.lstrip().removeprefix(":")
        return between, "," + after, unit[1] if unit else "  "

    def _first(self, pattern: str) -> re.Match[str] | None:
        """The first match, without a comment in it: what is blank there was not meant to be."""
        for match in re.finditer(pattern, self._scanned):
            if self.text.startswith(match[0], match.start()):
                return match
        return None

    def members(self, start: int) -> tuple[list[Member], int]:
        """The members of the container that starts at an offset, and where it ends."""
        text = self._scanned
        is_object = text[start] == "{"
        found: list[Member] = []
        pos = _blank(text, start + 1).end()
        while text[pos] not in "]}":
            key_end = pos
            value = pos
            if is_object:
                key_end = scanstring(text, pos + 1, True)[1]
                value = _blank(text, _blank(text, key_end).end() + 1).end()
            end = skip(text, value)
            following = _blank(text, end).end()
            comma = following if text[following] == "," else -1
            found.append(Member(pos, key_end, value, end, comma))
            pos = following if comma < 0 else _blank(text, comma + 1).end()
        if found:
            # A comma before the closing bracket is blanked out.
            after = _filler(self.text, found[-1].end).end()
            if found[-1].comma < 0 and self.text[after : after + 1] == ",":
                found[-1].comma = after
        return found, pos + 1

    # ------------------------------------------------------------------------------------ edits

    def edits(self, start: int, old: Any, new: Any, history: History) -> list[Piece]:
        """The pieces that make the text of a value that of another, made from it.

        Args:
            start: where the value stands.
            old: the value that stands there.
            new: the value that is to stand there.
            history: of the draft that `new` is part of.
        """
        self._locate(start, old)
        return self._edits(start, old, new, history)

    def _locate(self, start: int, value: Any) -> None:
        """Note where the containers of a value stand."""
        pending = [(start, value)]
        while pending:
            at, container = pending.pop()
            if container.__class__ not in (dict, list) or id(container) in self._origins:
                continue
            self._origins[id(container)] = at
            inner = container.values() if container.__class__ is dict else container
            members, _ = self.members(at)
            pending += [(m.value, v) for m, v in zip(members, inner, strict=True)]

    def _edits(self, start: int, old: Any, new: Any, history: History) -> list[Piece]:
        pieces: list[Piece] = []
        pending = [(start, old, new)]
        while pending:
            at, before, after = pending.pop()
            if before is after:
                continue
            found = None
            if after.__class__ is before.__class__ and history.origin(after) is before:
                found = slots(history, before, after)
            members: list[Member] = []
            if found is not None:
                members, end = self.members(at)
            if found is None or (not found and members):
                end = skip(self._scanned, at)
                short = self._is_short(at)
                new_text = self._anew(after, self._indent_of(at), history, short)
                pieces.append((at, end, new_text))
                continue
            inner = before.values() if before.__class__ is dict else before
            values = list(inner)
            pieces += self._of_container(at, end, members, found, history)
            pending += [
                (members[slot.old].value, values[slot.old], slot.value)
                for slot in found
                if slot.old is not None and slot.kept
            ]
        return pieces

    def _of_container(
        self, at: int, end: int, members: list[Member], found: list[Slot], history: History
    ) -> list[Piece]:
        pieces: list[Piece] = []
        text = self.text
        lined = bool(members) and "\n" in text[at : members[0].start]
        indent = self._indent_of(members[0].start) if lined else self._indent_of(at) + self._unit
        trails = bool(members) and members[-1].comma >= 0
        short = bool(members) and not lined
        if not members:
            short = self._is_short_document() or not found
        kept = {slot.old for slot in found}
        gone = [index for index in range(len(members)) if index not in kept]
        pieces += [self._removal(members, index, lined) for index in gone]
        where = at + 1  # where the next new member goes
        previous: Member | None = None
        for number, slot in enumerate(found):
            is_last = number == len(found) - 1
            wants_comma = not is_last or trails
            if slot.old is not None:
                member = members[slot.old]
                previous = member
                pieces += self._kept(member, slot, indent, history, lined)
                if wants_comma and member.comma < 0:
                    pieces.append((member.end, member.end, ","))
                elif not wants_comma and member.comma >= 0:
                    pieces.append((member.comma, member.comma + 1, ""))
                where = self._behind(member, lined)
                continue
            value = self._written(
                slot.value, indent, history, short or self._goes_in_line(slot.value, members)
            )
            key = "" if slot.key is None else self._string(slot.key) + self._colon_of(members)
            lead = self._newline + indent
            follow = "," if wants_comma else ""
            if short:
                between = self._comma_of(members)[1:]
                lead = "" if previous is None else between
                follow += "" if previous is not None or is_last else between
            pieces.append((where, where, lead + key + value + follow))
        if not members and not short:
            pieces.append((end - 1, end - 1, self._newline + self._indent_of(at)))
        return pieces

    def _kept(
        self, member: Member, slot: Slot, indent: str, history: History, lined: bool
    ) -> list[Piece]:
        pieces: list[Piece] = []
        if slot.renamed and slot.key is not None:
            pieces.append((member.start, member.key_end, self._string(slot.key)))
        if not slot.kept:
            short = not lined or (
                self._is_short(member.value) and self._goes_in_line(slot.value, [])
            )
            value = self._written(slot.value, indent, history, short)
            pieces.append((member.value, member.end, value))
        return pieces

    def _behind(self, member: Member, lined: bool) -> int:
        """Where what follows a member goes: behind its comma, and the comment of its line."""
        after = member.end if member.comma < 0 else member.comma + 1
        rest = _rest_of_line(self.text, after) if lined else None
        return rest.end() if rest else after

    def _removal(self, members: list[Member], index: int, lined: bool) -> Piece:
        member = members[index]
        after = member.end if member.comma < 0 else member.comma + 1
        line = self.text.rfind("\n", 0, member.start) + 1
        if lined and not self.text[line : member.start].strip():
            rest = re.compile(r"[ \t]*\r?\n").match(self.text, after)
            if rest:
                return line, rest.end(), ""
        if index:
            before = members[index - 1]
            start = before.end if before.comma < 0 else before.comma + 1
            if not self.text[start : member.start].strip():
                return start, after, ""
        return member.start, _blank(self.text, after).end() if member.comma >= 0 else after, ""

    # ---------------------------------------------------------------------------------- new text

    def _written(self, value: Any, indent: str, history: History, short: bool) -> str:
        """The text of a value that stands in a line with some indentation."""
        if value.__class__ is not dict and value.__class__ is not list:
            return self._string(value)
        origin = history.origin(value)
        at = self._origins.get(id(origin))
        if at is not None:
            return self._moved(at, origin, value, indent, history)
        return self._anew(value, indent, history, short)

    def _anew(self, value: Any, indent: str, history: History, short: bool) -> str:
        """The text of a container whose own text is of no use."""
        if value.__class__ is not dict and value.__class__ is not list:
            return self._string(value)
        if not value:
            return "{}" if value.__class__ is dict else "[]"
        inner = indent + self._unit
        parts = []
        for key, member in value.items() if value.__class__ is dict else enumerate(value):
            # Values made from nothing nest a few levels: the recursion is bounded by them and by
            # the levels of the document, which were limited before.
            text = self._written(member, inner, history, short or self._goes_in_line(member, []))
            name = self._string(key) + self._colon if value.__class__ is dict else ""
            parts.append(name + text)
        opening, closing = "{}" if value.__class__ is dict else "[]"
        if short:
            return opening + self._comma.join(parts) + closing
        lead = self._newline + inner
        body = ("," + lead).join(parts)
        return f"{opening}{lead}{body}{self._newline}{indent}{closing}"

    def _moved(self, at: int, origin: Any, value: Any, indent: str, history: History) -> str:
        """The text of a container that stood elsewhere, with its changes and a new indentation."""
        end = skip(self._scanned, at)
        text = applied(self.text, self._edits(at, origin, value, history), at, end)
        base = self._indent_of(at)
        if base == indent or "\n" not in text:
            return text
        first, *lines = text.split("\n")
        moved = [
            indent + line.removeprefix(base) if line.strip() and line.startswith(base) else line
            for line in lines
        ]
        return "\n".join([first, *moved])

    def _string(self, value: Any) -> str:
        return dumps(value, ensure_ascii=self._ascii)

    def _indent_of(self, at: int) -> str:
        """The blanks that the line of an offset starts with."""
        return _indentation(self.text, self.text.rfind("\n", 0, at) + 1, at)[0]

    def _is_short(self, at: int) -> bool:
        """Whether a value stands in one line."""
        return "\n" not in self.text[at : skip(self._scanned, at)]

    def _is_short_document(self) -> bool:
        return "\n" not in self._scanned.strip()

    def _goes_in_line(self, value: Any, siblings: Iterable[Member]) -> bool:
        """Whether a new container is written in one line."""
        if self._is_short_document():
            return True
        if value.__class__ is dict:
            near = [m for m in siblings if self._scanned[m.value] == "{"]
            if near:
                return all(self._is_short(member.value) for member in near)
            return self._objects_inline
        if value.__class__ is not list:
            return True
        if any(item.__class__ in (dict, list) for item in value):
            return False
        length = len(self._string(value))
        return self._lists_inline and length < _WIDTH

    def _colon_of(self, members: list[Member]) -> str:
        for member in members:
            between = self.text[member.key_end : member.value]
            if between and not between.strip(" \t:"):
                return between
        return self._colon

    def _comma_of(self, members: list[Member]) -> str:
        for member, following in pairwise(members):
            between = self.text[member.comma : following.start]
            if member.comma >= 0 and not between.strip(" \t,"):
                return between
        return self._comma


def applied(text: str, pieces: list[Piece], start: int = 0, end: int | None = None) -> str:
    """A text, or a part of it, with pieces of it replaced.

    Pieces at the same place are kept in their order; pieces that only delete may overlap.
    """
    end = len(text) if end is None else end
    parts: list[str] = []
    pos = start
    for first, last, new in sorted(pieces, key=lambda piece: (piece[0], piece[1] > piece[0])):
        parts.append(text[pos : max(pos, first)])
        parts.append(new)
        pos = max(pos, last)
    parts.append(text[pos:end])
    return "".join(parts)
