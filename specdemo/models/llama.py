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
from specdemo.models.norm import Norm, norm
from specdemo.models.packed import Linear, linear

FAMILY = ("llama", "mistral", "qwen2", "qwen3")
STATIC_ROPE = ("default", "linear", "llama3", "yarn")
"""Rotary embeddings whose angles do not depend on the length of the text."""

BLOCK = 64
"""Attention reads a whole number of blocks of this many positions: one mask for all lengths within a block."""


@dataclass(frozen=True, slots=True)
class Layer:
    """H hidden, D of a head, Q query heads, K key heads. query_norm, key_norm: over D, in Qwen3 only."""

    attention_norm: Norm
    qkv: Linear
    query_norm: Norm | None
    key_norm: Norm | None
    output: Linear
    mlp_norm: Norm
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
    norm: Norm
    head: Linear
    heads: int
    kv_heads: int
    head_dim: int
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
            x = x + self._attention(layer, layer.attention_norm(x), turn, mask, positions, kept)
            x = x + self._mlp(layer, layer.mlp_norm(x))
        hidden = self.norm(x)
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
            queries, keys = layer.query_norm(qkv[:, :q]), layer.key_norm(qkv[:, q : q + k])
            qkv = torch.cat([queries, keys, qkv[:, q + k :]], 1)
        halves = qkv.view(n, q + 2 * k, 2, d // 2)
        cosine, sine = turn
        qkv = torch.addcmul(halves * cosine, halves.flip(2), sine).view(n, q + 2 * k, d)
        kept.index_copy_(1, positions, qkv[:, q:].transpose(0, 1))
        return layer.output(self.attend(qkv[:, :q], kept[:k], kept[k:], mask))

    def _mlp(self, layer: Layer, x: Tensor) -> Tensor:
        gate, up = layer.gate_up(x).chunk(2, -1)
        return layer.down(functional.silu(gate) * up)

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
    epsilon = config.rms_norm_eps
    return Llama(
        embedding=base.embed_tokens.weight,
        layers=tuple(_layer(layer, epsilon) for layer in base.layers),
        norm=norm(base.norm.weight.detach(), epsilon),
        head=linear(model.lm_head.weight, model.lm_head.bias),
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        frequencies=base.rotary_emb.inv_freq.float(),
        scale=float(base.rotary_emb.attention_scaling),
    )


def _layer(layer: Any, epsilon: float) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp

    def normed(part: Any) -> Norm:
        return norm(part.weight.detach(), epsilon)

    return Layer(
        attention_norm=normed(layer.input_layernorm),
        qkv=_fused(attention.q_proj, attention.k_proj, attention.v_proj),
        query_norm=normed(attention.q_norm) if hasattr(attention, "q_norm") else None,
        key_norm=normed(attention.k_norm) if hasattr(attention, "k_norm") else None,
        output=_fused(attention.o_proj),
        mlp_norm=normed(layer.post_attention_layernorm),
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
