"""What a deployment wants: which schemas are checked with what, and what becomes of bad ones."""

from __future__ import annotations

from types import MappingProxyType

from schemaguard._frozen import Frozen
from schemaguard.document import DEFAULT_LIMITS, Limits
from schemaguard.errors import printable
from schemaguard.handlers.merging import as_one, with_severities
from schemaguard.plan import Plans
from schemaguard.profiles import SEVERITIES, Profile, load
from schemaguard.rules import RULES
from schemaguard.servers import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SERVERS = ("dynamo", "vllm", "sglang")
ON_REJECT = ("error", "drop-tool", "relax")

#: What schemas are for: strict tools, other tools, and the answer itself.
KINDS = ("strict", "other", "answer")
#: What each kind is checked with. Dynamo checks no schema for the answer itself.
PROFILES: dict[str, tuple[tuple[str, ...], ...]] = {
    "dynamo": (("dynamo",), ("xgrammar",), ()),
    "vllm": (("xgrammar",), ("xgrammar",), ("xgrammar",)),
    "sglang": (("xgrammar",), ("xgrammar",), ("xgrammar",)),
}
#: Rules of the request that are Dynamo's alone: elsewhere they are warnings.
DYNAMO_ONLY = ("SG603", "SG604", "SG605", "SG606", "SG607")


