"""What a draft is trained for: the target's law over the reduced vocabulary, and its first choice above all.

Knows hidden states, head rows and laws. Does not know nets, batches or optimisers.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

FIRST_CHOICE = 0.3
"""Share of the target's first choice in what is to be matched: at temperature 0 nothing else counts."""
CHUNK = 128
"""Rows whose laws are computed at once: so many stay in the processor's cache."""
STATES = 0.5
"""Weight of the distance between predicted and true states."""


def teacher(at: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The target's law `[N, R]` over the rows' ids from its states `[N, H]`, and its first choice there `[N]`."""
    laws, choices = [], []
    for start in range(0, len(at), CHUNK):
        logits = (at[start : start + CHUNK].to(rows.dtype) @ rows.T).float()
        choices.append(logits.argmax(-1))
        laws.append(logits.softmax(-1).to(rows.dtype))
    return torch.cat(laws), torch.cat(choices)


class _Divergence(torch.autograd.Function):
    """Weighted cross-entropy of head(feature) against a law; the gradient is found on the way, without a graph."""

    @staticmethod
    def forward(ctx: Any, feature: Tensor, rows: Tensor, p: Tensor, first: Tensor, weight: Tensor) -> Tensor:
        total, gradients = torch.zeros((), device=feature.device), []
        for start in range(0, len(feature), CHUNK):
            here = slice(start, start + CHUNK)
            choice, share = first[here, None], weight[here, None]
            wanted = p[here].float() * (1 - FIRST_CHOICE)
            wanted.scatter_add_(-1, choice, torch.full(choice.shape, FIRST_CHOICE, device=p.device))
            log_q = (feature[here].to(rows.dtype) @ rows.T).float().log_softmax(-1)
            total += -((wanted * log_q).sum(-1, keepdim=True) * share).sum()
            apart = log_q.exp_().sub_(wanted).mul_(share)
            gradients.append((apart.to(rows.dtype) @ rows).float())
        ctx.save_for_backward(torch.cat(gradients))
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (found,) = ctx.saved_tensors
        return found * gradient, None, None, None, None


def divergence(feature: Tensor, rows: Tensor, p: Tensor, first: Tensor, weight: Tensor) -> Tensor:
    """Σ weight · (cross-entropy of q = softmax(feature · rowsᵀ) against p, mixed with the first choice).

    feature `[N, H]` with gradients, rows `[R, H]` without, p `[N, R]`, first and weight `[N]`.
    """
    loss: Tensor = _Divergence.apply(feature, rows, p, first, weight)  # type: ignore[no-untyped-call]
    return loss


def distance(feature: Tensor, at: Tensor, weight: Tensor) -> Tensor:
    """Σ weight · smooth-L1 between predicted and true states `[N, H]`, a mean over H."""
    apart = F.smooth_l1_loss(feature.float(), at.float(), reduction="none").mean(-1)
    return (apart * weight).sum() * STATES
