"""`to_profile`: findings in, changes out, until a profile has nothing to say or nothing helps.

The check is the judge. A rewrite offers changes; what a change is worth is found out by checking
the changed schema, by every profile that was named: none may have more errors afterwards. Findings
of one rule are answered together, and one by one only where that was not good.
"""

from __future__ import annotations

from schemaguard import data
from schemaguard.errors import ProfileError
from schemaguard.fix.attempt import NO_WAY, Attempt, key_of
from schemaguard.fix.draft import History
from schemaguard.fix.result import FixResult, Remaining
from schemaguard.plan import compiled
from schemaguard.preflight import check
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from schemaguard.fix.attempt import Key
    from schemaguard.plan import Plans
    from schemaguard.profiles import Profile
    from schemaguard.report import Report

#: Levels and values of a schema that is fixed: what is larger is no schema of a tool.
MAX_NESTING = 200
MAX_VALUES = 200_000

_LONGEST_POINTER = 1 << 16


class Fixed:
    """What `fixed` made: a draft that shares what was not touched with the original.

    Attributes:
        root: the schema.
        history: of it.
        result: for the caller, with a copy of the schema.
    """

    __slots__ = ("history", "result", "root")

    def __init__(self, root: Any, history: History, result: FixResult) -> None:
        self.root = root
        self.history = history
        self.result = result


def to_profile(
    schema: Any,
    profile: str | Profile | Sequence[str | Profile],
    *,
    lossy: bool = False,
    library: Mapping[str, Any] | None = None,
) -> FixResult:
    """A schema as a profile accepts it, without changing what it means.

    Args:
        schema: a parsed schema; it is not changed.
        profile: the profile's plain or dated name, or a `Profile`; or several of them, whose errors
            are all fixed, none at the cost of another.
        lossy: also drop what a profile refuses and no other keyword can say; it goes into the
            description.
        library: documents that references may lead to, by their URI or file name; see
            `schemaguard.fix.bundle.library_of`.

    Returns:
        The result. What cannot be fixed is in it, never an exception.

    Raises:
        ProfileError: there is no such profile.
    """
    return fixed(schema, profile, lossy=lossy, library=library).result


def fixed(
    schema: Any,
    profile: str | Profile | Sequence[str | Profile],
    *,
    lossy: bool = False,
    library: Mapping[str, Any] | None = None,
) -> Fixed:
    """See `to_profile`."""
    plans = plans_of(profile)
    history = History()
    inside, nesting, faults = data.faults(schema, MAX_VALUES, 1)
    if faults or inside > MAX_VALUES or nesting > MAX_NESTING:
        reason = "it is not JSON" if faults else "it is too large, or nests too deep, to be fixed"
        reports = [check(schema, plan.profile) for plan in plans]
        left = tuple(found for report in reports for found in _left(report, {}, set(), reason))
        return Fixed(schema, history, FixResult(schema, remaining=left))
    forbidden: set[Key] = set()
    while True:
        made = Attempt(
            schema, plans, lossy=lossy, library=library or {}, history=history, forbidden=forbidden
        )
        before = made.totals()
        made.run()
        rose = any(a > b for a, b in zip(made.totals(), before, strict=True))
        if not rose or not made.exposed - forbidden:
            break
        forbidden |= made.exposed
    if rose:
        made = Attempt(schema, plans, lossy=lossy, library={}, history=history)
    return Fixed(made.root, history, _result(made, history))


def _result(made: Attempt, history: History) -> FixResult:
    remaining = tuple(
        found
        for report in made.reports
        for found in _left(report, made.refused, made.needs_lossy, NO_WAY)
    )
    copy, optional = _copied(made.root, history)
    return FixResult(copy, tuple(made.edits), tuple(made.lossy_edits), remaining, optional)


def _left(
    report: Report, refused: Mapping[Key, str], needs_lossy: set[Key], reason: str
) -> tuple[Remaining, ...]:
    return tuple(
        Remaining(
            report.profile,
            diagnostic.code,
            diagnostic.pointer_within(_LONGEST_POINTER),
            diagnostic.message,
            refused.get(key_of(diagnostic), reason),
            key_of(diagnostic) in needs_lossy,
        )
        for diagnostic in report.errors
    )


def plans_of(profile: str | Profile | Sequence[str | Profile]) -> list[Plans]:
    """The compiled form of one profile, or of several.

    Raises:
        ProfileError: there is no such profile.
    """
    is_one = isinstance(profile, str) or not hasattr(profile, "__iter__")
    named = (profile,) if is_one else tuple(profile)  # type: ignore[arg-type]
    plans = []
    for name in named:
        if isinstance(name, str) and "," in name:
            parts = [part.strip()[:_SHOWN] for part in name.split(",")[:_MOST_NAMED]]
            raise ProfileError(f"several profiles are a list of names: {parts!r}")
        plans.append(compiled(name))  # type: ignore[arg-type]
    return plans


#: Of a name that is none: characters, and parts.
_SHOWN = 40
_MOST_NAMED = 8


def _copied(root: Any, history: History) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """A copy that shares nothing, and what had been optional in it."""
    top = [root]
    optional: dict[str, tuple[str, ...]] = {}
    pending: list[tuple[Any, Any, Any]] = [(top, 0, None)]
    while pending:
        holder, key, link = pending.pop()
        value = holder[key]
        if value.__class__ is dict:
            names = history.absent(value)
            copy = holder[key] = dict(value)
            # What was wrapped and what it is wrapped in come from the same schema.
            if names and value.get("required").__class__ is list:
                told = tuple(name for name in value["required"] if name in names)
                optional[pointer_of(None, _path(link))] = told
            pending += [(copy, name, (link, name)) for name in copy]
        elif value.__class__ is list:
            items = holder[key] = list(value)
            pending += [(items, index, (link, index)) for index in range(len(items))]
    return top[0], optional


def _path(link: Any) -> tuple[str | int, ...]:
    path: list[str | int] = []
    while link is not None:
        link, token = link
        path.append(token)
    return tuple(reversed(path))
