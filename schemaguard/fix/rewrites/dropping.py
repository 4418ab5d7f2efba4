"""Keywords that a profile refuses and no other keyword can say.

What says nothing is dropped as it is; all else is lossy, and goes into the description, where the
model reads it.
"""

from __future__ import annotations

from schemaguard.data import dumps
from schemaguard.errors import cut, printable
from schemaguard.fix.draft import schemas
from schemaguard.fix.rewrites.base import Change, Refusal, quoted
from schemaguard.keywords import KEYWORDS
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.fix.draft import History, Schema
    from schemaguard.fix.rewrites.base import Place

#: Characters of a value that a description quotes.
_SHOWN = 200
_WHOLE = 10_000

#: How a description says what other names hold; an object with such words is not closed.
OTHER_NAMES = "members of other names:"

#: keyword → what a description says of its value.
WORDS = {
    "multipleOf": "must be a multiple of {}",
    "uniqueItems": "items must be unique",
    "pattern": "must match the regular expression {}",
    "format": "format {}",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} members",
    "maxProperties": "at most {} members",
    "const": "must be {}",
    "default": "{}",
    "examples": "{}",
    "example": "{}",
    "title": "{}",
    "not": "must not match {}",
    "contains": "an item must match {}",
    "minContains": "at least {} items must match `contains`",
    "maxContains": "at most {} items may match `contains`",
    "dependentRequired": "members that need others: {}",
    "dependentSchemas": "what members demand of the whole: {}",
    "dependencies": "what members demand of the whole: {}",
    "propertyNames": "names must match {}",
    "patternProperties": "members by pattern of their names: {}",
    "unevaluatedItems": "other items: {}",
    "if": "if it matches {}",
    "then": "then it must match {}",
    "else": "else it must match {}",
    "anyOf": "must match one of {}",
    "enum": "must be one of {}",
    "additionalProperties": OTHER_NAMES + " {}",
    "unevaluatedProperties": OTHER_NAMES + " {}",
}
_LABELS = {"default": "Default", "examples": "Examples", "example": "Example", "title": "Title"}

#: keyword → values with which it says nothing.
_VOID: dict[str, tuple[Any, ...]] = {
    "uniqueItems": (False,),
    "minLength": (0,),
    "minItems": (0,),
    "minProperties": (0,),
    "contains": (),
    "nullable": (False,),
    "dependentRequired": ({},),
    "dependentSchemas": ({},),
    "dependencies": ({},),
    "patternProperties": ({},),
    "propertyNames": (True, {}),
    "unevaluatedItems": (True, {}),
    "unevaluatedProperties": (True, {}),
    "additionalItems": (True, {}),
    "additionalProperties": (True, {}),
    "if": (),
    "allOf": ([],),
}
#: Even where these accept anything, `unevaluatedProperties` and `unevaluatedItems` count what they
#: looked at.
_EVALUATING = frozenset(
    {"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "if"}
)
#: keyword → keywords without which it says nothing.
_NEEDS = {
    "minContains": ("contains",),
    "maxContains": ("contains",),
    "then": ("if",),
    "else": ("if",),
    "if": ("then", "else"),
}
#: Words for people and programs that no model is given.
_SILENT = frozenset({"$schema", "$comment", "deprecated", "readOnly", "writeOnly", "$vocabulary"})


def drop_default(place: Place) -> Iterator[Change | Refusal]:
    """A schema whose default is in the description."""
    yield from _dropped(place, "default")


def drop_pattern(place: Place) -> Iterator[Change | Refusal]:
    """A schema whose pattern is in the description."""
    yield from _dropped(place, "pattern")


def drop_enum(place: Place) -> Iterator[Change | Refusal]:
    """A schema whose values are in the description."""
    yield from _dropped(place, "enum")


def drop(place: Place) -> Iterator[Change | Refusal]:
    """A schema without the keyword that the finding names."""
    yield from _dropped(place, place.keyword)


def _dropped(place: Place, keyword: str) -> Iterator[Change | Refusal]:
    schema = place.schema
    if keyword not in schema:
        yield Refusal("what is refused stands elsewhere")
        return
    looked_at = keyword in _EVALUATING and place.contexts.links.evaluates
    if says_nothing(schema, keyword) and not looked_at:
        what = f"{quoted(keyword)} says nothing here and is dropped"
        opened = pointer_of(None, place.tokens) if keyword == "additionalProperties" else None
        dropped = place.history.drop(schema, keyword)
        yield Change(dropped, [place.edit(what, keyword)], leaves_open=opened)
        return
    if keyword == "$id":
        yield from _without_identifier(place)
        return
    words = WORDS.get(keyword)
    if words is None and keyword not in KEYWORDS:
        words, label = "{}", keyword
    else:
        label = _LABELS.get(keyword, "Constraint")
    if words is None:
        yield Refusal(f"no other keyword says what {quoted(keyword)} does")
        return
    if place.contexts.obstacle(place.tokens) is not None and keyword in KEYWORDS:
        yield Refusal(f"to drop {quoted(keyword)} here would refuse what was accepted")
        return
    text = dumps(schema[keyword], _WHOLE)
    if text is None:
        yield Refusal(f"the value of {quoted(keyword)} is too large for a description")
        return
    said = words.format(printable(cut(text, _SHOWN)))
    sentence = f"{printable(cut(label, _SHOWN))}: {said}."
    kept = noted(place.history, place.history.drop(schema, keyword), sentence)
    what = f"{quoted(keyword)} is dropped; the description says it"
    yield Change(kept, [place.edit(what, keyword, lossy=True)])


def _without_identifier(place: Place) -> Iterator[Change | Refusal]:
    """Without `$id`, where all references are to places of the document."""
    references = (s.get("$ref") for _, s in schemas(place.root) if s.__class__ is dict)
    if any(isinstance(ref, str) and not ref.startswith(("#/", "#")) for ref in references):
        yield Refusal("references depend on `$id`")
        return
    if place.tokens and any("$ref" in s for _, s in schemas(place.schema) if s.__class__ is dict):
        yield Refusal("references depend on `$id`")
        return
    dropped = place.history.drop(place.schema, "$id")
    yield place.change(dropped, "`$id` is dropped: nothing refers to it", "$id")


def says_nothing(schema: Schema, keyword: str) -> bool:
    """Whether a keyword constrains nothing, as it stands."""
    if keyword in _SILENT:
        return True
    needed = _NEEDS.get(keyword)
    if needed is not None and not any(name in schema for name in needed):
        return True
    value = schema[keyword]
    return any(
        value == void and (value.__class__ is bool) == (void.__class__ is bool)
        for void in _VOID.get(keyword, ())
    )


def noted(history: History, schema: Schema, sentence: str) -> Schema:
    """A schema whose description ends with a sentence; once, however often it is asked for."""
    text = schema.get("description")
    if text is not None and not isinstance(text, str):
        return schema
    if text and sentence in text:
        return schema
    text = f"{text.rstrip()} {sentence}" if text and text.strip() else sentence
    return history.put(schema, "description", text, after=("type", "title"))
