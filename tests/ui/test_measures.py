"""What the Measure tab shows, over a toy pair: every figure is one of the rows, Stop keeps them, live runs go first."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from toy_pair import ToyPair
from toy_traces import write_library

from specdemo.bench.rows import Row
from specdemo.bench.summary import summary
from specdemo.codec import plain, typed
from specdemo.core.metrics import bootstrap_interval
from specdemo.device import Device
from specdemo.errors import UserError
from specdemo.measure.kinds import SWEEPS, WIDEST
from specdemo.ui.measure import Measures, numbers
from specdemo.ui.models import Models
from specdemo.ui.replays import Library
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits

ASKED: dict[str, Any] = {
    "kind": "gamma", "pair": "smollm2-135m", "drafter": "model", "gamma": 3, "gammas": "1, 4", "temperature": 0,
    "temperatures": "0 1", "drafters": ["prompt-lookup", "model"], "prompts": "own",
    "listed": "the cat\nsat on", "file": "", "max_new_tokens": 20,
}  # fmt: skip


class House:
    """A device with a toy pair and the measurements on it."""

    def __init__(self, library: Library, **options: Any) -> None:
        self.device, self.pair = Device(), ToyPair(**options)
        models = Models(self.device, lambda spec, progress: self.pair)
        self.runs = Runs(self.device, models)
        self.measures = Measures(self.device, models, self.runs, Limits(), library)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[..., House]]:
    houses: list[House] = []

    def make(**options: Any) -> House:
        houses.append(House(Library(tmp_path), **options))
        return houses[-1]

    yield make
    for one in houses:
        one.device.shutdown()


def last(states: Iterator[dict[str, Any]]) -> dict[str, Any]:
    *_, state = states
    return state


def rows_of(state: dict[str, Any], cell: dict[str, Any]) -> list[Row]:
    records = [dict(zip(state["fields"], row, strict=True)) for row in state["rows"]]
    mine = [one for one in records if (one["lane"], one["temperature"]) == (cell["lane"], cell["temperature"])]
    return [typed(one, Row, "row") for one in mine]


def flat(value: Any) -> Any:
    """The speedups of groups by group; everything else as it is."""
    return dict(value) if isinstance(value, list) else value


@pytest.mark.parametrize("kind", SWEEPS)
def test_every_figure_is_that_of_the_rows(house: Callable[..., House], kind: str) -> None:
    done = last(house().measures.measure(ASKED | {"kind": kind}, "me"))
    assert (done["state"], done["kind"]) == ("done", kind)
    lanes = {"gamma": 3, "temperature": 2, "drafters": 3, "policies": 5}[kind]
    temperatures = 2 if kind == "temperature" else 1
    assert len(done["cells"]) == lanes * temperatures
    assert len(done["rows"]) == 2 * lanes * temperatures
    for cell in done["cells"]:
        rows = rows_of(done, cell)
        assert {row.prompt for row in rows} == {"1", "2"}
        shown, found = cell["summary"], plain(summary(rows))
        assert shown.keys() == found.keys()
        for name, value in found.items():
            same = isinstance(value, str | bool | None)
            assert flat(shown[name]) == (flat(value) if same else pytest.approx(flat(value), rel=1e-5)), name
        if shown["speedup"] is None:
            assert cell["low"] is None
        else:
            assert [cell["low"], cell["high"]] == pytest.approx(
                bootstrap_interval([(row.baseline_s, row.seconds) for row in rows]), rel=1e-5
            )
            assert set(done["lanes"][cell["lane"]]) >= {"drafter", "policy", "gamma"}
    json.dumps(done, allow_nan=False)


def test_what_is_beside_the_figures(house: Callable[..., House]) -> None:
    done = last(house().measures.measure(ASKED | {"kind": "drafters"}, "me"))
    assert done["about"]["commit"] in done["line"]
    assert done["about"]["hardware"]["processor"] in done["line"]
    assert done["bytes"] == {"prompt-lookup": 0, "model": 0}
    assert {cost["drafter"] for cost in done["costs"]} == {"none", "prompt-lookup", "model"}
    assert [prompt["titles"]["en"] for prompt in done["prompts"]] == ["the cat", "sat on"]


def test_the_strips_are_of_the_policies_and_their_texts_are_the_same(house: Callable[..., House]) -> None:
    done = last(house().measures.measure(ASKED | {"kind": "policies"}, "me"))
    texts: dict[str, set[str]] = {}
    for prompt, _, beats in done["strips"]:
        texts.setdefault(prompt, set()).add("".join(beat[-1] for beat in beats))
    assert {prompt: len(said) for prompt, said in texts.items()} == {"1": 1, "2": 1}
    assert len(done["strips"]) == 2 * 4


def test_the_curve_has_every_width_and_grows_better(house: Callable[..., House]) -> None:
    states = list(house().measures.measure(ASKED | {"kind": "lunch"}, "me"))
    done = states[-1]
    assert done["state"] == "done"
    assert [n for n, _ in done["passes"]] == [*range(1, WIDEST + 1)]
    assert all(seconds > 0 for _, seconds in done["passes"])
    assert done["progress"]["done"] == done["progress"]["of"]
    assert done["context"] > 0


def test_stop_within_a_round_keeps_what_was_measured(house: Callable[..., House]) -> None:
    one = house(delay_s=0.004)
    asked = ASKED | {"listed": "\n".join(["the cat"] * 12), "max_new_tokens": 32, "gammas": "1"}
    states = one.measures.measure(asked, "me")
    for state in states:
        if state["progress"]["done"] >= 1:
            break
    one.runs.stop("someone else")
    assert next(states)["state"] == "running"
    began = time.monotonic()
    one.runs.stop("me")
    stopped = last(states)
    assert time.monotonic() - began < 2
    assert stopped["state"] == "stopped"
    assert 0 < len(stopped["rows"]) < 24
    assert len(stopped["cells"]) == 2
    assert one.runs.going == 0


def test_live_runs_go_first_and_the_page_says_so(house: Callable[..., House]) -> None:
    one = house()
    go = threading.Event()
    during: list[int] = []

    def live() -> Iterator[int]:
        while not go.is_set():
            time.sleep(0.002)
            during.append(one.pair.calls)
            yield 0

    next(one.measures.measure(ASKED, "other"))  # loads the pair
    until(lambda: one.device.busy == 0)
    stream = one.device.stream(live)
    reader = threading.Thread(target=lambda: list(stream), daemon=True)
    reader.start()
    until(lambda: bool(during))
    states = one.measures.measure(ASKED, "me")
    waiting = next(states)
    assert (waiting["state"], waiting["ahead"]) == ("waiting", 1)
    assert len(set(during)) == 1, "nothing was measured meanwhile"
    go.set()
    reader.join()
    assert last(states)["state"] == "done"


def test_who_waits_can_stop(house: Callable[..., House]) -> None:
    one, go = house(), threading.Event()
    next(one.measures.measure(ASKED, "other"))
    until(lambda: one.device.busy == 0)
    stream = one.device.stream(lambda: iter([go.wait(20)]))
    states = one.measures.measure(ASKED, "me")
    assert next(states)["state"] == "waiting"
    one.runs.stop("me")
    began = time.monotonic()
    assert last(states)["state"] == "stopped"
    assert time.monotonic() - began < 5
    go.set()
    stream.close()


def test_whoever_walks_away_frees_the_device(house: Callable[..., House]) -> None:
    one = house(delay_s=0.001)
    states = one.measures.measure(ASKED | {"max_new_tokens": 128}, "me")
    for _ in range(2):
        next(states)
    states.close()
    until(lambda: not one.device.busy and not one.runs.going)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "all"}, {"kind": None}, {"pair": "other"}, {"drafter": "nobody"}, {"prompts": "everything"},
        {"gammas": ""}, {"gammas": "1, x"}, {"gammas": "0"}, {"gammas": "1.5"}, {"gammas": "99"}, {"gammas": None},
        {"gammas": "1 2 3 4 5 6 7 8 9"}, {"listed": " "}, {"listed": "x" * 20_001}, {"listed": "x\n" * 25},
        {"file": "x.exe"}, {"max_new_tokens": 129}, {"temperature": "hot"}, {"kind": "policies", "gamma": 99},
        {"kind": "temperature", "temperatures": "9"}, {"kind": "drafters", "drafters": []},
        {"kind": "drafters", "drafters": "model"}, {"kind": "drafters", "drafters": ["../x"]},
        {"max_new_tokens": 128, "listed": "x\n" * 20, "gammas": "1 2 3 4 5 6"},
    ],
)  # fmt: skip
def test_nonsense_is_refused_before_any_work(house: Callable[..., House], wrong: dict[str, Any]) -> None:
    one = house()
    with pytest.raises(UserError):
        next(one.measures.measure(ASKED | wrong, "me"))
    assert one.device.busy == 0


def test_lists_of_numbers() -> None:
    def read(name: str, text: str) -> float:
        return float(text)

    assert numbers("gammas", " 4,2；1、2 ", read) == (1.0, 2.0, 4.0)


def test_earlier_runs_are_those_recorded(tmp_path: Path) -> None:
    write_library(tmp_path)
    one = House(Library(tmp_path))
    found = one.measures.earlier
    assert found
    for run in found:
        assert run["alpha"] == pytest.approx(run["accepted"] / run["tested"])
        assert run["c"] > 0
        assert set(run["titles"]) >= {"en", "zh"}
    json.dumps(found, allow_nan=False)
    one.device.shutdown()
