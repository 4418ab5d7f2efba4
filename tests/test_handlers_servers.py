"""Real servers on loopback, driven by the client libraries of the APIs."""

from __future__ import annotations

import json

import pytest

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from handler_requests import CLOSED, OPEN, chat_tool, messages_tool, responses_tool  # noqa: E402
from loopback import Server  # noqa: E402

from schemaguard.handlers import Policy  # noqa: E402
from schemaguard.handlers.asgi import PreflightMiddleware  # noqa: E402

WORDS = "Invalid schema for function 'bad': In context=#, object schemas require"
CHAT_ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "hello"},
        }
    ],
}
MESSAGES_ANSWER = {
    "id": "1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
RESPONSES_ANSWER = {
    "id": "1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
ANSWERS = {
    "/v1/chat/completions": CHAT_ANSWER,
    "/v1/responses": RESPONSES_ANSWER,
    "/v1/messages": MESSAGES_ANSWER,
}
CHUNK = {
    "id": "1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": None}],
}


class Seen:
    """The bodies that reached the application."""

    def __init__(self):
        self.bodies = []
        self.headers = []


def answer_to(path, body):
    """What the application answers: a stream when asked for one."""
    from starlette.responses import JSONResponse, StreamingResponse

    if not json.loads(body).get("stream"):
        return JSONResponse(ANSWERS[path])

    async def events():
        for _ in range(3):
            yield f"data: {json.dumps(CHUNK)}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


def starlette_app(seen):
    from starlette.applications import Starlette
    from starlette.routing import Route

    async def endpoint(request):
        body = await request.body()
        seen.bodies.append(body)
        seen.headers.append(dict(request.headers))
        return answer_to(request.url.path, body)

    return Starlette(routes=[Route(path, endpoint, methods=["POST"]) for path in ANSWERS])


def fastapi_app(seen):
    from fastapi import FastAPI, Request

    app = FastAPI()

    async def endpoint(request: Request):
        body = await request.body()
        seen.bodies.append(body)
        seen.headers.append(dict(request.headers))
        return answer_to(request.url.path, body)

    # Annotations are texts here, and FastAPI looks for their names in the module.
    endpoint.__annotations__["request"] = Request
    for path in ANSWERS:
        app.add_api_route(path, endpoint, methods=["POST"])
    return app


def fastapi_dependency_app(seen):
    from fastapi import Depends

    from schemaguard.handlers.fastapi import Preflight, PreflightRefused, refused

    preflight = Preflight()
    plain = fastapi_app(seen)
    app = type(plain)()
    checks = {
        "/v1/chat/completions": preflight.chat,
        "/v1/responses": preflight.responses,
        "/v1/messages": preflight.messages,
    }
    for route in plain.routes:
        if route.path in checks:
            depends = [Depends(checks[route.path])]
            app.add_api_route(route.path, route.endpoint, methods=["POST"], dependencies=depends)
    app.add_exception_handler(PreflightRefused, refused)
    return app


def guarded(kind, seen, **options):
    if kind == "dependency":
        return fastapi_dependency_app(seen)
    app = starlette_app(seen) if kind == "starlette" else fastapi_app(seen)
    app.add_middleware(PreflightMiddleware, **options)
    return app


@pytest.fixture(scope="module", params=["starlette", "fastapi", "dependency"])
def served(request):
    seen = Seen()
    with Server(guarded(request.param, seen)) as server:
        yield server, seen


def openai_client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=20)


def anthropic_client(server):
    return anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=20)


def ask_chat(server, schema, **more):
    return openai_client(server).chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": "hi"}],
        tools=[chat_tool("good", CLOSED), chat_tool("bad", schema)],
        **more,
    )


def ask_messages(server, schema, **more):
    return anthropic_client(server).messages.create(
        model="m",
        max_tokens=10,
        messages=[{"role": "user", "content": "hi"}],
        tools=[messages_tool("good", CLOSED), messages_tool("bad", schema)],
        **more,
    )


def test_the_openai_client_raises_its_bad_request_error_with_our_message(served):
    server, seen = served
    seen.bodies.clear()
    with pytest.raises(openai.BadRequestError) as caught:
        ask_chat(server, OPEN)
    error = caught.value
    assert WORDS in str(error)
    assert error.status_code == 400
    assert error.type == "invalid_request_error"
    assert error.param == "tools[1].function.parameters"
    assert error.code == "invalid_function_parameters"
    assert error.body["findings"][0]["pointer"] == "/tools/1/function/parameters"
    assert seen.bodies == []


def test_the_openai_client_is_told_on_responses_too(served):
    server, seen = served
    seen.bodies.clear()
    with pytest.raises(openai.BadRequestError) as caught:
        openai_client(server).responses.create(
            model="m", input="hi", tools=[responses_tool("bad", OPEN)]
        )
    assert WORDS in str(caught.value)
    assert caught.value.param == "tools[0].parameters"
    assert seen.bodies == []


def test_the_anthropic_client_raises_its_bad_request_error_with_our_message(served):
    server, seen = served
    seen.bodies.clear()
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask_messages(server, OPEN)
    assert WORDS in str(caught.value)
    assert caught.value.body["type"] == "error"
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert caught.value.body["error"]["findings"][0]["pointer"] == "/tools/1/input_schema"
    assert seen.bodies == []


def test_a_streaming_request_is_refused_before_any_event(served):
    server, seen = served
    seen.bodies.clear()
    with pytest.raises(openai.BadRequestError, match="Invalid schema for function 'bad'"):
        ask_chat(server, OPEN, stream=True)
    with pytest.raises(anthropic.BadRequestError, match="Invalid schema for function 'bad'"):
        ask_messages(server, OPEN, stream=True)
    assert seen.bodies == []


def test_good_requests_are_answered_and_streamed(served):
    server, _ = served
    assert ask_chat(server, CLOSED).choices[0].message.content == "hello"
    events = list(ask_chat(server, CLOSED, stream=True))
    assert [event.choices[0].delta.content for event in events] == ["hello"] * 3
    assert ask_messages(server, CLOSED).content[0].text == "hello"
    answer = openai_client(server).responses.create(
        model="m", input="hi", tools=[responses_tool("good", CLOSED)]
    )
    assert answer.id == "1"


def test_a_relaxed_tool_is_told_to_the_application_and_to_the_client():
    seen = Seen()
    app = guarded("starlette", seen, policy=Policy(on_reject="relax"))
    with Server(app) as server:
        answer = openai_client(server).chat.completions.with_raw_response.create(
            model="m",
            messages=[{"role": "user", "content": "hi"}],
            tools=[chat_tool("good", CLOSED), chat_tool("bad", OPEN)],
        )
    told = "relax; tool=bad; at=/tools/1; code=SG401"
    assert answer.headers["schemaguard-changes"] == told
    assert seen.headers[0]["schemaguard-changes"] == told
    assert int(seen.headers[0]["content-length"]) == len(seen.bodies[0])
    tools = json.loads(seen.bodies[0])["tools"]
    assert [tool["function"]["strict"] for tool in tools] == [True, False]
    assert tools[1]["function"]["parameters"] == OPEN
