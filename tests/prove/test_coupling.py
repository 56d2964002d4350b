"""The exact joint law of two draws that share their noise, against the noise itself."""

import math

import pytest
import torch

from specdemo.core.rules.shared_noise import NoiseCoin
from specdemo.prove.coupling import CoupledCoin, Coupling
from specdemo.prove.enumeration import outcomes

PAIRS = {
    "all possible": ([0.5, 0.2, 0.2, 0.1], [0.1, 0.3, 0.4, 0.2]),
    "ids ruled out": ([0.6, 0.0, 0.3, 0.1], [0.2, 0.3, 0.0, 0.5]),
    "equal": ([0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1]),
    "nothing in common": ([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]),
    "one-hot q": ([0.4, 0.3, 0.2, 0.1], [0.0, 1.0, 0.0, 0.0]),
}
laws = pytest.mark.parametrize(
    ("p", "q"), [(torch.tensor(p), torch.tensor(q)) for p, q in PAIRS.values()], ids=PAIRS.keys()
)


def joint(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """`[x, y]`."""
    rows = [q[x] * Coupling(p, q).given(x) if q[x] > 0 else torch.zeros(len(p)).double() for x in range(len(q))]
    return torch.stack(rows)


@laws
def test_the_target_keeps_its_law(p: torch.Tensor, q: torch.Tensor) -> None:
    assert torch.allclose(joint(p, q).sum(0), p.double(), atol=1e-7)


@laws
def test_it_is_the_law_of_the_noise(p: torch.Tensor, q: torch.Tensor) -> None:
    """3,000 seeds, every cell within 4.5 standard errors: false alarm below 16 · 7 · 10⁻⁶."""
    n, counts = 3000, torch.zeros(4, 4)
    for seed in range(n):
        coin = NoiseCoin(seed)
        counts[coin.ahead().draw(q), coin.draw(p)] += 1
    expected = joint(p, q)
    assert bool(((counts / n - expected).abs() <= 4.5 * (expected * (1 - expected) / n).sqrt() + 1e-9).all())


@laws
def test_draws_agree_less_often_than_the_laws_overlap_and_more_than_half_of_it(
    p: torch.Tensor, q: torch.Tensor
) -> None:
    """The paper's bound: (1 − TV) / (1 + TV) ≤ agreement ≤ 1 − TV."""
    overlap = float(torch.minimum(p, q).sum())
    agreement = float(joint(p, q).diagonal().sum())
    assert overlap / (2 - overlap) - 1e-7 <= agreement <= overlap + 1e-7


def test_the_enumerating_coin_shares_draw_by_draw() -> None:
    p, q = (torch.tensor(law) for law in PAIRS["all possible"])

    def play(coin: CoupledCoin) -> tuple[int, ...]:
        ahead = coin.ahead()
        guesses = (ahead.draw(q), ahead.draw(p))
        return (*guesses, coin.draw(p), coin.draw(p), coin.draw(q))

    found = outcomes(play, CoupledCoin)
    assert math.isclose(sum(found.values()), 1.0, rel_tol=1e-9)
    # The second draws are from the same law with the same noise; the third has no draft.
    assert all(guess == draw for _, guess, _, draw, _ in found)
    first = joint(p, q)
    for x in range(4):
        for y in range(4):
            share = sum(weight for (a, _, b, _, _), weight in found.items() if (a, b) == (x, y))
            assert share == pytest.approx(float(first[x, y]), abs=1e-7)
