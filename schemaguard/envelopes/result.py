"""What `unpack` says: `Unpacked`, `ToolSchema`, `Note`; and places, which become JSON Pointers.

A place is a link: `(place of the container, key or index)`, and None is the whole value. Pointers
are built when they are asked for. Strings made in advance would let a megabyte of key, over a list
of ten thousand tools, cost ten gigabytes.
"""

from __future__ import annotations

from schemaguard._frozen import Frozen
from schemaguard.envelopes.protobuf import spelled, translated
from schemaguard.errors import cut, printable
from schemaguard.report import escape, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    from schemaguard.envelopes.bundling import Bundler

    #: Links nest at most a dozen deep: `unpack` looks no deeper into a value.
    Place: TypeAlias = tuple["Place", str | int] | None

SCHEMA = "schema"
OPENAI_CHAT = "openai-chat"
OPENAI_RESPONSES = "openai-responses"
ANTHROPIC = "anthropic"
GEMINI = "gemini"
BEDROCK = "bedrock"
COHERE = "cohere"
OLLAMA = "ollama"
MCP = "mcp"
OPENAPI = "openapi"

#: What a value can be read as; also what `as_` takes, and the `api` of a tool.
KINDS = (
    SCHEMA,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC,
    GEMINI,
    BEDROCK,
    COHERE,
    OLLAMA,
    MCP,
    OPENAPI,
)

#: The kind of a list or an object that holds tools or schemas of several kinds.
MIXED = "mixed"

PARAMETERS = "parameters"
OUTPUT = "output"
RESPONSE_FORMAT = "response-format"
REQUEST_BODY = "request-body"
PARAMETER = "parameter"

#: What a schema is for: the arguments of a tool, what a tool returns, what the model answers with;
#: the request body or one parameter of an OpenAPI operation; `schema` where nothing says more.
ROLES = (SCHEMA, PARAMETERS, OUTPUT, RESPONSE_FORMAT, REQUEST_BODY, PARAMETER)

_SHOWN = 80  # characters of a name or pointer in a repr: either may be a megabyte


def pointer_to(place: Place) -> str:
    """The JSON Pointer (RFC 6901) of a place; "" is the whole value."""
    steps: list[str] = []
    while place is not None:
        place, token = place
        steps.append(escape(token))
    steps.append("")
    steps.reverse()
    return "/".join(steps)


