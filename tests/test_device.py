"""The device thread: everything on one thread, fair by time, and no job can harm another."""

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, TypeVar

import pytest
from playing import PROMPT, SAMPLED, TARGET, StoppedClock, Weak, make_run

from specdemo.core.events import Event
from specdemo.device import Device, Stream
from specdemo.engine import speculative
from specdemo.models.toy import ToySession

T = TypeVar("T")
PATIENCE_S = 20.0
"""A hang is a failure after so many seconds; nothing here takes more than a few milliseconds."""


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device(capacity=4)
    yield device
    device.shutdown()


@pytest.fixture
def no_cycle_collector() -> Iterator[None]:
    """What is freed within is freed by reference counts alone: a cache can be gigabytes and must not wait."""
    gc.disable()
    yield
    gc.enable()


def within(function: Callable[[], T], seconds: float = PATIENCE_S) -> T:
    """Runs a function on a thread of its own; TimeoutError instead of waiting for ever."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((True, function()))
        except BaseException as raised:
            outcome.extend((False, raised))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise TimeoutError("still waiting")
    if not outcome[0]:
        raise outcome[1]
    return outcome[1]


def read(stream: Stream[T]) -> list[T]:
    return within(lambda: list(stream))


def until(condition: Callable[[], bool]) -> None:
    """Waits for the device thread to get somewhere."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "still waiting"
        time.sleep(0.001)


def read_all(streams: list[Stream[T]], into: dict[int, list[T]]) -> None:
    """Reads streams to their ends, each on a thread of its own."""
    readers = [
        threading.Thread(target=lambda i=i, stream=stream: into.update({i: list(stream)}), daemon=True)
        for i, stream in enumerate(streams)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE_S)
        assert not reader.is_alive(), "still waiting"


class Held:
    """The device thread, busy until released: what is started meanwhile starts at the same time."""

    def __init__(self, device: Device) -> None:
        self._device, self._go, self._there = device, threading.Event(), threading.Event()

    def __enter__(self) -> None:
        def wait() -> Iterator[None]:
            self._there.set()
            self._go.wait(PATIENCE_S)
            yield

        self._stream = self._device.stream(wait)
        assert self._there.wait(PATIENCE_S)

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._go.set()


class Witness:
    """Something that a job holds on to."""


# --- one thread ---------------------------------------------------------------------------------------------------


def test_everything_runs_on_one_thread(device: Device) -> None:
    seen: set[int] = set()

    def make() -> Iterator[int]:
        seen.add(threading.get_ident())

        def items() -> Iterator[int]:
            try:
                for i in range(3):
                    seen.add(threading.get_ident())
                    yield i
            finally:
                seen.add(threading.get_ident())

        return items()

    assert [read(device.stream(make)) for _ in range(3)] == [[0, 1, 2]] * 3
    abandoned = device.stream(make)
    next(abandoned)
    abandoned.close()
    assert abandoned.wait(PATIENCE_S)
    seen.add(within(lambda: device.call(threading.get_ident)))
    assert len(seen) == 1
    assert threading.get_ident() not in seen


def test_call_returns_and_raises(device: Device) -> None:
    def broken() -> None:
        raise KeyError("why")

    assert within(lambda: device.call(lambda: 6 * 7)) == 42
    assert within(lambda: device.call(lambda: None)) is None
    with pytest.raises(KeyError, match="why"):
        within(lambda: device.call(broken))


def test_call_from_the_device_thread_does_not_wait_for_itself(device: Device) -> None:
    assert within(lambda: device.call(lambda: device.call(lambda: 1) + 1)) == 2


def test_fifty_streams_at_once_are_not_mixed(device: Device) -> None:
    def numbers(i: int) -> Callable[[], Iterator[tuple[int, int]]]:
        return lambda: ((i, k) for k in range(20))

    found: dict[int, list[tuple[int, int]]] = {}
    streams = [device.stream(numbers(i)) for i in range(50)]
    read_all(streams, found)
    assert found == {i: [(i, k) for k in range(20)] for i in range(50)}
    assert device.busy == 0


