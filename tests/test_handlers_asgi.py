"""The middleware between a server and an application: transparent, bounded, and never in the way."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import sys
import threading
import time

import pytest
from handler_requests import APIS, CLOSED, OPEN, body, chat_tool

from schemaguard.handlers import Guard, Policy
from schemaguard.handlers.asgi import INLINE_BYTES, PATHS, PreflightMiddleware

h11 = pytest.importorskip("h11")
pytest.importorskip("uvicorn")

from loopback import Server  # noqa: E402

CHAT = "/v1/chat/completions"
GOOD = body("chat", ("a",))
BAD = body("chat", ("a", OPEN))


class Application:
    """Reads the whole body, and answers with several chunks and headers of its own."""

    def __init__(self):
        self.bodies = []
        self.scopes = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        got = b""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            got += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(got)
        self.scopes.append(scope)
        headers = [(b"content-type", b"text/event-stream"), (b"X-Odd", b"a,  b"), (b"x-odd", b"c")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for at in range(0, len(got), max(1, len(got) // 3)):
            chunk = got[at : at + max(1, len(got) // 3)]
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def scope_of(path=CHAT, method="POST", headers=((b"content-type", b"application/json"),), **more):
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "headers": list(headers),
        **more,
    }


class Wire:
    """Both ends of one ASGI connection without a server."""

    def __init__(self, chunks, *, wait=0.0, ends=True):
        self.chunks = list(chunks)
        self.wait = wait
        self.ends = ends
        self.taken = 0
        self.sent = []

    async def receive(self):
        if self.wait:
            await asyncio.sleep(self.wait)
        if not self.chunks:
            return {"type": "http.disconnect"}
        chunk = self.chunks.pop(0)
        self.taken += len(chunk)
        return {
            "type": "http.request",
            "body": chunk,
            "more_body": bool(self.chunks) or not self.ends,
        }

    async def send(self, message):
        self.sent.append(message)

    @property
    def status(self):
        return self.sent[0]["status"] if self.sent else None

    @property
    def answer(self):
        return json.loads(b"".join(message.get("body", b"") for message in self.sent[1:]))


def serve(middleware, wire, scope=None):
    asyncio.run(middleware(scope or scope_of(), wire.receive, wire.send))
    return wire


# ------------------------------------------------------------------------------------ transparent


@pytest.mark.parametrize(
    "scope",
    [
        {"type": "lifespan"},
        {"type": "websocket", "path": CHAT, "headers": []},
        scope_of("/v1/embeddings"),
        scope_of(method="GET"),
        scope_of(method="HEAD"),
        scope_of(method="DELETE"),
        scope_of(CHAT + "/x"),
        scope_of("/V1/chat/completions"),
        scope_of("/v1/chat/completions/../embeddings"),
    ],
    ids=str,
)
def test_what_is_not_looked_at_goes_through_by_the_very_same_channels(scope):
    seen = []

    async def app(*args):
        seen.append(args)

    async def receive():
        raise AssertionError("nobody may read")

    async def send(_):
        raise AssertionError("nobody may answer")

    asyncio.run(PreflightMiddleware(app)(scope, receive, send))
    assert seen == [(scope, receive, send)]
    assert seen[0][0] is scope
    assert seen[0][1] is receive
    assert seen[0][2] is send


def random_request(rng):
    """A request that passes, spelled at random."""
    text = "".join(rng.choice('abé\\"/\n\u2028😀 ') for _ in range(rng.randrange(40)))
    tools = [
        chat_tool(f"t{i}", rng.choice([CLOSED, {**CLOSED, "title": text}]))
        for i in range(rng.randrange(4))
    ]
    tools += [
        chat_tool(f"u{i}", OPEN, rng.choice([False, None, ...])) for i in range(rng.randrange(2))
    ]
    request = {
        "messages": [{"role": "user", "content": text}],
        "tools": tools,
        "seed": rng.random() * 10 ** rng.randrange(-9, 20),
    }
    if rng.random() < 0.3:
        request["padding"] = "x" * rng.randrange(200_000)
    members = list(request.items())
    rng.shuffle(members)
    indent = rng.choice([None, None, 0, 1, 4])
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,", " : ")])
    made = json.dumps(
        dict(members), ensure_ascii=rng.random() < 0.5, indent=indent, separators=separators
    )
    return (rng.choice(["", " ", "\r\n"]) + made + rng.choice(["", "\n"])).encode()


def speak(connection, peer, request, chunked):
    """One exchange over an open connection: the events of the response, as bytes of its parts."""
    headers = [
        ("Host", "x"),
        ("Content-Type", "application/json"),
        ("X-Twice", "a"),
        ("x-twice", "b"),
    ]
    headers.append(
        ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(request)))
    )
    connection.sendall(peer.send(h11.Request(method="POST", target=CHAT, headers=headers)))
    step = max(1, len(request) // 3)
    for at in range(0, len(request), step):
        connection.sendall(peer.send(h11.Data(data=request[at : at + step])))
    connection.sendall(peer.send(h11.EndOfMessage()))
    got = b""
    head = None
    while True:
        event = peer.next_event()
        if event is h11.NEED_DATA:
            peer.receive_data(connection.recv(65_536))
        elif isinstance(event, h11.Response):
            head = (event.status_code, event.headers.raw_items())
        elif isinstance(event, h11.Data):
            got += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            peer.start_next_cycle()
            return head, got


@pytest.fixture
def brisk_threads():
    """Two servers and a client in one process pass the interpreter on without waiting."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("brisk_threads")
