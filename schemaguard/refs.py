"""Document-local references: form, target, cycles, closure. Linear in the text of the references.

A location is the JSON Pointer of a schema in canonical form, without the `#`. Each schema has at
most one `$ref`, so references form a graph in which every location has at most one successor; what
holds at the end of a chain is written back to every location on it, and no chain is followed twice.

Contract: rules 32 to 42 of the `dynamo` profile (ai-dynamo/dynamo#15153); RFC 6901 for pointers.
"""

from __future__ import annotations

import re

from schemaguard.keywords import DEPENDENCIES, ITEMS, SCHEMA, SCHEMA_MAP, SCHEMAS, names_object
from schemaguard.plan import OBJECT_KEYWORDS
from schemaguard.report import pointer_of, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.plan import Plans
    from schemaguard.walk import Findings, Frame

_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})").search
_DIGITS = frozenset("0123456789")


class Target:
    """What a reference string leads to.

    Attributes:
        problem: name of the rule that speaks, or None when the target is a schema location.
        location: canonical pointer of the target.
        schema: the target.
    """

    __slots__ = ("location", "problem", "schema")

    def __init__(self, problem: str | None, location: str = "", schema: Any = None) -> None:
        self.problem = problem
        self.location = location
        self.schema = schema


class Resolver:
    """Resolves the references of one document, each string once."""

    def __init__(self, root: Any, plans: Plans) -> None:
        self.root = root
        self.entered = plans.entered
        self._known: dict[str, Target] = {}

    def resolve(self, ref: str) -> Target:
        """The target of a `$ref` string (contract rule 34)."""
        target = self._known.get(ref)
        if target is None:
            target = self._known[ref] = self._definition(ref) or self._resolve(ref)
        return target

    def of(self, schema: Any) -> Target | None:
        """The target of a schema's own `$ref`, or None when it has no `$ref` string."""
        if schema.__class__ is not dict:
            return None
        ref = schema.get("$ref")
        return self.resolve(ref) if isinstance(ref, str) else None

    def _definition(self, ref: str) -> Target | None:
        """The usual reference, `#/$defs/NAME`, without taking it apart; None for any other."""
        if ref.startswith("#/$defs/"):
            keyword, name = "$defs", ref[8:]
        elif ref.startswith("#/definitions/"):
            keyword, name = "definitions", ref[14:]
        else:
            return None
        if "/" in name or "~" in name or "%" in name or keyword not in self.entered:
            return None
        root = self.root
        members = root.get(keyword) if root.__class__ is dict else None
        if members.__class__ is not dict or name not in members:
            return None
        return Target(None, ref[1:], members[name])

    def _resolve(self, ref: str) -> Target:
        if not ref.startswith("#"):
            return Target("remote-ref")
        fragment = ref[1:]
        if "%" in fragment:
            from urllib.parse import unquote_to_bytes  # noqa: PLC0415  (8 ms, rarely needed)

            if _BAD_ESCAPE(fragment):
                return Target("bad-percent-escape")
            try:
                fragment = unquote_to_bytes(fragment).decode()
            except UnicodeDecodeError:
                return Target("ref-not-utf-8")
        if fragment and fragment[0] != "/":
            return Target("anchor-ref")
        if "~" in fragment and not all(p[:1] in ("0", "1") for p in fragment.split("~")[1:]):
            return Target("bad-pointer-escape")
        return self._follow(fragment)

    def _follow(self, pointer: str) -> Target:
        """Walk a pointer through the document; each step knows whether a schema stands there."""
        value = self.root
        holds: str | None = SCHEMA
        for token in pointer.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~") if "~" in token else token
            if value.__class__ is dict:
                if name not in value:
                    return Target("dangling-ref")
                if holds == SCHEMA:
                    inside = self.entered.get(name)
                elif holds in (SCHEMA_MAP, DEPENDENCIES):
                    inside = SCHEMA
                else:
                    inside = None
                member = value[name]
                if inside == ITEMS:
                    inside = SCHEMAS if member.__class__ is list else SCHEMA
                elif holds == DEPENDENCIES and member.__class__ is list:
                    inside = None
            elif value.__class__ is list:
                index = _index(name, len(value))
                if index is None:
                    return Target("dangling-ref")
                inside = SCHEMA if holds == SCHEMAS else None
                member = value[index]
            else:
                return Target("dangling-ref")
            value, holds = member, inside
        if holds != SCHEMA:
            return Target("ref-to-non-schema")
        return Target(None, pointer, value)


