"""Logits become the law that a slow, obvious reference says; draws follow it and nothing else."""

import math
import random

import pytest
import torch
from torch import Tensor

from specdemo.config import SamplingConfig
from specdemo.core import sampling
from specdemo.core.sampling import PREFIX, SeededCoin, Shaping, inverse_cdf, law, one_hot
from specdemo.errors import SettingError

ALMOST_ONE = 1 - 2**-53


def random_logits(n: int, vocabulary: int, seed: int, spread: float = 2.0) -> Tensor:
    return torch.randn(n, vocabulary, generator=torch.Generator().manual_seed(seed)) * spread


def reference(logits: Tensor, sampling: SamplingConfig) -> list[float]:
    """The law of one row in float64 with a full sort: temperature, then top-k, then top-p."""
    scaled = [x / sampling.temperature for x in logits.tolist()]
    kept = sorted(range(len(scaled)), key=lambda i: -scaled[i])[: sampling.top_k or None]
    highest = max(scaled)
    weights = {i: math.exp(scaled[i] - highest) for i in kept}
    total, mass, nucleus = sum(weights.values()), 0.0, {}
    for i, weight in weights.items():
        if mass >= sampling.top_p:
            break
        nucleus[i] = weight
        mass += weight / total
    rest = sum(nucleus.values())
    return [nucleus.get(i, 0.0) / rest for i in range(len(scaled))]