def test_a_thousand_requests_that_pass_arrive_and_are_answered_byte_for_byte():
    rng = random.Random(6)
    bare, behind = Application(), Application()
    options = {"http": "h11", "date_header": False}
    with (
        Server(bare, **options) as one,
        Server(PreflightMiddleware(behind, guard=Guard(cache=False)), **options) as other,
        socket.create_connection(("127.0.0.1", one.port)) as a,
        socket.create_connection(("127.0.0.1", other.port)) as b,
    ):
        for connection in (a, b):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peers = (h11.Connection(h11.CLIENT), h11.Connection(h11.CLIENT))
        for _ in range(1_000):
            request = random_request(rng)
            chunked = rng.random() < 0.5
            expected = speak(a, peers[0], request, chunked)
            assert speak(b, peers[1], request, chunked) == expected
            assert expected[0][0] == 200
            assert behind.bodies.pop() == request == bare.bodies.pop()
            assert behind.scopes.pop()["headers"] == bare.scopes.pop()["headers"]


def test_a_response_is_never_held_back():
    """Each message of the application is on its way before the next one is made."""
    wire = Wire([GOOD])
    seen = []

    async def app(_scope, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for index in range(5):
            await send({"type": "http.response.body", "body": b"%d" % index, "more_body": True})
            seen.append(len(wire.sent))

    serve(PreflightMiddleware(app), wire)
    assert seen == [2, 3, 4, 5, 6]


def test_after_the_body_the_application_hears_the_client_go():
    heard = []

    async def app(_scope, receive, _send):
        heard.extend([await receive(), await receive()])

    serve(PreflightMiddleware(app), Wire([GOOD[:5], GOOD[5:]]))
    assert heard == [
        {"type": "http.request", "body": GOOD, "more_body": False},
        {"type": "http.disconnect"},
    ]


def test_an_exception_of_the_application_is_its_own():
    async def app(*_):
        raise KeyError("mine")

    middleware = PreflightMiddleware(app)
    with pytest.raises(KeyError, match="mine"):
        serve(middleware, Wire([GOOD]))
    assert middleware._room.used == 0


@pytest.mark.parametrize("api", APIS)
def test_each_path_has_its_api_and_its_form_of_body(api):
    path = next(path for path, of in PATHS.items() if of == api)
    wire = serve(PreflightMiddleware(Application()), Wire([body(api, ("a", OPEN))]), scope_of(path))
    assert wire.status == 400
    assert ("type" in wire.answer) == (api == "messages")


def test_a_mount_point_in_front_of_a_path_is_left_out():
    scope = scope_of("/llm" + CHAT, root_path="/llm")
    assert serve(PreflightMiddleware(Application()), Wire([BAD]), scope).status == 400


def test_paths_can_be_said_and_others_are_left_alone():
    middleware = PreflightMiddleware(Application(), paths=["/ask"])
    assert serve(middleware, Wire([BAD]), scope_of("/ask")).status == 400
    assert serve(middleware, Wire([BAD])).status == 200


def test_a_body_without_a_type_is_taken_for_json():
    assert (
        serve(PreflightMiddleware(Application()), Wire([BAD]), scope_of(headers=[])).status == 400
    )
    suffix = scope_of(headers=[(b"content-type", b"Application/Problem+JSON; charset=x")])
    assert serve(PreflightMiddleware(Application()), Wire([BAD]), suffix).status == 400


@pytest.mark.parametrize(
    "value",
    [
        b"application/json\xa0",  # a space for `str`, and so for email.message and FastAPI
        b"\x85application/json",
        b"",
        b"\xa0",
        b"text/plain",
        b"application/octet-stream",
        b"multipart/form-data; boundary=x",
        b"application/x-www-form-urlencoded",
        b"application/x; application/json",
        b"APPLICATION/JSON;charset=utf-16",
        b"application/vnd.x+json",
    ],
)
def test_no_content_type_leads_an_object_past_the_check(value):
    # Starlette's `request.json()` never looks at the type.
    scope = scope_of(headers=[(b"content-type", value)])
    for chunks in ([BAD], [b"", b" \r\n\t", BAD[:1], BAD[1:]], [b"\xef\xbb\xbf" + BAD]):
        application = Application()
        assert serve(PreflightMiddleware(application), Wire(chunks), scope).status == 400
        assert application.bodies == []
    application = Application()
    assert serve(PreflightMiddleware(application), Wire([GOOD[:9], GOOD[9:]]), scope).status == 200
    assert application.bodies == [GOOD]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32-be"])
@pytest.mark.parametrize("kind", [b"text/plain", b"application/json"])
def test_what_a_json_reader_decodes_by_itself_is_not_let_through(encoding, kind):
    encoded = (" " + BAD.decode()).encode(encoding)
    assert json.loads(encoded) == json.loads(BAD)
    scope = scope_of(headers=[(b"content-type", kind)])
    assert serve(PreflightMiddleware(Application()), Wire([encoded]), scope).status == 400


@pytest.mark.parametrize("sent", [b"--x\r\n\r\n", b"a=1&b={}", b"", b"[{}]", b"\x00\x01{"])
def test_other_types_stream_through_from_the_first_byte_on(sent):
    scope = scope_of(headers=[(b"content-type", b"multipart/form-data; boundary=x")])
    chunks = [b" ", sent, BAD]
    application, wire = Application(), Wire(chunks)
    taken = []

    async def app(scope, receive, send):
        taken.append(wire.taken)
        await application(scope, receive, send)

    assert serve(PreflightMiddleware(app), wire, scope).status == (200 if sent else 400)
    assert application.bodies == ([b" " + sent + BAD] if sent else [])
    assert taken == ([1 + len(sent)] if sent else [])  # no more than the first byte needs


def test_a_body_that_is_blank_for_long_is_held_to_the_limits():
    scope = scope_of(headers=[(b"content-type", b"text/plain")])
    wire = Wire([b" " * 50_000] * 10)
    middleware = PreflightMiddleware(Application(), max_body_bytes=200_000)
    assert serve(middleware, wire, scope).status == 413
    slow = Wire([b" ", b" "], wait=0.2)
    middleware = PreflightMiddleware(Application(), receive_timeout=0.1)
    assert serve(middleware, slow, scope).status == 408


def test_a_client_that_goes_before_the_first_byte_is_the_affair_of_the_application():
    scope = scope_of(headers=[(b"content-type", b"text/plain")])
    application = Application()
    assert serve(PreflightMiddleware(application), Wire([]), scope).sent == []
    assert application.bodies == []


@pytest.mark.parametrize(
    "path",
    [
        "//v1/chat/completions",
        "/v1//chat/completions",
        "/v1/chat/completions/",
        "/v1/./chat/completions",
        "/v1/x/../chat/completions",
        "///v1/chat//completions//",
    ],
)
def test_spellings_that_something_behind_may_take_for_the_path_are_checked(path):
    assert serve(PreflightMiddleware(Application()), Wire([BAD]), scope_of(path)).status == 400
    mounted = scope_of("/llm" + path, root_path="/llm")
    assert serve(PreflightMiddleware(Application()), Wire([BAD]), mounted).status == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_every_method_with_a_body_is_checked(method):
    scope = scope_of(method=method)
    assert serve(PreflightMiddleware(Application()), Wire([BAD]), scope).status == 400


def test_other_types_can_be_refused():
    scope = scope_of(headers=[(b"content-type", b"text/plain")])
    wire = serve(PreflightMiddleware(Application(), other_types="refuse"), Wire([BAD]), scope)
    assert wire.status == 415


# ---------------------------------------------------------------------------------------- changes


def test_a_changed_body_has_its_length_and_is_told_of_both_ways():
    application = Application()
    headers = [
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"%d" % len(BAD)),
        (b"Schemaguard-Changes", b"forged"),
    ]
    wire = serve(
        PreflightMiddleware(application, policy=Policy(on_reject="relax")),
        Wire([BAD]),
        scope_of(headers=headers),
    )
    told = (b"schemaguard-changes", b"relax; tool=a; at=/tools/0; code=SG401")
    assert application.bodies == [BAD.replace(b"true", b"false")]
    assert application.scopes[0]["headers"] == [
        (b"Content-Type", b"application/json"),
        (b"content-length", b"%d" % (len(BAD) + 1)),
        told,
    ]
    assert wire.sent[0]["headers"][-1] == told
    assert wire.sent[0]["headers"][:-1] == [
        (b"content-type", b"text/event-stream"),
        (b"X-Odd", b"a,  b"),
        (b"x-odd", b"c"),
    ]


