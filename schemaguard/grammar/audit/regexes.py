"""Patterns: strings that one matches, and how long a string Python's `re` may be given.

Reads patterns with the parser of `re` itself: the judge matches with `re`, so what that parser
makes of a pattern is what counts. Nothing here recurses: a pattern's groups are kept on a stack.
"""

from __future__ import annotations

import math
import re
import warnings
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

#: Steps of backtracking that a match may take; `re` does some ten million a second.
MAX_BACKTRACKING = 300_000

#: A string longer than this is never matched.
MAX_TEXT = 20_000

#: Repetitions beyond the least that a generated match may have.
_EXTRA = 3

# What a generated match is made of, where a class or a dot leaves the choice.
_CHARACTERS = 'abcxyzABCXYZ0123456789_- .,:/@#$%é"\\\n'

_ASCII_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class NoMatch(Exception):  # noqa: N818 - a branch that cannot be taken, not an error
    """No string can be made for this pattern."""


@lru_cache(maxsize=512)
def parsed(pattern: str) -> Any:
    """The pattern's tree, or None when `re` does not know the pattern."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


@lru_cache(maxsize=512)
def longest_text(pattern: str) -> int:
    """The length up to which no string keeps `re` busy for long with the pattern.

    A quantifier with a choice may start and stop at any character, so `q` of them in a row try up
    to `length ** q` ways, and one with another choice inside it up to `(depth + 1) ** length`.
    Patterns without ambiguity need far fewer; that cannot be seen here.
    """
    tree = parsed(pattern)
    if tree is None:
        return MAX_TEXT
    count, deepest = 0, 0
    stack = [(tree, 0)]
    while stack:
        parts, depth = stack.pop()
        for op, argument in parts:
            inside = depth
            if op in _REPEATS:
                least, most, _inner = argument
                if most > least and most > 1:
                    count += 1
                    inside = depth + 1
                elif most > least and depth:
                    deepest = max(deepest, depth + 1)
            elif op is _constants.BRANCH and depth:
                deepest = max(deepest, depth + 1)
            deepest = max(deepest, inside)
            stack.extend((inner, inside) for inner in _inside(op, argument))
    if deepest > 1:
        return int(math.log(MAX_BACKTRACKING) / math.log(deepest + 1))
    return min(MAX_TEXT, int(MAX_BACKTRACKING ** (1 / max(count, 1))))


_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})


def _inside(op: Any, argument: Any) -> list[Any]:
    """The sequences inside a part."""
    if op in _REPEATS:
        return [argument[2]]
    if op is _constants.SUBPATTERN:
        return [argument[-1]]
    if op is _constants.BRANCH:
        return list(argument[1])
    if op is _constants.ATOMIC_GROUP:
        return [argument]
    if op in {_constants.ASSERT, _constants.ASSERT_NOT}:
        return [argument[1]]
    if op is _constants.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    return []


def search(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; False when that cannot be found out."""
    if len(text) > longest_text(pattern):
        return False
    try:
        return re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError):
        return False


def match(pattern: str, rng: random.Random, length: int = 0) -> str:
    """A string that the pattern matches, as far as it has neither lookaround nor back-references.

    Args:
        pattern: a pattern of Python's `re`.
        rng: decides what is left open.
        length: how many times a repetition should go, where it may.

    Raises:
        NoMatch: the pattern is malformed, or a part of it matches nothing that can be made.
    """
    tree = parsed(pattern)
    if tree is None:
        raise NoMatch
    text: list[str] = []
    size = 0
    stack = list(reversed(tree))
    while stack:
        op, argument = stack.pop()
        if op is _constants.LITERAL:
            text.append(chr(argument))
        elif op is _constants.NOT_LITERAL:
            text.append(rng.choice([c for c in "abxyz019" if ord(c) != argument]))
        elif op is _constants.ANY:
            text.append(rng.choice("abxyz019"))
        elif op is _constants.IN:
            text.append(_member(argument, rng))
        elif op in _REPEATS:
            least, most, inner = argument
            times = rng.randint(least, min(int(most), least + _EXTRA))
            if least < length <= int(most) and rng.random() < 0.5:
                times = length
            if times * len(inner) > MAX_TEXT:
                raise NoMatch
            stack.extend(list(reversed(inner)) * times)
        elif op is _constants.BRANCH:
            stack.extend(reversed(rng.choice(argument[1])))
        elif op in {_constants.SUBPATTERN, _constants.ATOMIC_GROUP}:
            stack.extend(reversed(_inside(op, argument)[0]))
        elif op not in {_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT}:
            raise NoMatch  # a back-reference
        size += 1
        if size > MAX_TEXT:
            raise NoMatch
    return "".join(text)


def _member(members: Any, rng: random.Random) -> str:
    """A character of a class, the usual ones first."""
    candidates = list(_CHARACTERS)
    for op, argument in members:
        if op is _constants.LITERAL:
            candidates.append(chr(argument))
        elif op is _constants.RANGE:
            candidates.append(chr(rng.randint(*argument)))
    fitting = [c for c in candidates if _is_member(members, c)]
    usual = [c for c in fitting if c.isalnum() and c.isascii()]
    if not fitting:
        raise NoMatch
    return rng.choice(usual if usual and rng.random() < 0.8 else fitting)


def _is_member(members: Any, char: str) -> bool:
    negated = inside = False
    for op, argument in members:
        if op is _constants.NEGATE:
            negated = True
        elif op is _constants.LITERAL:
            inside |= ord(char) == argument
        elif op is _constants.RANGE:
            inside |= argument[0] <= ord(char) <= argument[1]
        elif op is _constants.CATEGORY:
            inside |= _CATEGORIES[argument](char)
    return inside != negated


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    _constants.CATEGORY_DIGIT: lambda c: c in "0123456789",
    _constants.CATEGORY_NOT_DIGIT: lambda c: c not in "0123456789",
    _constants.CATEGORY_SPACE: lambda c: c in " \n\t",
    _constants.CATEGORY_NOT_SPACE: lambda c: c not in " \n\t",
    _constants.CATEGORY_WORD: lambda c: c in _ASCII_WORD,
    _constants.CATEGORY_NOT_WORD: lambda c: c.isascii() and c not in _ASCII_WORD,
}
