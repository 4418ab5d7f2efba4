"""An audit as findings, for the formats that list them: SARIF and the like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from schemaguard.grammar.audit import result
from schemaguard.grammar.audit.tree import nodes
from schemaguard.report import ERROR, NOTE, WARNING, Diagnostic, tokens_of
from schemaguard.rules import BY_NAME

if TYPE_CHECKING:
    from typing import Any

    from schemaguard.grammar.audit.result import AuditResult
    from schemaguard.report import Accepted

#: verdict on a constraint → rule and severity; the others are no findings.
_OF_CONSTRAINTS = {
    result.DROPPED: ("dropped-constraint", ERROR),
    result.OVER_CONSTRAINED: ("over-constrained", WARNING),
}

#: The same for verdicts on a schema. A refusal is a note: what is refused is an error of its own.
_OF_SCHEMAS = {
    result.REFUSED: ("unaudited", NOTE),
    result.DEAD_END: ("dead-end", ERROR),
    result.BROKEN_JSON: ("broken-json", ERROR),
}


def diagnostics(accepted: Accepted | None, audited: AuditResult) -> tuple[Diagnostic, ...]:
    """What an audit found, first about the schema as a whole, then in the order of the schema.

    Args:
        accepted: the schema that was audited; None where it was not accepted.
        audited: its audit.
    """
    found = []
    if audited.verdict in _OF_SCHEMAS:
        name, severity = _OF_SCHEMAS[audited.verdict]
        data = {"detail": audited.reason}
        if audited.verdict != result.REFUSED:
            data = {"witness": audited.witness or "the empty text"}
        found.append(_diagnostic(name, severity, "", data))
    if accepted is None or not audited.constraints:
        return tuple(found)
    # A constraint stands at its keyword, or at the schema that does not have that.
    for node in nodes(json.loads(accepted.text), audited):
        for row in node.rows:
            if row.verdict in _OF_CONSTRAINTS:
                name, severity = _OF_CONSTRAINTS[row.verdict]
                about = {"keyword": row.keyword, "witness": row.witness}
                found.append(_diagnostic(name, severity, node.pointer, about))
    return tuple(found)


def _diagnostic(name: str, severity: str, pointer: str, data: dict[str, Any]) -> Diagnostic:
    return Diagnostic(BY_NAME[name], severity, data, None, tokens_of(pointer))


__all__ = ["diagnostics"]
