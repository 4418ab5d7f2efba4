r"""What a regular expression would cost a grammar compiler, without compiling it.

`measure` reads a pattern once, from left to right, with its own stack. No regex engine is asked, so
that a pattern which would hang or crash one is only text here. Reading is total: every string has a
measure, also one that is no regular expression.

The reading is that of ECMA-262, the dialect of the `pattern` keyword, and where other engines read
a text as dearer, theirs: `(?P<name>...)`, `{,n}`, `{1, 9}` with spaces. `[]` and `[^]` are complete
classes, as in ECMA-262 and in xgrammar.

Weights and factors were measured with xgrammar 0.2.9 over a vocabulary of 151,643 tokens.
`benchmarks/compile_caps.py` repeats the measurement; its last result is in
`docs/measurements/compile_caps.json`.
"""

from __future__ import annotations

import re

from schemaguard._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "MAX_MEASURED",
    "SATURATED",
    "PatternCost",
    "broad",
    "cost",
    "measure",
    "patterns_of",
    "share",
]

SATURATED = 1_000_000_000
"""Every number of a `PatternCost` stops here: read it as "at least this"."""

# What one automaton state costs grows with the share of the vocabulary that can follow it, since
# each such token is tried. One unit is about 0.6 ms of compile time.
_NARROW = 1  # a literal, a class of a few characters
_SPACED = 2  # the same with the space: tokens of many spaces are common
_WORD = 8  # letters
_WIDE = 32  # nearly everything: `.`, a negated class, letters together with the space

# Parts of variable length that can match the same text keep as many states alive at once, and each
# costs its own. They are counted in fractions of a piece: a class of a few characters ends most
# tokens early, a literal or a digit ends them all.
_PIECE = 32
_SPACED_PIECE = 8
_FEW_PIECE = 2
_NO_PIECE = 0
# A loop around `{m,n}` can begin anew at each of its characters.
_LOOPED_SPAN = 3

# Kinds of quantifier.
_EXACT = 0  # `{m}`
_OPTION = 1  # `?`, `{0,1}`
_LOOP = 2  # `*`, `+`, `{m,}`
_SPAN = 3  # `{m,n}`

# xgrammar turns a pattern with raw characters beyond ASCII (not `\u00e9`) into grammar rules
# instead of an automaton and follows its pieces anew for every mask. Two that overlap can cost
# 0.1 s a mask, those of a repeated group far more.
_RULES_FACTOR = 40
_RULES_PIECE = 2

# Groups nested deeper are counted but not weighed: `repeats` is then SATURATED. It bounds the
# memory that a pattern of nothing but parentheses can claim.
_WEIGHED_DEPTH = 1_000

# A class with no more letters than this, as for hexadecimal digits, matches few tokens.
_FEW_LETTERS = 6
# A range of as many code points beyond ASCII is a script rather than some accented letters.
_SCRIPT = 64

#: Of a pattern, all that is no literal.
_NO_LITERAL = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|\{[0-9, ]*\}?|[^\w \-/:@,;=]", re.DOTALL)

_SPECIAL = frozenset("\\[({*+?|).^$")
_SPACE = frozenset(" ")
_DIGITS = frozenset("0123456789")
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


def _bits(low: int, high: int) -> int:
    """The ASCII characters from `low` to `high`, one bit each."""
    high = min(high, 127)
    return (2 << high) - (1 << low) if low <= high else 0


