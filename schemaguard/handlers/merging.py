"""Profiles as a policy sees them: with its severities, and several as one."""

from __future__ import annotations

from schemaguard.profiles import load
from schemaguard.rules import ENFORCEMENT, REQUEST, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemaguard.profiles import Profile, Remark, Setting

_RANK = {"error": 2, "warning": 1, "note": 0}


def with_severities(name: str, severities: Mapping[str, str]) -> Profile:
    """A profile with other severities.

    Args:
        name: of the profile.
        severities: code → severity, for rules that the profile has and rules of requests; a rule of
            schemas that the profile does not have stays off.
    """
    profile = load(name)
    said = {
        code: severity
        for code, severity in severities.items()
        if code in profile.severities or (code in RULES and RULES[code].on[0] == REQUEST)
    }
    guarding = _guarding(profile)
    if not said:
        return guarding
    return guarding.replace(severities={**guarding.severities, **said})


def _guarding(profile: Profile) -> Profile:
    """A profile without the remarks on what an engine will not enforce.

    They are for the author of a schema; in front of a server they would be found for most requests,
    and read by nobody. What is an error stays one.
    """
    kept = {
        code: severity
        for code, severity in profile.severities.items()
        if severity == "error" or RULES[code].on[0] != ENFORCEMENT
    }
    if len(kept) == len(profile.severities):
        return profile
    return profile.replace(severities=kept)


def as_one(profiles: tuple[Profile, ...]) -> Profile:
    """One profile that has something to say wherever one of several has.

    It is for proving that there is nothing to say: of a budget that two have it takes the smaller
    limit. What it says is not what any of them says.
    """
    if len(profiles) == 1:
        return profiles[0]
    budgets: dict[str, int] = {}
    lists: dict[str, tuple[str, ...]] = {}
    severities: dict[str, str] = {}
    settings: dict[str, tuple[Setting, ...]] = {}
    remarks: dict[str, tuple[Remark, ...]] = {}
    for profile in profiles:
        for name, limit in profile.budgets.items():
            budgets[name] = min(limit, budgets.get(name, limit))
        for name, members in profile.lists.items():
            lists[name] = tuple(dict.fromkeys(lists.get(name, ()) + members))
        for code, severity in profile.severities.items():
            severities[code] = max(severity, severities.get(code, severity), key=_RANK.__getitem__)
        for code, values in profile.settings.items():
            settings[code] = settings.get(code, ()) + values
        for table, said in profile.remarks.items():
            remarks[table] = remarks.get(table, ()) + said
    names = "+".join(profile.id for profile in profiles)
    return profiles[0].replace(
        id=names,
        name=names,
        title=names,
        budgets=budgets,
        lists=lists,
        severities=severities,
        settings=settings,
        remarks=remarks,
    )
