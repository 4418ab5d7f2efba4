"""What a profile has to have: a rule its numbers, and a number its rule."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemaguard.profiles.parts import Profile


def missing(profile: Profile, codes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The rules that lack in a profile what they need to ever speak.

    Args:
        profile: where they are to speak.
        codes: of the rules.

    Yields:
        The code of one, and what it needs: "needs the budget …".
    """
    from schemaguard.rules import BUDGET, PRESENCE, RULES, VALUE  # noqa: PLC0415  (circular)

    for code in codes:
        rule = RULES[code]
        kind = rule.on[0]
        if kind in (VALUE, BUDGET) and rule.on[1] not in profile.budgets:
            yield code, f"needs the budget {rule.on[1]!r}"
        if kind == PRESENCE and rule.on[1] not in profile.lists:
            yield code, f"needs the list {rule.on[1]!r}"
        given = [setting.values for setting in profile.settings.get(code, ())] or [{}]
        for name, wanted in rule.settings.items():
            if not wanted.endswith("?") and not all(name in values for values in given):
                yield code, f"needs the setting {name!r}"


def looking_at(key: str, table: str) -> list[str]:
    """The rules that a budget or a list is for.

    Args:
        key: name of the budget or list.
        table: "budgets" or "keywords".
    """
    from schemaguard.rules import BUDGET, PRESENCE, RULES, VALUE  # noqa: PLC0415  (circular)

    kinds = (VALUE, BUDGET) if table == "budgets" else (PRESENCE,)
    wanted = MORE_BUDGETS.get(key, key)
    return [c for c, rule in RULES.items() if rule.on[0] in kinds and rule.on[1] == wanted]


#: Budgets that no rule is named after → the budget beside which they count.
MORE_BUDGETS = {"long-enum-entries": "long-enum-characters"}
