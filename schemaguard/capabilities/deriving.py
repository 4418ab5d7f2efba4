"""From audits of the catalogue to a table: what `Table` says, read off the cases."""

from __future__ import annotations

from schemaguard.capabilities import catalogue, shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from schemaguard.capabilities.stored import Found

#: Verdicts on a schema that has no grammar, so that no constraint has one.
NO_GRAMMAR = frozenset({"refused", "rejected", "crashed", "timeout"})

#: Verdicts on a schema that say more than those on its constraints.
_UNSOUND = NO_GRAMMAR | {"dead-end", "broken-json"}

# Verdicts on constraints, the gravest first.
_GRAVITY = ("dropped", "leaky", "over-constrained", "enforced")

#: Keyword → where the constraints of its subschemas are, if not below the keyword itself.
_ELSEWHERE = {"$ref": ("/$defs", "/definitions"), "if": ("/then", "/else")}


def table(found: Mapping[str, Found]) -> dict[str, Any]:
    """The fields of a `Table` but for its names, as a JSON value.

    Args:
        found: key of the catalogue → what one version made of it.
    """
    single = _by_type(found, "single")
    order = _winners(found)
    return {
        "single": single,
        "bare": _by_type(found, "bare"),
        "nullable": _by_type(found, "nullable"),
        "pair": _pairs(found, single),
        "winners": order,
        "lost": _lost(found, order),
        "formats": {
            name: verdict(found[f"format {name}"], "format", exact=True) for name in shapes.FORMATS
        },
        "leaky": {
            of: leaky
            for of, keywords in single.items()
            if (leaky := [name for name in keywords if _is_leaky(found, of or "-", name)])
        },
        "limits": _limits(found),
        "patterns": {
            key.removeprefix("pattern "): verdict(case, "pattern")
            for key, case in found.items()
            if key.startswith("pattern ")
        },
        "shapes": {
            key.removeprefix("shape "): _overall(case)
            for key, case in found.items()
            if key.startswith("shape ")
        },
    }


def verdict(case: Found, keyword: str, *, exact: bool = False) -> str:
    """The verdict on a keyword at the root: the gravest on what it says itself and below it.

    Args:
        case: what a version made of a schema.
        keyword: of the schema.
        exact: tell "leaky" from "dropped".
    """
    schema, verdicts = case
    if schema in NO_GRAMMAR:
        return schema
    below = _ELSEWHERE.get(keyword, (f"/{keyword}",))
    grave = [
        name
        for (pointer, own), name in verdicts.items()
        if (own == keyword and not pointer) or _is_below(pointer, below)
    ]
    return _gravest(grave, exact=exact)


def _is_below(pointer: str, places: tuple[str, ...]) -> bool:
    return any(pointer == place or pointer.startswith(place + "/") for place in places)


def _gravest(verdicts: list[str], *, exact: bool = False) -> str:
    # What could not be tested says nothing beside what could.
    verdicts = [name for name in verdicts if name != "untested"]
    if not verdicts:
        return "untested"
    found = min(verdicts, key=_GRAVITY.index)
    return "dropped" if found == "leaky" and not exact else found


def _overall(case: Found) -> str:
    schema, verdicts = case
    return schema if schema in _UNSOUND else _gravest(list(verdicts.values()))


def _by_type(found: Mapping[str, Found], family: str) -> dict[str, dict[str, str]]:
    made: dict[str, dict[str, str]] = {}
    for key, case in found.items():
        if key.startswith(f"{family} "):
            _, of, keyword = key.split(" ")
            made.setdefault("" if of == "-" else of, {})[keyword] = verdict(case, keyword)
    return made


def _is_leaky(found: Mapping[str, Found], of: str, keyword: str) -> bool:
    return verdict(found[f"single {of} {keyword}"], keyword, exact=True) == "leaky"


def _pairs(
    found: Mapping[str, Found], single: dict[str, dict[str, str]]
) -> dict[str, list[list[str]]]:
    made: dict[str, list[list[str]]] = {}
    for key, case in found.items():
        if not key.startswith("pair "):
            continue
        _, of, first, second = key.split(" ")
        both = [verdict(case, first), verdict(case, second)]
        if both != [single[of][first], single[of][second]]:
            made.setdefault(of, []).append([first, second, *both])
    return made


def _winners(found: Mapping[str, Found]) -> list[str]:
    """The order in which keywords win; only those that win or lose at all."""
    beats: dict[str, set[str]] = {}
    for key, case in found.items():
        if key.startswith("win "):
            _, *both = key.split(" ")
            for winner, loser in (both, both[::-1]):
                if _is_lost(verdict(case, loser)) and not _is_lost(verdict(case, winner)):
                    beats.setdefault(winner, set()).add(loser)
                    beats.setdefault(loser, set())
    order = sorted(beats, key=lambda name: -len(beats[name]))
    for index, winner in enumerate(order):
        for loser in order[index + 1 :]:
            if winner in beats[loser]:
                raise ValueError(f"no order of winners: {loser} wins over {winner}")
    return order


def _is_lost(name: str) -> bool:
    return name == "dropped"


def _lost(found: Mapping[str, Found], order: list[str]) -> dict[str, list[str]]:
    """Winner → keywords that are dropped beside it on every type on which that can be told.

    What is enforced in part beside `type` is not lost there. Beside the others it can be in part
    because of what they allow themselves.
    """
    seen: dict[str, dict[str, set[bool]]] = {winner: {} for winner in order}
    for key, case in found.items():
        family, *words = key.split(" ")
        rows = []
        if family == "beside":
            rows = [(words[0], words[2])]
        elif family == "win":
            rows = [(words[0], words[1]), (words[1], words[0])]
        elif family == "pair" and words[1] in order:
            rows = [(words[1], words[2])]
        elif family == "single" and words[0] != "-":
            rows = [("type", words[1])]
        for winner, keyword in rows:
            name = verdict(case, keyword, exact=family == "single")
            if winner in order and name not in {"untested", *NO_GRAMMAR}:
                seen[winner].setdefault(keyword, set()).add(_is_lost(name))
    return {
        winner: sorted(keyword for keyword, ways in keywords.items() if ways == {True})
        for winner, keywords in seen.items()
    }


def _limits(found: Mapping[str, Found]) -> dict[str, float]:
    return {
        "integer-multipleOf": _last(
            {n: verdict(found[f"multipleOf integer {n}"], "multipleOf") for n in catalogue.DIVISORS}
        ),
        "integer-multipleOf-range": _last(
            {n: verdict(found[f"multipleOf range {n}"], "multipleOf") for n in catalogue.WIDTHS}
        ),
        "number-range": _narrowest(found),
    }


def _last(verdicts: Mapping[int, str]) -> int:
    """The last value that is enforced before the first that is not."""
    last = 0
    for value, name in verdicts.items():
        if name in {"dropped", *NO_GRAMMAR}:
            break
        if name != "untested":
            last = value
    return last


def _narrowest(found: Mapping[str, Found]) -> float:
    narrowest = 0.0
    for text in catalogue.NUMBER_WIDTHS:
        if found[f"width number {text}"][0] in _UNSOUND:
            break
        narrowest = float(text)
    return narrowest
