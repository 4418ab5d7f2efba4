"""OpenAPI 3: each operation is a tool, with the schemas of its request body and its parameters.

Source: the OpenAPI specification 3.1. No object schema is composed of them: what is not in the
document is not checked. References (`$ref`) of path items, parameters and bodies are followed
inside the document, and so is a schema that is nothing but a reference. References deeper in a
schema lead into the document, too: `ToolSchema.standalone` brings along what they lead to.
"""

from __future__ import annotations

from schemaguard.envelopes.bundling import Bundler, follow
from schemaguard.envelopes.reading import Family, described, listed, never, text
from schemaguard.envelopes.result import OPENAPI, PARAMETER, REQUEST_BODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.envelopes.reading import Reader
    from schemaguard.envelopes.result import Place

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

#: A reference may lead to a reference, so often; a circle is longer.
_MAX_HOPS = 16


class _Operations:
    """The walk over one document; a schema is told once, under the first operation that has it."""

    __slots__ = ("_bundler", "_document", "_reader", "_seen", "_top")

    def __init__(self, reader: Reader, place: Place, document: dict[str, Any]) -> None:
        self._reader = reader
        self._top = place
        self._document = document
        self._bundler = Bundler(place, document)
        self._seen: set[tuple[str, Place]] = set()  # (what was read there, where)

    def path_item(self, path: str, place: Place, item: Any) -> None:
        """Read the operations of one path."""
        found = self._once("path item", place, item)
        if found is None:
            return
        place, item = found
        for method in _METHODS:
            operation = item.get(method)
            there = (place, method)
            if operation.__class__ is dict:
                name = text(operation, "operationId") or f"{method.upper()} {path}"
                self._parameters(name, there, there, operation)
                self._parameters(name, there, place, item)
                if "requestBody" in operation:
                    self._body(name, there, (there, "requestBody"), operation["requestBody"])
            elif operation is not None:
                self._reader.problem(there, f"the operation is {described(operation)}")

    def _parameters(
        self, name: str, operation: Place, place: Place, holder: dict[str, Any]
    ) -> None:
        for index, entry in enumerate(listed(holder, "parameters")):
            found = self._once("parameter", ((place, "parameters"), index), entry)
            if found is None:
                continue
            there, parameter = found
            if "schema" in parameter:
                self._schema(PARAMETER, name, operation, (there, "schema"), parameter["schema"])
            elif "content" in parameter:
                self._content(PARAMETER, name, operation, there, parameter)
            else:
                self._reader.problem(there, "a parameter without a schema")

    def _body(self, name: str, operation: Place, place: Place, body: Any) -> None:
        found = self._once("request body", place, body)
        if found is not None:
            self._content(REQUEST_BODY, name, operation, *found)

    def _content(
        self, role: str, name: str, operation: Place, place: Place, holder: dict[str, Any]
    ) -> None:
        content = holder.get("content")
        place = (place, "content")
        if content.__class__ is not dict:
            self._reader.problem(place, f"the content is {described(content)}")
            return
        for media_type, media in content.items():
            there = (place, media_type)
            if media.__class__ is not dict:
                self._reader.problem(there, f"the media type is {described(media)}")
            elif "schema" in media:
                self._schema(role, name, operation, (there, "schema"), media["schema"])
            else:
                self._reader.skip(there, "content without a schema")

    def _schema(self, role: str, name: str, operation: Place, place: Place, schema: Any) -> None:
        place, schema = self._target(place, schema, alone=True) or (place, schema)
        if ("schema", place) not in self._seen:
            self._seen.add(("schema", place))
            self._reader.add(
                OPENAPI, role, operation, place, schema, name=name, bundler=self._bundler
            )

    # References.

    def _once(self, what: str, place: Place, value: Any) -> tuple[Place, dict[str, Any]] | None:
        """The object that a value is or refers to, unless it was read before or cannot be had."""
        if (what, place) in self._seen:
            return None
        self._seen.add((what, place))
        found = self._target(place, value)
        if found is None:
            self._reader.problem((place, "$ref"), f"the reference leads to no {what} in here")
            return None
        there, value = found
        if value.__class__ is not dict:
            self._reader.problem(there, f"the {what} is {described(value)}")
            return None
        if there != place:
            if (what, there) in self._seen:
                return None
            self._seen.add((what, there))
        return there, value

    def _target(self, place: Place, value: Any, *, alone: bool = False) -> tuple[Place, Any] | None:
        """Follow references; None for one that leads out of the document, to nothing or around.

        Args:
            place: of the value.
            value: perhaps a reference.
            alone: follow `$ref` only where nothing stands beside it.
        """
        for _ in range(_MAX_HOPS):
            if value.__class__ is not dict or value.get("$ref").__class__ is not str:
                return place, value
            if alone and len(value) > 1:
                return place, value
            found = follow(self._top, self._document, value["$ref"])
            if found is None:
                return None
            place, value = found
        return None


def _is_document(body: dict[str, Any]) -> bool:
    return (text(body, "openapi") or text(body, "swagger") or "")[:2] in ("3.", "2.")


def _read_document(reader: Reader, place: Place, body: dict[str, Any]) -> None:
    if not (text(body, "openapi") or "").startswith("3."):
        if _is_document(body):
            reader.problem(place, "only OpenAPI 3 is read: convert the document")
        return
    paths = body.get("paths")
    if paths.__class__ is dict:
        operations = _Operations(reader, place, body)
        for path, item in paths.items():
            if path.__class__ is str and not path.startswith("x-"):
                operations.path_item(path, ((place, "paths"), path), item)
    elif paths is not None:
        reader.problem((place, "paths"), f"the paths are {described(paths)}")
    if body.get("webhooks") is not None:
        reader.skip((place, "webhooks"), "webhooks, which are no tools")


def _read_nothing(*_: object) -> None:
    """No entry of a list of tools is an operation."""


FAMILY = Family(
    OPENAPI,
    is_tool=never,
    read_tool=_read_nothing,
    is_request=_is_document,
    read_request=_read_document,
)
