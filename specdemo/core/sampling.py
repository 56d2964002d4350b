"""From logits to a law, and from a law to a token.

Knows temperature, top-k, top-p, the end tokens that must wait, and coins. Does not know
models, drafts or verification. Letters: V is the vocabulary, n a number of positions.
"""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from specdemo.config import SamplingConfig

PREFIX = 256
"""Ids tried first when looking for the top-p set on a CPU: a full sort of 49k ids costs 2 ms a row."""


class Coin(Protocol):
    """The only source of randomness. Tests hand in one that enumerates every outcome."""

    def uniform(self) -> float:
        """A number in [0, 1)."""
        ...

    def draw(self, law: Tensor) -> int:
        """An id drawn from a law `[V]`; never one of mass zero."""
        ...

    def pick(self, law: Tensor) -> Tensor:
        """The same draw, `[1]`, left on the law's device: nobody waits for it."""
        ...


@runtime_checkable
class PerId(Coin, Protocol):
    """A coin with a number for each id of the vocabulary: it must see laws over all of them."""

    def noise(self, vocabulary: int) -> Tensor:
        """The numbers `[V]` that decide its next draw."""
        ...


class SeededCoin:
    """A coin whose whole sequence is fixed by one seed. Leaves every global generator alone."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._coming: deque[float] = deque()

    def uniform(self) -> float:
        return self._coming.popleft() if self._coming else self._random.random()

    def draw(self, law: Tensor) -> int:
        return inverse_cdf(law, self.uniform())

    def pick(self, law: Tensor) -> Tensor:
        return located(law, self.uniform())

    def coming(self, count: int) -> list[float]:
        """The next `count` numbers, which stay the next ones."""
        while len(self._coming) < count:
            self._coming.append(self._random.random())
        return list(self._coming)[:count]


def inverse_cdf(law: Tensor, u: float) -> int:
    """The first id of a law `[V]` whose cumulated mass exceeds `u` of the total. The law need not sum to one."""
    return int(located(law, u))


def located(law: Tensor, u: float | Tensor) -> Tensor:
    """That id as `[1]`, on the law's device; u may be there too, a float64."""
    mass = law.cumsum(-1, dtype=torch.float64)
    # u ≤ 1 − 2⁻⁵³ keeps u · total below the total, so ids without mass at the end are never reached.
    return torch.searchsorted(mass, mass[-1:] * u, right=True)


def law(logits: Tensor, sampling: SamplingConfig) -> Tensor:
    """The law of each position: logits `[n, V]` → float32 probabilities `[n, V]`, rows summing to one.

    Temperature first, then top-k (exactly k ids), then top-p (the fewest ids whose mass reaches it), as
    transformers and vLLM do. Greedy is a one-hot law at the first largest logit.
    """
    if sampling.greedy:
        # As float32: over bfloat16 a CPU's argmax takes three times as long.
        return one_hot(logits.float().argmax(-1), logits.shape[-1])
    return _warm(logits, sampling.temperature, sampling.top_k, sampling.top_p if sampling.top_p < 1.0 else None)


def _warm(logits: Tensor, temperature: float | Tensor, top_k: int, top_p: float | Tensor | None) -> Tensor:
    """A law that is not greedy. temperature, top_p: numbers, on the device or not."""
    scaled = logits.float() / temperature
    if 0 < top_k < logits.shape[-1]:
        scaled = _keep(scaled, scaled.topk(top_k, dim=-1).indices, float("-inf"))
    p = scaled.softmax(-1)
    # On a GPU, which sorts fast, all ids: to ask whether a few are enough would make the host wait.
    return p if top_p is None else _top_p(p, top_p, p.shape[-1] if p.is_cuda else PREFIX)


Drawn = tuple[Tensor, Tensor]
"""A law `[1, V]` and the id `[1]` drawn from it, both on its device."""

Drawing = Callable[[Tensor, Tensor], Drawn]
"""A `Draw`, or one that is recorded."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw from a law that is not greedy, as a function of tensors alone: what a device can record and do again.

    cuts: top-p leaves something out. Temperature and top-p themselves are numbers like any, so that one recording is
    for all of them.
    """

    top_k: int
    cuts: bool

    def __call__(self, logits: Tensor, numbers: Tensor) -> Drawn:
        """logits `[1, V]`, numbers `[3]` as `numbers_of` has them."""
        u, temperature, top_p = numbers
        q = _warm(logits, temperature, self.top_k, top_p if self.cuts else None)
        return q, located(q[0], u)


def draw_of(sampling: SamplingConfig) -> Draw:
    """What draws as `SeededCoin.pick` does from `law`."""
    return Draw(sampling.top_k, sampling.top_p < 1.0)


def numbers_of(sampling: SamplingConfig, u: float) -> Tensor:
    """What a `Draw` is given beside logits: u, temperature and top-p as float64, on the host."""
    return torch.tensor([u, sampling.temperature, sampling.top_p], dtype=torch.float64)


def one_hot(ids: Tensor, vocabulary: int) -> Tensor:
    """Laws `[n, V]` that put all mass on one id each; `ids` is `[n]`."""
    p = torch.zeros(*ids.shape, vocabulary, dtype=torch.float32, device=ids.device)
    return p.scatter_(-1, ids.unsqueeze(-1), 1.0)


def _keep(values: Tensor, ids: Tensor, elsewhere: float) -> Tensor:
    kept = torch.full_like(values, elsewhere)
    return kept.scatter_(-1, ids, values.gather(-1, ids))


def _top_p(p: Tensor, top_p: float | Tensor, first: int) -> Tensor:
    """first: ids looked at before all are sorted."""
    values, ids = p.topk(min(first, p.shape[-1]), dim=-1)
    kept = torch.zeros_like(p).scatter_(-1, ids, _nucleus(values, top_p))
    short = values.sum(-1, dtype=torch.float64) < top_p
    if p.shape[-1] > first and bool(short.any()):
        # Only the rows that need it: of equal ids a sort may keep others, and a row must not depend on its neighbours.
        values, ids = p[short].sort(dim=-1, descending=True)
        kept[short] = torch.zeros_like(p[short]).scatter_(-1, ids, _nucleus(values, top_p))
    return kept / kept.sum(-1, keepdim=True)


def _nucleus(values: Tensor, top_p: float | Tensor) -> Tensor:
    """Sorted probabilities `[n, m]` with zeros behind the fewest whose mass reaches `top_p`."""
    before = values.cumsum(-1, dtype=torch.float64) - values
    return torch.where(before < top_p, values, 0.0)


@dataclass(frozen=True, slots=True)
class Shaping:
    """How one run turns logits into laws: one object for target and draft, so p and q get the same filters.

    end_tokens: ids that end the run. first_end: the length of prompt + output from which they are allowed.
    """

    sampling: SamplingConfig
    end_tokens: tuple[int, ...] = ()
    first_end: int = 0

    def laws(self, logits: Tensor, length: int) -> Tensor:
        """Laws `[n, V]` from logits `[n, V]`, where row i is about the token at index `length + i`."""
        return law(self.allowed(logits, length), self.sampling)

    def allowed(self, logits: Tensor, length: int) -> Tensor:
        """The same logits, −∞ at the end tokens where they must wait."""
        waiting = min(max(self.first_end - length, 0), logits.shape[0])
        if waiting and self.end_tokens:
            logits = logits.clone()
            for token in self.end_tokens:  # one by one: a GPU would wait for a list of them
                logits[:waiting, token] = float("-inf")
        return logits