def test_metrics_are_served_where_they_are_asked_for():
    middleware = PreflightMiddleware(Application(), metrics_path="/schemaguard/metrics")
    serve(middleware, Wire([BAD]))
    wire = serve(middleware, Wire([b""]), scope_of("/schemaguard/metrics", "GET"))
    assert wire.status == 200
    assert b'schemaguard_rejected_total{api="chat",code="SG401"} 1' in wire.sent[1]["body"]
    assert (
        serve(PreflightMiddleware(Application()), Wire([b""]), scope_of("/metrics", "GET")).status
        == 200
    )


def test_a_dependency_cannot_change_requests():
    pytest.importorskip("fastapi")
    from schemaguard.handlers.fastapi import Preflight

    with pytest.raises(ValueError, match="cannot change"):
        Preflight(Policy(on_reject="relax"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"paths": "x"},
        {"paths": {"/a": "telepathy"}},
        {"max_body_bytes": 0},
        {"encodings": "x"},
        {"errors": "x"},
    ],
    ids=str,
)
def test_wrong_arguments_end_the_start(wrong):
    with pytest.raises(ValueError):
        PreflightMiddleware(Application(), **wrong)


# ---------------------------------------------------------------------------------------- hostile


def test_a_body_that_says_it_is_too_large_is_not_even_received():
    wire = Wire([b"x" * 1_000])
    scope = scope_of(headers=[(b"content-length", b"99999999999999999999")])
    serve(PreflightMiddleware(Application()), wire, scope)
    assert wire.status == 413
    assert (b"connection", b"close") in wire.sent[0]["headers"]


