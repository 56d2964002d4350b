"""Many visitors on one device, without a server: limits, the line, leaving it, and no harm done by one to another."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import torch
from test_runs import until
from toy_pair import ToyPair

from specdemo.config import RunConfig
from specdemo.core.result import collect
from specdemo.device import Device
from specdemo.errors import Cancelled, CapacityError
from specdemo.ui import replays, run
from specdemo.ui.models import Models
from specdemo.ui.runs import Runs
from specdemo.ui.waiting import Capacity, Place

LONG = RunConfig(prompt="x", drafter="model", max_new_tokens=4000)
SHORT = RunConfig(prompt="the cat sat", drafter="model", gamma=3, max_new_tokens=40)


class House:
    """A device with a toy pair and room for so many runs."""

    def __init__(self, pair: ToyPair, most_s: float = 100.0, reads: run.Reads | None = None, **capacity: int) -> None:
        self.pair = pair
        self.device = Device(capacity=4, unread_s=0.2)
        self.models = Models(self.device, lambda spec, progress: pair)
        self.runs = Runs(self.device, self.models, Capacity(**capacity), most_s, reads or (lambda visitor: True))

    def idle(self) -> bool:
        return self.device.busy == 0 and self.runs.going == 0 and self.runs.counts == (0, 0)


@pytest.fixture
def house() -> Iterator[Callable[..., House]]:
    houses: list[House] = []

    def make(pair: ToyPair | None = None, **options: Any) -> House:
        houses.append(House(pair or ToyPair(), **options))
        return houses[-1]

    yield make
    for one in houses:
        one.device.shutdown()


@pytest.fixture
def records() -> Iterator[list[dict[str, Any]]]:
    """What is written down of runs."""
    found: list[dict[str, Any]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.__dict__["facts"])

    log, keep = logging.getLogger("specdemo"), Keep()
    level = log.level
    log.addHandler(keep)
    log.setLevel(logging.INFO)
    yield found
    log.removeHandler(keep)
    log.setLevel(level)


def test_the_second_waits_for_the_first_and_hears_where_it_stands(house: Callable[..., House]) -> None:
    one = house(ToyPair(delay_s=0.005), at_once=1)
    first = one.runs.live(LONG, "a")
    next(first), next(first)
    with one.runs.asked(SHORT, "b") as second:
        waits = second.waits()
        assert next(waits) == Place(0, None)
        first.close()
        for _ in waits:
            pass
        assert len(collect(replays.read("".join(second.pieces())).events).lanes) == 2
    until(one.idle)


def test_stop_in_the_line_leaves_it(house: Callable[..., House], records: list[dict[str, Any]]) -> None:
    one = house(ToyPair(delay_s=0.005), at_once=1)
    first, second = one.runs.live(LONG, "a"), one.runs.live(SHORT, "b")
    next(first), next(first), next(second)
    assert one.runs.counts == (1, 1)
    start = time.monotonic()
    one.runs.stop("b")
    with pytest.raises(Cancelled):
        list(second)
    assert time.monotonic() - start < 1.0
    assert one.runs.counts == (1, 0)
    assert [record["outcome"] for record in records] == ["stopped"]
    first.close()
    until(one.idle)


def test_walking_away_from_the_line_leaves_it(house: Callable[..., House], records: list[dict[str, Any]]) -> None:
    one = house(ToyPair(delay_s=0.005), at_once=1)
    first, second = one.runs.live(LONG, "a"), one.runs.live(SHORT, "b")
    next(first), next(first), next(second)
    second.close()
    assert one.runs.counts == (1, 0)
    first.close()
    until(one.idle)
    assert [record["outcome"] for record in records] == ["left", "left"]


def test_a_visitor_has_so_many_runs_and_others_their_own(house: Callable[..., House]) -> None:
    one = house(ToyPair(delay_s=0.005), per_visitor=2)
    going = [one.runs.live(LONG, "a") for _ in range(2)]
    for shown in going:
        next(shown)
    with pytest.raises(CapacityError, match="You have 2 runs"):
        next(one.runs.live(SHORT, "a"))
    assert len(list(one.runs.live(SHORT, "b"))) >= 2
    for shown in going:
        shown.close()
    assert len(list(one.runs.live(SHORT, "a"))) >= 2


def test_a_run_that_computes_too_long_ends_with_all_it_has(
    house: Callable[..., House], records: list[dict[str, Any]]
) -> None:
    one = house(ToyPair(delay_s=0.01), most_s=0.3)
    shown: list[str] = []
    with pytest.raises(CapacityError, match="ended after"):
        read_into(one.runs.live(LONG, "a"), shown)
    lanes = collect(replays.read("".join(shown)).events).lanes
    assert all(lane.finished and lane.finished.finish_reason == "cancelled" for lane in lanes.values())
    (record,) = records
    assert record["outcome"] == "run_seconds"
    assert 0.3 <= record["device_s"] <= 0.5


def read_into(items: Iterator[str], into: list[str]) -> None:
    """What came before an error stays read."""
    for item in items:
        into.append(item)


def test_the_time_of_others_is_not_the_run_s(house: Callable[..., House], records: list[dict[str, Any]]) -> None:
    """A clock that stands still but for passes: each of four at once has used what it uses alone."""
    pair = ToyPair()
    pair.clock = lambda: pair.calls * 0.01  # type: ignore[misc]
    one = house(pair, at_once=4)
    list(one.runs.live(SHORT, "alone"))
    threads = [threading.Thread(target=lambda v=name: list(one.runs.live(SHORT, v))) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [record["outcome"] for record in records] == ["finished"] * 5
    assert len({record["device_s"] for record in records}) == 1
    assert records[0]["device_s"] > 0.3


def test_a_run_nobody_reads_ends(house: Callable[..., House], monkeypatch: pytest.MonkeyPatch) -> None:
    """The server goes on taking what is made, though the visitor's stream is not open."""
    monkeypatch.setattr(run, "ABSENT_S", 0.2)
    one = house(ToyPair(delay_s=0.005), reads=lambda visitor: visitor != "gone")
    shown: list[str] = []
    with pytest.raises(CapacityError, match="did not take"):
        read_into(one.runs.live(LONG, "gone"), shown)
    until(one.idle)
    assert len(list(one.runs.live(SHORT, "here"))) >= 2


