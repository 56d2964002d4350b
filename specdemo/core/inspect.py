"""What the inspector shows of a round: top ids, residual, β, entropy, margin.

Knows the laws of one round. Runs outside every clock. Does not decide anything.
"""

import torch
from torch import Tensor

from specdemo.core.events import Position
from specdemo.core.verify import Draft, Verdict, residual

TOP = 8


def inspect_round(draft: Draft, verdict: Verdict, logits: Tensor, p: Tensor) -> tuple[Position, ...]:
    """The tested positions and, if all were accepted, the row of the bonus or plain token.

    logits, p: `[γ+1, V]`, the target's raw logits and its laws.
    """
    rows = min(len(verdict.tests) + (verdict.accepted == len(draft.tokens)), p.shape[0])
    return tuple(_position(i, draft, logits[i], p[i]) for i in range(rows))


def _position(i: int, draft: Draft, logits: Tensor, p: Tensor) -> Position:
    first, second = logits.float().topk(2).values.tolist() if logits.numel() > 1 else (0.0, 0.0)
    if i >= len(draft.tokens):
        return Position(i, top(p), None, None, None, entropy(p), None, first - second)
    q = draft.law(i, like=p)
    return Position(
        index=i,
        p_top=top(p),
        q_top=top(q),
        residual_top=top(residual(p, q)),
        beta=float(torch.minimum(p, q).sum()),
        p_entropy=entropy(p),
        q_entropy=entropy(q),
        margin=first - second,
    )


def top(law: Tensor) -> tuple[tuple[int, float], ...]:
    """The most likely ids of a law `[V]` with their probabilities, largest first, at most eight, none of mass zero."""
    values, ids = law.topk(min(TOP, law.shape[-1]))
    return tuple((i, v) for i, v in zip(ids.tolist(), values.tolist(), strict=True) if v > 0.0)


def entropy(law: Tensor) -> float:
    """Entropy of a law `[V]` in nats."""
    return float(torch.special.entr(law).sum())
