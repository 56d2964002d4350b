"""How far counts may stray from a law by chance, and whether they strayed further.

Knows counts and laws. Does not know where they come from.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

RARE = 1e-4
"""The chance with which a correct sampler fails either test."""

LEAST = 5.0
"""Cells in which fewer are expected are pooled for χ²."""

SHOWN = 24


@dataclass(frozen=True, slots=True)
class Cell:
    """One bar: an id (None: all the others), its chance under the law and how often it came."""

    token: int | None
    chance: float
    count: int


@dataclass(frozen=True, slots=True)
class Sampled:
    """n draws against a law.

    accepted: how many of them were the draft's guess. cells: the likeliest ids, then the others together.
    distance: total variation between counts / n and the law, over all ids. expected: what it is on average if the
    draws follow the law; low, high: the band in which it then lies, but for a chance of 10⁻⁴ on either side.
    chi2, degrees, p_value: Pearson's test, cells with fewer than 5 expected pooled.
    """

    n: int
    accepted: int
    cells: tuple[Cell, ...]
    distance: float
    expected: float
    low: float
    high: float
    chi2: float
    degrees: int
    p_value: float

    @property
    def passed(self) -> bool:
        """True if the counts may have come from the law; a correct sampler is refused with chance below 2 · 10⁻⁴."""
        return self.distance <= self.high and self.p_value >= RARE


def sampled(counts: Tensor, law: Tensor, accepted: int = 0) -> Sampled:
    """counts: `[V]`, whole numbers, at least one draw. law: `[V]`."""
    law = law.double() / law.double().sum()
    n = int(counts.sum())
    expected, margin = expected_distance(law, n), band(n)
    statistic, degrees, p_value = chi_square(counts, law)
    return Sampled(
        n=n,
        accepted=accepted,
        cells=_cells(counts, law),
        distance=float((counts / n - law).abs().sum() / 2),
        expected=expected,
        low=max(0.0, expected - margin),
        high=expected + margin,
        chi2=statistic,
        degrees=degrees,
        p_value=p_value,
    )


def expected_distance(law: Tensor, n: int) -> float:
    """E[½ Σ |X/n − p|] for counts X of n draws from the law `[V]`: ½ Σ E|X_i − n p_i| / n.

    Each term is de Moivre's mean deviation of a binomial, 2 m C(n, m) p^m (1 − p)^(n−m+1) with m = ⌊np⌋ + 1
    (Diaconis and Zabell, "Closed form summation for classical distributions", Statistical Science 6, 1991). Exact;
    about Σ √(p(1 − p) / 2πn) for large n.
    """
    p = law.double()
    p = p[(p > 0.0) & (p < 1.0)]
    m = (n * p).floor() + 1
    # m C(n, m) = n! / ((m − 1)! (n − m)!)
    count = math.lgamma(n + 1) - torch.lgamma(m) - torch.lgamma(n - m + 1)
    deviation = 2 * (count + m * p.log() + (n - m + 1) * torch.log1p(-p)).exp()
    return float(deviation.sum() / (2 * n))


def band(n: int, rare: float = RARE) -> float:
    """Half the width of the band around the expected distance: √(ln(1/rare) / 2n).

    One draw changes the distance by at most 1/n, so it strays further to one side with chance below `rare`, whatever
    the law and n (McDiarmid, "On the method of bounded differences", 1989).
    """
    return math.sqrt(math.log(1 / rare) / (2 * n))


def chi_square(counts: Tensor, law: Tensor) -> tuple[float, int, float]:
    """Pearson's statistic, its degrees of freedom and p-value for counts `[V]` against a law `[V]`.

    Ids with fewer than 5 expected share a cell. An id that the law rules out has p-value 0 once it is drawn.
    """
    hopes, seen = counts.sum() * law.double(), counts.double()
    if bool((seen[law <= 0.0] > 0.0).any()):
        return math.inf, 0, 0.0
    small = hopes < LEAST
    pools = torch.stack([hopes[small].sum(), seen[small].sum()])
    cells = torch.stack([hopes[~small], seen[~small]], dim=-1)
    if float(pools[0]) >= LEAST or not len(cells):
        cells = torch.cat([cells, pools.unsqueeze(0)])
    else:
        cells[cells[:, 0].argmin()] += pools
    statistic = float(((cells[:, 1] - cells[:, 0]) ** 2 / cells[:, 0].clamp(min=1e-300)).sum())
    degrees = len(cells) - 1
    if degrees == 0:
        return statistic, 0, 1.0
    half = torch.tensor([degrees / 2, statistic / 2], dtype=torch.float64)
    return statistic, degrees, float(torch.special.gammaincc(half[0], half[1]))


def _cells(counts: Tensor, law: Tensor) -> tuple[Cell, ...]:
    likely = law.topk(min(SHOWN, len(law))).indices
    cells = [Cell(i, float(law[i]), int(counts[i])) for i in likely.tolist()]
    if len(law) > SHOWN:
        rest = float(1.0 - law[likely].sum())
        cells.append(Cell(None, max(0.0, rest), int(counts.sum() - counts[likely].sum())))
    return tuple(cells)
