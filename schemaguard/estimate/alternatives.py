"""How many alternatives an output can leave open at once.

While an output could still be any of several arrays (or objects, or strings) of an `anyOf`, each
step of decoding follows them all, and every mask is made by trying its tokens in each. What counts
is how many can be alive at the same place. Alternatives of different kinds are told apart by their
first character, objects by a first property with a constant, and different properties do not meet.

The search is that of a subset construction: from the alternatives of a choice that begin alike to
those of what they hold, under each name, and so on; every set of alternatives is looked at once.
"""

from __future__ import annotations

from schemaguard.reads import is_basic, kinds_of, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.estimate.work import Place, Work

    #: Alternatives that are alive together, none of them a choice or a reference.
    Alternatives = list[dict[str, Any]]

#: Weights, in objects that begin alike. Each optional property of one adds another: after a value,
#: any of them may follow, in every alternative. Tokens such as `],[` run over the ends of arrays,
#: `","` over those of strings. The engine's expressions for some formats match in many ways.
ARRAY = 5
OBJECT = 1
STRING = 2
FORMAT = 3
WIDE_FORMAT = 12
#: Times what objects weigh of which each level can begin in as many ways.
RECURSIVE = 2

_WIDE_FORMATS = frozenset(
    {"email", "hostname", "uri", "uri-reference", "json-pointer", "relative-json-pointer"}
)

#: Different first properties of one alternative that are looked at; alternatives of one choice; and
#: of all sets, before the sum of all choices is taken for the answer.
_FIRST_NAMES = 64
_MOST = 10_000
_MOST_LOOKED_AT = 100_000


def alive(root: Any, counted: Work, limit: int) -> tuple[int, Place | None]:
    """The weight of what can be alive at once, and the choice that it begins with.

    Args:
        root: the document.
        counted: what there is to make of it.
        limit: nothing is looked at where no more than this is possible.
    """
    possible = sum(len(members) for _, members in counted.choices)
    if not possible:
        return 0, None
    search = _Search(root)
    largest, where = 0, None
    for place, members in counted.choices:
        weight = search.largest(members)
        if weight > largest:
            largest, where = weight, place
        if search.looked_at > _MOST_LOOKED_AT:
            return max(largest, limit + 1), where
    return largest, where


class _Search:
    """The sets of one document."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.looked_at = 0
        self.targets: dict[str, Any] = {}
        self.seen: set[frozenset[int]] = set()

    def largest(self, members: list[Any]) -> int:
        """The largest weight of a set that a choice leads to."""
        largest = 0
        waiting = [self._flat(members)]
        while waiting and self.looked_at <= _MOST_LOOKED_AT:
            for group in _groups(waiting.pop()):
                key = frozenset(map(id, group))
                if len(key) < 2 or key in self.seen:
                    continue
                self.seen.add(key)
                self.looked_at += len(group)
                below = [self._flat(held) for held in _held(group)]
                weight = sum(_weight(schema) for schema in group)
                if any(key <= frozenset(map(id, inner)) for inner in below):
                    weight *= RECURSIVE if "object" in kinds_of(group[0]) else 1
                largest = max(largest, weight)
                waiting.extend(below)
        return largest

    def _target(self, reference: str) -> Any:
        if reference not in self.targets:
            found = resolve(self.root, reference)
            self.targets[reference] = None if found is None else found[0]
        return self.targets[reference]

    def _flat(self, members: list[Any]) -> Alternatives:
        """Alternatives, with choices among them replaced by what they choose from."""
        found: dict[Any, dict[str, Any]] = {}
        # A schema that says nothing but a type is the same rule wherever it is; what follows on it
        # is not, if another choice leads to it.
        stack = [(member, 0) for member in members]
        seen: set[int] = set()
        while stack and len(found) < _MOST:
            schema, choice = stack.pop()
            if schema.__class__ is not dict:
                continue
            if is_basic(schema):
                found[schema.get("type"), choice] = schema
                continue
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            reference = schema.get("$ref")
            if isinstance(reference, str):
                stack.append((self._target(reference), id(schema)))
            elif "const" in schema or "enum" in schema:
                continue
            elif schema.get("anyOf").__class__ is list:
                stack.extend((member, id(schema)) for member in schema["anyOf"])
            elif schema.get("oneOf").__class__ is list:
                stack.extend((member, id(schema)) for member in schema["oneOf"])
            else:
                found[id(schema)] = schema
        self.looked_at += len(seen)
        return list(found.values())


def _groups(members: Alternatives) -> Iterator[Alternatives]:
    """The alternatives of each kind of value."""
    arrays, strings, objects = [], [], []
    for schema in members:
        kinds = kinds_of(schema)
        if "array" in kinds:
            arrays.append(schema)
        if "string" in kinds:
            strings.append(schema)
        if "object" in kinds:
            objects.append(schema)
    yield arrays
    yield strings
    yield _largest_group(objects)


def _held(group: Alternatives) -> Iterator[list[Any]]:
    """What the alternatives of a group hold at places that an output can reach in several."""
    by_name: dict[str, list[Any]] = {}
    items: list[Any] = []
    for schema in group:
        properties = schema.get("properties")
        if properties.__class__ is dict:
            for name, value in properties.items():
                by_name.setdefault(name, []).append(value)
        prefix = schema.get("prefixItems")
        items.extend(prefix if prefix.__class__ is list else ())
        items.extend(schema[keyword] for keyword in _INSIDE if keyword in schema)
    yield items
    for values in by_name.values():
        if len(values) > 1:
            yield values


_INSIDE = ("items", "unevaluatedItems", "additionalProperties", "unevaluatedProperties")


def _weight(schema: dict[str, Any]) -> int:
    kinds = kinds_of(schema)
    weight = 0
    if "array" in kinds:
        weight = ARRAY
    if "string" in kinds:
        form = schema.get("format")
        if not isinstance(form, str):
            weight = max(weight, STRING)
        else:
            weight = max(weight, WIDE_FORMAT if form in _WIDE_FORMATS else FORMAT)
    if "object" in kinds:
        properties, required = schema.get("properties"), schema.get("required")
        count = len(properties) if properties.__class__ is dict else 0
        needed = len(required) if required.__class__ is list else 0
        weight = max(weight, OBJECT + max(0, count - needed))
    return weight


def _largest_group(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects that share a way to begin, where most of them do."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    anything = []
    for schema in objects:
        beginnings = _beginnings(schema)
        if beginnings is None:
            anything.append(schema)
            continue
        for beginning in beginnings:
            groups.setdefault(beginning, []).append(schema)
    largest = max(groups.values(), key=len, default=[])
    return largest + anything


def _beginnings(schema: dict[str, Any]) -> list[tuple[str, str]] | None:
    """(name, constant) of the properties that can come first; None for any name."""
    properties = schema.get("properties")
    if properties.__class__ is not dict or not properties:
        return None
    required = schema.get("required")
    needed = required if required.__class__ is list else []
    found = []
    for name, value in properties.items():
        constant = ""
        if value.__class__ is dict:
            members = value.get("enum")
            if isinstance(value.get("const"), str):
                constant = value["const"]
            elif members.__class__ is list and len(members) == 1 and isinstance(members[0], str):
                constant = members[0]
        found.append((name, constant))
        if name in needed or len(found) == _FIRST_NAMES:
            break
    return found
