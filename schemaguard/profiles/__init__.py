"""Profiles: who accepts what, as dated data.

A profile is one TOML file, `NAME-YYYY-MM-DD.toml`. A published file does not change; newer facts
are a newer file, and the plain name means the newest. The file says which rules speak and how
severe they are, which keywords the listing rules look for, and the budgets; it has a basis, a
source and a date for all of it::

    name = "dynamo"
    date = 2026-11-30
    title = "…"
    subject = "Dynamo"          # how messages name the server
    basis = "documented"        # documented, observed, inferred or disputed
    source = "…"

    [budgets]
    properties = 5000

    [keywords]
    unsupported = ["allOf"]

    [rules]
    SG401 = "error"             # error, warning or note; a rule that is not listed is off

Beside it, `NAME-YYYY-MM-DD.json` has the same table, parsed (`make docs` writes it), and a checksum
of the file that it was made from: a start-up then need not load the TOML parser. One that does not
fit its file counts for nothing.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from zlib import crc32

from schemaguard._frozen import Frozen
from schemaguard.errors import ProfileError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SEVERITIES = ("error", "warning", "note")
BASES = ("documented", "observed", "inferred", "disputed")

_FOLDER = os.path.dirname(__file__)


class Profile(Frozen):
    """One profile, read.

    Attributes:
        id: dated name, `dynamo-2026-11-30`.
        name: plain name.
        date: ISO date of the facts.
        title: what it is about, for people.
        subject: how messages name the server.
        basis: how the facts are known.
        source: where they are from.
        budgets: budget → limit.
        lists: list → keywords, in the order in which they are looked for.
        severities: rule code → severity.
    """

    __slots__ = (
        "basis",
        "budgets",
        "date",
        "id",
        "lists",
        "name",
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

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    def __repr__(self) -> str:
        return f"<Profile {self.id}>"

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Callable[..., Profile], tuple[object, ...]]:
        plain = {"budgets": dict, "lists": dict, "severities": dict}
        fields = {name: plain.get(name, _same)(getattr(self, name)) for name in self.__slots__}
        return _restored, (fields,)


def _same(value: object) -> object:
    return value


def _restored(fields: dict[str, object]) -> Profile:
    frozen = {k: MappingProxyType(v) if isinstance(v, dict) else v for k, v in fields.items()}
    return Profile(**frozen)


def names() -> tuple[str, ...]:
    """The plain names of the profiles that ship, sorted."""
    return tuple(sorted({_split(stem)[0] for stem in _stems()}))


def _stems() -> list[str]:
    return sorted(entry[:-5] for entry in os.listdir(_FOLDER) if entry.endswith(".toml"))


def _split(stem: str) -> tuple[str, str]:
    return stem[:-11], stem[-10:]


_loaded: dict[str, Profile] = {}


def load(name: str) -> Profile:
    """The profile of a plain name (the newest) or a dated name.

    Raises:
        ProfileError: there is none of that name, or its file is wrong.
    """
    found = _loaded.get(name)
    if found is not None:
        return found
    stems = [stem for stem in _stems() if name in (stem, _split(stem)[0])]
    if not stems:
        raise ProfileError(
            f"no profile named {printable(name)[:80]!r}; there are: {', '.join(names())}"
        )
    stem = max(stems, key=_split)
    profile = _loaded.get(stem) or _read(stem)
    _loaded[stem] = _loaded[name] = profile
    return profile


def _read(stem: str) -> Profile:
    path = os.path.join(_FOLDER, stem)
    with open(path + ".toml", "rb") as file:
        content = file.read()
    return from_table(_parsed_before(path + ".json", content) or _parsed(stem, content), stem)


def _parsed(stem: str, content: bytes) -> dict[str, object]:
    import tomllib  # noqa: PLC0415  (14 ms that hardly anybody has to pay)

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:
        raise ProfileError(f"profile {stem}: {error}") from error


def _parsed_before(path: str, content: bytes) -> dict[str, object] | None:
    """The table that was made of this very content, or None."""
    from json import loads  # noqa: PLC0415  (only where profiles are read)

    try:
        with open(path, "rb") as file:
            kept = loads(file.read())
        if kept["checksum"] == crc32(content):
            table: dict[str, object] = kept["table"]
            return table
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return None


def parsed_files() -> dict[str, str]:
    """Name → content of the files that hold the parsed tables, as they have to be."""
    from json import dumps  # noqa: PLC0415  (only where they are written)

    made = {}
    for stem in _stems():
        with open(os.path.join(_FOLDER, stem + ".toml"), "rb") as file:
            content = file.read()
        kept = {"checksum": crc32(content), "table": _parsed(stem, content)}
        made[stem + ".json"] = dumps(kept, indent=1, default=str) + "\n"
    return made


def from_table(table: Mapping[str, object], stem: str) -> Profile:
    """A profile from the parsed file.

    Raises:
        ProfileError: a key is missing, unknown or of the wrong kind.
    """
    from schemaguard.rules import RULES  # noqa: PLC0415  (circular)

    fields = dict(table)
    budgets = fields.pop("budgets", {})
    lists = fields.pop("keywords", {})
    severities = fields.pop("rules", {})
    wanted = {"name", "date", "title", "subject", "basis", "source"}
    if fields.keys() != wanted:
        wrong = sorted(fields.keys() ^ wanted)
        raise ProfileError(f"profile {stem}: missing or unknown keys: {', '.join(wrong)}")
    if fields["basis"] not in BASES:
        raise ProfileError(f"profile {stem}: basis is one of {', '.join(BASES)}")
    if not (isinstance(budgets, dict) and isinstance(lists, dict) and isinstance(severities, dict)):
        raise ProfileError(f"profile {stem}: budgets, keywords and rules are tables")
    for code, severity in severities.items():
        if code not in RULES or severity not in SEVERITIES:
            raise ProfileError(
                f"profile {stem}: rule {code} = {severity!r}: a rule's code and one of "
                f"{', '.join(SEVERITIES)}"
            )
    if any(limit.__class__ is not int or limit < 0 for limit in budgets.values()):
        raise ProfileError(f"profile {stem}: a budget is an integer of 0 or more")
    fields["date"] = str(fields["date"])
    return Profile(
        **fields,
        id=f"{fields['name']}-{fields['date']}",
        # Read-only: a profile is shared by everybody in the process.
        budgets=MappingProxyType(budgets),
        lists=MappingProxyType({name: tuple(members) for name, members in lists.items()}),
        severities=MappingProxyType(severities),
    )
