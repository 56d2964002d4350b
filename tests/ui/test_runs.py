"""Live runs over the toy pair, without a server: what is streamed, what stops, what is left behind."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from toy_pair import ToyPair

from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.events import RunFinished
from specdemo.core.result import collect
from specdemo.device import Device
from specdemo.ui import replays
from specdemo.ui.models import Models
from specdemo.ui.runs import Runs

CONFIG = RunConfig(prompt="the cat sat", drafter="model", gamma=3, max_new_tokens=40)


class House:
    """A device with a toy pair and the runs on it."""

    def __init__(self, pair: ToyPair) -> None:
        self.pair = pair
        self.device = Device()
        self.models = Models(self.device, lambda spec, progress: pair)
        self.runs = Runs(self.device, self.models)

    def idle(self) -> bool:
        return self.device.busy == 0 and self.runs.going == 0


@pytest.fixture
def house() -> Iterator[Callable[..., House]]:
    houses: list[House] = []

    def make(**options: object) -> House:
        houses.append(House(ToyPair(**options)))
        return houses[-1]

    yield make
    for one in houses:
        one.device.shutdown()


def until(condition: Callable[[], bool], seconds: float = 1.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_pieces_are_the_whole_run(house: Callable[..., House], temperature: float) -> None:
    config = RunConfig(prompt="the cat", drafter="model", max_new_tokens=60, sampling=SamplingConfig(temperature))
    recorded = replays.read("".join(house().runs.live(config, "me")))
    assert recorded.header.kind == "live"
    assert recorded.header.settings == config
    for lane in collect(recorded.events).lanes.values():
        assert lane.finished is not None
        assert len(lane.finished.tokens) == 60


def test_the_text_shown_is_the_decoded_list_exactly(house: Callable[..., House]) -> None:
    """Spaces, newlines, combining characters, emoji over two tokens, hostile words."""
    one = house()
    text = "".join(one.runs.live(CONFIG, "me"))
    for event in replays.read(text).events:
        if isinstance(event, RunFinished):
            detokeniser = one.pair.text.detokeniser()
            assert event.text == "".join(map(detokeniser.feed, event.tokens)) + detokeniser.flush()
            assert "<img src=x onerror=alert(1)>" in event.text
            assert "😀" in event.text


def test_stop_ends_the_run_after_its_round_with_all_it_has(house: Callable[..., House]) -> None:
    one = house(delay_s=0.01)
    shown = one.runs.live(RunConfig(prompt="x", drafter="model", max_new_tokens=4000), "me")
    text = next(shown) + next(shown)
    one.runs.stop("someone else")
    text += next(shown)
    start = time.monotonic()
    one.runs.stop("me")
    text += "".join(shown)
    assert time.monotonic() - start < 1.0
    finished = [event for event in replays.read(text).events if isinstance(event, RunFinished)]
    assert [event.finish_reason for event in finished] == ["cancelled", "cancelled"]
    assert all(event.tokens for event in finished)
    until(one.idle)


def test_whoever_walks_away_frees_the_device(house: Callable[..., House]) -> None:
    one = house(delay_s=0.005)
    shown = one.runs.live(RunConfig(prompt="x", drafter="model", max_new_tokens=4000), "me")
    next(shown), next(shown)
    shown.close()
    until(one.idle)
    calls = one.pair.calls
    time.sleep(0.1)
    assert one.pair.calls == calls


@pytest.mark.parametrize("call", [1, 30])
@pytest.mark.parametrize("error", [MemoryError("none left"), ZeroDivisionError("a bug")])
def test_a_run_that_fails_says_so_and_the_next_one_works(
    house: Callable[..., House], call: int, error: Exception
) -> None:
    failing = {call: error}

    def fail(number: int) -> None:
        if number in failing:
            raise failing.pop(number)

    one = house(fail=fail)
    with pytest.raises(type(error)):
        list(one.runs.live(CONFIG, "me"))
    until(one.idle)
    assert len(list(one.runs.live(CONFIG, "me"))) >= 2


def test_two_visitors_get_what_each_gets_alone(house: Callable[..., House]) -> None:
    configs = {
        "a": RunConfig(
            prompt="one two three", drafter="model", gamma=2, max_new_tokens=50, sampling=SamplingConfig(1.0), seed=1
        ),
        "b": RunConfig(
            prompt="four", drafter="random", gamma=5, max_new_tokens=70, sampling=SamplingConfig(0.7), seed=2
        ),
    }
    one = house()

    def tokens(visitor: str) -> dict[str, tuple[int, ...]]:
        text = "".join(one.runs.live(configs[visitor], visitor))
        return {name: lane.tokens for name, lane in collect(replays.read(text).events).lanes.items()}

    alone = {visitor: tokens(visitor) for visitor in configs}
    together: dict[str, list[dict[str, tuple[int, ...]]]] = {"a": [], "b": []}
    threads = [
        threading.Thread(target=lambda v=visitor: together[v].extend(tokens(v) for _ in range(3)))
        for visitor in configs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert together == {visitor: [alone[visitor]] * 3 for visitor in configs}


def test_plain_decoding_alone_is_one_lane(house: Callable[..., House]) -> None:
    text = "".join(house().runs.live(RunConfig(prompt="x", drafter="none", gamma=0, max_new_tokens=5), "me"))
    assert set(collect(replays.read(text).events).lanes) == {"baseline"}


def test_goodput_measures_its_costs_first(house: Callable[..., House]) -> None:
    config = RunConfig(prompt="x y z", drafter="model", policy="goodput", max_new_tokens=8)
    text = "".join(house().runs.live(config, "me"))
    assert collect(replays.read(text).events).lanes["speculative"].finished is not None


def test_an_exact_run_uses_exact_sessions_in_both_lanes(house: Callable[..., House]) -> None:
    one = house()
    asked: list[bool] = []
    one.pair.exact_target = lambda: (asked.append(True), one.pair.target())[1]  # type: ignore[method-assign, attr-defined]
    text = "".join(one.runs.live(RunConfig(prompt="x", drafter="model", exact=True, max_new_tokens=5), "me"))
    assert len(asked) == 2
    assert replays.read(text).header.settings.exact is True
