"""What compiling a schema will cost, estimated without compiling it.

`estimate` counts what the compiler has to make (`schemaguard.estimate.work`) and prices it
(`schemaguard.prices`). It needs no engine, recurses nowhere, and takes about as long as a check.
How far off it is: docs/compile-cost.md.
"""

from __future__ import annotations

from heapq import nlargest

from schemaguard import prices
from schemaguard._frozen import Frozen
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.estimate import alternatives, work
from schemaguard.report import BudgetUse, Contributor, Report, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from schemaguard.estimate.work import Place, Work

#: How many contributors an estimate names.
TOP = 5
#: Contributors whose share is smaller say nothing.
_LEAST_SHARE = 0.01
#: Schemas of a document that are counted, and states of its grammar; what has more is far too dear.
_MOST_PLACES = 50_000
_MOST_STATES = 200_000

#: From this many seconds on, compiling on demand serves the first mask much sooner and loses little
#: over a typical output. Measured: docs/compile-cost.md#eager-or-on-demand.
DYNAMIC_SECONDS = 0.1


class Estimate(Frozen):
    """What compiling one schema will cost.

    Attributes:
        seconds: processor time to compile it, with `prices.VOCABULARY` tokens, on `prices.MACHINE`.
        bytes: memory while it is compiled, beyond what the process has.
        rules: rules of its grammar, before they are optimised.
        contributors: (JSON Pointer, share of the seconds) of the places that cost most, each with
            everything below it that is compiled for it; the largest first.
        complete: False when it was counted only in part; the numbers are then lower bounds.
    """

    __slots__ = ("bytes", "complete", "contributors", "rules", "seconds")

    seconds: float
    bytes: int
    rules: int
    contributors: tuple[tuple[str, float], ...]
    complete: bool

    def __init__(
        self,
        *,
        seconds: float,
        bytes: int,  # noqa: A002  (the unit is the name)
        rules: int,
        contributors: tuple[tuple[str, float], ...],
        complete: bool = True,
    ) -> None:
        self._fill(
            seconds=seconds,
            bytes=bytes,
            rules=rules,
            contributors=contributors,
            complete=complete,
        )


def estimate(schema: Any) -> Estimate:
    """Estimate the cost of compiling a schema.

    Args:
        schema: a `Report`, JSON text as `str` or `bytes`, or a parsed value. It need not have been
            accepted; what is no schema counts as one that allows anything.
    """
    from schemaguard.preflight import as_document  # noqa: PLC0415  (it makes reports)

    if isinstance(schema, Report):
        document = schema.document
    else:
        document = as_document(schema, DEFAULT_LIMITS)
    try:
        counted = _measured(document.value if document.readable else None)
    except Exception:
        if document.text is not None:
            raise  # a fault of ours: text is plain JSON
        # A type that lies about itself, or a value that changes: no engine is handed it either.
        counted = _measured(None)
        counted.complete = False
    return Estimate(
        seconds=milliseconds(counted) / 1e3,
        bytes=int(kilobytes(counted) * 1024),
        rules=round(counted.rules),
        contributors=_contributors(counted),
        complete=counted.complete,
    )


def prefers_dynamic(estimated: Estimate) -> bool:
    """Whether to compile on demand (`enable_dynamic_compilation`) rather than at once.

    On demand, a large schema has its first mask many times sooner, and dearer masks afterwards; a
    small one gains nothing. See `DYNAMIC_SECONDS`.
    """
    return estimated.seconds >= DYNAMIC_SECONDS


def _measured(root: Any) -> Work:
    return work.measure(root, most_states=_MOST_STATES, most_places=_MOST_PLACES)


def uses(root: Any, limits: Mapping[str, int]) -> tuple[BudgetUse, ...]:
    """Use of each budget of `plan.WORK_BUDGETS` that has a limit, with the top contributors.

    A document that is counted only in part uses at least so much.
    """
    counted = _measured(root)
    return tuple(_use(name, limit, root, counted) for name, limit in limits.items())


def overspent(root: Any, limits: Mapping[str, int]) -> list[BudgetUse]:
    """The budgets that a document exceeds, in the order of the limits."""
    counted = _measured(root)
    return [
        _use(name, limit, root, counted)
        for name, limit in limits.items()
        if _used(name, limit, root, counted) > limit
    ]


#: Budget → the kinds of work that it adds up.
_SUMS = {
    "divisors": ("divisors",),
    "open-names": ("open names",),
    "linked-alternatives": ("links",),
    "all-data-characters": ("enum", "const"),
}
#: Budget → the kind of work of which it bounds what one place has.
_LARGEST = {
    "optional-properties": "optional",
    "counted-properties": "counted properties",
    "name-patterns": "name patterns",
}


def _used(name: str, limit: int, root: Any, counted: Work) -> int:
    if name == "compile-milliseconds":
        return round(milliseconds(counted))
    if name == "compile-megabytes":
        return round(kilobytes(counted) / 1024)
    if name == "grammar-rules":
        return round(counted.rules)
    if name == "live-alternatives":
        return alternatives.alive(root, counted, limit)[0]
    if name in _LARGEST:
        return int(counted.largest.get(_LARGEST[name], (0,))[0])
    return int(sum(counted.extra.get(kind, 0) for kind in _SUMS[name]))


