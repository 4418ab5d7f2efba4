"""Random mixes of dear shapes, as large as the profile lets them be: what it overlooks shows here.

A seed chooses a palette (which leaves, how wide, how open, how deep) and a schema is grown from
it; its size is then raised until the profile refuses it.
"""

from __future__ import annotations

import random
from typing import Any

from shapes import DIALECT_FORMATS, SYLLABLES, closed

import schemaguard
from schemaguard.prices import FORMAT_MASKS

Schema = dict[str, Any]

_FORMATS = tuple(form for form in DIALECT_FORMATS if form not in FORMAT_MASKS)
_PATTERNS = (
    *(".{0,N}", "[a-z]{1,N}", "\\w{1,N}", "(\\w{1,N} ?){1,3}", "[^,]*,.{1,N}", "(a|b.*c){1,N}"),
    *("([0-9a-f]{1,N}-?){1,8}", "[a-zA-Z ]{2,N}", "é?[a-z]{1,N}", "(\\d*-?){N}"),
)
#: No schema is grown larger.
_MOST_LEAVES = 40_000


class Mix:
    """A palette, and schemas grown from it. The same seed and size give the same schema."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = random.Random(seed)
        self.leaves = [rng.randrange(15) for _ in range(rng.choice((1, 1, 2, 3, 6)))]
        self.open = rng.choice((0, 0, 0, 0, 0.03, 0.2))
        self.counted = rng.choice((0, 0, 0, 0.1, 0.3))
        self.named = rng.choice((0, 0, 0, 0.05, 0.2))
        self.required = rng.choice((0, 0.5, 1, None))
        self.widths = rng.choice(
            ((2, 3), (5, 12), (12, 60), (60, 250), (1, 2, 3, 5, 12, 60, 250), (250, 1000))
        )
        # Weights of: object, array, choice, array of a choice, definition, map.
        self.kinds = rng.choice(
            (
                (1, 0, 0, 0, 0, 0),
                (0, 0, 1, 0, 0, 0),
                (6, 2, 2, 0, 0, 0),
                (3, 2, 3, 1, 1, 0),
                (5, 1, 1, 1, 1, 1),
                (2, 5, 3, 0, 0, 0),
                (4, 0, 0, 0, 6, 0),
            )
        )
        self.levels = rng.choice((0, 0, 0, 3, 20, 45))

    def just_passing(self) -> tuple[Schema, int] | None:
        """The largest schema that the profile takes, found by bisection, and its leaves."""
        best = None
        low, high, size = 1, _MOST_LEAVES, 8
        while high - low > max(1, low // 16):
            schema = self.grow(size)
            if schemaguard.check(schema, profile="xgrammar").ok:
                low, best = size, (schema, size)
                size = (
                    min(2 * size, (low + high) // 2) if high == _MOST_LEAVES else (low + high) // 2
                )
            else:
                high = size
                size = (low + high) // 2
        return best

    def grow(self, leaves: int) -> Schema:
        """A schema of so many leaves."""
        self.rng = rng = random.Random(7919 * self.seed)
        self.definitions: Schema = {}
        made = [self._leaf() for _ in range(leaves)]
        while len(made) > 1:
            width = rng.choice(self.widths)
            made, part = made[width:], made[:width]
            made.append(self._node(part))
        schema = made[0]
        for _ in range(self.levels):
            schema = rng.choice(
                (
                    closed({"a": schema}),
                    {"type": "array", "items": schema},
                    {"anyOf": [schema, {"type": "null"}]},
                )
            )
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def _word(self, syllables: int) -> str:
        return "".join(self.rng.choices(SYLLABLES, k=syllables))

    def _leaf(self) -> Schema:
        rng = self.rng
        kind = rng.choice(self.leaves)
        if kind < 3:
            return {"type": "string"}
        if kind == 3:
            return {"type": "string", "format": rng.choice(_FORMATS)}
        if kind == 4:
            pattern = rng.choice(_PATTERNS).replace("N", str(rng.choice((3, 8, 20))))
            return {"type": "string", "pattern": f"^{pattern}$"}
        if kind == 5:
            count = rng.choice((2, 10, 60))
            return {"enum": [self._word(rng.randint(1, 4)) for _ in range(count)]}
        if kind == 6:
            low, high = (rng.randrange(10 ** rng.randint(1, 15)) for _ in range(2))
            return {"type": "integer", "minimum": -low, "maximum": high}
        if kind == 7:
            return {"type": "integer", "multipleOf": rng.choice((3, 7, 97, 500, 997))}
        if kind == 8:
            return {"type": "string", "maxLength": rng.choice((5, 100, 500))}
        if kind == 9:
            items = {"type": "string"}
            return {"type": "array", "items": items, "maxItems": rng.choice((3, 50, 200))}
        if kind == 10:
            return {"const": self._word(rng.choice((3, 60)))}
        if kind == 11:
            return {}
        if kind == 12:
            return {"type": ["string", "null", "integer"]}
        if kind == 13:
            return {"type": "number", "minimum": rng.random(), "maximum": 1e5 * rng.random() + 1}
        return {"type": "boolean"}

    def _node(self, part: list[Schema]) -> Schema:
        rng = self.rng
        kind = rng.choices(range(6), self.kinds)[0]
        if kind == 0:
            return self._object(
                {self._word(rng.randint(1, 4)) + str(i): p for i, p in enumerate(part)}
            )
        if kind == 1 and len(part) == 1:
            return {"type": "array", "items": part[0]}
        if kind == 1:
            return {"type": "array", "prefixItems": part, "items": False}
        if kind == 2:
            return {rng.choice(("anyOf", "oneOf")): part}
        if kind == 3:
            return {"type": "array", "items": {"anyOf": part}}
        if kind == 5:
            return {"type": "object", "additionalProperties": part[0]}
        name = f"d{len(self.definitions)}"
        properties = {self._word(2) + str(i): p for i, p in enumerate(part)}
        self.definitions[name] = self._object(properties)
        alternatives = [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]
        if rng.random() < 0.2:
            alternatives.append({"$ref": f"#/$defs/d{rng.randrange(len(self.definitions))}"})
        return {"anyOf": alternatives}

    def _object(self, properties: Schema) -> Schema:
        rng = self.rng
        share = rng.random() if self.required is None else self.required
        required = [name for name in properties if rng.random() < share]
        others: Any = rng.choice((True, {"type": "integer"})) if rng.random() < self.open else False
        made: Schema = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": others,
        }
        count = max(1, len(properties))
        if rng.random() < self.counted:
            made["minProperties"] = rng.randint(1, max(1, count // 2))
        if rng.random() < self.counted:
            least = max(1, len(required), made.get("minProperties", 1))
            made["maxProperties"] = rng.randint(least, max(least, count))
        if rng.random() < self.named:
            made["patternProperties"] = {
                f"^{self._word(3)}_{rng.choice(('', '[a-z]{1,4}', '[a-z]{1,9}'))}$": self._leaf()
                for _ in range(rng.choice((1, 5, 40)))
            }
        return made
