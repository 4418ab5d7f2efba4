"""A schema under change: each change makes a new value that shares what it does not touch.

The value that was passed in is never changed, and a draft that turns out worse is simply dropped.
What a new container was made from is remembered, so that text can be written later from the places
where it stood: a schema that moves takes its comments along.
"""

from __future__ import annotations

from schemaguard.keywords import DATA, DEPENDENCIES, KEYWORDS, SCHEMA_MAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Schema = dict[str, Any]
    Tokens = tuple[str | int, ...]

_MISSING: Any = object()


class History:
    """Where the containers of a draft come from.

    The change functions below make one container from another and say so here. Containers are kept,
    so that their identities stay theirs.

    Attributes:
        brought: identity of a schema of another document → its name under `$defs`.
    """

    __slots__ = ("_absent", "_kept", "_origins", "brought")

    def __init__(self) -> None:
        self.brought: dict[int, str] = {}
        self._kept: list[Any] = []
        self._origins: dict[int, Any] = {}
        self._absent: dict[int, frozenset[str]] = {}

    def origin(self, container: Any) -> Any:
        """The container of the original value that this one was made from.

        A container of the original is its own origin; so is one that was made from nothing, which
        the original then does not have.
        """
        return self._origins.get(id(container), container)

    def absent(self, schema: Any) -> frozenset[str]:
        """Properties of an object schema that had been optional and are null for absent now."""
        return self._absent.get(id(schema), frozenset())

    def made(self, new: Any, old: Any, absent: Iterable[str] = ()) -> Any:
        """Note that a container was made from another; returns it."""
        self._kept.append(new)
        self._origins[id(new)] = self.origin(old)
        names = self.absent(old).union(absent)
        if names:
            self._absent[id(new)] = names
        return new

    def joined(self, new: Any, *others: Any) -> Any:
        """Note that others went into a container that was made from one; returns it."""
        names = self.absent(new).union(*map(self.absent, others))
        if names:
            self._kept.append(new)
            self._absent[id(new)] = names
        return new

    # Changes of one container

    def put(self, schema: Schema, key: str, value: Any, after: Iterable[str] = ()) -> Schema:
        """With a member: where it stood; else behind the last of some keys; else at the end."""
        if key in schema:
            return self.made({k: value if k == key else v for k, v in schema.items()}, schema)  # type: ignore[no-any-return]
        behind = [k for k in schema if k in set(after)]
        if not behind:
            return self.made({**schema, key: value}, schema)  # type: ignore[no-any-return]
        members: Schema = {}
        for name, member in schema.items():
            members[name] = member
            if name == behind[-1]:
                members[key] = value
        return self.made(members, schema)  # type: ignore[no-any-return]

    def drop(self, schema: Schema, *keys: str) -> Schema:
        """Without some members."""
        return self.made({k: v for k, v in schema.items() if k not in keys}, schema)  # type: ignore[no-any-return]

    def rename(self, schema: Schema, key: str, name: str) -> Schema:
        """With a member under another name, in its place."""
        return self.made({name if k == key else k: v for k, v in schema.items()}, schema)  # type: ignore[no-any-return]

    def replace(self, schema: Schema, key: str, members: Schema) -> Schema:
        """With some members in the place of one."""
        found: Schema = {}
        for name, member in schema.items():
            found.update(members if name == key else {name: member})
        return self.made(found, schema)  # type: ignore[no-any-return]

    def append(self, items: list[Any], *more: Any) -> list[Any]:
        """With more items at the end."""
        return self.made([*items, *more], items)  # type: ignore[no-any-return]

    def without(self, items: list[Any], keep: Iterable[Any]) -> list[Any]:
        """With the items to keep alone, which are in their order."""
        return self.made(list(keep), items)  # type: ignore[no-any-return]

    def at(self, root: Any, tokens: Tokens, new: Any) -> Any:
        """The root with another value at a place."""
        path = [root]
        for token in tokens:
            path.append(path[-1][token])
        for token, holder in zip(reversed(tokens), reversed(path[:-1]), strict=True):
            changed: Any = dict(holder) if holder.__class__ is dict else list(holder)
            changed[token] = new
            new = self.made(changed, holder)
        return new


