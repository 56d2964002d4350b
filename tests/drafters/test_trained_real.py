"""The shipped drafts on the real target in float32: same text, honest laws, right often enough to be worth it."""

import pytest

from specdemo import lanes
from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.events import Event, RunFinished
from specdemo.models.pair import Pair
from specdemo.prompts import load_prompts

pytestmark = pytest.mark.real

PROMPTS = [prompt for prompt in load_prompts() if prompt.id in ("sleep-tips", "meeting-notes")]
DRAFTERS = ("tiny-model", "feature-head", "hybrid")


def last(events: list[Event]) -> RunFinished:
    assert isinstance(events[-1], RunFinished)
    return events[-1]


@pytest.mark.parametrize("prompt", PROMPTS, ids=[prompt.id for prompt in PROMPTS])
def test_greedy_text_is_the_targets_own(real_pair: Pair, prompt: object) -> None:
    config = RunConfig(prompt=prompt.text, drafter="none", gamma=0, max_new_tokens=32)  # type: ignore[attr-defined]
    golden = last(list(lanes.open_lane(real_pair, config, "baseline"))).tokens
    for drafter in DRAFTERS:
        drafted = RunConfig(prompt=prompt.text, drafter=drafter, gamma=4, max_new_tokens=32)  # type: ignore[attr-defined]
        found = last(list(lanes.open_lane(real_pair, drafted, "speculative")))
        assert found.tokens == golden, drafter
        assert (found.metrics.tau or 0) > 1.1, drafter


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_a_warm_seed_is_a_text(real_pair: Pair, drafter: str) -> None:
    config = RunConfig(
        prompt=PROMPTS[0].text, drafter=drafter, gamma=3, max_new_tokens=16, sampling=SamplingConfig(1.0), seed=5
    )
    first, second = (last(list(lanes.open_lane(real_pair, config, "speculative"))).tokens for _ in range(2))
    assert first == second
