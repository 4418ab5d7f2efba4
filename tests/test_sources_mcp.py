"""MCP servers: real ones over stdio and HTTP, and such as never answer, never end or never stop."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("mcp")

from conftest import ROOT

from schemaguard import lint
from schemaguard.sources import SourceError, mcp

posix = pytest.mark.skipif(os.name != "posix", reason="process groups and signals")

SDK_SERVER = '''\
import os, sys
from mcp.server import MCPServer
server = MCPServer("shop")
print("starting", file=sys.stderr)

@server.tool()
def add(a: int, b: int = 3) -> int:
    """Add."""
    return a + b

@server.tool()
def whoami(name: str) -> str:
    return os.environ.get("SHOP_KEY", "")

if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
'''

#: A server by hand; `TOOLS` is a list of answers to tools/list, by cursor.
PLAIN_SERVER = """\
import json, os, signal, sys
{before}
def answer(request):
    if request["method"] == "initialize":
        return {{"protocolVersion": request["params"]["protocolVersion"], "capabilities": {{"tools": {{}}}},
                "serverInfo": {{"name": "x", "version": "1"}}}}
    cursor = (request.get("params") or {{}}).get("cursor")
{tools}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        reply = {{"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}}
        print(json.dumps(reply), flush=True)
{after}
"""


@pytest.fixture
def plain(tmp_path):
    def write(tools: str, before: str = "", after: str = "") -> list[str]:
        path = tmp_path / "server.py"
        path.write_text(PLAIN_SERVER.format(tools=f"    {tools}", before=before, after=after))
        return [sys.executable, str(path)]

    return write


def tools_of(source) -> list:
    (part,) = source.parts
    return part.value["tools"]


def gone(pid: int) -> bool:
    """Whether a process has ended, or is about to."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_server_of_the_sdk_is_asked_over_stdio(tmp_path):
    script = tmp_path / "shop.py"
    script.write_text(SDK_SERVER)
    source = mcp.list_tools([sys.executable, str(script)])
    assert [tool["name"] for tool in tools_of(source)] == ["add", "whoami"]
    assert tools_of(source)[0]["inputSchema"]["required"] == ["a"]
    report = lint.check_source(source)
    assert report.kind == "mcp"
    assert [tool.pointer for tool in report.tools] == ["/tools/0", "/tools/1"]
    assert str(script) in report.path


def test_a_server_of_the_sdk_is_asked_over_http(tmp_path):
    script = tmp_path / "shop.py"
    script.write_text(SDK_SERVER)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, str(script), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        source = mcp.list_tools(url=f"http://127.0.0.1:{port}/mcp?token=secret", timeout=20)
        assert [tool["name"] for tool in tools_of(source)] == ["add", "whoami"]
        assert source.path == f"http://127.0.0.1:{port}/mcp"
        with pytest.raises(SourceError):
            mcp.list_tools(url=f"http://127.0.0.1:{port}/elsewhere", timeout=20)
    finally:
        server.kill()
        server.wait()


def test_all_pages_are_asked_for_and_kept_as_they_were_sent(plain):
    server = plain(
        'n = int(cursor or 0); return {"tools": [{"name": f"t{n}", "inputSchema": '
        '{"type": "object", "default": None, "x": {"y": None}}}], '
        '**({"nextCursor": str(n + 1)} if n < 4 else {})}'
    )
    tools = tools_of(mcp.list_tools(server, timeout=20))
    assert [tool["name"] for tool in tools] == ["t0", "t1", "t2", "t3", "t4"]
    assert tools[0]["inputSchema"] == {"type": "object", "default": None, "x": {"y": None}}


def test_what_the_protocol_forbids_in_a_tool_is_for_the_check_to_say(plain):
    server = plain('return {"tools": [{"name": "t", "inputSchema": 7}, {"title": 3}]}')
    report = lint.check_source(mcp.list_tools(server, timeout=20))
    assert not report.ok
    assert {f.pointer.split("/")[2] for f in report.findings} >= {"0"}


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ('return {"tools": [], "nextCursor": "again"}', "twice"),
        ("return {}", "tools"),
        ('return {"tools": 3}', "tools"),
        ("return [1]", "within 6 s"),
        ("raise SystemExit(3)", "status 3"),
        ("raise RuntimeError('out of tools')", "out of tools"),
        (
            'print("x" * (17 << 20)); sys.stdout.flush(); import time; time.sleep(60)',
            "line of more",
        ),
    ],
)
def test_a_bad_answer_is_an_error_in_one_line(plain, tools, words):
    with pytest.raises(SourceError, match=words) as caught:
        mcp.list_tools(plain(tools), timeout=6)
    assert "\n" not in str(caught.value)


