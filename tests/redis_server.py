"""A real redis-server of one's own, on a socket in a temporary folder, for tests and benchmarks."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time

BINARY = shutil.which("redis-server")
WHY_NOT = "needs redis-server, which is not installed"


class RedisServer:
    """A server as a context manager: without persistence, ended with the block.

    Args:
        folder: an empty folder; a path of at most about 80 characters, which is all a socket takes.
        settings: of redis.conf, as options.
    """

    def __init__(self, folder, *settings):
        self.socket = f"{folder}/redis.sock"
        self.url = f"unix://{self.socket}"
        self._command = [
            BINARY, "--port", "0", "--unixsocket", self.socket, "--dir", str(folder),
            "--save", "", "--appendonly", "no", "--databases", "1", *settings,
        ]  # fmt: skip
        self._process = None

    def start(self):
        """Start it, and wait until it takes connections."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 10
        with socket.socket(socket.AF_UNIX) as probe:
            while probe.connect_ex(self.socket):
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError("redis-server does not start")
                time.sleep(0.01)

    def send(self, number):
        """Send the server a signal."""
        self._process.send_signal(number)

    def kill(self):
        """End it at once, as the kernel does when memory is short."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def pause(self):
        """From now on it takes connections and never answers."""
        self.send(signal.SIGSTOP)

    def resume(self):
        """It answers again."""
        self.send(signal.SIGCONT)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