@pytest.mark.parametrize("length", [None, b"10"], ids=["chunked", "lying"])
def test_a_body_that_becomes_too_large_is_ended_while_it_comes(length, monkeypatch):
    from schemaguard.handlers import receiving

    monkeypatch.setattr(receiving, "DRAIN_SECONDS", 0.0)
    headers = [] if length is None else [(b"content-length", length)]
    wire = Wire([b"x" * 65_536] * 1_600, wait=0.0001)  # 100 MB
    application = Application()
    middleware = PreflightMiddleware(application, max_body_bytes=1 << 20)
    serve(middleware, wire, scope_of(headers=headers))
    assert wire.status == 413
    assert wire.taken <= (1 << 20) + 3 * 65_536
    assert application.bodies == []
    assert middleware._room.used == 0


def test_a_body_of_single_bytes_takes_no_more_memory_than_its_bytes():
    import tracemalloc

    wire = Wire([b" "] * 50_000 + [GOOD])
    middleware = PreflightMiddleware(Application())
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    serve(middleware, wire)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert wire.status == 200
    assert peak < 2_000_000


def test_a_client_that_dawdles_is_answered_with_408():
    wire = Wire([b"{"] * 1_000, wait=0.02, ends=False)
    began = time.monotonic()
    serve(PreflightMiddleware(Application(), receive_timeout=0.2), wire)
    assert time.monotonic() - began < 2
    assert wire.status == 408


