"""Server-sent events: where the presenter stands, told to one page for as long as it listens.

Knows the event stream format and how slow a reader may be. Does not know what is told. The browser's own retry and
the name of the last event make a page that lost its connection stand right again.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from starlette.types import Message, Receive, Scope, Send

from specdemo.workshop.hub import Hub, Listener

HEARTBEAT_S = 15.0
"""A line for proxies and pages at least so often."""
SEND_S = 20.0
"""A page that takes in nothing for so long is let go."""
LIFE_S = 3600.0
"""A stream ends after so long; its page connects anew."""
END_S = 1.0
GAP_S = 0.05
"""Between two events: what changes faster is told once."""

HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
}


class EventStream:
    """An answer that never has more than one event on its way. last: name of the event that the page saw last."""

    def __init__(self, hub: Hub, presenter: bool, last: str = "", heartbeat_s: float = HEARTBEAT_S) -> None:
        self._hub, self._presenter, self._last, self._heartbeat_s = hub, presenter, last, heartbeat_s
        self._code = hub.state.code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._hub.listening(self._presenter) as listener:
            raw = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            talking = asyncio.ensure_future(self._talk(listener, send))
            leaving = asyncio.ensure_future(_left(receive))
            try:
                await asyncio.wait({talking, leaving}, timeout=LIFE_S, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (talking, leaving):
                    task.cancel()
                await asyncio.gather(talking, leaving, return_exceptions=True)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await send({"type": "http.response.body", "body": b""})

    async def _talk(self, listener: Listener, send: Send) -> None:
        """Until the page goes, takes in nothing more, or server or workshop end."""
        await _chunk(send, b"retry: 1000\n\n")
        while not self._hub.over and self._hub.state.code == self._code:
            listener.news.clear()
            name, text = self._hub.told(self._presenter)
            if name != self._last:
                self._last = name
                await _chunk(send, b"id: " + name.encode() + b"\nevent: state\ndata: " + text + b"\n\n")
                await asyncio.sleep(GAP_S)
            try:
                async with asyncio.timeout(self._heartbeat_s):
                    await listener.news.wait()
            except TimeoutError:
                await _chunk(send, b": still here\n\n")


async def _chunk(send: Callable[[Message], Awaitable[None]], body: bytes) -> None:
    async with asyncio.timeout(SEND_S):
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