class Policy(Frozen):
    """A policy. Frozen; keyword arguments only.

    Args:
        strict_only: of tools, check the schemas of strict ones alone. A tool is strict when it says
            `strict: true`, or when the server treats every tool so (`server_level="parameter"`).
            On vLLM and SGLang the others are checked all the same when `tool_choice` demands a
            call: without structural tags these compile their schemas, whatever `strict` says.
        profiles: what to check with: the name of a profile or several, for all tools alike, or
            `{"strict": …, "other": …, "answer": …}` for strict tools, other tools, and the answer
            itself (`response_format` and its like; `()` leaves it unchecked). By default `dynamo`
            for the strict tools of Dynamo and nothing for its answers, which is what it checks
            itself, and `xgrammar`, what keeps an engine alive, for all else.
        server: "dynamo", "vllm" or "sglang". By default "dynamo", but "vllm" where a
            `server_level` is given, which Dynamo does not have.
        server_level: vLLM's `--tool-strict-level`, SGLang's `SGLANG_TOOL_STRICT_LEVEL`: "auto",
            "function" or "parameter".
        scope: Dynamo's: "always" or "auto".
        schema: Dynamo's: "auto" or "strict".
        tags: whether the server builds structural tags at all.
        on_reject: "error" refuses the request; "drop-tool" takes the tools at fault out of it;
            "relax" sets their `strict` to false. What cannot be mended so is refused.
        severities: code of a rule → "error", "warning" or "note", over what the profiles and this
            package say.
        limits: hard stops for the body.
        max_findings: how many findings a decision keeps.

    Raises:
        ValueError: a word that is not among these, or a code that no rule has.
        ProfileError: there is no such profile.
    """

    __slots__ = (
        "_made",
        "limits",
        "max_findings",
        "on_reject",
        "profiles",
        "schema",
        "scope",
        "server",
        "server_level",
        "severities",
        "strict_only",
        "tags",
    )

    strict_only: bool
    #: Dated names for each of `KINDS`.
    profiles: tuple[tuple[str, ...], ...]
    server: str
    server_level: str
    scope: str
    schema: str
    tags: bool
    on_reject: str
    severities: Mapping[str, str]
    limits: Limits
    max_findings: int
    _made: dict[object, Profile | Plans]

    def __init__(
        self,
        *,
        strict_only: bool = True,
        profiles: str | Iterable[str] | Mapping[str, str | Iterable[str]] | None = None,
        server: str | None = None,
        server_level: str = "auto",
        scope: str = "always",
        schema: str = "auto",
        tags: bool = True,
        on_reject: str = "error",
        severities: Mapping[str, str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        max_findings: int = 100,
    ) -> None:
        if server is None:
            server = "dynamo" if server_level == "auto" else "vllm"
        _one_of("server", server, SERVERS)
        _one_of("server_level", server_level, LEVELS)
        _one_of("scope", scope, ("always", "auto"))
        _one_of("schema", schema, ("auto", "strict"))
        _one_of("on_reject", on_reject, ON_REJECT)
        if server == "dynamo" and server_level != "auto":
            raise ValueError(
                "server_level is a setting of vllm and sglang; dynamo has scope, schema"
            )
        said = {} if server == "dynamo" else dict.fromkeys(DYNAMO_ONLY, "warning")
        said.update(severities or {})
        check_severities(said)
        self._fill(
            strict_only=strict_only,
            profiles=_profiles(profiles, PROFILES[server]),
            server=server,
            server_level=server_level,
            scope=scope,
            schema=schema,
            tags=tags,
            on_reject=on_reject,
            severities=MappingProxyType(said),
            limits=limits,
            max_findings=max_findings,
            _made={},
        )

    def profiles_for(self, strict: bool | None, *, demanded: bool = False) -> tuple[str, ...]:
        """What the schema of a tool is checked with; nothing when it is not checked.

        Args:
            strict: of the tool.
            demanded: `tool_choice` demands a call, and this tool may be it.
        """
        if strict is True or self.server_level == "parameter":
            return self.profiles[0]
        unchecked = self.strict_only and not (demanded and self.server != "dynamo")
        return () if unchecked else self.profiles[1]

    @property
    def profiles_for_answer(self) -> tuple[str, ...]:
        """What a schema for the answer itself is checked with; nothing when it is not checked."""
        return self.profiles[2]

    @property
    def counts_work(self) -> bool:
        """Whether any check counts what an engine would do with a schema, which takes longer."""
        strict, other, answer = self.profiles
        used = [strict, answer]
        if not self.strict_only or self.server != "dynamo":
            used.append(other)
        return any(self.plans(names).work_limits for names in used if names)

    def profile(self, name: str) -> Profile:
        """A profile by its dated name, with the severities of this policy."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = with_severities(name, self.severities)
        return made  # type: ignore[return-value]  # a name stands for a profile

    def plans(self, names: tuple[str, ...]) -> Plans:
        """Profiles compiled as one, to prove that none of them has anything to say."""
        made = self._made.get(names)
        if made is None:
            made = self._made[names] = Plans(as_one(tuple(map(self.profile, names))))
        return made  # type: ignore[return-value]  # a tuple stands for plans

    def replaced(self, **fields: object) -> Policy:
        """This policy with other values for some arguments."""
        return Policy(**(self._arguments() | fields))  # type: ignore[arg-type]

    def _arguments(self) -> dict[str, object]:
        said = {name: getattr(self, name) for name in self.__slots__ if name != "_made"}
        said["severities"] = dict(self.severities)
        said["profiles"] = dict(zip(KINDS, self.profiles, strict=True))
        return said

    def _fields(self) -> tuple[object, ...]:
        said = self._arguments()
        return (
            *(said[n] for n in said if n not in ("severities", "profiles")),
            self.profiles,
            tuple(sorted(self.severities.items())),
        )

    def __repr__(self) -> str:
        return f"Policy({', '.join(f'{k}={v!r}' for k, v in sorted(self._arguments().items()))})"

    def __reduce__(self) -> tuple[Callable[..., Policy], tuple[object, ...]]:
        return _restored, (self._arguments(),)


def check_severities(said: Mapping[str, str]) -> None:
    """Check severities by code.

    Raises:
        ValueError: there is no such rule, or no such severity.
    """
    for code, severity in said.items():
        if code not in RULES:
            raise ValueError(f"there is no rule {printable(str(code))[:80]!r}")
        _one_of("a severity", severity, SEVERITIES)


def _restored(fields: dict[str, object]) -> Policy:
    return Policy(**fields)  # type: ignore[arg-type]  # they come from a policy


def _profiles(
    said: str | Iterable[str] | Mapping[str, str | Iterable[str]] | None,
    usual: tuple[tuple[str, ...], ...],
) -> tuple[tuple[str, ...], ...]:
    """Dated names of the profiles for each kind of schema."""
    wanted: dict[str, str | Iterable[str]] = dict(zip(KINDS, usual, strict=True))
    if isinstance(said, dict):
        unknown = sorted(set(said) - set(KINDS))
        if unknown:
            raise ValueError(f"profiles are for {', '.join(KINDS)}, not for {unknown[0]!r}")
        wanted |= said
    elif said is not None:
        names = said if isinstance(said, str) else tuple(said)
        wanted |= {"strict": names, "other": names}
    dated = tuple(_dated(names) for names in wanted.values())
    if not (dated[0] and dated[1]):
        raise ValueError("name at least one profile")
    return dated


def _dated(names: str | Iterable[str]) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else names
    return tuple(dict.fromkeys(load(name).id for name in names))


def _one_of(what: str, word: object, words: tuple[str, ...]) -> None:
    if word not in words:
        raise ValueError(f"{what} is one of {', '.join(words)}")
