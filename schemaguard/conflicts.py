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


#: The rules that count what may be left out; as a union with null, that counts as well.
_OPTIONAL = frozenset({"SG524", "SG525"})

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
        asking: names of those that demand something; dated where two have the same.
        refusing: names of those that refuse a schema in which it is done.
        pointer: JSON Pointer of the place in the schema that is refused.
        asked_at: JSON Pointer of the place in the schema about which something is demanded.
        asks: what is demanded: message of the first one's finding.
        refuses: what is said to that: message of the first one's finding.
        code: of the rule by which it is demanded.
        against: of the rule by which it is refused.
        way_out: what to do: who takes the definition as it is, and whose copies are needed.
    """

    __slots__ = (
        "against",
        "asked_at",
        "asking",
        "asks",
        "code",
        "pointer",
        "refuses",
        "refusing",
        "way_out",
    )

    asking: tuple[str, ...]
    refusing: tuple[str, ...]
    pointer: str
    asked_at: str
    asks: str
    refuses: str
    code: str
    against: str
    way_out: str

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    @property
    def sentences(self) -> tuple[str, str]:
        """Who rejects the definition, and who rejects it once that is changed."""
        asked = f"{self.asks} ({self.code} at {_place(self.asked_at)})"
        refused = f"{self.refuses} ({self.against} at {_place(self.pointer)})"
        return (
            f"{_rejected(self.asking, 'the definition as it is')}: {asked}",
            f"once that is changed, {_rejected(self.refusing, 'it')}: {refused}",
        )

    @property
    def message(self) -> str:
        """Both sentences; names in them are as the schema has them."""
        return "; ".join(self.sentences)


def _rejected(names: Sequence[str], what: str) -> str:
    return f"{_listed(names)} reject{'s' * (len(names) == 1)} {what}"


def _place(pointer: str) -> str:
    return f"{f'#{pointer}' if pointer else 'the root'} of the schema"


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
    tried = _Tried(schema, profiles, work)
    for one, other, asked, refused in tried.pairs():
        key = (asked.pointer, refused.code, refused.pointer)
        found.setdefault(key, []).append((one, other, asked, refused))
    made = []
    for pairs in found.values():
        _, _, asked, refused = pairs[0]
        asking = list({pair[0].id: pair[0] for pair in pairs}.values())
        refusing = list({pair[1].id: pair[1] for pair in pairs}.values())
        made.append(
            Conflict(
                asking=tuple(map(tried.name_of, asking)),
                refusing=tuple(map(tried.name_of, refusing)),
                pointer=refused.pointer,
                asked_at=asked.pointer,
                asks=asked.message,
                refuses=refused.message,
                code=asked.code,
                against=refused.code,
                way_out=tried.way_out(asking, refusing, refused),
            )
        )
    return made


class _Tried:
    """One schema, checked with profiles and fixed for each of them."""

    def __init__(self, schema: Any, profiles: Sequence[Profile], work: Work | None) -> None:
        self._schema = schema
        self._profiles = profiles
        self._fixes = _Fixes(schema, work)
        #: Id of a profile → its errors in the schema as it is, and the schema fixed for it alone.
        self._before: dict[str, list[Diagnostic]] = {}
        self._alone: dict[str, FixResult] = {}

    def name_of(self, profile: Profile) -> str:
        """The plain name, or the dated one where another has the same."""
        same = sum(other.name == profile.name for other in self._profiles)
        return profile.name if same == 1 else profile.id

    def pairs(self) -> Iterator[tuple[Profile, Profile, Diagnostic, Diagnostic]]:
        """Each two that contradict each other, with what is demanded and what is refused."""
        fixes = self._fixes
        for profile in self._profiles:
            if fixes.ended:
                return
            self._before[profile.id] = _errors(self._schema, profile)
            self._alone[profile.id] = fixes.of(profile)
        able = [p for p in self._profiles if not self._alone[p.id].remaining]
        for one in able:
            fixed = self._alone[one.id]
            if not self._before[one.id] or not (fixed.edits or fixed.lossy):
                continue
            for other in able:
                if other is one:
                    continue
                refused = _new(_errors(fixed.schema, other), self._before[other.id])
                if refused is None:
                    continue
                if fixes.ended:
                    return
                if fixes.of(one, other).remaining:
                    yield one, other, _cause(fixed, self._before[one.id], refused), refused

    def way_out(
        self, asking: Sequence[Profile], refusing: Sequence[Profile], refused: Diagnostic
    ) -> str:
        """The definition for those who take it as it is, and copies for the others."""
        sides = list({profile.id: profile for profile in (*asking, *refusing)}.values())
        content = [self.name_of(profile) for profile in sides if not self._before[profile.id]]
        left = [profile for profile in sides if self._before[profile.id]]
        said = [f"keep the definition as it is for {_listed(content)}"] if content else []
        while left:
            # The copy that serves most of them, the first among equals.
            served = {p.id: self._served(p, left) for p in left}
            best = max(left, key=lambda profile: len(served[profile.id]))
            lossy = "--lossy " if self._alone[best.id].lossy else ""
            to = _listed(list(map(self.name_of, served[best.id])))
            command = f"schemaguard fix {lossy}--for {self.name_of(best)}"
            said.append(f"send {to} the copy that `{command}` makes")
            left = [profile for profile in left if profile not in served[best.id]]
        if refused.code in _OPTIONAL:
            less = _listed(list(map(self.name_of, refusing)))
            said.insert(0, f"require what every call gives, so that less counts for {less}; or")
            return " ".join((said[0], "; ".join(said[1:])))
        return "; ".join(said)

    def _served(self, one: Profile, left: Sequence[Profile]) -> list[Profile]:
        """Those who accept the copy that is made for one of them."""
        fixed = self._alone[one.id].schema
        return [p for p in left if p is one or not _errors(fixed, p)]


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
