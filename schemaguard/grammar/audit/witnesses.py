"""Witnesses: for one constraint, values that break it and values that only just do not.

Both are proposals. Which of them are valid, and whether this constraint alone makes the others
invalid, is asked of the judge.

Most are made by steering the maker: next to what holds at the place, without the keyword, goes a
part that says the opposite (`{"maxLength": 2}` for `minLength` 3) or the boundary. The others are
values written down here: at the bound, one past it, between, far past; other spellings of names;
what generators of text get wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit.breaking import BREAKING
from schemaguard.grammar.audit.keeping import KEEPING
from schemaguard.grammar.audit.making import PLAIN, Making

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.constraints import Constraint
    from schemaguard.grammar.audit.maker import Maker, Template


def breaking(constraint: Constraint, template: Template, maker: Maker) -> Iterator[Any]:
    """Values for the hole of the template that may break the constraint."""
    keyword, value = constraint.keyword, constraint.value
    rest = _rest(constraint, template)
    made = Making(maker, rest, f"{constraint.place.pointer} {keyword} break")
    if keyword in BREAKING:
        yield from BREAKING[keyword](value, made, constraint)
    yield from PLAIN
    yield from made.some({}, count=2)


def keeping(constraint: Constraint, template: Template, maker: Maker) -> Iterator[Any]:
    """Values for the hole of the template that may be valid, near the constraint's boundary."""
    keyword, value = constraint.keyword, constraint.value
    parts = [template.own, *template.others]
    made = Making(maker, parts, f"{constraint.place.pointer} {keyword} keep")
    if keyword in KEEPING:
        yield from KEEPING[keyword](value, made, constraint)
    yield from made.some({}, count=2)


def extras(template: Template, maker: Maker, pointer: str) -> Iterator[tuple[str, Any]]:
    """Values that use what JSON Schema leaves open: (keyword that the engine may close by, value).

    Members that no keyword mentions are valid unless one says otherwise.
    """
    own = template.own
    if not isinstance(own, dict):
        return
    made = Making(maker, [own, *template.others], f"{pointer} open")
    closed = own.get("additionalProperties") is not None
    keyword = _first_of(("properties", "patternProperties", "propertyNames"), own)
    if keyword is not None and not (closed and keyword == "properties"):
        for value in made.some({"type": "object"}):
            for name in ("extra", "x-1"):
                if name not in value:
                    yield keyword, {**value, name: 1}
    patterns = own.get("patternProperties")
    if isinstance(patterns, dict):
        for value in made.some({"type": "object"}):
            yield from (("patternProperties", {**value, **more}) for more in made.named(patterns))
    keyword = _first_of((*_IMPLYING, "properties", "additionalProperties", "items"), own)
    if "type" not in own and keyword is not None:
        yield from ((keyword, value) for value in PLAIN)
    keyword = _first_of(("prefixItems", "minItems", "maxItems", "contains"), own)
    if keyword is not None and "items" not in own:
        for value in made.some({"type": "array"}):
            yield keyword, [*value, "extra"]


_IMPLYING = ("propertyNames", "patternProperties", "prefixItems")


def _first_of(keywords: tuple[str, ...], schema: dict[str, Any]) -> str | None:
    return next((keyword for keyword in keywords if keyword in schema), None)


def _rest(constraint: Constraint, template: Template) -> list[Any]:
    """What holds in the hole without the constraint."""
    own = template.own
    if isinstance(own, dict):
        own = {key: own[key] for key in own if key != constraint.keyword}
    elif constraint.keyword == "false":
        own = True
    return [own, *template.others]
