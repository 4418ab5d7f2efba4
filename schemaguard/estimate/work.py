"""What a grammar compiler has to make of a schema, counted without making it.

`measure` reads a document the way xgrammar 0.2.9 does: one keyword of a schema wins over its
siblings (`$ref`, `const`, `enum`, `anyOf`, `oneOf`, `allOf`, `type`), a definition is compiled once
and only if something refers to it, and what stands in two places is compiled twice. It counts what
was found to cost time or memory; `schemaguard.prices` has the prices, docs/compile-cost.md the
measurements behind them.

One iterative walk, linear in the document; it stops where a document is far too dear anyway.
"""

from __future__ import annotations

from schemaguard.estimate.sizes import counted_cells, distinct_characters, literal, name_tree
from schemaguard.patterns import broad
from schemaguard.prices import (
    FORMATS,
    LARGEST_DIVISOR,
    RULES,
    STATES,
    WIDEST_RANGE,
    WRITTEN_OUT,
)
from schemaguard.reads import ANNOTATIONS, find, is_basic, kinds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    #: A schema to read: (schema, place of its parent, steps from there, level of nesting).
    Entry = tuple[Any, "Place | None", tuple[str | int, ...], int]

#: Characters of a schema that says nothing but a type.
_BASIC_TEXT = 17
#: Characters of data that are read as fast as one of keywords and names.
_DATA_TEXT = 5
#: Characters of names that are made a tree of; so many are too dear anyway.
_MOST_NAMES = 1 << 14
#: Characters of a document that are counted at the most.
_MOST_CHARACTERS = 1 << 24


class Place:
    """What one schema adds, its children apart.

    Attributes:
        parent: the place of the schema that holds it; None for the root and for definitions.
        tokens: steps from the parent's schema, from the root where there is no parent.
        states: states of the grammar's automaton, about one a character of literals.
        text: characters, times the square of the levels of nesting that they are below.
        hint: characters of the definition's name, which the names of all its rules begin with.
        extra: what else it adds, kind → amount; kinds are those of `schemaguard.prices`.
    """

    __slots__ = ("extra", "hint", "parent", "states", "text", "tokens")

    def __init__(
        self, parent: Place | None, tokens: tuple[str | int, ...], hint: int | None = None
    ) -> None:
        self.parent = parent
        self.hint: int = parent.hint if hint is None and parent is not None else hint or 0
        self.tokens = tokens
        self.states = 0.0
        self.text = 0
        self.extra: dict[str, float] = {}


class Work:
    """What there is to make for one document.

    Attributes:
        places: one for each schema that is compiled.
        complete: False when the walk stopped early; every number is then a lower bound.
        rules: predicted number of rules of the grammar.
        states: states of its automaton.
        text: characters that are read, times the square of the levels that they are below.
        extra: kind → sum over the places.
        largest: kind → (largest amount of one place, that place).
        formats: the formats that are enforced somewhere.
    """

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.complete = True
        self.rules = 0.0
        self.states = 0.0
        self.text = 0
        self.extra: dict[str, float] = {}
        self.largest: dict[str, tuple[float, Place]] = {}
        self.formats: set[str] = set()
        self.choices: list[tuple[Place, list[Any]]] = []

    def add(self, place: Place, kind: str, amount: float) -> None:
        """Note that a place adds so much of a kind."""
        place.extra[kind] = place.extra.get(kind, 0) + amount
        self.extra[kind] = self.extra.get(kind, 0) + amount
        self.note(place, kind, amount)

    def note(self, place: Place, kind: str, amount: float) -> None:
        """Keep the largest amount of a kind, and where it is."""
        place.extra.setdefault(kind, amount)
        if amount > self.largest.get(kind, (0.0,))[0]:
            self.largest[kind] = (amount, place)


def measure(root: Any, *, most_states: int = 1 << 30, most_places: int = 1 << 20) -> Work:
    """Count what a compiler has to make of a document.

    Args:
        root: the schema, parsed.
        most_states: stop beyond so many states.
        most_places: stop beyond so many schemas.
    """
    return _Reader(root, most_states, most_places).read()


