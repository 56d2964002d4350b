"""The line before the device: which runs may take turns on it, and which wait until others have ended.

Knows visitors by name, bytes and seconds. Does not know models, runs or pages. First come, first served: a large run
that waits for memory is not passed by small ones, or it would wait for ever.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile

from specdemo.errors import CapacityError

REMEMBERED = 20
"""Runs whose device time says how long the next ones will wait."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What one machine takes on. per_visitor: runs that go on or wait. memory_bytes: caches of all runs going on."""

    at_once: int = 4
    per_visitor: int = 2
    waiting: int = 64
    memory_bytes: int = 2048 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """ahead: how many wait before. expected_s: seconds until it is one's turn, None where nothing can be said."""

    ahead: int
    expected_s: float | None


class Ticket:
    """One run in the line. spent_s: device time it has used, written by whoever runs it."""

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self.spent_s = 0.0


class Line:
    """Tickets that wait and tickets that run."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._waiting: list[Ticket] = []
        self._running: list[Ticket] = []
        self._spent: deque[float] = deque(maxlen=REMEMBERED)
        self._closed = False
        self._changed = threading.Condition()

    @contextmanager
    def joined(self, bytes: int) -> Iterator[Ticket]:
        """A ticket within; leaving gives the place to the next one. `CapacityError` where there is no place for it."""
        ticket = Ticket(bytes)
        with self._changed:
            self._check(bytes)
            self._waiting.append(ticket)
            self._admit()
            if len(self._waiting) > self._capacity.waiting:
                self._waiting.remove(ticket)
                raise CapacityError("line_full", count=self._capacity.waiting)
        try:
            yield ticket
        finally:
            with self._changed:
                self._leave(ticket)
                self._admit()

    def close(self) -> None:
        """Lets nobody in any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def place(self, ticket: Ticket) -> Place | None:
        """Where a ticket stands; None once it may run. `CapacityError` if the line was closed meanwhile."""
        with self._changed:
            if ticket in self._running:
                return None
            if self._closed:
                raise CapacityError("stopping")
            ahead = sum(1 for _ in takewhile(lambda other: other is not ticket, self._waiting))
            return Place(ahead, self._expected_s(ahead))

    def wait(self, ticket: Ticket, timeout_s: float) -> None:
        """Returns when the ticket may run, when the line is closed, or after the timeout."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or ticket in self._running, timeout_s)

    @property
    def closed(self) -> bool:
        """True once nobody is let in any more."""
        return self._closed

    @property
    def counts(self) -> tuple[int, int]:
        """(running, waiting)."""
        with self._changed:
            return len(self._running), len(self._waiting)

    def _check(self, bytes: int) -> None:
        most = self._capacity
        if self._closed:
            raise CapacityError("stopping")
        if bytes > most.memory_bytes:
            raise CapacityError("run_too_large", need=-(-bytes >> 20), most=most.memory_bytes >> 20)

    def _admit(self) -> None:
        """Lets in from the front while there is a turn and memory for them."""
        while self._waiting and not self._closed and self._fits(self._waiting[0]):
            self._running.append(self._waiting.pop(0))
        self._changed.notify_all()

    def _fits(self, ticket: Ticket) -> bool:
        used = sum(other.bytes for other in self._running)
        return len(self._running) < self._capacity.at_once and used + ticket.bytes <= self._capacity.memory_bytes

    def _leave(self, ticket: Ticket) -> None:
        if ticket in self._running:
            self._running.remove(ticket)
            if ticket.spent_s > 0:
                self._spent.append(ticket.spent_s)
        else:
            self._waiting.remove(ticket)

    def _expected_s(self, ahead: int) -> float | None:
        """Runs share one device: one ends every mean run's time, the next sooner if little is left of one.

        They are of very different lengths, so that one of four ends long before four times the mean have passed.
        """
        if not self._spent:
            return None
        mean_s = sum(self._spent) / len(self._spent)
        least_s = min((max(0.0, mean_s - ticket.spent_s) for ticket in self._running), default=0.0)
        return min(mean_s, least_s * len(self._running)) + ahead * mean_s
