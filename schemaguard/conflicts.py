"""Demands that contradict each other: what one profile asks for, another refuses.

Found by trying: a schema is fixed for each profile alone, with loss where it must be, and then for
two together. Where each alone can be satisfied and both cannot, the two contradict each other over
this schema, and what is left says about what. Nothing here knows a provider by name.

Fixing a schema takes time by the square of what is in it: `Work` bounds the sum.
"""

from __future__ import annotations

from schemaguard import data
from schemaguard._frozen import Frozen
from schemaguard.fix import to_profile
from schemaguard.preflight import check
from schemaguard.report import ERROR
from schemaguard.rules import MEASURE, RULES, TOOLSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from schemaguard.fix import FixResult
    from schemaguard.profiles import Profile
    from schemaguard.report import Diagnostic


#: A schema of more values is not fixed at all.
MAX_VALUES = 500


class Work:
    """What looking for conflicts may still cost; the same for the same schemas, on any machine.

    Attributes:
        left: values of schemas, each counted once for each value and each change, over all fixes;
            below 0: something was left out.
    """

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Conflict(Frozen):
    """Profiles that cannot all be satisfied.

    Attributes:
        asking: names of those that demand something.
        refusing: names of those that refuse a schema in which it is done.
        pointer: JSON Pointer of the place in the schema.
        asks: what is demanded: message of the first one's finding.
        refuses: what is said to that: message of the first one's finding.
        code: of the rule by which it is demanded.
        against: of the rule by which it is refused.
        way_out: the least bad way out, half a sentence.
    """

    __slots__ = ("against", "asking", "asks", "code", "pointer", "refuses", "refusing", "way_out")

    asking: tuple[str, ...]
    refusing: tuple[str, ...]
    pointer: str
    asks: str
    refuses: str
    code: str
    against: str
    way_out: str

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def message(self) -> str:
        """One sentence that names both sides; names in it are as the schema has them."""
        return (
            f"{_listed(self.asking)} demand{'s' * (len(self.asking) == 1)}: {self.asks} "
            f"({self.code}); done, {_listed(self.refusing)} "
            f"refuse{'s' * (len(self.refusing) == 1)}: {self.refuses} ({self.against})"
        )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def conflicts(schema: Any, profiles: Sequence[Profile], work: Work | None = None) -> list[Conflict]:
    """The contradictions between profiles over one schema.

    What several demand and several refuse for the same reason at the same place is one conflict.

    Args:
        schema: the schema, parsed; it is not changed.
        profiles: the profiles, no two of the same id.
        work: what it may cost, and what is left of that afterwards; None for no bound.
    """
    found: dict[tuple[str, str, str], list[tuple[Profile, Profile, Diagnostic, Diagnostic]]] = {}
    for one, other, asked, refused in _pairs(schema, profiles, work):
        key = (asked.pointer, refused.code, refused.pointer)
        found.setdefault(key, []).append((one, other, asked, refused))
    made = []
    for pairs in found.values():
        _, _, asked, refused = pairs[0]
        asking = tuple(dict.fromkeys(pair[0].name for pair in pairs))
        refusing = tuple(dict.fromkeys(pair[1].name for pair in pairs))
        made.append(
            Conflict(
                asking=asking,
                refusing=refusing,
                pointer=refused.pointer,
                asks=asked.message,
                refuses=refused.message,
                code=asked.code,
                against=refused.code,
                way_out=_way_out(asking, refusing, refused),
            )
        )
    return made


def _pairs(
    schema: Any, profiles: Sequence[Profile], work: Work | None
) -> Iterator[tuple[Profile, Profile, Diagnostic, Diagnostic]]:
    """Each two profiles that contradict each other, with what is demanded and what is refused."""
    fixes = _Fixes(schema, work)
    if fixes.ended:
        return
    before = {profile.id: _errors(schema, profile) for profile in profiles}
    alone: dict[str, FixResult] = {}
    for profile in profiles:
        if fixes.ended:
            return
        alone[profile.id] = fixes.of(profile)
    able = [profile for profile in profiles if not alone[profile.id].remaining]
    for one in able:
        fixed = alone[one.id]
        if not (fixed.edits or fixed.lossy):
            continue
        for other in able:
            if other is one:
                continue
            refused = _new(_errors(fixed.schema, other), before[other.id])
            if refused is None:
                continue
            if fixes.ended:
                return
            if fixes.of(one, other).remaining:
                yield one, other, _cause(fixed, before[one.id], refused), refused


class _Fixes:
    """Fixes of one schema, as long as they may cost something."""

    def __init__(self, schema: Any, work: Work | None) -> None:
        self._schema = schema
        self._work = work
        self._size = 0
        if work is not None:
            self._size, _ = data.weigh(schema, MAX_VALUES)
            if not 0 <= self._size <= MAX_VALUES:
                work.left = -1

    @property
    def ended(self) -> bool:
        return self._work is not None and self._work.left < 0

    def of(self, *profiles: Profile) -> FixResult:
        made = to_profile(self._schema, list(profiles), lossy=True)
        if self._work is not None:
            changes = len(made.edits) + len(made.lossy)
            self._work.left -= self._size * (self._size + changes)
        return made


def _errors(schema: Any, profile: Profile) -> list[Diagnostic]:
    return [d for d in check(schema, profile).diagnostics if d.severity == ERROR]


def _new(after: Iterable[Diagnostic], before: Iterable[Diagnostic]) -> Diagnostic | None:
    """The first error that was not there before."""
    known = {(d.code, d.pointer) for d in before}
    return next((d for d in after if (d.code, d.pointer) not in known), None)


def _cause(fixed: FixResult, asked: list[Diagnostic], refused: Diagnostic) -> Diagnostic:
    """The demand whose fulfilment is refused: its edit is where the refusal points to.

    A count is not made too large by one edit, but by what was done most often.
    """
    edits = (*fixed.edits, *fixed.lossy)
    codes = [edit.code for edit in edits]
    if RULES[refused.code].on[0] in (MEASURE, TOOLSET):
        code = max(codes, key=codes.count)
    else:
        at = refused.pointer
        near = [e.code for e in edits if at == e.pointer or at.startswith(f"{e.pointer}/")]
        deepest = max((e.pointer for e in edits if e.code in near), key=len, default="")
        code = next((e.code for e in edits if e.pointer == deepest), codes[0])
    return next((d for d in asked if d.code == code), asked[0])


def _way_out(asking: Sequence[str], refusing: Sequence[str], refused: Diagnostic) -> str:
    """One copy more is for the smaller side."""
    if RULES[refused.code].on[0] in (MEASURE, TOOLSET):
        return (
            f"require what the tool always needs, so that less counts for {_listed(refusing)}, or "
            "leave `strict` out there"
        )
    fewer, more = sorted((refusing, asking), key=len)
    return (
        f"keep the definition for {_listed(more)}, and send {_listed(fewer)} the copy that "
        f"`schemaguard fix --lossy --for {fewer[0]}` makes"
    )
