"""A trained draft as it runs: a layer or two over a cache of its own, one position after the other.

Knows the equations of a Llama layer and the target's tables. Does not know tokens, laws or drafting. Matrices and norms
are made ready once by the target's `linear`, which may keep them in bytes, and `norm`; a step of one position builds no
mask.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from specdemo.core.ids import to_device
from specdemo.core.protocols import ModelAccess, Tables
from specdemo.drafters.draft_file import FEATURE_HEAD, Weights
from specdemo.drafters.model import Support

Map = Callable[[Tensor], Tensor]
"""Of rows: a matrix or a norm."""

BLOCK = 512
"""Positions by which the cache grows."""


class DraftNet:
    """Weights ready to run, and one sequence's keys and values.

    limit: rotary positions end nowhere; far behind the trained length the guesses get worse.
    """

    limit = 2**31 - 1

    def __init__(self, weights: Weights, tables: Tables) -> None:
        self.shape = weights.shape
        self._dtype, self._device = tables.embedding.dtype, tables.embedding.device
        self._embedding = tables.embedding
        self.support = Support(weights.ids.to(self._device), weights.vocabulary)
        self._head = tables.linear(tables.head[self.support.ids])

        def tensor(*names: str) -> Tensor:
            return torch.cat([weights.tensors[name] for name in names]).to(self._device, self._dtype)

        def norm(name: str) -> Map:
            return tables.norm(tensor(name), self.shape.eps)

        def layer(at: str) -> _Layer:
            matrices = [[at + name for name in names] for names in (("q", "k", "v"), ("o",), ("gate", "up"), ("down",))]
            norms = norm(at + "before_attention"), norm(at + "before_mlp")
            return _Layer(*norms, *[tables.linear(tensor(*names)) for names in matrices])

        self._layers = [layer(f"layers.{i}.") for i in range(self.shape.layers)]
        self._norm = norm("norm")
        if weights.kind == FEATURE_HEAD:
            self._join = tables.linear(tensor("join"))
            self._embedding_norm, self._feature_norm = norm("embedding_norm"), norm("feature_norm")
        self._length = 0
        self._cache = self._embedding.new_zeros(self.shape.layers, 2, 1, self.shape.kv_heads, 0, self.shape.dim)
        self._turn = self._embedding.new_zeros(2, 0, self.shape.dim, dtype=torch.float32)

    @classmethod
    def of(cls, path: Path, kind: str, access: ModelAccess) -> "DraftNet":
        """The net in a file for a new sequence. Its matrices are read and made ready once for the target's life."""
        tables, key = access.tables(), (path, path.stat().st_mtime_ns)
        if key not in tables.ready:
            weights = Weights.load(path, kind, access.vocabulary, tables.embedding.shape[1])
            tables.ready[key] = cls(weights, tables)
        net: DraftNet = copy.copy(tables.ready[key])  # reading puts other tensors in place of cache and angles
        return net

    def __len__(self) -> int:
        return self._length

    def rollback(self, length: int) -> None:
        """Forgets everything past `length` positions."""
        self._length = length

    def embedded(self, tokens: Tensor) -> Tensor:
        """The target's input rows `[n, H]` of some ids `[n]`, which may still be on the host."""
        return functional.embedding(to_device(tokens, self._device), self._embedding)

    def joined(self, embedded: Tensor, states: Tensor) -> Tensor:
        """Input of a feature head, `[n, H]`, from ids' rows and the hidden states before them, both `[n, H]`."""
        parts = self._embedding_norm(embedded), self._feature_norm(states.to(self._dtype))
        return self._join(torch.cat(parts, -1))

    def read(self, x: Tensor) -> Tensor:
        """Feeds the next n positions, x `[n, H]` → what the head reads `[n, H]`."""
        start, n = self._length, len(x)
        self._length += n
        self._reserve(self._length)
        cosine, sine = self._turn[:, start : self._length].to(self._dtype)
        mask = None
        if n > 1:
            later = torch.ones(n, self._length, dtype=torch.bool, device=self._device).triu(start + 1)
            mask = torch.zeros(n, self._length, dtype=self._dtype, device=self._device)
            mask = mask.masked_fill_(later, float("-inf")).repeat(self.shape.heads // self.shape.kv_heads, 1)
        for layer, kept in zip(self._layers, self._cache, strict=True):
            x = x + self._attention(layer, layer.before_attention(x), cosine, sine, kept, mask)
            gate, up = layer.gate_up(layer.before_mlp(x)).chunk(2, -1)
            x = x + layer.down(functional.silu(gate) * up)
        return self._norm(x)

    def logits(self, features: Tensor) -> Tensor:
        """`[n, R]` from features `[n, H]`: a column for each id that it can say."""
        return self._head(features)

    def _attention(
        self, layer: "_Layer", x: Tensor, cosine: Tensor, sine: Tensor, kept: Tensor, mask: Tensor | None
    ) -> Tensor:
        """kept: keys and values `[2, 1, K, capacity, D]` of the layer."""
        n, q, k, d = len(x), self.shape.heads, self.shape.kv_heads, self.shape.dim
        qkv = layer.qkv(x).view(n, q + 2 * k, d).transpose(0, 1)
        turned = _turned(qkv[: q + k], cosine, sine)
        start = self._length - n
        kept[0, 0, :, start : self._length] = turned[q:]
        kept[1, 0, :, start : self._length] = qkv[q + k :]
        # The query heads of one key head become positions beside each other: no key is read twice.
        queries = turned[:q].reshape(1, k, -1, d)
        read = functional.scaled_dot_product_attention(
            queries, kept[0, :, :, : self._length], kept[1, :, :, : self._length], attn_mask=mask
        )
        return layer.o(read.view(q, n, d).transpose(0, 1).reshape(n, q * d))

    def _reserve(self, length: int) -> None:
        capacity = self._cache.shape[4]
        if length > capacity:
            more = -(-length // BLOCK) * BLOCK - capacity
            self._cache = functional.pad(self._cache, (0, 0, 0, more))
            self._turn = _angles(capacity + more, self.shape.dim, self.shape.theta).to(self._device)


@dataclass(frozen=True, slots=True)
class _Layer:
    before_attention: Map
    before_mlp: Map
    qkv: Map
    o: Map
    gate_up: Map
    down: Map


def _turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotary positions, halves convention: x `[heads, n, D]`, cosine and signed sine `[n, D]`."""
    return torch.addcmul(x * cosine, x.roll(x.shape[-1] // 2, -1), sine)


def _angles(length: int, dim: int, theta: float) -> Tensor:
    """Cosine and signed sine `[2, length, D]`: the first half of a head turns against the second."""
    speeds = theta ** -(torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    angles = torch.arange(length, dtype=torch.float32)[:, None] * speeds
    return torch.stack([torch.cat([angles.cos()] * 2, -1), torch.cat([-angles.sin(), angles.sin()], -1)])
