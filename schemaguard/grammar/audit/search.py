"""What the grammar writes of its own accord: dead ends, text that is not JSON, random outputs.

The walk goes through the grammar breadth first, byte by byte, by forks of one matcher; see
`stepping` for what it takes of what a state allows.

States are told apart by where they are in the value, how far into a string or number, and by what
they allow. A state without a way on is a dead end; so is one from which the walk finds no end:
then a text that does all it can to finish is written from it, and has to end within a bound.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import stepping
from schemaguard.grammar.audit.stepping import END
from schemaguard.grammar.audit.writing import PLAIN

if TYPE_CHECKING:
    from schemaguard.grammar.audit.engines import Cursor, Grammar
    from schemaguard.grammar.audit.stepping import Stepper
    from schemaguard.grammar.audit.writing import Writing

#: Steps that a walk takes.
MAX_STEPS = 8_000

#: Cursors that are kept at a time; others are made again from the text.
MAX_CURSORS = 16

#: Bytes that a text which does all it can to finish gets.
MAX_FINISH = 3_000

#: So many texts may be given up, each of which takes a while.
MAX_UNFINISHED = 4

#: A text that is nested deeper than this when those are used up goes on for ever.
MAX_NESTING = 64


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


def refused_at(grammar: Grammar, text: str, writing: Writing = PLAIN) -> tuple[Any, ...]:
    """The path to where a grammar stops taking a text; indices up to `LAST_INDEX`."""
    cursor, lexer = grammar.start(), writing.lexer()
    for byte in text.encode():
        if not cursor.push(byte):
            return lexer.place(byte, cursor.allowed())
        lexer.feed(byte)
    return lexer.place(END, cursor.allowed())


class _State:
    """A node of the walked graph: how it was reached, and where it leads."""

    __slots__ = ("allowed", "cursor", "ends", "lexer", "next", "prefix")

    def __init__(self, lexer: Stepper, prefix: bytes, allowed: list[int]) -> None:
        self.cursor: Cursor | None = None  # while it is worth its memory
        self.lexer = lexer
        self.prefix = prefix
        self.allowed = allowed
        self.next: list[_State] = []
        self.ends = False


class _Cursors:
    """The cursors of states that wait. Few are kept: with many alternatives one takes megabytes."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._kept = 0

    def keep(self, state: _State, cursor: Cursor) -> None:
        """Keep the cursor of a state, if there is room."""
        if self._kept < MAX_CURSORS:
            self._kept += 1
            state.cursor = cursor

    def take(self, state: _State) -> Cursor:
        """The cursor of a state, which it has no longer."""
        cursor = state.cursor
        if cursor is None:
            cursor = self._grammar.start()
            for byte in state.prefix:
                cursor.push(byte)
        else:
            self._kept -= 1
            state.cursor = None
        return cursor


def walk(grammar: Grammar, most: int = MAX_STEPS, writing: Writing = PLAIN) -> Walk:
    """Walk through a grammar.

    Args:
        grammar: to walk through.
        most: steps that are taken at most.
        writing: how it writes instances.
    """
    found = Walk()
    known: dict[tuple[Any, ...], _State] = {}
    cursors = _Cursors(grammar)
    first = _State(writing.lexer(), b"", grammar.start().allowed())
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
            _note_broken(state.prefix, found, writing)
        if steps >= most:
            found.complete = False
            state.ends = True  # as far as is known
            continue
        found.states += 1
        lexer = state.lexer
        if stepping.is_beyond(lexer):
            state.ends = state.ends or not _goes_on_for_ever(state, cursors, found, writing)
            continue
        here = cursors.take(state)
        choices = lexer.choices(allowed)
        for index, byte in enumerate(choices):
            cursor = here if index == len(choices) - 1 else here.fork()
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
                following = known[key] = _State(ahead, prefix, next_allowed)
                cursors.keep(following, cursor)
                everything.append(following)
                queue.append(following)
            state.next.append(following)
    if found.dead_end is None:
        _find_endless(everything, cursors, found, writing)
    return found


def _goes_on_for_ever(state: _State, cursors: _Cursors, found: Walk, writing: Writing) -> bool:
    """Whether no text that begins like this ends, as far as one that tries all it can shows.

    Text that has not ended by then proves nothing but when it nests deeper and deeper: it may have
    to be long.
    """
    if found.unfinished >= MAX_UNFINISHED:
        found.complete = False
        return False
    cursor, lexer = cursors.take(state), state.lexer.fork()
    rest = finish(cursor, lexer, MAX_FINISH)
    if rest is not None:
        if not lexer.sound:
            _note_broken(state.prefix + rest, found, writing)
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


def _note_broken(prefix: bytes, found: Walk, writing: Writing) -> None:
    if found.broken is not None:
        return
    try:
        text = prefix.decode()
    except UnicodeDecodeError:
        return
    if not writing.readings(text):
        found.broken = text


def _find_endless(
    everything: list[_State], cursors: _Cursors, found: Walk, writing: Writing
) -> None:
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
        if _goes_on_for_ever(state, cursors, found, writing):
            found.dead_end = state.prefix.decode()
            found.why = "every text that begins like this goes on for ever"
            return


def finish(cursor: Cursor, lexer: Stepper, most: int) -> bytes | None:
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
        byte = lexer.closing(allowed, len(written))
        cursor.push(byte)
        lexer.feed(byte)
        written.append(byte)
    return None
