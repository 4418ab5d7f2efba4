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
    SG404 = { severity = "warning", basis = "observed", source = "…", date = 2026-09-01 }

    [refused]                   # also [ignored] and [doubtful]: what is said of keywords
    oneOf = { basis = "observed", source = "…" }
    minItems = { unless = [0, 1] }

A rule takes its settings beside its severity; the rule declares which it knows. An array of such
tables of one severity is a rule with several settings, each with its own grounds. What a rule or a
keyword does not say about its basis, source and date is the profile's. A budget or a list needs a
rule that looks at it. `extends` names a profile whose tables this one adds to: a rule that is "off"
and a keyword that is "accepted" are taken out again. What such a file adds and does not say the
basis and source of is documented by the file itself, not by what it extends.

Beside it, `NAME-YYYY-MM-DD.json` has the same table, parsed (`make docs` writes it), and a checksum
of the file that it was made from: a start-up then need not load the TOML parser. One that does not
fit its file counts for nothing.
"""

from __future__ import annotations

import os
from zlib import crc32

from schemaguard.errors import ProfileError, printable
from schemaguard.profiles.parts import (
    BASES,
    SEVERITIES,
    TABLES,
    Grounds,
    Profile,
    Remark,
    Setting,
)
from schemaguard.profiles.reading import from_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = os.path.dirname(__file__)


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
    table: Mapping[str, object] = _parsed_before(path + ".json", content) or _parsed(stem, content)
    return from_table(table, stem, load)


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


__all__ = [
    "BASES",
    "SEVERITIES",
    "TABLES",
    "Grounds",
    "Profile",
    "Remark",
    "Setting",
    "from_table",
    "load",
    "names",
    "parsed_files",
]
