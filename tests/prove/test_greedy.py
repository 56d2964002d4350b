"""Races on worlds and pairs: greedy texts are the target's own, and shared noise gives the same text at any T."""

from dataclasses import replace

import pytest
import torch
from enumerating import cached
from toypair import END, VOCABULARY, ToyPair

from specdemo import lanes
from specdemo.config import RunConfig, SamplingConfig
from specdemo.core import rules
from specdemo.core.result import collect
from specdemo.core.verify import Fate
from specdemo.models.toy import hashed
from specdemo.outcome import Outcome, judge
from specdemo.prove.greedy import greedy_on, race
from specdemo.prove.position import position
from specdemo.prove.world import random_world
from specdemo.terminal import sameness

DRAFTERS = ("model", "prompt-lookup", "layer-skip", "oracle", "random", "dial-alpha")
HASHED = hashed(VOCABULARY, seed=1, spread=2.0, memory=64)
TARGET = cached(lambda context: HASHED(context).index_fill(0, torch.tensor([END]), -20.0))
NOISE = hashed(VOCABULARY, seed=2, spread=0.8)


def pair() -> ToyPair:
    return ToyPair(TARGET, cached(lambda context: TARGET(context) + NOISE(context)))


def config(rule: str, temperature: float = 1.0, **more: object) -> RunConfig:
    plain = {"prompt": "3 1 4 1 5", "drafter": "model", "gamma": 3, "max_new_tokens": 30, "seed": 5}
    return RunConfig(rule=rule, sampling=SamplingConfig(temperature), **plain | more)


def run(settings: RunConfig):
    own = pair()
    return collect(lanes.open_race(own, lanes.against_baseline(settings))), own


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0, 1.7])
@pytest.mark.parametrize("drafter", DRAFTERS)
def test_shared_noise_says_the_same_in_every_lane(drafter: str, temperature: float) -> None:
    results, own = run(config("shared-noise", temperature, drafter=drafter))
    fast, slow = (results.lanes[name] for name in (lanes.SPECULATIVE, lanes.BASELINE))
    assert fast.tokens == slow.tokens
    assert len(set(slow.tokens)) > 10
    outcome = judge(results, lanes.SPECULATIVE, lanes.BASELINE, own.target)
    assert (outcome.identical, outcome.rule) == (True, "shared-noise")
    assert "identical 30/30" in sameness(outcome)


def test_shared_noise_needs_the_same_seed_and_says_something_new_with_another() -> None:
    texts = {seed: run(config("shared-noise", seed=seed))[0].lanes[lanes.BASELINE].tokens for seed in (1, 2)}
    # Two texts of 30 ids from laws of some 3 nats agree with chance below 1e-20.
    assert texts[1] != texts[2]


def test_shared_noise_keeps_many_guesses() -> None:
    """Not the same text by drafting nothing: the draft resembles the target, so several tokens a round."""
    metrics = run(config("shared-noise"))[0].lanes[lanes.SPECULATIVE].metrics
    assert metrics.tau > 1.5
    assert metrics.alpha > 0.3


@pytest.mark.parametrize("rule", [rule.id for rule in rules.entries() if rule.id != "shared-noise"])
def test_the_baseline_is_the_target_alone_whatever_the_rule(rule: str) -> None:
    plain = run(config("rejection"))[0].lanes[lanes.BASELINE]
    assert run(config(rule))[0].lanes[lanes.BASELINE].tokens == plain.tokens
    assert lanes.baseline(config(rule)).rule == "rejection"


@pytest.mark.parametrize("rule", rules.entries(), ids=lambda rule: rule.id)
def test_every_rule_runs_in_the_engine_and_its_numbers_add_up(rule: rules.Entry) -> None:
    lane = run(config(rule.id))[0].lanes[lanes.SPECULATIVE]
    m = lane.metrics
    assert (lane.started.rule, m.tokens, len(lane.tokens)) == (rule.id, 30, 30)
    assert m.drafted == m.accepted + m.rejected + m.discarded
    assert m.tokens == m.accepted + m.resampled + m.bonus + m.plain
    assert sum(m.lengths) == m.proposals
    assert m.tau > 1
    assert (m.alpha is None) == (not rule.tokenwise)
    if rule.id == "bonus-skipped":
        assert m.bonus == 0
        assert any(set(r.fates) == {Fate.ACCEPTED} and r.last is None for r in lane.rounds[:-1])


@pytest.mark.parametrize("rule", rules.entries(), ids=lambda rule: rule.id)
def test_greedy_texts(rule: rules.Entry) -> None:
    results, own = run(config(rule.id, temperature=0.0))
    outcome = judge(results, lanes.SPECULATIVE, lanes.BASELINE, own.target)
    assert outcome.identical == (rule.id != "first-unverified")
    said = sameness(outcome)
    assert "fault" not in said
    assert ("identical" in said) == bool(outcome.identical)


@pytest.mark.parametrize(
    ("rule", "words"), [("block", "law is the same"), ("typical", "may their law"), ("greedy-match", "may their law")]
)
def test_a_sampled_race_says_whether_the_law_is_kept(rule: str, words: str) -> None:
    results, own = run(config(rule))
    outcome = judge(results, lanes.SPECULATIVE, lanes.BASELINE, own.target)
    assert outcome.identical is None
    assert words in sameness(outcome)


def test_a_greedy_race_on_a_pair_ends_with_what_it_showed() -> None:
    *events, outcome = greedy_on(pair(), config("rejection"))
    assert isinstance(outcome, Outcome)
    assert outcome.identical
    assert {event.lane for event in events} == {lanes.SPECULATIVE, lanes.BASELINE}


def test_a_race_on_a_world_names_the_first_difference() -> None:
    outcome = race(rules.entry("first-unverified"), random_world(24, 1).sampled(SamplingConfig()))
    assert (outcome.identical, outcome.divergence.index) == (False, outcome.same)
    assert outcome.divergence.gap > 0


# --- a position of a prompt -----------------------------------------------------------------------------------------


def test_the_laws_at_a_position_are_those_of_the_run() -> None:
    settings = config("rejection", 0.8)
    own = pair()
    found = position(own, settings, (7, 8))
    assert found.context == (3, 1, 4, 1, 5, 7, 8)
    logits = TARGET(found.context), TARGET(found.context) + NOISE(found.context)
    for law, raw in zip((found.p, found.q), logits, strict=True):
        assert law.tolist() == pytest.approx((raw / 0.8).softmax(-1).tolist(), abs=1e-6)


def test_a_lookup_has_a_one_hot_law_or_none() -> None:
    settings = replace(config("rejection"), drafter="prompt-lookup")
    assert position(pair(), settings, (3,)).q.tolist() == [float(i == 1) for i in range(VOCABULARY)]
    assert position(pair(), settings, (9,)).q is None


# --- the real model -------------------------------------------------------------------------------------------------


@pytest.mark.real
def test_shared_noise_on_the_real_model(real_pair) -> None:
    """float32: no rounding between passes of other widths is large enough to change any of these draws."""
    settings = RunConfig(
        prompt="Name three fruits.",
        sampling=SamplingConfig(temperature=1.0),
        rule="shared-noise",
        max_new_tokens=24,
        seed=3,
        gamma=3,
    )
    configs = {"baseline": lanes.baseline(settings)}
    configs |= {drafter: replace(settings, drafter=drafter) for drafter in ("ngram", "layer-skip")}
    texts = {name: lane.tokens for name, lane in collect(lanes.open_race(real_pair, configs)).lanes.items()}
    assert len(texts["baseline"]) == 24
    assert set(texts.values()) == {texts["baseline"]}
