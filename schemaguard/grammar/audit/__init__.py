"""What an engine really enforces of a schema, shown by witnesses.

::

    from schemaguard.grammar import audit

    result = audit.audit(schema, engine="xgrammar", style="json", seed=0)
    result.verdict          # "leaks"
    for constraint in result.constraints:
        print(constraint.pointer, constraint.keyword, constraint.verdict, constraint.witness)

An accepted schema is not an enforced one: engines compile what they know and pass over the rest
without a word. For every constraint the audit makes instances that break it and nothing else, and
valid ones around its boundary; jsonschema says which is which, and the compiled grammar is asked
what it lets a model write. Then it walks the grammar in search of places without a way out, and
decodes at random.
"""

from __future__ import annotations

from schemaguard.grammar.audit.auditor import audit
from schemaguard.grammar.audit.engines import NAMES as ENGINES
from schemaguard.grammar.audit.engines import STYLES
from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult, Spelling, TokenPath

__all__ = [
    "ENGINES",
    "STYLES",
    "AuditResult",
    "AuditedConstraint",
    "Spelling",
    "TokenPath",
    "audit",
]
