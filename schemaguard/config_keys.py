"""The keys of a configuration, and how the value of each is read. docs/configuration.md has them.

A value of the wrong type is an error that says what it should have been, and what it is instead.
"""

from __future__ import annotations

from schemaguard.errors import nearest
from schemaguard.profiles.parts import BASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Reader(Protocol):
        """Who reads a file, and knows where in it a key is."""

        def fail(self, key: str, what: str) -> Exception:
            """The error for a key."""


FAIL_ON = ("error", "warning", "note")

#: Other processes cost memory, and are of use up to the number of processors.
MAX_JOBS = 256
#: Instead of a number of processes: as many as are of use.
AUTO = "auto"


#: What TOML calls the types of its values; what is missing here is a date or a time.
_TYPES: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    list: "an array",
    dict: "a table",
}


def kind_of(value: object) -> str:
    """What a value is, for a message about what it is not."""
    return "an empty string" if value == "" else _TYPES.get(value.__class__, "a date or time")


def _string(reader: Reader, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise reader.fail(key, f'"{key}" is a string, not {kind_of(value)}')
    return value


def _strings(reader: Reader, key: str, value: Any, table: str = "") -> tuple[str, ...]:
    what = f'"{table}{key[:200]}" is an array of strings'
    if not isinstance(value, list):
        raise reader.fail(key, f"{what}, not {kind_of(value)}")
    for item in value:
        if not isinstance(item, str):
            raise reader.fail(key, f"{what}, and {kind_of(item)} is in it")
    return tuple(value)


def _flag(reader: Reader, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise reader.fail(key, f'"{key}" is true or false, not {kind_of(value)}')
    return value


def _table(of: str) -> Callable[[Reader, str, Any], dict[str, Any]]:
    """What reads a table; the message says what of."""

    def read(reader: Reader, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise reader.fail(key, f'"{key}" is a table of {of}, not {kind_of(value)}')
        return value

    return read


def _choice(choices: tuple[str, ...]) -> Callable[[Reader, str, Any], str]:
    def read(reader: Reader, key: str, value: Any) -> str:
        if value not in choices:
            near = nearest(value, choices) if isinstance(value, str) else ""
            raise reader.fail(key, f'"{key}" is one of {", ".join(choices)}{near}')
        return str(value)

    return read


def _severities(reader: Reader, key: str, value: Any) -> dict[str, str]:
    choices = (*FAIL_ON, "off")
    table = _table('rules and severities, such as SG401 = "warning"')(reader, key, value)
    for rule, severity in table.items():
        if severity not in choices:
            raise reader.fail(rule, f'"{key}.{rule[:80]}" is one of {", ".join(choices)}')
    return dict(table)


def _ignores(reader: Reader, key: str, value: Any) -> dict[str, tuple[str, ...]]:
    table = _table('globs and the rules to ignore there, such as "old/**" = ["SG401"]')
    return {
        glob: _strings(reader, glob, rules, f"{key}.")
        for glob, rules in table(reader, key, value).items()
    }


def _jobs(reader: Reader, key: str, value: Any) -> int | str:
    if value == AUTO or (value.__class__ is int and 1 <= value <= MAX_JOBS):
        number: int | str = value
        return number
    raise reader.fail(key, f'"{key}" is a number from 1 to {MAX_JOBS}, or "{AUTO}"')


def _format(reader: Reader, key: str, value: Any) -> str:
    from schemaguard.render import FORMATS  # noqa: PLC0415  (only where it is set)

    return _choice(tuple(FORMATS))(reader, key, value)


KEYS: dict[str, Callable[[Reader, str, Any], Any]] = {
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
    "min-basis": _choice(BASES),
    "tool-prefix": _string,
    "profiles": _table('profiles, such as [profiles.own] with extends = "dynamo"'),
}