# --- the law ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.05, 2.0], ids=["flat", "peaked"])
@pytest.mark.parametrize("vocabulary", [60, 2000])
@pytest.mark.parametrize("top_p", [0.1, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("top_k", [0, 1, 7, 300])
def test_law_equals_the_slow_reference(vocabulary: int, spread: float, top_k: int, top_p: float) -> None:
    sampling = SamplingConfig(temperature=0.8, top_k=top_k, top_p=top_p)
    logits = random_logits(2, vocabulary, seed=top_k, spread=spread)
    p = law(logits, sampling)
    expected = torch.tensor([reference(row, sampling) for row in logits])
    assert torch.allclose(p, expected, atol=1e-6)
    assert torch.equal(p > 0, expected > 0)
    assert torch.allclose(p.sum(-1), torch.ones(2), atol=1e-5)


def test_the_flat_case_above_needs_more_than_the_prefix() -> None:
    p = law(random_logits(1, 2000, seed=0, spread=0.05), SamplingConfig(temperature=0.8, top_p=0.9))
    assert int((p > 0).sum()) > PREFIX


def test_temperature_comes_before_the_filters() -> None:
    """At T = 1 the set for 0.75 is {0}; heated first it needs two ids."""
    logits = torch.tensor([[0.85, 0.10, 0.05]]).log()
    assert (law(logits, SamplingConfig(temperature=1.0, top_p=0.75)) > 0).tolist() == [[True, False, False]]
    assert (law(logits, SamplingConfig(temperature=3.0, top_p=0.75)) > 0).tolist() == [[True, True, False]]


def test_top_k_comes_before_top_p() -> None:
    """0.4 of all is 0.5 of the two kept: top_p = 0.45 is reached by one id after top-k, by two before it."""
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    p = law(logits, SamplingConfig(temperature=1.0, top_k=2, top_p=0.45))
    assert p.tolist() == [[1.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("top_k", [1, 4, 9, 10])
def test_top_k_keeps_exactly_k_of_equal_ids(top_k: int) -> None:
    p = law(torch.zeros(3, 10), SamplingConfig(temperature=1.0, top_k=top_k))
    assert (p > 0).sum(-1).tolist() == [top_k] * 3
    assert torch.allclose(p.sum(-1), torch.ones(3))


@pytest.mark.parametrize(("top_p", "kept"), [(0.5, 1), (0.500001, 2), (0.75, 2), (0.76, 3), (1e-6, 1), (1e-300, 1)])
def test_top_p_keeps_the_fewest_ids_that_reach_it(top_p: float, kept: int) -> None:
    logits = torch.tensor([[0.25, 0.5, 0.125, 0.125]]).log()
    p = law(logits, SamplingConfig(temperature=1.0, top_p=top_p))
    assert int((p > 0).sum()) == kept
    assert float(p.sum()) == pytest.approx(1.0)


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    """A flat neighbour must not change which of many equal ids a row keeps: p of a position would depend on γ."""
    sampling = SamplingConfig(temperature=1.0, top_p=0.5)
    ties = torch.where(torch.arange(4000) % 20 == 0, 5.0, 0.0)
    alone = law(ties.unsqueeze(0), sampling)
    beside = law(torch.stack([ties, torch.zeros(4000)]), sampling)
    assert torch.equal(alone[0], beside[0])


def test_filters_off_leave_the_softmax() -> None:
    logits = random_logits(3, 50, seed=1)
    for off in (SamplingConfig(1.0, 0, 1.0), SamplingConfig(1.0, None, None), SamplingConfig(1.0, 50, 1.0)):
        assert torch.equal(law(logits, off), logits.softmax(-1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_laws_are_float32_whatever_the_logits(dtype: torch.dtype) -> None:
    """Draw and ratio use one law; in 16 bits it would not sum to one."""
    logits = torch.tensor([[8.00, 8.02, 7.0]]).to(dtype)
    p = law(logits, SamplingConfig(temperature=1.0))
    assert p.dtype == torch.float32
    assert float(p.sum()) == pytest.approx(1.0, abs=1e-6)


# --- greedy and small temperatures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [None, 0, 0.0, 1e-8, 1e-6, 1e-5])
def test_tiny_temperatures_are_greedy(temperature: float | None) -> None:
    sampling = SamplingConfig(temperature=temperature, top_k=5, top_p=0.5)
    logits = random_logits(4, 100, seed=2)
    assert sampling.greedy
    assert torch.equal(law(logits, sampling), one_hot(logits.argmax(-1), 100))


@pytest.mark.parametrize("temperature", [1e-4, 1e-3, 1.0, 5.0])
def test_other_temperatures_are_finite_laws(temperature: float) -> None:
    sampling = SamplingConfig(temperature=temperature, top_p=0.9)
    p = law(random_logits(4, 1000, seed=2, spread=30), sampling)
    assert not sampling.greedy
    assert bool(p.isfinite().all())
    assert torch.allclose(p.sum(-1), torch.ones(4), atol=1e-5)


@pytest.mark.parametrize("temperature", [math.inf, -math.inf, math.nan, -1, 5.1])
def test_impossible_temperatures_are_refused(temperature: float) -> None:
    with pytest.raises(SettingError, match="temperature"):
        SamplingConfig(temperature=temperature)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("vocabulary", [5, 49_152])
def test_greedy_takes_the_first_of_equal_maxima(vocabulary: int, dtype: torch.dtype) -> None:
    rng = random.Random(0)
    for _ in range(20):
        best = sorted(rng.sample(range(vocabulary), 3))
        logits = torch.zeros(1, vocabulary, dtype=dtype)
        logits[0, best] = 3.0
        assert law(logits, SamplingConfig())[0].nonzero().flatten().tolist() == best[:1]


# --- end tokens that must wait ------------------------------------------------------------------------------------


def test_end_tokens_wait_position_by_position() -> None:
    """Row i is about index length + i: in one block the first rows may be barred and the later ones not."""
    shaping = Shaping(SamplingConfig(temperature=1.0), end_tokens=(0, 2), first_end=12)
    p = shaping.laws(torch.zeros(4, 3), length=10)
    assert p[:2].tolist() == [[0.0, 1.0, 0.0]] * 2
    assert torch.allclose(p[2:], torch.full((2, 3), 1 / 3))


@pytest.mark.parametrize(("length", "barred"), [(0, 3), (10, 2), (11, 1), (12, 0), (50, 0)])
def test_a_row_in_a_block_has_the_law_it_has_alone(length: int, barred: int) -> None:
    shaping = Shaping(SamplingConfig(), end_tokens=(1,), first_end=12)
    logits = torch.tensor([[0.0, 5.0, 4.0]]).repeat(3, 1)
    block = shaping.laws(logits, length)
    assert block.argmax(-1).tolist() == [2] * barred + [1] * (3 - barred)
    assert all(torch.equal(shaping.laws(logits[i : i + 1], length + i)[0], block[i]) for i in range(3))


def test_shaping_leaves_the_logits_alone() -> None:
    logits = random_logits(2, 5, seed=1)
    before = logits.clone()
    Shaping(SamplingConfig(1.0, 2, 0.9), end_tokens=(1,), first_end=9).laws(logits, 0)
    assert torch.equal(logits, before)


# --- draws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("u", [0.0, 5e-324, 1e-20, 0.5, 1 - 2**-24, ALMOST_ONE])
def test_inverse_cdf_never_returns_an_id_without_mass(u: float) -> None:
    laws = [
        torch.tensor([0.0, 0.0, 1.0, 0.0]),
        torch.tensor([0.0, 0.3, 0.0, 0.7, 0.0, 0.0]),
        torch.tensor([0.0, 1e-30, 1.0, 1e-30, 0.0]),
        torch.tensor([0.0, 0.1, 0.2, 0.0]),  # need not sum to one
        torch.tensor([0.0, 0.9999999, 0.7, 0.0]),
    ]
    for probabilities in laws:
        assert probabilities[inverse_cdf(probabilities, u)] > 0


@pytest.mark.parametrize("top_p", [1.0, 0.9])
def test_inverse_cdf_on_a_real_vocabulary(top_p: float) -> None:
    p = law(random_logits(1, 49_152, seed=4, spread=3), SamplingConfig(temperature=1.0, top_p=top_p))[0]
    p[:100] = p[-100:] = 0.0
    for u in (0.0, 0.1, 0.5, 0.999999, ALMOST_ONE):
        assert p[inverse_cdf(p, u)] > 0


def test_inverse_cdf_by_hand() -> None:
    p = torch.tensor([0.25, 0.0, 0.5, 0.25])
    assert [inverse_cdf(p, u) for u in (0.0, 0.2499, 0.25, 0.7499, 0.75, 0.99)] == [0, 0, 2, 2, 3, 3]


def test_draws_follow_the_law() -> None:
    """5,000 draws over 8 ids. TV stays under 0.04 but for one seed in about 500 (mean ≤ 0.015, then McDiarmid)."""
    p = law(torch.tensor([[1.0, 0.4, 0.9, 1.4, 0.2, 1.1, 0.6, 0.0]]), SamplingConfig(temperature=1.0))[0]
    coin = SeededCoin(0)
    counts = torch.zeros(8)
    for _ in range(5000):
        counts[coin.draw(p)] += 1
    assert float((counts / 5000 - p).abs().sum()) / 2 < 0.04


def test_uniforms_lie_in_the_unit_interval_and_repeat_with_the_seed() -> None:
    coin, again, other = SeededCoin(7), SeededCoin(7), SeededCoin(8)
    flips = [coin.uniform() for _ in range(100)]
    assert all(0.0 <= u < 1.0 for u in flips)
    assert flips == [again.uniform() for _ in range(100)]
    assert flips != [other.uniform() for _ in range(100)]


def test_global_generators_are_left_alone() -> None:
    torch_state, python_state = torch.get_rng_state(), random.getstate()
    coin = SeededCoin(1)
    coin.coming(3)
    coin.draw(torch.tensor([0.5, 0.5]))
    coin.pick(torch.tensor([0.5, 0.5]))
    coin.uniform()
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert random.getstate() == python_state


def test_numbers_that_were_foretold_come_in_their_turn() -> None:
    coin, plain = SeededCoin(5), SeededCoin(5)
    expected = [plain.uniform() for _ in range(12)]
    found = [coin.uniform()]
    assert coin.coming(4) == expected[1:5]
    assert coin.coming(2) == expected[1:3]
    found += [coin.uniform() for _ in range(2)]
    assert coin.coming(6) == expected[3:9]
    assert found + [coin.uniform() for _ in range(9)] == expected


def test_a_pick_is_a_draw_that_stays_a_tensor() -> None:
    drawing, picking = SeededCoin(2), SeededCoin(2)
    p = law(torch.randn(1, 60, generator=torch.Generator().manual_seed(0)), SamplingConfig(1.0))[0]
    drawn = [drawing.draw(p) for _ in range(50)]
    picked = [picking.pick(p) for _ in range(50)]
    assert all(x.shape == (1,) for x in picked)
    assert torch.cat(picked).tolist() == drawn


@pytest.mark.parametrize("top_p", [0.1, 0.9, 0.999, 0.99999])
def test_top_p_is_the_same_whether_few_ids_are_tried_first_or_all_are_sorted(
    top_p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A CPU does the first, a GPU the second."""
    logits = 3 * torch.randn(6, 3000, generator=torch.Generator().manual_seed(0))
    few = law(logits, SamplingConfig(1.0, top_p=top_p))
    monkeypatch.setattr(sampling, "PREFIX", 3000)
    assert torch.equal(few, law(logits, SamplingConfig(1.0, top_p=top_p)))
