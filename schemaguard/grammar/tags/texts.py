"""Whether a pattern can match a text with a given character, without a regex engine."""

from __future__ import annotations

import re

# What stands for no character: how often, and how a group begins.
_SYNTAX = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}|\(\?(?::|<[=!]?|[=!])")


def may_match(pattern: str, character: str) -> bool:
    """Whether a text that a pattern matches may have an ASCII character; True when in doubt.

    No regex engine is asked: the pattern is a stranger's.
    """
    at = 0
    while at < len(pattern):
        here = pattern[at]
        syntax = _SYNTAX.match(pattern, at)
        if syntax is not None:
            at = syntax.end()
            continue
        if here in (".", character):
            return True
        if here == "\\":
            hit, at = _escaped(pattern, at, character)
        elif here == "[":
            hit, at = _class(pattern, at, character)
        else:
            hit, at = False, at + 1
        if hit:
            return True
    return False


_CODES = {"x": 2, "u": 4}


def _escaped(pattern: str, at: int, character: str) -> tuple[bool, int]:
    """Whether an escape stands for the character, and where what follows it begins."""
    kind = pattern[at + 1 : at + 2]
    if kind in _CODES:
        digits = pattern[at + 2 : at + 2 + _CODES[kind]]
        if pattern[at + 2 : at + 3] == "{":
            return True, len(pattern)  # a code point in braces: in doubt
        try:
            return chr(int(digits, 16)) == character, at + 2 + _CODES[kind]
        except ValueError:
            return True, len(pattern)
    if kind in ("D", "W", "S", "p", "P"):
        return True, at + 2
    if kind == "s" and character.isspace():
        return True, at + 2
    # An octal escape or a back reference is rare enough to be in doubt.
    return kind == character or (kind.isdigit() and kind != "0"), at + 2


def _class(pattern: str, at: int, character: str) -> tuple[bool, int]:
    """Whether a class has the character, and where what follows it begins."""
    at += 1
    negated = pattern[at : at + 1] == "^"
    at += negated
    start = at
    has = False
    last: str | None = None
    while at < len(pattern) and pattern[at] != "]":
        here = pattern[at]
        if here == "\\":
            hit, after = _escaped(pattern, at, character)
            has = has or hit
            kind = pattern[at + 1 : at + 2]
            # An escape as the end of a range: taken as wide, which is doubt where it matters.
            last = kind if kind and not kind.isalnum() else "\0"
            at = after
        elif here == "-" and last is not None and pattern[at + 1 : at + 2] not in ("", "]"):
            end = pattern[at + 1]
            at += 2
            if end == "\\":
                end = chr(0x10FFFF)
                at += 1
            has = has or last <= character <= end
            last = None
        else:
            has = has or here == character
            last = here
            at += 1
    if not negated:
        return has, at + 1
    # Not in doubt only when the class names the character itself.
    return character not in pattern[start:at], at + 1
