"""A real server on loopback, for tests: uvicorn in a thread."""

from __future__ import annotations

import socket
import threading
import time

import uvicorn


class Server:
    """uvicorn in a thread, on a free port of loopback."""

    def __init__(self, app, **options):
        # With the protocol said, asyncio sends small packets without delay.
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", lifespan="off", **options)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True
        )

    def __enter__(self):
        self.thread.start()
        end = time.monotonic() + 20
        while not self.server.started:
            assert time.monotonic() < end, "the server did not start"
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"
