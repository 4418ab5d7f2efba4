"""References to other documents, and to anchors, as definitions of the document itself.

Nothing is fetched: the documents are those that the user names. `referencing` says what a reference
means, base URIs and anchors included.
"""

from __future__ import annotations

import os

from schemaguard import data, sources
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import SchemaguardError, cut, printable
from schemaguard.fix.draft import copied, find, schemas, value_at
from schemaguard.fix.rewrites.definitions import free_name
from schemaguard.fix.rewrites.references import name_of
from schemaguard.report import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from schemaguard.fix.draft import History, Tokens

#: JSON values that are brought into one schema, and definitions.
MAX_VALUES = 200_000
MAX_DEFINITIONS = 1_000
_MAX_NESTING = 100
_SHOWN = 200


class LibraryError(SchemaguardError):
    """A document that references may lead to cannot be read."""


class BundleError(Exception):
    """A reference cannot be brought in; the message says why."""


def library_of(paths: Iterable[str]) -> dict[str, Any]:
    """The documents of some files, by path.

    Args:
        paths: JSON, JSONC or YAML files with one document each. A reference finds it by its `$id`,
            by its path, or by the name of the file.

    Raises:
        LibraryError: one cannot be read.
        OSError: likewise.
    """
    library: dict[str, Any] = {}
    for path in paths:
        source = sources.read(path, _content(path))
        if not source.readable or len(source.parts) != 1:
            raise LibraryError(f"{printable(path)}: it is no single JSON or YAML document")
        library[path.replace(os.sep, "/")] = source.parts[0].value
    return library


def _content(path: str) -> bytes:
    """A file's content, and one byte more than may be read at the most: the reader says so then."""
    if not os.path.isfile(path) and os.path.exists(path):  # a pipe may have no end
        raise LibraryError(f"{printable(path)}: it is no regular file")
    with open(path, "rb") as file:
        return file.read(DEFAULT_LIMITS.max_bytes + 1)


def brought(
    root: Any, tokens: Tokens, library: Mapping[str, Any], history: History
) -> tuple[Any, str]:
    """A document with what one of its references leads to, and all that this refers to.

    Args:
        root: the document, an object.
        tokens: of the schema with the reference.
        library: see `library_of`.
        history: of the draft.

    Returns:
        The document, and the reference that stands there now.

    Raises:
        BundleError: the reference leads to nothing that is known.
    """
    _, schema, _ = find(root, tokens)
    reference = schema["$ref"]
    try:
        resolver = _resolver(root, tokens, library)
        found = resolver.lookup(reference)
    except Exception as error:  # referencing fails with errors of its own, and others
        raise BundleError(_why(reference, library)) from error
    bundle = _Bundle(root, history.brought)
    where = bundle.place(found.contents, reference)
    while bundle.pending:
        bundle.bring_next(found.resolver)
    changed = history.at(root, (*tokens, "$ref"), where)
    if bundle.made:
        held = changed.get("$defs", {})
        held = history.made({**held, **bundle.made}, held)
        changed = history.put(changed, "$defs", held)
    return changed, where


def _why(reference: str, library: Mapping[str, Any]) -> str:
    shown = printable(cut(str(reference), _SHOWN))
    if reference.startswith("#"):
        return f"no `$anchor` of the document is called {shown}"
    if not library:
        return f"no file was named that {shown} could lead to"
    return f"{shown} leads to none of the files that were named"


