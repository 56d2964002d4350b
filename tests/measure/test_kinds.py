"""The races behind each kind of measurement, and how large one may be."""

from dataclasses import replace
from typing import Any

import pytest

from specdemo import drafters
from specdemo.config import RunConfig, SamplingConfig
from specdemo.errors import SettingError
from specdemo.measure import kinds
from specdemo.prompts import Prompt

PROMPTS = tuple(Prompt(str(i), "own", f"prompt {i}") for i in range(3))
CONFIG = RunConfig(prompt="any", drafter="ngram", gamma=5, sampling=SamplingConfig(0.7), max_new_tokens=16)


def plan(kind: str, **more: Any) -> Any:
    given: dict[str, Any] = {"prompts": PROMPTS, "config": CONFIG, "gammas": (1, 2), "temperatures": (0.0, 1.0)}
    return kinds.plan_of(kind, **given | {"names": ("ngram", "model")} | more)


def test_what_is_swept_varies_and_nothing_else() -> None:
    gamma, temperature = plan("gamma"), plan("temperature")
    assert (gamma.gammas, gamma.temperatures) == ((1, 2), (0.7,))
    assert (temperature.gammas, temperature.temperatures) == ((5,), (0.0, 1.0))
    assert [choice.label for choice in (*gamma.choices, *temperature.choices)] == ["ngram", "ngram"]
    found = plan("drafters")
    assert ([choice.label for choice in found.choices], found.gammas) == (["ngram", "model"], (5,))


def test_every_race_has_a_baseline_of_its_own() -> None:
    for kind in kinds.SWEEPS:
        assert [lane.name for lane in plan(kind).lanes()].count("baseline") == 1


def test_policies_reach_the_lanes_and_have_names_of_their_own() -> None:
    found = plan("policies")
    race = found.races()[0]
    assert [found.config(lane, race).policy for lane in found.lanes()[1:]] == [
        "constant", "heuristic", "confidence", "goodput",
    ]  # fmt: skip
    assert len({lane.name for lane in found.lanes()}) == 5
    assert {lane.source for lane in found.lanes()[1:]} == {"ngram"}


def test_a_draft_without_a_confidence_cannot_stop_by_it() -> None:
    for entry in drafters.entries():
        assert ("confidence" in kinds.policies(entry.id)) is entry.confident


def test_too_much_is_refused() -> None:
    with pytest.raises(SettingError, match="at most 8 can be measured"):
        plan("gamma", gammas=range(1, 10))
    with pytest.raises(SettingError, match="Name at least one"):
        plan("gamma", gammas=())
    many = tuple(Prompt(str(i), "own", "x") for i in range(24))
    with pytest.raises(SettingError, match="216 runs"):
        plan("gamma", gammas=range(1, 9), prompts=many)
    with pytest.raises(SettingError, match="18432 tokens"):
        plan("gamma", gammas=range(1, 6), prompts=many, config=replace(CONFIG, max_new_tokens=128))
    with pytest.raises(SettingError):
        plan("drafters", names=("nobody",))
