"""What the grammar writes of its own accord: dead ends, text that is not JSON, random outputs.

The walk goes through the grammar breadth first, byte by byte, by forks of one matcher. Of what a
state allows it takes everything where there is a choice of few (names, listed values, numbers,
punctuation), and representatives where there are many (the inside of a string: a letter, an escape,
a control character, a character of two bytes, the closing quote). White space is taken only where
nothing else is possible.

States are told apart by where they are in the value, how far into a string or number, and by what
they allow. A state without a way on is a dead end; so is one from which the walk finds no end:
then a text that does all it can to finish is written from it, and has to end within a bound.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit.engines import END
from schemaguard.grammar.audit.lexer import (
    BACKSLASH,
    FEW,
    FEW_IN_NAMES,
    FREE,
    LAST_INDEX,
    QUOTE,
    SPACE,
    Lexer,
)
from schemaguard.grammar.audit.spelling import parse

if TYPE_CHECKING:
    from schemaguard.grammar.audit.engines import Cursor, Grammar

#: Steps that a walk takes.
MAX_STEPS = 8_000

#: Containers within each other that a walk enters.
MAX_DEPTH = 12

#: Of these, arrays.
MAX_ARRAYS = 2

#: Of these, those under names that the schema does not know, and items after the third.
MAX_FREE = 1

#: Characters of a string that a walk writes.
MAX_RUN = 64

#: Bytes that a text which does all it can to finish gets.
MAX_FINISH = 3_000

#: So many texts may be given up, each of which takes a while.
MAX_UNFINISHED = 4

#: A text that is nested deeper than this when those are used up goes on for ever.
MAX_NESTING = 64

_DIGITS = frozenset(b"0123456789")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_HEX_DIGIT = b"6"[0]


class Walk:
    """What a walk found.

    Attributes:
        dead_end: the beginning of a text that cannot be finished, or None.
        why: what is wrong with it.
        broken: a text that can be written and is not JSON, or None.
        states: how many states were visited.
        complete: False when a bound ended the walk.
    """

    __slots__ = ("broken", "complete", "dead_end", "states", "unfinished", "why")

    def __init__(self) -> None:
        self.dead_end: str | None = None
        self.why = ""
        self.broken: str | None = None
        self.states = 0
        self.unfinished = 0  # texts that were given up
        self.complete = True


def refused_at(grammar: Grammar, text: str) -> tuple[Any, ...]:
    """The path to where a grammar stops taking a text; indices up to `LAST_INDEX`."""
    cursor, lexer = grammar.start(), Lexer()
    for byte in text.encode():
        if not cursor.push(byte):
            return lexer.place(byte, cursor.allowed())
        lexer.feed(byte)
    return lexer.place(END, cursor.allowed())


class _State:
    """A node of the walked graph: how it was reached, and where it leads."""

    __slots__ = ("allowed", "cursor", "ends", "lexer", "next", "prefix")

    def __init__(self, cursor: Cursor, lexer: Lexer, prefix: bytes, allowed: list[int]) -> None:
        self.cursor = cursor
        self.lexer = lexer
        self.prefix = prefix
        self.allowed = allowed
        self.next: list[_State] = []
        self.ends = False


def walk(grammar: Grammar, most: int = MAX_STEPS) -> Walk:
    """Walk through a grammar.

    Args:
        grammar: to walk through.
        most: steps that are taken at most.
    """
    found = Walk()
    known: dict[tuple[Any, ...], _State] = {}
    cursor = grammar.start()
    first = _State(cursor, Lexer(), b"", cursor.allowed())
    everything = [first]
    queue = deque([first])
    steps = 0
    while queue and found.dead_end is None:
        state = queue.popleft()
        allowed = state.allowed
        if not allowed:
            if _is_text(state.prefix):
                found.dead_end = state.prefix.decode()
                found.why = "after this nothing can follow"
            continue
        if END in allowed:
            state.ends = True
            _note_broken(state.prefix, found)
        if steps >= most:
            found.complete = False
            state.ends = True  # as far as is known
            continue
        found.states += 1
        lexer = state.lexer
        if _is_beyond(lexer):
            state.ends = state.ends or not _goes_on_for_ever(state, found)
            continue
        if lexer.in_name and len(allowed) > FEW_IN_NAMES:
            lexer.set_free()
        for byte in _choices(allowed, lexer):
            cursor = state.cursor.fork()
            if not cursor.push(byte):
                continue
            steps += 1
            ahead = lexer.fork()
            ahead.feed(byte)
            next_allowed = cursor.allowed()
            key = ahead.state(next_allowed)
            following = known.get(key)
            if following is None:
                prefix = state.prefix + bytes((byte,))
                following = known[key] = _State(cursor, ahead, prefix, next_allowed)
                everything.append(following)
                queue.append(following)
            state.next.append(following)
    if found.dead_end is None:
        _find_endless(everything, found)
    return found


def _choices(allowed: list[int], lexer: Lexer) -> list[int]:
    """The bytes that the walk goes on with."""
    usual = [byte for byte in allowed if byte != END]
    if not lexer.in_string:
        if _DIGITS.issubset(usual):
            usual = [byte for byte in usual if byte not in _DIGITS or byte in b"019"]
        return [byte for byte in usual if byte not in SPACE] or usual[:1]
    if set(usual) == _HEX:
        return [_HEX_DIGIT]
    text = lexer.text
    if text and text[-1] >= 0xC0:
        return [byte for byte in usual if byte >= 0x80][:1]
    if len(usual) <= (FEW_IN_NAMES if lexer.in_name else FEW):
        plain = [byte for byte in usual if byte < 0x80]
        return plain + [byte for byte in usual if byte >= 0x80][:1]
    chosen = [QUOTE] if QUOTE in usual else []
    if chosen and lexer.run >= 2:
        return chosen
    for group in (b"aZ0-", b"\\", b"\x01\t", b"\xc3"):
        chosen.extend([byte for byte in group if byte in usual][:1])
    return chosen or usual[:1]


def _is_beyond(lexer: Lexer) -> bool:
    path = lexer.path
    free = path.count(FREE) + path.count(LAST_INDEX)
    items = sum(step.__class__ is int for step in path)
    return len(path) > MAX_DEPTH or free > MAX_FREE or items > MAX_ARRAYS or lexer.run > MAX_RUN


def _goes_on_for_ever(state: _State, found: Walk) -> bool:
    """Whether no text that begins like this ends, as far as one that tries all it can shows.

    Text that has not ended by then proves nothing but when it nests deeper and deeper: it may have
    to be long.
    """
    if found.unfinished >= MAX_UNFINISHED:
        found.complete = False
        return False
    cursor, lexer = state.cursor.fork(), state.lexer.fork()
    rest = finish(cursor, lexer, MAX_FINISH)
    if rest is not None:
        if not lexer.sound:
            _note_broken(state.prefix + rest, found)
        return False
    if not cursor.allowed() or len(lexer.path) > MAX_NESTING:
        return True
    found.unfinished += 1
    found.complete = False
    return False


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _note_broken(prefix: bytes, found: Walk) -> None:
    if found.broken is not None:
        return
    try:
        text = prefix.decode()
    except UnicodeDecodeError:
        return
    try:
        parse(text)
    except ValueError:
        found.broken = text


def _find_endless(everything: list[_State], found: Walk) -> None:
    """Find the first state from which no way ends."""
    before: dict[int, list[_State]] = {}
    for state in everything:
        for following in state.next:
            before.setdefault(id(following), []).append(state)
    queue = [state for state in everything if state.ends]
    while queue:
        for earlier in before.get(id(queue.pop()), ()):
            if not earlier.ends:
                earlier.ends = True
                queue.append(earlier)
    for state in everything:
        if state.ends or not _is_text(state.prefix):
            continue
        # States that differ may have been taken for the same, so this has to be seen.
        if _goes_on_for_ever(state, found):
            found.dead_end = state.prefix.decode()
            found.why = "every text that begins like this goes on for ever"
            return


def finish(cursor: Cursor, lexer: Lexer, most: int) -> bytes | None:
    """The rest of a text that closes whatever it can as soon as it can.

    Returns:
        None when nothing more can follow, or it has not ended within `most` bytes.
    """
    written = bytearray()
    while len(written) <= most:
        allowed = cursor.allowed()
        if END in allowed:
            return bytes(written)
        if not allowed:
            return None
        byte = _closing(allowed, lexer, len(written))
        cursor.push(byte)
        lexer.feed(byte)
        written.append(byte)
    return None


def _closing(allowed: list[int], lexer: Lexer, turn: int) -> int:
    """The byte that brings the end nearest; in turn, where that cannot be told."""
    order = b'"' if lexer.in_string else b"}]," if lexer.in_word else b'}]n0tf1"[{,:'
    for byte in order:
        if byte in allowed:
            return byte
    # Plain ASCII, so that no character is left in pieces.
    usual = [byte for byte in allowed if 0x20 < byte < 0x7F and byte != BACKSLASH] or allowed
    return usual[turn * 7 % len(usual)]
