"""Values inside a schema that are data: `enum`, `const`, `default`, annotations, unknown keywords.

No schema rule looks into them, but they have to be JSON, they are part of the text that an engine
gets, and they may be hostile: deep, shared, cyclic, of types that no JSON writer knows. Everything
here walks with an explicit stack and stops at a number of values.
"""

from __future__ import annotations

from schemaguard.keywords import characters, is_encodable, is_number
from schemaguard.rules import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.rules import Rule

    #: (name of a rule, tokens below the value, detail for the message)
    Fault = tuple[str, tuple[str | int, ...], str]


#: No more faults are spelt out when their paths have taken about so many steps.
_MANY_STEPS = 1_000_000
#: After so many containers a value is asked for its whole size.
_MANY_CONTAINERS = 1 << 15


def rule_of(name: str) -> Rule:
    """The rule that a fault's name stands for; these rules hold in every profile."""
    return BY_NAME[name]


def weigh(value: object, room: int) -> tuple[int, int]:
    """How many values are inside, and how deep the containers nest; (-1, 0) if it is no plain JSON.

    Args:
        value: anything.
        room: stop beyond so many values; the first number of the result is then larger than it.
    """
    kind = value.__class__
    if isinstance(value, str):
        return (0, 0) if is_encodable(value) else (-1, 0)
    if value is None or kind is bool:
        return 0, 0
    if kind is int or kind is float:
        return (0, 0) if is_number(value) else (-1, 0)
    if kind is not list and kind is not dict:
        return -1, 0
    inside, nesting, found = faults(value, room, 1)
    return (-1, 0) if found else (inside, nesting)


def faults(value: object, room: int, cap: int) -> tuple[int, int, list[Fault]]:
    """Values inside, nesting, and what is no plain JSON, with where it is.

    Args:
        value: anything.
        room: stop beyond so many values; the first number of the result is then larger than it.
        cap: stop after so many faults.
    """
    inside = 0
    nesting = 0
    found: list[Fault] = []
    # Containers to enter: (container, depth of containers above it, link to where it stands); a
    # link is (link of the container above, key).
    stack: list[tuple[Any, int, Any]] = []
    if value.__class__ is dict or value.__class__ is list:
        stack.append((value, 0, None))
    else:
        _note(value, None, None, found)
    entered = 0
    while stack and len(found) < cap:
        container, depth, link = stack.pop()
        entered += 1
        if entered == _MANY_CONTAINERS:
            # Long enough to ask whether parts contain themselves, or are shared and multiply.
            values = size(value)
            if values is None or values > room:
                return room + 1, nesting, found
        depth += 1
        nesting = max(nesting, depth)
        inside += len(container)
        if inside > room:
            break
        members = container.items() if container.__class__ is dict else enumerate(container)
        below = len(stack)
        for key, member in members:
            if len(found) * depth > _MANY_STEPS or len(found) >= cap:
                break
            kind = member.__class__
            if kind is dict or kind is list:
                stack.append((member, depth, (link, key)))
            elif kind is not str or not member.isascii():
                _note(member, link, key, found)
            if container.__class__ is dict and not (isinstance(key, str) and is_encodable(key)):
                _note_name(key, link, found)
        stack[below:] = stack[below:][::-1]  # the first container next: document order
    return inside, nesting, found


def _note(member: object, link: Any, key: Any, found: list[Fault]) -> None:
    fault = _scalar_fault(member)
    if fault is not None:
        path = _path(link) if key is None else (*_path(link), _token(key))
        found.append((fault[0], path, fault[1]))


def _note_name(name: object, link: Any, found: list[Fault]) -> None:
    if isinstance(name, str):
        found.append(("lone-surrogate", (*_path(link), str(name)), "in a name"))
    else:
        found.append(("non-string-key", _path(link), type(name).__name__))


def _scalar_fault(item: object) -> tuple[str, str] | None:
    kind = item.__class__
    if isinstance(item, str):
        return None if is_encodable(item) else ("lone-surrogate", "in a string")
    if item is None or kind is bool:
        return None
    if kind is int:
        return None if is_number(item) else ("overlong-integer", "more than 4,300")
    if kind is float:
        return None if is_number(item) else ("non-finite-number", str(item))
    return "not-json", type(item).__name__


def _path(link: Any) -> tuple[str | int, ...]:
    path: list[str | int] = []
    while link is not None:
        link, key = link
        path.append(_token(key))
    return tuple(reversed(path))


