"""A profile from its table: every key known, every value of its kind, or a `ProfileError`."""

from __future__ import annotations

from types import MappingProxyType

from schemaguard.errors import ProfileError, nearest, printable
from schemaguard.keywords import TYPE_NAMES
from schemaguard.profiles.needs import MORE_BUDGETS, looking_at, missing
from schemaguard.profiles.parts import (
    BASES,
    RULE_OF,
    SEVERITIES,
    TABLES,
    Grounds,
    Profile,
    Remark,
    Setting,
)
from schemaguard.profiles.settings import KINDS, NOT_EMPTY, is_day, is_json, is_line, is_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_WORDS = ("name", "date", "title", "subject", "basis", "source")
_GROUNDS = frozenset({"basis", "source", "date"})
_REMARK = _GROUNDS | {"unless", "types", "beside", "root", "why"}


def from_table(
    table: Mapping[str, object], stem: str, load: Callable[[str], Profile] | None = None
) -> Profile:
    """A profile from the parsed file.

    Args:
        table: the file. What one that `extends` another does not say of itself, the other says.
        stem: what errors call it.
        load: finds the profile that this one extends.

    Raises:
        ProfileError: a key is missing, unknown or of the wrong kind; `keys` says where.
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
        self.off: set[str] = set()
        #: Rules whose grounds this file says.
        self.grounded: set[str] = set()

    def wrong(self, what: str, *keys: str) -> ProfileError:
        return ProfileError(f"profile {self.stem}: {printable(what)}", keys)

    def read(self) -> Profile:
        fields = dict(self.table)
        tables = {
            name: self._table(name, fields.pop(name, {}))
            for name in ("budgets", "keywords", "rules", *TABLES)
        }
        base = self._base(fields.pop("extends", None))
        for name in fields:
            if name not in _WORDS:
                near = nearest(name, (*_WORDS, "extends", *tables))
                raise self.wrong(f'unknown key "{name[:80]}"{near}', name)
        if base is not None:
            fields = self._inherited(fields, base)
        for name in _WORDS:
            if name not in fields:
                raise self.wrong(f'"{name}" is missing')
            self._check_word(name, fields[name], name)
        self.fields = {name: str(value) for name, value in fields.items()}
        self.grounds = self._grounds({})
        base = base or _NOTHING
        severities, settings, grounds = self._rules(tables["rules"], base)
        remarks = {}
        for name in TABLES:
            remarks[name] = self._remarks(name, tables[name], base.remarks.get(name, ()))
            code = RULE_OF[name]
            # What is off stays off, unless this file itself has something for it to say.
            own = any(said != "accepted" for said in tables[name].values())
            if remarks[name] and (own or code not in self.off):
                severities.setdefault(code, TABLES[name])
                grounds.setdefault(code, self.grounds)
        budgets = self._budgets(tables["budgets"], base)
        lists = self._lists(tables["keywords"], base)
        for name in ("budgets", "keywords"):
            for key in tables[name]:
                self._ground_numbers(name, key, severities, grounds)
        made = Profile(
            **self.fields,
            id=f"{self.fields['name']}-{self.fields['date']}",
            budgets=budgets,
            lists=lists,
            severities=severities,
            settings=settings,
            grounds=grounds,
            remarks=remarks,
        )
        for code, lacking in missing(made, severities):
            raise self.wrong(f"{code} {lacking}", "rules", code)
        return made

    def _inherited(self, fields: dict[str, object], base: Profile) -> dict[str, object]:
        """The words of a file that extends another.

        What it sets is not known from where the other's facts are: without a source of its own, it
        is the source.
        """
        own = {
            "date": base.date,
            "title": base.title,
            "subject": base.subject,
            "basis": "documented",
            "source": f"the profile {fields.get('name', '')}",
        }
        return {**own, **fields}

    def _check_word(self, name: str, value: object, *keys: str) -> None:
        """A word of the file, or one about where a fact is from; all are shown as they are."""
        if name == "date":
            if not is_day(value):
                raise self.wrong('"date" is a day: YYYY-MM-DD', *keys)
        elif not is_line(value) or (name == "name" and not value):
            raise self.wrong(f'"{name}" is one line of text', *keys)

    def _table(self, name: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(f'"{name}" is a table', name)
        return value

    def _base(self, extends: object) -> Profile | None:
        if extends is None:
            return None
        if not isinstance(extends, str) or self.load is None:
            raise self.wrong('"extends" is the name of a profile', "extends")
        return self.load(extends)

    def _budgets(self, table: dict[str, Any], base: Profile) -> dict[str, int]:
        from schemaguard.rules import BUDGET, RULES, VALUE  # noqa: PLC0415  (circular)

        known = {rule.on[1] for rule in RULES.values() if rule.on[0] in (VALUE, BUDGET)}
        for name, limit in table.items():
            if name not in known and name not in base.budgets and name not in MORE_BUDGETS:
                near = nearest(name, {*known, *base.budgets})
                raise self.wrong(f'unknown budget "{name[:80]}"{near}', "budgets", name)
            if limit.__class__ is not int or limit < 0:
                raise self.wrong(
                    f'budgets: "{name[:80]}": a budget is an integer of 0 or more', "budgets", name
                )
        return {**base.budgets, **table}

    def _lists(self, table: dict[str, Any], base: Profile) -> dict[str, tuple[str, ...]]:
        from schemaguard.rules import PRESENCE, RULES  # noqa: PLC0415  (circular)

        known = {rule.on[1] for rule in RULES.values() if rule.on[0] == PRESENCE}
        for name, members in table.items():
            if name not in known:
                near = nearest(name, known)
                raise self.wrong(f'unknown list "{name[:80]}"{near}', "keywords", name)
            if not is_names(members):
                raise self.wrong(f'"{name}" is an array of strings', "keywords", name)
        return {**base.lists, **{name: tuple(members) for name, members in table.items()}}

    def _ground_numbers(
        self,
        table: str,
        key: str,
        severities: Mapping[str, str],
        grounds: dict[str, Grounds],
    ) -> None:
        """A budget or list of this file: some rule has to look at it, and knows it from here."""
        codes = looking_at(key, table)
        active = [code for code in codes if code in severities]
        if not active:
            what = {"budgets": "holds schemas to", "keywords": "looks at"}[table]
            raise self.wrong(
                f'{table}: no rule of this profile {what} "{key[:80]}": add '
                f'{" or ".join(codes)} = "error" to [rules]',
                table,
                key,
            )
        for code in active:
            if code not in self.grounded:
                grounds[code] = self.grounds

    def _grounds(self, table: Mapping[str, object], *keys: str) -> Grounds:
        for name in _GROUNDS & table.keys():
            self._check_word(name, table[name], *keys, name)
        said = {name: str(table.get(name, self.fields[name])) for name in _GROUNDS}
        if said["basis"] not in BASES:
            near = nearest(said["basis"], BASES)
            raise self.wrong(f'"basis" is one of {", ".join(BASES)}{near}', *keys, "basis")
        return Grounds(**said)

    def _rules(
        self, table: dict[str, Any], base: Profile
    ) -> tuple[dict[str, str], dict[str, tuple[Setting, ...]], dict[str, Grounds]]:
        severities = dict(base.severities)
        settings = dict(base.settings)
        grounds = dict(base.grounds)
        for text, said in table.items():
            entries = said if isinstance(said, list) and said else [said]
            entries = [e if isinstance(e, dict) else {"severity": e} for e in entries]
            entry = entries[0]
            severity = entry.get("severity")
            if any(other.get("severity") != severity for other in entries):
                raise self.wrong(f'rules: "{text[:80]}" has one severity', "rules", text)
            if severity not in (*SEVERITIES, "off"):
                near = nearest(str(severity), (*SEVERITIES, "off"))
                raise self.wrong(
                    f'rules: "{text[:80]}" is one of {", ".join(SEVERITIES)}, off{near}',
                    "rules",
                    text,
                )
            codes, exact = self._codes(text)
            for code in codes:
                if severity == "off":
                    for known in (severities, settings, grounds):
                        known.pop(code, None)
                    self.off.add(code)
                elif exact or code in severities:
                    severities[code] = severity
                    # Another severity is no other fact; a setting is one.
                    if code not in grounds or entry.keys() - {"severity"}:
                        grounds[code] = self._grounds(entry, "rules", text)
                        self.grounded.add(code)
                    self._set(code, text, entry, settings, grounds[code])
                    others: list[Setting] = []
                    for other in entries[1:]:
                        more: dict[str, tuple[Setting, ...]] = {}
                        self._set(code, text, other, more, self._grounds(other, "rules", text))
                        others += more.get(code, ())
                    if others:
                        settings[code] += tuple(others)
        return severities, settings, grounds

    def _codes(self, text: str) -> tuple[list[str], bool]:
        """The rules that a selector means, and whether it names one."""
        from schemaguard.rules import READING, RULES  # noqa: PLC0415  (circular)

        if text in RULES:
            codes, exact = [text], True
        else:
            # Names and starts of codes: what people write in files of their own.
            from schemaguard.config import ConfigError  # noqa: PLC0415  (circular)
            from schemaguard.select import Selector  # noqa: PLC0415  (circular)

            try:
                selector = Selector(text, "rules")
            except ConfigError as error:
                raise self.wrong(str(error), "rules", text) from error
            codes, exact = sorted(selector.codes), selector.exact
        if exact and RULES[codes[0]].on[0] == READING:
            raise self.wrong(
                f"{codes[0]} cannot be switched: what is not understood is not checked",
                "rules",
                text,
            )
        return [code for code in codes if RULES[code].on[0] != READING], exact

    def _set(
        self,
        code: str,
        text: str,
        entry: dict[str, Any],
        settings: dict[str, tuple[Setting, ...]],
        grounds: Grounds,
    ) -> None:
        from schemaguard.rules import RULES  # noqa: PLC0415  (circular)

        values = {k: v for k, v in entry.items() if k not in _GROUNDS and k != "severity"}
        known = RULES[code].settings
        self._check_settings(code, text, values)
        before = settings.get(code, ())
        if before and not values:
            if entry.keys() & _GROUNDS:
                settings[code] = tuple(Setting(setting.values, grounds) for setting in before)
        elif known:
            values = {**(before[0].values if before else {}), **values}
            settings[code] = (Setting(MappingProxyType(values), grounds),)

    def _check_settings(self, code: str, text: str, values: Mapping[str, object]) -> None:
        from schemaguard.rules import RULES  # noqa: PLC0415  (circular)

        rule = RULES[code]
        for name, value in values.items():
            if name not in rule.settings:
                near = nearest(name, (*rule.settings, "severity", *_GROUNDS))
                raise self.wrong(
                    f'rules: "{text[:80]}" has no setting "{name[:80]}"{near}', "rules", text, name
                )
            kind = rule.settings[name].rstrip("?")
            fits, called = KINDS[kind]
            if not fits(value) or (kind in NOT_EMPTY and not value):
                some = ", at least one of them" if kind in NOT_EMPTY else ""
                raise self.wrong(
                    f'rules: "{text[:80]}": {name} is {called}{some}', "rules", text, name
                )
            for word in value if isinstance(value, dict) else ():
                if word not in rule.on:  # the rule would never look at it
                    what = f'"{word[:80]}" has no limit{nearest(word, rule.on[1:])}'
                    raise self.wrong(f'rules: "{text[:80]}": {name}: {what}', "rules", text, name)

    def _remarks(
        self, name: str, table: dict[str, Any], before: tuple[Remark, ...]
    ) -> tuple[Remark, ...]:
        made = [remark for remark in before if remark.keyword not in table]
        for keyword, said in table.items():
            if said == "accepted":
                continue
            for entry in said if isinstance(said, list) else [said]:
                if not isinstance(entry, dict):
                    raise self.wrong(
                        f'{name}: "{keyword[:80]}" is a table, or "accepted"', name, keyword
                    )
                for key in entry:
                    if key not in _REMARK:
                        near = nearest(key, _REMARK)
                        what = f'{name}: "{keyword[:80]}": unknown key "{key[:80]}"{near}'
                        raise self.wrong(what, name, keyword, key)
                made.append(self._remark(name, keyword, entry))
        return tuple(made)

    def _remark(self, name: str, keyword: str, entry: dict[str, Any]) -> Remark:
        types = entry.get("types", [])
        beside = entry.get("beside", [])
        unless = entry.get("unless", [])
        root = entry.get("root", False)
        why = entry.get("why", "")
        for key, fits, called in (
            ("types", is_names(types) and TYPE_NAMES.issuperset(types), "an array of types"),
            ("beside", is_names(beside), "an array of keywords"),
            ("unless", isinstance(unless, list) and is_json(unless), "an array of JSON values"),
            ("root", root.__class__ is bool, "true or false"),
            ("why", is_line(why), "one line of text"),
        ):
            if not fits:
                what = f'{name}: "{keyword[:80]}": {key} is {called}'
                raise self.wrong(what, name, keyword, key)
        return Remark(
            keyword,
            self._grounds(entry, name, keyword),
            unless=tuple(unless),
            types=frozenset(types),
            beside=tuple(beside),
            root=root,
            why=why,
        )


_NOTHING = Profile(
    id="",
    name="",
    date="",
    title="",
    subject="",
    basis="",
    source="",
    budgets={},
    lists={},
    severities={},
    settings={},
    grounds={},
    remarks={},
)

__all__ = ["from_table", "missing"]
