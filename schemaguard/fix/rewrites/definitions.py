"""Definitions: made, moved and renamed, with the references to them."""

from __future__ import annotations

from schemaguard.fix.draft import schemas, value_at
from schemaguard.fix.meaning import target
from schemaguard.fix.result import Edit
from schemaguard.fix.rewrites.base import Change, Refusal, quoted
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from schemaguard.fix.draft import History, Tokens
    from schemaguard.fix.rewrites.base import Place


def redirected(history: History, root: Any, moves: Mapping[Tokens, Tokens]) -> Any:
    """A document whose references lead to where something is going to stand.

    Args:
        history: of the draft.
        root: the document, in which nothing has moved so far.
        moves: place of a schema → its new place.
    """
    found = root
    for steps, schema in list(schemas(root)):
        if schema.__class__ is not dict:
            continue
        if (moved := _moved(root, schema.get("$ref"), moves)) is not None:
            found = history.at(found, (*steps, "$ref"), moved)
        told = schema.get("discriminator")
        mapping = told.get("mapping") if told.__class__ is dict else None
        for name, reference in mapping.items() if mapping.__class__ is dict else ():
            if (moved := _moved(root, reference, moves)) is not None:
                found = history.at(found, (*steps, "discriminator", "mapping", name), moved)
    return found


def _moved(root: Any, reference: object, moves: Mapping[Tokens, Tokens]) -> str | None:
    there = target(root, reference)
    if there is None:
        return None
    for old, new in moves.items():
        if there[0][: len(old)] == old:
            return "#" + pointer_of(None, (*new, *there[0][len(old) :]))
    return None


def defined(history: History, root: Any, tokens: Tokens) -> tuple[Any, str]:
    """A document in which the schema at a place is a definition, and a reference stands there.

    Args:
        history: of the draft.
        root: the document, an object whose `$defs` are a map.
        tokens: of the schema, not of the root.

    Returns:
        The document, and the name of the definition.
    """
    name = free_name(root.get("$defs", {}), str(tokens[-1]))
    root = redirected(history, root, {tokens: ("$defs", name)})
    definition = value_at(root, tokens)
    root = history.at(root, tokens, {"$ref": f"#/$defs/{name}"})
    return _with(history, root, {name: definition}), name


def _with(history: History, root: Any, definitions: dict[str, Any]) -> Any:
    held = root.get("$defs", {})
    return history.put(root, "$defs", history.made({**held, **definitions}, held))


def rename_definition(place: Place) -> Iterator[Change | Refusal]:
    """Definitions under names that need no escapes: all that stand there."""
    root, tokens, history = place.root, place.tokens, place.history
    if tokens[-2:-1] not in (("$defs",), ("definitions",)):
        yield Refusal("what is to be renamed is no definition")
        return
    held = value_at(root, tokens[:-1])
    names: dict[str, Any] = dict(held)
    renamed: dict[str, str] = {}
    for old in held:
        if "/" in old:
            renamed[old] = free_name(names, old)
            names[renamed[old]] = None
    moves = {(*tokens[:-1], old): (*tokens[:-1], new) for old, new in renamed.items()}
    root = redirected(history, root, moves)
    held = value_at(root, tokens[:-1])
    new_held = history.made({renamed.get(name, name): v for name, v in held.items()}, held)
    root = history.at(root, tokens[:-1], new_held)
    edits = []
    for old, new in renamed.items():
        what = f"call the definition {quoted(old)} {quoted(new)}, in references as well"
        edits.append(Edit(pointer_of(None, (*tokens[:-1], old)), place.code, what))
    yield Change(root, edits, whole=True)


def move_nested(place: Place) -> Iterator[Change | Refusal]:
    """Definitions of a subschema among those of the root."""
    root, tokens, history, keyword = place.root, place.tokens, place.history, place.keyword
    nested = place.schema.get(keyword)
    if root.__class__ is not dict or root.get("$defs", {}).__class__ is not dict:
        yield Refusal("`$defs` is no map of schemas at the root")
        return
    if not tokens or nested.__class__ is not dict:
        yield Refusal("it is no map of schemas below the root")
        return
    around = [value_at(root, tokens[:depth]) for depth in range(1, len(tokens) + 1)]
    if any(holder.__class__ is dict and "$id" in holder for holder in around):
        yield Refusal("references to it start at an identifier")
        return
    names: dict[str, Any] = dict(root.get("$defs", {}))
    moves: dict[Tokens, Tokens] = {}
    for old in nested:
        name = old if old not in names and "/" not in old else free_name(names, old)
        names[name] = None
        moves[*tokens, keyword, old] = ("$defs", name)
    root = redirected(history, root, moves)
    holder = value_at(root, tokens)
    root = history.at(root, tokens, history.drop(holder, keyword))
    moved = zip(moves.values(), holder[keyword].values(), strict=True)
    root = _with(history, root, {str(place[-1]): schema for place, schema in moved})
    what = f"move the definitions in `{keyword}` to the root, and lead references there"
    yield Change(root, [place.edit(what, keyword)], whole=True)


def free_name(held: dict[str, Any], wanted: str) -> str:
    """A name for a definition that is not taken and needs no escapes."""
    base = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in wanted)[:48]
    base = base or "definition"
    name, count = base, 1
    while name in held:
        count += 1
        name = f"{base}_{count}"
    return name
