"""`unpack`: recognise what a value is, read it, and say when it can be read in two ways."""

from __future__ import annotations

from schemaguard.envelopes import anthropic, bedrock, gemini, mcp, openai, openai_like, openapi
from schemaguard.envelopes.bare import is_strong, is_weak
from schemaguard.envelopes.reading import Family, Reader, described
from schemaguard.envelopes.result import KINDS, MIXED, SCHEMA, Unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from schemaguard.envelopes.result import Place

    #: A kind, and what reads the value at hand as one.
    Reading: TypeAlias = tuple[str, Callable[[Reader], None]]

#: In the order in which they are asked: OpenAI's forms are the least particular, so they come last.
FAMILIES = (
    openapi.FAMILY,
    mcp.FAMILY,
    bedrock.FAMILY,
    gemini.FAMILY,
    anthropic.FAMILY,
    openai_like.COHERE_FAMILY,
    openai_like.OLLAMA_FAMILY,
    openai.RESPONSES,
    openai.CHAT,
)
_BY_KIND = {family.kind: family for family in FAMILIES}

#: Lists and objects of tools may stand in lists and objects: so many around each other.
MAX_CONTAINERS = 4

#: Where lists of tools stand in an object that is no known API's request.
_LISTS = ("tools", "functions")
#: Where a schema may hold what looks like tools, and perhaps is no schema then.
_DOUBTFUL = ("properties", "items", *_LISTS)

#: Every form of a tool has a member of one of these names, and every request, answer and document
#: one of those below. Most objects have none: schemas, and what a hostile value may have by the
#: million. These are not looked at a family at a time.
TELLING_OF_TOOLS = frozenset(
    {
        "function",
        "functionDeclarations",
        "function_declarations",
        "inputSchema",
        "input_schema",
        "name",
        "outputSchema",
        "parameter_definitions",
        "parameters",
        "parametersJsonSchema",
        "parameters_json_schema",
        "toolSpec",
        "tools",
    }
)
TELLING_OF_REQUESTS = frozenset(
    {
        "anthropic_version",
        "contents",
        "generationConfig",
        "generation_config",
        "input",
        "json_schema",
        "jsonrpc",
        "message",
        "messages",
        "openapi",
        "outputConfig",
        "output_config",
        "prompt",
        "response_format",
        "result",
        "schema",
        "swagger",
        "text",
        "toolConfig",
    }
)

_UNKNOWN = "no schema, tool, request, tools/list answer or OpenAPI document is recognised"


def unpack(value: Any, as_: str | None = None) -> Unpacked:
    """Find the schemas in a parsed JSON value.

    Recognised are a bare JSON Schema; a tool definition, request or response format of the APIs in
    `KINDS`; an answer to MCP's `tools/list`, with or without JSON-RPC around it; an OpenAPI 3
    document; and lists and objects of any of these, `MAX_CONTAINERS` deep. An object with `tools`
    (or `functions`) is a list of tools; what else it has is metadata.

    Time and memory grow linearly with the members of the outermost levels; how deep the value goes
    makes no difference.

    Args:
        value: a parsed value, as `json.loads` makes them. It is not changed.
        as_: read it as this one of `KINDS`, and note what does not fit as a problem; "schema" takes
            a list for a list of schemas. Without it the value is read as what it looks like.

    Returns:
        What was found. No value is an error: what cannot be read is in `problems`.

    Raises:
        ValueError: `as_` is none of `KINDS`.
    """
    if as_ is not None and as_ not in KINDS:
        raise ValueError(f"as_ is none of {', '.join(KINDS)}")
    search = _Search(None if as_ is None else _BY_KIND.get(as_))
    if as_ == SCHEMA and value.__class__ is list:
        for index, schema in enumerate(value):
            search.take([_as_schema((None, index), schema, None)])
    elif as_ == SCHEMA or (as_ is None and value.__class__ is bool):
        search.take([_as_schema(None, value, None)])
    else:
        search.run(value)
    return search.unpacked(as_)


