"""The growing text: nothing dropped, at most twelve updates a second, failures after what came before them."""

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest

from specdemo.core.events import Event, Judged, Prefilled, RoundFinished, RunFinished
from specdemo.core.metrics import Round, Tally
from specdemo.core.verify import Fate
from specdemo.ui.stream import UPDATES_PER_S, grown, pieces, windows

HEAD = ['{"specdemo":1}']
COUNTED = Round((), 1, Fate.PLAIN, 0, 0, 1, 0.0, 0.003, 0.0)


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def source(clock: Clock, tokens: int, per_second: float) -> Iterator[Event]:
    """A lane that emits one token a round at a steady rate."""
    for number in range(1, tokens + 1):
        clock.now += 1 / per_second
        yield Judged("baseline", number, (), (), (number,), (Fate.PLAIN,), (f"t{number} ",))
        yield RoundFinished("baseline", number, COUNTED, number / per_second, Tally().metrics())
    text = "".join(f"t{n} " for n in range(1, tokens + 1))
    yield RunFinished("baseline", "length", "", tuple(range(1, tokens + 1)), text, "", Tally().metrics())


def encode(event: Event) -> list[str]:
    return [json.dumps({"event": type(event).__name__, "pieces": getattr(event, "pieces", None)})]


def tokens(text: str) -> list[str]:
    return [piece for line in text.splitlines() for piece in json.loads(line).get("pieces") or ()]


@pytest.mark.parametrize("rate", [3.0, 50.0, 300.0, 5000.0])
def test_no_token_is_dropped_and_updates_are_few(rate: float) -> None:
    clock = Clock()
    shown = [(clock.now, text) for text in grown(pieces(HEAD, source(clock, 600, rate), encode, clock))]
    times = [time for time, _ in shown]
    assert tokens(shown[-1][1]) == [f"t{n} " for n in range(1, 601)]
    for start in times:
        # The head, a full second of updates, and the last one, which does not wait.
        assert sum(start <= time < start + 1 for time in times) <= UPDATES_PER_S + 2


def test_text_only_grows_by_whole_lines() -> None:
    clock = Clock()
    shown = list(grown(pieces(HEAD, source(clock, 200, 100.0), encode, clock)))
    assert shown[0] == "".join(line + "\n" for line in HEAD)
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    assert all(text.endswith("\n") for text in shown)
    assert len(set(shown)) == len(shown)


def test_a_slow_round_is_shown_when_it_is_over() -> None:
    clock = Clock()
    events = source(clock, 3, per_second=0.5)
    shown = grown(pieces(HEAD, events, encode, clock))
    next(shown)
    for number in (1, 2, 3):
        assert tokens(next(shown)) == [f"t{n} " for n in range(1, number + 1)]


def test_a_prefill_chunk_is_shown() -> None:
    clock = Clock()

    def prefilling() -> Iterator[Event]:
        for end in (512, 1024):
            clock.now += 5.0
            yield Prefilled("baseline", end, 5.0, 0.0)

    assert len(list(pieces(HEAD, prefilling(), encode, clock))) == 3


def test_a_failure_comes_after_all_that_came_before_it() -> None:
    clock = Clock()

    def failing() -> Iterator[Event]:
        yield from list(source(clock, 5, 1000.0))[:-1]
        raise MemoryError("no room")

    shown = []
    with pytest.raises(MemoryError):  # noqa: PT012
        for text in grown(pieces(HEAD, failing(), encode, clock)):
            shown.append(text)
    assert tokens(shown[-1]) == ["t1 ", "t2 ", "t3 ", "t4 ", "t5 "]


def test_a_run_without_events_still_shows_its_head() -> None:
    assert list(pieces(HEAD, iter(()), encode, Clock())) == ["".join(line + "\n" for line in HEAD)]


def test_whoever_walks_away_closes_the_source() -> None:
    clock, closed = Clock(), []

    def endless() -> Iterator[Event]:
        try:
            yield from source(clock, 10_000, 10.0)
        finally:
            closed.append(True)

    shown = pieces(HEAD, endless(), encode, clock)
    next(shown), next(shown)
    shown.close()
    assert closed == [True]


class Reader:
    """What the page does with the values that reach it."""

    def __init__(self) -> None:
        self.run = ""
        self.lines: list[str] = []

    def read(self, value: str) -> None:
        first, *lines = value.splitlines(keepends=True)
        named = json.loads(first)
        if named["run"] != self.run:
            self.run, self.lines = named["run"], []
        if named["first"] <= len(self.lines):
            self.lines += lines[len(self.lines) - named["first"] :]


@pytest.mark.parametrize("missed", [0, 1, 5, 100_000])
def test_a_page_has_it_all_though_values_stay_small_and_some_are_missed(missed: int) -> None:
    clock, reader = Clock(), Reader()
    new = list(pieces(HEAD, source(clock, 3000, 60.0), encode, clock))
    *values, last = windows(new, most=10_000)
    for number, value in enumerate(values):
        assert len(value) < 12_000
        if number % (missed + 1) == 0:
            reader.read(value)
    reader.read(last)
    assert "".join(reader.lines) == "".join(new)


def test_two_runs_are_never_taken_for_one() -> None:
    reader = Reader()
    for word in ("one", "two"):
        for value in windows([word + chr(10)]):
            reader.read(value)
    assert reader.lines == ["two" + chr(10)]
