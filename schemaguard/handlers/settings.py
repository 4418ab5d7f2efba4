"""Settings of the middleware, from arguments and from the environment.

`vllm serve --middleware` gives a middleware no arguments, so each can be said in the environment:

=================================== =================================== ======================
variable                            value                               when it is not set
=================================== =================================== ======================
`SCHEMAGUARD_PATHS`                 `/v1/chat/completions=chat,…`       the three usual paths
`SCHEMAGUARD_SERVER`                dynamo, vllm or sglang              dynamo
`SCHEMAGUARD_SERVER_LEVEL`          auto, function or parameter         auto
`SCHEMAGUARD_SCOPE`                 always or auto                      always
`SCHEMAGUARD_SCHEMA`                auto or strict                      auto
`SCHEMAGUARD_TAGS`                  true or false                       true
`SCHEMAGUARD_STRICT_ONLY`           true or false                       true
`SCHEMAGUARD_PROFILES`              names, of strict tools              those of the server
`SCHEMAGUARD_OTHER_PROFILES`        names, of other tools               those of the server
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
"""

from __future__ import annotations

import math
import os

from schemaguard._frozen import Frozen
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import printable
from schemaguard.handlers.bodies import FORMS
from schemaguard.handlers.policy import Policy
from schemaguard.handlers.tools import APIS, AUTO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

PREFIX = "SCHEMAGUARD_"
_ACTIONS = ("refuse", "pass")
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


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
        ValueError: a value that a setting cannot have.
        ProfileError: there is no such profile.
    """
    reader = _Reader(os.environ if environ is None else environ)
    profiles = {
        "strict": reader.read("PROFILES", _names, None),
        "other": reader.read("OTHER_PROFILES", _names, None),
    }
    policy = Policy(
        strict_only=reader.read("STRICT_ONLY", _boolean, True),
        profiles={kind: names for kind, names in profiles.items() if names is not None},
        server=reader.read("SERVER", str, None),
        server_level=reader.read("SERVER_LEVEL", str, "auto"),
        scope=reader.read("SCOPE", str, "always"),
        schema=reader.read("SCHEMA", str, "auto"),
        tags=reader.read("TAGS", _boolean, True),
        on_reject=reader.read("ON_REJECT", str, "error"),
        severities=reader.read("SEVERITIES", _pairs, {}),
    )
    return Settings(
        paths=reader.read("PATHS", _pairs, None),
        policy=policy,
        errors=reader.read("ERRORS", str, "auto"),
        json_log=reader.read("JSON_LOG", _boolean, False),
        max_body_bytes=reader.read("MAX_BODY_BYTES", int, DEFAULT_LIMITS.max_bytes),
        receive_timeout=reader.read("RECEIVE_TIMEOUT", float, 60.0),
        max_buffered_bytes=reader.read("MAX_BUFFERED_BYTES", int, 256 << 20),
        encodings=reader.read("ENCODINGS", str, "refuse"),
        other_types=reader.read("OTHER_TYPES", str, "pass"),
        metrics_path=reader.read("METRICS_PATH", str, None),
    )


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def read(self, name: str, convert: Callable[[str], Any], otherwise: Any) -> Any:
        """A variable, converted; one that is not set, or empty, says nothing."""
        said = self._environ.get(PREFIX + name, "").strip()
        if not said:
            return otherwise
        try:
            return convert(said)
        except ValueError as error:
            raise ValueError(f"{PREFIX}{name}: {printable(said)[:80]!r}: {error}") from None


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


def _check(settings: Settings) -> None:
    for path, api in (settings.paths or {}).items():
        if not path.startswith("/") or api not in (*APIS, AUTO):
            raise ValueError(f"paths are like /v1/chat/completions, for {', '.join(APIS)} or auto")
    words = {
        "errors": FORMS,
        "encodings": _ACTIONS,
        "other_types": _ACTIONS,
    }
    for name, allowed in words.items():
        if getattr(settings, name) not in allowed:
            raise ValueError(f"{name} is one of {', '.join(allowed)}")
    for name in ("max_body_bytes", "max_buffered_bytes", "receive_timeout"):
        value = getattr(settings, name)
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} is a number above zero")
