"""Exact laws by enumeration: every outcome of a random procedure, with its probability.

`outcomes(play)` runs `play(coin)` once for each path through its coin flips, depth first, by re-execution: a path
is replayed from its prefix and then takes the first branch everywhere. A draw branches over all ids with mass; a
`uniform()` stays an interval and branches only where it is compared, so a u that is used twice is exact too.
Knows coins, laws and tables. Does not know models, text or time.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import cache

import torch
from torch import Tensor

from specdemo.core.sampling import Shaping
from specdemo.core.verify import Draft, Rule, Verdict
from specdemo.models.toy import Table, hashed

Law = dict[tuple[int, ...], float]
"""Probability of each sequence of ids."""

Round = Callable[[tuple[int, ...], "EnumeratingCoin"], tuple[int, ...]]
"""From the committed context to the ids that one round emits."""


class Interval(float):
    """A number in [low, high) that is not decided before it is compared: `u < t` branches on the coin's tree."""

    low: float
    high: float

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

    def _undecided(self, *_: object) -> float:
        raise TypeError("an undecided u can only be compared")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _undecided
    __hash__ = float.__hash__


class EnumeratingCoin:
    """A coin that follows one path of the tree of outcomes: a given prefix, then the first branch everywhere."""

    def __init__(self, prefix: Sequence[int]) -> None:
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

    def following(self) -> list[int] | None:
        """The prefix of the next path in depth-first order, None after the last."""
        path = list(self.path)
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        return [taken for taken, _ in path[:-1]] + [path[-1][0] + 1] if path else None


def outcomes(play: Callable[[EnumeratingCoin], Hashable]) -> dict[Hashable, float]:
    """The exact law of what `play` returns."""
    law: dict[Hashable, float] = defaultdict(float)
    prefix: list[int] | None = []
    while prefix is not None:
        coin = EnumeratingCoin(prefix)
        law[play(coin)] += coin.weight
        prefix = coin.following()
    return dict(law)


def mean(law: dict[Hashable, float], value: Callable[[Hashable], float]) -> float:
    """Expected value under a law."""
    return sum(weight * value(outcome) for outcome, weight in law.items())


def target_law(table: Table, shaping: Shaping, prompt: Sequence[int], length: int) -> Law:
    """The law of the first `length` ids after a prompt by the chain rule: what every lossless rule must give."""
    law: Law = {(): 1.0}
    for _ in range(length):
        grown: Law = {}
        for ids, weight in law.items():
            p = law_at(table, shaping, (*prompt, *ids)).tolist()
            grown |= {(*ids, x): weight * p_x for x, p_x in enumerate(p) if p_x > 0.0}
        law = grown
    return law


def emitted_law(one_round: Round, prompt: Sequence[int], length: int) -> Law:
    """The law of the first `length` ids when rounds follow one another: a round's law is found once per context."""

    @cache
    def after(context: tuple[int, ...], missing: int) -> Law:
        law: Law = defaultdict(float)
        for block, weight in outcomes(lambda coin: one_round(context, coin)).items():
            if len(block) >= missing:
                law[block[:missing]] += weight
            else:
                for rest, share in after((*context, *block), missing - len(block)).items():
                    law[(*block, *rest)] += weight * share
        return law

    return dict(after(tuple(prompt), length))


def distance(a: dict[Hashable, float], b: dict[Hashable, float]) -> float:
    """Total variation between two laws, ½ Σ |a − b|."""
    return sum(abs(a.get(x, 0.0) - b.get(x, 0.0)) for x in a.keys() | b.keys()) / 2


def law_at(table: Table, shaping: Shaping, context: Sequence[int]) -> Tensor:
    """The law `[V]` of the token after a context."""
    return shaping.laws(table(context).unsqueeze(0), len(context))[0]


def random_table(vocabulary: int, seed: int, spread: float = 1.5) -> Table:
    """Random logits that depend on the whole context, each made once."""
    fresh = hashed(vocabulary, seed, spread, memory=64)
    return cached(fresh)


def cached(table: Table) -> Table:
    """The same table, each context looked up once."""
    known = cache(lambda context: table(context))
    return lambda context: known(tuple(context))


def chain_draft(table: Table, shaping: Shaping, context: Sequence[int], gamma: int, coin: EnumeratingCoin) -> Draft:
    """γ tokens drawn one after the other from the draft's own laws."""
    tokens: list[int] = []
    laws: list[Tensor] = []
    for _ in range(gamma):
        laws.append(law_at(table, shaping, (*context, *tokens)))
        tokens.append(coin.draw(laws[-1]))
    return Draft(tuple(tokens), torch.stack(laws) if laws else None)


def target_laws(table: Table, shaping: Shaping, context: Sequence[int], draft: Draft) -> Tensor:
    """p `[γ+1, V]` for a draft that follows a context."""
    return torch.stack([law_at(table, shaping, (*context, *draft.tokens[:i])) for i in range(len(draft.tokens) + 1)])


def block(draft: Draft, verdict: Verdict) -> tuple[int, ...]:
    """The ids that a verdict emits."""
    return (*draft.tokens[: verdict.accepted], verdict.token)


def speculative_round(
    rule: Rule, target: Table, draft: Table, p_shaping: Shaping, q_shaping: Shaping, gamma: int
) -> Round:
    """A round of a rule on two tables: draw a chain, look up p, judge."""

    def one_round(context: tuple[int, ...], coin: EnumeratingCoin) -> tuple[int, ...]:
        proposal = chain_draft(draft, q_shaping, context, gamma, coin)
        return block(proposal, rule(proposal, target_laws(target, p_shaping, context, proposal), coin))

    return one_round
