"""Where the references of a document lead: what a change of it must not move or widen."""

from __future__ import annotations

from schemaguard.fix.draft import schemas
from schemaguard.fix.meaning import target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.fix.draft import Tokens

#: Keywords that give a schema a name of its own.
_NAMING = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$id", "id")


class Links:
    """The references of one document.

    Attributes:
        places: of the schemas that local pointers lead to.
        lost: how many references are local pointers that lead to no schema.
        named: places and schemas that are, or may be, referred to by a name: an anchor or an
            identifier. Those references are not followed.
        evaluates: some schema asks which members or items others have looked at.
    """

    __slots__ = ("evaluates", "lost", "named", "places")

    def __init__(self, root: Any) -> None:
        self.places: set[Tokens] = set()
        self.named: list[tuple[Tokens, Any]] = []
        self.lost = 0
        self.evaluates = False
        words: set[str] = set()
        has_names: list[tuple[Tokens, Any]] = []
        below_identifier: list[Tokens] = []
        for tokens, schema in schemas(root):
            if schema.__class__ is not dict:
                continue
            if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
                self.evaluates = True
            if any(keyword in schema for keyword in _NAMING):
                has_names.append((tokens, schema))
            for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                if not isinstance(reference := schema.get(keyword), str):
                    continue
                found = target(root, reference)
                if found is not None:
                    self.places.add(found[0])
                    below_identifier.append(tokens)
                elif reference.startswith("#/"):
                    self.lost += 1
                words.update(_words(keyword, reference))
        for tokens, schema in has_names:
            own = isinstance(schema.get("$id"), str) and not schema["$id"].startswith("#")
            # A pointer below an identifier starts at the schema that has it, not at the root.
            below = own and tokens and any(t[: len(tokens)] == tokens for t in below_identifier)
            if below or not words.isdisjoint(_names(schema)):
                self.named.append((tokens, schema))

    def is_led_into(self, tokens: Tokens) -> bool:
        """Whether a reference leads to a place, or below it."""
        return any(place[: len(tokens)] == tokens for place in self.places)


def _words(keyword: str, reference: str) -> set[str]:
    """The names that a reference may lead to a schema by."""
    document, _, fragment = reference.partition("#")
    words = set()
    if keyword == "$recursiveRef":
        words.add("recursive")
    if document:
        words.add("id " + document.rpartition("/")[2])
    if fragment and not fragment.startswith("/"):
        words.add("anchor " + fragment)
    return words


def _names(schema: dict[str, Any]) -> set[str]:
    names = set()
    for keyword in _NAMING:
        name = schema.get(keyword)
        if keyword == "$recursiveAnchor" and name is True:
            names.add("recursive")
        if not isinstance(name, str):
            continue
        if keyword.endswith("nchor"):
            names.add("anchor " + name)
        elif name.startswith("#"):
            names.add("anchor " + name[1:])
        else:
            names.add("id " + name.rstrip("#").rpartition("/")[2])
    return names
