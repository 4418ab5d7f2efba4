r"""Searching a text for a pattern in bounded time.

Python's `re` backtracks: `^(a+)+$` against forty letters runs for hours, and nothing can interrupt
it. So a pattern goes to `re` only where its number of ways to match, for a text of that length, is
known to be small. All others are matched by following every state of an automaton at once: linear
in the text, a hundred times slower than `re` at its best, and it never explodes. What neither can
do within the budget (a look-around or a back reference in a pattern that could explode, one that is
no pattern to Python, an automaton too large) is `Undecided`, not a guess.

The dialect is that of `re`, as in jsonschema, but `$` is the end of the text alone, and a named
group may be written `(?<name>…)`: that is how ECMA-262 has it.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from math import log10
from re import _constants as ops  # type: ignore[attr-defined]  # stable since 3.11, missing in stubs
from re import _parser as parser  # type: ignore[attr-defined]

from schemaguard.patterns import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Matches = Callable[[str], bool]

__all__ = ["Budget", "UndecidedError", "is_quick", "search"]

MAX_PATTERN = 4_096
MAX_GROUP_DEPTH = 50
MAX_STATES = 10_000
#: Ways to match that `re` may have to try: some hundredths of a second.
MAX_WAYS = 1_000_000
_LENGTHS = (64, 256, 1_024, 4_096, 65_536, 1 << 20, 1 << 24)

_LIMITLESS = float("inf")


class UndecidedError(Exception):
    """Whether a text matches cannot be told in bounded time; the message says why."""


class Budget:
    """Steps that are left.

    Args:
        steps: how many there are.
    """

    __slots__ = ("steps",)

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> None:
        """Take some.

        Raises:
            UndecidedError: there are no more.
        """
        self.steps -= steps
        if self.steps < 0:
            raise UndecidedError("it takes too many steps")


def search(pattern: str, text: str, budget: Budget) -> bool:
    """Whether a pattern matches anywhere in a text.

    Args:
        pattern: regular expression, as the keyword has it.
        text: to search.
        budget: pays for following an automaton.

    Raises:
        UndecidedError: it cannot be told in bounded time.
    """
    compiled = _compile(pattern)
    if isinstance(compiled, str):
        raise UndecidedError(compiled)
    if len(text) <= compiled.quick_up_to:
        budget.spend(1 + len(text) // 1_000)
        return compiled.regex.search(text) is not None
    if compiled.automaton is None:
        raise UndecidedError("it may take exponential time")
    return compiled.automaton.search(text, budget)


def is_quick(pattern: str, length: int) -> bool:
    """Whether `re` itself searches texts of a length for a pattern in bounded time."""
    compiled = _compile(pattern)
    return not isinstance(compiled, str) and length <= compiled.quick_up_to


class _Compiled:
    """A pattern: `re`'s form of it, and up to which length of text that is used."""

    __slots__ = ("automaton", "quick_up_to", "regex")

    def __init__(self, regex: re.Pattern[str], tree: Any) -> None:
        self.regex = regex
        self.quick_up_to = 0
        for length in _LENGTHS:
            if _ways(tree, length) * length > MAX_WAYS:
                break
            self.quick_up_to = length
        try:
            self.automaton: _Automaton | None = _Automaton(tree)
        except UndecidedError:
            self.automaton = None