def _index(digits: str, length: int) -> int | None:
    """An array index: ASCII digits without a leading zero; long ones are out of range anyway."""
    if not digits or len(digits) > 9 or not _DIGITS.issuperset(digits):
        return None
    if digits != "0" and digits.startswith("0"):
        return None
    index = int(digits)
    return index if index < length else None


def needs_closure(schema: dict[str, Any]) -> bool:
    """Whether a schema with `$ref` promises an object that only the target can close (rule 38)."""
    return names_object(schema.get("type")) and OBJECT_KEYWORDS.isdisjoint(schema)


def is_closed_at_the_end(schema: Any, resolver: Resolver, known: dict[str, bool]) -> bool:
    """Whether the chain from a schema's `$ref` first says anything of objects by closing them.

    Args:
        schema: the referring schema.
        resolver: of the document.
        known: location → answer; filled.
    """
    path: list[str] = []
    seen: set[str] = set()
    answer = False
    while True:
        target = resolver.of(schema)
        if target is None or target.problem or target.location in seen:
            break
        location, schema = target.location, target.schema
        if location in known:
            answer = known[location]
            break
        path.append(location)
        seen.add(location)
        if schema.__class__ is dict and not OBJECT_KEYWORDS.isdisjoint(schema):
            answer = schema.get("additionalProperties") is False
            break
    for location in path:
        known[location] = answer
    return answer


def root_problem(root: Any, resolver: Resolver) -> tuple[str, str] | None:
    """What is wrong with the root: (rule's name, pointer). None, too, if a reference is broken."""
    schema, pointer = root, ""
    seen = {""}
    typed = False
    while True:
        if schema.__class__ is dict:
            if "anyOf" in schema:
                return "root-any-of", pointer
            if "type" in schema:
                if schema["type"] not in ("object", ["object"]):
                    return "root-not-object", pointer
                typed = True
        target = resolver.of(schema)
        if target is None:
            return None if typed else ("root-untyped", "")
        if target.problem or target.location in seen:
            return None  # said where the references are checked
        schema, pointer = target.schema, target.location
        seen.add(pointer)


def is_clean(root: Any, schemas: list[dict[str, Any]], deepest: int, plans: Plans) -> bool:
    """Whether references and root give nothing to say.

    Args:
        root: the document, whose structure has nothing to say.
        schemas: its schemas with a `$ref`.
        deepest: how many levels its schemas nest.
        plans: the compiled profile.
    """
    resolver = Resolver(root, plans)
    rules = plans.by_name
    settled: set[str] = set()
    closed: dict[str, bool] = {}
    for schema in schemas:
        ref = schema["$ref"]
        if not isinstance(ref, str):  # in a profile without a rule that says so
            continue
        target: Target | None = resolver.resolve(ref)
        path: list[str] = []
        on_path: set[str] = set()
        while target is not None:
            if target.problem or target.location in on_path:
                return False
            if target.location in settled:
                break
            path.append(target.location)
            on_path.add(target.location)
            target = resolver.of(target.schema)
        settled.update(path)
        if (
            "ref-to-open-object" in rules
            and needs_closure(schema)
            and not is_closed_at_the_end(schema, resolver, closed)
        ):
            return False
    if too_deep(root, deepest, len(settled), resolver, plans):
        return False
    return not plans.checks_root or root_problem(root, resolver) is None


