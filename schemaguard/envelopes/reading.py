"""`Reader`, which collects what a reading finds, and `Family`, how the forms of one API are read.

A family is a few questions about one JSON object each. None of them looks deeper than the form of
its API goes, and none calls itself: a namespace inside a namespace is a problem, not a recursion.
"""

from __future__ import annotations

from schemaguard.envelopes.bare import is_strong
from schemaguard.envelopes.result import PARAMETERS, Note, ToolSchema, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from schemaguard.envelopes.bundling import Bundler
    from schemaguard.envelopes.result import Place

    Test: TypeAlias = Callable[[dict[str, Any]], bool]
    ReadTool: TypeAlias = Callable[["Reader", Place, dict[str, Any], str | None], None]
    ReadRequest: TypeAlias = Callable[["Reader", Place, dict[str, Any]], None]

#: So many problems, and so many skipped entries, are kept; one more note says how many are not.
MAX_NOTES = 1_000

#: Where the APIs keep the schema of a tool. A tool that lacks its API's own but has another's is
#: misspelt, and does not take no parameters.
SCHEMA_KEYS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "parameter_definitions",
    "schema",
)


def never(_: dict[str, Any]) -> bool:
    """The answer of a family that has no such form."""
    return False


class Family:
    """How the forms of one API are recognised and read.

    Attributes:
        kind: one of `KINDS`.
        is_tool: an entry of the API's tool list that has, or should have, a schema.
        read_tool: read such an entry; gets the name that an object of tools gives it, or None.
        claims: an object of unknown origin is such an entry, by keys that no other API has.
        is_built_in: a tool that the provider defines, by a name or form that only this API has.
        is_request: a request (or answer) of the API, by keys that no other API has.
        read_request: read one.
    """

    __slots__ = (
        "claims",
        "is_built_in",
        "is_request",
        "is_tool",
        "kind",
        "read_request",
        "read_tool",
    )

    def __init__(
        self,
        kind: str,
        *,
        is_tool: Test,
        read_tool: ReadTool,
        is_request: Test,
        read_request: ReadRequest,
        claims: Test | None = None,
        is_built_in: Test = never,
    ) -> None:
        self.kind = kind
        self.is_tool = is_tool
        self.read_tool = read_tool
        self.is_request = is_request
        self.read_request = read_request
        self.claims = claims or is_tool
        self.is_built_in = is_built_in


