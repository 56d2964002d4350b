"""The rules of the registry: what they keep, what they say of it, and what their papers promise."""

import math
from dataclasses import replace

import pytest
import torch
from enumerating import (
    EnumeratingCoin,
    chain_draft,
    entry_of,
    law_at,
    outcomes,
    random_table,
    target_laws,
)
from torch import Tensor

from specdemo.config import RULES, RunConfig, SamplingConfig
from specdemo.core import rules
from specdemo.core.rules import Badge, Side
from specdemo.core.rules.block import verify_blocks
from specdemo.core.rules.shared_noise import NoiseCoin
from specdemo.core.sampling import Coin, SeededCoin, Shaping, law
from specdemo.core.verify import Draft, Fate, Rule, Verdict, verify
from specdemo.errors import SettingError, sentences
from specdemo.prove.joint import exact_tau, joint
from specdemo.prove.waste import waste
from specdemo.prove.world import World, random_world

WARM = SamplingConfig(temperature=1.0)
every = pytest.mark.parametrize("rule", rules.entries(), ids=lambda rule: rule.id)


class Flips:
    """Gives u from a list and always draws the most likely id."""

    def __init__(self, *us: float) -> None:
        self._us = list(us)

    def uniform(self) -> float:
        return self._us.pop(0)

    def draw(self, law: Tensor) -> int:
        return int(law.argmax())


# --- the registry ---------------------------------------------------------------------------------------------------


def test_the_registry_holds_the_ids_of_the_settings() -> None:
    assert tuple(rule.id for rule in rules.entries()) == RULES
    assert rules.entry(RunConfig().rule).badge is Badge.LOSSLESS
    with pytest.raises(SettingError, match="magic"):
        rules.entry("magic")


@every
def test_a_rule_has_its_names_in_both_languages(rule: rules.Entry) -> None:
    for language in ("en", "zh"):
        table = sentences(language)
        for key in (f"rule.{rule.id}", f"rule_about.{rule.id}", f"badge.{rule.badge}", f"side.{rule.side}"):
            assert table[f"ui.{key}"]
    assert (sentences()[f"ui.rule.{rule.id}"], sentences()[f"ui.rule_about.{rule.id}"]) == (rule.label, rule.summary)


@every
def test_what_a_rule_touches_is_what_it_says(rule: rules.Entry) -> None:
    """The draft draws with a coin of its own exactly where the rule says that it touches the draft."""
    coin = rule.coin(0)
    assert (rule.draft_coin(coin) is not coin) == (rule.side is not Side.TARGET)


@every
def test_an_empty_draft_is_plain_decoding(rule: rules.Entry) -> None:
    verdict = rule.judge(Draft(), torch.tensor([[0.0, 1.0, 0.0]]), rule.coin(0))
    assert verdict == Verdict(0, 1, Fate.PLAIN, ())


@every
@pytest.mark.parametrize("laws", [True, False], ids=["laws", "one-hot"])
def test_a_verdict_adds_up(rule: rules.Entry, laws: bool) -> None:
    """At least one id joins the text, all of them possible; each drafted token has at most one test."""
    p_table, q_table = random_table(5, 1), random_table(5, 2)
    shaping = Shaping(WARM)
    for seed in range(40):
        coin = rule.coin(seed)
        draft = chain_draft(q_table, shaping, (seed % 5,), 3, rule.draft_coin(coin))
        draft = draft if laws else replace(draft, laws=None)
        verdict = rule.judge(draft, target_laws(p_table, shaping, (seed % 5,), draft), coin)
        assert 0 <= verdict.accepted <= 3
        assert verdict.block(draft)[: verdict.accepted] == draft.tokens[: verdict.accepted]
        assert 1 <= len(verdict.block(draft)) <= 4
        assert len(verdict.tests) <= 3
        assert all(0.0 <= test.u < 1.0 for test in verdict.tests)
        for test in verdict.tests:
            assert test.accepted == (test.u < (test.p / test.q if test.h is None else test.h))
        if rule.tokenwise:
            assert [test.accepted for test in verdict.tests[: verdict.accepted]] == [True] * verdict.accepted


