"""ASGI middleware: bad tool schemas are answered with 400 before the application sees them.

::

    from schemaguard.handlers.asgi import PreflightMiddleware

    app.add_middleware(PreflightMiddleware, policy=Policy(on_reject="relax"))  # Starlette, FastAPI
    app = PreflightMiddleware(app)  # any ASGI application

    vllm serve … --middleware schemaguard.handlers.asgi.PreflightMiddleware

(there, settings come from the environment: `schemaguard.handlers.settings`). Only requests with a
JSON body to the configured paths are looked at. Of these the body is read whole, up to a limit;
an accepted one goes on byte for byte. Everything else streams through, and no response is touched,
except for one header when a policy changed the request. Nothing beyond the standard library is
needed; the event loop is asyncio's.
"""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from posixpath import normpath
from time import perf_counter

from schemaguard.handlers.bodies import Answer
from schemaguard.handlers.guard import CHANGES_HEADER, Guard
from schemaguard.handlers.metrics import CONTENT_TYPE
from schemaguard.handlers.receiving import (
    CHECK,
    PEEK,
    TIMED_OUT,
    BodyError,
    ClientGoneError,
    Room,
    peek,
    plan_of,
    read_whole,
    throw_away,
)
from schemaguard.handlers.settings import from_environment, log_ignored
from schemaguard.handlers.tools import AUTO, CHAT, MESSAGES, RESPONSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
    from typing import Any

    from schemaguard.handlers.guard import Outcome
    from schemaguard.handlers.policy import Policy
    from schemaguard.handlers.receiving import Hold

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: What servers take schemas at. Completions has no tools, and a `response_format` like Chat's.
PATHS = {
    "/v1/chat/completions": CHAT,
    "/v1/chat/completions/batch": CHAT,
    "/v1/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/messages": MESSAGES,
    "/invocations": AUTO,
    "/generate": AUTO,
    "/inference/v1/generate": AUTO,
    "/vertex_generate": AUTO,
}

#: Methods with a body; SGLang takes some requests by PUT.
METHODS = ("POST", "PUT", "PATCH")

#: Bodies up to this size are checked in the event loop: that takes a few milliseconds at the most,
#: and a thread costs a switch each way. Where it is counted what an engine would do with a schema,
#: the worst take 7 ms a kB.
INLINE_BYTES = 128 << 10
INLINE_BYTES_COUNTED = 8 << 10
#: Larger ones wait for one of so many threads; more would only wait for each other.
WORKERS = 2


def inline_bytes(policy: Policy) -> int:
    """Up to which size bodies are checked in the event loop."""
    return INLINE_BYTES_COUNTED if policy.counts_work else INLINE_BYTES


_NOT_NORMAL = re.compile(r"//|/\.|/$").search


