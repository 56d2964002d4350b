"""Trained drafts for toys: random weights in a file, and toys that have hidden states and tables to borrow.

A random draft is wrong most of the time, which is what lossless tests need; it never says the first id.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn import functional

from specdemo.core.protocols import Pass, Tables
from specdemo.drafters.draft_file import Shape, Weights
from specdemo.models.norm import norm
from specdemo.models.toy import ToyAccess, ToySession, hashed

SHAPE = Shape(width=16, heads=4, kv_heads=2, dim=4, inner=24, layers=1, eps=1e-5, theta=1e4)


class HiddenSession(ToySession):
    """A toy with a hidden state at every position: some function of the context."""

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        first = len(self)
        logits = super().extend(tokens, keep).logits
        state = hashed(SHAPE.width, seed=5)
        rows = [state(tokens[: i + 1]) for i in range(first, len(tokens))]
        return Pass(logits, torch.stack(rows) if rows else torch.empty(0, SHAPE.width))


def with_states(access: ToyAccess) -> ToyAccess:
    """The same toy with hidden states and tables."""
    generator = torch.Generator().manual_seed(3)
    tables = [torch.randn(access.vocabulary, SHAPE.width, generator=generator) for _ in range(2)]
    access.target = lambda: HiddenSession(access._target, access._limit)  # type: ignore[method-assign]
    access.tables = lambda: Tables(*tables, lambda weight: lambda x: functional.linear(x, weight), norm)  # type: ignore[method-assign]
    return access


def random_weights(kind: str, vocabulary: int, shape: Shape = SHAPE, seed: int = 1) -> Weights:
    """A draft that can say every id but the first."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {
        name: torch.randn(size, generator=generator) * (0.4 if len(size) == 2 else 0.1) + (len(size) == 1)
        for name, size in shape.tensors(kind).items()
    }
    return Weights(kind, shape, vocabulary, torch.arange(1, vocabulary), tensors)


def random_file(kind: str, vocabulary: int, folder: Path) -> Path:
    """The same in a file."""
    path = folder / f"{kind}.safetensors"
    random_weights(kind, vocabulary).save(path)
    return path
