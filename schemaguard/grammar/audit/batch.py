"""Audits of many schemas in a process of its own, which may be killed at any of them.

Reads lines of JSON, `[key, schema]`, and writes one for each, `[key, verdict, constraints]`, with
the constraints as `[pointer, keyword, verdict]`. Verdicts are those of the audit, and two more:
"leaky" for a constraint of which only a part is dropped, and "rejected" for what is no schema, so
that no engine is asked. The first line that it writes is the engine's name and version.

    python -m schemaguard.grammar.audit.batch ENGINE
"""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard.grammar.audit import audit, engines, result
from schemaguard.grammar.audit.direct import DirectXGrammar
from schemaguard.grammar.audit.outlines import OutlinesCore

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.grammar.audit.engines import Engine
    from schemaguard.grammar.audit.result import AuditedConstraint

# Says what a schema is, and nothing of engines: the profile of xgrammar reads the tables that this
# is for.
_PROFILE = "basic"

#: The verdict on a schema that no engine was asked about.
REJECTED = "rejected"

#: Steps in search of dead ends: enough for small schemas, of which there are many.
STEPS = 1_500

#: The verdict on a constraint that is dropped, but not for every instance that breaks it.
LEAKY = "leaky"

# Engines without what guards a process from them.
_EXPENDABLE: dict[str, Callable[[], Engine]] = {
    "xgrammar": DirectXGrammar,
    "outlines-core": partial(OutlinesCore, isolated=False),
}

# The reason of a dropped constraint; the other one of one that only a hidden name gets past.
_WAYS = re.compile(r"broken in (\d+) ways?, (\d+) of which")
_HIDDEN = "only with a name"

#: Bytes of address space, where the system has such a limit.
_MEMORY = 4 << 30


def expendable(name: str) -> Engine:
    """The engine of a name, without what guards a process from it.

    Raises:
        ValueError: there is no such engine.
        MissingExtra: it is not installed.
    """
    return _EXPENDABLE[name]() if name in _EXPENDABLE else engines.engine(name)


def row(schema: Any, engine: Engine) -> tuple[str, list[list[str]]]:
    """The verdict on a schema, and those on its constraints."""
    report = schemaguard.check(schema, profile=_PROFILE)
    if not report.ok:
        return REJECTED, []
    found = audit(report, engine=engine, steps=STEPS)
    return found.verdict, [[row.pointer, row.keyword, _verdict(row)] for row in found.constraints]


def _verdict(row: AuditedConstraint) -> str:
    ways = _WAYS.match(row.reason)
    in_part = ways[1] != ways[2] if ways else row.reason.startswith(_HIDDEN)
    if row.verdict == result.DROPPED and in_part:
        return LEAKY
    return row.verdict


def main() -> None:
    """Answer until there is nothing more to read."""
    # Whatever an engine prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    engine = expendable(sys.argv[1])
    _limit_memory()
    print(json.dumps(engine.name), file=answers, flush=True)
    for line in sys.stdin:
        key, schema = json.loads(line)
        print(json.dumps([key, *row(schema, engine)]), file=answers, flush=True)


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main()