# --- block verification ---------------------------------------------------------------------------------------------


SETS = [
    *((2, 2, 3, seed) for seed in range(112)),
    *((3, 2, 2, seed) for seed in range(4)),
    *((2, 3, 4, seed) for seed in range(4)),
]
"""120 sets of context-dependent laws: V, γ, tokens of the joint law, seed."""


def test_block_verification_is_exact_and_better_in_the_mean_on_120_sets_of_laws() -> None:
    gains = []
    for vocabulary, gamma, length, seed in SETS:
        world = random_world(vocabulary, 100 + seed, WARM, unlikeness=2.0)
        assert joint(rules.entry("block"), world, gamma=gamma, length=length).passed
        block_tau, token_tau = (exact_tau(rules.entry(id), world, gamma=gamma) for id in ("block", "rejection"))
        gains.append(block_tau - token_tau)
    assert min(gains) > -1e-6
    assert sum(gains) / len(gains) > 0.02


def test_the_example_of_the_paper() -> None:
    """p = (1/3, 2/3), q = (2/3, 1/3), γ = 2: 10/9 accepted tokens by the token rule, 11/9 by the block rule."""

    def fixed(*chances: float):
        return lambda context: torch.tensor(chances).log()

    world = World(2, fixed(1, 2), fixed(2, 1), Shaping(WARM), Shaping(WARM))
    assert exact_tau(rules.entry("rejection"), world) - 1 == pytest.approx(10 / 9, abs=1e-6)
    assert exact_tau(rules.entry("block"), world) - 1 == pytest.approx(11 / 9, abs=1e-6)


def test_a_block_rule_that_looks_at_its_own_position_is_noticed() -> None:
    """h_i needs p and q of position i + 1. Where laws do not depend on the context the mistake is invisible."""

    def one_back(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
        if not draft.tokens:
            return verify_blocks(draft, p, coin)
        wrong = replace(draft, laws=torch.cat([draft.laws[:1], draft.laws[:-1]]))
        return verify_blocks(wrong, torch.cat([p[:1], p[:-1]]), coin)

    assert not joint(entry_of(one_back), random_world(3, 1, WARM)).passed


def test_a_token_that_loses_its_own_test_is_kept_in_a_longer_block() -> None:
    q = torch.tensor([[0.8, 0.2], [0.2, 0.8]])
    p = torch.tensor([[0.4, 0.6], [0.8, 0.2], [0.5, 0.5]])
    verdict = verify_blocks(Draft((0, 0), q), p, Flips(0.99, 0.5))
    # P_1 = .5; S_1 = Σ max(.5 p − q, 0) = .2, h_1 = .2 / .7; P_2 = min(.5 · .8 / .2, 1) = 1.
    assert [test.h for test in verdict.tests] == [pytest.approx(2 / 7), pytest.approx(1.0)]
    assert [test.accepted for test in verdict.tests] == [False, True]
    assert (verdict.accepted, verdict.fate) == (2, Fate.BONUS)


def test_with_equal_coins_some_rounds_accept_fewer() -> None:
    """Better in the mean, not in every round."""
    found = waste(rules.entry("block"), random_world(4, 3, WARM, unlikeness=2.0), rounds=150)
    assert found.fewer > 0
    assert found.more > 0
    assert found.exact > 0


def test_equal_laws_are_kept_whole_by_blocks_too() -> None:
    q = law(torch.randn(3, 8, generator=torch.Generator().manual_seed(5)), WARM)
    coin = Flips(*[math.nextafter(1.0, 0.0)] * 3)
    assert verify_blocks(Draft((1, 2, 3), q), torch.cat([q, q[:1]]), coin).accepted == 3


@pytest.mark.parametrize("judge", [verify, verify_blocks])
@pytest.mark.parametrize("tokens", [(2, 1), (0, 1)])
def test_a_guess_that_its_own_law_cannot_make_is_no_verdict(judge: Rule, tokens: tuple[int, ...]) -> None:
    """A drafter that lies about its law must not go unseen."""
    p, q = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]), torch.tensor([[0.0, 1.0, 0.0]] * 2)
    with pytest.raises(ZeroDivisionError):
        judge(Draft(tokens, q), p, SeededCoin(0))


