"""What a request wants the answer itself to be, rather than the arguments of a tool.

Whatever `strict` says beside them, servers of open models hold the model to it. The places:

========= ==========================================================================================
API       where a schema is, or a structural tag
========= ==========================================================================================
chat      `response_format`, of type `json_schema` or `structural_tag`; the same in Completions
responses `text.format.schema`
messages  `output_config.format.schema`, and its older name `output_format.schema`
========= ==========================================================================================

Whatever the API, the servers' own fields are read as well (`_FIELDS`): those of the body, and of
the objects in `_HOLDERS`. A body of which only its shape told the API is searched in all places:
the server may tell otherwise.

Everything becomes a `Constraint` with a schema to check. A regular expression stands as a
`pattern`, a choice as an `enum`, each as the only property of an object, which every profile takes;
a structural tag is searched for the schemas, regular expressions and grammars in it. A grammar has
no schema and is measured by `schemaguard.handlers.grammars`.
"""

from __future__ import annotations

from schemaguard import data
from schemaguard.document import read
from schemaguard.handlers import grammars
from schemaguard.handlers.tools import CHAT, MESSAGES, RESPONSES
from schemaguard.report import ERROR, Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from schemaguard.document import Limits
    from schemaguard.handlers.tools import Body, Tokens
    from schemaguard.profiles import Profile

    #: The place above, and the name or index below that.
    Place = tuple["Place", str | int] | None

#: Where, and how far above the schema a `type` must be `json_schema`, if there is one.
_SCHEMAS: dict[str, tuple[tuple[Tokens, int], ...]] = {
    CHAT: ((("response_format", "json_schema", "schema"), 1),),
    RESPONSES: ((("text", "format", "schema"), 2),),
    MESSAGES: ((("output_config", "format", "schema"), 2), (("output_format", "schema"), 1)),
}

JSON = "json"
REGEX = "regex"
CHOICE = "choice"
GRAMMAR = "grammar"
TAG = "structural_tag"

#: The fields of servers: older ones of vLLM, which Dynamo has, too, and those of SGLang.
_FIELDS = {
    "guided_json": JSON,
    "guided_regex": REGEX,
    "guided_choice": CHOICE,
    "guided_grammar": GRAMMAR,
    "guided_whitespace_pattern": REGEX,
    "json_schema": JSON,
    "regex": REGEX,
    "ebnf": GRAMMAR,
    "structural_tag": TAG,
}
#: What vLLM's `structured_outputs` has.
_STRUCTURED = {
    "json": JSON,
    "regex": REGEX,
    "choice": CHOICE,
    "grammar": GRAMMAR,
    "whitespace_pattern": REGEX,
    "structural_tag": TAG,
}
#: Objects, or lists of some, in which such fields stand: vLLM, SGLang's `/generate`, its route for
#: Vertex, vLLM's tokens in and out, Dynamo.
_HOLDERS: tuple[tuple[Tokens, dict[str, str]], ...] = (
    ((), _FIELDS),
    (("structured_outputs",), _STRUCTURED),
    (("sampling_params",), _FIELDS),
    (("parameters", "sampling_params"), _FIELDS),
    (("sampling_params", "structured_outputs"), _STRUCTURED),
    (("nvext",), _FIELDS),
)

#: vLLM's own limit is 64; nothing is served that deep.
MAX_TAG_LEVELS = 256
#: As many as there may be tools, and what they take with their markup.
MAX_TAG_PARTS = 1_536
MAX_TAG_VALUES = 50_000
#: Longer texts between the parts of a tag are checked together, as a constant of a schema is.
LONG_LITERAL = 256

#: What is no schema is checked as the property of such an object.
_NAME = "answer"


class Constraint:
    """What the answer is held to.

    Attributes:
        at: its place in the body; below JSON text in it, as if it had been parsed.
        schema: to check: a `dict`, or JSON text as `str`; None for a grammar and a fault.
        below: the part of a pointer in `schema` that is not in the body.
        grammar: EBNF or Lark; None for anything else.
        fault: what a structural tag must be, and is not; None for anything else.
    """

    __slots__ = ("at", "below", "fault", "grammar", "schema")

    def __init__(
        self,
        at: Tokens,
        schema: dict[str, Any] | str | None = None,
        *,
        below: str = "",
        grammar: str | None = None,
        fault: str | None = None,
    ) -> None:
        self.at = at
        self.schema = schema
        self.below = below
        self.grammar = grammar
        self.fault = fault

    def within(self, pointer: str) -> str:
        """A pointer in the schema, from the place of the constraint on."""
        if not self.below:
            return pointer
        inside = (pointer + "/").startswith(self.below + "/")
        return pointer[len(self.below) :] if inside else ""

    def faults(self, profile: Profile) -> Iterator[Diagnostic]:
        """What a profile says about a grammar, or about a tag that cannot be read."""
        said: Iterable[tuple[str, dict[str, Any]]] = ()
        if self.fault is not None:
            said = [("malformed-request", {"what": "a structural tag", "expected": self.fault})]
        elif self.grammar is not None:
            said = grammars.faults(self.grammar, profile.budgets)
        for name, filled in said:
            rule = data.rule_of(name)
            usual = ERROR if name == "malformed-request" else None
            severity = profile.severities.get(rule.code, usual)
            if severity is not None:
                yield Diagnostic(rule, severity, filled)


