"""What a check says (`Diagnostic`, `BudgetUse`, `Report`), and the pass to the engine."""

from __future__ import annotations

from schemaguard._frozen import Frozen
from schemaguard.document import Document
from schemaguard.errors import MAX_PROPERTY_NAME, SchemaRejected, counted, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from schemaguard.document import Limits
    from schemaguard.profiles import Grounds, Profile
    from schemaguard.rules import Rule
    from schemaguard.walk import Frame

#: A pointer of more characters is built each time it is asked for.
_REMEMBERED_POINTER = 4_096

ERROR = "error"
WARNING = "warning"
NOTE = "note"


class Spoken(Frozen):
    """A rule and the data that fill its words: what a diagnostic is, wherever it was placed."""

    __slots__ = ()

    rule: Rule
    data: Mapping[str, Any]

    @property
    def code(self) -> str:
        """`SG` and three digits."""
        return self.rule.code

    @property
    def name(self) -> str:
        """The rule's name: "open-object"."""
        return self.rule.name

    @property
    def message(self) -> str:
        """One sentence. Names in it are as the schema has them, cut: escape before printing."""
        return say(self.rule.message, self.data)

    @property
    def fix(self) -> str:
        """What to do about it."""
        return say(self.rule.fix, self.data)


class Diagnostic(Spoken):
    """One finding. Equal to another by code, severity, pointer and data.

    Attributes:
        rule: the rule that speaks.
        severity: "error", "warning" or "note", from the profile.
        grounds: how the profile knows it: basis, source and date; None for a fault of the text.
        data: what fills the message; strings of it come from the schema and are cut.
        offset: for a fault that the reader found, the place in the text, in code points (in bytes
            where there is no text); None for all others: their pointer says where.
    """

    __slots__ = (
        "_frame",
        "_pointer",
        "_tokens",
        "data",
        "grounds",
        "offset",
        "rule",
        "severity",
    )

    severity: str
    grounds: Grounds | None
    offset: int | None

    def __init__(
        self,
        rule: Rule,
        severity: str,
        data: Mapping[str, Any],
        frame: Frame | None = None,
        tokens: tuple[str | int, ...] = (),
        offset: int | None = None,
        grounds: Grounds | None = None,
    ) -> None:
        # One by one: there may be one for each schema of each request.
        _set(self, "rule", rule)
        _set(self, "severity", severity)
        _set(self, "data", data)
        _set(self, "grounds", grounds)
        _set(self, "offset", offset)
        _set(self, "_frame", frame)
        _set(self, "_tokens", tokens)
        _set(self, "_pointer", None)

    @property
    def pointer(self) -> str:
        """JSON Pointer (RFC 6901) of the place; "" is the root. Built when it is asked for."""
        pointer: str | None = self._pointer  # type: ignore[attr-defined]
        if pointer is None:
            pointer = pointer_of(self._frame, self._tokens)  # type: ignore[attr-defined]
            if len(pointer) <= _REMEMBERED_POINTER:
                object.__setattr__(self, "_pointer", pointer)
        return pointer

    def pointer_within(self, limit: int) -> str:
        """The pointer, or that of the nearest place above it that takes at most `limit` characters.

        Names can be megabytes, and a thousand pointers may share them: what is written for people
        and files asks for this.
        """
        if self._pointer is not None:  # type: ignore[attr-defined]
            pointer: str = self._pointer  # type: ignore[attr-defined]
            return (
                pointer if len(pointer) <= limit else pointer[: pointer.rindex("/", 0, limit + 1)]
            )
        return pointer_of(self._frame, self._tokens, limit)  # type: ignore[attr-defined]

    def _fields(self) -> tuple[object, ...]:
        return (
            self.code,
            self.severity,
            self.pointer,
            self.offset,
            tuple(sorted(self.data.items())),
        )

    def __repr__(self) -> str:
        # Bounded: a pointer or a name may be a megabyte.
        where = self.pointer_within(80)
        return f"<{self.code} {self.name} at {where!r}: {cut(self.message, 80)!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        where = (self.pointer, self.offset)
        return _diagnostic, (self.rule.code, self.severity, dict(self.data), *where, self.grounds)


def _diagnostic(
    code: str,
    severity: str,
    data: dict[str, Any],
    pointer: str,
    offset: int | None,
    grounds: Grounds | None,
) -> Diagnostic:
    from schemaguard.rules import RULES  # noqa: PLC0415  (only to unpickle)

    made = Diagnostic(RULES[code], severity, data, offset=offset, grounds=grounds)
    object.__setattr__(made, "_pointer", pointer)
    return made


