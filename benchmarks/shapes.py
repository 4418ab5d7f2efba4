"""Schemas that are dear to compile: families that grow by one number, and random mixes of them.

Each family belongs to a cap; `compile_caps.py` measures its curve and `cost_model.py` fits to it.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
SYLLABLES = (
    "ba",
    "ke",
    "lo",
    "mi",
    "tu",
    "ra",
    "se",
    "no",
    "pi",
    "du",
    "ga",
    "we",
    "in",
    "or",
    "an",
)
PROSE = "The quick brown fox jumps over 12 dogs, and then some more words follow until the end. "
LOWER = "thequickbrownfoxjumpsoverthelazydogandthensomemorewordsfollow"
DIALECT_FORMATS = (
    *("date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
    *("uri", "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"),
)


class Family(NamedTuple):
    """A shape that grows.

    Attributes:
        cap: the budget that bounds it, or the rule's subject; names the figure that it is in.
        make: its schema for a size.
        sizes: what is measured.
        texts: JSON texts that lead to where masks are dear, besides those drawn at random.
    """

    cap: str
    make: Callable[[int], Schema]
    sizes: tuple[int, ...]
    texts: tuple[str, ...] = ()


def closed(properties: Schema, *, required: bool = True) -> Schema:
    """A closed object schema that requires every property, or none."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required else [],
        "additionalProperties": False,
    }


def words(count: int, syllables: int) -> list[str]:
    """So many different words."""
    rng = random.Random(31 * count + syllables)
    found: dict[str, None] = {}
    while len(found) < count:
        word = "".join(rng.choices(SYLLABLES, k=syllables))
        found[word + str(len(found)) if word in found else word] = None
    return list(found)


def names(count: int) -> list[str]:
    """So many names as people give them to properties."""
    return [f"{word}_{number}" for number, word in enumerate(words(count, 4))]


def lot(count: int, make: Callable[[int], Schema], *, required: bool = True) -> Schema:
    """An object of so many properties."""
    return closed({f"p{number}": make(number) for number in range(count)}, required=required)


def wrapped(count: int, schema: Schema, wrap: Callable[[Schema], Schema]) -> Schema:
    """A schema inside so many others."""
    for _ in range(count):
        schema = wrap(schema)
    return schema


def any_of(count: int, make: Callable[[int], Schema]) -> Schema:
    """A choice of so many alternatives."""
    return {"anyOf": [make(number) for number in range(count)]}