class _Search:
    """A search through lists and objects for what can be read."""

    __slots__ = ("_built_in_kinds", "_family", "_kinds", "_missed", "_others", "_reader")

    def __init__(self, family: Family | None) -> None:
        self._family = family
        self._reader = Reader(FAMILIES, forced=family is not None)
        self._missed = Reader(FAMILIES)  # matters only when something else is recognised
        # Ordered sets.
        self._kinds: dict[str, None] = {}
        self._built_in_kinds: dict[str, None] = {}
        self._others: dict[str, None] = {}

    def run(self, value: Any) -> None:
        """Look at the value, then at what its lists and objects hold, in the value's order."""
        stack: list[_Spot] = [_Spot(value, None, 0, None, told=False)]
        while stack:
            spot = stack.pop()
            if spot.value.__class__ is dict and self._read(spot):
                continue
            inner = _members(spot)
            if inner:
                inner.reverse()
                stack.extend(inner)
            else:
                self._miss(spot)

    def _read(self, spot: _Spot) -> bool:
        """Read an object as what it is; False when it is not known, or a container of others."""
        value, place = spot.value, spot.place
        readings = (
            _recognised(spot) if self._family is None else _forced(self._family, spot, self._reader)
        )
        if readings:
            self.take(readings)
            return True
        # What the provider defines is told by everyday words, so it matters where they stand.
        if spot.told or (spot.depth == 0 and "type" in value):
            for family in FAMILIES if self._family is None else (self._family,):
                if family.is_built_in(value):
                    self._reader.built_in(place, value)
                    self._built_in_kinds[family.kind] = None
                    return True
        if spot.told and ("type" in value or "name" in value) and not _lists(value):
            self._reader.unread(place, value)
            return True
        return False

    def take(self, readings: list[Reading]) -> None:
        """Read a value in the first way that it can be read, and see whether the others differ."""
        kind, read = readings[0]
        tools = self._reader.tools
        before = len(tools)
        read(self._reader)
        self._kinds[kind] = None
        if len(readings) == 1:
            return
        places = {tool.schema_place for tool in tools[before:]}
        for other, read_again in readings[1:]:
            scratch = Reader(FAMILIES)
            read_again(scratch)
            if scratch.tools and {tool.schema_place for tool in scratch.tools} != places:
                self._others[other] = None

    def _miss(self, spot: _Spot) -> None:
        what = described(spot.value)
        if not spot.told:
            self._missed.problem(spot.place, f"{what} that is not recognised")
        elif spot.value.__class__ in (list, dict) and not spot.value:
            self._reader.problem(spot.place, "no tools")
        else:
            self._reader.problem(spot.place, f"{what} is no tool definition")

    def unpacked(self, as_: str | None) -> Unpacked:
        """The result."""
        reader = self._reader
        kinds = list(self._kinds or self._built_in_kinds)
        kind = as_
        if kind is None and kinds:
            kind = kinds[0] if len(kinds) == 1 else MIXED
        if kind is None:
            reader.problem(None, _UNKNOWN)
        elif kinds:
            reader.take_problems(self._missed)
        elif not reader.found:
            reader.problem(None, f"nothing of kind {kind} is recognised")
        problems, skipped = reader.notes()
        readings = () if kind is None else (kind, *(k for k in self._others if k != kind))
        return Unpacked(kind, tuple(reader.tools), readings, problems, skipped)


class _Spot:
    """A value that the search has yet to look at.

    Attributes:
        value: the value.
        place: where it is.
        depth: how many lists and objects the search went through to it.
        name: the key that it has in an object, if it is in one.
        told: it stands in a list of tools, so that it has to be one.
    """

    __slots__ = ("depth", "name", "place", "told", "value")

    def __init__(
        self, value: Any, place: Place, depth: int, name: str | None, *, told: bool
    ) -> None:
        self.value = value
        self.place = place
        self.depth = depth
        self.name = name
        self.told = told