def say(template: str, data: Mapping[str, Any]) -> str:
    """A rule's template filled from the data of a finding; strings in it are cut."""
    if not data:
        return template.format()
    return template.format_map(
        {
            key: cut(str(value), MAX_PROPERTY_NAME) if isinstance(value, str) else value
            for key, value in data.items()
        }
    )


def escape(token: str | int) -> str:
    """A reference token of a JSON Pointer: `~` becomes `~0`, `/` becomes `~1`."""
    return str(token).replace("~", "~0").replace("/", "~1")


def tokens_of(pointer: str) -> tuple[str, ...]:
    """The reference tokens of a JSON Pointer, unescaped."""
    return tuple(t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:])


def pointer_of(
    frame: Frame | None, tokens: tuple[str | int, ...] = (), limit: int | None = None
) -> str:
    """The JSON Pointer of a place: the steps up from a frame of the walk, then `tokens`.

    Args:
        frame: where a schema stands; None is the root.
        tokens: steps below it.
        limit: stop at the last place whose pointer takes at most so many characters.
    """
    steps: list[str | int] = list(reversed(tokens))
    while frame is not None:
        _schema, _depth, _level, parent, keyword, key = frame
        if key is not None:
            steps.append(key)
        if keyword is not None:
            steps.append(keyword)
        frame = parent
    steps.reverse()
    if limit is None:
        return "".join([f"/{escape(step)}" for step in steps])
    parts: list[str] = []
    for step in steps:
        if isinstance(step, str) and len(step) > limit:
            break
        part = f"/{escape(step)}"
        limit -= len(part)
        if limit < 0:
            break
        parts.append(part)
    return "".join(parts)


class Contributor(Frozen):
    """A place and how much of a budget it uses: `pointer` (RFC 6901), `amount`."""

    __slots__ = ("amount", "pointer")

    pointer: str
    amount: int

    def __init__(self, pointer: str, amount: int) -> None:
        self._fill(pointer=pointer, amount=amount)


class BudgetUse(Frozen):
    """How much of one budget a document uses.

    Attributes:
        name: "object-depth", "properties", "enum-entries", "characters", "largest-enum", "nesting",
            "bytes" or "nodes".
        used: the amount; None where it cannot be known (bytes of a value that has no JSON text).
        limit: the profile's or the reader's limit; None where there is none.
        top: the places that use most of it, the largest first; at most five.
    """

    __slots__ = ("limit", "name", "top", "used")

    name: str
    used: int | None
    limit: int | None
    top: tuple[Contributor, ...]

    def __init__(
        self, name: str, used: int | None, limit: int | None, top: tuple[Contributor, ...]
    ) -> None:
        self._fill(name=name, used=used, limit=limit, top=top)


class Accepted(Frozen):
    """A schema that a profile accepted: only a `Report` makes one.

    The grammar stage takes nothing else.
    It holds text, not the caller's object: what was checked cannot change afterwards.

    Attributes:
        text: the schema as JSON text, keys in the order of the document (it matters to grammars).
        profile: dated name of the profile that accepted it.
    """

    __slots__ = ("profile", "text")

    text: str
    profile: str

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("an Accepted comes from `report.accepted`; check the schema first")

    def __reduce__(self) -> tuple[Any, ...]:
        from schemaguard.preflight import accept_again  # noqa: PLC0415  (it makes these)

        return accept_again, (self.text, self.profile)

    def __copy__(self) -> Accepted:
        return self

    def __deepcopy__(self, memo: object) -> Accepted:
        return self

    def __repr__(self) -> str:
        return f"<Accepted by {self.profile}: {len(self.text)} characters>"


_set = object.__setattr__


