"""Keywords that a profile refuses and no other keyword can say.

What says nothing is dropped as it is; all else is lossy, and goes into the description, where the
model reads it.
"""

from __future__ import annotations

from schemaguard.data import dumps
from schemaguard.fix.draft import schemas
from schemaguard.fix.rewrites.base import Change, Refusal, listed, quoted
from schemaguard.fix.rewrites.wording import SPOKEN, TOGETHER, sentence
from schemaguard.keywords import KEYWORDS
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.fix.draft import History, Schema
    from schemaguard.fix.rewrites.base import Place

_WHOLE = 10_000

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
        what = f"drop {quoted(keyword)}, which says nothing here"
        opened = pointer_of(None, place.tokens) if keyword == "additionalProperties" else None
        dropped = place.history.drop(schema, keyword)
        yield Change(dropped, [place.edit(what, keyword)], leaves_open=opened)
        return
    if keyword == "$id":
        yield from _without_identifier(place)
        return
    if keyword in KEYWORDS and keyword not in SPOKEN:
        yield Refusal(f"no other keyword says what {quoted(keyword)} does")
        return
    if place.contexts.obstacle(place.tokens) is not None and keyword in KEYWORDS:
        yield Refusal(f"to drop {quoted(keyword)} here would refuse what was accepted")
        return
    going = [name for name in TOGETHER.get(keyword, (keyword,)) if name in schema]
    if dumps([schema[name] for name in going], _WHOLE) is None:
        yield Refusal(f"the value of {quoted(keyword)} is too large for a description")
        return
    said = sentence(schema, keyword)
    kept = noted(place.history, place.history.drop(schema, *going), said)
    what = f"drop {listed(going)}; the description says it"
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
    yield place.change(dropped, "drop `$id`: nothing refers to it", "$id")


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


def noted(history: History, schema: Schema, said: str) -> Schema:
    """A schema whose description ends with a sentence; once, however often it is asked for."""
    text = schema.get("description")
    if text is not None and not isinstance(text, str):
        return schema
    if text and said in text:
        return schema
    text = f"{_ended(text.rstrip())} {said}" if text and text.strip() else said
    return history.put(schema, "description", text, after=("type", "title"))


def _ended(text: str) -> str:
    """A text that ends as a sentence does."""
    return text if text[-1] in _ENDS else text + "."


_ENDS = ".!?:;,\u2026\u3002\uff01\uff1f"
