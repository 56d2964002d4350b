"""Simulated decisions: the rule itself decides, the counts add up, and any number of them is the same experiment."""

import math

import pytest
import torch

from specdemo.config import SamplingConfig
from specdemo.core import rules
from specdemo.core.sampling import law
from specdemo.core.verify import Draft
from specdemo.prove.decision import LazyCoin, Undecided, simulate

LAWS = law(torch.randn(2, 12, generator=torch.Generator().manual_seed(2)) * 1.5, SamplingConfig(1.0, top_k=9))
P, Q = LAWS[0], LAWS[1]


def last(id: str, n: int = 20_000, seed: int = 0):
    *_, found = simulate(rules.entry(id), P, Q, n, seed)
    return found


def test_the_number_of_decisions_grows_to_what_was_asked() -> None:
    steps = list(simulate(rules.entry("rejection"), P, Q, 3000))
    assert [step.n for step in steps] == [100, 200, 500, 1000, 2000, 3000]
    assert all(sum(cell.count for cell in step.cells) == step.n for step in steps)
    assert [step.n for step in simulate(rules.entry("rejection"), P, Q, 7)] == [7]
    short = [step.n for step in simulate(rules.entry("rejection"), P, Q, 1100, step=300)]
    assert short == [100, 200, 500, 800, 1000, 1100]


def test_a_seed_repeats() -> None:
    assert last("rejection", seed=5) == last("rejection", seed=5) != last("rejection", seed=6)


@pytest.mark.parametrize(
    ("id", "chance"),
    [
        ("rejection", float(torch.minimum(P, Q).sum())),
        ("block", float(torch.minimum(P, Q).sum())),
        ("sample-match", float((P * Q).sum())),
        ("first-unverified", 1.0),
    ],
)
def test_guesses_are_kept_with_the_chance_that_the_theory_gives(id: str, chance: float) -> None:
    """Within 4.5 standard errors: false alarm below 7 · 10⁻⁶ each."""
    found = last(id)
    assert abs(found.accepted / found.n - chance) <= 4.5 * math.sqrt(chance * (1 - chance) / found.n)


def test_shared_noise_keeps_with_the_chance_of_its_paper() -> None:
    """Σ_x 1 / Σ_y max(q(y)/q(x), p(y)/p(x)), over ids that both can say; between Σ p·q and Σ min(p, q)."""
    both = ((P > 0) & (Q > 0)).nonzero().squeeze(-1).tolist()
    chance = sum(1.0 / float(torch.maximum(Q / Q[x], P / P[x]).sum()) for x in both)
    found = last("shared-noise")
    assert abs(found.accepted / found.n - chance) <= 4.5 * math.sqrt(chance * (1 - chance) / found.n)
    assert float((P * Q).sum()) < chance < float(torch.minimum(P, Q).sum())


def test_a_wide_vocabulary_is_quick_enough_for_a_page() -> None:
    """49,152 ids, as the default model has: the bars are few, the distance is over all of them."""
    wide = law(torch.randn(2, 49_152, generator=torch.Generator().manual_seed(1)) * 4, SamplingConfig(0.7))
    *_, found = simulate(rules.entry("rejection"), wide[0], wide[1], 500)
    assert len(found.cells) == 25
    assert found.distance <= found.high


def test_the_mistake_may_be_in_p_itself() -> None:
    flat = torch.full_like(P, 1 / len(P))
    *_, found = simulate(rules.entry("rejection"), flat, Q, 5000, expected=P)
    assert not found.passed


def test_an_undecided_draw_is_decided_by_comparing() -> None:
    coin = LazyCoin([1])
    token = coin.draw(torch.tensor([0.25, 0.75]))
    assert isinstance(token, Undecided)
    assert not token == 0  # noqa: SIM201
    assert (coin.weight, token.law.tolist()) == (0.75, [0.0, 1.0])
    assert token == 1


def test_a_rule_that_throws_no_coin_has_one_branch() -> None:
    coin = LazyCoin()
    verdict = rules.entry("greedy-match").judge(Draft((int(P.argmax()),), Q.unsqueeze(0)), torch.stack([P, P]), coin)
    assert (verdict.accepted, coin.following()) == (1, None)
