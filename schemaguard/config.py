"""Configuration: `schemaguard.toml`, or `[tool.schemaguard]` of a `pyproject.toml`.

One file counts: the nearest one, looked for from the common parent of the inputs upwards, to the
first folder that has a `.git`. Nothing in it is ignored: an unknown key or a value of the wrong
kind ends the run. Paths and globs in it start from its folder.
"""

from __future__ import annotations

import os
import re

from schemaguard._frozen import Frozen
from schemaguard.errors import ProfileError, SchemaguardError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from schemaguard.profiles import Profile

#: In the order in which they are looked for in a folder.
FILES = ("schemaguard.toml", "pyproject.toml")

FAIL_ON = ("error", "warning", "note")

#: Other processes cost memory, and are of use up to the number of processors.
MAX_JOBS = 256
#: Instead of a number of processes: as many as are of use.
AUTO = "auto"

#: Bytes of a configuration file. TOML is read by a pure Python parser: a megabyte takes a second.
MAX_BYTES = 1 << 20


class ConfigError(SchemaguardError):
    """What was asked for does not make sense; the message says what and, in a file, where."""


class Config(Frozen):
    """A configuration file, read; all fields are empty when there is none.

    Attributes:
        path: of the file, or None.
        root: folder that its globs start from, that paths in a baseline start from: the file's, or
            the one with `.git`, or the working directory.
        profile: name of a profile.
        include, exclude: globs for what is found in folders.
        respect_gitignore: whether files that git ignores are left out of folders.
        select, ignore: codes, prefixes or names; None where the file says nothing.
        extend_select, extend_ignore: the same.
        severity: code or name → "error", "warning", "note" or "off".
        per_file_ignores: `GLOB` or `GLOB#POINTER` → codes, prefixes or names.
        baseline: path of the baseline, from the working directory.
        output_format: name of a format.
        fail_on: the least severity that fails a run.
        jobs: how many processes check files, or "auto".
        profiles: name → table of a profile that extends another.
    """

    __slots__ = (
        "baseline",
        "exclude",
        "extend_ignore",
        "extend_select",
        "fail_on",
        "ignore",
        "include",
        "jobs",
        "output_format",
        "path",
        "per_file_ignores",
        "profile",
        "profiles",
        "respect_gitignore",
        "root",
        "select",
        "severity",
    )

    path: str | None
    root: str
    profile: str | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    respect_gitignore: bool
    select: tuple[str, ...] | None
    ignore: tuple[str, ...] | None
    extend_select: tuple[str, ...]
    extend_ignore: tuple[str, ...]
    severity: Mapping[str, str]
    per_file_ignores: Mapping[str, tuple[str, ...]]
    baseline: str | None
    output_format: str | None
    fail_on: str | None
    jobs: int | str | None
    profiles: Mapping[str, Mapping[str, Any]]

    def __init__(self, path: str | None, root: str, **given: object) -> None:
        fields: dict[str, object] = {
            **dict.fromkeys(self.__slots__),
            **dict.fromkeys(("include", "exclude", "extend_select", "extend_ignore"), ()),
            **{name: {} for name in ("severity", "per_file_ignores", "profiles")},
            "respect_gitignore": True,
        }
        fields |= given
        fields |= {"path": path, "root": root}
        self._fill(**fields)


def nearest(word: str, choices: Iterable[str]) -> str:
    """`; did you mean "…"?`, or nothing when no choice looks like the word."""
    import difflib  # noqa: PLC0415  (only after a mistake)

    close = difflib.get_close_matches(word[:100], list(choices), n=1)
    return f'; did you mean "{close[0]}"?' if close else ""