def test_a_client_that_goes_away_leaves_nothing_behind():
    application = Application()
    middleware = PreflightMiddleware(application)
    wire = serve(middleware, Wire([GOOD[:9]], ends=False))
    assert wire.sent == []
    assert application.bodies == []
    assert middleware._room.used == 0


def test_more_bodies_than_there_is_memory_for_are_put_off():
    middleware = PreflightMiddleware(Application(), max_buffered_bytes=250_000)
    request = body("chat", ("a",), padding="x" * 100_000)

    async def run():
        # Each starts a little after the one before it, and takes a while.
        wires = [Wire([request[:50_000], request[50_000:]], wait=0.05 + i / 100) for i in range(10)]
        await asyncio.gather(*(middleware(scope_of(), wire.receive, wire.send) for wire in wires))
        return sorted(wire.status for wire in wires)

    statuses = asyncio.run(run())
    assert set(statuses) == {200, 503}
    assert statuses.count(200) >= 2
    assert middleware._room.used == 0


@pytest.mark.parametrize("encoding", [b"gzip", b"br", b"deflate, gzip", b"x-unknown"])
def test_compressed_bodies_are_refused_or_passed_by_policy(encoding):
    packed = gzip.compress(BAD)
    headers = [(b"content-type", b"application/json"), (b"Content-Encoding", encoding)]
    assert (
        serve(PreflightMiddleware(Application()), Wire([packed]), scope_of(headers=headers)).status
        == 415
    )
    application = Application()
    wire = serve(
        PreflightMiddleware(application, encodings="pass"),
        Wire([packed]),
        scope_of(headers=headers),
    )
    assert wire.status == 200
    assert application.bodies == [packed]


def test_an_encoding_that_is_none_is_checked():
    headers = [(b"content-encoding", b" Identity ")]
    assert (
        serve(PreflightMiddleware(Application()), Wire([BAD]), scope_of(headers=headers)).status
        == 400
    )


def nested(levels):
    return b'{"tools": ' + b"[" * levels + b"]" * levels + b"}"


def deep_schema(levels):
    return (
        b'{"tools": [{"type": "function", "function": {"name": "a", "strict": true, "parameters": '
        + b'{"items":' * levels
        + b"{}"
        + b"}" * levels
        + b"}}]}"
    )


