"""Two draws with the same Gumbel noise, exactly: the joint law of argmax(log q + g) and argmax(log p + g).

With E = exp(−g), x = argmin E/q and y = argmin E/p race by the same exponential clocks. Integrating over the clocks
of x and y gives, with F(s) = Σ max(q, s·p) and G(s) = ∫₀ˢ dt / F(t)²,

    P(y = x | x) = 1 / F(q(x)/p(x))        P(y | x) = p(y) · max(0, G(q(x)/p(x)) − G(q(y)/p(y)))   for y ≠ x

F is linear between the ratios q/p, so G adds up (b − a) / (F(a)·F(b)). The first formula is that of Daliri et al.
(arXiv 2408.07978). Needed because noise itself cannot be enumerated: its outcomes are a continuum. Knows laws and
coins. Does not know rules.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdemo.core.sampling import Coin
from specdemo.prove.enumeration import EnumeratingCoin


class Coupling:
    """The laws p and q `[V]` of two draws with the same noise."""

    def __init__(self, p: Tensor, q: Tensor) -> None:
        self.p = p
        self._p = p.double()
        self._reached, self._areas = _integrals(self._p, q.double())

    def given(self, x: int) -> Tensor:
        """The law `[V]`, float64, of the draw from p, given that the one from q was x (q(x) > 0)."""
        law = self._p * (self._areas[x] - self._areas).clamp_(min=0.0)
        law[x] = 1.0 / self._reached[x] if bool(self._p[x] > 0.0) else 0.0
        return law / law.sum()


def _integrals(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """F and G `[V]` at each id's own q/p. Where p is 0 that is infinite; G has a limit there and F is not used."""
    possible = p > 0.0
    ratio = torch.where(possible, q / p.clamp(min=torch.finfo(p.dtype).tiny), torch.inf)
    order = ratio.argsort()
    count = int(possible.sum())
    r = ratio[order][:count]
    above = q.sum() - q[order].cumsum(-1)[:count]
    f = above + r * p[order].cumsum(-1)[:count]
    width = torch.diff(r, prepend=r.new_zeros(1))
    before = torch.cat([q.sum().unsqueeze(0), f[:-1]])
    g = (width / (before * f)).cumsum(-1)
    reached, areas = torch.full_like(p, torch.inf), g[-1] + 1.0 / (f[-1] * p.sum()) + torch.zeros_like(p)
    reached[order[:count]], areas[order[:count]] = f, g
    return reached, areas


class CoupledCoin(EnumeratingCoin):
    """An enumerating coin whose draws for the draft and for the target share their noise, position by position."""

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        super().__init__(prefix)
        self._drafted: list[tuple[Tensor, int]] = []

    def draw(self, law: Tensor) -> int:
        """The target's next draw: given the draft's at its position, if there was one."""
        if not self._drafted:
            return super().draw(law)
        q, x = self._drafted.pop(0)
        return super().draw(Coupling(law, q).given(x))

    def ahead(self) -> Coin:
        """The draft's coin, which remembers what it drew."""
        self._drafted = []
        return _Ahead(self, self._drafted)


class _Ahead:
    def __init__(self, coin: EnumeratingCoin, drafted: list[tuple[Tensor, int]]) -> None:
        self._coin, self._drafted = coin, drafted

    def uniform(self) -> float:
        return self._coin.uniform()

    def draw(self, law: Tensor) -> int:
        x = EnumeratingCoin.draw(self._coin, law)
        self._drafted.append((law, x))
        return x

    def pick(self, law: Tensor) -> Tensor:
        return torch.tensor([self.draw(law)])
