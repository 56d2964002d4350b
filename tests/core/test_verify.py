"""The verification rule keeps the target's law: exactly, by enumeration, and any wrong version of it is noticed."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from enumerating import (
    EnumeratingCoin,
    Round,
    block,
    chain_draft,
    distance,
    emitted_law,
    law_at,
    mean,
    outcomes,
    random_table,
    speculative_round,
    target_law,
    target_laws,
)

from specdemo.config import SamplingConfig
from specdemo.core.ids import Ids
from specdemo.core.sampling import SeededCoin, Shaping, inverse_cdf, law
from specdemo.core.verify import Draft, Fate, Rule, Test, Verdict, residual, verify

PLAIN = Shaping(SamplingConfig(temperature=1.0))
FILTERED = Shaping(SamplingConfig(temperature=0.7, top_k=2))
GREEDY = Shaping(SamplingConfig())
PROMPT = (0, 1)
EXACT = 1e-6


class FixedCoin:
    """Gives the same u for every flip and draws the most likely id."""

    def __init__(self, u: float) -> None:
        self._u = u

    def uniform(self) -> float:
        return self._u

    def draw(self, law: torch.Tensor) -> int:
        return int(law.argmax())


def random_laws(n: int, vocabulary: int, seed: int) -> torch.Tensor:
    return law(torch.randn(n, vocabulary, generator=torch.Generator().manual_seed(seed)) * 2, PLAIN.sampling)


def wrongness(one_round: Round, length: int, shaping: Shaping = PLAIN, vocabulary: int = 3) -> float:
    """Distance of the first `length` ids from the target's own law (target = table 1 of this vocabulary)."""
    expected = target_law(random_table(vocabulary, seed=1), shaping, PROMPT, length)
    return distance(emitted_law(one_round, PROMPT, length), expected)


# --- one position -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_accepted_mass_plus_residual_is_p(seed: int) -> None:
    p, q = random_laws(2, 50, seed).double()
    kept = torch.minimum(p, q)
    beta = float(kept.sum())
    assert torch.allclose(kept + (1 - beta) * residual(p, q), p, atol=EXACT)
    assert float(residual(p, q).sum()) == pytest.approx(1.0, abs=EXACT)


@pytest.mark.parametrize("seed", range(10))
def test_chance_of_acceptance_is_beta(seed: int) -> None:
    target, draft = random_table(4, seed), random_table(4, seed + 100)
    p, q = law_at(target, PLAIN, PROMPT), law_at(draft, PLAIN, PROMPT)

    def first_kept(coin: EnumeratingCoin) -> bool:
        proposal = chain_draft(draft, PLAIN, PROMPT, 1, coin)
        return verify(proposal, target_laws(target, PLAIN, PROMPT, proposal), coin).accepted == 1

    assert outcomes(first_kept)[True] == pytest.approx(float(torch.minimum(p, q).sum()), abs=EXACT)


def test_comparison_is_strict() -> None:
    p = torch.tensor([[0.0, 1.0], [0.5, 0.5]])
    verdict = verify(Draft((0,)), p, FixedCoin(0.0))
    assert verdict == Verdict(0, 1, Fate.RESAMPLED, (Test(0.0, 0.0, 1.0, accepted=False),))


def test_equal_laws_are_always_accepted() -> None:
    q = random_laws(3, 8, seed=5)
    verdict = verify(Draft((1, 2, 3), q), torch.cat([q, q[:1]]), FixedCoin(math.nextafter(1.0, 0.0)))
    assert (verdict.accepted, verdict.fate) == (3, Fate.BONUS)


def test_a_test_says_what_was_compared() -> None:
    q, p = random_laws(2, 6, seed=1), random_laws(3, 6, seed=2)
    verdict = verify(Draft((4, 5), q), p, FixedCoin(0.0))
    assert [(t.u, t.p, t.q) for t in verdict.tests] == [
        (0.0, float(p[0, 4]), float(q[0, 4])),
        (0.0, float(p[1, 5]), float(q[1, 5])),
    ]


def test_fates_of_the_last_token() -> None:
    p = torch.eye(4)[[1, 2]]
    assert verify(Draft(), p[:1], FixedCoin(0.5)).fate is Fate.PLAIN
    assert verify(Draft((1,)), p, FixedCoin(0.5)).fate is Fate.BONUS
    assert verify(Draft((3,)), p, FixedCoin(0.5)).fate is Fate.RESAMPLED