def _token(key: object) -> str | int:
    """A reference token; a key that is no name stands for itself as its type."""
    return key if isinstance(key, str | int) else f"<{type(key).__name__}>"


def equal(one: object, other: object) -> bool:
    """Equal as JSON Schema has it: 1 is 1.0 and not `true`, and members have no order."""
    return _equal(one, other, in_order=False)


def same(one: object, other: object) -> bool:
    """Equal as JSON text is: 1.0 is not 1, and members have their order."""
    return _equal(one, other, in_order=True)


def _equal(one: Any, other: Any, *, in_order: bool) -> bool:
    pending = [(one, other)]
    while pending:
        a, b = pending.pop()
        if in_order and a is b:
            continue
        if a.__class__ is not b.__class__ and (in_order or not _are_numbers(a, b)):
            return False
        if a.__class__ is dict:
            if (list(a) != list(b)) if in_order else (a.keys() != b.keys()):
                return False
            pending += [(a[key], b[key]) for key in a]
        elif a.__class__ is list:
            if len(a) != len(b):
                return False
            pending += zip(a, b, strict=True)
        elif a != b:
            return False
    return True


def _are_numbers(one: object, other: object) -> bool:
    return one.__class__ in (int, float) and other.__class__ in (int, float)


def size(root: object) -> int | None:
    """How many JSON values a document has, shared parts counted on each path; None if it is cyclic.

    Each container is entered once, so the time is linear in what is there, however often it is
    shared.
    """
    if root.__class__ is not dict and root.__class__ is not list:
        return 1
    sizes: dict[int, int] = {}
    open_ = {id(root)}
    # An entry is a container that is being counted: [identity, count so far, containers to enter].
    stack: list[list[Any]] = [[id(root), *_count(root)]]
    while True:
        entry = stack[-1]
        for member in entry[2]:
            there = id(member)
            if there in sizes:
                entry[1] += sizes[there]
            elif there in open_:
                return None
            else:
                open_.add(there)
                stack.append([there, *_count(member)])
                break
        else:
            here: int = entry[0]
            count: int = entry[1]
            stack.pop()
            open_.discard(here)
            sizes[here] = count
            if not stack:
                return count
            stack[-1][1] += count


#: Containers of so many members or fewer are looked through at a glance, each time they are met.
_GLANCE = 16


def _count(container: Any) -> tuple[int, Iterator[Any]]:
    """A container and what is in it that is settled at a glance; and the members still to enter."""
    count = 1
    inner = []
    for member in container.values() if container.__class__ is dict else container:
        kind = member.__class__
        if kind is not dict and kind is not list:
            count += 1
            continue
        if len(member) > _GLANCE:  # entered once, however often it is shared
            inner.append(member)
            continue
        for part in member.values() if kind is dict else member:
            if part.__class__ is dict or part.__class__ is list:
                inner.append(member)
                break
        else:
            count += 1 + len(member)
    return count, iter(inner)


def dumps(value: object, max_characters: int) -> str | None:
    """Compact JSON text of a parsed value, keys in their order; None if it has none.

    The C writer recurses; what is too deep for it is written with an explicit stack.

    Args:
        value: the value.
        max_characters: None, too, for a value that would take more: a long string that is shared
            by many places is written for each.
    """
    if characters(value, max_characters) > max_characters:
        return None
    import json  # noqa: PLC0415  (only parsed values that were accepted are written)

    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return None
    except RecursionError:
        return _dumps_deep(value)


def _dumps_deep(value: object) -> str | None:
    from json import dumps as write  # noqa: PLC0415  (for scalars and names)

    if size(value) is None:
        return None
    parts: list[str] = []
    # Text to write, or a value to take apart.
    stack: list[tuple[bool, Any]] = [(False, value)]
    while stack:
        is_text, item = stack.pop()
        if is_text:
            parts.append(item)
        elif item.__class__ is dict and item:
            stack.append((True, "}"))
            members = list(item.items())
            for index in range(len(members) - 1, -1, -1):
                key, member = members[index]
                if not isinstance(key, str):
                    return None
                stack.append((False, member))
                stack.append((True, ("," if index else "{") + write(key, ensure_ascii=False) + ":"))
        elif item.__class__ is list and item:
            stack.append((True, "]"))
            for index in range(len(item) - 1, -1, -1):
                stack.append((False, item[index]))
                stack.append((True, "," if index else "["))
        else:
            try:
                parts.append(write(item, ensure_ascii=False, allow_nan=False))
            except (TypeError, ValueError):
                return None
    return "".join(parts)