def too_deep(root: Any, deepest: int, targets: int, resolver: Resolver, plans: Plans) -> bool:
    """Whether references can nest schemas deeper than the profile allows.

    No path through the targets is longer than all of them together, each as deep as the document:
    only where that is too much the path itself is looked for.

    Args:
        root: the document.
        deepest: how many levels its schemas nest.
        targets: how many different ones its references have.
        resolver: of the document.
        plans: the compiled profile.
    """
    limit = plans.reference_limit
    if deepest * (targets + 1) <= limit:
        return False
    from schemaguard.estimate import reach  # noqa: PLC0415  (few documents have so many references)

    return reach.deepest(root, resolver, plans, limit) > limit


def is_plain_root(root: Any) -> bool:
    """Whether a root without a reference has an object-only type and no `anyOf`."""
    if root.__class__ is not dict or "anyOf" in root:
        return False
    kind = root.get("type")
    return kind == "object" or kind == ["object"]  # noqa: PLR1714  (a tuple is built each time)


def collect(
    root: Any,
    frames: list[Frame],
    identifier: Frame | None,
    deepest: int,
    plans: Plans,
    found: Findings,
) -> None:
    """Add every finding about references and the root, in the contract's order.

    Args:
        root: the document.
        frames: where there is a `$ref`, in the order of the walk.
        identifier: the first subschema with `$id` or `id`.
        deepest: how many levels the schemas nest.
        plans: the compiled profile.
        found: takes the findings.
    """
    if frames and identifier is not None:
        found.add_named("nested-identifier", identifier)
    resolver = Resolver(root, plans)
    for frame in frames:
        target = resolver.of(frame[0])
        if target is not None and target.problem:
            found.add_named(target.problem, frame, ("$ref",))
    _cycles(frames, resolver, found)
    _levels(frames, resolver, deepest, plans, found)
    if "ref-to-open-object" in plans.by_name:
        closed: dict[str, bool] = {}
        for frame in frames:
            schema = frame[0]
            target = resolver.of(schema)
            if target is None or target.problem or not needs_closure(schema):
                continue
            if not is_closed_at_the_end(schema, resolver, closed):
                found.add_named("ref-to-open-object", frame)
    if plans.checks_root and (root.__class__ is dict or root.__class__ is bool):
        problem = root_problem(root, resolver)
        if problem is not None:
            found.add_named(problem[0], None, tokens_of(problem[1]))


def _levels(
    frames: list[Frame], resolver: Resolver, deepest: int, plans: Plans, found: Findings
) -> None:
    """Say that references can nest deeper than the profile allows, at the first of them."""
    targets = [resolver.of(frame[0]) for frame in frames]
    seen = {t.location for t in targets if t is not None and not t.problem}
    if seen and too_deep(resolver.root, deepest, len(seen), resolver, plans):
        rule = plans.budget_rules["reference-levels"]
        found.add(rule, frames[0], ("$ref",), limit=plans.reference_limit)


def _cycles(frames: list[Frame], resolver: Resolver, found: Findings) -> None:
    """Each circle of references once, at the location that a chain first meets again (rule 35)."""
    settled: set[str] = set()
    targets = {
        id(target.schema)
        for frame in frames
        if (target := resolver.of(frame[0])) is not None and not target.problem
    }
    for frame in frames:
        target = resolver.of(frame[0])
        if target is None or target.problem:
            continue
        # The start itself can only be met again if some reference leads to it.
        path = [pointer_of(frame)] if id(frame[0]) in targets else []
        if path and path[0] in settled:
            continue
        on_path = set(path)
        while target is not None and not target.problem and target.location not in settled:
            if target.location in on_path:
                found.add_named("circular-ref", None, tokens_of(target.location))
                break
            path.append(target.location)
            on_path.add(target.location)
            target = resolver.of(target.schema)
        settled.update(path)
