"""Configuration: `schemaguard.toml`, or `[tool.schemaguard]` of a `pyproject.toml`.

One file counts: the nearest one, looked for from the common parent of the inputs upwards, to the
first folder that has a `.git`. Nothing in it is ignored: an unknown key or a value of the wrong
kind ends the run. Paths and globs in it start from its folder.
"""

from __future__ import annotations

import os
import re

from schemaguard._frozen import Frozen
from schemaguard.config_keys import AUTO, FAIL_ON, KEYS, MAX_JOBS, kind_of
from schemaguard.errors import ProfileError, SchemaguardError, nearest, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from schemaguard.profiles import Profile

#: In the order in which they are looked for in a folder.
FILES = ("schemaguard.toml", "pyproject.toml")

#: How the name of a file with a profile ends.
PROFILE_FILE = ".toml"

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
        min_basis: leave out what is known less firmly (`profiles.BASES`).
        tool_prefix: what a client puts in front of the names of tools.
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
        "min_basis",
        "output_format",
        "path",
        "per_file_ignores",
        "profile",
        "profiles",
        "respect_gitignore",
        "root",
        "select",
        "severity",
        "tool_prefix",
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
    min_basis: str | None
    tool_prefix: str | None
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
        ConfigError: it or a profile in it is wrong or cannot be read, or it is a pyproject.toml
            without our table.
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
            what = f"tool.schemaguard is a table of settings, not {kind_of(table)}"
            raise ConfigError(f"{printable(path)}: {what}")
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
        self.known(table, KEYS, "")
        root = os.path.dirname(os.path.abspath(self._path))
        given = {key.replace("-", "_"): KEYS[key](self, key, value) for key, value in table.items()}
        if "baseline" in given:
            given["baseline"] = os.path.relpath(os.path.join(root, given["baseline"]))
        if given.get("profile", "").endswith(PROFILE_FILE):
            given["profile"] = os.path.join(root, given["profile"])
        config = Config(self._path, root, **given)
        for name, own in config.profiles.items():
            self._is_profile(name, own)
        for name in config.profiles:
            try:
                profile_of(name, config)
            except ProfileError as error:
                raise self.fail(error.keys[-1] if error.keys else name, str(error)) from error
        return config

    def fail(self, key: str, what: str) -> ConfigError:
        """The error for a key, with the line where the key seems to be."""
        for name in (key, key.rpartition(".")[2]):  # a glob has dots of its own
            pattern = rf"""^[ \t]*(?:\[[^\]\n]*\b)?["']?{re.escape(name)}["']?[ \t]*[=.\]]"""
            found = re.search(pattern, self._text, re.MULTILINE)
            if found is not None:
                break
        line = "" if found is None else f":{self._text.count(chr(10), 0, found.start()) + 1}"
        return ConfigError(f"{printable(self._path)}{line}: {printable(what)}")

    def known(self, table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        """Refuse keys that are not known."""
        for key in table:
            if key not in known:
                near = nearest(key, known)
                raise self.fail(key, f'unknown key "{where}{key[:80]}"{near}')

    def _is_profile(self, name: str, table: object) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 64:
            what = "a profile's name is lower case words with hyphens between them"
            raise self.fail(name, f'"{name[:80]}": {what}')
        if not isinstance(table, dict):
            what = f"profiles.{name} is a table with what it extends and changes"
            raise self.fail(name, f"{what}, not {kind_of(table)}")
        if not isinstance(table.get("extends"), str):
            what = f'profiles.{name} has no "extends", the name of the profile that it starts from'
            raise self.fail(name, what)


def profile_of(name: str, config: Config) -> Profile:
    """The profile of a name: one of the configuration, one that ships, or one in a file.

    Raises:
        ProfileError: there is none of that name, or it is wrong.
    """
    from schemaguard import profiles  # noqa: PLC0415  (the configuration is read without it)

    chain: list[str] = []
    while name in config.profiles:
        if name in chain:
            raise ProfileError(f"profile {name}: extends itself: {' -> '.join([*chain, name])}")
        chain.append(name)
        name = config.profiles[name]["extends"]
    if name.endswith(PROFILE_FILE):
        from schemaguard.profiles.files import load_file  # noqa: PLC0415  (few have one)

        profile = load_file(name if not chain else os.path.join(config.root, name))
    else:
        try:
            profile = profiles.load(name)
        except ProfileError as error:
            near = nearest(name, (*profiles.names(), *config.profiles))
            raise ProfileError(f"{error}{near}", ("extends",) if chain else ()) from error
    for own in reversed(chain):
        if own in profiles.names():
            raise ProfileError(f"profile {own}: a profile that ships has that name")
        profile = _extended(own, profile, config)
    return profile


def _extended(name: str, base: Profile, config: Config) -> Profile:
    """A profile with what a table says in place of what the base says."""
    from schemaguard.profiles import from_table  # noqa: PLC0415  (see `profile_of`)

    table = {"title": f"{base.title}, with other numbers", **config.profiles[name], "name": name}
    profile = from_table(table, name, lambda _: base)
    return profile.replace(id=name, source=f"{config.path}, extends {base.id}")


__all__ = [
    "AUTO",
    "FAIL_ON",
    "MAX_JOBS",
    "PROFILE_FILE",
    "Config",
    "ConfigError",
    "discover",
    "load",
    "profile_of",
]
