"""A session over the Llama family's own forward pass.

Knows the width a pass is padded to. Does not know tokenizers, pairs or sampling, nor how a pass is run.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from specdemo.core.ids import to_device
from specdemo.core.protocols import Pass
from specdemo.models.llama import Cache, Llama, blocks
from specdemo.models.session import ModelSession

LEAST = 4
"""Rows that a CPU's pass has at least: four cost no more than one and less than two, as matrix kernels go."""

Runner = Callable[[Tensor, int, int], tuple[Tensor, Tensor]]
"""(ids `[n]` on host or device, position of the first, rows) → logits `[rows, V]` of the last, hidden states `[n, H]`.

It has a cache of its own, in which it overwrites what stands at and behind that position.
"""


class LlamaSession(ModelSession):
    """`core.protocols.Session`, one sequence.

    runner: has no other user. width: short passes are padded to so many rows. What is padded stands behind the text
    and is never seen by it.
    """

    def __init__(self, runner: Runner, vocabulary: int, limit: int, width: int = LEAST) -> None:
        super().__init__(vocabulary, limit)
        self._runner = runner
        self._width = width

    def _feed(self, chunk: Tensor, rows: int) -> Pass:
        padding = max(0, self._width - len(chunk))
        padded = functional.pad(chunk, (0, padding))
        logits, hidden = self._runner(padded, len(self), rows + padding if rows else 0)
        return Pass(logits[:rows, : self._vocabulary], hidden[: len(chunk)])

    def _forget(self, removed: int) -> None:
        """Nothing to do: the mask hides what lies behind the text, and the next pass writes over it."""


class Eager:
    """Runs passes one operation after the other, over a cache that grows with the text."""

    def __init__(self, llama: Llama) -> None:
        self._llama = llama
        self._cache = Cache(llama)

    def __call__(self, ids: Tensor, start: int, rows: int) -> tuple[Tensor, Tensor]:
        device, end = self._llama.embedding.device, start + len(ids)
        self._cache.reserve(blocks(end))
        positions = torch.arange(start, end, device=device)
        return self._llama(to_device(ids, device), positions, self._cache, rows)
