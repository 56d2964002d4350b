"""Events are plain data: what a run says can be written as strict JSON as it stands."""

import json
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass
from typing import get_args

import pytest
from enumerating import chain_draft, random_table

from specdemo.config import SamplingConfig
from specdemo.core.events import Event
from specdemo.core.policy import Constant
from specdemo.core.sampling import SeededCoin, Shaping
from specdemo.core.verify import Fate
from specdemo.engine import NoDrafter, Run, speculative
from specdemo.models.toy import ToySession, WordDetokeniser

SHAPING = Shaping(SamplingConfig(temperature=1.0))


class Sampling(NoDrafter):
    """Draws from a table of its own."""

    def propose(self, tokens, gamma, coin):
        return chain_draft(random_table(12, seed=2), SHAPING, tokens, gamma, coin)


@pytest.fixture(scope="module")
def events() -> list[Event]:
    run = Run("lane", (1, 2, 3), SHAPING, 12, WordDetokeniser, SeededCoin(0), policy=Constant(3), inspect=True)
    return list(speculative(ToySession(random_table(12, seed=1)), Sampling(), run))


def leaves(value: object) -> list[object]:
    """Everything inside nested records and tuples that is neither."""
    if is_dataclass(value):
        return [leaf for f in fields(value) for leaf in leaves(getattr(value, f.name))]
    return [leaf for item in value for leaf in leaves(item)] if type(value) is tuple else [value]


def test_the_run_above_has_every_kind_of_event(events: list[Event]) -> None:
    assert {type(event) for event in events} == set(get_args(Event))


def test_leaves_are_plain_python(events: list[Event]) -> None:
    """No tensors, no library's number types, no lists that could still change."""
    kinds = {type(leaf) for event in events for leaf in leaves(event)}
    assert kinds <= {int, float, str, bool, type(None), Fate}


def test_events_are_strict_json(events: list[Event]) -> None:
    for event in events:
        text = json.dumps(asdict(event), allow_nan=False)
        assert json.loads(text)["lane"] == "lane"


def test_fates_are_their_names(events: list[Event]) -> None:
    assert json.dumps([*Fate]) == '["accepted", "rejected", "discarded", "resampled", "bonus", "plain"]'


def test_events_cannot_be_changed(events: list[Event]) -> None:
    for event in events:
        with pytest.raises(FrozenInstanceError):
            event.lane = "other"