# --- matching rules -------------------------------------------------------------------------------------------------


def test_sample_and_match_keeps_with_the_overlap_of_two_draws() -> None:
    p_table, q_table, shaping = random_table(4, 1), random_table(4, 2), Shaping(WARM)

    def kept(coin: EnumeratingCoin) -> bool:
        draft = chain_draft(q_table, shaping, (0,), 1, coin)
        return rules.entry("sample-match").judge(draft, target_laws(p_table, shaping, (0,), draft), coin).accepted == 1

    p, q = law_at(p_table, shaping, (0,)), law_at(q_table, shaping, (0,))
    assert outcomes(kept)[True] == pytest.approx(float((p * q).sum()), abs=1e-6)


def test_the_noise_depends_on_seed_and_position_alone() -> None:
    laws = law(torch.randn(6, 50, generator=torch.Generator().manual_seed(1)), WARM)
    coin = NoiseCoin(7)
    ahead = [coin.ahead().draw(row) for row in laws[:1]] + [coin.ahead().draw(laws[0])]
    text = [coin.draw(row) for row in laws]
    assert ahead == [text[0]] * 2
    assert [NoiseCoin(7, i).draw(row) for i, row in enumerate(laws)] == text
    assert [NoiseCoin(8, i).draw(row) for i, row in enumerate(laws)] != text


def test_a_draw_by_noise_follows_the_law() -> None:
    """4,000 positions over five ids: each frequency within 4.5 standard errors; false alarm below 5 · 7e-6."""
    p = torch.tensor([0.5, 0.25, 0.2, 0.05, 0.0])
    coin, n = NoiseCoin(3), 4000
    counts = torch.tensor([coin.draw(p) for _ in range(n)]).bincount(minlength=5)
    assert counts[4] == 0
    assert bool(((counts / n - p).abs() <= 4.5 * (p * (1 - p) / n).sqrt()).all())


def test_a_one_hot_draft_is_accepted_as_often_as_by_rejection_sampling() -> None:
    """For lookup drafts p(x) is the chance under every lossless rule: 1,500 seeds within 4.5 standard errors."""
    p = torch.tensor([[0.3, 0.7], [0.5, 0.5]])
    judge = rules.entry("shared-noise").judge
    kept = sum(judge(Draft((0,)), p, NoiseCoin(seed)).accepted for seed in range(1500))
    assert abs(kept / 1500 - 0.3) < 4.5 * math.sqrt(0.21 / 1500)


# --- broken on purpose ----------------------------------------------------------------------------------------------


def test_a_skipped_bonus_leaves_the_round_without_a_last_token() -> None:
    verdict = rules.entry("bonus-skipped").judge(Draft((1, 1)), torch.eye(2)[[1, 1, 0]], SeededCoin(0))
    assert (verdict.accepted, verdict.token) == (2, None)
    assert verdict.block(Draft((1, 1))) == (1, 1)


def test_an_argmax_draft_draws_nothing() -> None:
    coin = rules.entry("argmax-draft").draft_coin(SeededCoin(0))
    assert {coin.draw(torch.tensor([0.4, 0.6])) for _ in range(20)} == {1}


def test_typical_acceptance_asks_p_alone() -> None:
    """Threshold min(0.09, 0.3 · exp(−H)): p(x) = .1 passes, .08 fails, whatever q."""
    p = torch.tensor([[0.1, 0.08, 0.82], [0.0, 0.0, 1.0]])
    judge = rules.entry("typical").judge
    q = torch.tensor([[0.9, 0.05, 0.05]])
    assert judge(Draft((0,), q), p, SeededCoin(0)).accepted == 1
    assert judge(Draft((1,), q), p, SeededCoin(0)).accepted == 0
