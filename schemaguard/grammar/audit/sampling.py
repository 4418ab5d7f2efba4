"""Random outputs on trial: each is judged, and what is invalid is made small and blamed."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import spelling
from schemaguard.grammar.audit.search import MAX_FINISH, finish
from schemaguard.grammar.audit.stepping import END

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.constraints import Constraint
    from schemaguard.grammar.audit.court import Court
    from schemaguard.grammar.audit.engines import Cursor, Grammar
    from schemaguard.grammar.audit.search import Walk
    from schemaguard.grammar.audit.stepping import Stepper
    from schemaguard.grammar.audit.writing import Writing

#: Smaller instances that are tried in place of one that failed.
MAX_SHRINKS = 300


def sample(
    court: Court,
    count: int,
    constraints: list[Constraint],
    walked: Walk,
) -> int:
    """Decode at random; leaks go to the findings, text that is not JSON to the walk.

    Returns:
        How many outputs were judged.
    """
    if walked.dead_end is not None:
        return 0  # most outputs would never end
    rng = random.Random(f"{court.seed} samples")  # noqa: S311 - reproducible
    judged = 0
    for text in outputs(court.grammar, count, rng, court.writing):
        judged += 1
        readings = court.writing.readings(text)
        if not readings:
            if walked.broken is None:
                walked.broken = text
        elif court.is_invalid(readings):
            _blame(court, text, readings, constraints)
    return judged


def _blame(
    court: Court,
    text: str,
    readings: tuple[Any, ...],
    constraints: list[Constraint],
) -> None:
    """Give an invalid output to the constraint that it breaks, however it is read."""
    candidates = constraints
    for read in readings:
        broken = court.judge.broken(read)
        candidates = [constraint for constraint in candidates if constraint.is_in(broken)]
    value = readings[0]
    alone = [c for c in candidates if court.judge.is_valid_without(c, value)]
    for constraint in alone[:1] or candidates:
        finding = court.finding(constraint.place, constraint.keyword)
        if finding.dropped is None:
            value = _shrunk(court, value, constraint, alone=bool(alone))
            text = court.leaks(value) or text
        finding.leak(text)


def _shrunk(court: Court, value: Any, constraint: Constraint, *, alone: bool) -> Any:
    """A smaller instance that fails in the same way and can be written, or the same."""

    def fails(candidate: Any) -> bool:
        if court.judge.is_valid(candidate) is not False or court.leaks(candidate) is None:
            return False
        if alone:
            return bool(court.judge.is_valid_without(constraint, candidate))
        return constraint.is_in(court.judge.broken(candidate))

    left = MAX_SHRINKS
    smaller = True
    while smaller and left:
        smaller = False
        size = _size(value)
        for candidate in _reductions(value):
            left -= 1
            if not left:
                break
            if _size(candidate) < size and fails(candidate):
                value, smaller = candidate, True
                break
    return value


def _size(value: Any) -> int:
    try:
        return len(spelling.compact(value))
    except spelling.Unspeakable:
        return 1 << 30


def _reductions(value: Any) -> Iterator[Any]:
    """The value with one member left out or made simpler, the largest steps first."""
    paths: list[tuple[Any, ...]] = [()]
    for path in paths:
        member = _at(value, path)
        if isinstance(member, dict):
            paths.extend((*path, key) for key in member)
        elif isinstance(member, list):
            paths.extend((*path, index) for index in range(len(member)))
    for path in paths:
        member = _at(value, path)
        if isinstance(member, dict):
            for name in member:
                yield _with(value, path, {k: v for k, v in member.items() if k != name})
        elif isinstance(member, list):
            for index in range(len(member)):
                yield _with(value, path, member[:index] + member[index + 1 :])
    for path in paths:
        member = _at(value, path)
        simpler: tuple[Any, ...] = ()
        if isinstance(member, str):
            simpler = ("", member[: len(member) // 2], member[:-1], "a" * len(member))
        elif isinstance(member, (dict, list)) and path:
            simpler = (0, "", {}, [])
        elif isinstance(member, (int, float)) and not isinstance(member, bool):
            simpler = (0, 1, int(member) if math.isfinite(member) else 0)
        yield from (_with(value, path, other) for other in simpler)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: tuple[Any, ...], member: Any) -> Any:
    for index in range(len(path) - 1, -1, -1):
        copy = _at(value, path[:index]).copy()
        copy[path[index]] = member
        member = copy
    return member


# ------------------------------------------------------------------------------------------------
# Decoding
# ------------------------------------------------------------------------------------------------


#: Outputs without an end after which no more are begun.
_ENDLESS = 2


def outputs(grammar: Grammar, count: int, rng: random.Random, writing: Writing) -> Iterator[str]:
    """Texts that the grammar lets be written, chosen at random; endless ones are left out."""
    endless = 0
    for _ in range(count):
        text = _output(grammar.start(), writing.lexer(), rng)
        if text is not None:
            yield text
            continue
        endless += 1
        if endless == _ENDLESS:
            return


#: Bytes after which an output closes whatever it can.
_LONG = 250


def _output(cursor: Cursor, lexer: Stepper, rng: random.Random) -> str | None:
    written = bytearray()
    while len(written) < _LONG:
        allowed = cursor.allowed()
        if not allowed:
            return None
        if END in allowed and (len(allowed) == 1 or rng.random() < 0.3):
            return _text(written)
        byte = lexer.chance([byte for byte in allowed if byte != END], rng)
        cursor.push(byte)
        lexer.feed(byte)
        written.append(byte)
    rest = finish(cursor, lexer, MAX_FINISH)
    return None if rest is None else _text(written + rest)


def _text(data: bytes | bytearray) -> str | None:
    try:
        return bytes(data).decode()
    except UnicodeDecodeError:  # the masks of xgrammar let halves of surrogate pairs through
        return None