def clique(count: int, make: Callable[[list[Schema]], Schema]) -> Schema:
    """So many definitions, each made of references to all."""
    references = [{"$ref": f"#/$defs/d{number}"} for number in range(count)]
    definitions = {f"d{number}": make(list(references)) for number in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def open_object(declared: list[str], others: Any = True) -> Schema:
    """An object that requires some names and allows any others."""
    return {
        "type": "object",
        "properties": dict.fromkeys(declared, STRING),
        "required": declared,
        "additionalProperties": others,
    }


def string(pattern: str) -> Schema:
    """A tool schema with one string."""
    return closed({"x": {"type": "string", "pattern": pattern}})


def _tree(depth: int) -> Schema:
    return wrapped(depth, STRING, lambda inner: closed({"a": inner, "b": inner}))


def _named(count: int, pattern: str) -> Schema:
    return {
        "type": "object",
        "patternProperties": {pattern.format(name): STRING for name in names(count)},
        "additionalProperties": False,
    }


def _repeat(pattern: str) -> Callable[[int], Schema]:
    return lambda count: string(pattern.replace("N", str(count)))


_MANY = (100, 200, 400, 800, 1600, 3200)
_SOME = (25, 50, 100, 200, 300, 400, 800)
_FEW = (10, 25, 50, 100, 200, 400)
_DEEP = (8, 16, 32, 48, 64, 96, 128)

FAMILIES: dict[str, Family] = {
    # All nesting.
    "nested arrays": Family(
        "nesting", lambda n: wrapped(n, STRING, lambda s: {"type": "array", "items": s}), _DEEP
    ),
    "nested objects": Family(
        "nesting", lambda n: wrapped(n, STRING, lambda s: closed({"a": s})), _DEEP
    ),
    "nested anyOf": Family(
        "nesting", lambda n: wrapped(n, STRING, lambda s: {"anyOf": [s, {"type": "null"}]}), _DEEP
    ),
    "nested oneOf": Family(
        "nesting", lambda n: wrapped(n, STRING, lambda s: {"oneOf": [INTEGER, s]}), _DEEP
    ),
    "nested objects of 21": Family(
        "nesting",
        lambda n: wrapped(
            n, STRING, lambda s: closed({"a": s, **dict.fromkeys(names(20), STRING)})
        ),
        (8, 16, 32, 48, 62),
    ),
    "a large enum under nesting": Family(
        "nesting",
        lambda n: wrapped(n, {"enum": words(2_000, 3)}, lambda s: closed({"a": s})),
        (8, 16, 32, 48, 62),
    ),
    # States and rules.
    "required strings": Family("rules", lambda n: lot(n, lambda _: STRING), (*_MANY, 6400)),
    "required strings, named": Family(
        "rules", lambda n: closed(dict.fromkeys(names(n), STRING)), _MANY
    ),
    "required arrays": Family(
        "rules", lambda n: lot(n, lambda _: {"type": "array", "items": STRING}), _MANY
    ),
    "required objects of three": Family(
        "rules",
        lambda n: lot(
            n, lambda i: closed({"a": STRING, f"b{i}": INTEGER, "c": {"type": "boolean"}})
        ),
        _MANY,
    ),
    "the same object 2^N times": Family("rules", _tree, (4, 6, 8, 9, 10, 11, 12)),
    "typed maps": Family(
        "rules",
        lambda n: lot(
            n,
            lambda i: {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"enum": [f"a{i}", "b"]}},
            },
        ),
        _MANY,
    ),
    "bounded arrays": Family(
        "rules",
        lambda n: lot(
            n, lambda i: {"type": "array", "items": STRING, "minItems": 2, "maxItems": 10 + i}
        ),
        (10, 50, 100, 200, 400),
    ),
    "integer ranges": Family(
        "rules",
        lambda n: lot(
            n, lambda i: {"type": "integer", "minimum": i - 10**16, "maximum": 10**15 + 777 * i}
        ),
        _FEW,
    ),
    "number ranges": Family(
        "rules",
        lambda n: lot(
            n, lambda i: {"type": "number", "minimum": i + 0.35, "maximum": 1000.77 + 7.7 * i}
        ),
        _FEW,
    ),
    "references": Family(
        "rules",
        lambda n: {
            **lot(n, lambda i: {"$ref": f"#/$defs/d{i % 50}"}),
            "$defs": {f"d{i}": closed({"a": STRING, f"b{i}": INTEGER}) for i in range(50)},
        },
        _MANY,
    ),
    # Optional, counted, open, by pattern.
    "optional strings": Family(
        "optional-properties", lambda n: lot(n, lambda _: STRING, required=False), _SOME
    ),
    "optional strings, named": Family(
        "optional-properties",
        lambda n: closed(dict.fromkeys(names(n), STRING), required=False),
        _SOME,
    ),
    "optional integers": Family(
        "optional-properties", lambda n: lot(n, lambda _: INTEGER, required=False), _SOME
    ),
    "optional booleans": Family(
        "optional-properties",
        lambda n: lot(n, lambda _: {"type": "boolean"}, required=False),
        _SOME,
    ),
    "minProperties 10": Family(
        "counted-properties",
        lambda n: {**lot(n, lambda _: STRING, required=False), "minProperties": 10},
        (20, 40, 60, 80, 120, 160),
    ),
    "minProperties N/2": Family(
        "counted-properties",
        lambda n: {**lot(n, lambda _: STRING, required=False), "minProperties": n // 2},
        (20, 40, 60, 80, 120, 160),
    ),
    "maxProperties 10": Family(
        "counted-properties",
        lambda n: {**lot(n, lambda _: STRING, required=False), "maxProperties": 10},
        (20, 40, 80, 160, 320),
    ),
    "open, N names": Family("open-names", lambda n: open_object(names(n)), (1, 2, 3, 4, 6, 10, 25)),
    "open to integers, N names": Family(
        "open-names", lambda n: open_object(names(n), INTEGER), (1, 2, 3, 4, 6, 10, 25)
    ),
    "open, N equal objects of 3 names": Family(
        "open-names", lambda n: lot(n, lambda _: open_object(["id", "name", "size"])), _FEW
    ),
    "patternProperties, literal": Family("name-patterns", lambda n: _named(n, "^{}$"), _MANY),
    "patternProperties, [a-z]+": Family(
        "name-patterns", lambda n: _named(n, "^{}_[a-z]+$"), (10, 25, 50, 100, 200, 400)
    ),
    # Literals.
    "const": Family(
        "literals",
        lambda n: {"const": PROSE * (n // len(PROSE))},
        (1000, 4000, 16000, 32000, 64000),
    ),
    "const beyond ASCII": Family(
        "literals", lambda n: {"const": "é日" * (n // 2)}, (1000, 4000, 16000, 32000)
    ),
    "property name": Family(
        "literals", lambda n: closed({"x" * n: STRING}), (1000, 4000, 16000, 32000, 64000)
    ),
    "enum of words": Family(
        "literals", lambda n: {"enum": words(n // 7, 3)}, (1000, 4000, 16000, 32000, 64000)
    ),
    "enum of long words": Family(
        "literals", lambda n: {"enum": words(n // 50, 24)}, (1000, 4000, 16000, 32000, 64000)
    ),
    "enum of random text": Family(
        "literals",
        lambda n: {
            "enum": ["".join(random.Random(i).choices(LOWER, k=50)) for i in range(n // 50)]
        },
        (1000, 4000, 16000, 32000, 64000),
    ),
    "enums of 20 words": Family(
        "literals",
        lambda n: lot(n // 140, lambda i: {"enum": words(n // 7, 3)[20 * i : 20 * i + 20]}),
        (1000, 4000, 16000, 32000, 64000),
    ),
    "divisors near 1,000": Family(
        "divisors",
        lambda n: lot(n, lambda i: {"type": "integer", "multipleOf": 997 - i}),
        (1, 2, 3, 4, 6, 8, 16),
    ),
    "divisors near 100": Family(
        "divisors",
        lambda n: lot(n, lambda i: {"type": "integer", "multipleOf": 100 + i}),
        (1, 4, 8, 16, 32, 64),
    ),
    # Formats: each alone and often, for time, memory and masks.
    **{
        f"format {form}": Family(
            "formats",
            lambda n, form=form: lot(n, lambda _: {"type": "string", "format": form}),
            (1, 20, 100),
            (
                '{"p0":"http://aaaa.bbb/cc',
                '{"p0":"aaa.bbb-ccccc.ddd',
                '{"p0":"/aaaaa/bbbb',
                '{"p0":"\\"aa',
            ),
        )
        for form in DIALECT_FORMATS
    },
    "formats email, memory": Family(
        "memory", lambda n: lot(n, lambda _: {"type": "string", "format": "email"}), _FEW
    ),
    "formats uri, memory": Family(
        "memory", lambda n: lot(n, lambda _: {"type": "string", "format": "uri"}), _FEW
    ),
    # Alternatives.
    "anyOf constants": Family(
        "alternatives", lambda n: any_of(n, lambda i: {"const": f"v{i}"}), _FEW
    ),
    "anyOf objects told apart": Family(
        "alternatives",
        lambda n: any_of(n, lambda i: closed({"kind": {"const": f"k{i}"}, "v": STRING})),
        _FEW,
    ),
    "anyOf objects that begin alike": Family(
        "live-alternatives",
        lambda n: any_of(n, lambda i: closed({"a": STRING, f"b{i}": STRING})),
        _FEW,
        ('{"a":"hello world, how"',),
    ),
    "anyOf objects with N optional strings": Family(
        "live-alternatives",
        lambda n: any_of(
            20,
            lambda i: (
                closed({"a": STRING, **{f"o{i}_{j}": STRING for j in range(n)}})
                | {"required": ["a"]}
            ),
        ),
        (5, 10, 20, 40),
        ('{"a":"x',),
    ),
    "anyOf N strings before 150 optional properties": Family(
        "optional-properties",
        lambda n: closed(
            {
                "a": any_of(n, lambda i: {"type": "string", "maxLength": 10 + i}),
                **{f"o{i}": STRING for i in range(150)},
            },
            required=False,
        ),
        (5, 10, 25, 50, 100),
        ('{"a":"x',),
    ),
    "anyOf arrays of strings": Family(
        "live-alternatives",
        lambda n: any_of(n, lambda i: {"type": "array", "items": STRING, "minItems": i}),
        _FEW,
        ('["ab","hello world","x"]',),
    ),
    "anyOf arrays of integers": Family(
        "live-alternatives",
        lambda n: any_of(n, lambda i: {"type": "array", "items": INTEGER, "minItems": i}),
        _FEW,
        ("[1,2,3,4,12345,7]",),
    ),
    "anyOf arrays of bounded strings": Family(
        "live-alternatives",
        lambda n: any_of(
            n, lambda i: {"type": "array", "items": {"type": "string", "maxLength": 10 + i}}
        ),
        _FEW,
        ('["hello wo","hello"]',),
    ),
    "anyOf bounded strings": Family(
        "live-alternatives",
        lambda n: any_of(n, lambda i: {"type": "string", "maxLength": 10 + i}),
        _FEW,
        ('"hello wo',),
    ),
    "array of anyOf strings or null": Family(
        "live-alternatives",
        lambda n: {"type": "array", "items": any_of(n, lambda _: {"type": ["string", "null"]})},
        _FEW,
        ('["hello","wo',),
    ),
    "anyOf formats": Family(
        "live-alternatives",
        lambda n: any_of(n, lambda i: {"type": "string", "format": ("hostname", "uri")[i % 2]}),
        (5, 10, 25, 50, 100),
        ('"http://aa.bb/cc', '"aaaa.bbb'),
    ),
    "recursive anyOf objects": Family(
        "live-alternatives",
        lambda n: clique(
            1,
            lambda refs: any_of(n, lambda _: closed({"x": refs[0], "y": STRING}, required=False)),
        ),
        (10, 20, 40, 80),
        ('{"x":{"x":{"x":{"y":"abc"},"y"',),
    ),
    "recursive anyOf arrays": Family(
        "live-alternatives",
        lambda n: clique(1, lambda refs: any_of(n, lambda _: {"type": "array", "items": refs[0]})),
        (10, 20, 40, 80),
        ("[[[[[[",),
    ),
    "definitions that are arrays of all others": Family(
        "live-alternatives",
        lambda n: clique(
            n,
            lambda refs: {
                "anyOf": [{"type": "null"}, *({"type": "array", "items": r} for r in refs)]
            },
        ),
        (3, 5, 7, 10, 15),
        ("[[[[[[",),
    ),
    "definitions that are any of all others": Family(
        "linked-alternatives",
        lambda n: clique(n, lambda refs: {"anyOf": [{"type": "null"}, *refs]}),
        (10, 20, 40, 50, 60, 80),
    ),
    "definitions that hold all others": Family(
        "rules",
        lambda n: clique(
            n, lambda refs: closed({f"k{i}": r for i, r in enumerate(refs)}, required=False)
        ),
        (5, 10, 20, 40, 60),
    ),
    # Patterns.
    "^a{1,N}$": Family(
        "patterns", _repeat("^a{1,N}$"), (64, 128, 256, 1000), ('{"x":"' + "a" * 300,)
    ),
    "^[a-z]{1,N}$": Family(
        "patterns", _repeat("^[a-z]{1,N}$"), (32, 64, 128, 129, 256), ('{"x":"' + LOWER * 4,)
    ),
    "^[a-zA-Z0-9_-]{1,N}$": Family(
        "patterns",
        _repeat("^[a-zA-Z0-9_-]{1,N}$"),
        (32, 64, 128, 129, 256),
        ('{"x":"' + LOWER * 4,),
    ),
    "^[a-zA-Z ]{1,N}$": Family(
        "patterns", _repeat("^[a-zA-Z ]{1,N}$"), (16, 32, 37, 64, 128, 129), ('{"x":"' + LOWER * 3,)
    ),
    "^.{1,N}$": Family(
        "patterns", _repeat("^.{1,N}$"), (16, 32, 37, 64, 128, 129, 500), ('{"x":"' + PROSE * 4,)
    ),
    "^(.{1,N}){1,N}$": Family(
        "patterns", _repeat("^(.{1,N}){1,N}$"), (2, 3, 4, 5), ('{"x":"' + PROSE,)
    ),
    "(\\w{1,N} ?){1,N}": Family(
        "patterns", _repeat("(\\w{1,N} ?){1,N}"), (2, 3, 4, 5, 7), ('{"x":"' + PROSE,)
    ),
    "\\d*-? N times": Family(
        "patterns",
        lambda n: string("^" + "\\d*-?" * n + "$"),
        (50, 100, 200, 400),
        ('{"x":"12-12-',),
    ),
    "N words": Family(
        "patterns", lambda n: string("^(" + "|".join(words(n, 3)) + ")$"), (16, 64, 240, 500)
    ),
    "N groups": Family(
        "patterns", lambda n: string("^" + "(" * n + "a" + ")" * n + "$"), (8, 16, 32, 64)
    ),
    "raw é, [a-z]{1,N}": Family(
        "patterns", _repeat("^é?[a-z]{1,N}$"), (8, 16, 25, 64), ('{"x":"' + LOWER,)
    ),
}
