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


class TokenPath(Frozen):
    r"""How a text was written token by token, or how far it came.

    Attributes:
        tokens: over bytes, one a byte: a character of ASCII, or `\xNN`; "" is the end of the text.
            Of a long text the first ones and the last.
        choices: how many tokens the mask allowed at each of them; 1 leaves the model no choice.
        refused: the mask did not allow the last one; it allowed all the others.
        skipped: how many are left out.
        skipped_at: how many of `tokens` stand before those.
        instead: some of the tokens that were allowed where one was refused; none at a dead end.
    """

    __slots__ = ("choices", "instead", "refused", "skipped", "skipped_at", "tokens")

    tokens: tuple[str, ...]
    choices: tuple[int, ...]
    refused: bool
    skipped: int
    skipped_at: int
    instead: tuple[str, ...]

    def __init__(
        self,
        *,
        tokens: Iterable[str],
        choices: Iterable[int],
        refused: bool,
        skipped: int = 0,
        skipped_at: int = 0,
        instead: Iterable[str] = (),
    ) -> None:
        self._fill(
            tokens=tuple(tokens),
            choices=tuple(choices),
            refused=refused,
            skipped=skipped,
            skipped_at=skipped_at,
            instead=tuple(instead),
        )

    def as_dict(self) -> dict[str, Any]:
        """The path as a JSON value."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}


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
        path: the witness, token by token; None without one, and where there are too many. In other
            styles than "json", the output from the arguments on.
        output: in other styles than "json", the whole output that says the witness. None without
            one, in "json", and when no text of the style says it.
    """

    __slots__ = ("keyword", "output", "path", "pointer", "reason", "verdict", "witness")

    pointer: str
    keyword: str
    verdict: str
    witness: str | None
    reason: str
    path: TokenPath | None
    output: str | None

    def __init__(
        self,
        *,
        pointer: str,
        keyword: str,
        verdict: str,
        witness: str | None,
        reason: str,
        path: TokenPath | None = None,
        output: str | None = None,
    ) -> None:
        self._fill(
            pointer=pointer,
            keyword=keyword,
            verdict=verdict,
            witness=witness,
            reason=reason,
            path=path,
            output=output,
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
            In other styles than "json" the first two are whole outputs.
        constraints: every keyword that restricts instances, in the order of the schema.
        spelling: freedoms of JSON text that are taken away; they are not over-constraints.
        engine: name and version, as "xgrammar 0.2.9".
        style: how the grammar writes instances: "json", or the style of a call.
        seed: of everything that was made at random.
        tried: how many texts the engine was asked about.
        sampled: how many outputs were decoded at random and judged.
        searched: how many states of the grammar were visited in search of dead ends.
        complete: False when a bound on states, texts or time ended a part early.
        path: the witness, token by token; None without one.
    """

    __slots__ = (
        "complete",
        "constraints",
        "engine",
        "path",
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
    path: TokenPath | None

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
        path: TokenPath | None = None,
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
            path=path,
        )

    def counts(self) -> dict[str, int]:
        """Verdict → number of constraints that have it; all four are there."""
        counts = dict.fromkeys(CONSTRAINT_VERDICTS, 0)
        for constraint in self.constraints:
            counts[constraint.verdict] += 1
        return counts

    def as_dict(self) -> dict[str, Any]:
        """The result as a JSON value."""
        plain = {name: _plain(getattr(self, name)) for name in self.__slots__}
        for name in ("constraints", "spelling"):
            plain[name] = [
                {field: _plain(getattr(row, field)) for field in row.__slots__}
                for row in plain[name]
            ]
        return plain


def _plain(value: Any) -> Any:
    return value.as_dict() if isinstance(value, TokenPath) else value
