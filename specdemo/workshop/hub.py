"""Who is connected to a room, and how they hear of what is the case.

Knows one thread for the room and the event loop of the server. Does not know HTTP. What is told is always all of
the state, and it is small: somebody who is slow misses steps in between but never where the presenter stands, and
nothing piles up for them.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from specdemo.workshop.refusal import Refusal
from specdemo.workshop.room import Room, State
from specdemo.workshop.store import Store

MOST_LISTENERS = 400
"""Pages that may follow at the same time."""

Result = TypeVar("Result")
Given = ParamSpec("Given")


class Listener:
    """A page that follows. presenter: it is told the tally before the answer is shown."""

    def __init__(self, presenter: bool) -> None:
        self.presenter = presenter
        self.news = asyncio.Event()


class Hub:
    """A room with its thread and its listeners. All but the making happens on one event loop."""

    def __init__(self, file: Path, secret: str | None = None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="workshop")
        self.room = self._thread.submit(lambda: Room(Store(file), secret)).result()
        self.state: State = self.room.state
        self._listeners: set[Listener] = set()
        self._told: dict[bool, tuple[str, bytes]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.over = False

    async def ask(self, function: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Calls a function of the room on its thread, and tells the listeners what has changed."""
        loop = asyncio.get_running_loop()
        result, state = await loop.run_in_executor(self._thread, lambda: (function(*args, **kwargs), self.room.state))
        if state.number > self.state.number:
            self.state = state
            self._changed()
        return result

    def _changed(self, attendees: bool = True) -> None:
        self._told.clear()
        for listener in self._listeners:
            if attendees or listener.presenter:
                listener.news.set()

    def require_place(self, presenter: bool) -> None:
        """`Refusal` where all places among the listeners are taken; there is always one for a presenter."""
        if self.here >= MOST_LISTENERS and not presenter:
            raise Refusal("workshop_full", status=503, most=MOST_LISTENERS)

    @contextmanager
    def listening(self, presenter: bool) -> Iterator[Listener]:
        """A place among the listeners, which was there a moment ago (see `require_place`)."""
        self._loop = asyncio.get_running_loop()
        listener = Listener(presenter)
        self._listeners.add(listener)
        self._changed(attendees=False)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            self._changed(attendees=False)

    @property
    def here(self) -> int:
        """Attendees' pages that follow."""
        return sum(not listener.presenter for listener in self._listeners)

    def told(self, presenter: bool) -> tuple[str, bytes]:
        """(name of the state, all of it as JSON), as a presenter or an attendee is told.

        What attendees are told has the same name whenever it is the same, also after a restart.
        """
        if presenter not in self._told:
            value = facts(self.state) | (self._presenters() if presenter else {})
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
            self._told[presenter] = (hashlib.blake2s(text, digest_size=8).hexdigest(), text)
        return self._told[presenter]

    def _presenters(self) -> dict[str, Any]:
        state = self.state
        own = [asdict(shown) for shown in state.own]
        return {"number": state.number, "here": self.here, "tally": state.tally, "own": own}

    def end(self) -> None:
        """Lets all streams end, so that the server can. From any thread."""
        self.over = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed)

    def close(self) -> None:
        """Ends the thread and lets go of the file."""
        self._thread.submit(self.room.close).result()
        self._thread.shutdown()


def facts(state: State) -> dict[str, Any]:
    """What everybody is told: the tally only once the answer is shown, so that nobody follows the crowd.

    The words of the question are not in it; pages ask for them once.
    """
    asked = state.asked
    question: dict[str, Any] | None = None
    if asked:
        question = {"id": asked.id, "open": asked.open, "answer": asked.answer, "votes": sum(state.tally)}
        question["tally"] = None if asked.open else state.tally
    return {"code": state.code, **asdict(state.place), "question": question, "last_point": state.last_point}
