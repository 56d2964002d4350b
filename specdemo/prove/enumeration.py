"""Exact laws by enumeration: every outcome of a random procedure, with its probability.

`outcomes(play)` runs `play(coin)` once for each path through its coin flips, depth first, by re-execution: a path
is replayed from its prefix and then takes the first branch everywhere. A draw branches over all ids with mass; a
`uniform()` stays an interval and branches only where it is compared, so a u that is used twice is exact too.
Knows coins and laws. Does not know rules, models or time.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

import torch
from torch import Tensor

Outcome = TypeVar("Outcome")


class Interval(float):
    """A number in [low, high) that is not decided before it is compared: `u < t` branches on the coin's tree."""

    low: float
    high: float
    _coin: "EnumeratingCoin"

    def __new__(cls, coin: "EnumeratingCoin") -> "Interval":
        u = super().__new__(cls, 0.5)
        u.low, u.high, u._coin = 0.0, 1.0, coin
        return u

    def __lt__(self, bound: float) -> bool:
        if bound <= self.low or bound >= self.high:
            return self.low < bound
        share = (bound - self.low) / (self.high - self.low)
        below = self._coin.choose([share, 1.0 - share]) == 0
        self.low, self.high = (self.low, bound) if below else (bound, self.high)
        return below

    def __ge__(self, bound: float) -> bool:
        return not self < bound

    # Equality has no mass, so u ≤ t is u < t.
    __le__, __gt__ = __lt__, __ge__

    def _undecided(self, *_: object) -> NoReturn:
        raise TypeError("an undecided u can only be compared")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _undecided
    __hash__ = float.__hash__


class EnumeratingCoin:
    """A coin that follows one path of the tree of outcomes: a given prefix, then the first branch everywhere."""

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        self._prefix = prefix
        self.path: list[tuple[int, int]] = []  # (branch taken, branches)
        self.weight = 1.0

    def choose(self, weights: Sequence[float]) -> int:
        """The branch that the path takes among `weights`, which sum to one."""
        depth = len(self.path)
        taken = self._prefix[depth] if depth < len(self._prefix) else 0
        self.path.append((taken, len(weights)))
        self.weight *= weights[taken]
        return taken

    def uniform(self) -> float:
        return Interval(self)

    def draw(self, law: Tensor) -> int:
        ids = law.nonzero().squeeze(-1)
        mass = law[ids].double()
        return int(ids[self.choose((mass / mass.sum()).tolist())])

    def pick(self, law: Tensor) -> Tensor:
        return torch.tensor([self.draw(law)])

    def following(self) -> list[int] | None:
        """The prefix of the next path in depth-first order, None after the last."""
        path = list(self.path)
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        return [taken for taken, _ in path[:-1]] + [path[-1][0] + 1] if path else None


def outcomes(
    play: Callable[[EnumeratingCoin], Outcome], coin: Callable[[Sequence[int]], EnumeratingCoin] = EnumeratingCoin
) -> dict[Outcome, float]:
    """The exact law of what `play` returns. coin: makes the coin of a path from its prefix."""
    law: dict[Outcome, float] = defaultdict(float)
    prefix: list[int] | None = []
    while prefix is not None:
        one = coin(prefix)
        law[play(one)] += one.weight
        prefix = one.following()
    return dict(law)


def mean(law: Mapping[Outcome, float], value: Callable[[Outcome], float]) -> float:
    """Expected value under a law."""
    return sum(weight * value(outcome) for outcome, weight in law.items())


def distance(a: Mapping[Outcome, float], b: Mapping[Outcome, float]) -> float:
    """Total variation between two laws, ½ Σ |a − b|."""
    return sum(abs(a.get(x, 0.0) - b.get(x, 0.0)) for x in a.keys() | b.keys()) / 2
