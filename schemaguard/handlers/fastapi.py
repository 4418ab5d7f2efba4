"""A FastAPI dependency: the check for single routes, where a middleware would be for all.

::

    preflight = Preflight()

    @app.post("/v1/chat/completions", dependencies=[Depends(preflight.chat)])
    async def chat(body: ChatRequest): ...

    app.add_exception_handler(PreflightRefused, refused)

Needs FastAPI. A dependency cannot change the body that the route gets, so a policy that would drop
or relax tools refuses here.
"""

from __future__ import annotations

from fastapi import Request  # noqa: TC002  (FastAPI reads the annotation)
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from schemaguard.handlers.asgi import inline_bytes
from schemaguard.handlers.guard import Guard
from schemaguard.handlers.policy import Policy
from schemaguard.handlers.tools import AUTO, CHAT, MESSAGES, RESPONSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.handlers.bodies import Answer
    from schemaguard.handlers.results import Decision

__all__ = ["Preflight", "PreflightRefused", "refused"]


class PreflightRefused(Exception):  # noqa: N818  (it says what happened)
    """A request was refused; `refused` answers it.

    Attributes:
        answer: status, headers and body.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(f"refused with {answer.status}")


class Preflight:
    """Dependencies that check a request and give the decision.

    Args:
        policy: what is checked.
        guard: decides instead of one made of `policy`.

    Raises:
        ValueError: the policy would change requests.
    """

    def __init__(self, policy: Policy | None = None, *, guard: Guard | None = None) -> None:
        self.guard = guard or Guard(policy or Policy())
        if self.guard.policy.on_reject != "error":
            raise ValueError("a dependency cannot change a request; use the middleware")
        self._inline_bytes = inline_bytes(self.guard.policy)

    async def __call__(self, request: Request) -> Decision:
        """Check a request, whose API its shape tells."""
        return await self._check(request, AUTO)

    async def chat(self, request: Request) -> Decision:
        """Check a Chat Completions request."""
        return await self._check(request, CHAT)

    async def responses(self, request: Request) -> Decision:
        """Check a Responses request."""
        return await self._check(request, RESPONSES)

    async def messages(self, request: Request) -> Decision:
        """Check an Anthropic Messages request."""
        return await self._check(request, MESSAGES)

    async def _check(self, request: Request, api: str) -> Decision:
        body = await request.body()
        if len(body) <= self._inline_bytes:
            outcome = self.guard.check(body, api)
        else:
            outcome = await run_in_threadpool(self.guard.check, body, api)
        if outcome.answer is not None:
            raise PreflightRefused(outcome.answer)
        return outcome.decision


async def refused(_: Request, error: Exception) -> Response:
    """The exception handler that answers a refused request."""
    assert isinstance(error, PreflightRefused)  # noqa: S101  (registered for it)
    answer = error.answer
    return Response(answer.body, answer.status, dict(answer.headers))