def _members(spot: _Spot) -> list[_Spot]:
    """What a container holds; scalars of an object are its metadata, and left out."""
    value, place, depth = spot.value, spot.place, spot.depth + 1
    if depth > MAX_CONTAINERS:
        return []
    if value.__class__ is list:
        told = spot.told or any(
            v.__class__ is dict and (_claimants(v) or _is_built_in(v)) for v in value
        )
        return [_Spot(v, (place, i), depth, None, told=told) for i, v in enumerate(value)]
    if value.__class__ is not dict:
        return []
    lists = _lists(value)
    if lists:
        return [_Spot(value[key], (place, key), depth, None, told=True) for key in lists]
    return [
        _Spot(member, (place, key), depth, key, told=spot.told)
        for key, member in value.items()
        if member.__class__ is dict or member.__class__ is list
    ]


def _lists(value: dict[str, Any]) -> list[str]:
    return [key for key in _LISTS if value.get(key).__class__ in (list, dict)]


# ------------------------------------------------------------------------------------------------
# Recognising one object
# ------------------------------------------------------------------------------------------------


def _recognised(spot: _Spot) -> list[Reading]:
    """All that an object can be read as, the likeliest first."""
    value, place, name = spot.value, spot.place, spot.name
    requests = []
    if not TELLING_OF_REQUESTS.isdisjoint(value):
        requests = [family for family in FAMILIES if family.is_request(value)]
    if openapi.FAMILY in requests:  # has schemas beside the paths, and may look like one
        return [_as_request(openapi.FAMILY, place, value)]
    if len(requests) > 1 and openai.CHAT in requests:  # the form that the others are made of
        requests.remove(openai.CHAT)
    found: list[Reading] = []
    strong = is_strong(value)
    if strong:
        found.append(_as_schema(place, value, name))
    found += [_as_request(family, place, value) for family in requests]
    if not requests:
        found += [_as_tool(family, place, value, name) for family in _claimants(value)]
    if not found and spot.depth == 0 and is_weak(value) and not _is_built_in(value):
        found.append(_as_schema(place, value, name))
        strong = True
    if strong:
        found += _doubts(place, value)
    return found


def _claimants(value: dict[str, Any]) -> list[Family]:
    if TELLING_OF_TOOLS.isdisjoint(value):
        return []
    return [family for family in FAMILIES if family.claims(value)]


def _is_built_in(value: dict[str, Any]) -> bool:
    return any(family.is_built_in(value) for family in FAMILIES)


def _doubts(place: Place, value: dict[str, Any]) -> list[Reading]:
    """The tools that stand in a schema where schemas should."""
    found: list[Reading] = []
    for key in _DOUBTFUL:
        inner = value.get(key)
        members: Iterable[Any] = ()
        if inner.__class__ is list:
            members = inner
        elif inner.__class__ is dict:
            members = inner.values()
        kinds = {}
        for member in members:
            if member.__class__ is dict and not TELLING_OF_TOOLS.isdisjoint(member):
                for family in () if is_strong(member) else _claimants(member):
                    kinds[family.kind] = family
        found += [_as_tools(family, (place, key), inner) for family in kinds.values()]
    return found


def _forced(family: Family, spot: _Spot, reader: Reader) -> list[Reading]:
    """What an object is when it has to be of that family."""
    value, place = spot.value, spot.place
    if family.is_tool(value):
        return [_as_tool(family, place, value, spot.name)]
    probe = Reader(FAMILIES, forced=reader.forced)
    family.read_request(probe, place, value)
    if probe.found or family.is_request(value):
        return [_as_request(family, place, value)]
    return []


def _as_schema(place: Place, value: Any, name: str | None) -> Reading:
    def read(reader: Reader) -> None:
        reader.add(SCHEMA, SCHEMA, place, place, value, name=name)

    return SCHEMA, read


def _as_request(family: Family, place: Place, value: dict[str, Any]) -> Reading:
    def read(reader: Reader) -> None:
        family.read_request(reader, place, value)

    return family.kind, read


def _as_tool(family: Family, place: Place, value: dict[str, Any], name: str | None) -> Reading:
    def read(reader: Reader) -> None:
        family.read_tool(reader, place, value, name)

    return family.kind, read


def _as_tools(family: Family, place: Place, tools: Any) -> Reading:
    def read(reader: Reader) -> None:
        reader.tools_of(family, place, tools)

    return family.kind, read
