"""SG3xx: references. `schemaguard.refs` finds these; the declarations say what they mean."""

from __future__ import annotations

from schemaguard.rules import PRESENCE, REFERENCE, rule

_TO = '{"type": "object", "properties": {"a": {"$ref": "%s"}}, "required": ["a"], '
_REST = '"additionalProperties": false, "$defs": {"b": {"type": "string"}}}'
_GOOD = _TO % "#/$defs/b" + _REST


@rule(
    "SG301",
    "remote-ref",
    REFERENCE,
    message="{subject} supports only document-local references",
    fix="Copy the target under `$defs` and refer to it as `#/$defs/NAME`.",
    bad=_TO % "https://example.com/a.json" + _REST,
    good=_GOOD,
)
def remote_ref() -> None:
    """A reference that would have to be fetched.

    Fetching while a request waits lets whoever wrote the schema choose where the server connects.
    """


@rule(
    "SG302",
    "dynamic-ref",
    PRESENCE,
    "dynamic-references",
    message="{subject} does not support this reference mechanism",
    fix="Use `$ref` with a document-local pointer.",
    bad='{"type": "object", "additionalProperties": false, "$dynamicRef": "#a"}',
    good='{"type": "object", "additionalProperties": false}',
)
def dynamic_ref() -> None:
    """`$dynamicRef` and `$recursiveRef` resolve while validating; a grammar is built before."""


@rule(
    "SG303",
    "nested-identifier",
    REFERENCE,
    message="{subject} does not support references with nested identifier scopes",
    fix="Remove `$id` from subschemas, and write references from the document's root.",
    bad='{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "required": ["a"], '
    '"additionalProperties": false, "$defs": {"b": {"$id": "b", "type": "string"}}}',
    good=_GOOD,
)
def nested_identifier() -> None:
    """A nested `$id` changes what the references below it mean; engines resolve from the root."""


@rule(
    "SG304",
    "bad-percent-escape",
    REFERENCE,
    message="invalid URI-fragment escape",
    fix="Write `%` as `%25`, or give two hexadecimal digits after it.",
    bad=_TO % "#/$defs/b%2" + _REST,
    good=_GOOD,
)
def bad_percent_escape() -> None:
    """A `%` in a fragment starts two hexadecimal digits (RFC 3986, section 2.1)."""


@rule(
    "SG305",
    "ref-not-utf-8",
    REFERENCE,
    message="reference fragment must decode to UTF-8",
    fix="Percent-encode the UTF-8 bytes of the name.",
    bad=_TO % "#/$defs/%FF" + _REST,
    good=_GOOD,
)
def ref_not_utf_8() -> None:
    """The decoded fragment names members, and member names are Unicode (RFC 6901, section 6)."""


@rule(
    "SG306",
    "anchor-ref",
    REFERENCE,
    message="{subject} does not support named-anchor references",
    fix="Refer to the target by its pointer: `#/$defs/NAME`.",
    bad=_TO % "#b" + _REST,
    good=_GOOD,
)
def anchor_ref() -> None:
    """Engines ignore anchors, so what the reference names would be any JSON at all."""


@rule(
    "SG307",
    "bad-pointer-escape",
    REFERENCE,
    message="invalid JSON Pointer escape",
    fix="Write `~` as `~0` and `/` as `~1` in a name.",
    bad=_TO % "#/$defs/b~" + _REST,
    good=_GOOD,
)
def bad_pointer_escape() -> None:
    """A `~` in a pointer is followed by 0 or 1 (RFC 6901, section 3)."""


@rule(
    "SG308",
    "dangling-ref",
    REFERENCE,
    message="reference target does not exist",
    fix="Define the target, or correct the pointer.",
    bad=_TO % "#/$defs/c" + _REST,
    good=_GOOD,
)
def dangling_ref() -> None:
    """A reference to nothing constrains nothing, and an engine says so late or never."""


@rule(
    "SG309",
    "ref-to-non-schema",
    REFERENCE,
    message="reference target is not a recognized schema location",
    fix="Refer to a schema: a definition, a property, an item.",
    bad=_TO % "#/properties" + _REST,
    good=_GOOD,
)
def ref_to_non_schema() -> None:
    """Only a place where a schema may stand is preflighted; a reference must not leave them."""


@rule(
    "SG310",
    "circular-ref",
    REFERENCE,
    message="{subject} does not support direct reference cycles",
    fix="Let one schema of the circle be more than a reference; recursion through a property is "
    "fine.",
    bad='{"type": "object", "additionalProperties": false, '
    '"$defs": {"b": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/b"}}}',
    good='{"type": "object", "additionalProperties": false, '
    '"$defs": {"b": {"$ref": "#/$defs/c"}, "c": {"type": "string"}}}',
)
def circular_ref() -> None:
    """References that only lead to each other say nothing, and following them never ends."""


@rule(
    "SG311",
    "ref-to-open-object",
    REFERENCE,
    message="reference target must close the object with additionalProperties: false",
    fix="Close the target, or drop `type` beside `$ref`.",
    bad='{"type": "object", "properties": {"a": {"type": "object", "$ref": "#/$defs/b"}}, '
    '"required": ["a"], "additionalProperties": false, "$defs": {"b": {}}}',
    good='{"type": "object", "properties": {"a": {"type": "object", "$ref": "#/$defs/b"}}, '
    '"required": ["a"], "additionalProperties": false, '
    '"$defs": {"b": {"type": "object", "additionalProperties": false}}}',
)
def ref_to_open_object() -> None:
    """An object by reference is closed where the chain of references first says anything."""