def unshared(root: Any) -> Any:
    """A value in which no container stands twice: itself, or a copy of it."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        container = pending.pop()
        if container.__class__ is not dict and container.__class__ is not list:
            continue
        if id(container) in seen:
            return copied(root)
        seen.add(id(container))
        pending += container.values() if container.__class__ is dict else container
    return root


def copied(root: Any) -> Any:
    """A copy that shares no container with the value, nor with itself; without recursion."""
    top = [root]
    pending: list[tuple[Any, Any]] = [(top, 0)]
    while pending:
        holder, key = pending.pop()
        value = holder[key]
        if value.__class__ is dict:
            copy: Any = dict(value)
        elif value.__class__ is list:
            copy = list(value)
        else:
            continue
        holder[key] = copy
        pending += [(copy, k) for k in (copy if copy.__class__ is dict else range(len(copy)))]
    return top[0]


def children(schema: Any) -> Iterator[tuple[Tokens, Any]]:
    """The subschemas of a schema, with the steps to each; booleans included."""
    if schema.__class__ is not dict:
        return
    for keyword, held in schema.items():
        known = KEYWORDS.get(keyword)
        if known is None or known.holds == DATA:
            continue
        if held.__class__ is list:
            yield from (((keyword, index), member) for index, member in enumerate(held))
        elif held.__class__ is dict and known.holds in (SCHEMA_MAP, DEPENDENCIES):
            for name, member in held.items():
                if member.__class__ is not list:
                    yield (keyword, name), member
        else:
            yield (keyword,), held


def schemas(root: Any) -> Iterator[tuple[Tokens, Any]]:
    """All schemas of a document with their places, each before those inside it."""
    pending: list[tuple[Tokens, Any]] = [((), root)]
    while pending:
        tokens, schema = pending.pop()
        yield tokens, schema
        inner = [((*tokens, *steps), child) for steps, child in children(schema)]
        pending += reversed(inner)


def find(root: Any, tokens: Iterable[str | int]) -> tuple[Tokens, Any, Tokens]:
    """The deepest schema on the way to a place.

    Args:
        root: the document.
        tokens: reference tokens, numbers as digits.

    Returns:
        The steps to the schema, the schema, and the tokens that are left.
    """
    steps: list[str | int] = []
    schema = root
    rest = tuple(tokens)
    while rest and schema.__class__ is dict:
        keyword = str(rest[0])
        known = KEYWORDS.get(keyword)
        held = schema.get(keyword, _MISSING)
        if known is None or known.holds == DATA or held is _MISSING:
            break
        if held.__class__ is list or (held.__class__ is dict and known.holds in _MAPS):
            member, key = _member(held, rest[1:2])
            if member is _MISSING or member.__class__ is list:
                break
            steps += (keyword, key)
            schema, rest = member, rest[2:]
        else:
            steps.append(keyword)
            schema, rest = held, rest[1:]
    return tuple(steps), schema, rest


_MAPS = (SCHEMA_MAP, DEPENDENCIES)
_INDEX_DIGITS = 9


def _member(held: Any, token: tuple[str | int, ...]) -> tuple[Any, str | int]:
    if not token:
        return _MISSING, ""
    key = str(token[0])
    if held.__class__ is dict:
        return held.get(key, _MISSING), key
    if key.isascii() and key.isdecimal() and len(key) <= _INDEX_DIGITS and int(key) < len(held):
        return held[int(key)], int(key)
    return _MISSING, ""


def value_at(root: Any, tokens: Tokens) -> Any:
    """What stands at a place that is there."""
    for token in tokens:
        root = root[token]
    return root
