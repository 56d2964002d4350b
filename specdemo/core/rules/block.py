"""Block verification: a guess is judged together with those before it, so a surplus of one can save another.

Sun et al., "Block Verification Accelerates Speculative Decoding" (arXiv 2403.10444). With P_0 = 1,

    P_i = min(P_{i−1} · p(x_i)/q(x_i), 1)
    h_i = S_i / (S_i + 1 − P_i),  S_i = Σ max(P_i · p − q, 0) with p and q of position i+1        h_γ = P_γ

the longest block with u_i < h_i is kept, and after i < γ tokens the next is drawn from max(P_i · p − q, 0), normalised.
A token may lose its own test and still be kept in a longer block, so there is no α here; τ is never lower in the mean.
"""

import torch
from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Fate, Test, Verdict, chances, look, or_law


def verify_blocks(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Keeps the longest block that passes. p: the target's laws `[γ+1, V]`."""
    gamma = len(draft.tokens)
    if gamma == 0:
        return Verdict(0, coin.draw(p[0]), Fate.PLAIN, ())
    weights = _weights(*chances(draft, p))
    surplus = [_surplus(weights[i], p[i], draft.law(i, like=p[i])) for i in range(gamma)]
    h = torch.stack([_chance(weights[i], surplus[i]) for i in range(1, gamma)] + [weights[gamma]])
    tests: list[Test] = []
    for p_x, q_x, h_i in zip(*look(draft, p, h), strict=True):
        if q_x == 0.0:
            raise ZeroDivisionError("a guess that its law cannot make")
        u = coin.uniform()
        tests.append(Test(u, p_x, q_x, accepted=u < h_i, h=h_i))
    kept = max((i for i, test in enumerate(tests, 1) if test.accepted), default=0)
    if kept == gamma:
        return Verdict(gamma, coin.draw(p[gamma]), Fate.BONUS, tuple(tests))
    return Verdict(kept, coin.draw(or_law(surplus[kept], p[kept])), Fate.RESAMPLED, tuple(tests))


def _weights(p_x: Tensor, q_x: Tensor) -> Tensor:
    """P_0 … P_γ `[γ+1]` from the chances of the guesses, both `[γ]`."""
    weights = [torch.ones_like(p_x[0])]
    for ratio in p_x / q_x:
        weights.append((weights[-1] * ratio).clamp(max=1.0))
    return torch.stack(weights)


def _chance(weight: Tensor, surplus: Tensor) -> Tensor:
    """h of a block of weight P, from the surplus `[V]` behind it; 1 where neither leaves anything."""
    mass = surplus.sum()
    whole = mass + 1.0 - weight
    return torch.where(whole > 0.0, mass / whole, 1.0)


def _surplus(weight: Tensor, p: Tensor, q: Tensor) -> Tensor:
    """max(P · p − q, 0) `[V]`, in double precision: the differences of equal laws must cancel."""
    return (weight * p.double() - q.double()).clamp_(min=0.0)


RULE = Entry(
    id="block",
    label="Block verification",
    badge=Badge.LOSSLESS,
    side=Side.TARGET,
    source="Sun et al., arXiv 2403.10444",
    summary="Judges whole blocks and keeps the longest that passes: τ is never lower in the mean, α is undefined",
    judge=verify_blocks,
    tokenwise=False,
)
