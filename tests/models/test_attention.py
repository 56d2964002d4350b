"""The ways to attend agree, and the fused one does not care how much of the length is masked."""

import pytest
import torch
from torch import Tensor

from specdemo.models.attention import by_products, fastest, fused, grouped


def inputs(rows: int, length: int, seen: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Nine query heads, three key heads."""
    coin = torch.Generator().manual_seed(0)
    queries = torch.randn(rows, 9, 64, generator=coin).to(dtype)
    keys, values = (torch.randn(3, 2048, 64, generator=coin).to(dtype) for _ in range(2))
    hidden = torch.arange(length) >= seen + torch.arange(rows)[:, None]
    mask = torch.zeros(rows, length, dtype=dtype).masked_fill_(hidden, float("-inf"))
    return queries, keys[:, :length], values[:, :length], mask.repeat_interleave(3, 0)


def spelled_out(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Head by head."""
    heads = [
        (queries[:, head] @ keys[head // 3].T / 8 + mask[::3]).softmax(-1) @ values[head // 3] for head in range(9)
    ]
    return torch.cat(heads, -1)


@pytest.mark.parametrize(("rows", "length", "seen"), [(1, 64, 1), (4, 192, 130), (6, 1088, 1000), (40, 704, 600)])
def test_all_ways_say_the_same(rows: int, length: int, seen: int) -> None:
    given = inputs(rows, length, seen, torch.float32)
    for attend in (fused, grouped, by_products, fastest):
        torch.testing.assert_close(attend(*given), spelled_out(*given), atol=1e-5, rtol=1e-4)


def test_masked_blocks_change_no_bit_of_the_fused_way() -> None:
    outs = [fused(*inputs(4, length, 120, torch.bfloat16)) for length in (192, 256, 512)]
    assert all(torch.equal(out, outs[0]) for out in outs)
