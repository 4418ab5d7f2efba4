"""Request handlers: a bad tool schema is stopped before it reaches the engine.

::

    from schemaguard.handlers import Policy, check

    decision = check(body, api="chat", policy=Policy(on_reject="relax"))

`check` decides about one request. `Guard` does so for a server: with a cache of verdicts, metrics,
a log, and the error body that the client library of the API understands. In front of an application
`schemaguard.handlers.asgi` and `schemaguard.handlers.fastapi` put it. Nothing here needs more than
the standard library, but for the FastAPI dependency.
"""

from __future__ import annotations

from schemaguard.handlers.bodies import Answer
from schemaguard.handlers.cache import VerdictCache
from schemaguard.handlers.checking import check
from schemaguard.handlers.guard import Guard, Outcome
from schemaguard.handlers.metrics import Metrics
from schemaguard.handlers.policy import Policy
from schemaguard.handlers.results import Change, Decision, Finding, ToolVerdict

__all__ = [
    "Answer",
    "Change",
    "Decision",
    "Finding",
    "Guard",
    "Metrics",
    "Outcome",
    "Policy",
    "ToolVerdict",
    "VerdictCache",
    "check",
]