def test_visitors_at_once_get_what_they_get_alone(device: Device) -> None:
    def lane(seed: int) -> Iterator[Event]:
        run = make_run(1 + seed % 5, SAMPLED, seed=seed, tokens=12, prompt=(*PROMPT, seed))
        return speculative(ToySession(TARGET), Weak(SAMPLED), run)

    with Held(device):
        streams = [device.stream(lambda seed=seed: lane(seed)) for seed in range(6)]
    together: dict[int, list[Event]] = {}
    readers = [
        threading.Thread(target=lambda i=i: together.update({i: list(streams[i])}), daemon=True) for i in range(6)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE_S)
    assert together == {seed: list(lane(seed)) for seed in range(6)}


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ValueError("bad"), MemoryError(), KeyboardInterrupt()], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("after", [0, 3])
def test_errors_reach_the_reader_and_later_jobs_run(device: Device, error: BaseException, after: int) -> None:
    def failing() -> Iterator[int]:
        yield from range(after)
        raise error

    stream = device.stream(failing)
    items: list[int] = []
    with pytest.raises(type(error)) as raised:
        within(lambda: items.extend(iter(stream)) if after == 0 else [items.append(item) for item in stream])
    assert raised.value is error
    assert items == [*range(after)]
    assert within(lambda: next(stream, "over")) == "over"
    assert read(device.stream(lambda: iter("ok"))) == ["o", "k"]


def test_an_error_while_a_job_is_made_reaches_the_reader(device: Device) -> None:
    def make() -> Iterator[int]:
        raise LookupError("no such model")

    with pytest.raises(LookupError, match="no such model"):
        read(device.stream(make))
    assert device.busy == 0


def test_an_error_shows_where_it_happened(device: Device) -> None:
    def deep_inside() -> Iterator[int]:
        raise ValueError("bad")
        yield

    with pytest.raises(ValueError, match="bad") as raised:
        read(device.stream(deep_inside))
    assert "deep_inside" in [entry.name for entry in raised.traceback]


def test_an_error_frees_what_the_job_held(device: Device, no_cycle_collector: None) -> None:
    alive: list[weakref.ref[Witness]] = []

    def failing() -> Iterator[int]:
        witness = Witness()
        alive.append(weakref.ref(witness))
        yield 1
        raise MemoryError

    stream = device.stream(failing)
    try:
        for _ in stream:
            pass
    except MemoryError:
        pass
    assert alive[0]() is None


# --- slow and absent readers --------------------------------------------------------------------------------------


def test_a_slow_reader_pauses_only_its_own_job(device: Device) -> None:
    made: list[int] = []

    def endless() -> Iterator[int]:
        for i in count():
            made.append(i)
            yield i

    slow = device.stream(endless)
    assert read(device.stream(lambda: iter(range(100)))) == [*range(100)]
    assert within(lambda: device.call(lambda: len(made))) == 4  # the capacity
    assert [next(slow), next(slow)] == [0, 1]
    read(device.stream(lambda: iter(range(100))))
    assert len(made) == 6
    assert device.busy == 1


def test_waiting_for_a_reader_saves_up_no_turns() -> None:
    """A reader back from a long pause shares from then on; it does not keep the other out until it has caught up."""
    clock = StoppedClock()
    device = Device(clock, capacity=50)
    turns: list[str] = []

    def job(name: str) -> Callable[[], Iterator[int]]:
        def items() -> Iterator[int]:
            for i in range(300):
                clock.now += 1
                turns.append(name)
                yield i

        return items

    paused, busy = device.stream(job("paused")), device.stream(job("busy"))
    within(lambda: [next(busy) for _ in range(200)])
    until(lambda: len(turns) == 50 + 250)  # both are full
    with Held(device):
        turns.clear()
        for _ in range(50):
            next(paused), next(busy)
    read_all([paused, busy], {})
    device.shutdown()
    assert turns[:20].count("busy") >= 8


@pytest.mark.parametrize("leave", ["close", "with", "drop"])
def test_leaving_ends_the_job_and_frees_what_it_held(device: Device, leave: str, no_cycle_collector: None) -> None:
    ended = threading.Event()
    where: list[int] = []
    alive: list[weakref.ref[Witness]] = []

    def endless(outer: Witness) -> Iterator[int]:
        inner = Witness()
        alive.extend((weakref.ref(outer), weakref.ref(inner)))
        try:
            yield from count()
        finally:
            where.append(threading.get_ident())
            ended.set()

    witness = Witness()
    stream = device.stream(lambda witness=witness: endless(witness))
    del witness
    next(stream)
    if leave == "close":
        stream.close()
    elif leave == "with":
        with stream:
            pass
    else:
        del stream
    assert ended.wait(PATIENCE_S)
    assert where == [within(lambda: device.call(threading.get_ident))]
    assert [ref() for ref in alive] == [None, None]
    assert device.busy == 0


