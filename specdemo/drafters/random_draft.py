"""Control: guesses any token of the vocabulary, with an honest uniform q. Shows that a useless draft costs time only.

Knows V. Does not look at the text.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdemo.core.protocols import Drafter
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict
from specdemo.drafters.registry import Setup


def make(setup: Setup) -> Drafter:
    """A uniform drafter over the target's ids."""
    return RandomDrafter(setup.access.vocabulary)


class RandomDrafter:
    """Draws every token from the uniform law, whatever the temperature."""

    def __init__(self, vocabulary: int) -> None:
        self._law = torch.full((vocabulary,), 1.0 / vocabulary)

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        pass

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        drawn = tuple(coin.draw(self._law) for _ in range(gamma))
        return Draft(drawn, self._law.expand(gamma, -1), source="random", steps=gamma)

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        pass

    def close(self) -> None:
        pass
