"""Documents for the benchmarks: generated, seeded, in the sizes that the claims name.

====== =========== =====================================================================
name   size        what
====== =========== =====================================================================
small  0.5 kB      one flat tool, 7 subschemas
medium 4.4 kB      one tool, 35 subschemas, nested three deep
large  76 kB       588 subschemas, 500 properties, 50 references
huge   775 kB      5,549 subschemas, exactly 5,000 properties and 1,000 enum entries
====== =========== =====================================================================

All of them are accepted by the `dynamo` profile. `hostile` and `flood` are about 10 MB and are not.
"""

from __future__ import annotations

import random
from typing import Any

WORDS = [
    "the",
    "of",
    "a",
    "to",
    "in",
    "is",
    "for",
    "on",
    "with",
    "as",
    "by",
    "an",
    "at",
    "from",
    "or",
    "that",
    "which",
    "name",
    "value",
    "list",
    "path",
    "file",
    "user",
    "query",
    "result",
    "number",
    "format",
    "output",
    "input",
    "default",
    "page",
    "size",
    "limit",
    "filter",
    "search",
    "date",
    "time",
    "zone",
    "when",
    "set",
    "only",
    "return",
    "include",
    "exclude",
    "match",
    "case",
    "index",
    "field",
    "record",
    "order",
    "identifier",
]

KEYWORDS_OF_LEAF = ("plain", "range", "nullable", "array", "choice", "pattern")


def sentence(rng: random.Random, words: int) -> str:
    """A description of so many words."""
    text = " ".join(rng.choice(WORDS) for _ in range(words))
    return text.capitalize() + "."


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A closed object schema that requires every property."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **more,
    }


def leaf(rng: random.Random, kind: str, words: int = 8) -> dict[str, Any]:
    """One property as tool authors write it."""
    text = sentence(rng, words)
    if kind == "range":
        return {"type": "integer", "description": text, "minimum": 0, "maximum": 100}
    if kind == "nullable":
        return {"type": ["string", "null"], "description": text}
    if kind == "array":
        return {"type": "array", "items": {"type": "string"}, "description": text}
    if kind == "choice":
        return {"type": "string", "enum": rng.sample(WORDS, 3), "description": text}
    if kind == "pattern":
        return {"type": "string", "pattern": "^[a-z]+$", "description": text}
    return {"type": rng.choice(("string", "integer", "boolean")), "description": text}


def small() -> dict[str, Any]:
    """Seven subschemas: a root, five properties, one item schema."""
    rng = random.Random(1)
    kinds = ("plain", "plain", "nullable", "array", "plain")
    return closed({f"value_{i}": leaf(rng, kind, 2) for i, kind in enumerate(kinds)})


def medium() -> dict[str, Any]:
    """35 subschemas, objects nested three deep."""
    rng = random.Random(2)

    def fields(prefix: str, count: int) -> dict[str, Any]:
        return {
            f"{prefix}_{i}": leaf(rng, KEYWORDS_OF_LEAF[i % len(KEYWORDS_OF_LEAF)], 14)
            for i in range(count)
        }

    inner = closed(fields("inner", 9), description=sentence(rng, 12))
    middle = closed({**fields("middle", 8), "inner": inner}, description=sentence(rng, 12))
    return closed({**fields("outer", 9), "middle": middle}, description=sentence(rng, 12))


def _wide(seed: int, objects: int, per_object: int, refs: int, choices: int) -> dict[str, Any]:
    """`objects` closed objects of `per_object` properties, `refs` of which are references."""
    rng = random.Random(seed)
    kinds = ("plain", "plain", "range", "nullable", "plain", "pattern")
    groups: dict[str, Any] = {}
    left_refs, left_choices = refs, choices
    for g in range(objects):
        properties: dict[str, Any] = {}
        for i in range(per_object):
            name = f"group_{g:03d}_field_{i:03d}"
            if left_refs and i % 10 == 9:
                properties[name] = {"$ref": f"#/$defs/shared_{left_refs % 20:02d}"}
                left_refs -= 1
            elif left_choices and i % 10 == 4:
                take = min(10, left_choices)
                properties[name] = {
                    "type": "string",
                    "enum": [f"choice_{n}" for n in range(take)],
                    "description": sentence(rng, 8),
                }
                left_choices -= take
            else:
                properties[name] = leaf(rng, kinds[i % len(kinds)], 9)
        groups[f"group_{g:03d}"] = closed(properties, description=sentence(rng, 10))
    shared = {f"shared_{i:02d}": leaf(rng, "array", 8) for i in range(20)}
    return closed(groups, **{"$defs": shared})


def large() -> dict[str, Any]:
    """500 properties, 50 references."""
    return _wide(3, 20, 24, 50, 200)


def huge() -> dict[str, Any]:
    """Exactly 5,000 properties and 1,000 enum entries: both limits of the `dynamo` profile."""
    return _wide(4, 40, 124, 100, 1000)


def hostile(target_bytes: int = 10_000_000) -> dict[str, Any]:
    """About 85,000 subschemas in 10 MB: closed objects far over the property budget."""
    rng = random.Random(5)
    per_object = 100
    objects = target_bytes // 12_600
    properties = {}
    for g in range(objects):
        fields = {
            f"field_{i:05d}": leaf(rng, "plain" if i % 3 else "range", 9) for i in range(per_object)
        }
        properties[f"group_{g:05d}"] = closed(fields)
    return closed(properties)


def flood(count: int = 312_000) -> dict[str, Any]:
    """`count` violations: every property is an open object."""
    return closed({f"p{i:06d}": {"type": "object"} for i in range(count)})


def chain_of(subschemas: int) -> dict[str, Any]:
    """A document of about so many subschemas, for the scaling claim (arrays of small objects)."""
    rng = random.Random(6)
    count = max(1, subschemas // 10)
    groups = {
        f"g{i:06d}": closed({f"f{j}": leaf(rng, "plain", 3) for j in range(9)})
        for i in range(count)
    }
    return closed(groups)


CASES = {"small": small, "medium": medium, "large": large, "huge": huge}


def main() -> None:
    """Print what the documents are."""
    import json

    for name, make in CASES.items():
        print(name, len(json.dumps(make())))


if __name__ == "__main__":
    main()
