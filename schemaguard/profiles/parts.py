"""What a profile is made of."""

from __future__ import annotations

from types import MappingProxyType

from schemaguard._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SEVERITIES = ("error", "warning", "note")
#: How a fact is known, the firmest first.
BASES = ("documented", "observed", "inferred", "disputed")
#: The tables of remarks about keywords, and the severity of what they say.
TABLES = {"refused": "error", "ignored": "warning", "doubtful": "warning"}
#: Table of remarks → the rule that says them.
RULE_OF = {"refused": "SG231", "ignored": "SG232", "doubtful": "SG233"}


class Grounds(Frozen):
    """How a fact is known.

    Attributes:
        basis: "documented", "observed", "inferred" or "disputed".
        source: where it is from: a page, an address, an issue.
        date: ISO date of that.
    """

    __slots__ = ("basis", "date", "source")

    basis: str
    source: str
    date: str

    def __init__(self, basis: str, source: str, date: str) -> None:
        self._fill(basis=basis, source=source, date=date)


class Setting(Frozen):
    """What a profile sets a rule to: `values` (name → value), `grounds`."""

    __slots__ = ("grounds", "values")

    values: Mapping[str, Any]
    grounds: Grounds

    def __init__(self, values: Mapping[str, Any], grounds: Grounds) -> None:
        self._fill(values=values, grounds=grounds)

    def __hash__(self) -> int:
        return hash(self.grounds)

    def __reduce__(self) -> tuple[Any, ...]:
        return _setting, (dict(self.values), self.grounds)


def _setting(values: dict[str, Any], grounds: Grounds) -> Setting:
    return Setting(MappingProxyType(values), grounds)


class Remark(Frozen):
    """What a profile says of one keyword.

    Attributes:
        keyword: the keyword.
        grounds: how it is known.
        unless: values with which it is not meant.
        types: it is meant only in a schema that has one of these types, or none at all.
        beside: it is meant only beside one of these keywords.
        root: it is meant at the root alone.
        why: half a sentence that the message ends with, or "".
    """

    __slots__ = ("beside", "grounds", "keyword", "root", "types", "unless", "why")

    keyword: str
    grounds: Grounds
    unless: tuple[Any, ...]
    types: frozenset[str]
    beside: tuple[str, ...]
    root: bool
    why: str

    def __init__(
        self,
        keyword: str,
        grounds: Grounds,
        unless: tuple[Any, ...] = (),
        types: frozenset[str] = frozenset(),
        beside: tuple[str, ...] = (),
        root: bool = False,
        why: str = "",
    ) -> None:
        self._fill(
            keyword=keyword,
            grounds=grounds,
            unless=unless,
            types=types,
            beside=beside,
            root=root,
            why=why,
        )

    @property
    def always(self) -> bool:
        """Whether it is meant wherever the keyword stands, whatever its value."""
        return not (self.unless or self.types or self.beside or self.root)


class Profile(Frozen):
    """One profile, read.

    Attributes:
        id: dated name, `dynamo-2026-11-30`.
        name: plain name.
        date: ISO date of the facts.
        title: what it is about, for people.
        subject: how messages name the server.
        basis: how the facts are known, unless a rule or a keyword says otherwise.
        source: where they are from, likewise.
        budgets: budget → limit.
        lists: list → keywords, in the order in which they are looked for.
        severities: rule code → severity.
        settings: rule code → what it is set to; several where several profiles are made one.
        grounds: rule code → how it is known.
        remarks: table ("refused", "ignored", "doubtful") → what it says of keywords.
    """

    __slots__ = (
        "basis",
        "budgets",
        "date",
        "grounds",
        "id",
        "lists",
        "name",
        "remarks",
        "settings",
        "severities",
        "source",
        "subject",
        "title",
    )

    id: str
    name: str
    date: str
    title: str
    subject: str
    basis: str
    source: str
    budgets: Mapping[str, int]
    lists: Mapping[str, tuple[str, ...]]
    severities: Mapping[str, str]
    settings: Mapping[str, tuple[Setting, ...]]
    grounds: Mapping[str, Grounds]
    remarks: Mapping[str, tuple[Remark, ...]]

    def __init__(self, **fields: object) -> None:
        # Read-only: a profile is shared by everybody in the process.
        self._fill(
            **{
                name: MappingProxyType(field) if field.__class__ is dict else field
                for name, field in fields.items()
            }
        )

    def replace(self, **fields: object) -> Profile:
        """This profile with other values of some fields."""
        return Profile(**{name: getattr(self, name) for name in self.__slots__} | fields)

    def at_least(self, basis: str) -> Profile:
        """This profile without what is known less firmly than by `basis`."""
        firm = BASES[: BASES.index(basis) + 1]
        settings = {
            code: tuple(setting for setting in entries if setting.grounds.basis in firm)
            for code, entries in self.settings.items()
        }
        remarks = {
            table: tuple(remark for remark in remarks if remark.grounds.basis in firm)
            for table, remarks in self.remarks.items()
        }
        # A rule that says what a table says is as firm as the firmest that the table says.
        left: dict[str, tuple[object, ...]] = {
            **settings,
            **{RULE_OF[table]: kept for table, kept in remarks.items()},
        }
        return self.replace(
            id=f"{self.id}+{basis}",
            severities={
                code: severity
                for code, severity in self.severities.items()
                if (left[code] if code in left else self._is_firm(code, firm))
            },
            settings=settings,
            remarks=remarks,
        )

    def _is_firm(self, code: str, firm: tuple[str, ...]) -> bool:
        return code not in self.grounds or self.grounds[code].basis in firm

    def __repr__(self) -> str:
        return f"<Profile {self.id}>"

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Callable[..., Profile], tuple[object, ...]]:
        fields = {name: getattr(self, name) for name in self.__slots__}
        plain = {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in fields.items()}
        return _restored, (plain,)


def _restored(fields: dict[str, object]) -> Profile:
    return Profile(**fields)
