"""A profile from its table: every key known, every value of its kind, or a `ProfileError`."""

from __future__ import annotations

from types import MappingProxyType

from schemaguard.errors import ProfileError, printable
from schemaguard.keywords import TYPE_NAMES
from schemaguard.profiles.parts import (
    BASES,
    SEVERITIES,
    TABLES,
    Grounds,
    Profile,
    Remark,
    Setting,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_WORDS = ("name", "title", "subject", "basis", "source")
_GROUNDS = frozenset({"basis", "source", "date"})
_REMARK = _GROUNDS | {"unless", "types", "beside", "root", "why"}


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)


#: Kind of a setting → whether a value is of it, and what people call it.
KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "count": (lambda value: value.__class__ is int and value >= 0, "an integer of 0 or more"),
    "flag": (lambda value: value.__class__ is bool, "true or false"),
    "text": (lambda value: isinstance(value, str), "a string"),
    "names": (_is_names, "an array of strings"),
}


def from_table(
    table: Mapping[str, object], stem: str, load: Callable[[str], Profile] | None = None
) -> Profile:
    """A profile from the parsed file.

    Args:
        table: the file.
        stem: what errors call it.
        load: finds the profile that this one extends.

    Raises:
        ProfileError: a key is missing, unknown or of the wrong kind.
    """
    return _Reader(table, stem, load).read()


