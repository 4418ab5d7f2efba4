"""The page docs/capabilities.md: the tables of capabilities, side by side."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from schemaguard import capabilities
from schemaguard.capabilities import catalogue, deriving, shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schemaguard.capabilities import Table
    from schemaguard.capabilities.stored import Found

#: How verdicts are written.
WORDS = {
    "enforced": "ok",
    "dropped": "**dropped**",
    "leaky": "in part",
    "over-constrained": "narrow",
    "untested": "?",
    "refused": "refused",
    "rejected": "not asked",
    "dead-end": "**dead end**",
    "broken-json": "**not JSON**",
    "crashed": "**crash**",
    "timeout": "**timeout**",
}

INTRODUCTION = """\
# Capabilities: what engines enforce, by version

Written by `make capabilities` on {date} from audits of {count:,} small schemas with every version
([what an audit does](audit.md)): every keyword on every type that it restricts, every two keywords
on one schema, every keyword beside every one that may win over it, and the values that matter.
Every verdict is in `schemaguard/capabilities/*.audited.json`. The options are those of this
package's compiler (strict mode) for xgrammar, and the defaults of the others.

| | |
| --- | --- |
| ok | all instances that were tried and break it are refused, and the valid ones can be written |
| **dropped** | an invalid instance gets through: of most kinds, or of all |
| in part | some that break it get through, others are refused |
| narrow | valid instances cannot be written |
| refused | the engine refuses the schema: that drops nothing |
| **not JSON** | the grammar lets text through that is not JSON |
| ? | nothing could be tested |

"dropped" of a keyword may be "in part", too. Array and object schemas have `items` or `properties`
beside the keyword, as schemas usually do.
"""


def page() -> str:
    """The whole page."""
    stored = [capabilities._stored(engine) for engine in capabilities.ENGINES]  # noqa: SLF001
    date = max(file["date"] for file in stored)
    tables = [
        capabilities.load(engine, version)
        for engine in capabilities.ENGINES
        for version in capabilities.versions(engine)
    ]
    parts = [
        INTRODUCTION.format(date=date, count=len(catalogue.cases())),
        *_keywords(tables),
        *_winners(tables),
        *_pairs(tables),
        _section("Formats", "format", shapes.FORMATS, tables, _format),
        _section("Patterns", "pattern", shapes.PATTERNS, tables, lambda t, n: t.patterns[n]),
        _section("Shapes", "schema", shapes.SHAPES, tables, lambda t, n: t.shapes[n]),
        *_limits(tables),
        *_changes(),
    ]
    return "\n".join(parts)


def _rows(first: str, names: list[str], tables: list[Table], of: Callable[..., str]) -> str:
    lines = [
        f"| {first} | " + " | ".join(f"{table.engine} {table.version}" for table in tables) + " |",
        "| --- |" + " --- |" * len(tables),
    ]
    for name in names:
        cells = [WORDS.get(verdict := of(table, name), verdict) for table in tables]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _section(
    title: str, first: str, names: object, tables: list[Table], of: Callable[..., str]
) -> str:
    named = list(names)  # type: ignore[call-overload]
    text = f"## {title}\n\n{_rows(first, named, tables, of)}"
    if title == "Patterns":
        lines = [f"- `{name}`: `{pattern}`" for name, pattern in shapes.PATTERNS.items()]
        text += "\n" + "\n".join(lines) + "\n"
    if title == "Shapes":
        text += "\nThe schemas are `SHAPES` in `schemaguard/capabilities/shapes.py`.\n"
    return text


def _format(table: Table, name: str) -> str:
    for verdict, names in (
        ("enforced", table.formats),
        ("leaky", table.leaky_formats),
        ("untested", table.untested_formats),
    ):
        if name in names:
            return verdict
    return "dropped"


def _keywords(tables: list[Table]) -> Iterator[str]:
    yield "## One keyword\n"
    for of in (*catalogue.TYPES, ""):
        keywords = [name for name in tables[0].single[of] if name != "type"]
        yield f"### {f'Type `{of}`' if of else 'No type'}\n"
        yield _rows("keyword", keywords, tables, lambda t, name, of=of: t.single[of][name])


def _winners(tables: list[Table]) -> Iterator[str]:
    yield "## One keyword wins\n"
    yield "Of these, a node has one that counts; what is beside it is dropped.\n"
    for table in tables:
        order = " > ".join(f"`{name}`" for name in table.winners) or "none"
        yield f"- {table.engine} {table.version}: {order}"
    yield ""


def _pairs(tables: list[Table]) -> Iterator[str]:
    """Pairs without a winner in which something is lost that is enforced alone."""
    yield "## Two keywords\n"
    yield "What is lost in a pair and is not lost alone, beside what the order of winners says.\n"
    lines: dict[str, dict[str, list[str]]] = {}
    for table in tables:
        for of, pairs in table.pair.items():
            for (first, second), verdicts in pairs.items():
                if not {first, second}.isdisjoint(catalogue.WINNERS):
                    continue
                key = f"| {of} | `{first}`, `{second}` |"
                for name in (first, second):
                    now, alone = verdicts[name], table.single[of][name]
                    both = {table.single[of][first], table.single[of][second]}
                    refused = now in deriving.NO_GRAMMAR and both.isdisjoint(deriving.NO_GRAMMAR)
                    if (refused or now == "dropped") and alone != "dropped":
                        what = WORDS[now] if now != "dropped" else f"`{name}` dropped"
                        found = lines.setdefault(key, {}).setdefault(what, [])
                        version = f"{table.engine} {table.version}"
                        if version not in found:
                            found.append(version)
    yield "| type | keywords | what is lost |\n| --- | --- | --- |"
    done = set()
    for key, found in lines.items():
        if frozenset(key.split("`")) in done:
            continue  # the other order
        done.add(frozenset(key.split("`")))
        yield f"{key} " + "; ".join(f"{what}: {', '.join(of)}" for what, of in found.items()) + " |"
    yield ""


def _limits(tables: list[Table]) -> Iterator[str]:
    yield "## Limits\n"
    yield _rows(
        "limit", list(tables[0].limits), tables, lambda table, name: f"{table.limits[name]:g}"
    )


def _changes() -> Iterator[str]:
    """What differs from one version to the next."""
    yield "## What changed between versions\n"
    for engine in capabilities.ENGINES:
        order = capabilities.versions(engine)
        for before, after in pairwise(order):
            old, new = (capabilities.audited(engine, version) for version in (before, after))
            changed = [key for key in new if old[key] != new[key]]
            yield f"### {engine} {before} → {after}\n"
            yield f"{len(changed):,} of {len(new):,} schemas have other verdicts.\n"
            for key in changed[:MAX_CHANGES]:
                yield f"- `{key}`: {_change(old[key], new[key])}"
            if len(changed) > MAX_CHANGES:
                yield f"- and {len(changed) - MAX_CHANGES:,} more"
            yield ""


#: Changes that are listed for two versions.
MAX_CHANGES = 60


def _change(old: Found, new: Found) -> str:
    if old[0] in deriving.NO_GRAMMAR or new[0] in deriving.NO_GRAMMAR or old[1] == new[1]:
        return f"{old[0]} → {new[0]}"
    names = dict.fromkeys((*old[1], *new[1]))
    return ", ".join(
        f"`{pointer} {keyword}`".replace("` ", "`")
        + f" {old[1].get((pointer, keyword), 'none')} → {new[1].get((pointer, keyword), 'none')}"
        for pointer, keyword in names
        if old[1].get((pointer, keyword)) != new[1].get((pointer, keyword))
    )
