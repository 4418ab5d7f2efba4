"""Strings and numbers that suit parts of a schema: see `maker`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from schemaguard.grammar.audit import parts as of
from schemaguard.grammar.audit import regexes, samples
from schemaguard.grammar.audit.parts import NoInstance, Part

if TYPE_CHECKING:
    import random

#: Characters of a string that are made at most.
MAX_CHARS = 5_000


def string(parts: list[Part], rng: random.Random, *, full: bool) -> str:
    """A string that suits all parts.

    Raises:
        NoInstance: none could be made.
    """
    least = int(max((of.count(part, "minLength", 0) for part in parts), default=0))
    most = min((of.count(part, "maxLength", math.inf) for part in parts), default=math.inf)
    patterns = [p["pattern"] for p in parts if isinstance(p.get("pattern"), str)]
    formats = [p["format"] for p in parts if isinstance(p.get("format"), str)]
    if least > MAX_CHARS or most < least:
        raise NoInstance
    candidates = _samples(formats, patterns, rng)
    if not candidates and patterns:
        candidates = _matches(patterns, least, most, rng)
    elif not candidates and full and least <= 5 and most >= 5:
        candidates = ["hello"]
    elif not candidates:
        candidates = ["x" * least or ("a" if most else "")]
    for text in candidates:
        if least <= len(text) <= most:
            return text
    raise NoInstance


def _samples(formats: list[str], patterns: list[str], rng: random.Random) -> list[str]:
    """Strings of a format that the patterns match, too."""
    texts = [text for name in formats for text in samples.VALID.get(name, ())]
    rng.shuffle(texts)
    return [text for text in texts if all(regexes.search(p, text) for p in patterns)]


def _matches(patterns: list[str], least: int, most: float, rng: random.Random) -> list[str]:
    found = []
    for attempt in range(24):
        length = least if attempt % 2 or math.isinf(most) else int(min(most, MAX_CHARS))
        try:
            text = regexes.match(patterns[0], rng, length)
        except regexes.NoMatch:
            raise NoInstance from None
        text = text if len(text) >= least else text + "a" * (least - len(text))
        if len(text) <= most and all(regexes.search(p, text) for p in patterns):
            found.append(text)
            break
    return found


def number(parts: list[Part], rng: random.Random, *, whole: bool, full: bool) -> float:
    """A number that suits all parts.

    Raises:
        NoInstance: none could be made.
    """
    low, high, low_open, high_open = of.bounds(parts)
    steps = [p["multipleOf"] for p in parts if of.is_number(p.get("multipleOf"))]
    step: float = max(steps, default=1 if whole else 0)
    if whole and step != int(step):
        step = 1
    if step:
        value = _multiple(step, (low, high), (low_open, high_open), rng, full=full)
    else:
        value = _between(low, high, rng, full=full)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _multiple(
    step: float,
    bounds: tuple[float, float],
    opened: tuple[bool, bool],
    rng: random.Random,
    *,
    full: bool,
) -> float:
    low, high = bounds
    low_open, high_open = opened
    first = math.ceil(low / step) if low > -math.inf else -1000
    last = math.floor(high / step) if high < math.inf else max(first, 0) + 1000
    if low == -math.inf:
        first = min(first, last - 1000)
    first += low_open and first * step == low
    last -= high_open and last * step == high
    if first > last:
        raise NoInstance
    times = min(max(first, 1), last)
    if full:
        near = [first, last, last - 1, 0, 100, -100, rng.randint(first, last)]
        times = rng.choice([n for n in near if first <= n <= last])
    return times * step


def _between(low: float, high: float, rng: random.Random, *, full: bool) -> float:
    away: float = rng.choice((0, 0.5, 1000)) if full else 0
    if low == high:
        return low
    if low > -math.inf and high < math.inf:
        whole = (n for n in (1, math.floor(low) + 1) if low < n < high)
        return next(whole, low + (high - low) / 2)
    if low > -math.inf:
        return max(math.floor(low) + 1, 1) + away
    if high < math.inf:
        return min(math.ceil(high) - 1, 1) - away
    return rng.choice((1.5, 20, -0.25)) if full else 1.5