class _Reader:
    """Reads one table."""

    def __init__(
        self, table: Mapping[str, object], stem: str, load: Callable[[str], Profile] | None
    ) -> None:
        self.table = table
        self.stem = stem
        self.load = load

    def wrong(self, what: str) -> ProfileError:
        return ProfileError(f"profile {self.stem}: {what}")

    def read(self) -> Profile:
        fields = dict(self.table)
        extends = fields.pop("extends", None)
        tables = {
            name: self._table(name, fields.pop(name, {}))
            for name in ("budgets", "keywords", "rules", *TABLES)
        }
        if fields.keys() != {*_WORDS, "date"}:
            names = sorted(fields.keys() ^ {*_WORDS, "date"})
            raise self.wrong(f"missing or unknown keys: {printable(', '.join(names))[:200]}")
        for name in _WORDS:
            if not isinstance(fields[name], str):
                raise self.wrong(f"{name} is a string")
        self.fields = {name: str(value) for name, value in fields.items()}
        self.grounds = self._grounds("the profile", {})
        base = self._base(extends)
        budgets = tables["budgets"]
        if any(limit.__class__ is not int or limit < 0 for limit in budgets.values()):
            raise self.wrong("a budget is an integer of 0 or more")
        lists = tables["keywords"]
        if not all(map(_is_names, lists.values())):
            raise self.wrong("a list of keywords is an array of strings")
        severities, settings, grounds = self._rules(tables["rules"], base)
        remarks = {}
        for name in TABLES:
            remarks[name] = self._remarks(name, tables[name], base.remarks.get(name, ()))
            if remarks[name]:
                code = _RULE_OF[name]
                severities.setdefault(code, TABLES[name])
                grounds.setdefault(code, self.grounds)
        return Profile(
            **self.fields,
            id=f"{self.fields['name']}-{self.fields['date']}",
            budgets={**base.budgets, **budgets},
            lists={**base.lists, **{name: tuple(members) for name, members in lists.items()}},
            severities=severities,
            settings=settings,
            grounds=grounds,
            remarks=remarks,
        )

    def _table(self, name: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(f"{name} is a table")
        return value

    def _base(self, extends: object) -> Profile:
        if extends is None:
            empty: dict[str, Any] = {}
            return Profile(
                budgets=empty,
                lists=empty,
                severities=empty,
                settings=empty,
                grounds=empty,
                remarks=empty,
            )
        if not isinstance(extends, str) or self.load is None:
            raise self.wrong("extends is the dated name of a profile")
        base = self.load(extends)
        if base.id != extends:
            raise self.wrong(f"extends names a dated profile: {base.id!r}, not {extends!r}")
        return base

    def _grounds(self, where: str, table: Mapping[str, object]) -> Grounds:
        said = {name: str(table.get(name, self.fields[name])) for name in _GROUNDS}
        if said["basis"] not in BASES:
            raise self.wrong(f"{where}: basis is one of {', '.join(BASES)}")
        return Grounds(**said)

    def _rules(
        self, table: dict[str, Any], base: Profile
    ) -> tuple[dict[str, str], dict[str, tuple[Setting, ...]], dict[str, Grounds]]:
        from schemaguard.rules import RULES  # noqa: PLC0415  (circular)

        severities = dict(base.severities)
        settings = dict(base.settings)
        grounds = dict(base.grounds)
        for code, said in table.items():
            rule = RULES.get(code)
            entry = said if isinstance(said, dict) else {"severity": said}
            severity = entry.get("severity")
            if rule is None or severity not in (*SEVERITIES, "off"):
                raise self.wrong(
                    f"rule {printable(code)[:80]} = {severity!r}: a rule's code and one of "
                    f"{', '.join(SEVERITIES)}"
                )
            for known in (severities, settings, grounds):
                known.pop(code, None)
            if severity == "off":
                continue
            severities[code] = severity
            grounds[code] = self._grounds(code, entry)
            values = {k: v for k, v in entry.items() if k not in _GROUNDS and k != "severity"}
            self._check_settings(code, rule.settings, values)
            if rule.settings:
                settings[code] = (Setting(MappingProxyType(values), grounds[code]),)
        return severities, settings, grounds

    def _check_settings(
        self, code: str, known: Mapping[str, str], values: Mapping[str, object]
    ) -> None:
        for name, value in values.items():
            if name not in known:
                raise self.wrong(f"rule {code} has no setting {printable(name)[:80]!r}")
            fits, called = KINDS[known[name].rstrip("?")]
            if not fits(value):
                raise self.wrong(f"rule {code}: {name} is {called}")
        for name, kind in known.items():
            if name not in values and not kind.endswith("?"):
                raise self.wrong(f"rule {code} needs the setting {name!r}")

    def _remarks(
        self, name: str, table: dict[str, Any], before: tuple[Remark, ...]
    ) -> tuple[Remark, ...]:
        made = [remark for remark in before if remark.keyword not in table]
        for keyword, said in table.items():
            if said == "accepted":
                continue
            for entry in said if isinstance(said, list) else [said]:
                if not isinstance(entry, dict) or not entry.keys() <= _REMARK:
                    raise self.wrong(
                        f"{name}.{printable(keyword)[:80]} is a table of "
                        f'{", ".join(sorted(_REMARK))}, or "accepted"'
                    )
                made.append(self._remark(f"{name}.{keyword}", keyword, entry))
        return tuple(made)

    def _remark(self, where: str, keyword: str, entry: dict[str, Any]) -> Remark:
        types = entry.get("types", [])
        beside = entry.get("beside", [])
        unless = entry.get("unless", [])
        root = entry.get("root", False)
        why = entry.get("why", "")
        if (
            not (_is_names(types) and TYPE_NAMES.issuperset(types) and _is_names(beside))
            or not isinstance(unless, list)
            or root.__class__ is not bool
            or not isinstance(why, str)
        ):
            raise self.wrong(
                f"{printable(where)[:90]}: types and beside are arrays of names, unless is an "
                "array, root is true or false, why is a string"
            )
        return Remark(
            keyword,
            self._grounds(where, entry),
            unless=tuple(unless),
            types=frozenset(types),
            beside=tuple(beside),
            root=root,
            why=why,
        )


#: Table of remarks → the rule that says them.
_RULE_OF = {"refused": "SG231", "ignored": "SG232", "doubtful": "SG233"}
