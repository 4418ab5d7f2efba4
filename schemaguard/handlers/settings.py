"""Settings of the middleware, from arguments and from the environment.

`vllm serve --middleware` gives a middleware no arguments, so each can be said in the environment:

=================================== =================================== ======================
variable                            value                               when it is not set
=================================== =================================== ======================
`SCHEMAGUARD_PATHS`                 `/v1/chat/completions=chat,…`       the usual paths
`SCHEMAGUARD_SERVER`                dynamo, vllm or sglang              vllm or sglang in their
                                                                        own processes, else
                                                                        dynamo
`SCHEMAGUARD_SERVER_LEVEL`          auto, function or parameter         auto
`SCHEMAGUARD_SCOPE`                 always or auto                      always
`SCHEMAGUARD_SCHEMA`                auto or strict                      auto
`SCHEMAGUARD_TAGS`                  true or false                       true
`SCHEMAGUARD_STRICT_ONLY`           true or false                       true
`SCHEMAGUARD_PROFILES`              names, of strict tools              those of the server
`SCHEMAGUARD_OTHER_PROFILES`        names, of other tools               those of the server
`SCHEMAGUARD_ANSWER_PROFILES`       names, of `response_format` and     those of the server
                                    its like, or none
`SCHEMAGUARD_ON_REJECT`             error, drop-tool or relax           error
`SCHEMAGUARD_SEVERITIES`            `SG651=error,…`                     those of the profiles
`SCHEMAGUARD_ERRORS`                auto, openai, anthropic, dynamo     auto
                                    or problem
`SCHEMAGUARD_JSON_LOG`              true or false                       false
`SCHEMAGUARD_MAX_BODY_BYTES`        a number                            16777216
`SCHEMAGUARD_RECEIVE_TIMEOUT`       seconds                             60
`SCHEMAGUARD_MAX_BUFFERED_BYTES`    a number                            268435456
`SCHEMAGUARD_ENCODINGS`             refuse or pass                      refuse
`SCHEMAGUARD_OTHER_TYPES`           refuse or pass                      pass
`SCHEMAGUARD_METRICS_PATH`          a path                              none
=================================== =================================== ======================

A wrong value ends the start, and so does a name that looks like a misspelt one; a name that looks
like none of these is logged. What an argument says goes before what its variables say; those that
are set for nothing then are logged.
"""

from __future__ import annotations

import logging
import math
import os
import re
import sys

from schemaguard._frozen import Frozen
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import ProfileError, cut, nearest, printable
from schemaguard.handlers.bodies import FORMS
from schemaguard.handlers.policy import ON_REJECT, SERVERS, Policy, check_severities
from schemaguard.handlers.tools import APIS, AUTO
from schemaguard.profiles import load
from schemaguard.servers import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

LOGGER = logging.getLogger("schemaguard.handlers")

PREFIX = "SCHEMAGUARD_"
#: Of the command; and what Kubernetes sets in every container when a service has our name.
_OF_OTHERS = re.compile(r"OUTPUT_FORMAT|SERVICE_HOST|(SERVICE_)?PORT(_\w+)?").fullmatch
_ACTIONS = ("refuse", "pass")
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


#: The variables of a policy, each named like the argument or the kind of profiles.
_OF_POLICY = (
    "ANSWER_PROFILES",
    "ON_REJECT",
    "OTHER_PROFILES",
    "PROFILES",
    "SCHEMA",
    "SCOPE",
    "SERVER",
    "SERVER_LEVEL",
    "SEVERITIES",
    "STRICT_ONLY",
    "TAGS",
)
#: Arguments that stand for several variables; the others are named like theirs.
_VARIABLES = {"policy": _OF_POLICY, "guard": (*_OF_POLICY, "ERRORS", "JSON_LOG")}


