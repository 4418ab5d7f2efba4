"""What witnesses are made with: the maker, held to what holds at one place."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import regexes
from schemaguard.grammar.audit.parts import NoInstance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.maker import Maker

#: One value of each kind, the plainest first; any constraint may be broken by one of them.
PLAIN: tuple[Any, ...] = (0, "", None, True, [], {}, 1, -1, 1.5, "a", [0], {"a": 0}, False, "A b")


class Making:
    """Values of some parts and one more."""

    def __init__(self, maker: Maker, parts: list[Any], salt: str) -> None:
        self._maker = maker
        self._parts = parts
        self._salt = f"{maker.seed} {salt}"
        self._count = 0

    def some(self, *steering: Any, count: int = 1) -> list[Any]:
        """Up to `count` values, lean and full ones in turn; fewer where none can be made."""
        found = []
        for attempt in range(count):
            self._count += 1
            rng = random.Random(f"{self._salt} {self._count}")  # noqa: S311 - reproducible
            try:
                found.append(
                    self._maker.value([*self._parts, *steering], rng, full=attempt % 2 == 1)
                )
            except NoInstance:
                continue
        return found

    def named(self, patterns: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Members whose names match a pattern, as a whole and with something around it."""
        for pattern, member in list(patterns.items())[:5]:
            rng = random.Random(f"{self._salt} {pattern}")  # noqa: S311 - reproducible
            try:
                name = regexes.match(pattern, rng)
                value = self._maker.value([member], rng, full=False)
            except (regexes.NoMatch, NoInstance):
                continue
            for around in ("{}", "{}a", "a{}", "a{}a"):
                yield {around.replace("{}", name): value}

    def schema(self) -> dict[str, Any]:
        """The first part."""
        first = self._parts[0]
        return first if isinstance(first, dict) else {}


def tidy(number: float) -> int | float:
    """Without the dust of binary fractions; whole numbers as integers."""
    if isinstance(number, int):
        return number
    if not math.isfinite(number):
        return 0
    rounded = round(number, 9) if abs(number) < 1e6 else number
    return int(rounded) if float(rounded).is_integer() and abs(rounded) < 2**53 else rounded
