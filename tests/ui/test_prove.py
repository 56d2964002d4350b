"""What the Prove tab shows, over a toy pair and the tiny world."""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from toy_pair import ToyPair

from specdemo.core import rules
from specdemo.device import Device
from specdemo.errors import PairError, SettingError, UserError
from specdemo.prove.matrix import row
from specdemo.ui.models import FetchPair, Models, Progress, nothing_to_fetch
from specdemo.ui.precision import split
from specdemo.ui.prove import Exact, Proofs, cells_of
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.tabs.asking import shown

ASKED: dict[str, Any] = {
    "prompt": "the cat sat", "pair": "smollm2-135m", "drafter": "model", "rule": "rejection", "seed": 3,
    "temperature": 1.0, "depth": 2, "n": 20_000, "gamma": 3, "max_new_tokens": 24, "mode": "loaded",
}  # fmt: skip


class House:
    """A device with a toy pair and the tests on it."""

    def __init__(self, pair: ToyPair, fetch: FetchPair = nothing_to_fetch) -> None:
        self.device = Device()
        self.loaded: list[str] = []

        def load(spec: str, progress: Progress) -> ToyPair:
            self.loaded.append(spec)
            if self.loaded == [spec]:
                return pair
            beside = ToyPair()
            beside.dtype = split(spec)[1] or beside.dtype
            return beside

        models = Models(self.device, load, fetch=fetch)
        self.runs = Runs(self.device, models)
        self.proofs = Proofs(self.device, models, self.runs, Limits())


@pytest.fixture
def house() -> Iterator[Callable[..., House]]:
    houses: list[House] = []

    def make(**options: Any) -> House:
        houses.append(House(ToyPair(**options)))
        return houses[-1]

    yield make
    for one in houses:
        one.device.shutdown()


def last(states: Iterator[dict[str, Any]]) -> dict[str, Any]:
    *_, state = states
    return state


@pytest.mark.parametrize("test", ["sampled", "greedy"])
def test_a_download_holds_nobody(test: str) -> None:
    """Whoever asks before the models are there waits beside the device thread, which others go on using."""
    there = threading.Event()
    house = House(ToyPair(), lambda spec, progress: (there.wait(20), None)[1])
    try:
        states = getattr(house.proofs, test)(ASKED, "me")
        assert next(states) == {"state": "waiting"}
        assert house.device.call(lambda: "a turn") == "a turn"
        assert house.loaded == []
        house.runs.stop("me")
        assert last(states) == {"state": "stopped"}
        there.set()
        assert last(getattr(house.proofs, test)(ASKED, "me"))["state"] == "done"
    finally:
        there.set()
        house.device.shutdown()


