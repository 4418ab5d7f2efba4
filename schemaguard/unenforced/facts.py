"""What a version of xgrammar makes of keywords, as the analysis asks for it.

Everything that differs between versions comes from the capability table; see
`schemaguard.capabilities`.
"""

from __future__ import annotations

from functools import lru_cache

from schemaguard import capabilities
from schemaguard.keywords import TYPE_NAMES
from schemaguard.reads import ANNOTATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBERS = frozenset({"number", "integer"})
_STRINGS = frozenset({"string"})
_ARRAYS = frozenset({"array"})
_OBJECTS = frozenset({"object"})

#: Keyword that restricts instances → the types that it says something about.
SPEAKS_OF: dict[str, frozenset[str]] = {
    **dict.fromkeys(("type", "enum", "const", "not", "if", "$ref"), TYPE_NAMES),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), TYPE_NAMES),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBERS),
    "multipleOf": _NUMBERS,
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), _STRINGS),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "items", "prefixItems"), _ARRAYS),
    **dict.fromkeys(("contains", "minContains", "maxContains", "unevaluatedItems"), _ARRAYS),
    **dict.fromkeys(("required", "properties", "additionalProperties"), _OBJECTS),
    **dict.fromkeys(("patternProperties", "propertyNames", "minProperties"), _OBJECTS),
    **dict.fromkeys(("maxProperties", "unevaluatedProperties", "dependencies"), _OBJECTS),
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), _OBJECTS),
}

#: Keywords that an engine either looks at or does not, whatever their value.
_PLAIN = frozenset(
    {"not", "if", "contains", "maxContains", "uniqueItems"}
    | {"dependentRequired", "dependentSchemas", "dependencies"}
)

#: Keyword → the drafts in which it means something, where that is not all of them.
_DRAFTS = {
    **dict.fromkeys(("const", "contains", "propertyNames"), range(6, 2021)),
    "if": range(7, 2021),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "minContains"), range(2019, 2021)),
    **dict.fromkeys(("maxContains", "unevaluatedItems"), range(2019, 2021)),
    "unevaluatedProperties": range(2019, 2021),
    "prefixItems": range(2020, 2021),
    "dependencies": range(3, 8),
}
_NAMED = (("draft-03", 3), ("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("2019-09", 2019))

_USUAL = {
    "http://json-schema.org/draft-07/schema#": 7,
    "https://json-schema.org/draft/2020-12/schema": 2020,
}

#: Up to this draft, what stands beside `$ref` means nothing.
REF_OVERRIDES = 7


def draft_of(root: Any) -> int:
    """The draft that a document names; 2020 where it names none."""
    named = root.get("$schema") if root.__class__ is dict else None
    if named is None:
        return 2020
    if isinstance(named, str):
        if named in _USUAL:
            return _USUAL[named]
        for part, number in _NAMED:
            if part in named[:80]:
                return number
    return 2020


def means_something(keyword: str, draft: int) -> bool:
    """Whether a keyword restricts instances in a draft."""
    return keyword in SPEAKS_OF and draft in _DRAFTS.get(keyword, (draft,))


class Facts:
    """One version, as sets.

    Attributes:
        version: of the table.
        winners: of which a schema has one, each before those it wins over.
        dropped: type → keywords that are not enforced although the schema has that type.
        untyped: keywords that are not enforced in a schema that has no type.
        formats: formats that are enforced; of `leaky` ones, in part.
        leaky: the formats of which something gets past.
        first: of two keywords of strings, (the one that wins, the other).
        divisor: the largest `multipleOf` of integers that is enforced; 0 for none.
        divided: the widest range of integers in which `multipleOf` is enforced.
        narrowest: the narrowest range of numbers that can be written.
        any_of_all: `allOf` of two or more is any value.
        one_is_any: `oneOf` of overlapping ones is `anyOf`.
        look_ahead: a look-ahead in a pattern is left out.
    """

    __slots__ = (
        "any_of_all",
        "divided",
        "divisor",
        "dropped",
        "first",
        "formats",
        "leaky",
        "look_ahead",
        "narrowest",
        "one_is_any",
        "untyped",
        "version",
        "winners",
    )

    def __init__(self, table: capabilities.Table) -> None:
        self.version = table.version
        self.winners = tuple(name for name in table.winners if name != "type")
        self.dropped = {
            of: frozenset(
                keyword
                for keyword, verdict in rows.items()
                if keyword in _PLAIN and verdict == "dropped"
            )
            for of, rows in table.single.items()
            if of
        }
        self.untyped = frozenset(
            keyword for keyword, verdict in table.single[""].items() if verdict == "dropped"
        )
        self.formats = table.formats | table.leaky_formats
        self.leaky = table.leaky_formats
        self.first = frozenset(
            (first, second)
            for (first, second), verdicts in table.pair.get("string", {}).items()
            if verdicts.get(second) == "dropped" and (second != "format")
        )
        self.divisor = table.limits["integer-multipleOf"]
        self.divided = table.limits["integer-multipleOf-range"]
        self.narrowest = table.limits["number-range"]
        self.any_of_all = table.shapes.get("allOf two branches") in {"dropped", "leaks"}
        self.one_is_any = table.shapes.get("oneOf overlapping ranges") in {"dropped", "leaks"}
        self.look_ahead = table.patterns.get("lookahead") in {"dropped", "leaky"}


@lru_cache(maxsize=16)
def facts_of(version: str | None) -> Facts:
    """The facts of a version; of the newest that is known for None."""
    return Facts(capabilities.load("xgrammar", version))


def restricts(keyword: str, value: Any) -> bool:
    """Whether a keyword with such a value says anything at all."""
    if keyword in _EMPTY:
        return bool(value)
    if keyword in ("items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"):
        return value is not True and value != {}
    if keyword == "allOf":
        return not all(map(_says_nothing, value))
    if keyword == "properties":
        return not all(map(_says_nothing, value.values()))
    if keyword == "propertyNames":
        return value is False or (
            value.__class__ is dict and not value.keys() - ANNOTATIONS <= {"type"}
        )
    return True


def _says_nothing(schema: Any) -> bool:
    """Whether a schema allows everything, as far as one look tells."""
    if schema.__class__ is not dict:
        return schema is True
    said = schema.keys() & SPEAKS_OF.keys()
    return not said or (
        said == {"properties"} and all(v is True for v in schema["properties"].values())
    )


_EMPTY = frozenset(
    {"minLength", "minItems", "minProperties", "uniqueItems", "required", "prefixItems"}
    | {"patternProperties", "dependentRequired", "dependentSchemas", "dependencies"}
)
