"""The two ways to attend agree, and the fused one does not care how much of the length is masked."""

import pytest
import torch
from torch import Tensor

from specdemo.models.attention import by_products, fastest, fused


def inputs(rows: int, length: int, seen: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    coin = torch.Generator().manual_seed(0)
    queries, keys, values = (torch.randn(3, n, 64, generator=coin).to(dtype) for n in (rows, 2048, 2048))
    hidden = torch.arange(length) >= seen + torch.arange(rows)[:, None]
    mask = torch.zeros(rows, length, dtype=dtype).masked_fill_(hidden, float("-inf"))
    return queries, keys[:, :length], values[:, :length], mask


@pytest.mark.parametrize(("rows", "length", "seen"), [(1, 64, 1), (12, 192, 130), (18, 1088, 1000), (100, 704, 600)])
def test_both_ways_say_the_same(rows: int, length: int, seen: int) -> None:
    given = inputs(rows, length, seen, torch.float32)
    torch.testing.assert_close(fused(*given), by_products(*given), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(fastest(*given), fused(*given), atol=1e-5, rtol=1e-4)


def test_masked_blocks_change_no_bit_of_the_fused_way() -> None:
    outs = [fused(*inputs(12, length, 120, torch.bfloat16)) for length in (192, 256, 512)]
    assert all(torch.equal(out, outs[0]) for out in outs)
