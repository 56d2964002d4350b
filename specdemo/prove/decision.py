"""Test (b): many simulated decisions at one position, against p.

A rule is asked once for every guess x and every way that its comparisons can go; that gives its tree of decisions,
through which any number of draws then runs at the speed of arrays. So the rule that is simulated is the very function
that judges a run. Knows laws and rules. Does not know models or texts.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdemo.core.rules import Entry
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft
from specdemo.prove.coupling import Coupling
from specdemo.prove.enumeration import EnumeratingCoin
from specdemo.prove.statistics import Sampled, sampled

FIRST = 100
MOST = 1_000_000
KEPT = 20_000_000
"""Numbers of cumulated laws that are kept between batches: 160 MB."""


class Undecided(int):
    """A drawn id that is decided only as far as it is compared. law: `[V]`, what is still possible."""

    law: Tensor
    _coin: "LazyCoin"

    def __new__(cls, coin: "LazyCoin", law: Tensor) -> "Undecided":
        token = super().__new__(cls, -1)
        token.law, token._coin = law.double() / law.double().sum(), coin
        return token

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, int)
        share = float(self.law[other])
        same = share > 0.0 and (share >= 1.0 or self._coin.choose([share, 1.0 - share]) == 0)
        self.law = torch.zeros_like(self.law) if same else self.law.clone()
        self.law[other] = float(same)
        self.law /= self.law.sum()
        return same

    __hash__ = int.__hash__


class LazyCoin(EnumeratingCoin):
    """An enumerating coin whose draws stay undecided. guess: coupling and id of a draft's draw with the same noise."""

    def __init__(self, prefix: Sequence[int] = (), guess: tuple[Coupling, int] | None = None) -> None:
        super().__init__(prefix)
        self._guess = guess

    def draw(self, law: Tensor) -> int:
        guess, self._guess = self._guess, None
        if guess is None:
            return Undecided(self, law)
        coupling, x = guess
        assert torch.equal(law, coupling.p), "a rule that shares noise draws from p"
        return Undecided(self, coupling.given(x))

    def ahead(self) -> Coin:
        return LazyCoin()


@dataclass(frozen=True, slots=True)
class Branch:
    """One way that a decision can go, with its chance. mass: cumulated law `[V]` of the emitted id, None: the guess."""

    chance: float
    mass: Tensor | None


class Trees:
    """The branches of a rule's decision about each guess. Those that are used again are kept, within `KEPT` numbers."""

    def __init__(self, rule: Entry, p: Tensor, q: Tensor) -> None:
        self._rule, self._q, self._p = rule, q.unsqueeze(0), torch.stack([p, p])
        self._coupling = Coupling(p, q) if rule.coupled else None
        self._known: dict[int, tuple[Branch, ...]] = {}
        self._masses: list[Tensor] = []

    def about(self, x: int) -> tuple[Branch, ...]:
        """Every way that the rule can go about a guess x drawn from q."""
        if x in self._known:
            return self._known[x]
        found = tuple(self._branches(x))
        if self._room:
            self._known[x] = found
        return found

    @property
    def _room(self) -> bool:
        return len(self._masses) * self._p.shape[-1] < KEPT

    def _branches(self, x: int) -> Iterator[Branch]:
        prefix: list[int] | None = []
        while prefix is not None:
            coin = LazyCoin(prefix, None if self._coupling is None else (self._coupling, x))
            verdict = self._rule.judge(Draft((x,), self._q), self._p, coin)
            kept = verdict.accepted or verdict.token is None
            yield Branch(coin.weight, None if kept else self._shared(cumulated(verdict.token or 0, self._p.shape[-1])))
            prefix = coin.following()

    def _shared(self, mass: Tensor) -> Tensor:
        """The same law from before, if there was one: a residual is one for all guesses."""
        for known in self._masses[-4:]:
            if torch.equal(known, mass):
                return known
        if self._room:
            self._masses.append(mass)
        return mass


def simulate(
    rule: Entry,
    p: Tensor,
    q: Tensor,
    n: int = MOST,
    seed: int = 0,
    expected: Tensor | None = None,
    step: int = MOST,
) -> Iterator[Sampled]:
    """The first id that a round of one guess emits, `n` times: results after 100, 200, 500, 1000 … decisions.

    p, q: `[V]`. expected: the law to be compared with, p if not given (another where the mistake is in p itself).
    step: the most decisions between two results, for whoever shares the machine.
    """
    rng = torch.Generator().manual_seed(seed)
    counts, accepted, done = torch.zeros(len(p), dtype=torch.int64), 0, 0
    drafted = cumulated(rule.draft_coin(LazyCoin()).draw(q), len(q))
    trees = Trees(rule, p, q)
    for total in _totals(n, step):
        guesses = _draws(drafted, total - done, rng)
        for x, times in enumerate(guesses.bincount().tolist()):
            if times:
                accepted += _decide(trees.about(x), x, times, counts, rng)
        done = total
        yield sampled(counts, p if expected is None else expected, accepted)


def _totals(n: int, step: int) -> Iterator[int]:
    """100, 200, 500, 1000 … up to n, and as many between as keep the distance within `step`."""
    done, marks = 0, (digit * FIRST * 10**power for power in itertools.count() for digit in (1, 2, 5))
    for mark in marks:
        while done < min(mark, n):
            done = min(done + step, mark, n)
            yield done
        if done == n:
            return


def _decide(ways: Sequence[Branch], x: int, times: int, counts: Tensor, rng: torch.Generator) -> int:
    """Adds the ids that `times` decisions about the guess x emit to `counts`; how many kept it."""
    edges = torch.tensor([way.chance for way in ways], dtype=torch.float64).cumsum(-1)
    kept = 0
    for way, count in zip(ways, _draws(edges, times, rng).bincount(minlength=len(ways)).tolist(), strict=True):
        if way.mass is None:
            kept += count
            counts[x] += count
        else:
            counts += _draws(way.mass, count, rng).bincount(minlength=len(counts))
    return kept


def cumulated(token: int, vocabulary: int) -> Tensor:
    """Cumulated law `[V]` of an id that may be undecided."""
    if isinstance(token, Undecided):
        return token.law.cumsum(-1)
    return torch.zeros(vocabulary, dtype=torch.float64).index_fill_(0, torch.tensor(token), 1.0).cumsum(-1)


def _draws(mass: Tensor, n: int, rng: torch.Generator) -> Tensor:
    """n ids `[n]` by inverse CDF of a cumulated law, as `core.sampling.inverse_cdf` does for one."""
    u = torch.rand(n, generator=rng, dtype=torch.float64)
    return torch.searchsorted(mass, u * mass[-1], right=True)
