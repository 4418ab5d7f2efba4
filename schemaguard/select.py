"""Which rules speak where: selection, severities, and ignores for files and pointers.

A selector is a rule's code (`SG301`), the start of one (`SG3`), a rule's name (`remote-ref`), or
`ALL`. Selections are applied from the general to the special, so `select = ["SG4"]` with
`ignore = ["SG402"]` leaves the rest of SG4 on; at the same length, ignoring wins.

A rule that a profile does not have is switched on by its code or name alone, never by the start of
one. The rules about reading (SG1xx) are always on: a file that was not understood is not clean.
"""

from __future__ import annotations

import os
import re

from schemaguard import globs
from schemaguard.config import ConfigError
from schemaguard.errors import printable
from schemaguard.lint import CheckedTool, FileReport
from schemaguard.report import ERROR
from schemaguard.rules import BY_NAME, READING, RULES, meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from schemaguard.lint import Finding
    from schemaguard.profiles import Profile
    from schemaguard.rules import Rule

#: How special a whole code or a name is.
_EXACT = 9


class Selector:
    """One selector, read.

    Attributes:
        text: as it was given.
        codes: the rules that it means.
        rank: how special it is; 0 is everything.
    """

    __slots__ = ("codes", "rank", "text")

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        upper = text.upper()
        self.rank = _EXACT
        if text in BY_NAME:
            self.codes = frozenset({BY_NAME[text].code})
        elif upper in RULES:
            self.codes = frozenset({upper})
        elif upper == "ALL":
            self.codes = frozenset(RULES)
            self.rank = 0
        else:
            self.rank = max(len(upper) - 2, 0)
            self.codes = frozenset(
                code for code in RULES if upper.startswith("SG") and code.startswith(upper)
            )
            if not self.codes:
                near = meant(text)
                raise ConfigError(f'{where}: no rule "{printable(text[:80])}"{near}')

    @property
    def exact(self) -> bool:
        """Whether it names one rule."""
        return self.rank == _EXACT


class Layer:
    """What one place, such as the command line, says about the rules.

    Args:
        where: what to call it in an error.
        select: None leaves the selection of the layer below.
        ignore: what to switch off.
        extend_select: what to switch on besides.
    """

    __slots__ = ("ignore", "select", "switched_on")

    def __init__(
        self,
        where: str,
        select: Iterable[str] | None = None,
        ignore: Iterable[str] = (),
        extend_select: Iterable[str] = (),
    ) -> None:
        self.select = None if select is None else [Selector(text, where) for text in select]
        more = [Selector(text, where) for text in extend_select]
        self.switched_on = [*(self.select or ()), *more]
        self.ignore = [Selector(text, where) for text in ignore]
        for selector in self.ignore:
            if selector.exact:
                _may_be_off(RULES[next(iter(selector.codes))], where)


def _may_be_off(rule: Rule, where: str) -> None:
    if rule.on[0] == READING:
        raise ConfigError(
            f"{where}: {rule.code} {rule.name} cannot be switched off: what is not understood is "
            "not checked; exclude such files"
        )


def with_severities(profile: Profile, table: Mapping[str, str], where: str) -> dict[str, str]:
    """The severities of a profile with those of a table in their place; "off" removes a rule.

    Raises:
        ConfigError: no such rule, or one that the profile has no numbers for.
    """
    severities = dict(profile.severities)
    for text, severity in table.items():
        selector = Selector(text, where)
        for code in sorted(selector.codes):
            rule = RULES[code]
            if rule.on[0] == READING:
                if selector.exact:
                    _may_be_off(rule, where)
            elif severity == "off":
                severities.pop(code, None)
            elif selector.exact or code in severities:
                _has_numbers(rule, profile, where)
                severities[code] = severity
    return severities


def _has_numbers(rule: Rule, profile: Profile, where: str) -> None:
    """Refuse a rule that the profile gives nothing to compare with: it would never speak."""
    from schemaguard.profiles.needs import missing  # noqa: PLC0415  (only where rules are added)

    for _, lacking in missing(profile, [rule.code]):
        raise ConfigError(
            f"{where}: {rule.code} {rule.name} {lacking}, which profile {profile.id} does not have"
        )


def adjusted(profile: Profile, layers: Sequence[Layer], severity: Mapping[str, str]) -> Profile:
    """The profile with the rules and severities that were chosen; itself when nothing was.

    Args:
        profile: where to start.
        layers: the more important ones last.
        severity: rule → severity or "off".

    Raises:
        ConfigError: a selector means nothing, or nothing is left to check.
    """
    severities = with_severities(profile, severity, "severity")
    # What can be switched back on, with its severity.
    known = {**profile.severities, **severities}
    chosen = set(severities)
    for layer in layers:
        if layer.select is not None:
            chosen.clear()
        for rank in range(_EXACT + 1):
            for selector in layer.switched_on:
                if selector.rank == rank:
                    if selector.exact:
                        rule = RULES[next(iter(selector.codes))]
                        if rule.on[0] == READING:
                            continue
                        _has_numbers(rule, profile, selector.text)
                        known.setdefault(rule.code, ERROR)
                    chosen |= selector.codes & known.keys()
            for selector in layer.ignore:
                if selector.rank == rank:
                    chosen -= selector.codes
    if not chosen:
        raise ConfigError(f"no rule of profile {profile.id} is left: nothing would be checked")
    final = {code: known[code] for code in sorted(chosen)}
    return profile if final == dict(profile.severities) else _with(profile, final)