class _Reader:
    """One walk over one document."""

    def __init__(self, root: Any, most_states: int, most_places: int) -> None:
        self.root = root
        self.most_states = most_states
        self.most_places = most_places
        self.work = Work()
        self.stack: list[Entry] = []
        self.references: set[str] = set()
        self.found: dict[str, tuple[Any, tuple[str | int, ...]] | None] = {}
        self.patterns: set[str] = set()
        self.tries: dict[tuple[Any, ...], int] = {}
        self.rules: float = RULES["any grammar"]
        self.characters = 0

    def read(self) -> Work:
        """Read the whole document."""
        work = self.work
        stack = self.stack
        stack.append((self.root, None, (), 1))
        while stack:
            if (
                work.states > self.most_states
                or len(work.places) > self.most_places
                or self.characters > _MOST_CHARACTERS
            ):
                work.complete = False
                break
            schema, parent, tokens, level = stack.pop()
            place = Place(parent, tokens, None if level > 1 or not tokens else _hint(tokens))
            work.places.append(place)
            before = self.rules
            if schema.__class__ is dict and not is_basic(schema):
                self.rules += 1
                self._schema(schema, place, level)
            else:
                self._basic(schema, place)
                place.text = _BASIC_TEXT * level * level
            if place.hint:
                work.add(place, "name characters", place.hint * (self.rules - before))
            work.states += place.states
            work.text += place.text
        work.rules = self.rules
        return work

    def _basic(self, schema: Any, place: Place) -> None:
        """What says nothing but a type: the grammar has a rule for it anyway."""
        kind = schema.get("type") if schema.__class__ is dict else None
        if kind in _NUMBERS:
            self.work.add(place, "number", 1)
        elif kind not in _WITHOUT_STRINGS:
            self.work.add(place, "string", 1)
        place.states += STATES["basic"]

    def _schema(self, schema: dict[str, Any], place: Place, level: int) -> None:
        below = len(self.stack)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            place.states += STATES["reference"]
            self._reference(reference)
        elif "const" in schema:
            size = literal(schema["const"])
            place.states += size
            self.work.add(place, "const", size)
        elif schema.get("enum").__class__ is list:
            place.states += STATES["enum character"] * distinct_characters(schema["enum"])
            self.work.add(place, "enum", literal(schema["enum"]))
        elif schema.get("anyOf").__class__ is list:
            self._choice(schema["anyOf"], "anyOf", place, level)
        elif schema.get("oneOf").__class__ is list:
            self._choice(schema["oneOf"], "oneOf", place, level)
        elif schema.get("allOf").__class__ is list:
            if len(schema["allOf"]) == 1:
                self.stack.append((schema["allOf"][0], place, ("allOf", 0), level + 1))
            else:  # not yet read by the engine: any value
                self.work.add(place, "string", 1)
        else:
            self._typed(schema, place, level)
        entered = {entry[2][0] for entry in self.stack[below:] if entry[1] is place}
        text = data = 0
        for key, value in schema.items():
            if isinstance(key, str) and key not in ANNOTATIONS:
                text += len(key) + 4
                if key in entered:
                    text += _names_in(value)
                else:
                    data += _held(value)
        self.characters += text + data
        place.text = (text + data // _DATA_TEXT) * level * level

    def _reference(self, reference: str) -> None:
        """A definition is compiled where it stands, for the first that refers to it."""
        if reference in self.references or reference == "#":
            return
        self.references.add(reference)
        found = self._found(reference)
        if found is not None:
            self.stack.append((found[0], None, found[1], 1))

    def _choice(self, members: list[Any], keyword: str, place: Place, level: int) -> None:
        place.states += STATES["alternative"] * len(members)
        if len(members) > 1:
            self.work.choices.append((place, members))
        for index, member in enumerate(members):
            # Alternatives that are nothing but choices again: their closure is followed as a whole.
            if self._is_choice(member):
                self.work.add(place, "links", 1)
            self.stack.append((member, place, (keyword, index), level + 1))

    def _ends(self, schema: Any) -> float:
        """In how many ways a value can end where another property may follow, in strings."""
        if schema.__class__ is not dict:
            return 1.0
        reference = schema.get("$ref")
        if isinstance(reference, str):
            found = self._found(reference)
            schema = found[0] if found is not None and found[0].__class__ is dict else {}
        for keyword in ("anyOf", "oneOf"):
            if schema.get(keyword).__class__ is list:
                return 1 + len(schema[keyword]) / _CHOICES_OF_AN_END
        if "enum" in schema or "const" in schema:
            return _ENDS["boolean"]
        form, kind = schema.get("format"), schema.get("type")
        if isinstance(form, str) and form in _ENDS:
            return _ENDS[form]
        return _ENDS.get(kind, 1.0) if isinstance(kind, str) else 1.0

    def _is_choice(self, member: Any) -> bool:
        """Whether an alternative is nothing but alternatives again, by itself or by reference."""
        if member.__class__ is not dict:
            return False
        reference = member.get("$ref")
        if isinstance(reference, str):
            found = self._found(reference)
            member = found[0] if found is not None and found[0].__class__ is dict else {}
        return not _CHOICES.isdisjoint(member)

    def _found(self, reference: str) -> tuple[Any, tuple[str | int, ...]] | None:
        if reference not in self.found:
            self.found[reference] = find(self.root, reference)
        return self.found[reference]

    def _typed(self, schema: dict[str, Any], place: Place, level: int) -> None:
        names = kinds_of(schema)
        if schema.get("type").__class__ is list:
            place.states += STATES["alternative"] * len(names)
            if len(schema.keys() - ANNOTATIONS) > 1:
                self.rules += len(names)
            elif "array" in names or "object" in names:
                self.work.add(place, "string", 1)  # of any kind
        elif len(names) > 1:
            self.work.add(place, "string", 1)  # any value
            return
        for name in names:
            if name == "object":
                self._object(schema, place, level)
            elif name == "array":
                self._array(schema, place, level)
            elif name == "string":
                self._string(schema, place)
            elif name in _NUMBERS:
                self._number(schema, place, name)
            elif name in _WITHOUT_STRINGS:
                place.states += STATES["basic"]

    # ------------------------------------------------------------------------------------ strings

    def _string(self, schema: dict[str, Any], place: Place) -> None:
        work = self.work
        form = schema.get("format")
        pattern = schema.get("pattern")
        if isinstance(form, str) and form in FORMATS:
            work.formats.add(form)
            work.add(place, form, 1)
            place.states += FORMATS[form][3]
            self.rules += FORMATS[form][4]
        elif isinstance(pattern, str):
            self._pattern(pattern, place)
        elif "maxLength" in schema or "minLength" in schema:
            work.add(place, "bounded string", 1)
            self.rules += RULES["bounded string"]
            place.states += STATES["bounded string"]
        else:
            place.states += STATES["own string"]
            work.add(place, "string", 1)

    def _pattern(self, pattern: str, place: Place) -> None:
        units = broad(pattern)
        place.states += min(len(pattern), 1_000)
        self.rules += RULES["pattern"]
        self.work.add(place, "pattern memory", units)
        if pattern not in self.patterns:  # equal ones share their masks
            self.patterns.add(pattern)
            self.work.add(place, "pattern", units)

    # ------------------------------------------------------------------------------------ numbers

    def _number(self, schema: dict[str, Any], place: Place, name: str) -> None:
        self.work.add(place, "number", 1)
        low = _bound(schema, "minimum", "exclusiveMinimum")
        high = _bound(schema, "maximum", "exclusiveMaximum")
        divisor = schema.get("multipleOf")
        if divisor.__class__ is float and divisor % 1 == 0:
            divisor = int(divisor)  # as JSON has it: 1.0 is an integer
        bounds = [bound for bound in (low, high) if bound is not None]
        if name == "integer" and divisor.__class__ is int and 0 < divisor <= LARGEST_DIVISOR:
            if len(bounds) < 2:
                place.states += STATES["residue"] * divisor
                self.rules += divisor
                self.work.add(place, "divisors", divisor)
                return
            width = min(abs(bounds[1] - bounds[0]), WIDEST_RANGE)
            place.states += (width // divisor + 1) * _digits(bounds)
        if bounds:
            digits = _digits(bounds) + (_FRACTION if name == "number" else 0)
            place.states += STATES["digit"] * digits
            self.rules += digits
            self.work.add(place, "digits squared", digits**2)
            if name == "integer":
                self.rules += RULES["digits squared"] * digits**2
        else:
            place.states += STATES["basic"]

    # ------------------------------------------------------------------------------------- arrays

    def _array(self, schema: dict[str, Any], place: Place, level: int) -> None:
        prefix = schema.get("prefixItems")
        items = schema.get("items", schema.get("unevaluatedItems"))
        place.states += STATES["array"]
        self.rules += RULES["array"]
        if prefix.__class__ is list:
            place.states += STATES["prefix item"] * len(prefix)
            self.rules += len(prefix)
            for index, member in enumerate(prefix):
                self.stack.append((member, place, ("prefixItems", index), level + 1))
        if items is True:
            self.work.add(place, "string", 1)  # any
        if items.__class__ is dict:
            key = "items" if "items" in schema else "unevaluatedItems"
            self.stack.append((items, place, (key,), level + 1))
        self._copies(schema, "minItems", "maxItems", place)

    def _copies(self, schema: dict[str, Any], least: str, most: str, place: Place) -> None:
        """What may be repeated so often, and no oftener, is written out."""
        copies = _count(schema.get(most)) - _count(schema.get(least))
        place.states += STATES["copy"] * min(max(0, copies), WRITTEN_OUT)

    # ------------------------------------------------------------------------------------ objects

    def _object(self, schema: dict[str, Any], place: Place, level: int) -> None:
        work = self.work
        properties = schema.get("properties")
        if properties.__class__ is not dict:
            properties = {}
        named = schema.get("patternProperties")
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties", False))
        place.states += STATES["object"]
        self.rules += RULES["object"]
        if not schema.get("required") and not schema.get("minProperties"):
            self.rules += RULES["may be empty"]
        for name in properties:
            place.states += literal(name) + STATES["property"]
            if place.states > self.most_states:
                return  # the walk stops here
            self.stack.append((properties[name], place, ("properties", name), level + 1))
        self.rules += RULES["property"] * len(properties)
        if named.__class__ is dict and named:
            ends = max(1.0, *(self._ends(schema) for schema in named.values()))
            work.add(place, "name patterns", len(named) * ends)
            work.add(place, "name patterns squared", len(named) ** 2)
            for name in named:
                if isinstance(name, str):
                    self._pattern(name, place)
                place.states += STATES["property"]
                self.stack.append((named[name], place, ("patternProperties", name), level + 1))
            self.rules += RULES["name pattern"] * len(named)
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if schema.get(keyword).__class__ is dict:
                self.stack.append((schema[keyword], place, (keyword,), level + 1))
        rule = schema.get("propertyNames")
        if rule.__class__ is dict:  # of strings, whether it says so or not
            rule = rule if not _TYPED.isdisjoint(rule) else {**rule, "type": "string"}
            self.stack.append((rule, place, ("propertyNames",), level + 1))
        is_open = others is not False
        if is_open:
            work.add(place, "string", 1)
            place.states += STATES["open object"]
            self.rules += RULES["open object"]
            if properties and not named and "propertyNames" not in schema:
                self._names(properties, place)
        if properties:
            self._order(schema, properties, place, is_open or bool(named))
        else:
            self._copies(schema, "minProperties", "maxProperties", place)

    def _names(self, properties: dict[str, Any], place: Place) -> None:
        """The names that an open object must not take again: a tree of their characters.

        Each inner node takes nearly every string, and is paid for like one; equal ones once.
        """
        self.rules += RULES["open names"]
        names = [name for name in properties if isinstance(name, str)]
        fresh = nodes = sum(map(len, names))
        if nodes <= _MOST_NAMES:
            before = len(self.tries)
            nodes = name_tree(names, self.tries)
            fresh = len(self.tries) - before
        self.work.add(place, "open names", fresh)
        self.work.add(place, "open names memory", nodes)
        place.states += STATES["open name"] * nodes
        self.rules += nodes

    def _order(
        self, schema: dict[str, Any], properties: dict[str, Any], place: Place, is_open: bool
    ) -> None:
        """Properties come in their order: each optional one may be followed by any later one."""
        required = schema.get("required")
        needed = _strings(required) if required.__class__ is list else frozenset()
        least = _count(schema.get("minProperties"))
        most = _count(schema.get("maxProperties"), -1)
        cells = 0
        if least > 0 or most >= 0:
            cells = counted_cells(list(properties), needed, least, most, is_open)
            mean = place.states / (len(properties) + 1)
            place.states += cells * mean
            self.rules += cells - RULES["property"] * (len(properties) - 1)
            self.work.add(place, "counted properties", cells)
        longest = 0.0
        run = 0
        squares = 0.0
        for name in reversed(properties):  # how many may follow each
            squares += run * _open_end(properties[name])
            if name not in needed:
                longest = max(longest, (run + 1) * self._ends(properties[name]))
            run = 0 if name in needed else run + 1
            place.states += STATES["optional"] * (run > 0)
        self.work.note(place, "optional", longest)
        if squares:
            self.work.add(place, "optional squared", squares * max(1, cells // len(properties)))


_NUMBERS = ("integer", "number")
#: Types whose values have no strings in them.
_WITHOUT_STRINGS = frozenset({"integer", "number", "boolean", "null"})
_TYPED = frozenset({"type", "$ref", "const", "enum", "anyOf", "oneOf", "allOf"})
_CHOICES = frozenset({"$ref", "anyOf", "oneOf"})
#: A range of numbers that are no integers has so many digits more, and so has a bound that is none.
_FRACTION = 6
#: More digits of a bound add next to nothing.
_MOST_DIGITS = 60


#: Strings of a choice that cost a mask as much as another optional property; and what other values
#: cost, as a share of a string.
_CHOICES_OF_AN_END = 25
_ENDS = {
    "boolean": 0.5,
    "null": 0.5,
    "integer": 0.4,
    "number": 0.4,
    "uri": 2.0,
    "uri-reference": 2.0,
    "json-pointer": 3.0,
    "relative-json-pointer": 3.0,
}


def _open_end(schema: Any) -> float:
    """How many tokens may run over the end of a value, as a share of those over a string's end.

    Every one of them is tried against all properties that may follow.
    """
    if schema.__class__ is not dict:
        return 1.0
    if "enum" in schema or "const" in schema:
        return _SOME_TOKENS
    kind = schema.get("type")
    return _TOKENS_OVER_END.get(kind, 1.0) if isinstance(kind, str) else 1.0


_SOME_TOKENS = 0.4
_TOKENS_OVER_END = {
    "boolean": _SOME_TOKENS,
    "null": _SOME_TOKENS,
    "object": 0.2,
    "array": 0.1,
    "integer": 0.04,
    "number": 0.04,
}


def _hint(tokens: tuple[str | int, ...]) -> int:
    """Characters of the name that the rules of a definition get: digits are left out."""
    return sum(sum(not c.isdigit() for c in token) for token in tokens if isinstance(token, str))


def _bound(schema: dict[str, Any], *keywords: str) -> float | None:
    """A bound of a range, whichever keyword gives it."""
    for keyword in keywords:
        value = schema.get(keyword)
        if value.__class__ is int or value.__class__ is float:
            return value
    return None


def _digits(bounds: list[Any]) -> int:
    """Digits of both ends of a range; a huge number is not written out to count them."""
    total = 0
    for bound in bounds:
        whole = int(bound) if -1e400 < bound < 1e400 else 0
        total += min(int(abs(whole).bit_length() * 0.302) + 1, _MOST_DIGITS)
        total += _FRACTION * (whole != bound)
    return total


def _count(value: object, missing: int = 0) -> int:
    """A count; what is none counts as missing."""
    if value.__class__ is int or value.__class__ is float:
        return int(min(max(value, 0), 1 << 31))
    return missing


def _strings(members: list[Any]) -> frozenset[str]:
    return frozenset(member for member in members if isinstance(member, str))


def _names_in(value: object) -> int:
    """Characters of what holds other schemas, without these."""
    if value.__class__ is dict:
        return sum(len(name) + 4 for name in value if isinstance(name, str))
    return 2


def _held(value: object) -> int:
    """Characters of a keyword's value that holds no schema that is read on its own."""
    if value.__class__ is dict or value.__class__ is list:
        return literal(value)
    return len(value) + 2 if isinstance(value, str) else 4
