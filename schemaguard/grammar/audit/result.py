"""What an audit found: frozen, and the same for the same schema, engine and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Verdicts on a schema, the gravest first.
REFUSED = "refused"
DEAD_END = "dead-end"
BROKEN_JSON = "broken-json"
LEAKS = "leaks"
OVER_CONSTRAINED = "over-constrained"
EXACT = "exact"

#: Verdicts on a constraint, beside `OVER_CONSTRAINED`.
ENFORCED = "enforced"
DROPPED = "dropped"
UNTESTED = "untested"

#: Verdicts on a constraint, the gravest first.
CONSTRAINT_VERDICTS = (DROPPED, OVER_CONSTRAINED, UNTESTED, ENFORCED)


class AuditedConstraint(Frozen):
    """One keyword at one place, and what the engine makes of it.

    Attributes:
        pointer: JSON Pointer (RFC 6901) of the schema that has the keyword. A definition has one
            pointer, however many references lead to it.
        keyword: the keyword. "false" is the schema `false` itself. `properties`, `items` and the
            like restrict nothing of their own and appear only when the engine makes a restriction
            of them.
        verdict: "enforced": every instance that was tried and breaks it is refused, and every
            valid one around its boundary can be written. "dropped": an instance that breaks it and
            nothing else can be written. "over-constrained": a valid instance can not.
            "untested": nothing can be said.
        witness: JSON text of the instance: with "dropped" the smallest invalid one that gets
            through, with "over-constrained" a valid one that the engine does not let be written in
            any spelling that was tried; else None.
        reason: one line, printable: what was tried, or why nothing was.
    """

    __slots__ = ("keyword", "pointer", "reason", "verdict", "witness")

    pointer: str
    keyword: str
    verdict: str
    witness: str | None
    reason: str

    def __init__(
        self, *, pointer: str, keyword: str, verdict: str, witness: str | None, reason: str
    ) -> None:
        self._fill(
            pointer=pointer, keyword=keyword, verdict=verdict, witness=witness, reason=reason
        )


class Spelling(Frozen):
    """A freedom of JSON text that the engine takes away: the value can be written another way.

    Attributes:
        freedom: "key-order", "number", "escape" or "white-space".
        witness: valid JSON text that the engine refuses.
        written: how the same value can be written.
    """

    __slots__ = ("freedom", "witness", "written")

    freedom: str
    witness: str
    written: str

    def __init__(self, *, freedom: str, witness: str, written: str) -> None:
        self._fill(freedom=freedom, witness=witness, written=written)


class AuditResult(Frozen):
    """What an engine makes of one schema.

    Attributes:
        verdict: the first of these that holds. "refused": there is no grammar to audit.
            "dead-end": the grammar leads to a place from which no output ends. "broken-json": it
            takes text that is not JSON. "leaks": a constraint is dropped. "over-constrained": a
            valid instance cannot be written. "exact": everything that was tried held.
        reason: one line, printable: what the verdict rests on.
        witness: text for the verdict: the beginning of an output (dead-end), the output
            (broken-json), or the smallest witness of a constraint; None with "exact" and "refused".
        constraints: every keyword that restricts instances, in the order of the schema.
        spelling: freedoms of JSON text that are taken away; they are not over-constraints.
        engine: name and version, as "xgrammar 0.2.9".
        style: what the grammar writes: "json".
        seed: of everything that was made at random.
        tried: how many texts the engine was asked about.
        sampled: how many outputs were decoded at random and judged.
        searched: how many states of the grammar were visited in search of dead ends.
        complete: False when a bound on states, texts or time ended a part early.
    """

    __slots__ = (
        "complete",
        "constraints",
        "engine",
        "reason",
        "sampled",
        "searched",
        "seed",
        "spelling",
        "style",
        "tried",
        "verdict",
        "witness",
    )

    verdict: str
    reason: str
    witness: str | None
    constraints: tuple[AuditedConstraint, ...]
    spelling: tuple[Spelling, ...]
    engine: str
    style: str
    seed: int
    tried: int
    sampled: int
    searched: int
    complete: bool

    def __init__(
        self,
        *,
        verdict: str,
        reason: str,
        engine: str,
        style: str,
        seed: int,
        witness: str | None = None,
        constraints: Iterable[AuditedConstraint] = (),
        spelling: Iterable[Spelling] = (),
        tried: int = 0,
        sampled: int = 0,
        searched: int = 0,
        complete: bool = True,
    ) -> None:
        self._fill(
            verdict=verdict,
            reason=reason,
            witness=witness,
            constraints=tuple(constraints),
            spelling=tuple(spelling),
            engine=engine,
            style=style,
            seed=seed,
            tried=tried,
            sampled=sampled,
            searched=searched,
            complete=complete,
        )

    def counts(self) -> dict[str, int]:
        """Verdict → number of constraints that have it; all four are there."""
        counts = dict.fromkeys(CONSTRAINT_VERDICTS, 0)
        for constraint in self.constraints:
            counts[constraint.verdict] += 1
        return counts

    def as_dict(self) -> dict[str, Any]:
        """The result as a JSON value."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        for name in ("constraints", "spelling"):
            plain[name] = [
                {field: getattr(row, field) for field in row.__slots__} for row in plain[name]
            ]
        return plain
