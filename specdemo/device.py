"""The one thread on which all torch work runs, loading included, and the turns taken on it.

Knows generators, queues and seconds. Does not know models or pages. A second thread that has run a parallel
torch op slows decoding 1.6 times (the OpenMP pools fight for the cores), so there is one thread for the life
of the process. Whoever has used least device time gets the next turn, visitors and race lanes alike; work in the
background gets one only where nobody else could use it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from specdemo.core.events import Event, Prefilled, RoundFinished, RunFinished

T = TypeVar("T")

CAPACITY = 256
"""Items that may wait for a slow reader before its job pauses."""
UNREAD_S = 60.0
"""Seconds after which a paused job ends whose reader has taken nothing meanwhile."""


class _Job:
    """The device thread's side of a stream: it never holds the reader, so a dropped reader ends the job."""

    def __init__(self, make: Callable[[], Iterator[Any]], used_s: float, background: bool) -> None:
        self.make: Callable[[], Iterator[Any]] | None = make
        self.background = background
        self.source: Iterator[Any] | None = None
        self.items: deque[Any] = deque()
        self.error: BaseException | None = None
        self.used_s = used_s
        self.paused_at: float | None = None
        self.closed = False
        self.done = False

    def step(self) -> Any:
        """The next item; the first step makes the generator. StopIteration at its end."""
        if self.make is not None:
            # `make` may hold sessions: it is let go with the generator, not with the reader.
            make, self.make = self.make, None
            self.source = iter(make())
        return next(self.source or iter(()))