def reduced(profile: Profile, codes: AbstractSet[str]) -> Profile:
    """The profile without some rules."""
    return _with(profile, {c: s for c, s in profile.severities.items() if c not in codes})


def _with(profile: Profile, severities: Mapping[str, str]) -> Profile:
    return profile.replace(severities=dict(severities))


def glob(pattern: str) -> re.Pattern[str]:
    """A glob (see `globs`) for the files that it names, and for all in folders that it names."""
    return re.compile(globs.regex(pattern) + r"(?:/.*)?\Z", re.DOTALL)


def from_root(path: str, root: str) -> str:
    """The path from a folder, with forward slashes."""
    try:
        relative = os.path.relpath(path, root)
    except ValueError:  # on another drive
        relative = os.path.abspath(path)
    return relative.replace(os.sep, "/")


class _Ignore:
    __slots__ = ("codes", "key", "matches", "pointer", "seen", "unused")

    def __init__(self, key: str, selectors: Iterable[str], where: str) -> None:
        pattern, mark, pointer = key.partition("#")
        if mark and pointer and not pointer.startswith("/"):
            raise ConfigError(f'{where}: "{printable(key[:80])}": a JSON Pointer starts with "/"')
        self.key = key
        self.matches = glob(pattern).match
        self.pointer = pointer
        self.seen = False
        self.unused: dict[str, frozenset[str]] = {}
        for text in selectors:
            selector = Selector(text, where)
            if selector.exact and selector.codes & ALWAYS_SAID:
                _may_be_off(RULES[next(iter(selector.codes))], where)
            self.unused[text] = selector.codes - ALWAYS_SAID
        self.codes = dict(self.unused)


#: Faults after which a file or a tool was not checked. A key that is there twice is not one.
ALWAYS_SAID = frozenset(
    code for code, rule in RULES.items() if rule.on[0] == READING and rule.name != "duplicate-key"
)


class Ignores:
    """`per-file-ignores`: what is not said about some files, or below some pointers of them.

    Args:
        table: `GLOB` or `GLOB#POINTER` → selectors.
        root: folder that the globs start from.
        where: what to call the table in an error.
    """

    def __init__(self, table: Mapping[str, Sequence[str]], root: str, where: str) -> None:
        self._root = root
        self._entries = [_Ignore(key, selectors, where) for key, selectors in table.items()]

    def for_file(self, path: str) -> list[_Ignore]:
        """The entries whose glob matches the file."""
        if not self._entries:
            return []
        relative = from_root(path, self._root)
        found = [entry for entry in self._entries if entry.matches(relative)]
        for entry in found:
            entry.seen = True
        return found

    def apply(self, file: FileReport) -> FileReport:
        """The report without what is ignored for its file."""
        entries = self.for_file(file.path)
        if not entries:
            return file

        def drop(finding: Finding, _tool: CheckedTool | None) -> bool:
            dropped = False
            for entry in entries:
                below = entry.pointer
                if below and not f"{finding.pointer}/".startswith(f"{below}/"):
                    continue
                for text, codes in entry.codes.items():
                    if finding.code in codes:
                        entry.unused.pop(text, None)
                        dropped = True
            return dropped

        return without(file, drop)

    def whole_file(self, path: str) -> frozenset[str]:
        """The codes that are ignored everywhere in a file."""
        return frozenset(
            code
            for entry in self.for_file(path)
            if not entry.pointer
            for codes in entry.codes.values()
            for code in codes
        )

    def unused(self) -> list[tuple[str, str]]:
        """(key, selector) that ignored nothing although a file of theirs was checked."""
        return [(entry.key, text) for entry in self._entries if entry.seen for text in entry.unused]


def without(
    file: FileReport,
    drop: Callable[[Finding, CheckedTool | None], bool],
    known_hidden: Callable[[CheckedTool, int], int] | None = None,
) -> FileReport:
    """The report of a file without some of its findings.

    Args:
        file: the report.
        drop: whether a finding goes.
        known_hidden: of so many findings of a tool that are counted but not kept, how many go.
    """
    about = tuple(finding for finding in file.findings if not drop(finding, None))
    tools = []
    for tool in file.tools:
        kept = tuple(finding for finding in tool.findings if not drop(finding, tool))
        report = tool.report
        hidden = report.total - len(tool.findings)
        left = hidden - known_hidden(tool, hidden) if hidden and known_hidden else hidden
        if len(kept) == len(tool.findings) and left == hidden:
            tools.append(tool)
            continue
        # Nobody knows how severe those are that were not kept: they count as the whole did.
        ok = not any(finding.severity == ERROR for finding in kept) and (report.ok or not left)
        again = report.recounted(len(kept) + left, ok)
        tools.append(CheckedTool(tool.name, tool.pointer, kept, again))
    return FileReport(file.path, file.kind, tuple(tools), about, file.document)


__all__ = [
    "ALWAYS_SAID",
    "Ignores",
    "Layer",
    "Selector",
    "adjusted",
    "from_root",
    "glob",
    "reduced",
    "with_severities",
    "without",
]
