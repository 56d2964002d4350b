"""The line before the device: who is let in, in which order, who is turned away, and what the others are told."""

import threading
from contextlib import ExitStack

import pytest

from specdemo.errors import CapacityError
from specdemo.ui.waiting import Capacity, Line, Place, Ticket

MB = 1 << 20


class Queue:
    """A line with the tickets in it, which leave by number."""

    def __init__(self, **capacity: int) -> None:
        self.line = Line(Capacity(**capacity))
        self._held: list[tuple[ExitStack, Ticket]] = []

    def join(self, bytes: int = 0) -> Ticket:
        stack = ExitStack()
        ticket = stack.enter_context(self.line.joined(bytes))
        self._held.append((stack, ticket))
        return ticket

    def leave(self, ticket: Ticket, spent_s: float = 0.0) -> None:
        ticket.spent_s = spent_s
        next(stack for stack, one in self._held if one is ticket).close()

    def ahead(self, ticket: Ticket) -> int | None:
        place = self.line.place(ticket)
        return None if place is None else place.ahead


def test_first_come_first_served() -> None:
    queue = Queue(at_once=2)
    tickets = [queue.join() for _ in range(5)]
    assert [queue.ahead(ticket) for ticket in tickets] == [None, None, 0, 1, 2]
    queue.leave(tickets[1])
    assert [queue.ahead(ticket) for ticket in tickets[2:]] == [None, 0, 1]
    queue.leave(tickets[3])
    assert [queue.ahead(ticket) for ticket in (tickets[2], tickets[4])] == [None, 0]
    assert queue.line.counts == (2, 1)


def test_memory_is_shared_and_a_large_run_is_not_passed_by_small_ones() -> None:
    queue = Queue(at_once=10, memory_bytes=10 * MB)
    first, large, small = queue.join(6 * MB), queue.join(8 * MB), queue.join(1 * MB)
    assert [queue.ahead(ticket) for ticket in (first, large, small)] == [None, 0, 1]
    queue.leave(first)
    assert [queue.ahead(ticket) for ticket in (large, small)] == [None, None]


def test_a_run_that_never_fits_is_told_so() -> None:
    queue = Queue(memory_bytes=10 * MB)
    with pytest.raises(CapacityError, match=r"11 MB.*10 MB.*Shorten") as refused:
        queue.join(10 * MB + 1)
    assert refused.value.key == "run_too_large"
    assert queue.line.counts == (0, 0)


def test_a_full_line_turns_newcomers_away() -> None:
    queue = Queue(at_once=1, waiting=1)
    first, _ = queue.join(), queue.join()
    with pytest.raises(CapacityError, match="1 runs are waiting"):
        queue.join()
    queue.leave(first)
    assert queue.ahead(queue.join()) == 0


def test_where_nobody_may_wait_a_free_turn_is_still_given() -> None:
    queue = Queue(at_once=1, waiting=0)
    queue.join()
    with pytest.raises(CapacityError):
        queue.join()


def test_the_expected_wait_is_the_device_time_of_those_before() -> None:
    """Where runs take 3 s, one ends every 3 s; sooner where one of two that take turns has used 2 s and more."""
    queue = Queue(at_once=2)
    first = [queue.join(), queue.join()]
    third, fourth = queue.join(), queue.join()
    assert queue.line.place(third) == Place(0, None)
    queue.leave(first[0], spent_s=3.0)
    queue.leave(queue.join())  # left before its turn: says nothing of the time that runs take
    assert queue.line.place(fourth) == Place(0, 3.0)
    first[1].spent_s = 2.0
    assert queue.line.place(fourth) == Place(0, 2.0)
    assert queue.line.place(queue.join()) == Place(1, 5.0)
    first[1].spent_s = 2.5
    assert queue.line.place(fourth) == Place(0, 1.0)
    first[1].spent_s = 100.0
    assert queue.line.place(fourth) == Place(0, 0.0)


def test_waiting_ends_when_the_turn_comes() -> None:
    queue = Queue(at_once=1)
    first, second = queue.join(), queue.join()
    threading.Timer(0.05, queue.leave, [first]).start()
    queue.line.wait(second, timeout_s=10.0)
    assert queue.line.place(second) is None


def test_a_closed_line_lets_nobody_in() -> None:
    queue = Queue(at_once=1)
    first, second = queue.join(), queue.join()
    queue.line.close()
    queue.leave(first)
    with pytest.raises(CapacityError, match="restart"):
        queue.line.place(second)
    with pytest.raises(CapacityError, match="restart"):
        queue.join()