class Stream(Generic[T]):
    """The items of one job, read from any other thread. Closing or dropping it ends the job at its next turn.

    What the job raises is raised here, after the items that came before it.
    """

    def __init__(self, job: _Job, changed: threading.Condition) -> None:
        self._job = job
        self._changed = changed

    def __iter__(self) -> "Stream[T]":
        return self

    def __next__(self) -> T:
        job = self._job
        with self._changed:
            self._changed.wait_for(lambda: job.items or job.done)
            if job.items:
                job.paused_at = None
                self._changed.notify_all()
                item: T = job.items.popleft()
                return item
            error, job.error = job.error, None
        try:
            if error is not None:
                raise error
        finally:
            del error  # or this frame, the error and its traceback keep each other, and all they hold, alive
        raise StopIteration

    def __enter__(self) -> "Stream[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Asks for the job's end and returns at once; its generator is closed on the device thread."""
        with self._changed:
            self._job.closed = True
            self._job.error = None
            self._changed.notify_all()

    def ready(self, timeout_s: float) -> bool:
        """Waits until there is an item to read or nothing more will come. False if it took longer than `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._job.items) or self._job.done, timeout_s)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until the job has ended and its generator is closed. False if it took longer than `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._job.done, timeout_s)


class Device:
    """Runs jobs on one thread. A turn is one item of a job's generator."""

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        capacity: int = CAPACITY,
        unread_s: float = UNREAD_S,
    ) -> None:
        self._clock = clock
        self._capacity = capacity
        self._unread_s = unread_s
        self._turn_began: float | None = None
        self._changed = threading.Condition(threading.RLock())
        self._jobs: list[_Job] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="specdemo-device", daemon=True)
        self._thread.start()

    def stream(self, make: Callable[[], Iterator[T]], background: bool = False) -> Stream[T]:
        """Starts a job. `make` and its generator run on the device thread only.

        background: it gets a turn only while every other job has ended or waits for its reader.
        """
        with self._changed:
            if self._stopping:
                raise RuntimeError("the device thread has been shut down")
            # A newcomer starts level with whoever has used least, so that nobody is starved by newcomers.
            peers = (other.used_s for other in self._jobs if other.background == background)
            job = _Job(make, min(peers, default=0.0), background)
            self._jobs.append(job)
            self._changed.notify_all()
        return Stream(job, self._changed)

    def call(self, function: Callable[[], T]) -> T:
        """Runs a function on the device thread and returns its result."""
        if threading.current_thread() is self._thread:
            return function()

        def once() -> Iterator[T]:
            yield function()

        with self.stream(once) as results:
            return next(results)

    def shutdown(self, timeout_s: float | None = None) -> None:
        """Closes every job and ends the thread; waits no longer than the timeout for a turn that does not end."""
        with self._changed:
            self._stopping = True
            for job in self._jobs:
                job.closed = True
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)

    @property
    def busy(self) -> int:
        """Jobs that have not ended."""
        with self._changed:
            return len(self._jobs)

    @property
    def turn_s(self) -> float:
        """Seconds that the present turn has taken so far: 0 between turns, infinity once the thread has ended."""
        began = self._turn_began
        if not self._thread.is_alive():
            return float("inf")
        return 0.0 if began is None else self._clock() - began

    @property
    def ahead(self) -> int:
        """Jobs that have not ended and that work in the background lets pass."""
        with self._changed:
            return sum(not job.background for job in self._jobs)

    def _loop(self) -> None:
        while (job := self._next_job()) is not None:
            self._turn(job)

    def _next_job(self) -> _Job | None:
        with self._changed:
            while True:
                self._end_unread()
                ready = [job for job in self._jobs if job.closed or len(job.items) < self._capacity]
                if ready:
                    self._level(ready)
                    return min(ready, key=lambda job: (not job.closed, job.background, job.used_s))
                if self._stopping:
                    return None
                self._changed.wait(self._unread_s if self._jobs else None)

    def _end_unread(self) -> None:
        """Closes the jobs whose readers have gone without saying so."""
        for job in self._jobs:
            if job.paused_at is not None and self._clock() - job.paused_at >= self._unread_s:
                job.closed = True

    def _level(self, ready: list[_Job]) -> None:
        """A job that waits for its reader saves up no turns: it comes back level with whoever has used least."""
        for job in self._jobs:
            peers = [other.used_s for other in ready if other.background == job.background]
            if peers and job not in ready:
                job.used_s = max(job.used_s, min(peers))

    def _turn(self, job: _Job) -> None:
        start, items, done = self._clock(), [], job.closed
        self._turn_began = start
        try:
            if job.closed:
                _close(job.source)
            else:
                items.append(job.step())
        except StopIteration:
            done = True
        except BaseException as raised:  # handed to the reader, who is on another thread
            job.error, done = raised, True
        with self._changed:
            self._turn_began, now = None, self._clock()
            job.used_s += now - start
            job.items.extend(items)
            job.paused_at = now if len(job.items) >= self._capacity else None
            if done:
                job.make = job.source = None
                job.error = None if job.closed else job.error
                job.done = True
                self._jobs.remove(job)
            self._changed.notify_all()


def _close(source: Iterator[Any] | None) -> None:
    close = getattr(source, "close", None)
    if close is not None:
        close()


def race(lanes: Mapping[str, Iterator[Event]]) -> Iterator[Event]:
    """Merges lanes by their own clocks: whoever has computed least takes the next turn (a prefill chunk or a round).

    At any moment all lanes have spent about the same, so what has been emitted so far is the true race in slow
    motion. Events carry their lane's name. Closing the race closes every lane.
    """
    clocks = dict.fromkeys(lanes, (0.0, 0))
    running = dict(lanes)
    try:
        while running:
            name = min(running, key=clocks.__getitem__)
            spent, turns = clocks[name]
            for event in running[name]:
                yield event
                if isinstance(event, RunFinished):
                    del running[name]
                    break
                if isinstance(event, RoundFinished | Prefilled):
                    spent = event.clock_s if isinstance(event, RoundFinished) else spent
                    break
            else:
                del running[name]
            clocks[name] = (spent, turns + 1)
    finally:
        for lane in lanes.values():
            _close(lane)
