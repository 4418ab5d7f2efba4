"""What a profile has to accept before an engine is asked: what the engine, or the judge, can bear.

The newest profile `xgrammar` is what `Compiler` and `check --profile xgrammar` go by. Two kinds of
its rules have no say in an audit: what foretells drops and dead ends, because an audit finds out;
and, for engines other than xgrammar, what xgrammar alone pays for. Those bound their own work, or
are tried with limits; what is left are sizes that the audit itself has to bear: nesting, levels of
references, long patterns, and counts of alternatives, properties and data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemaguard.profiles import load
from schemaguard.rules import ENFORCEMENT, RULES
from schemaguard.select import reduced

if TYPE_CHECKING:
    from schemaguard.profiles import Profile

#: The profile that the gate is made of.
PROFILE = "xgrammar"

#: Engines to which the prices of xgrammar mean nothing.
_OTHERS = ("llguidance", "outlines-core")

_FORETELLING = frozenset(code for code, rule in RULES.items() if rule.on[0] == ENFORCEMENT)
#: Of these, what is dropped or narrowed; the others say what has no end or no grammar.
_REMARKS = frozenset(code for code in _FORETELLING if code < "SG750")
#: What only xgrammar pays for: automata of patterns and divisors, its estimated time and memory,
#: open names, masks. 4,000 optional properties (SG813) keep an audit of llguidance busy for
#: minutes, too.
_PRICES = frozenset(
    f"SG{number}" for number in (804, 805, 806, 811, 812, 816, 817, 818, 819, 823, 824)
)


def asking(profile: Profile, *, named: bool = False) -> Profile:
    """A profile without the rules that say what an engine does: an audit asks it.

    Args:
        profile: the profile.
        named: by whoever wants the audit, who so wants to hear its errors: those stay.
    """
    return reduced(profile, _REMARKS if named else _FORETELLING)


def unpriced(profile: Profile, engine: str) -> Profile:
    """The profile `xgrammar` without what it costs xgrammar, where that is not the engine.

    Args:
        profile: the profile, as it was adjusted.
        engine: the name of an engine, with or without its version.
    """
    return reduced(profile, _PRICES) if engine.split(" ", maxsplit=1)[0] in _OTHERS else profile


def gate(engine: str) -> Profile:
    """What a schema has to pass to be audited.

    Args:
        engine: as in `unpriced`.
    """
    return unpriced(asking(load(PROFILE)), engine)