def test_the_exact_rows_are_those_of_the_matrix_and_made_once() -> None:
    device = Device()
    try:
        exact = Exact(device)
        first = exact.rows()
        assert first["of"] == len(rules.entries())
        deadline = time.monotonic() + 60
        while len(exact.rows()["rows"]) < first["of"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        found = exact.rows()["rows"]
        assert [one["rule"] for one in found] == [rule.id for rule in rules.entries()]
        assert all(one["as_promised"] for one in found)
        assert found[0] == cells_of(row(rules.entry("rejection")))
        json.dumps(found, allow_nan=False)
        while device.busy:
            time.sleep(0.01)
        exact.rows()
        assert device.busy == 0, "nothing is worked out a second time"
    finally:
        device.shutdown()


def test_every_rule_has_its_exact_law_of_two_three_and_four_tokens() -> None:
    for rule in rules.entries():
        laws = cells_of(row(rule))["joints"]
        assert list(laws) == ["2", "3", "4"]
        for length, law in laws.items():
            assert {len(tokens) for tokens, _, _ in law["texts"]} == {int(length)}
            for column in (1, 2):
                assert sum(text[column] for text in law["texts"]) == pytest.approx(1.0, abs=1e-6)
            difference = sum(abs(target - emitted) for _, target, emitted in law["texts"]) / 2
            assert law["distance"] == pytest.approx(difference, abs=1e-6)
            assert (law["distance"] < 1e-6) is rule.keeps_law(greedy=False), (rule.id, length)


def test_another_precision_is_a_second_pair_that_says_what_it_holds(
    house: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = house()
    monkeypatch.setattr(ToyPair, "target_bytes", 1000)
    same = list(one.proofs.greedy(ASKED | {"mode": "float32"}, "me"))
    assert one.loaded == ["smollm2-135m"]
    assert {state["beside"] for state in same} == {0}
    states = list(one.proofs.greedy(ASKED | {"mode": "bfloat16"}, "me"))
    assert states[0] == {"state": "loading", "dtype": "bfloat16", "bytes": 500}
    assert one.loaded == ["smollm2-135m", "smollm2-135m as bfloat16"]
    end = states[-1]
    assert (end["dtype"], end["beside"], end["exact"], end["identical"]) == ("bfloat16", 500, False, True)
    assert len(end["margins"]) == len(end["baseline"])
    list(one.proofs.greedy(ASKED | {"mode": "bfloat16"}, "me"))
    assert len(one.loaded) == 2, "it is held until room is needed"


def test_there_must_be_room_for_a_second_precision(
    house: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ToyPair, "target_bytes", 10**15)
    one = house()
    with pytest.raises(PairError, match="MB are free"):
        list(one.proofs.greedy(ASKED | {"mode": "bfloat16"}, "me"))
    assert one.loaded == ["smollm2-135m"]


def test_sampled_decisions_of_a_sound_rule_agree_and_are_all_shown(house: Callable[..., House]) -> None:
    """A false alarm has chance 2 · 10⁻⁴; the seed is fixed."""
    states = list(house().proofs.sampled(ASKED, "me"))
    counted = [state for state in states if "cells" in state]
    assert [state["n"] for state in counted] == [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000]
    assert [state["state"] for state in counted] == ["running"] * 7 + ["done"]
    for state in counted:
        assert sum(count for *_, count in state["cells"]) == state["n"]
        assert sum(p for _, p, _, _ in state["cells"]) == pytest.approx(1.0, abs=1e-5)
        assert sum(q for _, _, q, _ in state["cells"]) == pytest.approx(1.0, abs=1e-5)
        json.dumps(state, allow_nan=False)
    done = counted[-1]
    assert done["passed"]
    assert done["accepted"] / done["n"] == pytest.approx(done["beta"], abs=0.02)
    assert [n for n, *_ in done["history"]] == [state["n"] for state in counted]


def test_sampled_decisions_refute_a_broken_rule(house: Callable[..., House]) -> None:
    done = last(house().proofs.sampled(ASKED | {"rule": "resample-from-p", "n": 100_000}, "me"))
    assert not done["passed"]


def test_a_position_lies_behind_the_targets_own_answer(house: Callable[..., House]) -> None:
    texts = [last(house().proofs.sampled(ASKED | {"depth": depth, "n": 100}, "me"))["context"] for depth in (0, 1, 5)]
    assert texts[1].startswith(texts[0])
    assert texts[2].startswith(texts[1])
    assert len(set(texts)) == 3


def test_greedy_texts_of_a_sound_rule_are_identical(house: Callable[..., House]) -> None:
    states = list(house().proofs.greedy(ASKED, "me"))
    done = states[-1]
    assert (done["state"], done["identical"], done["same"], done["of"]) == ("done", True, 24, 24)
    assert "".join(done["speculative"]) == "".join(done["baseline"])
    for earlier, later in itertools.pairwise(states):
        for lane in ("speculative", "baseline"):
            assert later[lane][: len(earlier[lane])] == earlier[lane]


def test_greedy_texts_of_a_broken_rule_part_and_say_why(house: Callable[..., House]) -> None:
    asked = ASKED | {"rule": "first-unverified", "drafter": "random", "max_new_tokens": 40}
    done = last(house().proofs.greedy(asked, "me"))
    assert done["identical"] is False
    assert done["divergence"]["tie"] is False
    assert done["speculative"][done["same"]] != done["baseline"][done["same"]]


@pytest.mark.parametrize(
    "wrong",
    [{"n": 99}, {"n": 2_000_000}, {"depth": -1}, {"depth": 65}, {"rule": "none"}, {"temperature": 99}, {"prompt": " "},
     {"pair": "other"}, {"drafter": "nobody"}, {"n": None}],
)  # fmt: skip
def test_nonsense_is_refused_before_any_work(house: Callable[..., House], wrong: dict[str, Any]) -> None:
    one = house()
    with pytest.raises(UserError):
        next(one.proofs.sampled(ASKED | wrong, "me"))
    assert one.device.busy == 0


@pytest.mark.parametrize("wrong", [{"mode": "other"}, {"gamma": 99}, {"max_new_tokens": 9999}, {"rule": ""}])
def test_nonsense_about_texts_is_refused(house: Callable[..., House], wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        next(house().proofs.greedy(ASKED | wrong, "me"))


def test_a_draft_with_nothing_to_say_is_named(house: Callable[..., House]) -> None:
    asked = ASKED | {"drafter": "prompt-lookup", "prompt": "a", "depth": 0}
    with pytest.raises(SettingError, match="nothing to propose"):
        list(house().proofs.sampled(asked, "me"))


def test_stop_ends_a_test_and_keeps_what_there_is(house: Callable[..., House]) -> None:
    one = house(delay_s=0.005)
    states = one.proofs.greedy(ASKED | {"max_new_tokens": 500}, "me")
    for _ in range(20):
        next(states)
    one.runs.stop("someone else")
    assert next(states)["state"] == "running"
    one.runs.stop("me")
    assert last(states)["state"] == "stopped"
    assert one.runs.going == 0


def test_whoever_walks_away_frees_the_device(house: Callable[..., House]) -> None:
    one = house()
    states = one.proofs.sampled(ASKED | {"n": 1_000_000}, "me")
    for _ in range(4):
        next(states)
    states.close()
    deadline = time.monotonic() + 5
    while one.device.busy or one.runs.going:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_values_name_their_run_and_the_last_state_always_comes() -> None:
    def test(asked: object, visitor: str) -> Iterator[dict[str, Any]]:
        for number in range(50):
            yield {"state": "running", "number": number}

    values = [json.loads(value) for value in shown("sampled", test, {}, "me")]
    assert {value["run"] for value in values} == {values[0]["run"]}
    assert values[0]["state"] == "waiting"
    assert values[-1]["number"] == 49
    assert len(values) < 10, "a few a second, however many states there are"


@pytest.mark.parametrize(
    ("error", "said"), [(SettingError("nothing_proposed"), "nothing to propose"), (ZeroDivisionError(), "")]
)
def test_what_goes_wrong_is_one_sentence_in_every_language(error: Exception, said: str) -> None:
    def test(asked: object, visitor: str) -> Iterator[dict[str, Any]]:
        yield {"state": "reading"}
        raise error

    failed = json.loads(list(shown("greedy", test, {}, "me"))[-1])
    assert failed["state"] == "failed"
    assert said in failed["problem"]["en"]
    assert failed["problem"]["zh"]
