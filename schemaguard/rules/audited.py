"""SG791 to SG795: what an audit of the engine's grammar found, each with its witness.

No profile has them: an audit takes a second where a check takes less than a millisecond.
`schemaguard audit` speaks of them in the formats that list findings; how severe each is says
`schemaguard.grammar.audit.findings`.
"""

from __future__ import annotations

from schemaguard.rules import AUDIT, rule


def _closed(price: str) -> str:
    return (
        f'{{"type": "object", "properties": {{"a": {price}}}, "required": ["a"], '
        '"additionalProperties": false}'
    )


@rule(
    "SG791",
    "dropped-constraint",
    AUDIT,
    message="`{keyword}` is not enforced: {witness} breaks it and can be written",
    fix="Validate it in the tool, or say it with keywords that the engine enforces.",
    bad=_closed('{"type": "number", "multipleOf": 0.25}'),
    good=_closed('{"type": "integer", "multipleOf": 25}'),
)
def dropped_constraint() -> None:
    """A model can write arguments that the schema forbids, as if the keyword were not there.

    The witness is the smallest text that was found, as the [page on
    audits](../audit.md#how-it-is-found) tells.
    """


@rule(
    "SG792",
    "over-constrained",
    AUDIT,
    message="`{keyword}` is enforced too narrowly: the valid {witness} cannot be written",
    fix="Say what is meant in a way that the engine takes as it is: anchor a pattern, close an "
    "object, leave a bound to the tool.",
    bad=_closed('{"type": "string", "pattern": "bar"}'),
    good=_closed('{"type": "string", "pattern": "^[a-z]*bar[a-z]*$"}'),
)
def over_constrained() -> None:
    """A model cannot give an answer that the schema allows, and gives another one.

    The witness was refused in every spelling that was tried.
    """


@rule(
    "SG793",
    "dead-end",
    AUDIT,
    message="the engine's grammar has a way in and no way out: {witness}",
    fix="Give recursion a base case, and each branch of a pattern something to match.",
    bad=_closed(r'{"type": "string", "pattern": "^(a[^\\s\\S]|b)$"}'),
    good=_closed(r'{"type": "string", "pattern": "^(a[\\s\\S]|b)$"}'),
)
def dead_end() -> None:
    """A model that gets there writes until its tokens are used up, or the server ends the request.

    The witness is the beginning of such a text.
    """


@rule(
    "SG794",
    "broken-json",
    AUDIT,
    message="the engine lets text be written that is not JSON: {witness}",
    fix="Leave the bound to the tool, or use a pattern that names the characters.",
    bad=_closed('{"type": "string", "minLength": 1}'),
    good=_closed('{"type": "string", "pattern": "^[a-z]+$"}'),
)
def broken_json() -> None:
    """No parser takes the arguments, so the call fails whatever the model meant."""


@rule(
    "SG795",
    "unaudited",
    AUDIT,
    message="there is no grammar to audit: {detail}",
    fix="Repair what is refused: `schemaguard check --profile xgrammar` says where.",
    bad=_closed(r'{"type": "string", "pattern": "\\bword\\b"}'),
    good=_closed('{"type": "string", "pattern": "^word$"}'),
)
def unaudited() -> None:
    """Nothing is known about a schema that the profile `xgrammar` or the engine refuses."""