def read_constraints(body: Body, apis: tuple[str, ...], limits: Limits) -> list[Constraint]:
    """What the answer is held to; what is malformed is left to the check, and to the server.

    Args:
        body: of the request.
        apis: those that it may be for.
        limits: for JSON text in the body.
    """
    found: list[Constraint] = []
    for api in apis:
        for at, typed in _SCHEMAS[api]:
            value = _schema_at(body, at, typed)
            if value.__class__ is dict:
                found.append(Constraint(at, value))
    form = body.get("response_format") if CHAT in apis else None
    if form.__class__ is dict and form.get("type") == TAG:
        found += _in_tag(("response_format",), form)
    for path, fields in _HOLDERS:
        for at, holder in _objects(body, path):
            for name, kind in fields.items():
                if name in holder:
                    found += _of_kind(kind, (*at, name), holder[name], limits)
    return found


def _schema_at(body: Body, at: Tokens, typed: int) -> Any:
    value: Any = body
    for level, key in enumerate(at):
        if value.__class__ is not dict:
            return None
        if level == typed and value.get("type", "json_schema") != "json_schema":
            return None
        value = value.get(key)
    return value


def _objects(body: Body, path: Tokens) -> Iterator[tuple[Tokens, Body]]:
    """The objects at a place; each member of a list on the way counts."""
    found: list[tuple[Tokens, Any]] = [((), body)]
    for key in path:
        found = [
            part
            for at, value in found
            if value.__class__ is dict
            for part in _members((*at, key), value.get(key))
        ]
    return ((at, value) for at, value in found if value.__class__ is dict)


def _members(at: Tokens, value: Any) -> list[tuple[Tokens, Any]]:
    if value.__class__ is list:
        return [((*at, index), member) for index, member in enumerate(value)]
    return [(at, value)]


def _of_kind(kind: str, at: Tokens, value: Any, limits: Limits) -> Iterator[Constraint]:
    is_text = value.__class__ is str
    if kind == JSON:
        if is_text or value.__class__ is dict:
            yield Constraint(at, value)
    elif kind == REGEX:
        if is_text:
            yield _as_property(at, "pattern", value)
    elif kind == CHOICE:
        if value.__class__ is list:
            yield _as_property(at, "enum", value)
    elif kind == GRAMMAR:
        if is_text:
            yield Constraint(at, grammar=value)
    elif is_text:
        document = read(value, limits)
        if document.faults:
            yield Constraint(at, value)  # the check says what is wrong with the text
        else:
            yield from _in_tag(at, document.value)
    else:
        yield from _in_tag(at, value)


def _as_property(at: Tokens, keyword: str, value: Any) -> Constraint:
    schema = {
        "type": "object",
        "properties": {_NAME: {"type": "string", keyword: value}},
        "required": [_NAME],
        "additionalProperties": False,
    }
    return Constraint(at, schema, below=f"/properties/{_NAME}/{keyword}")


def _in_tag(at: Tokens, tag: Any) -> Iterator[Constraint]:
    """What a structural tag holds, in today's form or in the older one.

    The formats nest, and new ones come: whatever has one of these names is taken for what formats
    have under it. A place is linked to the one above: deep tags cost no more than others.
    """
    queue: list[tuple[Place, int, Any]] = [(None, 0, tag)]
    parts = 0
    literals: list[str] = []
    for place, level, value in queue:
        if level > MAX_TAG_LEVELS:
            yield Constraint(at, fault=f"nested at most {MAX_TAG_LEVELS} levels deep")
            return
        if parts > MAX_TAG_PARTS or len(queue) > MAX_TAG_VALUES:
            words = f"of at most {MAX_TAG_PARTS:,} schemas, and {MAX_TAG_VALUES:,} values"
            yield Constraint(at, fault=words)
            return
        if value.__class__ is str:
            literals.append(value)
        elif value.__class__ is list:
            queue += [((place, index), level + 1, member) for index, member in enumerate(value)]
        elif value.__class__ is dict:
            for name, member in value.items():
                part = _part((at, (place, name)), name, member)
                if part is None:
                    queue.append(((place, name), level + 1, member))
                else:
                    parts += 1
                    yield part
    long = [text for text in literals if len(text) > LONG_LITERAL]
    if long:
        yield _as_property(at, "const", "".join(long))


def _part(at: tuple[Tokens, Place], name: str, value: Any) -> Constraint | None:
    """What a format of a structural tag has under a name, if it is something to check."""
    is_text = value.__class__ is str
    if name in ("json_schema", "schema") and (is_text or value.__class__ is dict):
        return Constraint(_tokens(*at), value)
    if name == "pattern" and is_text:
        return _as_property(_tokens(*at), "pattern", value)
    if name == "grammar" and is_text:
        return Constraint(_tokens(*at), grammar=value)
    return None


def _tokens(at: Tokens, place: Place) -> Tokens:
    found: list[str | int] = []
    while place is not None:
        place, token = place
        found.append(token)
    return (*at, *reversed(found))
