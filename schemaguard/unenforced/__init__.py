"""What xgrammar will not enforce of a schema, told without it.

`losses` walks a document the way the engine reads it and says at every schema which keyword wins
and what is lost. Which keywords a version enforces is read from `schemaguard.capabilities`; how
often the answer is right is measured against audits of the engine itself: docs/enforcement.md.
"""

from __future__ import annotations

from schemaguard.unenforced.facts import facts_of
from schemaguard.unenforced.reading import Loss, losses, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from schemaguard.rules import Rule
    from schemaguard.walk import Findings

__all__ = ["Foretelling", "Loss", "losses"]


# What comes of keywords that have another shape than they should. Those are errors of their own;
# where a profile leaves them out, nothing is told of the document.
_MALFORMED = (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError)


class Foretelling:
    """What a profile says of an engine: its rules, for each version that it sets.

    Args:
        rules: version of the engine, None for the newest that is known → name of a rule → rule.
    """

    __slots__ = ("_rows",)

    def __init__(self, rules: Mapping[str | None, Mapping[str, Rule]]) -> None:
        self._rows = [(facts_of(version), members) for version, members in rules.items()]

    def add(self, root: Any, found: Findings) -> None:
        """Say what is dropped or narrowed of a document in which there is no error."""
        for facts, rules in self._rows:
            try:
                told = read(root, facts)
            except _MALFORMED:
                continue
            for loss in told:
                rule = rules.get(loss.name)
                if rule is not None:
                    said = {"version": facts.version, **loss.data}
                    found.put(rule, loss.frame, loss.tokens, said)

    def is_silent(self, root: Any) -> bool:
        """Whether there is nothing to say. The first word ends it: `add` reads the whole."""
        for facts, rules in self._rows:
            try:
                told = read(root, facts, 1)
                if told and not any(loss.name in rules for loss in told):
                    told = read(root, facts)  # what is said first is not for this profile
            except _MALFORMED:
                continue
            if any(loss.name in rules for loss in told):
                return False
        return True