class Reader:
    """What one reading of a value has found.

    Args:
        families: all families, to name and read tools that stand in another API's list.
        forced: the caller chose the reading, so what does not fit it is a problem and not read.
    """

    __slots__ = (
        "_families",
        "_more_problems",
        "_more_skipped",
        "forced",
        "problems",
        "skipped",
        "tools",
    )

    def __init__(self, families: tuple[Family, ...], *, forced: bool = False) -> None:
        self._families = families
        self._more_problems = 0
        self._more_skipped = 0
        self.forced = forced
        self.tools: list[ToolSchema] = []
        self.problems: list[Note] = []
        self.skipped: list[Note] = []

    @property
    def found(self) -> int:
        """How many things were found so far, of any sort."""
        return (
            len(self.tools)
            + len(self.problems)
            + len(self.skipped)
            + self._more_problems
            + self._more_skipped
        )

    def problem(self, place: Place, text: str) -> None:
        """Note what is not as it should be."""
        if len(self.problems) < MAX_NOTES:
            self.problems.append(Note(place, text))
        else:
            self._more_problems += 1

    def skip(self, place: Place, text: str) -> None:
        """Note what has no schema by design."""
        if len(self.skipped) < MAX_NOTES:
            self.skipped.append(Note(place, text))
        else:
            self._more_skipped += 1

    def take_problems(self, other: Reader) -> None:
        """Add the problems of another reader to the own ones."""
        for note in other.problems:
            if len(self.problems) < MAX_NOTES:
                self.problems.append(note)
            else:
                self._more_problems += 1
        self._more_problems += other._more_problems

    def notes(self) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
        """The problems and the skipped entries, each with a note on those that were not kept."""
        problems, skipped = self.problems, self.skipped
        if self._more_problems:
            problems = [*problems, Note(None, f"{self._more_problems} more problems")]
        if self._more_skipped:
            skipped = [*skipped, Note(None, f"{self._more_skipped} more entries without a schema")]
        return tuple(problems), tuple(skipped)

    def add(
        self,
        api: str,
        role: str,
        place: Place,
        schema_place: Place,
        schema: Any,
        *,
        name: str | None = None,
        strict: bool | None = None,
        bundler: Bundler | None = None,
        protobuf: bool = False,
    ) -> None:
        """Take a value as a schema, or note that it is none."""
        if schema.__class__ is dict or schema.__class__ is bool:
            places = (place, schema_place)
            made = ToolSchema(
                api, role, *places, schema, name, strict, bundler=bundler, protobuf=protobuf
            )
            self.tools.append(made)
        else:
            self.problem(schema_place, f"the schema is {described(schema)}")

    def add_text(
        self,
        api: str,
        role: str,
        place: Place,
        schema_place: Place,
        schema: str,
        *,
        name: str | None = None,
    ) -> None:
        """Take a string as the JSON text of a schema. It is not read here."""
        self.tools.append(
            ToolSchema(api, role, place, schema_place, schema, name=name, encoded=True)
        )

    def tools_of(self, family: Family, place: Place, tools: Any) -> None:
        """Read a list of tools (or an object: name → tool) of an API; None is no list."""
        if tools.__class__ is list:
            for index, entry in enumerate(tools):
                self.tool(family, (place, index), entry)
        elif tools.__class__ is dict:
            for key, entry in tools.items():
                self.tool(family, (place, key), entry, key)
        elif tools is not None:
            self.problem(place, f"the tools are {described(tools)}")

    def tool(self, family: Family, place: Place, entry: Any, name: str | None = None) -> None:
        """Read an entry of an API's tool list."""
        if entry.__class__ is not dict:
            self.problem(place, f"{described(entry)} is no tool definition")
            return
        if family.is_tool(entry):
            family.read_tool(self, place, entry, name)
            return
        if family.is_built_in(entry):
            self.built_in(place, entry)
            return
        for other in self._families:
            if other.claims(entry):
                self.problem(place, f"a tool of {other.kind} in a list of {family.kind}")
                if not self.forced:
                    other.read_tool(self, place, entry, name)
                return
        self.unread(place, entry)

    def built_in(self, place: Place, entry: dict[str, Any]) -> None:
        """Note a tool that the provider defines."""
        kind = text(entry, "type") or next(iter(entry))
        self.skip(place, f"{quoted(kind)}, which has no schema")

    def unread(self, place: Place, entry: dict[str, Any]) -> None:
        """Say of an entry of a tool list that no API's form fits why it is not read."""
        kind = text(entry, "type")
        parameters = entry.get("parameters")
        if kind == "function" or (parameters.__class__ is dict and is_strong(parameters)):
            self.problem(place, "a function without the form of one: it is not read")
        elif kind is not None:
            self.skip(place, f"{quoted(kind)}, which has no schema")
        elif (name := text(entry, "name")) is not None:
            self.problem(place, f"tool {quoted(name)} has no schema in a known place")
        else:
            self.problem(place, "not a tool definition of a known form")

    # Parts that the forms share.

    def name_of(self, place: Place, entry: dict[str, Any], given: str | None) -> str | None:
        """The tool's name, or the one that an object of tools gives it; its lack is a problem."""
        name = entry.get("name")
        if name.__class__ is str:
            return name
        if name is not None:
            self.problem((place, "name"), f"the name is {described(name)}")
        elif given.__class__ is not str:
            self.problem(place, "the tool has no name")
        return given if given.__class__ is str else None

    def strict_of(self, place: Place, entry: dict[str, Any]) -> bool | None:
        """What `strict` says; anything but a boolean or null is a problem."""
        strict = entry.get("strict")
        if strict is None or strict.__class__ is bool:
            return strict
        self.problem((place, "strict"), f"`strict` is {described(strict)}")
        return None

    def arguments(
        self,
        api: str,
        place: Place,
        holder: Place,
        entry: dict[str, Any],
        key: str,
        *,
        name: str | None,
        strict: bool | None = None,
        optional: bool = False,
    ) -> None:
        """Take `entry[key]` as the schema of a tool's arguments.

        Args:
            api: whose form it is.
            place: of the tool.
            holder: of the object that has the schema: the tool, or a part of it.
            entry: that object.
            key: of the schema.
            name: of the tool.
            strict: what the tool says about strict mode.
            optional: the API lets a tool that takes no arguments leave the schema out.
        """
        if entry.get(key) is not None:
            self.add(api, PARAMETERS, place, (holder, key), entry[key], name=name, strict=strict)
            for other in SCHEMA_KEYS:
                rival = entry.get(other)
                if other != key and rival.__class__ is dict and is_strong(rival):
                    self.skip((holder, other), f"`{other}`, which {api} does not read")
            return
        for other in SCHEMA_KEYS:
            if other != key and entry.get(other) is not None:
                self.problem(holder, f"no `{key}`, but `{other}`, which {api} does not read")
                return
        if optional:
            self.skip(place, f"a function without `{key}`: it takes no arguments")
        else:
            self.problem(holder, f"no `{key}`")


def text(entry: dict[str, Any], key: str) -> str | None:
    """A member that is a string, else None."""
    value = entry.get(key)
    return value if value.__class__ is str else None


def part(entry: Any, *keys: str) -> dict[str, Any] | None:
    """The object at the end of a path of keys, or None as soon as something else stands there."""
    for key in keys:
        if entry.__class__ is not dict:
            return None
        entry = entry.get(key)
    return entry if entry.__class__ is dict else None


def listed(entry: dict[str, Any], key: str) -> list[Any]:
    """A member that is a list, else an empty one."""
    value = entry.get(key)
    return value if value.__class__ is list else []


def described(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(value.__class__, "no JSON value")
