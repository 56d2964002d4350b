"""The Llama family's forward pass with as few operations as it takes: Llama, SmolLM, Mistral, Qwen2, Qwen3.

Knows the equations of the family and the weights of a transformers model of it. Does not know tokens, chunks or
rolling back. Every shape depends on the width n and the room in the cache only, so that a pass can be captured.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from specdemo.errors import SettingError
from specdemo.models.attention import Attend, fastest
from specdemo.models.packed import Linear, linear

FAMILY = ("llama", "mistral", "qwen2", "qwen3")
STATIC_ROPE = ("default", "linear", "llama3", "yarn")
"""Rotary embeddings whose angles do not depend on the length of the text."""

BLOCK = 64
"""Attention reads a whole number of blocks of this many positions: one mask for all lengths within a block."""


@dataclass(frozen=True, slots=True)
class Layer:
    """H hidden, D of a head, Q query heads, K key heads. query_norm, key_norm `[D]` in Qwen3 only."""

    attention_norm: Tensor
    qkv: Linear
    query_norm: Tensor | None
    key_norm: Tensor | None
    output: Linear
    mlp_norm: Tensor
    gate_up: Linear
    down: Linear


class Cache:
    """Keys and values `[layers, 2 K, length, D]`, keys first. Attention reads all of it.

    Grows by whole blocks: a copy every 64 tokens is nothing, and matrix products want keys without gaps between heads.
    """

    def __init__(self, llama: "Llama") -> None:
        self.layers = llama.embedding.new_zeros(len(llama.layers), 2 * llama.kv_heads, 0, llama.head_dim)

    @property
    def length(self) -> int:
        """Positions there is room for."""
        return self.layers.shape[2]

    def reserve(self, length: int) -> bool:
        """Makes room for `length` positions. True if everything has moved."""
        known = self.length
        if length <= known:
            return False
        layers, heads, _, dim = self.layers.shape
        wider = self.layers.new_zeros(layers, heads, length, dim)
        wider[:, :, :known] = self.layers
        self.layers = wider
        return True


@dataclass(frozen=True, slots=True)
class Llama:
    """The weights, ready to run. frequencies `[D / 2]`; scale: of cosine and sine (YaRN)."""

    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: Tensor
    head: Linear
    heads: int
    kv_heads: int
    head_dim: int
    epsilon: float
    frequencies: Tensor
    scale: float
    attend: Attend = fastest

    def first(self, count: int) -> "Llama":
        """The first `count` layers with the same norm and head. SettingError unless 1 ≤ count < all."""
        if not 1 <= count < len(self.layers):
            raise SettingError("out_of_range", name="layers", value=count, low=1, high=len(self.layers) - 1)
        return replace(self, layers=self.layers[:count])

    def __call__(self, ids: Tensor, positions: Tensor, cache: Cache, rows: int) -> tuple[Tensor, Tensor]:
        """Feeds ids `[n]` at `positions` `[n]`, for which the cache has room.

        Returns logits `[rows, V]` of the last rows and the last hidden states `[n, H]`.
        """
        x = functional.embedding(ids, self.embedding)
        turn, mask = self._rotation(positions), self._mask(positions, cache.length)
        for layer, kept in zip(self.layers, cache.layers, strict=True):
            x = x + self._attention(layer, self._normed(x, layer.attention_norm), turn, mask, positions, kept)
            x = x + self._mlp(layer, self._normed(x, layer.mlp_norm))
        hidden = self._normed(x, self.norm)
        return self.head(hidden[len(ids) - rows :]), hidden

    def _attention(
        self,
        layer: Layer,
        x: Tensor,
        turn: tuple[Tensor, Tensor],
        mask: Tensor,
        positions: Tensor,
        kept: Tensor,
    ) -> Tensor:
        n, q, k, d = len(x), self.heads, self.kv_heads, self.head_dim
        qkv = layer.qkv(x).view(n, q + 2 * k, d)
        if layer.query_norm is not None and layer.key_norm is not None:
            queries, keys = self._normed(qkv[:, :q], layer.query_norm), self._normed(qkv[:, q : q + k], layer.key_norm)
            qkv = torch.cat([queries, keys, qkv[:, q + k :]], 1)
        halves = qkv.view(n, q + 2 * k, 2, d // 2)
        cosine, sine = turn
        qkv = torch.addcmul(halves * cosine, halves.flip(2), sine).view(n, q + 2 * k, d)
        kept.index_copy_(1, positions, qkv[:, q:].transpose(0, 1))
        # The query heads of one key head become rows beside each other: no key is read twice.
        queries = qkv[:, :q].reshape(n, k, -1, d).transpose(0, 1).reshape(k, -1, d)
        read = self.attend(queries, kept[:k], kept[k:], mask)
        return layer.output(read.view(k, n, -1).transpose(0, 1).reshape(n, q * d))

    def _mlp(self, layer: Layer, x: Tensor) -> Tensor:
        gate, up = layer.gate_up(x).chunk(2, -1)
        return layer.down(functional.silu(gate) * up)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, weight.shape, weight, self.epsilon)

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosine and signed sine `[n, Q + 2 K, 2, D / 2]`: queries and keys turn, values turn by nothing."""
        angles = positions[:, None].float() * self.frequencies
        cosine, sine = (angles.cos() * self.scale)[:, None, None], (angles.sin() * self.scale)[:, None, None]
        still = torch.ones_like(cosine), torch.zeros_like(sine)
        turning, values, half = self.heads + self.kv_heads, self.kv_heads, self.head_dim // 2
        n, dtype = len(positions), self.embedding.dtype
        cosines = torch.cat([cosine.expand(n, turning, 2, half), still[0].expand(n, values, 2, half)], 1)
        signed = torch.cat([-sine, sine], 2)
        sines = torch.cat([signed.expand(n, turning, 2, half), still[1].expand(n, values, 2, half)], 1)
        return cosines.to(dtype), sines.to(dtype)

    def _mask(self, positions: Tensor, length: int) -> Tensor:
        """0 where a row may look, -∞ elsewhere `[n Q / K, length]`: a token sees itself and what is before it."""
        hidden = torch.arange(length, device=positions.device) > positions[:, None]
        mask = torch.zeros(hidden.shape, dtype=self.embedding.dtype, device=positions.device)
        return mask.masked_fill_(hidden, float("-inf")).repeat_interleave(self.heads // self.kv_heads, 0)


def blocks(length: int, at_once: int = 1) -> int:
    """`length` rounded up to whole blocks, so many at once."""
    size = BLOCK * at_once
    return -(-length // size) * size


def belongs(model: Any) -> bool:
    """True if these equations are the model's."""
    config = model.config
    windows = getattr(config, "layer_types", None) or ()
    return (
        config.model_type in FAMILY
        and config.hidden_act == "silu"
        and (config.rope_parameters or {}).get("rope_type", "default") in STATIC_ROPE
        and all(kind == "full_attention" for kind in windows)
        and (bool(windows) or getattr(config, "sliding_window", None) is None)
    )


def llama(model: Any) -> Llama:
    """A transformers model of the family as its equations; matrices are copied where they can be packed."""
    config, base = model.config, model.model
    return Llama(
        embedding=base.embed_tokens.weight,
        layers=tuple(_layer(layer) for layer in base.layers),
        norm=base.norm.weight,
        head=linear(model.lm_head.weight, model.lm_head.bias),
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        epsilon=config.rms_norm_eps,
        frequencies=base.rotary_emb.inv_freq.float(),
        scale=float(base.rotary_emb.attention_scaling),
    )


def _layer(layer: Any) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp
    query_norm, key_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
    return Layer(
        attention_norm=layer.input_layernorm.weight,
        qkv=_fused(attention.q_proj, attention.k_proj, attention.v_proj),
        query_norm=query_norm.weight if query_norm is not None else None,
        key_norm=key_norm.weight if key_norm is not None else None,
        output=_fused(attention.o_proj),
        mlp_norm=layer.post_attention_layernorm.weight,
        gate_up=_fused(mlp.gate_proj, mlp.up_proj),
        down=_fused(mlp.down_proj),
    )


def _fused(*layers: Any) -> Linear:
    """Several layers that read the same as one matrix."""
    weight = torch.cat([layer.weight.detach() for layer in layers])
    biases = [layer.bias for layer in layers if layer.bias is not None]
    if biases and len(biases) < len(layers):
        biases = [layer.weight.new_zeros(len(layer.weight)) if layer.bias is None else layer.bias for layer in layers]
    return linear(weight, torch.cat(biases) if biases else None)
