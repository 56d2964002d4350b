"""Counts against laws: formulas against enumeration, tables of χ², and how often a fair sampler is refused."""

import itertools
import math

import pytest
import torch

from specdemo.prove.statistics import RARE, band, chi_square, expected_distance, sampled

LAW = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("law", [LAW, torch.tensor([0.9, 0.1, 0.0]), torch.tensor([1.0, 0.0])], ids=str)
def test_the_expected_distance_is_that_of_all_outcomes(law: torch.Tensor, n: int) -> None:
    expected = 0.0
    for draws in itertools.product(range(len(law)), repeat=n):
        counts = torch.tensor(draws).bincount(minlength=len(law))
        expected += float(law[list(draws)].prod()) * float((counts / n - law).abs().sum() / 2)
    assert expected_distance(law, n) == pytest.approx(expected, abs=1e-7)


def test_the_expected_distance_of_many_draws_is_the_normal_one() -> None:
    normal = float((LAW * (1 - LAW) / (2 * math.pi * 10**6)).sqrt().sum())
    assert expected_distance(LAW, 10**6) == pytest.approx(normal, rel=1e-3)


def test_a_wide_law_has_a_wide_expected_distance() -> None:
    """With as many ids as draws hardly any two agree: 1/e."""
    assert expected_distance(torch.full((1000,), 1e-3), 1000) == pytest.approx(1 / math.e, rel=1e-3)


def test_the_band_narrows_with_the_root() -> None:
    assert band(400) == pytest.approx(band(100) / 2)
    assert band(100, rare=math.exp(-2)) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("counts", "statistic", "degrees", "p_value"),
    [
        ((500, 300, 200), 0.0, 2, 1.0),
        ((500, 350, 150), 2500 / 300 + 2500 / 200, 2, math.exp(-(2500 / 300 + 2500 / 200) / 2)),
    ],
)
def test_chi_square_by_hand(counts: tuple[int, ...], statistic: float, degrees: int, p_value: float) -> None:
    """With two degrees of freedom the p-value is exp(−χ²/2)."""
    found = chi_square(torch.tensor(counts), LAW)
    assert found == (pytest.approx(statistic), degrees, pytest.approx(p_value))


def test_chi_square_of_one_degree_against_the_table() -> None:
    """χ² = 3.841 is the 5 % point."""
    off = round(math.sqrt(3.841 * 10_000 / 4))
    _, degrees, p_value = chi_square(torch.tensor([5000 + off, 5000 - off]), torch.tensor([0.5, 0.5]))
    assert (degrees, p_value) == (1, pytest.approx(0.05, abs=0.002))


def test_small_cells_share_one() -> None:
    """Of 100 draws 90, 4, 3 and 3 are expected: the three small ones make a cell of 10."""
    statistic, degrees, _ = chi_square(torch.tensor([90, 10, 0, 0]), torch.tensor([0.9, 0.04, 0.03, 0.03]))
    assert (statistic, degrees) == (pytest.approx(0.0, abs=1e-9), 1)


def test_too_small_a_rest_joins_the_smallest_cell() -> None:
    _, degrees, p_value = chi_square(torch.tensor([80, 18, 2]), torch.tensor([0.8, 0.18, 0.02]))
    assert (degrees, p_value) == (1, pytest.approx(1.0))


def test_one_cell_says_nothing() -> None:
    assert chi_square(torch.tensor([7, 0]), torch.tensor([1.0, 0.0])) == (0.0, 0, 1.0)


def test_an_id_that_the_law_rules_out_is_refused_at_once() -> None:
    found = sampled(torch.tensor([99_999, 1]), torch.tensor([1.0, 0.0]))
    assert (found.p_value, found.passed) == (0.0, False)


def test_a_fair_sampler_is_hardly_ever_refused() -> None:
    """400 fair samples of 500, each refused with chance below 2 · 10⁻⁴: three or more are with chance below 10⁻⁴.

    p-values below ½ are half of them, within five standard errors.
    """
    rng = torch.Generator().manual_seed(4)
    found = [
        sampled(torch.multinomial(LAW, 500, replacement=True, generator=rng).bincount(minlength=3), LAW)
        for _ in range(400)
    ]
    assert sum(not one.passed for one in found) < 3
    assert 150 < sum(one.p_value < 0.5 for one in found) < 250
    mean = sum(one.distance for one in found) / 400
    assert mean == pytest.approx(found[0].expected, rel=0.1)
    assert found[0].low < found[0].expected < found[0].high
    assert RARE < 1e-3


def test_the_cells_are_the_likeliest_ids_and_the_rest() -> None:
    law = torch.arange(1.0, 101.0) / 5050
    counts = torch.ones(100, dtype=torch.int64)
    cells = sampled(counts, law).cells
    assert [cell.token for cell in cells[:3]] == [99, 98, 97]
    assert (len(cells), cells[-1].token, cells[-1].count) == (25, None, 76)
    assert sum(cell.chance for cell in cells) == pytest.approx(1.0)
    assert sum(cell.count for cell in cells) == 100