def test_noise_between_the_answers_is_read_over(plain, capfd):
    server = plain(
        'print("not json"); print("{}"); print("[1"); print("\\xff\\0"); '
        'print("loud", file=sys.stderr); return {"tools": []}',
        before='print("Welcome!", flush=True)',
    )
    assert tools_of(mcp.list_tools(server, timeout=20)) == []
    assert capfd.readouterr() == ("", "")


HOSTILE = {
    "silent": "import time; time.sleep(600)",
    "deaf": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    "noisy": "while True: print('noise')",
    "endless line": "import sys\nwhile True: sys.stdout.write('x' * 65536)",
    "loud": "import sys\nwhile True: sys.stderr.write('x' * 65536 + '\\n')",
    "chatty": "import json\nwhile True: print(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {'level': 'info', 'data': 'x' * 1000}}))",
    "closed": "import os, time; os.close(0); os.close(1); time.sleep(600)",
    "gone": "pass",
    "children": "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); open('child', 'w').write(str(p.pid)); time.sleep(600)",
}


@posix
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_server_that_misbehaves_is_ended_in_time(kind, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(
        "import os; open('pid', 'w').write(str(os.getpid()))\n" + HOSTILE[kind]
    )
    start = time.monotonic()
    with pytest.raises(SourceError) as caught:
        mcp.list_tools([sys.executable, "bad.py"], timeout=1.5)
    assert time.monotonic() - start < 8
    assert len(str(caught.value)) < 1_000
    assert gone(int((tmp_path / "pid").read_text()))
    if kind == "children":
        assert gone(int((tmp_path / "child").read_text()))
    assert capfd.readouterr() == ("", "")


@posix
def test_a_server_that_will_not_end_after_a_good_answer_is_ended(plain, tmp_path):
    server = plain(
        'return {"tools": []}',
        before=f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        after="import time\nwhile True: time.sleep(1)",
    )
    assert tools_of(mcp.list_tools(server, timeout=20)) == []
    assert gone(int((tmp_path / "pid").read_text()))


@posix
def test_an_interrupt_ends_the_server(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    )
    client = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from schemaguard.sources import mcp; import sys; mcp.list_tools([sys.executable, 'slow.py'])",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    pid_file = tmp_path / "pid"
    for _ in range(400):
        if pid_file.exists() and pid_file.read_text():
            break
        time.sleep(0.05)
    client.send_signal(2)
    client.wait(20)
    assert gone(int(pid_file.read_text()))


def test_what_cannot_be_started_or_reached_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="cannot be started"):
        mcp.list_tools([str(tmp_path / "nothing")])
    with pytest.raises(SourceError, match="cannot be started"):
        mcp.list_tools(["a\0b"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(SourceError, match=str(port)):
            mcp.list_tools(url=f"http://user:secret@127.0.0.1:{port}/mcp", timeout=10)


def test_an_http_server_that_never_answers_is_left():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        start = time.monotonic()
        with pytest.raises(SourceError, match="within 1 s"):
            mcp.list_tools(url=f"http://127.0.0.1:{server.getsockname()[1]}/mcp", timeout=1)
        assert time.monotonic() - start < 6


@pytest.mark.parametrize(
    ("header", "piece"),
    [
        ("Content-Type: application/json", b"[" * 65_536),
        ("Content-Type: text/event-stream", b"data: x\n\n" * 8_000),
        ("Content-Type: application/json\r\nContent-Encoding: gzip", b"\x1f\x8b" * 4_000),
        ("Content-Type: text/html", b"<p>" * 20_000),
    ],
)
def test_an_http_answer_without_end_is_left(header, piece):
    def serve(listener):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(65_536)
                    connection.sendall(f"HTTP/1.1 200 OK\r\n{header}\r\n\r\n".encode())
                    for _ in range(4_000):
                        connection.sendall(piece)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        start = time.monotonic()
        with pytest.raises(SourceError):
            mcp.list_tools(url=f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", timeout=5)
        assert time.monotonic() - start < 12


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": []},
        {"command": ["x"], "url": "http://x/"},
        {"url": "file:///etc/passwd"},
        {"url": "x"},
    ],
)
def test_one_server_has_to_be_named(arguments):
    with pytest.raises(ValueError, match=r"give either|http"):
        mcp.list_tools(**arguments)


def test_without_the_sdk_the_message_says_what_to_install():
    program = (
        "import sys; sys.modules['mcp'] = None\n"
        "from schemaguard.errors import MissingExtra\n"
        "try: import schemaguard.sources.mcp\n"
        "except MissingExtra as e: print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert "schemaguard-preflight[mcp]" in done.stdout, done.stderr
