"""A policy at work in a server: decisions with a cache, metrics, a log and the error body."""

from __future__ import annotations

import json
import logging
from time import perf_counter

from schemaguard.handlers.bodies import FORMS, Answer, answer_of, form_of, make_answer
from schemaguard.handlers.cache import VerdictCache
from schemaguard.handlers.checking import DEFAULT_POLICY, check
from schemaguard.handlers.metrics import Metrics
from schemaguard.handlers.tools import AUTO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.handlers.policy import Policy
    from schemaguard.handlers.results import Decision

LOGGER = logging.getLogger("schemaguard.handlers")

#: Carries what was changed, on the way to the application and back to the client.
CHANGES_HEADER = "schemaguard-changes"
_MAX_HEADER = 1_024


class Outcome:
    """What a guard says about one request.

    Attributes:
        decision: the whole decision.
        answer: what to answer instead; None when the request may go on.
        body: what may go on: the very object that was given unless the decision changed it.
    """

    __slots__ = ("answer", "body", "decision")

    def __init__(self, decision: Decision, answer: Answer | None, body: Any) -> None:
        self.decision = decision
        self.answer = answer
        self.body = body

    @property
    def changes(self) -> str:
        """The value of the header that carries the changes; "" when nothing was changed."""
        said: list[str] = []
        room = _MAX_HEADER
        for change in self.decision.changes:
            room -= len(change.header) + 2
            if room < 0:
                said.append("...")
                break
            said.append(change.header)
        return ", ".join(said)


class Guard:
    """Decides about requests, and keeps count. Safe between threads.

    Args:
        policy: what is checked, and what becomes of bad tools.
        errors: form of the error bodies: "auto" (by API), "openai", "anthropic", "dynamo",
            "problem".
        cache: of verdicts; None for one of the usual size, False for none.
        json_log: one JSON object a line in the log instead of words.

    Raises:
        ValueError: there is no such form.
    """

    def __init__(
        self,
        policy: Policy = DEFAULT_POLICY,
        *,
        errors: str = "auto",
        cache: VerdictCache | bool | None = None,
        json_log: bool = False,
    ) -> None:
        if errors not in FORMS:
            raise ValueError(f"errors is one of {', '.join(FORMS)}")
        self.policy = policy
        self.errors = errors
        self.cache = cache if isinstance(cache, VerdictCache) else None
        if cache is None or cache is True:
            self.cache = VerdictCache()
        #: Schemas that slow profiles accepted: in a conversation the tools stay, messages come.
        self.schemas = None if cache is False else VerdictCache()
        self.metrics = Metrics()
        self.json_log = json_log
        self._scopes: dict[str, str] = {}

    def check(self, body: Any, api: str = AUTO) -> Outcome:
        """Decide about one request; `schemaguard.handlers.check` says what `body` and `api` are."""
        began = perf_counter()
        cached = False
        if self.cache is not None and body.__class__ is bytes:
            scope = self._scopes.get(api) or self._scopes.setdefault(api, f"{api} {self.policy!r}")
            decision, cached = self.cache.decide(body, scope, lambda: self._decide(body, api))
        else:
            decision = self._decide(body, api)
        answer = None if decision.ok else answer_of(decision, self.errors)
        code = None if decision.refusal is None else decision.refusal.code
        actions = tuple(change.action for change in decision.changes)
        self.metrics.count(decision.api, perf_counter() - began, code, actions)
        if answer is not None or actions:
            self._log(decision, cached=cached)
        return Outcome(decision, answer, body if decision.body is None else decision.body)

    def _decide(self, body: Any, api: str) -> Decision:
        return check(body, api, self.policy, known=self.schemas)

    def refuse(
        self, status: int, code: str, words: str, api: str | None, seconds: float = 0.0
    ) -> Answer:
        """The answer to a request whose body was not even looked at; counted and logged.

        Args:
            status: HTTP status.
            code: short and constant: it is a label of the metrics.
            words: for the client.
            api: that the request was for.
            seconds: spent on it.
        """
        self.metrics.count(api, seconds, code)
        self._write(
            {"event": "refused", "api": api, "status": status, "code": code, "message": words}
        )
        return make_answer(status, words, form=form_of(api, self.errors), api=api, code=code)

    def render_metrics(self) -> str:
        """The text of a Prometheus scrape."""
        return self.metrics.render(None if self.cache is None else self.cache.use)

    def _log(self, decision: Decision, *, cached: bool) -> None:
        if not LOGGER.isEnabledFor(logging.WARNING):
            return
        refusal = decision.refusal
        said: dict[str, Any] = {"event": "refused" if refusal else "changed", "api": decision.api}
        if refusal is not None:
            said |= {
                "status": decision.status,
                "code": refusal.code,
                "tool": refusal.tool,
                "pointer": refusal.pointer,
                "message": refusal.words,
                "findings": decision.total,
            }
        else:
            said |= {"changes": [change.as_dict() for change in decision.changes]}
        said["cached"] = cached
        self._write(said)

    def _write(self, said: dict[str, Any]) -> None:
        """One line; what a client sent is escaped, so that it cannot begin another."""
        if self.json_log:
            LOGGER.warning("%s", json.dumps(said, ensure_ascii=True))
            return
        words = " ".join(f"{k}={json.dumps(v)}" for k, v in said.items() if k != "event")
        LOGGER.warning("%s %s", said["event"], words)