def test_a_run_whose_reader_stands_still_ends_and_says_so_if_it_comes_back(house: Callable[..., House]) -> None:
    one = house()
    shown = one.runs.live(LONG, "a")
    next(shown), next(shown)
    until(lambda: one.device.busy == 0, seconds=5.0)
    with pytest.raises(CapacityError, match="did not take"):
        list(shown)
    until(one.idle)


def test_closing_ends_runs_politely_and_lets_nobody_in(house: Callable[..., House]) -> None:
    one = house(ToyPair(delay_s=0.005), at_once=1)
    first, second = one.runs.live(LONG, "a"), one.runs.live(LONG, "b")
    shown = [next(first), next(first), next(second)]
    one.runs.close()
    for stream in (first, second):
        with pytest.raises(CapacityError, match="restart"):
            read_into(stream, shown)
    finished = [line for line in "".join(shown).splitlines() if '"cancelled"' in line]
    assert len(finished) == 2  # both lanes of the first, with all they had
    with pytest.raises(CapacityError, match="restart"):
        next(one.runs.live(SHORT, "c"))


MEMORY_ERRORS = [
    MemoryError("none left"),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)"),
]


@pytest.mark.parametrize("error", MEMORY_ERRORS, ids=["python", "cuda", "cpu", "mps"])
def test_no_memory_frees_what_is_idle_and_harms_nobody_else(
    house: Callable[..., House], records: list[dict[str, Any]], error: Exception
) -> None:
    failing = {30: error}

    def fail(number: int) -> None:
        if number in failing:
            raise failing.pop(number)

    one = house(ToyPair(delay_s=0.001, fail=fail))
    made_room: list[str] = []
    one.models.make_room = lambda: made_room.append(threading.current_thread().name)  # type: ignore[method-assign]

    def visit(visitor: str) -> None:
        with suppress(type(error)):
            list(one.runs.live(SHORT, visitor))

    threads = [threading.Thread(target=visit, args=(visitor,)) for visitor in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(record["outcome"] for record in records) == ["finished", "finished", "memory"]
    assert made_room == ["specdemo-device"]
    until(one.idle)


def test_a_real_allocation_that_cannot_be_is_known_as_such() -> None:
    from specdemo.ui.problems import out_of_memory, sentence

    with pytest.raises(RuntimeError) as raised:
        torch.empty(10**15)
    assert out_of_memory(raised.value)
    assert "not enough memory" in sentence(raised.value)["en"]


def test_the_record_names_no_visitor_and_no_text(house: Callable[..., House], records: list[dict[str, Any]]) -> None:
    config = RunConfig(prompt="my secret plan", drafter="model", max_new_tokens=10)
    text = "".join(house().runs.live(config, "visitor-7"))
    (record,) = records
    written = json.dumps(record)
    assert "secret" not in written
    assert "visitor-7" not in written
    assert record["tokens"] == {"speculative": 10, "baseline": 10}
    assert record["prompt_tokens"] == 3
    assert record["cache_mb"] == round(3 * 64 * 23_040 / 2**20, 1)
    assert "my secret plan" in text  # the visitor has it, in the trace


def test_memory_counts_what_the_caches_may_grow_to(house: Callable[..., House]) -> None:
    one = house(memory_bytes=3 * 128 * 23_040)
    with pytest.raises(CapacityError, match="Shorten"):
        list(one.runs.live(RunConfig(prompt="x", drafter="model", max_new_tokens=128), "a"))
    assert len(list(one.runs.live(RunConfig(prompt="x", drafter="model", max_new_tokens=100), "a"))) >= 2
    assert len(list(one.runs.live(RunConfig(prompt="x", drafter="none", gamma=0, max_new_tokens=300), "a"))) >= 2
