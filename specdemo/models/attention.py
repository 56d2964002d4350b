"""Three ways to attend, equal up to rounding. Knows tensors; does not know models or caches.

n rows, Q query heads and K key heads, G = Q / K of the first to one of the second. queries `[n, Q, D]`, keys and
values `[K, L, D]`, mask `[n G, L]`: 0 or −∞, each row's G times. Returns `[n, Q D]`.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from specdemo.config import MAX_GAMMA

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

LONG = 640
"""Positions beyond which matrix products beat torch's own kernel (in bfloat16 at 2,112: 213 against 348 and 454 µs)."""


def fused(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """torch's own kernel over rows beside each other. A row's bits do not depend on how much of L is masked."""
    rows = _rows(queries, len(keys))[None]
    read = functional.scaled_dot_product_attention(rows, keys[None], values[None], attn_mask=mask)
    return _beside(read[0], len(queries))


def grouped(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The same kernel, head by head: nothing is moved before and behind it, and its threads share more even parts."""
    rows, n = queries.transpose(0, 1)[None], len(queries)
    once = mask[:: len(mask) // n]
    read = functional.scaled_dot_product_attention(rows, keys[None], values[None], attn_mask=once, enable_gqa=True)
    return read[0].transpose(0, 1).reshape(n, -1)


def by_products(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The textbook's way: softmax(Q Kᵀ / √D + mask) V."""
    scores = torch.baddbmm(mask, _rows(queries, len(keys)), keys.transpose(1, 2), alpha=queries.shape[-1] ** -0.5)
    return _beside(torch.bmm(scores.softmax(-1), values), len(queries))


def fastest(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """What is fastest here for so many positions; the same for all rows that a round may have, so that bits stay."""
    if len(queries) > MAX_GAMMA + 1 or queries.device.type != "cpu":
        return fused(queries, keys, values, mask)
    return (by_products if keys.shape[1] > LONG else grouped)(queries, keys, values, mask)


def _rows(queries: Tensor, kv_heads: int) -> Tensor:
    """`[K, n G, D]`: the query heads of one key head as rows beside each other, so that no key is read twice."""
    n, _, dim = queries.shape
    return queries.reshape(n, kv_heads, -1, dim).transpose(0, 1).reshape(kv_heads, -1, dim)


def _beside(read: Tensor, n: int) -> Tensor:
    """Back to `[n, Q D]`."""
    return read.reshape(len(read), n, -1).transpose(0, 1).reshape(n, -1)
