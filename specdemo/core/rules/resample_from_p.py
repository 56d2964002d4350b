"""Broken on purpose: the replacement of a rejected token is drawn from p instead of the residual."""

from dataclasses import replace

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Fate, Verdict, verify


def resample_from_p(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Where p > q the text gets too little: what was accepted is given to everyone a second time."""
    verdict = verify(draft, p, coin)
    if verdict.fate is not Fate.RESAMPLED:
        return verdict
    return replace(verdict, token=coin.draw(p[verdict.accepted]))


RULE = Entry(
    id="resample-from-p",
    label="Resample from p",
    badge=Badge.BIASED,
    side=Side.TARGET,
    source="a frequent mistake",
    summary="Replaces a rejected token by a draw from p, not from the residual",
    judge=resample_from_p,
)
