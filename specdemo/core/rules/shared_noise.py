"""Shared-noise match: draft and target draw with the same noise, so they agree often, and every lane says the same.

Daliri, Musco and Suresh, "Coupling without Communication and Drafter-Invariant Speculative Decoding" (arXiv
2408.07978). A draw is argmax(log law + Gumbel noise), which follows the law. The noise depends on the seed and on the
position in the answer alone, so the text is a function of seed and target: any draft, none included, gives the same.
"""

import random
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from specdemo.core.ids import to_device
from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.rules.matching import keep_matching
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict, look


@runtime_checkable
class LookingAhead(Coin, Protocol):
    """A coin that can lend its future draws to the draft."""

    def ahead(self) -> Coin:
        """A coin whose draws use the noise of this one's next draws, which it leaves to it."""
        ...


class NoiseCoin:
    """The k-th draw uses the noise of position k of the answer. One coin per run."""

    def __init__(self, seed: int, position: int = 0) -> None:
        self._seed, self._position = seed, position

    def uniform(self) -> float:
        """No rule that shares noise asks for one."""
        raise NotImplementedError

    def draw(self, law: Tensor) -> int:
        return int(self.pick(law))

    def pick(self, law: Tensor) -> Tensor:
        """argmax(log law + g) with Gumbel noise g = −log E, found as argmin(E / law): no logarithm of zero."""
        noise = to_device(self.noise(law.shape[-1]), law.device)
        self._position += 1
        return (noise / law.double()).argmin(-1, keepdim=True)

    def noise(self, vocabulary: int) -> Tensor:
        return exponential_noise(self._seed, self._position, vocabulary)

    def ahead(self) -> "NoiseCoin":
        return NoiseCoin(self._seed, self._position)


def exponential_noise(seed: int, position: int, vocabulary: int) -> Tensor:
    """E `[V]`, float64: standard exponential numbers that depend on the arguments alone.

    torch's generator takes 32 bits of a seed; two positions of an answer share them by chance once in 10⁶ answers.
    """
    key = random.Random(f"{seed} {position}").getrandbits(32)
    return torch.empty(vocabulary, dtype=torch.float64).exponential_(generator=torch.Generator().manual_seed(key))


def look_ahead(coin: Coin) -> Coin:
    """The draft's coin."""
    assert isinstance(coin, LookingAhead)
    return coin.ahead()


def match_shared_noise(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Keeps guesses that equal the target's draw from p `[γ+1, V]`. Each draw is a token of the text."""
    p_x, q_x = look(draft, p)
    return keep_matching(draft, p_x, q_x, map(coin.draw, p))


RULE = Entry(
    id="shared-noise",
    label="Shared-noise match",
    badge=Badge.LOSSLESS,
    side=Side.BOTH,
    source="Daliri et al., arXiv 2408.07978",
    summary="Draft and target draw with the same noise: the same seed gives the same text in every lane at any T",
    judge=match_shared_noise,
    draft_coin=look_ahead,
    coin=NoiseCoin,
    coupled=True,
)