_DECIMAL = _bits(48, 57)
_UPPER = _bits(65, 90)
_LOWER = _bits(97, 122)
_BLANK = _bits(32, 32)
_SHORTHANDS = {
    "d": _DECIMAL,
    "w": _DECIMAL | _UPPER | _LOWER | _bits(95, 95),
    "s": _BLANK | _bits(9, 13),
}
_NEGATED = frozenset("DSWpP")
_CONTROLS = {"b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}


class PatternCost(Frozen):
    """What `measure` found in one pattern.

    Attributes:
        length: Code points in the pattern.
        group_depth: Greatest nesting of parentheses. Those escaped or in a character class do not
            count, unclosed ones do; a closing one without its partner is an ordinary character.
        repeats: Estimate, from above, of the automaton states after every bounded repetition is
            written out, weighed by how much of a vocabulary a state can match, times the pieces of
            variable length that may overlap. `measure` has the exact rule.
        max_bound: The largest number that stands in a `{m,n}`; 0 if there is none.
    """

    __slots__ = ("group_depth", "length", "max_bound", "repeats")

    group_depth: int
    length: int
    max_bound: int
    repeats: int

    def __init__(self, *, length: int, group_depth: int, repeats: int, max_bound: int) -> None:
        self._fill(length=length, group_depth=group_depth, repeats=repeats, max_bound=max_bound)


def measure(pattern: str) -> PatternCost:
    r"""Measure the cost of a regular expression by reading it once.

    Time is linear in the length of the pattern, 0.1 to 0.7 us a character; memory is bounded;
    nothing is raised, whatever the text. A caller with a limit on the length compares
    `len(pattern)` first and need not measure what is longer.

    `repeats` is `states * max(1, pieces)`, rounded down:

    - *States* add up over a sequence and over alternatives. `{m,n}` multiplies by n, `{m,}` by m
      (at least one), so that nested repetitions multiply; `?`, `*` and `+` multiply by one. An
      atom is 1 state if it is narrow (a literal, `\d`, a class of at most six letters and without
      the space), 2 if it is narrow with the space (`\s`), 8 if it stands for letters (`\w`,
      `[a-z]`, a script beyond ASCII, a few letters and the space), 32 if it is wide (`.`, a
      negated class, letters and the space). Anchors are no states.
    - *Pieces* are parts of variable length, added and multiplied in the same way: one for `{m,n}`
      if m < n, a half for `?`, `*`, `+`, `{m,}` and each `|`; a loop around `{m,n}` counts that
      one threefold. The dearest atom in such a part says how much of a piece it is: all of it for
      letters and wide atoms, a quarter for narrow ones with the space, a sixteenth for other
      classes, nothing for literals and digits; `{m,n}` is never less than a sixteenth.
    - In a pattern with raw characters beyond ASCII no piece is less than a sixteenth, what exceeds
      the first counts 40-fold, and a repetition of a part that holds a piece is `SATURATED`.

    Args:
        pattern: The regular expression as the keyword holds it, after JSON is decoded.

    Returns:
        The measure. No number in it is above `SATURATED`.
    """
    # The atom read last waits in the `atom` variables until it is known whether a quantifier
    # follows; the others are for the rest of its group. Spans are the pieces that `{m,n}` makes,
    # loops all other pieces. A share is what a whole piece made of the thing would count.
    states = spans = loops = share = bars = 0
    atom = atom_spans = atom_loops = atom_share = 0
    outer: list[tuple[int, int, int, int, int]] = []
    quantified = False
    depth = deepest = max_bound = 0
    automaton = pattern.isascii()
    at, end = 0, len(pattern)

    while at < end:
        char = pattern[at]
        at += 1
        weight, next_share = _NARROW, _NO_PIECE
        if char in _SPECIAL:
            if char in "*+?{":
                copies, kind, bound, after = _quantifier(pattern, at)
                if copies:
                    if quantified and char == "?":  # a mark on the quantifier: `a*?`
                        quantified = False
                        continue
                    at = after
                    quantified = True
                    max_bound = max(max_bound, bound)
                    if not automaton:
                        atom_share = max(atom_share, _RULES_PIECE)
                        if kind != _OPTION and (atom_spans or atom_loops):
                            atom = SATURATED
                    atom = min(atom * copies, SATURATED)
                    atom_spans = min(atom_spans * copies, SATURATED)
                    atom_loops = min(atom_loops * copies, SATURATED)
                    if kind == _SPAN:
                        atom_share = max(atom_share, _FEW_PIECE)
                        atom_spans += atom_share
                    elif kind != _EXACT:
                        atom_loops += atom_share // 2
                        if kind == _LOOP:
                            atom_spans *= _LOOPED_SPAN
                    continue
            elif char == "\\":
                weight, next_share, at = _escape(pattern, at)
            elif char == "[":
                weight, next_share, at = _class(pattern, at)
            elif char == ".":
                weight, next_share = _WIDE, _PIECE
            elif char == "(":
                depth += 1
                deepest = max(deepest, depth)
                at = _group_head(pattern, at)
                quantified = False
                if depth <= _WEIGHED_DEPTH:
                    share = max(share, atom_share)
                    outer.append(
                        (states + atom, spans + atom_spans, loops + atom_loops, share, bars)
                    )
                    states = spans = loops = share = bars = 0
                    atom = atom_spans = atom_loops = atom_share = 0
                continue
            elif char == ")" and depth:
                depth -= 1
                quantified = False
                if depth < _WEIGHED_DEPTH:  # the whole group is now the atom
                    atom_share = max(share, atom_share)
                    atom = min(states + atom, SATURATED)
                    atom_spans += spans
                    atom_loops += loops + bars * atom_share // 2
                    states, spans, loops, share, bars = outer.pop()
                continue
            elif char == "|":
                bars += 1
                weight = 0
            elif char in "^$":
                weight = 0
        states += atom
        spans += atom_spans
        loops += atom_loops
        share = max(share, atom_share)
        atom, atom_spans, atom_loops, atom_share = weight, 0, 0, next_share
        quantified = False

    states += atom
    share = max(share, atom_share)
    pieces = spans + atom_spans + loops + atom_loops + bars * share // 2
    while outer:  # a group without its end
        outer_states, outer_spans, outer_loops, outer_share, bars = outer.pop()
        states += outer_states
        share = max(share, outer_share)
        pieces += outer_spans + outer_loops + bars * share // 2
    pieces = max(pieces, _PIECE)
    if not automaton:
        pieces += (pieces - _PIECE) * (_RULES_FACTOR - 1)
    repeats = states * pieces // _PIECE
    if deepest > _WEIGHED_DEPTH:
        repeats = SATURATED
    return PatternCost(
        length=min(end, SATURATED),
        group_depth=min(deepest, SATURATED),
        repeats=min(repeats, SATURATED),
        max_bound=max_bound,
    )


def _quantifier(pattern: str, at: int) -> tuple[int, int, int, int]:
    """Read the quantifier whose first character stands before `at`.

    Returns:
        How often its atom is written out, its kind, the largest number it names, and where it ends.
        Zero copies say that this is an ordinary brace.
    """
    if pattern[at - 1] != "{":
        return 1, _OPTION if pattern[at - 1] == "?" else _LOOP, 0, at
    low, stop = _number(pattern, at)
    high = low
    kind = _EXACT
    if pattern[stop : stop + 1] == ",":
        high, stop = _number(pattern, stop + 1)
        if high < 0:
            kind = _LOOP
        elif low != high:
            kind = _SPAN if high > 1 else _OPTION
    largest = max(low, high)
    if largest < 0 or pattern[stop : stop + 1] != "}":
        return 0, _EXACT, 0, at
    return max(largest, 1), kind, largest, stop + 1


def _number(pattern: str, at: int) -> tuple[int, int]:
    """Read a number with spaces around it: its value, saturated, or -1; and where it ends."""
    at = _run(pattern, at, _SPACE)
    end = _run(pattern, at, _DIGITS)
    # Only a short text becomes an int: the conversion is quadratic, and refused above 4,300 digits.
    digits = pattern[at:end].lstrip("0")
    if len(digits) >= len(str(SATURATED)):
        value = SATURATED
    else:
        value = int(digits or "0") if end > at else -1
    return value, _run(pattern, end, _SPACE)


def _run(pattern: str, at: int, members: frozenset[str]) -> int:
    """Where the run of `members` that starts at `at` ends."""
    end = len(pattern)
    while at < end and pattern[at] in members:
        at += 1
    return at


def _group_head(pattern: str, at: int) -> int:
    """Skip what follows an opening parenthesis and is no atom: `?:`, `?!`, `?<name>`."""
    if pattern[at : at + 1] != "?":
        return at
    at += 1
    if pattern[at : at + 1] == "P":
        at += 1
    if pattern[at : at + 1] != "<":
        return at + (pattern[at : at + 1] in (":", "=", "!", ">"))
    at += 1
    if pattern[at : at + 1] in ("=", "!"):
        return at + 1
    at = _word(pattern, at)
    return at + (pattern[at : at + 1] == ">")


def _word(pattern: str, at: int) -> int:
    """Where the run of letters, digits, `_`, `$` and `=` that starts at `at` ends."""
    end = len(pattern)
    while at < end and (pattern[at].isalnum() or pattern[at] in "_$="):
        at += 1
    return at


def _braced(pattern: str, at: int) -> int:
    """Where the `{word}` at `at` ends; `at` if there is none."""
    if pattern[at : at + 1] != "{":
        return at
    stop = _word(pattern, at + 1)
    return stop + 1 if pattern[stop : stop + 1] == "}" else at


def _escape(pattern: str, at: int) -> tuple[int, int, int]:
    """Read the escape whose backslash stands before `at`: weight, share, and where it ends."""
    members, code, after = _escaped(pattern, at)
    if members < 0:
        return _WIDE, _PIECE, after
    if code >= 0:
        return _NARROW, _NO_PIECE, after
    return (*_weigh(members, 0), after)


def _escaped(pattern: str, at: int) -> tuple[int, int, int]:
    r"""Read the escape whose backslash stands before `at`.

    Returns:
        The ASCII members of a shorthand such as `\d`, -1 for a negated or property one; the code
        point of a single character, -1 for a shorthand; and where the escape ends.
    """
    char = pattern[at : at + 1]
    at += len(char)
    if char in _SHORTHANDS:
        return _SHORTHANDS[char], -1, at
    if char in _NEGATED:
        return -1, -1, _braced(pattern, at) if char in "pP" else at
    if char in _CONTROLS:
        return 0, _CONTROLS[char], at
    if char in ("x", "u"):
        after = at + (2 if char == "x" else 4)
        digits = pattern[at:after]
        if len(digits) != after - at or not _HEX_DIGITS.issuperset(digits):
            after = _braced(pattern, at) if char == "u" else at
            digits = pattern[at + 1 : after - 1].lstrip("0") or "0"
        if after > at and len(digits) <= 6 and _HEX_DIGITS.issuperset(digits):
            return 0, int(digits, 16), after
    # Anything else stands for itself, a backslash at the very end too.
    return 0, ord(char or "\\"), at


def _class(pattern: str, at: int) -> tuple[int, int, int]:
    """Read the class whose bracket stands before `at`: weight, share, and where it ends."""
    end = len(pattern)
    negated = pattern[at : at + 1] == "^"
    at += negated
    members = beyond = 0
    first = -1  # the character that a hyphen would make the start of a range
    while at < end:
        char = pattern[at]
        at += 1
        if char == "]":
            break
        some, code = 0, ord(char)
        if char == "\\":
            some, code, at = _escaped(pattern, at)
        elif char == "-" and first >= 0 and pattern[at : at + 1] not in ("]", ""):
            last, after = ord(pattern[at]), at + 1
            if pattern[at] == "\\":
                _, last, after = _escaped(pattern, after)
            if last >= 0:  # otherwise a shorthand follows, and the hyphen is a member
                members |= _bits(first, last)
                beyond += max(last - max(first, 127), 0)
                first, at = -1, after
                continue
        negated = negated or some < 0
        members |= max(some, 0)
        if code >= 0:
            members |= _bits(code, code)
            beyond += code > 127
        first = code
    if negated:
        return _WIDE, _PIECE, at
    return (*_weigh(members, beyond), at)


def _weigh(members: int, beyond: int) -> tuple[int, int]:
    """Weigh a set of characters.

    Args:
        members: Its ASCII characters, one bit each.
        beyond: How many characters it has beyond ASCII.

    Returns:
        The states that it costs, and what one variable piece made of it counts.
    """
    letters = ((members & _LOWER) | ((members & _UPPER) << 32)).bit_count()
    spaced = members & _BLANK
    if letters > _FEW_LETTERS:
        return (_WIDE if spaced else _WORD), _PIECE
    if beyond >= _SCRIPT or (letters and spaced):
        return _WORD, _PIECE
    if spaced:
        return _SPACED, _SPACED_PIECE
    return _NARROW, (_FEW_PIECE if members & ~_DECIMAL else _NO_PIECE)


#: Longer patterns are not read: a rule refuses them for their length.
MAX_MEASURED = 4_096
_REMEMBERED = 1_024
_costs: dict[str, PatternCost] = {}


def cost(pattern: str) -> PatternCost:
    """`measure`, remembered: the rules of one schema ask for the same pattern again and again.

    A pattern of more than `MAX_MEASURED` characters is not read; all its numbers are `SATURATED`.
    """
    known = _costs.get(pattern)
    if known is None:
        if len(pattern) > MAX_MEASURED:
            return PatternCost(
                length=len(pattern), group_depth=SATURATED, repeats=SATURATED, max_bound=SATURATED
            )
        known = measure(pattern)
        if len(_costs) >= _REMEMBERED:
            _costs.clear()
        _costs[pattern] = known
    return known


def broad(pattern: str) -> int:
    """The `repeats` of a pattern without its literals, which hardly cost anything.

    A state that one character leads on from ends nearly every token at once.
    """
    return max(0, cost(pattern).repeats - len(_NO_LITERAL.sub("", pattern)))


def share(pattern: str) -> int:
    """What a pattern adds to the sum of a document: see `broad`; and something for being read.

    The second part bounds how many characters are measured before a sum is over its limit.
    """
    return broad(pattern) + len(pattern) // 64


def patterns_of(schema: dict[str, Any]) -> list[str]:
    """The patterns of one schema: its `pattern`, and the names of its `patternProperties`."""
    found = [schema.get("pattern"), *_names(schema.get("patternProperties"))]
    return [pattern for pattern in found if isinstance(pattern, str)]


def _names(value: object) -> list[Any]:
    return list(value) if isinstance(value, dict) else []