class AlwaysRejecting(SeededCoin):
    """u = 1, which no real coin gives, fails every test; draws are honest."""

    def uniform(self) -> float:
        return 1.0

    def draw(self, law: torch.Tensor) -> int:
        return inverse_cdf(law, super().uniform())


@pytest.mark.parametrize(
    "noise", [torch.zeros(8), torch.full((8,), 1e-9), torch.linspace(-1e-9, 1e-9, 8)], ids=["none", "up", "mixed"]
)
@pytest.mark.parametrize("temperature", [1.0, 0.01])
def test_forced_rejections_stay_finite(noise: torch.Tensor, temperature: float) -> None:
    """Rounding can reject although p = q. 10,000 such rejections over these cases give ids that p allows, no NaN."""
    logits = torch.randn(1, 8, generator=torch.Generator().manual_seed(3)) * 3
    p = law(logits, SamplingConfig(temperature=temperature))
    q = (p + noise).clamp(min=0.0)
    assert bool(residual(p[0], q[0]).isfinite().all())
    assert float(residual(p[0], q[0]).sum()) == pytest.approx(1.0, abs=EXACT)
    coin, draft = AlwaysRejecting(0), Draft((int(p.argmax()),), q)
    verdicts = {verify(draft, torch.cat([p, p]), coin) for _ in range(10_000 // 6 + 1)}
    assert {v.fate for v in verdicts} == {Fate.RESAMPLED}
    assert all(p[0, v.token] > 0 for v in verdicts)


# --- whole texts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize(
    ("p_shaping", "q_shaping"),
    [(PLAIN, PLAIN), (PLAIN, FILTERED), (FILTERED, PLAIN), (FILTERED, FILTERED), (PLAIN, GREEDY), (GREEDY, PLAIN)],
    ids=["random", "filtered q", "filtered p", "both filtered", "one-hot q", "one-hot p"],
)
def test_joint_law_is_the_targets(p_shaping: Shaping, q_shaping: Shaping, gamma: int) -> None:
    tables = random_table(3, seed=1), random_table(3, seed=1 + gamma)
    one_round = speculative_round(verify, *tables, p_shaping, q_shaping, gamma)
    assert wrongness(one_round, 3, p_shaping) < EXACT


def test_joint_law_of_four_tokens_over_four_ids() -> None:
    one_round = speculative_round(verify, random_table(4, 1), random_table(4, 2), PLAIN, PLAIN, gamma=1)
    assert wrongness(one_round, 4, vocabulary=4) < EXACT


def test_equal_tables_accept_everything() -> None:
    table = random_table(3, seed=1)
    one_round = speculative_round(verify, table, table, PLAIN, PLAIN, gamma=3)
    assert wrongness(one_round, 3) < EXACT
    assert {len(ids) for ids in outcomes(lambda coin: one_round(PROMPT, coin))} == {4}


def test_disjoint_laws_accept_nothing() -> None:
    def never_two(context: tuple[int, ...]) -> torch.Tensor:
        return random_table(3, seed=1)(context).index_fill(0, torch.tensor([2]), -torch.inf)

    def always_two(context: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor([-torch.inf, -torch.inf, 0.0])

    one_round = speculative_round(verify, never_two, always_two, PLAIN, PLAIN, gamma=3)
    assert {len(ids) for ids in outcomes(lambda coin: one_round(PROMPT, coin))} == {1}
    expected = target_law(never_two, PLAIN, PROMPT, 3)
    assert distance(emitted_law(one_round, PROMPT, 3), expected) < EXACT


def lookup_round(rule: Rule, target: Callable, tokens: tuple[int, ...]) -> Round:
    """A round whose draft is fixed tokens without laws: a one-hot q."""

    def one_round(context: tuple[int, ...], coin: EnumeratingCoin) -> tuple[int, ...]:
        return block(Draft(tokens), rule(Draft(tokens), target_laws(target, PLAIN, context, Draft(tokens)), coin))

    return one_round


@pytest.mark.parametrize("tokens", [(), (0,), (2, 1), (1, 1, 0)])
def test_drafts_without_laws_keep_the_law(tokens: tuple[int, ...]) -> None:
    assert wrongness(lookup_round(verify, random_table(3, 1), tokens), 3) < EXACT


def test_a_lookup_guess_is_accepted_with_p_of_x() -> None:
    target = random_table(3, 1)
    lengths = outcomes(lambda coin: len(lookup_round(verify, target, (2,))(PROMPT, coin)))
    assert lengths[2] == pytest.approx(float(law_at(target, PLAIN, PROMPT)[2]), abs=EXACT)


# --- what is found on the device beforehand -----------------------------------------------------------------------


class Secretive:
    """A seeded coin that nobody can ask for its next numbers: `verify` then draws at the end of the flips."""

    def __init__(self, seed: int) -> None:
        self._coin = SeededCoin(seed)
        self.uniform, self.draw, self.pick = self._coin.uniform, self._coin.draw, self._coin.pick


@pytest.mark.parametrize("gamma", [0, 1, 2, 5])
@pytest.mark.parametrize("kind", ["laws", "lookup", "greedy laws", "equal laws"])
@pytest.mark.parametrize("looked_at", [True, False])
def test_a_draw_found_beforehand_is_the_draw(gamma: int, kind: str, looked_at: bool) -> None:
    """Equal verdicts to the bit, and the coin goes on at the same number: 200 rounds, all ends of the flips."""
    ends = set()
    for seed in range(200):
        sampling = GREEDY.sampling if kind == "greedy laws" else PLAIN.sampling
        logits = torch.randn(gamma + 1, 30, generator=torch.Generator().manual_seed(seed)) * 2
        p = law(logits, sampling)
        noise = torch.randn(gamma, 30, generator=torch.Generator().manual_seed(1000 + seed))
        q = p[:gamma] if kind == "equal laws" else law(logits[:gamma] + noise * (seed % 3), sampling)
        tokens = torch.tensor([inverse_cdf(row, (seed * 0.377) % 1) for row in q], dtype=torch.long)
        draft = Draft(tuple(tokens.tolist()) if looked_at else Ids((), tokens), None if kind == "lookup" else q)
        foreseeing, secretive = SeededCoin(seed), Secretive(seed)
        found, expected = verify(draft, p, foreseeing), verify(draft, p, secretive)
        assert found == expected
        assert foreseeing.uniform() == secretive.uniform()
        ends.add(found.accepted)
    assert gamma in ends
    assert kind == "equal laws" or len(ends) > gamma / 2


def test_a_coin_that_flips_other_numbers_than_it_foretold_still_decides() -> None:
    """What was found beforehand is for where the flips were thought to end, and for nothing else."""
    p = torch.tensor([[0.0, 0.9, 0.1, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    draft, seed = Draft((1, 2)), 0
    assert verify(draft, p, SeededCoin(seed)).block(draft) == (1, 2, 3)
    assert verify(draft, p, AlwaysRejecting(seed)).block(draft) == (2,)


# --- broken versions: the checks above must notice each ------------------------------------------------------------


def resample_from_p(draft: Draft, p: torch.Tensor, coin: EnumeratingCoin) -> Verdict:
    verdict = verify(draft, p, coin)
    return replace(verdict, token=coin.draw(p[verdict.accepted])) if verdict.fate is Fate.RESAMPLED else verdict


def first_unverified(draft: Draft, p: torch.Tensor, coin: EnumeratingCoin) -> Verdict:
    rest = verify(Draft(draft.tokens[1:], draft.laws[1:]), p[1:], coin)
    return replace(rest, accepted=rest.accepted + 1)


def one_reused_u(draft: Draft, p: torch.Tensor, coin: EnumeratingCoin) -> Verdict:
    class OneFlip:
        u = coin.uniform()
        draw = staticmethod(coin.draw)

        def uniform(self) -> float:
            return self.u

    return verify(draft, p, OneFlip())


def as_if_one_hot(draft: Draft, p: torch.Tensor, coin: EnumeratingCoin) -> Verdict:
    """Forgets that the draft had laws."""
    return verify(Draft(draft.tokens), p, coin)


def shifted_by_one(draft: Draft, p: torch.Tensor, coin: EnumeratingCoin) -> Verdict:
    """Row i+1 judges token i."""
    return verify(draft, torch.cat([p[1:], p[-1:]]), coin)


@pytest.mark.parametrize("rule", [resample_from_p, first_unverified, shifted_by_one], ids=lambda rule: rule.__name__)
def test_broken_rules_are_noticed_in_the_first_token(rule: Rule) -> None:
    one_round = speculative_round(rule, random_table(3, 1), random_table(3, 2), PLAIN, PLAIN, gamma=2)
    assert wrongness(one_round, 1) > 0.02


def test_a_reused_u_is_noticed_only_in_the_joint_law() -> None:
    one_round = speculative_round(one_reused_u, random_table(3, 1), random_table(3, 2), PLAIN, PLAIN, gamma=2)
    assert wrongness(one_round, 1) < EXACT
    assert wrongness(one_round, 2) > 0.02


def test_an_argmax_draft_with_the_full_q_is_noticed() -> None:
    target, draft = random_table(3, 1), random_table(3, 2)

    def one_round(context: tuple[int, ...], coin: EnumeratingCoin) -> tuple[int, ...]:
        q = law_at(draft, PLAIN, context)
        proposal = Draft((int(q.argmax()),), q.unsqueeze(0))
        return block(proposal, verify(proposal, target_laws(target, PLAIN, context, proposal), coin))

    assert wrongness(one_round, 1) > 0.02


def test_a_draft_drawn_unfiltered_but_tested_with_a_filtered_q_is_noticed() -> None:
    target, draft = random_table(3, 1), random_table(3, 2)
    heated = Shaping(SamplingConfig(temperature=2.0))

    def one_round(context: tuple[int, ...], coin: EnumeratingCoin) -> tuple[int, ...]:
        drawn = chain_draft(draft, PLAIN, context, 1, coin)
        claimed = replace(drawn, laws=law_at(draft, heated, context).unsqueeze(0))
        return block(claimed, verify(claimed, target_laws(target, PLAIN, context, claimed), coin))

    assert wrongness(one_round, 1) > 0.02


def test_an_unfiltered_target_is_noticed() -> None:
    tables = random_table(3, 1), random_table(3, 2)
    one_round = speculative_round(verify, *tables, PLAIN, FILTERED, gamma=2)
    assert wrongness(one_round, 1, FILTERED) > 0.02


def survivors(target: Callable, draft: Callable, context: tuple[int, ...], gamma: int) -> float:
    """1 + Σ over drafted prefixes of Π min(p, q): tokens that a round should emit."""
    if gamma == 0:
        return 1.0
    kept = torch.minimum(law_at(target, PLAIN, context), law_at(draft, PLAIN, context)).tolist()
    return 1.0 + sum(m * survivors(target, draft, (*context, x), gamma - 1) for x, m in enumerate(kept))


def tokens_per_round(rule: Rule, gamma: int) -> tuple[float, float]:
    """(exact mean of the tokens a round emits, what the formula says)."""
    tables = random_table(3, 1), random_table(3, 2)
    one_round = speculative_round(rule, *tables, PLAIN, PLAIN, gamma)
    return mean(outcomes(lambda coin: one_round(PROMPT, coin)), len), survivors(*tables, PROMPT, gamma)


@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_tokens_per_round_follow_beta(gamma: int) -> None:
    emitted, formula = tokens_per_round(verify, gamma)
    assert emitted == pytest.approx(formula, abs=EXACT)


def test_a_forgotten_bonus_is_noticed_only_in_the_tokens_per_round() -> None:
    target, draft = random_table(3, 1), random_table(3, 2)
    whole = speculative_round(verify, target, draft, PLAIN, PLAIN, gamma=2)

    def one_round(context: tuple[int, ...], coin: EnumeratingCoin) -> tuple[int, ...]:
        return whole(context, coin)[:2]

    assert wrongness(one_round, 3) < EXACT
    emitted = mean(outcomes(lambda coin: one_round(PROMPT, coin)), len)
    assert emitted < survivors(target, draft, PROMPT, 2) - 0.02


def test_a_sampled_draft_taken_for_one_hot_is_noticed_only_in_the_tokens_per_round() -> None:
    """x is kept with p(x) whatever q drew it, which is sound for any x, but never better than p/q."""
    one_round = speculative_round(as_if_one_hot, random_table(3, 1), random_table(3, 2), PLAIN, PLAIN, gamma=2)
    assert wrongness(one_round, 3) < EXACT
    emitted, formula = tokens_per_round(as_if_one_hot, 2)
    assert emitted < formula - 0.02
