"""What engines enforce, by version: read off audits of the catalogue, not written by hand.

::

    from schemaguard import capabilities

    table = capabilities.load("xgrammar", "0.2.9")
    table.single["number"]["multipleOf"]     # "dropped"
    table.lost["anyOf"]                      # keywords that are dropped beside `anyOf`

`make capabilities` audits the catalogue (`schemaguard.capabilities.catalogue`) with every version
and writes `ENGINE.json`, the tables, and `ENGINE.audited.json`, every verdict they are made of. No
engine is imported to read them.

Verdicts are those of the audit on a constraint (enforced, dropped, over-constrained, untested) and,
for a schema without a grammar, "refused", "crashed", "timeout", or "rejected" for what is no
schema, so that no engine was asked.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from schemaguard._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ENGINES", "Table", "audited", "load", "versions"]

#: The engines that there are tables of.
ENGINES = ("xgrammar", "llguidance", "outlines-core")

# Verdicts on a format of which nothing was seen to get through.
_ENFORCED = frozenset({"enforced", "over-constrained"})

_FOLDER = os.path.dirname(__file__)


class Table(Frozen):
    """What one version of an engine makes of keywords. A type "" stands for none.

    Attributes:
        engine: its name.
        version: of the audits.
        exact: this is the version that was asked for; else the nearest that was audited.
        single: type → keyword → verdict, of a schema with that type and keyword. Array and object
            schemas have `items` and `properties` beside it, as schemas usually do.
        leaky: type → keywords that are "dropped" in `single` only in part: some of what breaks them
            is refused, or only a name that is written with escapes, or twice, gets past.
        bare: the same without `items` and `properties`, for keywords that have them in `single`.
        nullable: type → keyword → verdict, of a schema with the types `[type, "null"]`.
        pair: type → two keywords, in either order → keyword → verdict, for pairs on one schema
            of which a verdict differs from that in `single`.
        winners: keywords of which a node has one winner, each before those it wins over.
        lost: winner → keywords that are dropped beside it, on every type on which that can be told.
        formats: names of formats of which nothing was seen to get past the engine.
        leaky_formats: names of formats that are enforced in part.
        untested_formats: names of formats of which nothing is known.
        limits: name → the last value that is enforced; 0 for none. "integer-multipleOf": divisors
            without bounds; "integer-multipleOf-range": maximum less minimum; "number-range": the
            narrowest (not widest) that can be written.
        patterns: kind of pattern (`shapes.PATTERNS`) → verdict.
        shapes: name in `shapes.SHAPES` → the verdict on the schema where it has no sound
            grammar, else the gravest on a constraint.
    """

    __slots__ = (
        "bare",
        "engine",
        "exact",
        "formats",
        "leaky",
        "leaky_formats",
        "limits",
        "lost",
        "nullable",
        "pair",
        "patterns",
        "shapes",
        "single",
        "untested_formats",
        "version",
        "winners",
    )

    engine: str
    version: str
    exact: bool
    single: Mapping[str, Mapping[str, str]]
    bare: Mapping[str, Mapping[str, str]]
    nullable: Mapping[str, Mapping[str, str]]
    pair: Mapping[str, Mapping[tuple[str, str], Mapping[str, str]]]
    winners: tuple[str, ...]
    lost: Mapping[str, frozenset[str]]
    formats: frozenset[str]
    leaky: Mapping[str, frozenset[str]]
    leaky_formats: frozenset[str]
    untested_formats: frozenset[str]
    limits: Mapping[str, float]
    patterns: Mapping[str, str]
    shapes: Mapping[str, str]

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    def __repr__(self) -> str:
        return f"<Table {self.engine} {self.version}>"

    def __hash__(self) -> int:
        return hash((self.engine, self.version))


def versions(engine: str) -> tuple[str, ...]:
    """The versions of an engine that were audited, the oldest first.

    Raises:
        ValueError: there is no table of such an engine.
    """
    return tuple(_stored(engine)["versions"])


@lru_cache(maxsize=16)
def load(engine: str = "xgrammar", version: str | None = None) -> Table:
    """The table of one version of an engine.

    Args:
        engine: one of `ENGINES`.
        version: as the package index has it; None for the newest that was audited. Of one that was
            not, the table is that of the newest before it, or of the oldest; see `Table.exact`.

    Raises:
        ValueError: there is no table of such an engine.
    """
    stored = _stored(engine)
    known = stored["versions"]
    found = _nearest(list(known), version)
    plain = stored["tables"][known[found]]
    pair: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    for of, rows in plain["pair"].items():
        pair[of] = {}
        for first, second, one, other in rows:
            pair[of][first, second] = pair[of][second, first] = {first: one, second: other}
    formats = plain["formats"]
    return Table(
        engine=engine,
        version=found,
        exact=version in {None, found},
        **{
            **plain,
            "pair": pair,
            "winners": tuple(plain["winners"]),
            "lost": {winner: frozenset(names) for winner, names in plain["lost"].items()},
            "leaky": {of: frozenset(names) for of, names in plain["leaky"].items()},
            "formats": frozenset(name for name, of in formats.items() if of in _ENFORCED),
            "leaky_formats": frozenset(name for name, of in formats.items() if of == "leaky"),
            "untested_formats": frozenset(name for name, of in formats.items() if of == "untested"),
        },
    )


def audited(engine: str, version: str) -> dict[str, tuple[str, dict[tuple[str, str], str]]]:
    """Every verdict: key of the catalogue → that on the schema, and those on its constraints.

    Args:
        engine: one of `ENGINES`.
        version: one of `versions`.

    Returns:
        Verdicts on constraints by pointer and keyword; "leaky" where only a part is dropped.

    Raises:
        ValueError: it was not audited.
    """
    from schemaguard.capabilities import stored  # noqa: PLC0415 - rules do without

    _check_engine(engine)
    with open(os.path.join(_FOLDER, f"{engine}.audited.json"), encoding="utf-8") as file:
        return stored.unpack(json.load(file), version)


@lru_cache(maxsize=4)
def _stored(engine: str) -> dict[str, Any]:
    _check_engine(engine)
    with open(os.path.join(_FOLDER, f"{engine}.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def _check_engine(engine: str) -> None:
    if engine not in ENGINES:
        raise ValueError(f"no table of {engine!r}; there are: {', '.join(ENGINES)}")


def _nearest(known: list[str], version: str | None) -> str:
    if version is None or version in known:
        return version or known[-1]
    wanted = _numbers(version)
    before = [name for name in known if _numbers(name) <= wanted]
    return before[-1] if before else known[0]


def _numbers(version: str) -> list[int]:
    """The release of a version; what follows it (`.post1`, `+cpu`, `rc1`) does not count."""
    numbers = []
    for part in version.split("+", maxsplit=1)[0].split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return numbers
