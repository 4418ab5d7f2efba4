"""Judge and engine together: what is known of each constraint, and instances to try more with."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from schemaguard.data import equal
from schemaguard.grammar.audit import spelling
from schemaguard.grammar.audit.blame import Blame
from schemaguard.grammar.audit.maker import Maker, Template
from schemaguard.grammar.audit.parts import NoInstance
from schemaguard.grammar.audit.writing import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.grammar.audit.constraints import Constraint, Place
    from schemaguard.grammar.audit.engines import Grammar
    from schemaguard.grammar.audit.judge import Judge
    from schemaguard.grammar.audit.writing import Writing

#: Instances that are made in search of one that reaches a place, is valid and can be written.
BASES = 8

#: Work of the judge (`Judge.spent`) for the witnesses of all constraints together, and for those of
#: one at most.
SPENT_ON_ALL = 600_000
SPENT_ON_ONE = 8_000


class Finding:
    """What is known of one constraint. `over` is what a keyword is blamed for by others, too."""

    __slots__ = (
        "dropped",
        "hidden",
        "kept",
        "over",
        "over_text",
        "reason",
        "refused",
        "shared",
        "through",
    )

    def __init__(self) -> None:
        self.dropped: str | None = None  # the smallest text
        self.over: str | None = None  # JSON of an instance
        self.over_text: str | None = None  # how the style would write it, if it can
        self.through = 0  # instances that break it and can be written
        self.refused = 0  # and those that cannot
        self.kept = 0  # valid ones that can be written
        self.hidden = False  # only the name of a property hidden from the engine gets past it
        self.shared = False  # none of them breaks it alone
        self.reason = ""

    def leak(self, text: str) -> None:
        """Note an invalid instance that gets through."""
        self.through += 1
        if self.dropped is None or (len(text), text) < (len(self.dropped), self.dropped):
            self.dropped = text

    def narrow(self, instance: str, text: str | None) -> None:
        """Note a valid instance that cannot be written, and a text of the style for it, if any."""
        known = self.over
        # One that the engine refuses says more than one that no engine could write.
        rank = (text is None, len(instance), instance)
        if known is None or rank < (self.over_text is None, len(known), known):
            self.over, self.over_text = instance, text


class Court:
    """Judge and engine, and what was found so far: one audit.

    Attributes:
        tried: how many texts the engine was asked about.
        share: work of the judge on the witnesses of one constraint.
        findings: pointer → keyword → what was found.
        written: valid instances that the engine writes, for questions about spelling.
    """

    def __init__(
        self,
        judge: Judge,
        grammar: Grammar,
        places: list[Place],
        constraints: list[Constraint],
        seed: int,
        writing: Writing = PLAIN,
    ) -> None:
        self.judge = judge
        self.writing = writing
        self.grammar = grammar
        self.maker = Maker(judge, seed)
        self.seed = seed
        self.tried = 0
        self.share = min(SPENT_ON_ONE, SPENT_ON_ALL // max(len(constraints), 1))
        self.findings: dict[str, dict[str, Finding]] = {place.pointer: {} for place in places}
        for constraint in constraints:
            self.finding(constraint.place, constraint.keyword)
        self._blame = Blame(places)
        self.written: list[Any] = []
        self._accepted: dict[str, bool] = {}
        self._blamed: dict[str, tuple[Place, str]] = {}

    def accepts(self, text: str) -> bool:
        """Whether the engine lets the text be written; asked once."""
        known = self._accepted.get(text)
        if known is None:
            self.tried += 1
            known = self._accepted[text] = self.grammar.accepts(text)
        return known

    def writes(self, instance: Any, *, invalid: bool = False) -> str | None:
        """A text with which the engine writes the instance, or None.

        Args:
            instance: to be written.
            invalid: it should not be, so fewer spellings will do.
        """
        readings = self.writing.readings
        try:
            for text in self.writing.texts(instance, all_of_them=not invalid):
                if self.accepts(text) and any(equal(read, instance) for read in readings(text)):
                    return text
        except spelling.Unspeakable:
            pass
        return None

    def leaks(self, instance: Any) -> str | None:
        """A text with which the engine writes an invalid instance, whoever reads it, or None."""
        text = self.writes(instance, invalid=True)
        if text is None:
            return None
        others = (read for read in self.writing.readings(text) if not equal(read, instance))
        return text if self.is_invalid(others) else None

    def is_invalid(self, readings: Iterable[Any]) -> bool:
        """Whether all readings of a text are invalid. Readers differ in what they strip."""
        return all(self.judge.is_valid(value) is False for value in readings)

    def finding(self, place: Place, keyword: str) -> Finding:
        """What is known of a keyword at a place."""
        return self.findings[place.pointer].setdefault(keyword, Finding())

    def blame(self, instance: Any, place: Place, keyword: str) -> None:
        """Note a valid instance that the engine does not write, with the keyword at fault.

        Args:
            instance: made for the keyword.
            place: where the keyword is.
            keyword: to blame where nothing better is found.
        """
        try:
            witness = spelling.compact(instance)
        except spelling.Unspeakable:
            return
        text = self._text(instance)
        if text is None:
            members = instance if isinstance(instance, dict) else {}
            path = tuple(name for name in members if self._text({name: members[name]}) is None)
            at_fault, name = self._blame.at(path[:1], instance, keyword, place)
            self.finding(at_fault, name).narrow(witness, None)
            return
        if witness not in self._blamed:
            self._blamed[witness] = self._blame.of(
                self.grammar, text, instance, keyword, place, self.writing
            )
        at_fault, name = self._blamed[witness]
        self.finding(at_fault, name).narrow(witness, text)

    def _text(self, instance: Any) -> str | None:
        """The first text of the style that is read back as the instance, or None."""
        readings = self.writing.readings
        try:
            for text in self.writing.texts(instance, all_of_them=True):
                if any(equal(read, instance) for read in readings(text)):
                    return text
        except spelling.Unspeakable:
            pass
        return None

    def base(self, place: Place, *, other: bool = False) -> Base:
        """An instance that reaches the place: valid and writable if there is one.

        Args:
            place: to be reached.
            other: on its second route.
        """
        best = Base(None, valid=False, written=False)
        undecided = False
        route = place.route(other=other)
        for attempt in range(BASES):
            rng = random.Random(f"{self.seed} {place.pointer} {attempt}")  # noqa: S311
            try:
                template = self.maker.template(route, rng, full=attempt % 2 == 1)
            except NoInstance:
                continue
            verdict = self.judge.is_valid(template.instance)
            undecided = undecided or verdict is None
            written = bool(verdict) and self.writes(template.instance) is not None
            if verdict and not written:
                self.blame(template.instance, place, "type")
            if best.template is None or (bool(verdict), written) > (best.valid, best.written):
                best = Base(template, valid=bool(verdict), written=written)
            if written:
                break
        best.undecided = undecided
        if best.written and best.template is not None and len(self.written) < 200:
            self.written.append(best.template.instance)
        return best


class Base:
    """An instance with a hole at a place.

    Attributes:
        template: None when none could be made.
        valid: the judge says that the instance is valid.
        written: and the engine writes it.
        undecided: of some instance the judge could not tell.
    """

    __slots__ = ("template", "undecided", "valid", "written")

    def __init__(self, template: Template | None, *, valid: bool, written: bool) -> None:
        self.template = template
        self.valid = valid
        self.written = written
        self.undecided = False