@lru_cache(maxsize=256)
def _compile(pattern: str) -> _Compiled | str:
    """A pattern, compiled; or why it cannot be."""
    if len(pattern) > MAX_PATTERN:
        return f"the pattern has more than {MAX_PATTERN} characters"
    if measure(pattern).group_depth > MAX_GROUP_DEPTH:
        return f"the pattern nests more than {MAX_GROUP_DEPTH} groups"
    translated = _translated(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about sets that mean something else in the future
            regex = re.compile(translated)
            tree = parser.parse(translated)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        return f"Python cannot read the pattern ({type(error).__name__})"
    return _Compiled(regex, tree)


_part = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$|\(\?<(?![=!])|.", re.DOTALL)
_TRANSLATIONS = {"$": r"\Z", "(?<": "(?P<"}


def _translated(pattern: str) -> str:
    """The pattern in Python's words."""
    return "".join(_TRANSLATIONS.get(part, part) for part in _part.findall(pattern))


# ------------------------------------------------------------------------------------------- ways


def _ways(tree: Any, length: int) -> float:
    """An upper bound of the ways in which a sequence can match texts of a length."""
    ways = 1.0
    for op, argument in tree:
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            low, high, inner = argument
            ways *= _ways_of_repeat(low, min(high, length), _ways(inner, length))
        elif op is ops.BRANCH:
            ways *= sum(_ways(branch, length) for branch in argument[1])
        elif op is ops.SUBPATTERN:
            ways *= _ways(argument[3], length)
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            ways *= _ways(argument[1], length)
        elif op is ops.ATOMIC_GROUP:
            ways *= _ways(argument, length)
        elif op is ops.GROUPREF_EXISTS:
            return _LIMITLESS
        if ways > MAX_WAYS:
            return _LIMITLESS
    return ways


def _ways_of_repeat(low: int, high: int, inner: float) -> float:
    if inner == 1:
        return max(high - low, 0) + 1
    # The largest power alone may be more than a float holds.
    if high > 64 or (inner > 1 and high * log10(inner) > log10(MAX_WAYS)):
        return _LIMITLESS
    return sum(inner**count for count in range(min(low, high), high + 1))


# -------------------------------------------------------------------------------------- automaton

_CHAR, _SPLIT, _PLACE, _MATCH = range(4)


class _Automaton:
    """States as tuples: (kind, what it matches or where, next state, other next state)."""

    def __init__(self, tree: Any) -> None:
        if tree.state.flags & ~re.UNICODE.value:
            raise UndecidedError("flags in the pattern")
        self.states: list[tuple[int, Any, int, int]] = [(_MATCH, None, 0, 0)]
        self.start = self._sequence(tree, 0)

    def _add(self, kind: int, what: Any, after: int, other: int = 0) -> int:
        if len(self.states) >= MAX_STATES:
            raise UndecidedError("the automaton is too large")
        self.states.append((kind, what, after, other))
        return len(self.states) - 1

    def _sequence(self, tree: Any, after: int) -> int:
        """The first state of a sequence; recursion is as deep as groups nest, at most 50."""
        for op, argument in reversed(list(tree)):
            after = self._item(op, argument, after)
        return after

    def _item(self, op: Any, argument: Any, after: int) -> int:
        if op is ops.SUBPATTERN:
            _group, added, removed, inner = argument
            if added or removed:
                raise UndecidedError("flags in the pattern")
            return self._sequence(inner, after)
        if op is ops.BRANCH:
            first = None
            for branch in argument[1]:
                state = self._sequence(branch, after)
                first = state if first is None else self._add(_SPLIT, None, first, state)
            return after if first is None else first
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            low, high, inner = argument
            return self._repeat(low, high, inner, after)
        if op is ops.AT:
            if argument not in _PLACES:
                raise UndecidedError("a place in the pattern")
            return self._add(_PLACE, _PLACES[argument], after)
        matches = _matcher(op, argument)
        if matches is None:
            raise UndecidedError("a look-around or a back reference")
        return self._add(_CHAR, matches, after)

    def _repeat(self, low: int, high: int, inner: Any, after: int) -> int:
        if high is ops.MAXREPEAT:
            loop = self._add(_SPLIT, None, 0, after)
            self.states[loop] = (_SPLIT, None, self._sequence(inner, loop), after)
            first = loop
        else:
            first = after
            for _ in range(high - low):
                first = self._add(_SPLIT, None, self._sequence(inner, first), after)
        for _ in range(low):
            first = self._sequence(inner, first)
        return first

    def search(self, text: str, budget: Budget) -> bool:
        """Whether a match starts and ends anywhere in a text."""
        states = self.states
        waiting: list[int] = []
        for at in range(len(text) + 1):
            # Every state that can be reached here without reading on, a new start included.
            waiting.append(self.start)
            reached: set[int] = set()
            while waiting:
                number = waiting.pop()
                if number in reached:
                    continue
                reached.add(number)
                kind, what, after, other = states[number]
                if kind == _MATCH:
                    return True
                if kind == _SPLIT:
                    waiting += (other, after)
                elif kind == _PLACE and what(text, at):
                    waiting.append(after)
            budget.spend(len(reached))
            if at == len(text):
                break
            char = text[at]
            for number in reached:
                kind, what, after, _ = states[number]
                if kind == _CHAR and what(char):
                    waiting.append(after)
        return False


def _matcher(op: Any, argument: Any) -> Matches | None:
    """What a single character has to be."""
    if op is ops.LITERAL:
        return chr(argument).__eq__
    if op is ops.NOT_LITERAL:
        return chr(argument).__ne__
    if op is ops.ANY:
        return "\n".__ne__
    if op is ops.IN:
        return _class(argument)
    return None


def _class(members: list[Any]) -> Matches | None:
    wanted = True
    tests: list[Matches] = []
    for op, argument in members:
        if op is ops.NEGATE:
            wanted = False
        elif op is ops.LITERAL:
            tests.append(chr(argument).__eq__)
        elif op is ops.RANGE:
            tests.append(_range(chr(argument[0]), chr(argument[1])))
        elif op is ops.CATEGORY and argument in _CATEGORIES:
            tests.append(_CATEGORIES[argument])
        else:
            return None
    return lambda char: any(test(char) for test in tests) is wanted


def _range(low: str, high: str) -> Matches:
    return lambda char: low <= char <= high


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_CATEGORIES: dict[Any, Matches] = {
    ops.CATEGORY_DIGIT: str.isdecimal,
    ops.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    ops.CATEGORY_WORD: _is_word,
    ops.CATEGORY_NOT_WORD: lambda char: not _is_word(char),
}


def _is_boundary(text: str, at: int) -> bool:
    before = at > 0 and _is_word(text[at - 1])
    return before != (at < len(text) and _is_word(text[at]))


_PLACES: dict[Any, Callable[[str, int], bool]] = {
    ops.AT_BEGINNING: lambda _, at: at == 0,
    ops.AT_BEGINNING_STRING: lambda _, at: at == 0,
    ops.AT_END_STRING: lambda text, at: at == len(text),
    ops.AT_BOUNDARY: _is_boundary,
    ops.AT_NON_BOUNDARY: lambda text, at: not _is_boundary(text, at),
}
