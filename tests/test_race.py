"""Lanes that run side by side: equal clocks, no lane changed, all closed together."""

from collections.abc import Iterator

import pytest
from playing import GREEDY, TARGET, Weak, make_run, play, timed

from specdemo.core.events import Event, Prefilled, RoundFinished, RunFinished, RunStarted
from specdemo.device import Device, race
from specdemo.engine import speculative
from specdemo.models.toy import ToySession


def lanes_of(gammas: dict[str, int]) -> dict[str, Iterator[Event]]:
    return {name: timed(gamma, lane=name) for name, gamma in gammas.items()}


FIELDS = [{"plain": 0}, {"fast": 6, "plain": 0}, {"plain": 0, "fast": 6}, {"a": 2, "b": 6, "c": 1, "d": 0}]


@pytest.mark.parametrize("gammas", FIELDS, ids=str)
def test_a_race_changes_no_lane(gammas: dict[str, int]) -> None:
    events = list(race(lanes_of(gammas)))
    for name, gamma in gammas.items():
        assert [event for event in events if event.lane == name] == list(timed(gamma, lane=name))


@pytest.mark.parametrize("gammas", FIELDS, ids=str)
def test_whoever_has_computed_least_is_next(gammas: dict[str, int]) -> None:
    clocks = dict.fromkeys(gammas, 0.0)
    running = set(gammas)
    for event in race(lanes_of(gammas)):
        if isinstance(event, RoundFinished):
            assert clocks[event.lane] == min(clocks[name] for name in running)
            clocks[event.lane] = event.clock_s
        if isinstance(event, RunFinished):
            running.remove(event.lane)
    assert not running


def test_at_equal_clocks_turns_alternate() -> None:
    """Also while the prompt is read, when no clock runs."""
    prompt = (1,) * 1400

    def lane(name: str) -> Iterator[Event]:
        return speculative(ToySession(TARGET), Weak(GREEDY), make_run(2, lane=name, tokens=4, prompt=prompt))

    events = list(race({name: lane(name) for name in "ab"}))
    chunks = [event.lane for event in events if isinstance(event, Prefilled)]
    assert chunks == ["a", "b"] * 3
    assert [event.lane for event in events if isinstance(event, RunStarted)] == ["a", "b"]
    rounds = [event.lane for event in events if isinstance(event, RoundFinished)]
    assert rounds == ["a", "b"] * (len(rounds) // 2)


def test_leaving_a_race_closes_every_lane() -> None:
    drafters = {name: Weak(GREEDY) for name in "abc"}
    running = race({name: speculative(ToySession(TARGET), d, make_run(2, lane=name)) for name, d in drafters.items()})
    for _ in range(12):
        next(running)
    running.close()
    assert [drafter.closed for drafter in drafters.values()] == [1, 1, 1]


def test_an_error_in_one_lane_ends_the_race_and_closes_the_others() -> None:
    good, bad = Weak(GREEDY), Weak(GREEDY)
    bad.propose = lambda *_: 1 / 0  # type: ignore[method-assign]
    lanes = {name: speculative(ToySession(TARGET), d, make_run(2, lane=name)) for name, d in (("a", good), ("b", bad))}
    with pytest.raises(ZeroDivisionError):
        list(race(lanes))
    assert (good.closed, bad.closed) == (1, 1)


def test_a_cancelled_lane_leaves_the_others_running() -> None:
    lanes = {
        "a": speculative(ToySession(TARGET), Weak(GREEDY), make_run(2, lane="a", cancelled=lambda: True)),
        "b": speculative(ToySession(TARGET), Weak(GREEDY), make_run(2, lane="b")),
    }
    ends = {event.lane: event for event in race(lanes) if isinstance(event, RunFinished)}
    assert (ends["a"].finish_reason, ends["b"].finish_reason) == ("cancelled", "length")
    assert ends["b"].tokens == play(make_run(2), Weak(GREEDY)).tokens


def test_a_race_of_nobody_is_over() -> None:
    assert list(race({})) == []


def test_a_race_on_the_device_is_closed_with_its_stream() -> None:
    drafter, device = Weak(GREEDY), Device()
    stream = device.stream(lambda: race({"a": speculative(ToySession(TARGET), drafter, make_run(2))}))
    next(stream)
    stream.close()
    assert stream.wait(20.0)
    assert drafter.closed == 1
    device.shutdown()
