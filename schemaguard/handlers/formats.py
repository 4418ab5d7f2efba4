"""Schemas that a request wants the answer itself to fit, rather than the arguments of a tool.

Whatever `strict` says beside them, servers of open models hold the model to them. The places:

========= ==========================================================================================
API       where
========= ==========================================================================================
chat      `response_format.json_schema.schema`, vLLM's `structured_outputs.json` and its older name
          `guided_json`; the same in Completions
responses `text.format.schema`, `structured_outputs.json`
messages  `output_config.format.schema`, and its older name `output_format.schema`
========= ==========================================================================================

vLLM takes JSON text in its own two as well as a value. Its other constraints (`regex`, `choice`,
`grammar`, `structural_tag`) hold no schema at a known place and are not looked at.
"""

from __future__ import annotations

from schemaguard.handlers.tools import CHAT, MESSAGES, RESPONSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.handlers.tools import Body, Tokens

#: Where, and whether a `type` beside the schema, or one level up, must say `json_schema`.
_PLACES: dict[str, tuple[tuple[Tokens, int | None], ...]] = {
    CHAT: (
        (("response_format", "json_schema", "schema"), 1),
        (("structured_outputs", "json"), None),
        (("guided_json",), None),
    ),
    RESPONSES: (
        (("text", "format", "schema"), 2),
        (("structured_outputs", "json"), None),
    ),
    MESSAGES: (
        (("output_config", "format", "schema"), 2),
        (("output_format", "schema"), 1),
    ),
}


class AnswerSchema:
    """A schema for the answer.

    Attributes:
        at: its place.
        schema: a `dict`, or JSON text as `str`.
    """

    __slots__ = ("at", "schema")

    def __init__(self, at: Tokens, schema: dict[str, Any] | str) -> None:
        self.at = at
        self.schema = schema


def read_answer_schemas(body: Body, api: str) -> list[AnswerSchema]:
    """The schemas for the answer; what is no schema is left to the check, and to the server."""
    return list(_read(body, api))


def _read(body: Body, api: str) -> Iterator[AnswerSchema]:
    for at, typed in _PLACES[api]:
        value: Any = body
        for level, key in enumerate(at):
            if value.__class__ is not dict:
                break
            if level == typed and value.get("type", "json_schema") != "json_schema":
                break
            value = value.get(key)
        else:
            if value.__class__ is dict or (typed is None and value.__class__ is str):
                yield AnswerSchema(at, value)
