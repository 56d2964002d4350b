"""What every session over a model does alike: it knows its tokens, feeds what is new in pieces, rolls back.

Knows lists of tokens. Does not know how a pass is made or what a cache looks like.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from specdemo.core import ids
from specdemo.core.protocols import Pass

CHUNK = 512
"""Most tokens in one forward pass: bounds the memory of a long prompt."""


class ModelSession(ABC):
    """`core.protocols.Session`, one sequence. vocabulary: V, the columns of logits that are kept."""

    def __init__(self, vocabulary: int, limit: int) -> None:
        self._vocabulary = vocabulary
        self._limit = limit
        self._tokens: list[int] = []
        self._length = 0

    @property
    def limit(self) -> int:
        return self._limit

    def __len__(self) -> int:
        return self._length

    @torch.inference_mode()
    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        """Logits `[keep, V]` in the model's dtype, hidden states `[new, H]`; no gradients.

        Ids that nobody has looked at are fed as they are, and taken to be the next ones of the sequence later on.
        """
        old, total, known = self._length, len(tokens), ids.known(tokens)
        if total - old < keep or list(known[: len(self._tokens)]) != self._tokens:
            raise ValueError("the cache is no prefix of the sequence, or too few tokens are new")
        if total > self._limit:
            raise IndexError(f"{total} tokens do not fit {self._limit} positions")
        passes, left = [], total - old
        for chunk in torch.split(ids.tensor(tokens, old), CHUNK) if left else ():
            left -= len(chunk)
            passes.append(self._feed(chunk, rows=min(len(chunk), max(0, keep - left))))
            self._length += len(chunk)
        self._tokens += known[len(self._tokens) :]
        return _joined(passes) if passes else Pass(torch.empty(0, self._vocabulary))

    def rollback(self, length: int) -> None:
        """Forgets everything past `length` tokens; ValueError outside 0 … len(self)."""
        removed = self._length - length
        if not 0 <= removed <= self._length:
            raise ValueError(f"cannot roll back to {length} of {self._length}")
        if removed:
            self._forget(removed)
            self._length = length
            del self._tokens[length:]

    @abstractmethod
    def _feed(self, chunk: Tensor, rows: int) -> Pass:
        """One pass over ids `[n]`, on host or device, behind what it has: logits `[rows, V]`, hidden states of all."""

    @abstractmethod
    def _forget(self, removed: int) -> None:
        """Drops the last `removed` ≥ 1 positions of the cache."""


def _joined(passes: list[Pass]) -> Pass:
    if len(passes) == 1:
        return passes[0]
    hidden = [one.hidden for one in passes if one.hidden is not None]
    return Pass(torch.cat([one.logits for one in passes]), torch.cat(hidden) if hidden else None)
