"""Live runs of a class: the lines of a trace sent while they come, and the end of the run when its page leaves.

Knows threads and an iterator of text. Does not know devices: whose turn it is is decided where the runs are made.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from specdemo.workshop.refusal import Refusal

MOST_RUNS = 48
"""Runs going on or waiting for their turn, a thread each."""


class LiveRuns:
    """The runs of a class, one for each attendee at a time."""

    def __init__(self, stop: Callable[[str], None], problem: Callable[[Exception], str]) -> None:
        """problem: what went wrong, as a line of a stream."""
        self._stop, self._problem = stop, problem
        self._going: set[str] = set()

    def begin(self, visitor: str) -> None:
        """Takes the visitor's place. `Refusal` where it is taken, or all are."""
        if visitor in self._going:
            raise Refusal("workshop_running", status=409)
        if len(self._going) >= MOST_RUNS:
            raise Refusal("workshop_busy", status=503, most=MOST_RUNS)
        self._going.add(visitor)

    async def pieces(self, visitor: str, run: Iterator[str]) -> AsyncIterator[str]:
        """The run's pieces as they come; what it raises, as a last line.

        Whoever stops reading ends the run. The visitor's place is free when the run has really ended.
        """
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        left = threading.Event()

        def pump() -> None:
            try:
                for piece in run:
                    if left.is_set():
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, piece)
            except Exception as error:  # the reader is told; the server goes on
                loop.call_soon_threadsafe(queue.put_nowait, self._problem(error))
            finally:
                getattr(run, "close", lambda: None)()
                loop.call_soon_threadsafe(self._going.discard, visitor)
                loop.call_soon_threadsafe(queue.put_nowait, None)

        threading.Thread(target=pump, name="workshop-run", daemon=True).start()
        try:
            while (piece := await queue.get()) is not None:
                yield piece
        finally:
            left.set()
            self._stop(visitor)
