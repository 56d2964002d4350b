"""Pages over the toy pair in processes of their own, on free ports."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

HERE = Path(__file__).parent
OWN = {
    "HF_HUB_OFFLINE": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "NO_PROXY": "127.0.0.1,localhost",
    "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)]),
}
PATIENCE_S = 180
TOY = str(HERE / "server.py")
"""The page over the toy pair: `TOY SECONDS_A_PASS`."""


@dataclass(frozen=True, slots=True)
class Server:
    """A page in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]


def start(*command: str, port: int = 0, **environment: str) -> Server:
    """Starts `python command PORT` and waits until it answers. port: 0 takes a free one."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
        port = free.getsockname()[1]
    environment = {**os.environ, **OWN, **environment}
    process = subprocess.Popen([sys.executable, *command, str(port)], env=environment)
    server = Server(f"http://127.0.0.1:{port}", process)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert server.process.poll() is None, "the page did not start"
        try:
            if httpx.get(server.url + "/gradio_api/app_id").status_code == 200:
                return server
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the page did not answer")


@contextmanager
def serving() -> Iterator[Callable[..., Server]]:
    """A function that starts pages; they end with the context."""
    started: list[Server] = []

    def serve(*command: str, **environment: str) -> Server:
        started.append(start(*command, **environment))
        return started[-1]

    try:
        yield serve
    finally:
        for server in started:
            server.process.terminate()
            server.process.wait(20)