def test_a_finished_job_is_freed_though_its_reader_stays(device: Device, no_cycle_collector: None) -> None:
    witness = Witness()
    alive = weakref.ref(witness)
    stream = device.stream(lambda witness=witness: iter([id(witness)]))
    del witness
    read(stream)
    assert stream.wait(PATIENCE_S)
    assert alive() is None


def test_leaving_closes_a_generator_that_others_hold(device: Device) -> None:
    ended = threading.Event()

    def endless() -> Iterator[int]:
        try:
            yield from count()
        finally:
            ended.set()

    held = endless()
    with device.stream(lambda: held) as stream:
        next(stream)
    assert ended.wait(PATIENCE_S)


def test_a_job_closed_before_its_first_turn_is_never_made(device: Device, no_cycle_collector: None) -> None:
    made: list[int] = []
    witness = Witness()
    alive = weakref.ref(witness)
    with Held(device):
        stream = device.stream(lambda witness=witness: made.append(1) or iter([1]))
        del witness
        stream.close()
    assert stream.wait(PATIENCE_S)
    assert read(stream) == made == []
    assert alive() is None


def test_wait_says_whether_the_job_has_ended(device: Device) -> None:
    stream = device.stream(lambda: iter(count()))
    assert not stream.wait(0.01)
    stream.close()
    stream.close()
    assert stream.wait(PATIENCE_S)


def test_a_job_that_fails_while_closing_harms_nobody(device: Device, no_cycle_collector: None) -> None:
    """Nobody is there to read the error, so it is dropped with what it holds."""
    alive: list[weakref.ref[Witness]] = []

    def stubborn() -> Iterator[int]:
        witness = Witness()
        alive.append(weakref.ref(witness))
        try:
            yield from count()
        finally:
            raise RuntimeError("cannot close")

    stream = device.stream(stubborn)
    next(stream)
    stream.close()
    assert stream.wait(PATIENCE_S)
    assert read(device.stream(lambda: iter([1]))) == [1]
    assert alive[0]() is None


# --- fairness -----------------------------------------------------------------------------------------------------