class ToolSchema(Frozen):
    """One schema, and where it was found.

    Two are equal when they name the same places of the same value. The schema itself is compared by
    identity, since `==` would recurse into it.

    Attributes:
        name: of the tool or response format, as the value has it; its key in an object of tools;
            the `operationId`, or "GET /path", of an OpenAPI operation. None when there is none.
        schema: the schema: the very object (or boolean) inside the value, not a copy.
        strict: what the value says about strict mode; None when it says nothing.
        api: one of `KINDS`: whose form the tool has.
        role: one of `ROLES`.
        encoded: the schema is a string that holds JSON text (`outputConfig` of Bedrock). `check`
            takes it as it is; pointers of its findings then start in that text and do not go on
            from `schema_pointer`.
        protobuf: the schema may be in the spelling of Protocol Buffers (`envelopes.protobuf`).
    """

    __slots__ = (
        "_bundler",
        "_place",
        "_schema_place",
        "api",
        "encoded",
        "name",
        "protobuf",
        "role",
        "schema",
        "strict",
    )

    api: str
    role: str
    name: str | None
    schema: Any
    strict: bool | None
    encoded: bool
    protobuf: bool

    def __init__(
        self,
        api: str,
        role: str,
        place: Place,
        schema_place: Place,
        schema: Any,
        name: str | None = None,
        strict: bool | None = None,
        encoded: bool = False,
        bundler: Bundler | None = None,
        protobuf: bool = False,
    ) -> None:
        self._fill(
            api=api,
            role=role,
            name=name,
            schema=schema,
            strict=strict,
            encoded=encoded,
            protobuf=protobuf,
            _bundler=bundler,
            _place=place,
            _schema_place=schema_place,
        )

    @property
    def place(self) -> Place:
        """The link to the tool object, which `pointer` spells out."""
        return self._place  # type: ignore[attr-defined, no-any-return]

    @property
    def schema_place(self) -> Place:
        """The link to the schema, which `schema_pointer` spells out."""
        return self._schema_place  # type: ignore[attr-defined, no-any-return]

    @property
    def pointer(self) -> str:
        """JSON Pointer to the tool object, response format or operation. Built at each call."""
        return pointer_to(self.place)

    @property
    def schema_pointer(self) -> str:
        """JSON Pointer to the schema. Built at each call."""
        return pointer_to(self.schema_place)

    def standalone(self) -> tuple[Any, Mapping[str, Place]] | None:
        """The schema by itself, in the words of JSON Schema.

        With all that it refers to, where that is elsewhere in the value (OpenAPI); translated,
        where it is in the spelling of Protocol Buffers (Gemini).

        Returns:
            The schema, which is `schema` itself where neither is the case; and each
            definition in its `$defs` that was brought in → the place in the value. None when the
            schemas of the value would together be too large (`bundling.MAX_VALUES`).
        """
        if self.protobuf:
            return translated(self.schema), {}
        bundler: Bundler | None = self._bundler  # type: ignore[attr-defined]
        return (
            (self.schema, {})
            if bundler is None
            else bundler.bundled(self.schema_place, self.schema)
        )

    def spelled(self, pointer: str) -> str:
        """A pointer into what `standalone` returns, as one into `schema`."""
        if not self.protobuf or not pointer:
            return pointer
        steps = spelled(self.schema, tokens_of(pointer))
        return "".join(f"/{escape(step)}" for step in steps)

    def _but_the_schema(self) -> tuple[object, ...]:
        return (
            self.api,
            self.role,
            self.name,
            self.strict,
            self.encoded,
            self.place,
            self.schema_place,
        )

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not ToolSchema:
            return NotImplemented
        same = self._but_the_schema() == other._but_the_schema()
        return same and self.schema is other.schema

    def __hash__(self) -> int:
        return hash(self._but_the_schema())

    def __repr__(self) -> str:
        name = self.name if self.name is None else cut(self.name, _SHOWN)
        return (
            f"<ToolSchema {name!r}: {self.role} of {self.api}"
            f" at {cut(self.schema_pointer, _SHOWN)!r}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        bundler: Bundler | None = self._bundler  # type: ignore[attr-defined]
        rest = (self.schema, self.name, self.strict, self.encoded, bundler, self.protobuf)
        return ToolSchema, (self.api, self.role, self.place, self.schema_place, *rest)


class Note(Frozen):
    """Something about one place: `pointer, text = note`.

    Attributes:
        text: one sentence without a full stop; names in it are cut and printable.
    """

    __slots__ = ("_place", "text")

    text: str

    def __init__(self, place: Place, text: str) -> None:
        self._fill(_place=place, text=text)

    @property
    def pointer(self) -> str:
        """JSON Pointer to what the text is about. Built at each call."""
        return pointer_to(self._place)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[str]:
        return iter((self.pointer, self.text))

    def __repr__(self) -> str:
        return f"<Note at {cut(self.pointer, _SHOWN)!r}: {self.text}>"


class Unpacked(Frozen):
    """Where the schemas of a value are.

    Attributes:
        kind: one of `KINDS`, or `MIXED`, or None when nothing in the value is recognised: then
            there is nothing to check, which is no success.
        tools: the schemas, in the order of the value; of a request first those of `tools`, then
            those of messages, then response formats.
        readings: the kinds that the value can be read as, `kind` first. More than one: another
            reading finds schemas at other places, and whoever calls has to choose, with `as_`. A
            reading that finds the same schemas is not named.
        problems: what is not as its API wants it, so that something was not, or perhaps wrongly,
            read: tools without the schema that they must have, entries that are no tools.
        skipped: what has no schema by design: tools that the provider defines, functions that take
            no arguments.
    """

    __slots__ = ("kind", "problems", "readings", "skipped", "tools")

    kind: str | None
    tools: tuple[ToolSchema, ...]
    readings: tuple[str, ...]
    problems: tuple[Note, ...]
    skipped: tuple[Note, ...]

    def __init__(
        self,
        kind: str | None,
        tools: tuple[ToolSchema, ...],
        readings: tuple[str, ...],
        problems: tuple[Note, ...],
        skipped: tuple[Note, ...],
    ) -> None:
        self._fill(kind=kind, tools=tools, readings=readings, problems=problems, skipped=skipped)

    def __repr__(self) -> str:
        return (
            f"<Unpacked {self.kind}: {len(self.tools)} schemas, {len(self.problems)} problems,"
            f" {len(self.skipped)} skipped>"
        )


def quoted(text: str) -> str:
    """A name for a message: cut, printable, in backquotes."""
    return f"`{printable(cut(text, 64))}`"
