"""Broken on purpose: when all guesses are kept, the token that the target's pass gives for free is thrown away."""

from dataclasses import replace

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Fate, Verdict, verify


def without_bonus(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """The law is the target's; τ is lower by the chance that a whole draft is kept."""
    verdict = verify(draft, p, coin)
    return replace(verdict, token=None) if verdict.fate is Fate.BONUS else verdict


RULE = Entry(
    id="bonus-skipped",
    label="Bonus skipped",
    badge=Badge.WASTEFUL,
    side=Side.TARGET,
    source="a frequent mistake",
    summary="Throws away the free token after all guesses were kept",
    judge=without_bonus,
)