def test_turns_are_shared_by_time_not_by_number() -> None:
    """One job takes a tick a turn, the other five: at no moment has one used more than a turn more than the other."""
    clock = StoppedClock()
    device = Device(clock, capacity=1000)
    used = {1: 0, 5: 0}
    apart: list[int] = []

    def job(ticks: int) -> Callable[[], Iterator[int]]:
        def items() -> Iterator[int]:
            for _ in range(60 // ticks):
                clock.now += ticks
                used[ticks] += ticks
                apart.append(abs(used[1] - used[5]))
                yield ticks

        return items

    with Held(device):
        streams = [device.stream(job(1)), device.stream(job(5))]
    assert [len(read(stream)) for stream in streams] == [60, 12]
    device.shutdown()
    assert max(apart) <= 5


def test_a_newcomer_starts_level() -> None:
    """A job that has run for long is not kept waiting until a newcomer has used as much."""
    clock = StoppedClock()
    device = Device(clock, capacity=1000)
    turns: list[str] = []

    def job(name: str, then: Callable[[int], None] = lambda i: None) -> Callable[[], Iterator[int]]:
        def items() -> Iterator[int]:
            for i in range(100):
                clock.now += 1
                turns.append(name)
                then(i)
                yield i

        return items

    streams: list[Stream[int]] = []

    def invite(i: int) -> None:
        if i == 49:
            streams.append(device.stream(job("new")))

    assert len(read(device.stream(job("old", invite)))) == 100
    assert len(read(streams[0])) == 100
    device.shutdown()
    shared = turns[50:]
    assert abs(shared[:20].count("old") - 10) <= 1


# --- the background -----------------------------------------------------------------------------------------------


def clocked(turns: list[str], clock: StoppedClock) -> Callable[[str, int], Callable[[], Iterator[int]]]:
    """Makes jobs of so many turns of a second each, which write down whose turn it was."""

    def job(name: str, of: int) -> Callable[[], Iterator[int]]:
        def items() -> Iterator[int]:
            for i in range(of):
                clock.now += 1
                turns.append(name)
                yield i

        return items

    return job


def test_the_background_gets_a_turn_only_when_nobody_else_can_use_it() -> None:
    clock, turns = StoppedClock(), list[str]()
    device, job = Device(clock, capacity=1000), clocked(turns, clock)
    with Held(device):
        sweep = device.stream(job("sweep", 20), background=True)
        runs = [device.stream(job(name, 30)) for name in ("a", "b")]
        assert device.ahead == 3  # the one that holds the device, too
        assert device.busy == 4
        assert not sweep.ready(0.0)
    read_all([*runs, sweep], {})
    device.shutdown()
    assert turns[:60].count("sweep") == 0
    assert turns[60:] == ["sweep"] * 20


def test_the_background_goes_on_while_others_wait_for_their_readers() -> None:
    clock, turns = StoppedClock(), list[str]()
    device, job = Device(clock, capacity=10), clocked(turns, clock)
    run = device.stream(job("run", 30))
    until(lambda: len(turns) == 10)
    sweep = device.stream(job("sweep", 5), background=True)
    assert read(sweep) == [*range(5)]
    assert turns == ["run"] * 10 + ["sweep"] * 5
    assert device.ahead == 1
    assert read(run) == [*range(30)]
    assert within(lambda: run.wait(PATIENCE_S))
    assert device.ahead == 0
    device.shutdown()


def test_who_waits_in_the_background_gives_no_start_to_a_newcomer() -> None:
    """A job that has used nothing in the background does not let a newcomer keep an older run out."""
    clock, turns = StoppedClock(), list[str]()
    device, job = Device(clock, capacity=1000), clocked(turns, clock)
    streams: list[Stream[int]] = []

    def old() -> Iterator[int]:
        for i in clocked(turns, clock)("old", 100)():
            if i == 0:
                streams.append(device.stream(job("sweep", 5), background=True))
            if i == 49:
                streams.append(device.stream(job("new", 100)))
            yield i

    assert len(read(device.stream(old))) == 100
    read_all(streams, {})
    device.shutdown()
    assert abs(turns[50:70].count("old") - 10) <= 1
    assert turns[-5:] == ["sweep"] * 5


def test_ready_says_whether_there_is_something_to_read(device: Device) -> None:
    go = threading.Event()

    def slow() -> Iterator[int]:
        go.wait(PATIENCE_S)
        yield 1

    stream = device.stream(slow)
    assert not stream.ready(0.01)
    go.set()
    assert stream.ready(PATIENCE_S)
    assert read(stream) == [1]
    assert stream.ready(0.0)


# --- shutdown -----------------------------------------------------------------------------------------------------


def test_shutdown_closes_jobs_and_ends_the_thread() -> None:
    device = Device()
    closed: list[str] = []

    def endless() -> Iterator[int]:
        try:
            yield from count()
        finally:
            closed.append(threading.current_thread().name)

    streams = [device.stream(endless) for _ in range(3)]
    for stream in streams:
        next(stream)
    within(device.shutdown)
    assert closed == ["specdemo-device"] * 3
    assert all(stream.wait(0) for stream in streams)
    within(device.shutdown)
    with pytest.raises(RuntimeError, match="shut down"):
        device.stream(endless)


def test_shutdown_from_the_device_thread_does_not_wait_for_itself() -> None:
    device = Device()
    within(lambda: device.call(device.shutdown))
    within(device.shutdown)


# --- how it is ------------------------------------------------------------------------------------------------------


def test_a_job_whose_reader_takes_nothing_ends() -> None:
    device = Device(capacity=4, unread_s=0.05)
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from count()
        finally:
            closed.set()

    stream = device.stream(items)
    assert next(stream) == 0
    assert closed.wait(PATIENCE_S)
    assert read(stream) == [1, 2, 3, 4]
    device.shutdown()


def test_a_job_whose_reader_is_slow_goes_on() -> None:
    device = Device(capacity=2, unread_s=0.1)
    stream = device.stream(lambda: iter(range(10)))
    slowly = []
    for item in stream:
        slowly.append(item)
        time.sleep(0.03)
    assert slowly == list(range(10))
    device.shutdown()


def test_the_length_of_the_present_turn_is_known() -> None:
    device = Device()
    assert device.turn_s == 0.0
    with Held(device):
        until(lambda: device.turn_s > 0.0)
    until(lambda: device.turn_s == 0.0)
    device.shutdown()
    assert device.turn_s == float("inf")
