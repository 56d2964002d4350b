"""A workshop without models: a backend of canned texts, a server in a process of its own, and clients by raw HTTP.

As a program: `python class_of.py FILE PORT`, a server over the workshop in FILE.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from specdemo.errors import TraceError, UserError
from specdemo.workshop.hub import Hub
from specdemo.workshop.records import Point, Shown, Texts
from specdemo.workshop.routes import ROOT, Routes

SECRET = "the-presenters-own"
POINT = Point("prompt-lookup", 4, 0.0, 30, 0.75, 1.5, 0.01, 1.2)
HERE = Path(__file__).parent


class Canned:
    """A backend that says what it was asked."""

    def __init__(self) -> None:
        self.stopped: list[str] = []
        self.pause_s = 0.0

    def page(self, code: str | None, presenter: bool) -> str:
        return f"<!doctype html><title>{code}</title>"

    def shipped(self) -> Sequence[Shown]:
        return [Shown("hero", {"en": "The hero"})]

    def shipped_text(self, id: str) -> str | None:
        return '{"specdemo":1}\n' * 100 if id == "hero" else None

    def checked(self, text: str) -> str:
        if not text.startswith("{"):
            raise TraceError("trace_empty")
        return text

    def live(self, values: Mapping[str, object], most_tokens: int, visitor: str) -> Iterator[str]:
        if values.get("prompt") == "bug":
            raise ZeroDivisionError
        for token in range(min(int(str(values.get("max_new_tokens", 32))), most_tokens)):
            time.sleep(self.pause_s)
            yield json.dumps({"visitor": visitor, "token": token}) + "\n"

    def stop(self, visitor: str) -> None:
        self.stopped.append(visitor)

    def point(self, text: str) -> Point | None:
        return POINT if text.count("\n") >= 25 else None

    def said(self, error: Exception) -> Texts:
        return {"en": error.say() if isinstance(error, UserError) else "a bug"}


def app(hub: Hub, backend: Canned) -> Any:
    """The routes as an application."""
    from starlette.applications import Starlette

    return Starlette(routes=Routes(hub, backend).all())


@dataclass
class Served:
    """A server in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]

    @property
    def code(self) -> str:
        """The code of its workshop."""
        return httpx.get(f"{self.url}/code").text


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(file: Path, port: int | None = None) -> Served:
    """Starts a server over the workshop in a file and waits until it answers."""
    port = port or free_port()
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    process = subprocess.Popen([sys.executable, __file__, str(file), str(port)], env=environment)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server did not start"
        try:
            httpx.get(f"{url}/code")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return Served(url, process)
    raise AssertionError("the server did not answer")


def main(file: Path, port: int) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    hub = Hub(file, SECRET)
    code = Route("/code", lambda request: PlainTextResponse(hub.state.code))
    uvicorn.run(Starlette(routes=[code, *Routes(hub, Canned()).all()]), port=port, log_level="warning")


@dataclass
class Heard:
    """What a page has heard on its stream: (when, state) of every event."""

    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    last: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> dict[str, Any]:
        return self.events[-1][1] if self.events else {}

    async def until(self, true: Any, seconds: float = 20.0) -> float:
        """When the state first was such that `true(state)`."""
        async with asyncio.timeout(seconds):
            while True:
                for when, state in self.events:
                    if true(state):
                        return when
                self.changed.clear()
                await self.changed.wait()


async def listen(client: httpx.AsyncClient, path: str, heard: Heard, headers: Mapping[str, str] = {}) -> None:
    """Reads a stream of events until it ends."""
    own = {**headers, **({"last-event-id": heard.last} if heard.last else {})}
    async with client.stream("GET", f"{ROOT}/{path}/events", headers=own, timeout=None) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                heard.last = line[4:]
            elif line.startswith("data: "):
                heard.events.append((time.monotonic(), json.loads(line[6:])))
                heard.changed.set()


LEAD = {"authorization": f"Bearer {SECRET}"}

if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