def discover(inputs: Sequence[str]) -> Config:
    """The configuration for some files and folders.

    Args:
        inputs: paths; without any, the working directory is where the search starts.

    Raises:
        ConfigError: the file found is wrong or cannot be read.
    """
    folder = _common_parent(inputs)
    start = folder
    while True:
        for name in FILES:
            path = os.path.join(folder, name)
            content = _content(path)
            # Most files called pyproject.toml are about other tools: those are not even parsed.
            if content is not None and (name == FILES[0] or b"schemaguard" in content):
                config = _parse(path, content)
                if config is not None:
                    return config
        if os.path.exists(os.path.join(folder, ".git")):
            return Config(None, folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config(None, os.getcwd() if inputs else start)
        folder = parent


def load(path: str) -> Config:
    """The configuration in one file.

    Raises:
        ConfigError: it is wrong or cannot be read, or a pyproject.toml without our table.
    """
    content = _content(path)
    if content is None:
        raise ConfigError(f"{printable(path)}: no such file")
    config = _parse(path, content)
    if config is None:
        raise ConfigError(f"{printable(path)}: has no table [tool.schemaguard]")
    return config


def _common_parent(inputs: Sequence[str]) -> str:
    if not inputs:
        return os.getcwd()
    common = os.path.abspath(inputs[0])
    for given in inputs:
        path = os.path.abspath(given)
        if path == common or path.startswith(os.path.join(common, "")):
            continue
        try:
            common = os.path.commonpath((common, path))
        except ValueError:  # on two drives
            break
    return common if os.path.isdir(common) else os.path.dirname(common)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(f"{printable(path)}: {printable(reason)}") from error
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{printable(path)}: larger than {MAX_BYTES:,} bytes")
    return content


def _parse(path: str, content: bytes) -> Config | None:
    """The configuration, or None when the file has no table of ours."""
    import tomllib  # noqa: PLC0415  (14 ms, only where there is a file)

    try:
        text = content.decode()
        table: Any = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{printable(path)}: not UTF-8") from error
    except RecursionError as error:
        raise ConfigError(f"{printable(path)}: nested too deep") from error
    except ValueError as error:  # also an integer with too many digits
        raise ConfigError(_toml_error(path, str(error))) from error
    if os.path.basename(path) == "pyproject.toml":
        tools = table.get("tool")
        if not isinstance(tools, dict) or "schemaguard" not in tools:
            return None
        table = tools["schemaguard"]
        if not isinstance(table, dict):
            raise ConfigError(f"{printable(path)}: tool.schemaguard is a table")
    return _Reader(path, text).config(table)


def _toml_error(path: str, message: str) -> str:
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found is None:
        return f"{printable(path)}: {printable(message)}"
    place = f"{printable(path)}:{found[1]}:{found[2]}"
    return f"{place}: {printable(message[: found.start()])}"


class _Reader:
    """Checks the tables of one file."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text

    def config(self, table: dict[str, Any]) -> Config:
        self.known(table, _KEYS, "")
        root = os.path.dirname(os.path.abspath(self._path))
        given = {
            key.replace("-", "_"): _KEYS[key](self, key, value) for key, value in table.items()
        }
        if "baseline" in given:
            given["baseline"] = os.path.relpath(os.path.join(root, given["baseline"]))
        for name, own in given.get("profiles", {}).items():
            self._profile(name, own)
        return Config(self._path, root, **given)

    def fail(self, key: str, what: str) -> ConfigError:
        """The error for a key, with the line where the key seems to be."""
        bare = re.escape(key.rpartition(".")[2])
        pattern = rf"""^[ \t]*(?:\[[^\]\n]*\b)?["']?{bare}["']?[ \t]*[=.\]]"""
        found = re.search(pattern, self._text, re.MULTILINE)
        line = "" if found is None else f":{self._text.count(chr(10), 0, found.start()) + 1}"
        return ConfigError(f"{printable(self._path)}{line}: {printable(what)}")

    def known(self, table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        """Refuse keys that are not known."""
        for key in table:
            if key not in known:
                near = nearest(key, known)
                raise self.fail(key, f'unknown key "{where}{key[:80]}"{near}')

    def _profile(self, name: str, table: Mapping[str, Any]) -> None:
        where = f"profiles.{name}"
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 64:
            what = "a profile's name is lower case words with hyphens between them"
            raise self.fail(name, f'"{name[:80]}": {what}')
        if not isinstance(table, dict):
            raise self.fail(name, f"{where} is a table")
        self.known(table, ("extends", "title", "budgets", "rules", "keywords"), where + ".")
        if "extends" not in table:
            raise self.fail(name, f'{where} has no "extends"')
        for key in ("extends", "title"):
            if key in table:
                _string(self, key, table[key])
        if any(
            limit.__class__ is not int or limit < 0
            for limit in _table(self, "budgets", table.get("budgets", {})).values()
        ):
            raise self.fail("budgets", f"{where}.budgets: a budget is an integer of 0 or more")
        _severities(self, "rules", table.get("rules", {}))
        for key, members in _table(self, "keywords", table.get("keywords", {})).items():
            _strings(self, key, members)


def _string(reader: _Reader, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise reader.fail(key, f'"{key}" is a string')
    return value


def _strings(reader: _Reader, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise reader.fail(key, f'"{key}" is an array of strings')
    return tuple(value)


def _flag(reader: _Reader, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise reader.fail(key, f'"{key}" is true or false')
    return value


def _table(reader: _Reader, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise reader.fail(key, f'"{key}" is a table')
    return value


def _choice(choices: tuple[str, ...]) -> Callable[[_Reader, str, Any], str]:
    def read(reader: _Reader, key: str, value: Any) -> str:
        if value not in choices:
            near = nearest(value, choices) if isinstance(value, str) else ""
            raise reader.fail(key, f'"{key}" is one of {", ".join(choices)}{near}')
        return str(value)

    return read


def _severities(reader: _Reader, key: str, value: Any) -> dict[str, str]:
    choices = (*FAIL_ON, "off")
    for rule, severity in _table(reader, key, value).items():
        if severity not in choices:
            raise reader.fail(rule, f'"{key}.{rule[:80]}" is one of {", ".join(choices)}')
    return dict(value)


def _ignores(reader: _Reader, key: str, value: Any) -> dict[str, tuple[str, ...]]:
    return {
        glob: _strings(reader, glob, rules) for glob, rules in _table(reader, key, value).items()
    }


def _jobs(reader: _Reader, key: str, value: Any) -> int | str:
    if value == AUTO or (value.__class__ is int and 1 <= value <= MAX_JOBS):
        found: int | str = value
        return found
    raise reader.fail(key, f'"{key}" is a number from 1 to {MAX_JOBS}, or "{AUTO}"')


def _format(reader: _Reader, key: str, value: Any) -> str:
    from schemaguard.render import FORMATS  # noqa: PLC0415  (only where it is set)

    return _choice(tuple(FORMATS))(reader, key, value)


_KEYS: dict[str, Callable[[_Reader, str, Any], Any]] = {
    "profile": _string,
    "include": _strings,
    "exclude": _strings,
    "respect-gitignore": _flag,
    "select": _strings,
    "ignore": _strings,
    "extend-select": _strings,
    "extend-ignore": _strings,
    "severity": _severities,
    "per-file-ignores": _ignores,
    "baseline": _string,
    "output-format": _format,
    "fail-on": _choice(FAIL_ON),
    "jobs": _jobs,
    "profiles": _table,
}


def profile_of(name: str, config: Config) -> Profile:
    """The profile of a name: one of the configuration, or one that ships.

    Raises:
        ConfigError: a profile of the configuration is wrong.
        ProfileError: there is none of that name.
    """
    from schemaguard import profiles  # noqa: PLC0415  (the configuration is read without it)

    chain: list[str] = []
    while name in config.profiles:
        if name in chain:
            raise _wrong(config, name, f"extends itself: {' -> '.join([*chain, name])}")
        chain.append(name)
        name = config.profiles[name]["extends"]
    try:
        profile = profiles.load(name)
    except ProfileError as error:
        near = nearest(name, (*profiles.names(), *config.profiles))
        raise ProfileError(f"{error}{near}") from error
    for own in reversed(chain):
        if own in profiles.names():
            raise _wrong(config, own, "a profile that ships has that name")
        profile = _extended(own, profile, config)
    return profile


def _wrong(config: Config, name: str, what: str) -> ConfigError:
    return ConfigError(f"{printable(config.path or '')}: profiles.{name}: {what}")


def _extended(name: str, base: Profile, config: Config) -> Profile:
    """A profile with the numbers, rules and lists of a table in place of the base's."""
    from schemaguard import rules, select  # noqa: PLC0415  (see `profile_of`)

    table = config.profiles[name]
    budgets = {**base.budgets, **table.get("budgets", {})}
    known = {rule.on[1] for rule in rules.RULES.values() if rule.on[0] in (rules.VALUE, "budget")}
    for budget in table.get("budgets", {}):
        if budget not in known and budget not in base.budgets:
            near = nearest(budget, {*known, *base.budgets})
            raise _wrong(config, name, f'unknown budget "{printable(budget[:80])}"{near}')
    wanted = {rule.on[1] for rule in rules.RULES.values() if rule.on[0] == rules.PRESENCE}
    for key in table.get("keywords", {}):
        if key not in wanted:
            near = nearest(key, wanted)
            raise _wrong(config, name, f'unknown list "{printable(key[:80])}"{near}')
    lists = {key: tuple(members) for key, members in table.get("keywords", {}).items()}
    severities = select.with_severities(base, table.get("rules", {}), f"profiles.{name}.rules")
    return base.replace(
        id=name,
        name=name,
        title=table.get("title", f"{base.title}, with other numbers"),
        source=f"{config.path}, extends {base.id}",
        budgets=budgets,
        lists={**base.lists, **lists},
        severities=severities,
    )


__all__ = ["FAIL_ON", "Config", "ConfigError", "discover", "load", "nearest", "profile_of"]
