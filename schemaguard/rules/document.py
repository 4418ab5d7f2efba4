"""SG1xx: what stops a document from being read, and the hard stops for hostile input."""

from __future__ import annotations

from schemaguard.rules import READING, rule

_GOOD = '{"type": "object", "additionalProperties": false}'


def _fault(code: str, name: str, message: str, fix: str, bad: str, why: str) -> None:
    """Declare a reading rule: the reader (or the walk, for a parsed value) names it by its name."""

    def reason() -> None:
        pass

    reason.__doc__ = why
    rule(code, name, READING, message=message, fix=fix, bad=bad, good=_GOOD)(reason)


_fault(
    "SG101",
    "invalid-json",
    "not JSON: {detail}",
    "Correct the syntax.",
    '{"type": "object"',
    "What no parser reads, no engine enforces.",
)
_fault(
    "SG102",
    "duplicate-key",
    "duplicate key {detail}",
    "Keep one of the members.",
    '{"type": "object", "additionalProperties": true, "additionalProperties": false}',
    "Parsers disagree on which of two equal names counts (RFC 8259, section 4), so what is checked "
    "may not be what is enforced.",
)
_fault(
    "SG103",
    "non-finite-number",
    "{detail} is not a JSON number",
    "Use a finite number, or leave the keyword out.",
    '{"type": "object", "additionalProperties": false, "minProperties": NaN}',
    "NaN and Infinity are not JSON; strict parsers refuse the whole request.",
)
_fault(
    "SG104",
    "overflowing-number",
    "number {detail} overflows a double",
    "Use a number that a double can hold.",
    '{"type": "object", "additionalProperties": false, "default": 1e999}',
    "The number becomes infinity in one parser and an error in the next.",
)
_fault(
    "SG105",
    "overlong-integer",
    "integer of {detail} digits",
    "Use an integer of 64 bits.",
    "@overlong-integer",
    "Integers of thousands of digits cost quadratic time to read, and no engine carries them.",
)
_fault(
    "SG106",
    "lone-surrogate",
    "lone surrogate {detail}",
    "Write the character itself, or both halves of the pair.",
    '{"type": "object", "additionalProperties": false, "title": "\\ud800"}',
    "Half of a surrogate pair is no character: UTF-8 cannot carry it, strict parsers refuse it.",
)
_fault(
    "SG107",
    "byte-order-mark",
    "starts with a byte order mark{detail}",
    "Save as UTF-8 without a byte order mark.",
    "\ufeff" + _GOOD,
    "JSON text starts without one (RFC 8259, section 8.1); parsers may refuse it.",
)
_fault(
    "SG108",
    "not-utf-8",
    "not UTF-8: {detail}",
    "Save as UTF-8.",
    "@not-utf-8",
    "JSON between systems is UTF-8 (RFC 8259, section 8.1).",
)
_fault(
    "SG109",
    "trailing-data",
    "data after the end of the document",
    "Remove what follows the value, or give one document at a time.",
    _GOOD + " x",
    "Some engines ignore what follows the first value, others refuse it.",
)
_fault(
    "SG110",
    "too-many-bytes",
    "document of {detail}",
    "Send a smaller schema, or raise the limit.",
    "@too-many-bytes",
    "A hard stop that holds before anything is read.",
)
_fault(
    "SG111",
    "text-too-deep",
    "nested deeper than {detail} levels",
    "Flatten the document, or raise the limit.",
    "@text-too-deep",
    "A hard stop: parsers of engines recurse, and die of it.",
)
_fault(
    "SG112",
    "too-many-nodes",
    "more than {detail} values",
    "Send a smaller schema, or raise the limit.",
    "@too-many-nodes",
    "A hard stop. In a parsed value it also ends shared parts that multiply: each path counts.",
)
_fault(
    "SG113",
    "cyclic-value",
    "the value contains itself",
    "Use `$ref` for recursion.",
    "@cyclic-value",
    "A value that contains itself has no JSON text.",
)
_fault(
    "SG114",
    "non-string-key",
    "a key of type {detail} is not a JSON name",
    "Use string keys.",
    "@non-string-key",
    "JSON names are strings; a YAML key such as `1:` or `yes:` arrives as something else.",
)
_fault(
    "SG115",
    "not-json",
    "a value of type {detail} is not JSON",
    "Use dict, list, str, int, float, bool and None; `json.loads(json.dumps(x))` makes them.",
    "@not-json",
    "Only plain JSON types mean the same to the check, to the engine and on the wire.",
)
_fault(
    "SG116",
    "nothing-to-check",
    "no schema was found: {detail}",
    "Name a file that holds tool definitions, a request, a `tools/list` answer or a JSON Schema.",
    '{"note": "the tools are in another file"}',
    "A file that was not understood is not a file without faults.",
)
_fault(
    "SG117",
    "ambiguous-document",
    "can be read in more than one way: as {detail}",
    "Give the document a form that only one API has.",
    "@ambiguous-document",
    "Two readings find different schemas; checking one of them would pass the other unread.",
)
_fault(
    "SG118",
    "unreadable-tool",
    "{detail}",
    "Give the tool a JSON Schema where its API expects one.",
    '{"tools": [{"name": "search", "inputSchema": "none"}]}',
    "A tool whose schema was not found was not checked.",
)
