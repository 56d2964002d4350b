"""Typical acceptance: keeps whatever the target finds likely enough. Faster and, by design, not the target's law."""

import math

from torch import Tensor

from specdemo.core.inspect import entropy
from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Fate, Test, Verdict, look

EPSILON = 0.09
DELTA = 0.3
"""Medusa's values: a token counts as typical above min(ε, δ · exp(−entropy)), with δ = √ε."""


def accept_typical(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Keeps guesses with p(x) > min(ε, δ · exp(−H(p))), p `[γ+1, V]`; draws from p where one falls. q plays no part."""
    gamma = len(draft.tokens)
    tests: list[Test] = []
    for i, (p_x, q_x) in enumerate(zip(*look(draft, p), strict=True)):
        typical = p_x > min(EPSILON, DELTA * math.exp(-entropy(p[i])))
        tests.append(Test(0.0, p_x, q_x, accepted=typical, h=float(typical)))
        if not typical:
            return Verdict(i, coin.draw(p[i]), Fate.RESAMPLED, tuple(tests))
    return Verdict(gamma, coin.draw(p[gamma]), Fate.BONUS if gamma else Fate.PLAIN, tuple(tests))


RULE = Entry(
    id="typical",
    label="Typical acceptance",
    badge=Badge.LOSSY,
    side=Side.TARGET,
    source="Cai et al., Medusa, arXiv 2401.10774",
    summary="Keeps any guess that the target finds likely enough: more tokens a round, another law by design",
    judge=accept_typical,
)
