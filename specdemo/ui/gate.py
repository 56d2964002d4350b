"""What every request passes: doors of gradio that this page does not need stay shut, answers get their headers, and
whoever takes nothing of an answer any more is let go.

Knows HTTP messages. Does not know pages or runs, but counts who reads which visitor's updates.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SHUT = (
    *(
        f"/gradio_api/{name}"
        for name in ("upload", "file", "proxy", "stream", "deep_link", "custom_component", "process_recording")
    ),
    *(f"/gradio_api/{name}" for name in ("vibe", "undo", "run-history", "runs", "profiling", "dev")),
    "/monitoring",
)
"""Files to this machine and from it, other servers fetched by this one, and figures about visitors: nothing here uses
them. By the beginnings of their paths."""

UPDATES, CALL = "/gradio_api/queue/data", "/gradio_api/call/"
TAKE_S = 30.0
"""Seconds that a client may take for one piece of an answer."""

SCRIPTS = "'self' 'unsafe-inline' 'unsafe-eval' blob:"
"""Gradio's page has scripts within it and makes functions of templates; none of ours holds a visitor's or a model's
text."""
HUB = "https://huggingface.co https://*.huggingface.co https://*.hf.space"


class Readers:
    """Who reads the updates of which visitor. Before the first request there is no gate, and nobody is missed."""

    def __init__(self) -> None:
        self._reading: Counter[str] = Counter()
        self.gated = False

    def reads(self, visitor: str) -> bool:
        """True while somebody reads what is sent to the visitor."""
        return not self.gated or self._reading[visitor] > 0

    def enter(self, visitor: str) -> None:
        self._reading[visitor] += 1

    def leave(self, visitor: str) -> None:
        self._reading[visitor] -= 1
        if self._reading[visitor] <= 0:
            del self._reading[visitor]


def headers(embed: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Headers of every answer. embed: sites that may show the page in a frame."""
    hub = f" {HUB}" if environment.get("SPACE_ID") else ""
    policy = (
        f"default-src 'self'; script-src {SCRIPTS}; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
        f"img-src 'self' data: blob:{hub}; media-src 'self' data: blob:; connect-src 'self' data: blob:{hub}; "
        "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
        f"frame-ancestors {' '.join(filter(None, (chr(39) + 'self' + chr(39), embed)))}"
    )
    return {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "cross-origin-resource-policy": "cross-origin",
    }


class Gate:
    """ASGI middleware around the page."""

    def __init__(self, app: ASGIApp, readers: Readers, headers: Mapping[str, str], take_s: float = TAKE_S) -> None:
        self._app, self._readers, self._take_s = app, readers, take_s
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        readers.gated = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = _path(scope)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = message | {"headers": self._dressed(message.get("headers", []))}
            # A client that takes nothing for so long has gone: its stream ends, and with it the run.
            async with asyncio.timeout(self._take_s):
                await send(message)

        if path.startswith(SHUT):
            await PlainTextResponse("This door is shut.\n", status_code=404)(scope, receive, sent)
        elif visitor := _reader(scope, path):
            await self._updates(visitor, scope, receive, sent)
        else:
            await self._app(scope, receive, sent)

    async def _updates(self, visitor: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._readers.enter(visitor)
        try:
            await self._app(scope, receive, send)
        finally:
            self._readers.leave(visitor)

    def _dressed(self, given: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        there = {name.lower() for name, _ in given}
        dressed = [*given, *(header for header in self._headers if header[0] not in there)]
        if (b"content-type", b"text/event-stream; charset=utf-8") in given:
            dressed.append((b"x-accel-buffering", b"no"))  # nginx would keep a stream until it is long
        return dressed


def _reader(scope: Scope, path: str) -> str:
    """The visitor whose updates are asked for, "" where it is something else. Programs read a run by its own name."""
    if path == UPDATES:
        return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("session_hash", [""])[0]
    parts = path.removeprefix(CALL).split("/")
    return parts[-1] if path.startswith(CALL) and len(parts) > 1 and scope["method"] == "GET" else ""


def _path(scope: Scope) -> str:
    """The path below wherever the page is mounted, with doubled slashes as one."""
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return "/" + "/".join(filter(None, path.split("/")))
