"""How deep a compiler can get that follows references one inside the other.

A definition is compiled where it is first referred to, inside what refers to it, and no second time
on the same path. So the deepest path goes through each definition at most once; through definitions
that refer to each other in a circle it may go in any order, and all of their levels count.
"""

from __future__ import annotations

from schemaguard.keywords import DEPENDENCIES, ITEMS, SCHEMA, SCHEMA_MAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.plan import Plans
    from schemaguard.refs import Resolver

    #: Levels of a schema, and the references in it: (level, location of the target).
    Part = tuple[int, list[tuple[int, str]]]

#: Schemas that are walked at the most: targets may lie inside each other.
_MOST = 200_000


def deepest(root: Any, resolver: Resolver, plans: Plans, limit: int) -> int:
    """Levels of the deepest path, or more than the limit when that would take long to find out.

    Args:
        root: the document.
        resolver: of the document.
        plans: the compiled profile; says which keywords hold schemas.
        limit: what the caller compares with.
    """
    parts: dict[str, Part] = {}
    waiting: list[tuple[str, Any]] = [("", root)]
    room = _MOST
    while waiting:
        location, schema = waiting.pop()
        if location in parts:
            continue
        levels, references, walked = _part(schema, resolver, plans)
        room -= walked
        if room < 0:
            return limit + 1
        parts[location] = (levels, [(level, target) for level, target, _ in references])
        waiting.extend((target, schema) for _, target, schema in references)
    return _longest(parts)


def _part(
    schema: Any, resolver: Resolver, plans: Plans
) -> tuple[int, list[tuple[int, str, Any]], int]:
    """Levels of one schema, the references in it, and how many schemas it has."""
    levels = 0
    walked = 0
    references = []
    stack = [(schema, 1)]
    while stack and walked <= _MOST:
        member, level = stack.pop()
        walked += 1
        levels = max(levels, level)
        if member.__class__ is not dict:
            continue
        target = resolver.of(member)
        if target is not None and not target.problem:
            references.append((level, target.location, target.schema))
        for keyword, holds in plans.entered.items():
            held = member.get(keyword)
            if keyword in _SET_ASIDE and member is not schema:
                continue
            if held.__class__ is dict and holds in (SCHEMA, ITEMS):
                stack.append((held, level + 1))
            elif held.__class__ is dict and holds in (SCHEMA_MAP, DEPENDENCIES):
                if keyword not in _SET_ASIDE:
                    stack.extend((inner, level + 1) for inner in held.values())
            elif held.__class__ is list and holds != SCHEMA:
                stack.extend((inner, level + 1) for inner in held)
    return levels, references, walked


#: What they hold is compiled only where something refers to it.
_SET_ASIDE = frozenset({"$defs", "definitions"})


def _longest(parts: dict[str, Part]) -> int:
    """The longest path through the parts, settled from the far end (Tarjan)."""
    order: dict[str, int] = {}  # part → number, in order of discovery
    low: dict[str, int] = {}
    value: dict[str, int] = {}
    open_: list[str] = []
    stack: list[tuple[str, int]] = [("", 0)]
    while stack:
        here, at = stack.pop()
        _levels, references = parts[here]
        if at == 0:
            order[here] = low[here] = len(order)
            open_.append(here)
        if at and references[at - 1][1] not in value:  # back from a part that is still open
            low[here] = min(low[here], low[references[at - 1][1]])
        while at < len(references):
            target = references[at][1]
            at += 1
            if target not in order:
                stack.append((here, at))
                stack.append((target, 0))
                break
            if target not in value:
                low[here] = min(low[here], order[target])
        else:
            if low[here] == order[here]:
                _close(here, parts, open_, value)
    return value[""]


def _close(first: str, parts: dict[str, Part], open_: list[str], value: dict[str, int]) -> None:
    """Settle the circle that began with a part: it is at the end of the open ones."""
    start = len(open_) - 1
    while open_[start] != first:
        start -= 1
    circle = open_[start:]
    del open_[start:]
    if len(circle) == 1:
        levels, references = parts[first]
        below = [level + value[target] for level, target in references if target in value]
        value[first] = max([levels, *below])
        return
    # Once through each of them, and then on from any.
    around = sum(parts[member][0] for member in circle)
    on = [value[t] for member in circle for _, t in parts[member][1] if t in value]
    for member in circle:
        value[member] = around + max(on, default=0)
