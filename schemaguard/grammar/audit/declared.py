"""Which types a schema declares for a value, for markup that does not say them itself.

Where a parameter is text, a reader can only go by what the tool declares. All schemas that may
hold for a value are looked at: through references, `allOf` and the branches of alternatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import parts as of
from schemaguard.grammar.audit import regexes
from schemaguard.grammar.audit.constraints import target

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The types of JSON Schema. A whole number is of two, and so is what may be any number.
TYPES = frozenset(of.TYPES)

# Schemas that are looked at for one value.
_MAX_SCHEMAS = 2_000

_BRANCHES = ("allOf", "anyOf", "oneOf")


class Declared:
    """What is declared for one value.

    Args:
        root: the document that references lead into.
        schemas: those that may hold for the value.
    """

    def __init__(self, root: Any, schemas: Iterable[Any]) -> None:
        self._root = root
        self._schemas = list(schemas)
        self._parts: list[dict[str, Any]] | None = None
        self._types: frozenset[str] | None = None
        self._members: dict[Any, Declared] = {}

    @property
    def types(self) -> frozenset[str]:
        """The types that the value may be of; all where nothing is declared."""
        if self._types is None:
            declared = [self._types_of(schema) for schema in self._schemas]
            self._types = frozenset().union(*declared) if declared else TYPES
        return self._types

    @property
    def is_text(self) -> bool:
        """Whether the value can only be a string."""
        return self.types == {"string"}

    def names(self) -> frozenset[str]:
        """The names of `properties`."""
        return frozenset(of.declared(self._all_parts()))

    def member(self, name: str) -> Declared:
        """What is declared for a property."""
        known = self._members.get(name)
        if known is None:
            if len(self._members) > _MAX_SCHEMAS:
                self._members.clear()
            known = self._members[name] = Declared(self._root, self._of_name(name))
        return known

    def item(self, index: int) -> Declared:
        """What is declared for an item."""
        known = self._members.get(index)
        if known is None:
            found = [of.item(part, index) for part in self._all_parts() if _has_items(part)]
            known = self._members[index] = Declared(self._root, found)
        return known

    def _of_name(self, name: str) -> list[Any]:
        found = []
        for part in self._all_parts():
            if name in (part.get("properties") or ()):
                found.append(part["properties"][name])
            found += [
                member
                for pattern, member in (part.get("patternProperties") or {}).items()
                if regexes.search(pattern, name)
            ]
        if found:
            return found
        others = (part.get("additionalProperties") for part in self._all_parts())
        return [other for other in others if isinstance(other, dict)]

    def _all_parts(self) -> list[dict[str, Any]]:
        """Every schema that may hold for the value."""
        if self._parts is None:
            self._parts = []
            queue = list(self._schemas)
            seen: set[int] = set()
            while queue and len(self._parts) < _MAX_SCHEMAS:
                schema = queue.pop()
                if not isinstance(schema, dict) or id(schema) in seen:
                    continue
                seen.add(id(schema))
                self._parts.append(schema)
                queue += self._beside(schema)
                queue += [schema[word] for word in ("then", "else") if word in schema]
        return self._parts

    def _beside(self, schema: dict[str, Any]) -> list[Any]:
        """What a schema's references and combiners lead to."""
        found = []
        if "$ref" in schema:
            led = target(self._root, schema["$ref"])
            found += [] if led is None else [led[1]]
        for keyword in _BRANCHES:
            members = schema.get(keyword)
            found += members if isinstance(members, list) else []
        return found

    def _types_of(self, schema: Any) -> frozenset[str]:
        """The types of a schema: of all that holds at once, the common ones."""
        types = TYPES
        queue = [schema]
        seen: set[int] = set()
        while queue and len(seen) < _MAX_SCHEMAS:
            here = queue.pop()
            if not isinstance(here, dict) or id(here) in seen:
                continue
            seen.add(id(here))
            types &= own_types(here) or TYPES
            for keyword in ("anyOf", "oneOf"):
                branches = here.get(keyword)
                if isinstance(branches, list) and branches:
                    types &= self._union(branches)
            plain = {key: here[key] for key in ("$ref", "allOf") if key in here}
            queue += self._beside(plain)
        return types

    def _union(self, branches: list[Any]) -> frozenset[str]:
        """The types of alternatives together."""
        types: frozenset[str] = frozenset()
        queue = list(branches)
        seen: set[int] = set()
        while queue and len(seen) < _MAX_SCHEMAS:
            here = queue.pop()
            if here is False:
                continue
            if not isinstance(here, dict):
                return TYPES
            if id(here) in seen:
                continue
            seen.add(id(here))
            own = own_types(here)
            beside = self._beside(here)
            if own is None and not beside:
                return TYPES
            types |= own or frozenset()
            queue += [] if own else beside
        return types


def own_types(schema: dict[str, Any]) -> frozenset[str] | None:
    """The types that `const`, `enum` or `type` of a schema leave; None when it has none of them."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        return frozenset().union(*map(of.kinds_of, values))
    named = schema.get("type")
    names = {named} if isinstance(named, str) else named
    if not isinstance(names, (list, set)):
        return None
    more = {"integer"} if "number" in names else set()
    return frozenset(name for name in (*names, *more) if isinstance(name, str)) & TYPES


def kind_of(value: Any) -> str:
    """The type of a value; "number" for any number."""
    return next(iter(of.kinds_of(value) - {"integer"}))


def _has_items(part: dict[str, Any]) -> bool:
    return any(key in part for key in ("items", "prefixItems", "additionalItems"))