def _resolver(root: Any, tokens: Tokens, library: Mapping[str, Any]) -> Any:
    """What resolves the references of a schema at some place of the document."""
    from importlib import import_module  # noqa: PLC0415  (where it is needed)

    referencing: Any = import_module("referencing")  # 46 ms; its own types are not checked
    draft: Any = import_module("referencing.jsonschema").DRAFT202012

    def resource(contents: Any) -> Any:
        try:
            return referencing.Resource.from_contents(contents, default_specification=draft)
        except Exception:  # noqa: BLE001  (an unknown `$schema`)
            return draft.create_resource(contents)

    own = resource(root)
    base = own.id() or ""
    by_name: dict[str, Any] = {}

    def retrieve(uri: str) -> Any:
        found = by_name.get(uri.partition("#")[0].rpartition("/")[2])
        if found is None:
            raise referencing.exceptions.NoSuchResource(ref=uri)
        return found

    registry: Any = referencing.Registry(retrieve=retrieve).with_resource(base, own)
    for path, contents in library.items():
        made = resource(contents)
        name = path.rpartition("/")[2]
        # Of two files with one name neither is meant by it.
        by_name[name] = None if name in by_name else made
        identifier = contents.get("$id") if contents.__class__ is dict else None
        known = [(path, made)]
        if isinstance(identifier, str) and identifier.rstrip("#") not in registry:
            known.append((identifier.rstrip("#"), made))
        try:
            registry = registry.with_resources(known).crawl()
        except Exception:  # noqa: BLE001  (an identifier that is none; the other documents count)
            by_name[name] = None
    resolver = registry.crawl().resolver(base_uri=base)
    # Identifiers on the way change the base.
    for depth in range(1, len(tokens)):
        steps, inner, rest = find(root, tokens[:depth])
        if not rest and steps == tokens[:depth] and isinstance(inner, dict) and "$id" in inner:
            resolver = resolver.in_subresource(draft.create_resource(inner))
    return resolver


class _Bundle:
    """Definitions that are brought in.

    Attributes:
        made: name → definition.
        pending: what is still to be brought: (name, contents, what resolves its references).
    """

    def __init__(self, root: Any, brought_before: dict[int, str]) -> None:
        self.made: dict[str, Any] = {}
        self.pending: list[tuple[str, Any, Any]] = []
        self._values = 0
        self._held = root.get("$defs") if root.__class__ is dict else None
        if root.__class__ is not dict or (self._held is not None and not _is_map(self._held)):
            raise BundleError("`$defs` is malformed")
        self._names = {
            contents: name
            for contents, name in brought_before.items()
            if name in (self._held or {})
        }
        self._brought = brought_before
        self._places = {id(s): t for t, s in schemas(root) if s.__class__ is dict}

    def place(self, contents: Any, reference: str, resolver: Any = None) -> str:
        """The reference to what a reference led to; it is brought in if it is not there."""
        if id(contents) in self._places:  # of the document itself
            return "#" + pointer_of(None, self._places[id(contents)])
        if contents.__class__ is not dict:
            raise BundleError("it leads to no schema that is an object")
        name = self._names.get(id(contents))
        if name is None:
            size = data.size(contents)
            self._values += MAX_VALUES if size is None else size
            if self._values > MAX_VALUES or len(self.made) >= MAX_DEFINITIONS:
                raise BundleError("it leads to more than can be brought in")
            if data.weigh(contents, MAX_VALUES)[1] > _MAX_NESTING:
                raise BundleError("it leads to a schema that nests too deep")
            name = free_name({**(self._held or {}), **self.made}, name_of(reference))
            self._names[id(contents)] = self._brought[id(contents)] = name
            self.made[name] = None
            self.pending.append((name, contents, resolver))
        return f"#/$defs/{name}"

    def bring_next(self, first: Any) -> None:
        """Copy one definition, with its own references led to definitions."""
        name, contents, resolver = self.pending.pop()
        resolver = first if resolver is None else resolver
        copy = copied(contents)
        for tokens, schema in list(schemas(contents)):
            if tokens and schema.__class__ is dict and "$id" in schema:
                raise BundleError("it leads to a schema with identifiers of its own")
            if schema.__class__ is not dict or not isinstance(schema.get("$ref"), str):
                continue
            try:
                found = resolver.lookup(schema["$ref"])
            except Exception as error:  # see `brought`
                shown = printable(cut(schema["$ref"], _SHOWN))
                raise BundleError(
                    f"what it leads to refers to {shown}, which is not there"
                ) from error
            value_at(copy, tokens)["$ref"] = self.place(
                found.contents, schema["$ref"], found.resolver
            )
        for keyword in ("$schema", "$id", "$defs", "definitions", "$anchor"):
            copy.pop(keyword, None)
        self.made[name] = copy


def _is_map(held: object) -> bool:
    return held.__class__ is dict