def _use(name: str, limit: int, root: Any, counted: Work) -> BudgetUse:
    if name in ("compile-milliseconds", "compile-megabytes", "grammar-rules"):
        ranked = [(place, cost) for place, cost in _ranked(counted)[:TOP] if cost >= 1]
    elif name == "live-alternatives":
        weight, place = alternatives.alive(root, counted, limit)
        ranked = [(place, weight)] if place is not None else []
    else:
        kinds = (_LARGEST[name],) if name in _LARGEST else _SUMS[name]
        ranked = _largest(counted.places, kinds)
    top = tuple(Contributor(pointer(place), round(amount)) for place, amount in ranked)
    return BudgetUse(name, _used(name, limit, root, counted), limit, top)


def _largest(places: Iterable[Place], kinds: tuple[str, ...]) -> list[tuple[Place, float]]:
    amounts = [(place, sum(place.extra.get(kind, 0) for kind in kinds)) for place in places]
    ranked = nlargest(TOP, amounts, key=lambda entry: entry[1])
    return [entry for entry in ranked if entry[1]]


def milliseconds(counted: Work) -> float:
    """Processor time to compile what was counted."""
    extra = counted.extra
    total = prices.ANY_GRAMMAR + sum(once for kind, once in _ONCE.items() if extra.get(kind))
    total += prices.LINK_CUBED * extra.get("links", 0) ** 3
    total += _state_price(counted) * counted.states + prices.MILLISECONDS["text"] * counted.text
    return total + sum(_price(kind, amount) for kind, amount in extra.items())


def kilobytes(counted: Work) -> float:
    """Memory at the peak while it is compiled."""
    extra = counted.extra
    total = prices.ANY_KILOBYTES + prices.KILOBYTES["state"] * counted.states
    total += prices.LINK_SQUARED_KILOBYTES * extra.get("links", 0) ** 2
    total += sum(prices.KILOBYTES.get(kind, 0) * amount for kind, amount in extra.items())
    return total + sum(prices.FORMATS[form][2] * extra[form] for form in counted.formats)


#: Kind → milliseconds that are paid once, however often it is there.
_ONCE = {
    "number": prices.ANY_NUMBER,
    "string": prices.ANY_STRING,
    "bounded string": prices.ANY_BOUNDED_STRING,
    **{form: row[0] for form, row in prices.FORMATS.items()},
}


def _price(kind: str, amount: float) -> float:
    """Milliseconds for so much of a kind, of what is linear."""
    if kind in prices.FORMATS:
        return prices.FORMATS[kind][1] * amount
    return prices.MILLISECONDS.get(kind, 0.0) * amount


def _state_price(counted: Work) -> float:
    """Milliseconds a state: each is held against all others."""
    return prices.MILLISECONDS["state"] + prices.STATE_SQUARED * counted.states


def costs(counted: Work) -> dict[Place, float]:
    """Milliseconds of each place, what is below it left out; what is paid once is shared."""
    state = _state_price(counted)
    once = {
        kind: price / counted.extra[kind] for kind, price in _ONCE.items() if kind in counted.extra
    }
    link = prices.LINK_CUBED * counted.extra.get("links", 0) ** 2
    return {
        place: state * place.states
        + prices.MILLISECONDS["text"] * place.text
        + link * place.extra.get("links", 0)
        + sum(
            _price(kind, amount) + once.get(kind, 0.0) * amount
            for kind, amount in place.extra.items()
        )
        for place in counted.places
    }


def _contributors(counted: Work) -> tuple[tuple[str, float], ...]:
    total = max(milliseconds(counted), 1e-9)
    shares = ((place, cost / total) for place, cost in _ranked(counted)[:TOP])
    return tuple((pointer(place), share) for place, share in shares if share >= _LEAST_SHARE)


def _ranked(counted: Work) -> list[tuple[Place, float]]:
    """Places with what they cost, everything below included; the dearest first.

    One that costs hardly more than a single child of it is left out: the child says more.
    """
    sums = costs(counted)
    largest: dict[Place, float] = {}
    for place in reversed(counted.places):  # children come after their parents
        if place.parent is not None:
            sums[place.parent] += sums[place]
            largest[place.parent] = max(largest.get(place.parent, 0.0), sums[place])
    telling = [p for p in counted.places if sums[p] > 0 and largest.get(p, 0.0) < 0.9 * sums[p]]
    telling.sort(key=lambda place: -sums[place])
    return [(place, sums[place]) for place in telling or counted.places]


def pointer(place: Place) -> str:
    """The JSON Pointer of a place."""
    return "".join(f"/{escape(step)}" for step in steps(place))


def steps(place: Place | None) -> tuple[str | int, ...]:
    """The steps from the root to a place."""
    found: list[str | int] = []
    while place is not None:
        found.extend(reversed(place.tokens))
        place = place.parent
    return tuple(reversed(found))