BOMBS = {
    "arrays": nested(100_000),
    "arrays within the depth of the reader": nested(990),
    "objects": b'{"a":' * 300_000,
    "a schema": deep_schema(100_000),
    "a schema within the depth of the reader": deep_schema(900),
    "bytes that are no text": b'{"tools": "\xff\xfe"}',
    "text of another encoding": BAD.decode().encode("utf-16"),
    "an endless string": b'{"a": "' + b"x" * 1_000_000,
    "an endless number": b'{"a": ' + b"9" * 1_000_000 + b"}",
    "nothing": b"",
    "tools that are bad": body("chat", *[(f"t{i}", OPEN) for i in range(10_000)]),
    "tools of one name": body("chat", *[("a", OPEN) for _ in range(1_536)]),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_bounded_time(name):
    began = time.process_time()
    wire = serve(PreflightMiddleware(Application()), Wire([BOMBS[name]]))
    assert time.process_time() - began < 5
    assert wire.status == 400
    assert len(wire.sent[1]["body"]) < 100_000


def test_ten_thousand_good_tools_are_more_than_the_contract_allows():
    many = body("chat", *[(f"t{i}",) for i in range(10_000)])
    wire = serve(PreflightMiddleware(Application()), Wire([many]))
    assert wire.status == 400
    assert "10000 tools" in wire.answer["error"]["message"]


def closed(properties):
    return {**CLOSED, "properties": properties, "required": list(properties)}


LARGE = {
    "many properties": lambda: body(
        "chat",
        *[
            (
                f"t{i}",
                closed({f"p{j}": {"type": "string", "description": "d" * 40} for j in range(400)}),
            )
            for i in range(300)
        ],
    ),
    "a long array": lambda: body("chat", ("a", {**CLOSED, "default": [12345678] * 999_000})),
    "long strings": lambda: body("chat", ("a", {**CLOSED, "examples": ['[{x,"' * 1_000] * 1_600})),
    "a flood of faults": lambda: body(
        "chat",
        *[("a", closed({f"p{j}": {"type": "object"} for j in range(2_000)})) for i in range(130)],
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_request_does_not_stall_the_others(name):
    """The longest time in which the loop serves nobody, while one request of 10 MB is checked."""
    large = LARGE[name]()
    assert len(large) > 9_000_000 > INLINE_BYTES
    middleware = PreflightMiddleware(Application(), guard=Guard(cache=False))
    small = body("chat", ("a",))

    async def run():
        gaps = []
        done = asyncio.Event()

        async def others():
            last = time.perf_counter()
            while not done.is_set():
                wire = Wire([small])
                await middleware(scope_of(), wire.receive, wire.send)
                assert wire.status == 200
                await asyncio.sleep(0.001)
                now = time.perf_counter()
                gaps.append(now - last)
                last = now

        async def one():
            wire = Wire([large])
            await middleware(scope_of(), wire.receive, wire.send)
            done.set()
            return wire.status

        _, status = await asyncio.gather(others(), one())
        return status, gaps

    status, gaps = asyncio.run(run())
    print(f"{name}: longest gap {max(gaps) * 1000:.0f} ms, {len(gaps)} small requests meanwhile")
    assert status == (400 if "faults" in name else 200)
    assert len(gaps) > 2
    assert max(gaps) < 1.0


@pytest.mark.parametrize("as_dependency", [False, True])
@pytest.mark.parametrize(
    ("policy", "size", "in_the_loop"),
    [
        (Policy(), 100_000, True),
        (Policy(), 140_000, False),
        (Policy(server="vllm"), 5_000, True),
        (Policy(server="vllm"), 20_000, False),
        (Policy(profiles={"answer": "xgrammar"}), 20_000, False),
        (Policy(strict_only=False), 20_000, False),
    ],
)
def test_a_check_that_may_take_long_for_its_size_leaves_the_loop_sooner(
    policy, size, in_the_loop, as_dependency
):
    class Watched(Guard):
        def check(self, body, api="auto"):
            threads.append(threading.current_thread())
            return super().check(body, api)

    class Request:
        async def body(self):
            return text

    threads = []
    text = body("chat", ("a",), user="u" * size)
    guard = Watched(policy)
    if as_dependency:
        pytest.importorskip("fastapi")
        from schemaguard.handlers.fastapi import Preflight

        assert asyncio.run(Preflight(guard=guard).chat(Request())).ok
    else:
        wire = Wire([text])
        asyncio.run(
            PreflightMiddleware(Application(), guard=guard)(scope_of(), wire.receive, wire.send)
        )
        assert wire.status == 200
    assert [thread is threading.current_thread() for thread in threads] == [in_the_loop]


# ------------------------------------------------------------------------- hostile, a real server


@pytest.fixture(scope="module", params=["h11", "httptools"])
def server(request):
    if request.param == "httptools":
        pytest.importorskip("httptools")
    application = Application()
    middleware = PreflightMiddleware(application, receive_timeout=1.0)
    with Server(middleware, http=request.param) as running:
        running.application = application
        running.middleware = middleware
        yield running


def head(length, more=b""):
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s%s\r\n" % (
        CHAT.encode(),
        b"Content-Length: %d\r\n" % length if length is not None else b"",
        more,
    )


def exchange(server, *parts, timeout=15, wait=0.0):
    """All that the server answers to what is sent, until it closes or is silent."""
    got = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(wait)
        except OSError:
            pass
        connection.settimeout(2)
        try:
            while data := connection.recv(65_536):
                got += data
        except OSError:
            pass
    return got


def statuses(answer):
    return [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]


def test_requests_in_one_pipeline_are_each_answered_in_order(server):
    sent = b"".join(head(len(text)) + text for text in (BAD, GOOD, BAD, GOOD, b"{"))
    assert statuses(exchange(server, sent)) == [400, 200, 400, 200, 400]


def test_a_hundred_megabytes_are_refused_with_413_that_the_client_reads(server):
    chunk = b"x" * (1 << 20)
    answer = exchange(server, head(100 << 20), *[chunk] * 100)
    assert statuses(answer) == [413]
    chunks = [b"%x\r\n%s\r\n" % (len(chunk), chunk)] * 100
    answer = exchange(server, head(None, b"Transfer-Encoding: chunked\r\n"), *chunks)
    assert statuses(answer) == [413]
    assert server.middleware._room.used == 0


def test_a_slow_body_is_ended_and_others_are_served_meanwhile(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as slow:
        slow.sendall(head(1_000) + b'{"messages"')
        assert statuses(exchange(server, head(len(GOOD), b"Connection: close\r\n") + GOOD)) == [200]
        assert slow.recv(65_536).startswith(b"HTTP/1.1 408")


def test_a_body_shorter_than_it_says_gets_no_answer_and_costs_nothing(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head(len(GOOD) + 100) + GOOD)
    time.sleep(0.1)
    assert statuses(exchange(server, head(len(GOOD), b"Connection: close\r\n") + GOOD)) == [200]
    assert server.middleware._room.used == 0


def test_a_body_longer_than_it_says_is_not_the_next_request_of_anybody(server):
    server.application.bodies.clear()
    answer = exchange(server, head(len(GOOD)) + GOOD + BAD)
    assert server.application.bodies in ([], [GOOD])
    assert statuses(answer).count(200) <= 1


def test_a_compressed_body_and_bytes_that_are_no_text(server):
    packed = gzip.compress(GOOD)
    assert statuses(
        exchange(server, head(len(packed), b"Content-Encoding: gzip\r\n") + packed)
    ) == [415]
    assert statuses(exchange(server, head(4, b"Connection: close\r\n") + b"\xff\xfe\xfd\xfc")) == [
        400
    ]


def test_a_thousand_concurrent_rejects(server):
    """All connected before the first is answered; every one gets its own answer."""

    async def client(number, barrier):
        request = body("chat", (f"t{number}", OPEN))
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await barrier.wait()
        writer.write(head(len(request), b"Connection: close\r\n") + request)
        answer = await reader.read()
        writer.close()
        return statuses(answer) == [400] and f"'t{number}'".encode() in answer

    async def run():
        barrier = asyncio.Barrier(1_000)
        return await asyncio.gather(*(client(i, barrier) for i in range(1_000)))

    began = time.monotonic()
    assert all(asyncio.run(run()))
    assert time.monotonic() - began < 30
    assert server.middleware._room.used == 0