class PreflightMiddleware:
    """Pure ASGI middleware.

    Every argument but `app` may be left out; what is left out is taken from the environment, where
    `schemaguard.handlers.settings` says under which names, and then has a usual value.

    Args:
        app: the application.
        paths: what to look at: path → "chat", "responses", "messages" or "auto"; or paths alone,
            for "auto". Without a trailing slash; a mount point in front of it may be left out, and
            slashes too many in a request do not matter.
        policy: what is checked, and what becomes of bad tools.
        guard: decides instead of one made of `policy`, `errors` and `json_log`.
        errors: form of the error bodies; see `schemaguard.handlers.Guard`.
        json_log: log one JSON object a rejection.
        max_body_bytes: a larger body is answered with 413 while it is received.
        receive_timeout: seconds that a client has for its body; then it is answered with 408.
        max_buffered_bytes: of all bodies that are received or checked at one time; what does not
            fit is answered with 503.
        encodings: "refuse" answers a compressed body with 415, "pass" lets it through unchecked.
        other_types: "pass" lets bodies that do not say that they are JSON through unchecked, unless
            they begin like a JSON object; "refuse" answers them with 415. No type at all is taken
            for JSON.
        metrics_path: answers GET with the metrics; by default none does.
    """

    def __init__(
        self,
        app: App,
        *,
        paths: Mapping[str, str] | Iterable[str] | None = None,
        policy: Policy | None = None,
        guard: Guard | None = None,
        errors: str | None = None,
        json_log: bool | None = None,
        max_body_bytes: int | None = None,
        receive_timeout: float | None = None,
        max_buffered_bytes: int | None = None,
        encodings: str | None = None,
        other_types: str | None = None,
        metrics_path: str | None = None,
    ) -> None:
        given: dict[str, object] = {
            "paths": paths,
            "policy": policy,
            "errors": errors,
            "json_log": json_log,
            "max_body_bytes": max_body_bytes,
            "receive_timeout": receive_timeout,
            "max_buffered_bytes": max_buffered_bytes,
            "encodings": encodings,
            "other_types": other_types,
            "metrics_path": metrics_path,
        }
        settings = from_environment().given(**given)
        log_ignored({"guard": guard, **given})
        self.app = app
        self.settings = settings
        self.guard = guard or Guard(
            settings.policy, errors=settings.errors, json_log=settings.json_log
        )
        self.paths = dict(PATHS) if settings.paths is None else settings.paths
        self._inline_bytes = inline_bytes(self.guard.policy)
        self._room = Room(settings.max_buffered_bytes)
        self._threads: ThreadPoolExecutor | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of any kind, as ASGI has it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] in METHODS:
            api = self._api_of(scope)
            if api is not None:
                await self._guarded(api, scope, receive, send)
                return
        elif scope["method"] == "GET" and scope["path"] == self.settings.metrics_path:
            text = self.guard.render_metrics().encode()
            size = ("content-length", str(len(text)))
            await _answer(send, Answer(200, (("content-type", CONTENT_TYPE), size), text))
            return
        await self.app(scope, receive, send)

    def _api_of(self, scope: Scope) -> str | None:
        """The API of a path that is looked at."""
        path: str = scope["path"]
        root = scope.get("root_path") or ""
        api = self._api_at(path)
        if api is None and root and path.startswith(root):
            api = self._api_at(path[len(root) :])
        return api

    def _api_at(self, path: str) -> str | None:
        api = self.paths.get(path)
        if api is None and _NOT_NORMAL(path):  # an application may take one path for the other
            api = self.paths.get(normpath("/" + path.lstrip("/")))
        return api

    async def _guarded(self, api: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request to a path that is looked at."""
        began = perf_counter()
        with self._room.hold() as hold:
            try:
                plan = plan_of(scope["headers"], self.settings)
                checked = plan == CHECK
                if plan == PEEK:
                    checked, receive = await peek(receive, self.settings)
                body = (
                    await read_whole(scope["headers"], receive, self.settings, hold)
                    if checked
                    else b""
                )
            except ClientGoneError:
                return
            except BodyError as error:
                fault = error.with_traceback(None)  # the frames hold what was received
            else:
                if checked:
                    outcome = await self._check(body, api)
                    if outcome.answer is not None:
                        await _answer(send, outcome.answer)
                        return
                    if outcome.changes:
                        scope = _with_changes(scope, len(outcome.body), outcome.changes)
                        send = _telling(send, outcome.changes)
                    receive = _replay(outcome.body, receive, hold)
                    del body, outcome  # what the application was given is its own
                await self.app(scope, receive, send)
                return
        told = None if api == AUTO else api
        spent = perf_counter() - began
        answer = self.guard.refuse(fault.status, fault.code, fault.words, told, spent)
        await _answer_unread(scope, receive, send, answer, drain=fault.status != TIMED_OUT)

    async def _check(self, body: bytes, api: str) -> Outcome:
        if len(body) <= self._inline_bytes:
            return self.guard.check(body, api)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(WORKERS, "schemaguard")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.guard.check, body, api)


def _replay(body: bytes, receive: Receive, hold: Hold) -> Receive:
    """Receive the body that was read before, then whatever else comes."""
    waiting: list[bytes] = [body]

    async def replayed() -> Message:
        if not waiting:
            return await receive()
        hold.release()  # from here on it is the application's
        return {"type": "http.request", "body": waiting.pop(), "more_body": False}

    return replayed


def _with_changes(scope: Scope, length: int, changes: str) -> Scope:
    """The scope of a request that was changed: its length, and a header that says so."""
    replaced = (b"content-length", b"transfer-encoding", CHANGES_HEADER.encode())
    headers = [(name, value) for name, value in scope["headers"] if name.lower() not in replaced]
    headers.append((b"content-length", str(length).encode()))
    headers.append((CHANGES_HEADER.encode(), changes.encode("ascii", "replace")))
    return {**scope, "headers": headers}


def _telling(send: Send, changes: str) -> Send:
    """Send a response with the header that says what was changed in the request."""
    told = (CHANGES_HEADER.encode(), changes.encode("ascii", "replace"))

    async def telling(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), told]}
        await send(message)

    return telling


async def _answer(send: Send, answer: Answer, *more: tuple[str, str]) -> None:
    await _start(send, answer.status, (*answer.headers, *more))
    await send({"type": "http.response.body", "body": answer.body})


async def _answer_unread(
    scope: Scope, receive: Receive, send: Send, answer: Answer, *, drain: bool
) -> None:
    """Answer while the body is still on its way, and end the connection.

    What comes meanwhile is thrown away for a while: a connection that is closed with unread data is
    reset, and the client might lose the answer.
    """
    more = (("connection", "close"),) if scope.get("http_version", "1.1").startswith("1") else ()
    await _start(send, answer.status, (*answer.headers, *more))
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    if drain:
        await throw_away(receive)
    await send({"type": "http.response.body", "body": b""})


async def _start(send: Send, status: int, headers: Iterable[tuple[str, str]]) -> None:
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
