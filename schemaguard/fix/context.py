"""Where a schema stands, as far as it matters to a change of it.

To narrow a schema narrows the whole only where more of it means more of the whole: not below `not`
or `if`, nor below a `oneOf` whose alternatives overlap. And an object cannot be closed where a
schema beside it, which holds for the same value, knows other properties.
"""

from __future__ import annotations

from schemaguard.fix.draft import children
from schemaguard.fix.links import Links
from schemaguard.fix.meaning import Reader, lists_containers, target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from schemaguard.fix.draft import Tokens

#: Keywords whose schemas hold for the same value.
IN_PLACE = frozenset(
    {"allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas", "dependencies"}
)
#: Below these, to accept less is not to accept less as a whole.
_TURNED = frozenset({"not", "if", "contains", "dependentSchemas", "dependencies", "propertyNames"})
_OF_ITEMS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_OF_MEMBERS = frozenset(
    {"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}
)
_DEFINITIONS = frozenset({"$defs", "definitions"})
#: What speaks of the members of an object.
OBJECT_SAYS = frozenset(
    {"properties", "patternProperties", "additionalProperties", "required", "propertyNames"}
    | {"minProperties", "maxProperties", "dependentRequired", "unevaluatedProperties"}
)
_MAX_SUBSCHEMAS = 2_000


class Contexts:
    """What stands in the way of narrowing each schema of a document."""

    __slots__ = ("_answers", "_beside", "_root", "_seen", "_turned", "links", "reader")

    def __init__(self, root: Any) -> None:
        self._root = root
        self.reader = Reader(root)
        self.links = Links(root)
        # Of each schema every member asks the same.
        self._answers: dict[tuple[int, object], tuple[Any, Any]] = {}
        self._turned: dict[Tokens, str] = {}
        self._beside: dict[Tokens, str] = {}
        self._seen: set[Tokens] = set()
        self._spread()

    def obstacle(self, tokens: Tokens) -> str | None:
        """Why a schema must not be narrowed; None when it may be."""
        return self._turned.get(tokens) or self._beside.get(tokens)

    def _spread(self) -> None:
        pending: list[tuple[Tokens, Any, str | None, str | None]] = [((), self._root, None, None)]
        for tokens, schema in self.links.named:
            # What else holds there cannot be told, for the reference is not followed.
            pending.append((tokens, schema, "a reference leads to it by a name", None))
        while pending:
            tokens, schema, turned, beside = pending.pop()
            news = tokens not in self._seen
            if turned and tokens not in self._turned:
                self._turned[tokens] = turned
                news = True
            if beside and tokens not in self._beside:
                self._beside[tokens] = beside
                news = True
            if not news or schema.__class__ is not dict:
                continue
            self._seen.add(tokens)
            turned, beside = self._turned.get(tokens), self._beside.get(tokens)
            for steps, child in children(schema):
                keyword = str(steps[0])
                if keyword in _DEFINITIONS:
                    continue  # they count where they are referred to
                place = (*tokens, *steps)
                nearby = beside or self._beside_of(steps, schema)
                pending.append((place, child, turned or self._turns(keyword, schema), nearby))
            found = target(self._root, schema.get("$ref"))
            if found is not None:
                pending.append((*found, turned, beside or _neighbour("$ref", schema)))

    def _turns(self, keyword: str, schema: dict[str, Any]) -> str | None:
        if keyword in _TURNED:
            return f"it stands below `{keyword}`"
        if keyword == "oneOf" and not self.reader.are_disjoint(schema["oneOf"], with_nulls=True):
            return "it stands below `oneOf`, whose alternatives may overlap"
        return None

    def _beside_of(self, steps: Tokens, schema: dict[str, Any]) -> str | None:
        """What else holds for the value that a subschema is for, and speaks of its members."""
        keyword = str(steps[0])
        if keyword in IN_PLACE:
            return _neighbour(keyword, schema)
        inside = keyword in _OF_ITEMS or keyword in _OF_MEMBERS
        if inside and self._any_in_place(schema, frozenset(), wholes=True):
            return "`enum` or `const` lists whole values"
        if keyword in _OF_ITEMS:
            if schema.get("uniqueItems") is True and self._has_union(schema[keyword]):
                return "with `uniqueItems`, items that differ must still differ without nulls"
            if "contains" in schema:
                return "`contains` speaks of the same items"
            if self._any_in_place(schema, _OF_ITEMS):
                return "another schema speaks of the same items"
        if keyword in _OF_MEMBERS and self._any_in_place(schema, _OF_MEMBERS):
            told = self.names_in_place(schema)
            if told is None or keyword != "properties" or steps[1] in told:
                return "another schema speaks of the same member"
        patterns = schema.get("patternProperties")
        if keyword == "properties" and patterns:
            return "`patternProperties` may speak of the same member"
        if keyword == "patternProperties" and (
            len(schema[keyword]) > 1 or schema.get("properties")
        ):
            return "more than one pattern or name may speak of the same member"
        return None

    def _once(self, asked: object, schema: Any, answer: Callable[[], Any]) -> Any:
        """An answer about a schema of the document, found once."""
        key = (id(schema), asked)
        if key not in self._answers:
            self._answers[key] = (schema, answer())  # kept, so that its identity stays its own
        return self._answers[key][1]

    def _has_union(self, schema: Any) -> bool:
        """Whether there may be more than one way to read a value below a schema, or some."""
        return bool(self._once("union", schema, lambda: self._finds_union(schema)))

    def _finds_union(self, schema: Any) -> bool:
        pending = [schema]
        seen: set[int] = set()
        while pending:
            inner = pending.pop()
            if inner.__class__ is list:
                pending += inner
            if inner.__class__ is not dict or id(inner) in seen:
                continue
            seen.add(id(inner))
            if len(seen) > _MAX_SUBSCHEMAS or not _WAYS.isdisjoint(inner):
                return True
            pending += [child for _, child in children(inner)]
            found = target(self._root, inner.get("$ref"))
            pending += [] if found is None else [found[1]]
        return False

    def _any_in_place(
        self, schema: dict[str, Any], keywords: frozenset[str], *, wholes: bool = False
    ) -> bool:
        """Whether a schema that holds for the same value has one of some keywords.

        With `wholes`, also whether it lists objects or arrays, or the schema itself does.
        """
        asked = (keywords, wholes)
        found = self._once(asked, schema, lambda: self._finds_in_place(schema, keywords, wholes))
        return bool(found)

    def _finds_in_place(
        self, schema: dict[str, Any], keywords: frozenset[str], wholes: bool
    ) -> bool:
        if wholes and lists_containers(schema):
            return True
        for inner in self._in_place(schema):
            if inner is None or not keywords.isdisjoint(inner):
                return True
            if wholes and lists_containers(inner):
                return True
        return False

    def names_in_place(self, schema: dict[str, Any]) -> set[str] | None:
        """Properties that schemas beside an object's own keywords speak of; None: perhaps any."""
        found: set[str] | None = self._once("names", schema, lambda: self._finds_names(schema))
        return found

    def _finds_names(self, schema: dict[str, Any]) -> set[str] | None:
        names = _names_of_dependencies(schema.get("dependentRequired"))
        for inner in self._in_place(schema):
            if inner is None or not _UNTOLD.isdisjoint(inner):
                return None
            if lists_containers(inner):
                return None
            names.update(_names_of_keys(inner.get("properties")))
            names.update(_names_of_dependencies(inner.get("dependentRequired")))
            required = inner.get("required")
            if required.__class__ is list:
                names.update(name for name in required if isinstance(name, str))
            if "$ref" in inner and target(self._root, inner["$ref"]) is None:
                return None
        return names

    def _in_place(self, schema: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
        """The schemas that hold for the value of another; None where there are too many."""
        pending = self._inner(schema)
        seen: set[int] = set()
        while pending:
            inner = pending.pop()
            if inner.__class__ is not dict or id(inner) in seen:
                continue
            seen.add(id(inner))
            if len(seen) > _MAX_SUBSCHEMAS:
                yield None
                return
            yield inner
            pending += self._inner(inner)

    def _inner(self, schema: dict[str, Any]) -> list[Any]:
        inner = [child for steps, child in children(schema) if steps[0] in IN_PLACE]
        found = target(self._root, schema.get("$ref"))
        return inner if found is None else [*inner, found[1]]


#: In a schema beside an object, these speak of names that are not spelt out.
_UNTOLD = frozenset(
    {"patternProperties", "propertyNames", "minProperties", "maxProperties"}
    | {"additionalProperties", "unevaluatedProperties", "dependencies", "dependentSchemas"}
    | {"$dynamicRef", "$recursiveRef"}
)


#: Keywords with more than one way to read a value.
_WAYS = frozenset({"anyOf", "oneOf", "if", "$dynamicRef", "$recursiveRef"})


def _names_of_dependencies(held: Any) -> set[str]:
    """The names that `dependentRequired` speaks of: those that ask, and those asked for."""
    names = set(_names_of_keys(held))
    for asked in held.values() if held.__class__ is dict else ():
        if asked.__class__ is list:
            names.update(name for name in asked if isinstance(name, str))
    return names


def _names_of_keys(held: Any) -> list[str]:
    return [name for name in held if isinstance(name, str)] if held.__class__ is dict else []


def _neighbour(keyword: str, schema: dict[str, Any]) -> str | None:
    """What else holds for the value of a subschema, and speaks of its members."""
    says = sorted(OBJECT_SAYS & schema.keys())
    if says:
        return f"`{says[0]}` beside `{keyword}` speaks of the same object"
    if lists_containers(schema):
        return f"`enum` or `const` beside `{keyword}` lists whole values"
    others = [other for other in (*sorted(IN_PLACE), "$ref") if other in schema]
    if len(others) > 1:
        return f"`{others[0]}` and `{others[1]}` speak of the same object"
    held = schema.get(keyword)
    if keyword == "allOf" and held.__class__ is list and len(held) > 1:
        return "the schemas of `allOf` speak of the same object"
    return None
