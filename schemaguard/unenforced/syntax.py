r"""Patterns that xgrammar refuses, and those that match nothing at all.

One reading from left to right, with a stack for groups. What the engine knows of ECMA-262 is a part
of it: no word boundaries, look-behinds, back references or Unicode classes; what it does not know,
it refuses the whole schema for. Doubtful patterns are not spoken of: the engine has the last word.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["MAX_PATTERN", "fault"]

#: Patterns of more characters are too dear anyway.
MAX_PATTERN = 4_096

_HEX = frozenset("0123456789abcdefABCDEF")
_REFUSED = {
    **dict.fromkeys("bB", "a word boundary"),
    **dict.fromkeys("pP", "a Unicode class"),
    **dict.fromkeys("k123456789", "a back reference"),
}
_COUNT = re.compile(r"\{\s*([0-9]+)\s*(?:,\s*([0-9]*)\s*)?\}")
_UNICODE = re.compile(r"u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\})")
#: Shorthands of a class that together are every character.
_EVERYTHING = (frozenset("sS"), frozenset("dD"), frozenset("wW"))


class _Group:
    """A group that is open.

    Attributes:
        start: its place in the pattern.
        element: there is something that a quantifier could repeat.
        dead: the branch that is read matches nothing.
        all_dead: so do those before it; None when there are none.
        seen: it looks ahead, and says nothing of the text itself.
    """

    __slots__ = ("all_dead", "dead", "element", "seen", "start")

    def __init__(self, start: int, *, seen: bool = False) -> None:
        self.start = start
        self.element = False
        self.dead = False
        self.all_dead = True
        self.seen = seen

    def branch(self) -> None:
        """Begin another branch."""
        self.all_dead = self.all_dead and self.dead
        self.element = self.dead = False

    def is_dead(self) -> bool:
        """Whether all branches match nothing."""
        return not self.seen and self.all_dead and self.dead


@lru_cache(maxsize=1_024)
def fault(pattern: str) -> tuple[str, int] | None:
    """What is wrong with a pattern, and where: the first fault, in characters from 0.

    Returns:
        None where nothing is; ("nothing", offset) for one that no text matches.
    """
    if len(pattern) > MAX_PATTERN:
        return None
    if "\0" in pattern:
        return "a null character", pattern.index("\0")
    return _Scanner(pattern).scan()


class _Fault(Exception):  # noqa: N818  (a fault of the pattern, caught in this module)
    def __init__(self, why: str, at: int) -> None:
        self.found = (why, at)
        super().__init__(why)


class _Scanner:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = [_Group(0)]
        self.nothing = -1

    def scan(self) -> tuple[str, int] | None:
        try:
            self._read()
        except _Fault as found:
            # What a look-ahead holds is left out unread.
            return None if any(group.seen for group in self.groups) else found.found
        if len(self.groups) > 1:
            return "a group that is not closed", self.groups[-1].start
        return ("nothing", max(self.nothing, 0)) if self.groups[0].is_dead() else None

    def _read(self) -> None:
        pattern = self.pattern
        while self.at < len(pattern):
            char = pattern[self.at]
            group = self.groups[-1]
            if char == "\\":
                self._escape()
                self._element(dead=False)
            elif char == "[":
                self._element(dead=self._class())
            elif char == "(":
                self._open()
            elif char == ")":
                if len(self.groups) == 1:
                    raise _Fault("a parenthesis that closes nothing", self.at)
                self.at += 1
                self.groups.pop()
                self._element(dead=group.is_dead())
            elif char == "|":
                group.branch()
                self.at += 1
            elif char in "*+?{":
                if not group.element:
                    raise _Fault("a quantifier with nothing to repeat", self.at)
                self._quantifier()
            elif char in "^$":
                self.at += 1
            else:
                self.at += 1
                self._element(dead=False)

    def _element(self, *, dead: bool) -> None:
        """Note that something was read, with the quantifier that follows it."""
        group = self.groups[-1]
        group.element = True
        optional = False
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
            optional = self._quantifier()
        if dead and not optional:
            group.dead = True

    def _quantifier(self) -> bool:
        """Read a quantifier; whether it allows none."""
        char = self.pattern[self.at]
        if char != "{":
            self.at += 1
            return char in "*?"
        count = _COUNT.match(self.pattern, self.at)
        if count is None:
            raise _Fault("a repetition without a count", self.at)
        least, most = int(count[1][:12]), count[2]
        if most and int(most[:12]) < least:
            raise _Fault("a repetition that ends before it begins", self.at)
        self.at = count.end()
        return least == 0

    def _open(self) -> None:
        pattern, start = self.pattern, self.at
        self.at += 1
        seen = False
        if pattern.startswith("?", self.at):
            rest = pattern[self.at + 1 : self.at + 3]
            if rest[:1] in ("=", "!"):
                seen = True
                self.at += 2
            elif rest[:1] == ":":
                self.at += 2
            elif rest in ("<=", "<!"):
                raise _Fault("a look-behind", start)
            elif rest[:1] == "<" or rest == "P<":
                end = pattern.find(">", self.at)
                if end < 0:
                    raise _Fault("a group whose name does not end", start)
                self.at = end + 1
            elif rest == "i)":
                self.at += 2
            else:
                raise _Fault("a kind of group that it does not know", start)
        self.groups.append(_Group(start, seen=seen))

    def _escape(self) -> None:
        """Read an escape outside a class."""
        start = self.at
        char = self.pattern[start + 1 : start + 2]
        if not char:
            raise _Fault("an escape that does not end", start)
        if char in _REFUSED:
            raise _Fault(_REFUSED[char], start)
        self.at = self._after_escape(start)

    def _after_escape(self, start: int) -> int:
        pattern = self.pattern
        char = pattern[start + 1]
        if char == "x":
            if not (len(pattern) >= start + 4 and _HEX.issuperset(pattern[start + 2 : start + 4])):
                raise _Fault("an escape that does not end", start)
            return start + 4
        if char == "u":
            found = _UNICODE.match(pattern, start + 1)
            if found is None:
                raise _Fault("an escape that does not end", start)
            return found.end()
        if char == "c":
            if not pattern[start + 2 : start + 3].isalpha():
                raise _Fault("an escape that does not end", start)
            return start + 3
        return start + 2

    def _class(self) -> bool:
        """Read a class; whether it has no character."""
        pattern, start = self.pattern, self.at
        self.at += 1
        negated = pattern.startswith("^", self.at)
        if negated:
            self.at += 1
        elif pattern.startswith("]", self.at):
            raise _Fault("an empty class", start)
        shorthands = set()
        left: str | None = None  # a character that may begin a range
        while True:
            char = pattern[self.at : self.at + 1]
            if not char:
                raise _Fault("a class that is not closed", start)
            if char == "]":
                self.at += 1
                break
            after = pattern[self.at + 1 : self.at + 2]
            ranged = char == "-" and left is not None and after not in ("]", "")
            if ranged:
                self.at += 1
            at = self.at
            name, right = self._member()
            shorthands.add(name)
            if ranged:
                if right is None or (left and right and left > right):
                    raise _Fault("a range that ends before it begins", at - 1)
                left = None
            else:
                left = right
        if negated and any(both <= shorthands for both in _EVERYTHING):
            self.nothing = start
            return True
        return False

    def _member(self) -> tuple[str, str | None]:
        """Read one member: the shorthand that it is, and its character ("" where not told)."""
        pattern, start = self.pattern, self.at
        if pattern[start] != "\\":
            self.at += 1
            return "", pattern[start]
        char = pattern[start + 1 : start + 2]
        if not char:
            raise _Fault("an escape that does not end", start)
        self.at = self._after_escape(start)
        if char in "sSdDwW":
            return char, None
        return "", "" if char.isalnum() else char