class Report:
    """The outcome of one check. It cannot be changed."""

    # One slot for all that a check fills in: a report is made for every schema of every request.
    __slots__ = ("_accepted", "_budgets", "_document", "_state")

    _accepted: Accepted | None
    _budgets: tuple[BudgetUse, ...]
    _document: Document
    _state: tuple[Any, Profile, Limits, tuple[Diagnostic, ...], int, bool, bool]

    def __init__(
        self,
        source: Any,
        profile: Profile,
        limits: Limits,
        diagnostics: tuple[Diagnostic, ...] = (),
        total: int = 0,
        ok: bool = True,
        complete: bool = True,
    ) -> None:
        state = (source, profile, limits, diagnostics, total, ok, complete)
        _set(self, "_state", state)

    @property
    def document(self) -> Document:
        """What was checked; gives line and column of a pointer when it was text."""
        try:
            return self._document
        except AttributeError:  # a parsed value, wrapped when first asked for
            source = self._state[0]
            document = source if source.__class__ is Document else Document(source)
            _set(self, "_document", document)
            return document

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings, in the profile's order, at most `max_diagnostics` of the check.

        The first error is the one that a server which stops at the first error would report.
        """
        return self._state[3]

    @property
    def total(self) -> int:
        """How many findings there are, those beyond the cap included."""
        return self._state[4]

    @property
    def ok(self) -> bool:
        """Whether the schema is accepted: no finding is an error."""
        return self._state[5]

    @property
    def complete(self) -> bool:
        """False when a hard stop ended the check early; `total` is then what was seen."""
        return self._state[6]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Report is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Report is frozen: cannot delete {name!r}")

    @property
    def profile(self) -> str:
        """Dated name of the profile, such as `dynamo-2026-11-30`."""
        return self._state[1].id

    @property
    def truncated(self) -> bool:
        """Whether there are more diagnostics than are kept."""
        return self.total > len(self.diagnostics)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that reject the schema."""
        return tuple(d for d in self.diagnostics if d.severity == ERROR)

    @property
    def budgets(self) -> tuple[BudgetUse, ...]:
        """Use and limit of each budget with its top contributors, whether or not the schema passes.

        Counted when first asked for, from the document as it is then; a document that could not be
        read uses nothing that can be counted but its bytes.
        """
        try:
            return self._budgets
        except AttributeError:  # not yet counted
            from schemaguard.budgets import measure  # noqa: PLC0415  (rarely asked for)

            uses = measure(self.document, self._state[1], self._state[2])
            _set(self, "_budgets", uses)
            return uses

    @property
    def accepted(self) -> Accepted | None:
        """The pass to the grammar stage, or None when the schema was rejected.

        A value that was passed in parsed is written as text, and the text is checked: an object
        that was changed after the check does not slip through.

        Raises:
            SchemaChanged: the parsed value is not what was checked any more.
        """
        if not self.ok:
            return None
        try:
            return self._accepted
        except AttributeError:  # not yet made
            from schemaguard.preflight import accept  # noqa: PLC0415  (it makes reports)

            made = accept(self.document, self._state[1])
            _set(self, "_accepted", made)
            return made

    def with_diagnostics(self, more: tuple[Diagnostic, ...]) -> Report:
        """This report and what was found by other means; with an error it accepts nothing."""
        source, profile, limits, diagnostics, total, ok, complete = self._state
        ok = ok and all(diagnostic.severity != ERROR for diagnostic in more)
        total += len(more)
        return Report(source, profile, limits, diagnostics + more, total, ok, complete)

    def recounted(self, total: int, ok: bool) -> Report:
        """This report without its diagnostics, and with another count and verdict."""
        source, profile, limits, _, _, _, complete = self._state
        return self._with_budgets(Report(source, profile, limits, (), total, ok, complete))

    def bare(self) -> Report:
        """This report without schema and diagnostics: verdict, count, and budgets if counted."""
        _, profile, limits, _, total, ok, complete = self._state
        return self._with_budgets(Report(None, profile, limits, (), total, ok, complete))

    def _with_budgets(self, other: Report) -> Report:
        budgets = getattr(self, "_budgets", None)
        if budgets is not None:
            _set(other, "_budgets", budgets)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        # The schema stays where it is: it may be deeper than a pickle can be. `accepted` then says
        # that the schema has to be checked again.
        return _report, (self._state[1:], getattr(self, "_budgets", None))

    def __copy__(self) -> Report:
        return self

    def __deepcopy__(self, memo: object) -> Report:
        return self

    def raise_if_rejected(self) -> None:
        """Raise `SchemaRejected` unless the schema was accepted."""
        if not self.ok:
            raise SchemaRejected(self)

    def __repr__(self) -> str:
        verdict = "accepted" if self.ok else "rejected"
        return f"<Report {verdict} by {self.profile}: {counted(self.total, 'diagnostic')}>"


def _report(state: tuple[Any, ...], budgets: tuple[BudgetUse, ...] | None) -> Report:
    report = Report(None, *state)
    if budgets is not None:
        _set(report, "_budgets", budgets)
    return report
