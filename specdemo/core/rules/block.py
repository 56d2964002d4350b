"""Block verification: a guess is judged together with those before it, so a surplus of one can save another.

Sun et al., "Block Verification Accelerates Speculative Decoding" (arXiv 2403.10444). With P_0 = 1,

    P_i = min(P_{i−1} · p(x_i)/q(x_i), 1)
    h_i = S_i / (S_i + 1 − P_i),  S_i = Σ max(P_i · p − q, 0) with p and q of position i+1        h_γ = P_γ

the longest block with u_i < h_i is kept, and after i < γ tokens the next is drawn from max(P_i · p − q, 0), normalised.
A token may lose its own test and still be kept in a longer block, so there is no α here; τ is never lower in the mean.
"""

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Fate, Test, Verdict, look


def verify_blocks(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Keeps the longest block that passes. p: the target's laws `[γ+1, V]`."""
    gamma = len(draft.tokens)
    tests: list[Test] = []
    weights = [1.0]
    for i, (p_x, q_x) in enumerate(zip(*look(draft, p), strict=True), 1):
        weights.append(min(weights[-1] * p_x / q_x, 1.0))
        h = weights[i] if i == gamma else _chance(weights[i], p[i], draft.law(i, like=p[i]))
        u = coin.uniform()
        tests.append(Test(u, p_x, q_x, accepted=u < h, h=h))
    kept = max((i for i, test in enumerate(tests, 1) if test.accepted), default=0)
    if kept == gamma:
        return Verdict(gamma, coin.draw(p[gamma]), Fate.BONUS if gamma else Fate.PLAIN, tuple(tests))
    surplus = _surplus(weights[kept], p[kept], draft.law(kept, like=p[kept]))
    # All zero: p = q up to rounding, as in `verify.residual`.
    token = coin.draw(surplus if bool(surplus.sum() > 0.0) else p[kept])
    return Verdict(kept, token, Fate.RESAMPLED, tuple(tests))


def _chance(weight: float, p: Tensor, q: Tensor) -> float:
    """h of a block of weight P that is followed by a position with laws p and q `[V]`."""
    surplus = float(_surplus(weight, p, q).sum())
    whole = surplus + 1.0 - weight
    return surplus / whole if whole > 0.0 else 1.0


def _surplus(weight: float, p: Tensor, q: Tensor) -> Tensor:
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