class Settings(Frozen):
    """What `PreflightMiddleware` takes as arguments, complete."""

    __slots__ = (
        "encodings",
        "errors",
        "json_log",
        "max_body_bytes",
        "max_buffered_bytes",
        "metrics_path",
        "other_types",
        "paths",
        "policy",
        "receive_timeout",
    )

    paths: Mapping[str, str] | None
    policy: Policy
    errors: str
    json_log: bool
    max_body_bytes: int
    receive_timeout: float
    max_buffered_bytes: int
    encodings: str
    other_types: str
    metrics_path: str | None

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    def given(self, **fields: object) -> Settings:
        """These settings with those that are given instead; None gives nothing.

        Raises:
            ValueError: a value that a setting cannot have.
        """
        said = {name: getattr(self, name) for name in self.__slots__}
        said.update({name: value for name, value in fields.items() if value is not None})
        made = Settings(**said | {"paths": _paths(said["paths"])})
        _check(made)
        return made


def from_environment(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings that the environment says.

    Raises:
        ValueError: a value that a setting cannot have, or a variable that looks like a misspelt
            setting; the variable is named.
    """
    reader = _Reader(os.environ if environ is None else environ)
    profiles = {
        "strict": reader.read("PROFILES", _profiles, None),
        "other": reader.read("OTHER_PROFILES", _profiles, None),
        "answer": reader.read("ANSWER_PROFILES", _profiles_or_none, None),
    }
    server = reader.read("SERVER", _one_of(SERVERS), _loaded_server())
    level = reader.read("SERVER_LEVEL", _one_of(LEVELS), "auto")
    if server == "dynamo" and level != "auto":
        raise ValueError(f"{PREFIX}SERVER_LEVEL: it is for vllm and sglang; dynamo has none")
    policy = Policy(
        strict_only=reader.read("STRICT_ONLY", _boolean, True),
        profiles={kind: names for kind, names in profiles.items() if names is not None},
        server=server,
        server_level=level,
        scope=reader.read("SCOPE", _one_of(("always", "auto")), "always"),
        schema=reader.read("SCHEMA", _one_of(("auto", "strict")), "auto"),
        tags=reader.read("TAGS", _boolean, True),
        on_reject=reader.read("ON_REJECT", _one_of(ON_REJECT), "error"),
        severities=reader.read("SEVERITIES", _severities, {}),
    )
    settings = Settings(
        paths=reader.read("PATHS", _checked_paths, None),
        policy=policy,
        errors=reader.read("ERRORS", _one_of(FORMS), "auto"),
        json_log=reader.read("JSON_LOG", _boolean, False),
        max_body_bytes=reader.read("MAX_BODY_BYTES", _above_zero(int), DEFAULT_LIMITS.max_bytes),
        receive_timeout=reader.read("RECEIVE_TIMEOUT", _above_zero(float), 60.0),
        max_buffered_bytes=reader.read("MAX_BUFFERED_BYTES", _above_zero(int), 256 << 20),
        encodings=reader.read("ENCODINGS", _one_of(_ACTIONS), "refuse"),
        other_types=reader.read("OTHER_TYPES", _one_of(_ACTIONS), "pass"),
        metrics_path=reader.read("METRICS_PATH", _path, None),
    )
    reader.finish()
    return settings


def log_ignored(arguments: Mapping[str, object], environ: Mapping[str, str] | None = None) -> None:
    """Log which variables have no effect because an argument says what they would say.

    Args:
        arguments: as given to the middleware; None is not given.
        environ: the environment; that of the process by default.
    """
    said = os.environ if environ is None else environ
    ignored: dict[str, str] = {}
    for argument, value in arguments.items():
        if value is not None:
            for name in _VARIABLES.get(argument, (argument.upper(),)):
                if said.get(PREFIX + name, "").strip():
                    ignored.setdefault(PREFIX + name, argument)
    if ignored:
        names = ", ".join(f"{name} (`{ignored[name]}=`)" for name in sorted(ignored))
        LOGGER.warning("set and without effect, because an argument in code says it: %s", names)


def _loaded_server() -> str | None:
    """The server that this process is, by the package that it has loaded; None when none tells.

    Dynamo cannot be told so: its frontend is no Python, and whatever stands in front of it is not
    it. That vLLM and SGLang are recognised matters, because a guard that takes them for Dynamo
    leaves out what keeps their engines alive.
    """
    loaded = [name for name in SERVERS if name != "dynamo" and name in sys.modules]
    return loaded[0] if len(loaded) == 1 else None


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._known: list[str] = []

    def read(self, name: str, convert: Callable[[str], Any], otherwise: Any) -> Any:
        """A variable, converted; one that is not set, or empty, says nothing."""
        self._known.append(name)
        said = self._environ.get(PREFIX + name, "").strip()
        if not said:
            return otherwise
        try:
            return convert(said)
        except (ValueError, ProfileError) as error:
            raise ValueError(f"{PREFIX}{name}: {printable(said)[:80]!r}: {error}") from None

    def finish(self) -> None:
        """Object to variables that were meant for us and that nobody read.

        Raises:
            ValueError: one looks like a misspelt setting: without it the guard would run, and not
                guard what it was told to.
        """
        for variable in sorted(self._environ):
            name = variable.removeprefix(PREFIX)
            if name == variable or name in self._known or _OF_OTHERS(name):
                continue
            shown = printable(cut(variable, 80))
            near = nearest(name, self._known)  # without the prefix, which makes all names alike
            if near:
                near = near.replace('"', f'"{PREFIX}', 1)
                raise ValueError(f"{shown}: there is no such setting{near}")
            LOGGER.warning("%s: there is no such setting", shown)


def _one_of(words: tuple[str, ...]) -> Callable[[str], str]:
    def convert(said: str) -> str:
        if said not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return said

    return convert


def _above_zero(kind: type[int | float]) -> Callable[[str], int | float]:
    words = "a whole number above zero" if kind is int else "a number above zero"

    def convert(said: str) -> int | float:
        try:
            value = kind(said)
        except ValueError:
            value = kind(0)
        if not _is_above_zero(value):
            raise ValueError(words)
        return value

    return convert


def _is_above_zero(value: float) -> bool:
    return value > 0 and math.isfinite(value)


def _path(said: str) -> str:
    if not said.startswith("/"):
        raise ValueError("a path begins with /")
    return said


def _profiles(said: str) -> tuple[str, ...]:
    names = _names(said)
    if not names:
        raise ValueError("name at least one profile")
    for name in names:
        load(name)
    return names


def _profiles_or_none(said: str) -> tuple[str, ...]:
    return () if said == "none" else _profiles(said)


def _severities(said: str) -> dict[str, str]:
    pairs = _pairs(said)
    check_severities(pairs)
    return pairs


def _checked_paths(said: str) -> dict[str, str]:
    pairs = _pairs(said)
    _check_paths(pairs)
    return pairs


def _boolean(said: str) -> bool:
    known = _BOOLEANS.get(said.lower())
    if known is None:
        raise ValueError("true or false")
    return known


def _names(said: str) -> tuple[str, ...]:
    return tuple(name for name in map(str.strip, said.split(",")) if name)


def _pairs(said: str) -> dict[str, str]:
    pairs = {}
    for pair in _names(said):
        key, _, value = pair.partition("=")
        pairs[key.strip()] = value.strip() or AUTO
    return pairs


def _paths(said: Any) -> dict[str, str] | None:
    if said is None:
        return None
    if isinstance(said, str):
        raise ValueError("paths are several, or path → API")  # noqa: TRY004  (as other values)
    return dict(said) if hasattr(said, "keys") else dict.fromkeys(said, AUTO)


def _check_paths(paths: Mapping[str, str]) -> None:
    for path, api in paths.items():
        if not path.startswith("/") or api not in (*APIS, AUTO):
            raise ValueError(f"paths are like /v1/chat/completions, for {', '.join(APIS)} or auto")


def _check(settings: Settings) -> None:
    _check_paths(settings.paths or {})
    words = {
        "errors": FORMS,
        "encodings": _ACTIONS,
        "other_types": _ACTIONS,
    }
    for name, allowed in words.items():
        if getattr(settings, name) not in allowed:
            raise ValueError(f"{name} is one of {', '.join(allowed)}")
    for name in ("max_body_bytes", "max_buffered_bytes", "receive_timeout"):
        if not _is_above_zero(getattr(settings, name)):
            raise ValueError(f"{name} is a number above zero")
