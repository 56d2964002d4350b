"""A Llama forward pass over a batch of rows, one token each: what makes writing text fast.

Knows the weights of a Llama-like transformers model. Does not know sampling, conversations or files. Each row
stands at its own position of a static cache, so a finished row can be replaced while the others go on.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from specdemo.errors import PairError
from specdemo.models.llama import belongs
from specdemo.models.packed import Linear, linear

GROUP = 16
"""Rows that attend over one length, the longest of theirs."""
LENGTH_STEP = 32
"""The attended length is rounded up to this, so that few shapes occur."""


def require_llama(model: Any, name: str) -> None:
    """PairError unless the model is of the Llama family with no norms inside its attention (biases are welcome)."""
    if not belongs(model) or hasattr(model.model.layers[0].self_attn, "q_norm"):
        raise PairError("distill_not_llama", name=name)


class BatchLlama:
    """Weights in `dtype`, a static cache for `rows` rows of `length` positions; it says the first `vocabulary` ids."""

    @torch.inference_mode()
    def __init__(self, model: Any, vocabulary: int, rows: int, length: int, dtype: torch.dtype) -> None:
        config = model.config
        self._heads, self._kv = config.num_attention_heads, config.num_key_value_heads
        embedding = model.get_input_embeddings().weight.detach()
        self._embedding = embedding.float()
        self._layers = [_Layer(layer, dtype) for layer in model.model.layers]
        self._dim = self._layers[0].qkv_rows // (self._heads + 2 * self._kv)
        self._norm, self._eps = model.model.norm.weight.detach().float(), config.rms_norm_eps
        self.head = linear(model.get_output_embeddings().weight.detach()[:vocabulary].to(dtype))
        self._dtype = dtype
        where = embedding.device
        shape = (len(self._layers), rows, self._kv, length, self._dim)
        self._keys, self._values = (torch.zeros(shape, dtype=dtype, device=where) for _ in range(2))
        positions = torch.arange(length, device=where)
        cos, sin = model.model.rotary_emb(torch.zeros(1, dtype=torch.float32, device=where), positions[None])
        self._cos, self._sin, self._positions = cos[0].float(), sin[0].float(), positions
        self._rows = torch.arange(rows, device=where)
        self.rows, self.length, self.device = rows, length, where
        self.width = embedding.shape[1]

    @torch.inference_mode()
    def step(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Reads one token per row, tokens and positions `[rows]` → what the head reads `[rows, H]`."""
        groups = self._groups(positions)
        cos, sin = self._cos[positions, None], self._sin[positions, None]
        x = self._embedding[tokens]
        for i, layer in enumerate(self._layers):
            read = layer.qkv(self._scaled(x, layer.before_attention)).view(len(x), -1, self._dim)
            q, k, v = read[:, : self._heads], read[:, self._heads : -self._kv], read[:, -self._kv :]
            self._keys[i, self._rows, :, positions] = rotated(k, cos, sin)
            self._values[i, self._rows, :, positions] = v
            # The query heads of one key head stand as so many positions: nothing is repeated.
            asked = rotated(q, cos, sin).reshape(len(x), self._kv, -1, self._dim)
            mixed = torch.cat(
                [
                    F.scaled_dot_product_attention(
                        asked[rows], self._keys[i, rows, :, :length], self._values[i, rows, :, :length], attn_mask=mask
                    )
                    for rows, length, mask in groups
                ]
            )
            x = x + layer.out(mixed.reshape(len(x), -1))
            gate, up = layer.gate_up(self._scaled(x, layer.before_mlp)).chunk(2, -1)
            x = x + layer.down(F.silu(gate) * up)
        return self._scaled(x, self._norm)

    def _groups(self, positions: Tensor) -> list[tuple[slice, int, Tensor]]:
        """Neighbouring rows with the length they attend over and the mask of what each has not read."""
        groups = []
        for first in range(0, len(positions), GROUP):
            here = positions[first : first + GROUP]
            length = min(-(-(int(here.max()) + 1) // LENGTH_STEP) * LENGTH_STEP, len(self._positions))
            mask = torch.zeros(len(here), 1, 1, length, dtype=self._dtype, device=here.device)
            mask.masked_fill_((self._positions[:length] > here[:, None])[:, None, None], float("-inf"))
            groups.append((slice(first, first + len(here)), length, mask))
        return groups

    def _scaled(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self._eps).to(self._dtype)


class _Layer:
    def __init__(self, layer: Any, dtype: torch.dtype) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        queries = (attention.q_proj, attention.k_proj, attention.v_proj)
        self.qkv_rows = sum(part.weight.shape[0] for part in queries)
        self.qkv = _joined(queries, dtype)
        self.out = _joined((attention.o_proj,), dtype)
        self.gate_up = _joined((mlp.gate_proj, mlp.up_proj), dtype)
        self.down = _joined((mlp.down_proj,), dtype)
        self.before_attention = layer.input_layernorm.weight.detach().float()
        self.before_mlp = layer.post_attention_layernorm.weight.detach().float()


def _joined(parts: tuple[Any, ...], dtype: torch.dtype) -> Linear:
    weight = torch.cat([part.weight.detach() for part in parts]).to(dtype)
    bias = None if parts[0].bias is None else torch.cat([part.bias.detach() for part in parts]).to(dtype)
    return linear(weight, bias)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions, halves convention: x `[n, heads, D]`, cos and sin `[n, 1, D]` → x's type."""
    a, b = x.chunk(2, -1)
    return (x * cos + torch.cat((-b, a), -1) * sin).to(x.dtype)
